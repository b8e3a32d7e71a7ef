// SPDX-License-Identifier: LGPL-2.1-or-later
// The configuration file, TOML.
#include "apps/watch/config.h"

#include "apps/common/nearest.h"
#include "apps/common/program.h"
#include "apps/common/text.h"
#include "apps/common/url.h"
#include "apps/watch/address.h"
#include "apps/watch/keys.h"
#include "apps/watch/source.h"

#include <glib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <toml++/toml.h>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr std::size_t kLongestName = 100;  // characters
constexpr std::size_t kMaxSize = 16 << 20;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxSize, '\0');
  // A folder can be opened, but not read.
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) throw std::runtime_error("cannot read " + printable(path) + ": " + g_strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

Value value_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* whole = node.as_integer()) return std::int64_t{whole->get()};
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* text = node.as_string()) return text->get();
  const toml::array* list = node.as_array();
  if (!list || list->empty()) return std::monostate();
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  for (const toml::node& item : *list) {
    if (const auto* whole = item.as_integer()) numbers.push_back(whole->get());
    if (const auto* text = item.as_string()) texts.push_back(text->get());
  }
  if (numbers.size() == list->size()) return numbers;
  if (texts.size() == list->size()) return texts;
  return std::monostate();
}

/// Approximate text of a value in the file.
std::string shown(const toml::node& node) {
  std::ostringstream text;
  if (node.is_table())
    text << "a table";
  else if (node.is_array())
    text << *node.as_array();
  else
    node.visit([&](const auto& value) { text << toml::node_view<const toml::node>(value); });
  // Masked before it is shortened.
  return shortened(without_url_passwords(text.str()), 60);
}

/// The error text for an unknown key, with a suggestion.
std::string unknown_key(std::string_view name, const std::vector<std::string>& known) {
  std::string fault = "unknown key '" + printable(name) + "'";
  for (const std::string& key : known) fault.append(&key == &known.front() ? "; known keys: " : ", ").append(key);
  return fault + suggestion(name, known);
}

void demand_name(const std::string& name) {
  const auto length = g_utf8_strlen(name.c_str(), static_cast<gssize>(name.size()));
  if (name.empty() || printable(name) != name || static_cast<std::size_t>(length) > kLongestName)
    throw std::runtime_error("name must have 1 to 100 characters, without control characters");
  // In a URL path they would be resolved before being sent.
  if (name == "." || name == "..") throw std::runtime_error("name must not be '.' or '..'");
}

}  // namespace

struct Config::Document {
  std::string path, folder;  ///< folder: empty, or with its slash
  toml::table table;

  std::string place(const toml::node& node) const {
    return printable(path) + ":" + std::to_string(node.source().begin.line);
  }
  std::string resolved(const std::string& name) const { return name.starts_with('/') ? name : folder + name; }

  /// Sets values of these keys from the table, except names in `others`. Adds errors to `faults`.
  void read(const toml::table& from, const std::vector<Key>& keys, const std::vector<std::string_view>& others,
            std::vector<std::string>& faults) const {
    std::vector<std::string> known;
    for (const Key& key : keys)
      if (key.is_of_file()) known.emplace_back(key.name);
    known.insert(known.end(), others.begin(), others.end());
    for (const auto& [name, node] : from) {
      if (std::find(others.begin(), others.end(), name.str()) != others.end()) continue;
      const std::string where = printable(path) + ":" + std::to_string(name.source().begin.line) + ": ";
      if (const Key* key = find_key(keys, name.str()); !key || !key->is_of_file())
        faults.push_back(where + unknown_key(name.str(), known));
      else if (const Value value = value_of(node); !key->setter.set(value))
        faults.push_back(where + key->name + " must be " + key->setter.takes + ", not " + shown(node) +
                         suggested_word(*key, value));
    }
  }

  CameraSettings camera(const toml::table& from, CameraSettings camera, std::vector<std::string>& faults) const;
};

CameraSettings Config::Document::camera(const toml::table& from, CameraSettings camera,
                                        std::vector<std::string>& faults) const {
  AddressSettings address;
  read(from, joined(camera_keys(camera), address_keys(address)), {}, faults);
  camera.name = address.name.value_or("");
  // No structured binding: clang 14 cannot capture one.
  const auto &url = address.url, &pipeline = address.pipeline, &user = address.user, &file = address.password_file;
  const auto attempt = [&](const char* key, auto&& action) {
    try {
      action();
    } catch (const std::runtime_error& e) {
      const toml::node* node = from.get(key);
      faults.push_back(place(node ? *node : from) + ": " + key + ": " + e.what());
    }
  };
  if (url && pipeline) {
    faults.push_back(place(from) + ": url and pipeline exclude each other: give one of them");
  } else if (url) {
    const bool is_url = url->find("://") != std::string::npos;
    attempt("url", [&] { set_address(camera, is_url ? *url : resolved(*url)); });
  } else if (pipeline) {
    camera.pipeline = *pipeline;
    camera.source = without_url_passwords(*pipeline);
    attempt("pipeline", [&] { check_description(*pipeline); });
    if (!from.contains("name")) faults.push_back(place(from) + ": name is missing: a camera with a pipeline needs one");
  } else if (!from.contains("url") && !from.contains("pipeline")) {
    faults.push_back(place(from) + ": url or pipeline is missing");
  }
  if ((user && !camera.user.empty()) || (file && !camera.password.empty()))
    faults.push_back(place(from) + ": user or password is given both in the URL and in a key");
  if (user) camera.user = *user;
  if (file)
    attempt("password-file", [&] {
      const std::string path = resolved(*file), content = read_file(path);
      camera.password = content.substr(0, content.find_first_of("\r\n"));
      if (camera.password.empty()) throw std::runtime_error("the first line of " + printable(path) + " is empty");
    });
  return camera;
}

