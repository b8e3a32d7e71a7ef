// SPDX-License-Identifier: LGPL-2.1-or-later
// What is known of a file that was scanned into a folder of tables: the JSON file beside its table.
#include "apps/common/record.h"

#include "apps/common/plain_file.h"
#include "apps/common/text.h"

#include <glib.h>

#include <cmath>
#include <json-glib/json-glib.h>
#include <limits>
#include <memory>
#include <stdexcept>

namespace framequality::apps {

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kHashDigits = 12;
constexpr std::uint64_t kLongest = 4 << 20;  // bytes
constexpr int kDeepest = 8;                  // of brackets in brackets
constexpr int kCurveDigits = 5;              // more than a plot of it shows
// Where the curve begins in what record_json() gives: all else stands before it.
constexpr char kCurveMark[] = ",\n\"curve\":";
constexpr std::string_view kEnd = "]}\n";

std::string curve_json(const std::vector<std::array<double, 3>>& curve) {
  std::string json = "[";
  for (const auto& [mean, min, max] : curve) {
    if (json.size() > 1) json += ',';
    json +=
        '[' + rounded(mean, kCurveDigits) + ',' + rounded(min, kCurveDigits) + ',' + rounded(max, kCurveDigits) + ']';
  }
  return json + ']';
}

std::string extreme_json(const Extreme& extreme) {
  std::string json = "{";
  json_field(json, "score", number(extreme.score));
  json_field(json, "frame", std::to_string(extreme.frame));
  json_field(json, "time", seconds(extreme.time));
  return json + '}';
}

std::string content(const std::string& path) {
  const PlainFile file(path);
  if (file.size() > kLongest) throw std::runtime_error("it is too long for a record");
  std::string text(file.size(), '\0');
  text.resize(file.read(text));
  return text;
}

/// The parser recurses without a limit of its own.
bool is_shallow(std::string_view json) {
  int depth = 0;
  bool text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (text) {
      if (c == '\\') ++i;
      if (c == '"') text = false;
    } else if (c == '"') {
      text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

/// The members of an object, each of the type asked for. They throw std::runtime_error with the name.
class Fields {
 public:
  explicit Fields(JsonNode* node, const char* what) {
    if (!node || !JSON_NODE_HOLDS_OBJECT(node)) throw std::runtime_error(std::string(what) + " is no object");
    object_ = json_node_get_object(node);
  }

  JsonNode* node(const char* name) const {
    JsonNode* found = json_object_get_member(object_, name);
    if (!found) throw std::runtime_error(std::string("it has no \"") + name + '"');
    return found;
  }
  bool is_null(const char* name) const { return JSON_NODE_HOLDS_NULL(node(name)); }
  std::string text(const char* name) const {
    require(name, holds(node(name), G_TYPE_STRING));
    return json_node_get_string(node(name));
  }
  bool truth(const char* name) const {
    require(name, holds(node(name), G_TYPE_BOOLEAN));
    return json_node_get_boolean(node(name)) != FALSE;
  }
  std::int64_t whole(const char* name) const {
    require(name, holds(node(name), G_TYPE_INT64));
    return json_node_get_int(node(name));
  }
  std::uint64_t count(const char* name) const {
    const std::int64_t value = whole(name);
    require(name, value >= 0);
    return static_cast<std::uint64_t>(value);
  }
  double real(const char* name) const { return real(name, node(name)); }
  static double real(const char* name, JsonNode* value) {
    const double number = holds(value, G_TYPE_DOUBLE) || holds(value, G_TYPE_INT64)
                              ? json_node_get_double(value)
                              : std::numeric_limits<double>::quiet_NaN();
    require(name, std::isfinite(number));
    return number;
  }
  std::uint64_t ns(const char* name) const {
    const double value = real(name);
    require(name, value >= 0 && value < 1e9);
    return static_cast<std::uint64_t>(std::llround(value * 1e9));
  }
  static JsonArray* array(const char* name, JsonNode* value) {
    require(name, JSON_NODE_HOLDS_ARRAY(value));
    return json_node_get_array(value);
  }
  JsonObject* get() const { return object_; }

  static void require(const char* name, bool right) {
    if (!right) throw std::runtime_error(std::string("its \"") + name + "\" is not what a record has");
  }

 private:
  static bool holds(JsonNode* value, GType type) {
    return JSON_NODE_HOLDS_VALUE(value) && json_node_get_value_type(value) == type;
  }

  JsonObject* object_;
};

int pixels(const Fields& fields, const char* name) {
  const std::uint64_t value = fields.count(name);
  Fields::require(name, value <= std::numeric_limits<int>::max());
  return static_cast<int>(value);
}

Extreme extreme_of(const Fields& all, const char* name) {
  const Fields fields(all.node(name), name);
  return {fields.real("score"), fields.count("frame"), fields.ns("time")};
}

std::map<std::string, std::string> options_of(const Fields& all) {
  const Fields fields(all.node("options"), "its \"options\"");
  std::map<std::string, std::string> options;
  const std::unique_ptr<GList, decltype(&g_list_free)> names(json_object_get_members(fields.get()), g_list_free);
  for (const GList* at = names.get(); at; at = at->next) {
    const auto* name = static_cast<const char*>(at->data);
    gchar* value = json_to_string(fields.node(name), FALSE);
    options[name] = value;
    g_free(value);
  }
  return options;
}

std::vector<std::array<double, 3>> curve_of(const Fields& all) {
  constexpr char kName[] = "curve";
  JsonArray* steps = Fields::array(kName, all.node(kName));
  std::vector<std::array<double, 3>> curve(json_array_get_length(steps));
  Fields::require(kName, curve.size() <= kCurveSteps);
  for (guint i = 0; i < curve.size(); ++i) {
    JsonArray* step = Fields::array(kName, json_array_get_element(steps, i));
    Fields::require(kName, json_array_get_length(step) == curve[i].size());
    for (guint k = 0; k < curve[i].size(); ++k) curve[i][k] = Fields::real(kName, json_array_get_element(step, k));
  }
  return curve;
}

Record parsed(const std::string& json, bool curve) {
  if (!is_shallow(json)) throw std::runtime_error("it is no record");
  const std::unique_ptr<JsonParser, decltype(&g_object_unref)> parser(json_parser_new(), g_object_unref);
  GError* error = nullptr;
  if (!json_parser_load_from_data(parser.get(), json.data(), static_cast<gssize>(json.size()), &error)) {
    const std::string reason = error->message;
    g_error_free(error);
    throw std::runtime_error(reason);
  }
  const Fields fields(json_parser_get_root(parser.get()), "it");
  if (fields.whole("version") != kVersion) throw std::runtime_error("another version wrote it");
  Record record;
  record.file = fields.text("file");
  if (!fields.is_null("size")) record.size = fields.count("size");
  if (!fields.is_null("modified")) record.modified = fields.whole("modified");
  record.program = fields.text("program");
  record.options = options_of(fields);
  record.unit = fields.text("unit");
  record.table = fields.text("table");
  record.bytes = fields.count("bytes");
  record.rows = fields.count("rows");
  record.frames = fields.count("frames");
  record.error = fields.text("error");
  record.seconds = fields.real("seconds");
  record.width = pixels(fields, "width");
  record.height = pixels(fields, "height");
  record.rate = fields.real("rate");
  record.format = fields.text("format");
  record.codec = fields.text("codec");
  record.length = fields.ns("length");
  record.timed = fields.truth("timed");
  if (!fields.is_null("median"))
    record.scores = {extreme_of(fields, "min"), extreme_of(fields, "max"), fields.real("median")};
  if (curve) record.curve = curve_of(fields);
  return record;
}

}  // namespace

std::string record_stem(std::string_view file) {
  gchar* hash =
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, reinterpret_cast<const guchar*>(file.data()), file.size());
  std::string stem = base_name(file) + '-' + std::string(hash, kHashDigits);
  g_free(hash);
  return stem;
}

bool is_record_name(std::string_view name) {
  if (!name.ends_with(kRecordEnding)) return false;
  name.remove_suffix(sizeof(kRecordEnding) - 1);
  if (name.size() < kHashDigits + 2 || name[name.size() - kHashDigits - 1] != '-') return false;
  return name.substr(name.size() - kHashDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string record_json(const Record& record) {
  std::string options = "{", json = "{";
  for (const auto& [name, value] : record.options) json_field(options, name.c_str(), value);
  json_field(json, "version", std::to_string(kVersion));
  json_field(json, "file", json_string(record.file));
  json_field(json, "size", record.size ? std::to_string(*record.size) : "null");
  json_field(json, "modified", record.modified ? std::to_string(*record.modified) : "null");
  json_field(json, "program", json_string(record.program));
  json_field(json, "options", options + '}');
  json_field(json, "unit", json_string(record.unit));
  json_field(json, "table", json_string(record.table));
  json_field(json, "bytes", std::to_string(record.bytes));
  json_field(json, "rows", std::to_string(record.rows));
  json_field(json, "frames", std::to_string(record.frames));
  json_field(json, "error", json_string(record.error));
  json_field(json, "seconds", rounded(record.seconds, 6));
  json_field(json, "width", std::to_string(record.width));
  json_field(json, "height", std::to_string(record.height));
  json_field(json, "rate", number(record.rate));
  json_field(json, "format", json_string(record.format));
  json_field(json, "codec", json_string(record.codec));
  json_field(json, "length", seconds(record.length));
  json_field(json, "timed", record.timed ? "true" : "false");
  json_field(json, "min", record.scores ? extreme_json(record.scores->min) : "null");
  json_field(json, "median", record.scores ? number(record.scores->median) : "null");
  json_field(json, "max", record.scores ? extreme_json(record.scores->max) : "null");
  return json + kCurveMark + curve_json(record.curve) + "}\n";
}

Record read_record(const std::string& path, bool curve) {
  try {
    std::string json = content(path);
    const auto mark = curve ? std::string::npos : json.find(kCurveMark);
    // Whole, and not only up to there.
    if (mark != std::string::npos && json.ends_with(kEnd)) {
      json.resize(mark);
      json += '}';
    }
    return parsed(json, curve);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error("cannot read the record " + printable(path) + ": " + printable(e.what()));
  }
}

}  // namespace framequality::apps
