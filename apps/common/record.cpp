// SPDX-License-Identifier: LGPL-2.1-or-later
// Record of a file that was scanned into a folder of tables: the JSON file next to its table.
#include "apps/common/record.h"

#include "apps/common/json.h"
#include "apps/common/plain_file.h"
#include "apps/common/text.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace framequality::apps {

namespace {

constexpr int kVersion = 1;
constexpr std::size_t kHashDigits = 12;
constexpr std::uint64_t kLongest = 4 << 20;  // bytes
constexpr int kDeepest = 8;                  // nested brackets
constexpr std::string_view kEnd = "]}\n";    // of a complete record: the end of its curve
std::string content(const std::string& path) {
  const PlainFile file(path);
  if (file.size() > kLongest) throw std::runtime_error("it is too large for a record");
  std::string text(file.size(), '\0');
  text.resize(file.read(text));
  return text;
}

/// The members of an object, with checked types. They throw std::runtime_error with the name.
class Fields {
 public:
  explicit Fields(const Json& json, const char* what) : json_(json) {
    if (!json.is_object()) throw std::runtime_error(std::string(what) + " is not a JSON object");
  }

  const Json& operator[](const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) throw std::runtime_error(std::string("it has no \"") + name + '"');
    return *found;
  }
  bool is_null(const char* name) const { return (*this)[name].is_null(); }
  std::string text(const char* name) const {
    const auto* value = (*this)[name].get_ptr<const std::string*>();
    require(name, value && value->find('\0') == std::string::npos);
    return *value;
  }
  bool truth(const char* name) const {
    require(name, (*this)[name].is_boolean());
    return (*this)[name].get<bool>();
  }
  std::int64_t whole(const char* name) const {
    const Json& value = (*this)[name];
    require(name, value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= kMost));
    return value.get<std::int64_t>();
  }
  std::uint64_t count(const char* name) const {
    const std::int64_t value = whole(name);
    require(name, value >= 0);
    return static_cast<std::uint64_t>(value);
  }
  double real(const char* name) const { return real(name, (*this)[name]); }
  static double real(const char* name, const Json& value) {
    require(name, value.is_number() && std::isfinite(value.get<double>()));
    return value.get<double>();
  }
  std::uint64_t ns(const char* name) const {
    const double value = real(name);
    require(name, value >= 0 && value < 1e9);
    return static_cast<std::uint64_t>(std::llround(value * 1e9));
  }

  static void require(const char* name, bool right) {
    if (!right) throw std::runtime_error(std::string("its \"") + name + "\" has the wrong type or value");
  }

 private:
  static constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

  const Json& json_;
};

int pixels(const Fields& fields, const char* name) {
  const std::uint64_t value = fields.count(name);
  Fields::require(name, value <= std::numeric_limits<int>::max());
  return static_cast<int>(value);
}

Extreme extreme_of(const Fields& all, const char* name) {
  const Fields fields(all[name], name);
  return {fields.real("score"), fields.count("frame"), fields.ns("time")};
}

Json extreme_json(const Extreme& extreme) {
  return {{"score", json_number(extreme.score)}, {"frame", extreme.frame}, {"time", json_seconds(extreme.time)}};
}

std::map<std::string, std::string> options_of(const Fields& all) {
  const Json& json = all["options"];
  const Fields fields(json, "its \"options\"");
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : json.items()) options[name] = dump(value);
  return options;
}

std::vector<std::array<double, 3>> curve_of(const Fields& all) {
  constexpr char kName[] = "curve";
  const Json& steps = all[kName];
  Fields::require(kName, steps.is_array() && steps.size() <= kCurveSteps);
  std::vector<std::array<double, 3>> curve;
  for (const Json& step : steps) {
    Fields::require(kName, step.is_array() && step.size() == 3);
    curve.push_back({Fields::real(kName, step[0]), Fields::real(kName, step[1]), Fields::real(kName, step[2])});
  }
  return curve;
}

/// The document; without `curve` only the members before it, which is last and the largest.
Json document(const std::string& text, bool curve) {
  struct Enough {};
  const bool can_stop = !curve && text.ends_with(kEnd);
  Json members = Json::object();
  std::string name;
  const auto follow = [&](int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (depth >= kDeepest) throw std::runtime_error("it is not a record");
    if (!can_stop || depth != 1) return true;
    if (event == Event::key) {
      name = value.get<std::string>();
      if (name == "curve") throw Enough();
    } else if (event == Event::value || event == Event::object_end || event == Event::array_end) {
      members[name] = value;
    }
    return true;
  };
  try {
    return Json::parse(text, follow);
  } catch (const Enough&) {
    return members;
  } catch (const Json::exception& e) {
    // The text after the library's name of the error, which is in brackets.
    const std::string reason = e.what();
    throw std::runtime_error("invalid JSON: " + reason.substr(std::min(reason.find("] "), reason.size() - 2) + 2));
  }
}

Record parsed(const std::string& text, bool curve) {
  const Json json = document(text, curve);
  const Fields fields(json, "it");
  if (fields.whole("version") != kVersion) throw std::runtime_error("another version of framequality-scan wrote it");
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
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json json = {{"version", kVersion},
               {"file", json_text(record.file)},
               {"size", or_null(record.size)},
               {"modified", or_null(record.modified)},
               {"program", json_text(record.program)}};
  Json& options = json["options"] = Json::object();
  for (const auto& [name, value] : record.options) options[name] = Json::parse(value);
  json["unit"] = json_text(record.unit);
  json["table"] = json_text(record.table);
  json["bytes"] = record.bytes;
  json["rows"] = record.rows;
  json["frames"] = record.frames;
  json["error"] = json_text(record.error);
  json["seconds"] = json_rounded(record.seconds, 6);
  json["width"] = record.width;
  json["height"] = record.height;
  json["rate"] = json_number(record.rate);
  json["format"] = json_text(record.format);
  json["codec"] = json_text(record.codec);
  json["length"] = json_seconds(record.length);
  json["timed"] = record.timed;
  json["min"] = record.scores ? extreme_json(record.scores->min) : Json();
  json["median"] = record.scores ? json_number(record.scores->median) : Json();
  json["max"] = record.scores ? extreme_json(record.scores->max) : Json();
  json["curve"] = json_curve(record.curve);
  return dump(json) + '\n';
}

Record read_record(const std::string& path, bool curve) {
  try {
    return parsed(content(path), curve);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error("cannot read the record " + printable(path) + ": " + printable(e.what()));
  }
}

}  // namespace framequality::apps
