// SPDX-License-Identifier: LGPL-2.1-or-later
// Tools of all benchmark programs: options, medians, and results as JSON with the context they were measured in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace framequality::bench {

/// "--name value" or "--name=value", each with a default.
class Options {
 public:
  /// One option: its name, its default, what it means in one line.
  struct Option {
    std::string name, value, help;
  };
  /// Prints the options and ends the program if one is unknown or lacks its value, or for --help.
  Options(int argc, char** argv, std::vector<Option> known);

  const std::string& text(const std::string& name) const { return values_.at(name); }
  double number(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;  ///< separated by commas
  std::vector<int> numbers(const std::string& name) const;       ///< separated by commas
  /// The command line without directories and without `out` and `commit`.
  const std::string& command() const { return command_; }

 private:
  std::map<std::string, std::string> values_;
  std::string command_;
};

using Value = std::variant<std::string, double, std::int64_t, bool>;
/// A JSON object of plain values, in this order.
class Fields {
 public:
  Fields& add(std::string name, const char* v) { return put(std::move(name), std::string(v)); }
  Fields& add(std::string name, std::string v) { return put(std::move(name), std::move(v)); }
  Fields& add(std::string name, double v) { return put(std::move(name), v); }
  Fields& add(std::string name, bool v) { return put(std::move(name), v); }
  Fields& add(std::string name, int v) { return put(std::move(name), std::int64_t{v}); }
  Fields& add(std::string name, std::size_t v) { return put(std::move(name), static_cast<std::int64_t>(v)); }
  Fields& add(std::string name, std::int64_t v) { return put(std::move(name), v); }
  const std::vector<std::pair<std::string, Value>>& items() const { return items_; }

 private:
  Fields& put(std::string name, Value v);  // not inline: GCC 12 then sees values that are used uninitialized
  std::vector<std::pair<std::string, Value>> items_;
};

/// What a figure means nothing without: program, date, processor, cores, GPU, driver, compilers, commit,
/// command.
Fields machine_context(const std::string& program, const std::string& gpu, const Options& options);

/// Rows of results under one context, kept in a file.
class Results {
 public:
  /// file: empty for none.
  Results(std::string file, Fields context) : file_(std::move(file)), context_(std::move(context)) {}
  /// Adds a row; the file holds it when this returns, so that a program cut short has lost nothing.
  void add(Fields row);

 private:
  std::string file_;
  Fields context_;
  std::vector<Fields> rows_;
};

/// The value below which a share q (0...1) of the values lies; 0 of none.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// A video frame's size and its usual name.
struct Size {
  const char* name;
  int width, height;
};
inline constexpr Size k480p = {"480p", 640, 480}, k720p = {"720p", 1280, 720}, k1080p = {"1080p", 1920, 1080},
                      k2160p = {"2160p", 3840, 2160};
inline constexpr Size kVideoSizes[] = {k480p, k720p, k1080p, k2160p};

}  // namespace framequality::bench