Config::Config(const std::string& path) : document_(std::make_unique<Document>()) {
  document_->path = path;
  const auto slash = path.rfind('/');
  document_->folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string text = read_file(path);
  try {
    document_->table = toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw UsageError(printable(path) + ":" + std::to_string(e.source().begin.line) +
                     ": invalid TOML: " + printable(e.description()) +
                     (e.description().find("value") == std::string_view::npos ? "" : " (strings need quotes)"));
  }
}

Config::~Config() = default;

namespace {

void add_secrets(Secrets& secrets, const CameraSettings& camera) {
  secrets.add(camera.password);
  for (const std::string& part : camera.doubtful) secrets.add(part);
}

void throw_if_any(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text.append(text.empty() ? "" : "\n").append(fault);
  if (!text.empty()) throw UsageError(text);
}

}  // namespace

void Config::read_program(Settings& settings) const {
  std::vector<std::string> faults;
  Settings own;
  document_->read(document_->table, program_keys(own), {"defaults", "camera"}, faults);
  throw_if_any(faults);
  document_->read(document_->table, program_keys(settings), {"defaults", "camera"}, faults);
  for (std::string* path : {&settings.log, &settings.snapshots, &settings.baselines})
    if (!path->empty()) *path = document_->resolved(*path);
}

void Config::read_defaults(CameraSettings& defaults) const {
  const toml::node* node = document_->table.get("defaults");
  if (!node) return;
  std::vector<std::string> faults;
  if (const toml::table* table = node->as_table())
    document_->read(*table, camera_keys(defaults), {}, faults);
  else
    faults.push_back(document_->place(*node) + ": defaults must be a table: write [defaults]");
  throw_if_any(faults);
}

void Config::read_cameras(Settings& settings, const CameraSettings& defaults) const {
  const toml::node* node = document_->table.get("camera");
  if (!node) return;
  const toml::array* list = node->as_array();
  if (!list || !list->is_array_of_tables())
    throw UsageError(document_->place(*node) + ": camera must be an array of tables: write [[camera]] above each");
  std::map<std::string, std::string> lines;  // by name of a camera
  for (const toml::node& item : *list) {
    std::vector<std::string> faults;
    CameraSettings camera = document_->camera(*item.as_table(), defaults, faults);
    add_secrets(settings.secrets, camera);
    std::string name = camera.name;
    if (name.empty()) name = camera.source.empty() ? document_->place(item) : camera.source;
    if (const auto first = lines.find(without_url_passwords(camera.name)); first != lines.end())
      faults.push_back(document_->place(item) + ": duplicate camera name '" + printable(camera.name) +
                       "' (first used on line " + first->second + ")");
    if (faults.empty()) {
      try {
        add_camera(settings, std::move(camera));
        lines.emplace(settings.cameras.back().name, std::to_string(item.source().begin.line));
        continue;
      } catch (const std::runtime_error& e) {
        faults.push_back(document_->place(item) + ": " + e.what());
      }
    }
    std::string reason;
    for (const std::string& fault : faults) reason.append(reason.empty() ? "" : "; ").append(fault);
    settings.rejected.push_back({valid_utf8(printable(name)), reason});
  }
}

void add_camera(Settings& settings, CameraSettings camera) {
  add_secrets(settings.secrets, camera);
  camera.name = without_url_passwords(camera.name);
  const auto taken = [&](const std::string& name) {
    return std::any_of(settings.cameras.begin(), settings.cameras.end(),
                       [&](const CameraSettings& other) { return other.name == name; });
  };
  if (camera.name.empty()) {
    const std::string wanted = camera.name = printable(name_of(camera));
    for (int copy = 2; taken(camera.name); ++copy) camera.name = wanted + '~' + std::to_string(copy);
  } else if (taken(camera.name)) {
    throw std::runtime_error("duplicate camera name '" + printable(camera.name) + "'");
  }
  demand_name(camera.name);
  if (camera.is_ambiguous)
    settings.warnings.push_back("camera '" + printable(camera.name) +
                                "': the @ after the first / ? or # of its URL is taken as part of the path; if it "
                                "belongs to a user name or password, write / ? # @ : there as %2F %3F %23 %40 %3A");
  settings.cameras.push_back(std::move(camera));
}

}  // namespace framequality::apps::watch
