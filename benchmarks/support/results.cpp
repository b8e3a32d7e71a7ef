// SPDX-License-Identifier: LGPL-2.1-or-later
// Tools of all benchmark programs: options, medians, and results as JSON with the context they were measured in.
#include "benchmarks/support/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace framequality::bench {
namespace {

/// Each of the paths of a list by its last part.
std::string without_directories(const std::string& list) {
  std::string names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string one = list.substr(begin, end - begin);
    names += (begin > 0 ? "," : "") + (one.starts_with('/') ? one.substr(one.find_last_of('/') + 1) : one);
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string json(const Value& value) {
  if (const auto* s = std::get_if<std::string>(&value)) return quoted(*s);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  const double v = std::get<double>(value);
  if (!std::isfinite(v)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

std::string json(const Fields& fields) {
  std::string out = "{";
  for (const auto& [name, value] : fields.items())
    out += (out.size() > 1 ? ", " : "") + quoted(name) + ": " + json(value);
  return out + '}';
}

/// The processor as Linux calls it; empty if it does not say.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return {};
}

/// Version of the NVIDIA driver: the first word of its file that begins with a digit and has a point.
std::string driver() {
  std::ifstream in("/proc/driver/nvidia/version");
  for (std::string word; in >> word;)
    if (word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos) return word;
  return {};
}

}  // namespace

Options::Options(int argc, char** argv, std::vector<Option> known) {
  const std::string program = std::string(argv[0]).substr(std::string(argv[0]).find_last_of('/') + 1);
  known.push_back({"out", "", "file for the results as JSON"});
  known.push_back({"commit", "", "what was built, for the context"});
  for (const Option& o : known) values_[o.name] = o.value;
  const auto usage = [&](int status) {
    std::printf("usage: %s [--NAME VALUE]...\n", program.c_str());
    for (const Option& o : known)
      std::printf("  --%-16s %s%s\n", o.name.c_str(), o.help.c_str(),
                  o.value.empty() ? "" : (" (" + o.value + ")").c_str());
    std::exit(status);
  };
  command_ = program;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--help") usage(0);
    const std::size_t equals = name.find('=');
    const bool joined = equals != std::string::npos;
    const std::string value = joined ? name.substr(equals + 1) : i + 1 < argc ? argv[i + 1] : "";
    name = name.substr(0, equals);
    if (name.rfind("--", 0) != 0 || !values_.count(name.substr(2)) || (!joined && i + 1 == argc)) usage(2);
    i += !joined;
    name = name.substr(2);
    values_[name] = value;
    if (name == "out" || name == "commit") continue;
    command_.append(" --").append(name).append(" ").append(without_directories(value));
  }
}

double Options::number(const std::string& name) const {
  std::size_t used = 0;
  const std::string& value = text(name);
  double v = 0;
  try {
    v = std::stod(value, &used);
  } catch (const std::logic_error&) {
    used = value.size() + 1;
  }
  if (used == value.size()) return v;
  std::fprintf(stderr, "--%s takes a number, not '%s'\n", name.c_str(), value.c_str());
  std::exit(2);
}

std::vector<std::string> Options::list(const std::string& name) const { return split(text(name), ','); }

std::vector<int> Options::numbers(const std::string& name) const {
  std::vector<int> all;
  for (const std::string& part : list(name)) {
    char* end;
    all.push_back(static_cast<int>(std::strtol(part.c_str(), &end, 10)));
    if (*end == 0) continue;
    std::fprintf(stderr, "--%s takes whole numbers, not '%s'\n", name.c_str(), part.c_str());
    std::exit(2);
  }
  return all;
}

Fields machine_context(const std::string& program, const std::string& gpu, const Options& options) {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  Fields context;
  context.add("program", program).add("date", date);
  if (const std::string name = processor(); !name.empty()) context.add("machine", name);
  context.add("cores", static_cast<int>(std::thread::hardware_concurrency()));
  if (!gpu.empty()) context.add("gpu", gpu);
  if (const std::string version = driver(); !version.empty()) context.add("driver", version);
  context.add("compiler", FQ_COMPILER);
  if (!options.text("commit").empty()) context.add("commit", options.text("commit"));
  context.add("command", options.command());
  return context;
}

Fields& Fields::put(std::string name, Value v) {
  items_.emplace_back(std::move(name), std::move(v));
  return *this;
}

void Results::add(Fields row) {
  rows_.push_back(std::move(row));
  if (file_.empty()) return;
  std::ofstream out(file_);
  out << "{\n\"context\": " << json(context_) << ",\n\"rows\": [\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) out << json(rows_[i]) << (i + 1 < rows_.size() ? ",\n" : "\n");
  out << "]\n}\n";
  if (out.flush()) return;
  std::fprintf(stderr, "cannot write %s\n", file_.c_str());
  std::exit(1);
}

}  // namespace framequality::bench
