// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of a program, parsed and documented by its table of keys.
#pragma once

#include "apps/common/keys.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {

/// The texts of --help besides the options.
struct Help {
  const char* arguments;    ///< "FILE..."
  const char* about;        ///< what the program is for, in a few words
  const char* summary;      ///< the same in a sentence or two, before the options
  std::string description;  ///< after them: paragraphs, and sections that begin with a line "Title:"
};

/// The library that a program initialises.
enum class Library { kNone, kGStreamer };

/// Sets an option's value. Throws UsageError, which says what it accepts.
void set_option(const Key& option, const std::string& text);

class CommandLine {
 public:
  /// Reads the options of the table, and the library's own; initialises it. Sets nothing yet. --help prints and exits.
  /// Throws UsageError with the nearest option for an unknown one.
  CommandLine(int argc, char** argv, const Help& help, const std::vector<Key>& keys,
              Library library = Library::kGStreamer);

  bool has(std::string_view option) const { return given_.contains(option); }
  /// All arguments that are not options, as bytes.
  const std::vector<std::string>& arguments() const { return arguments_; }

  /// Sets the given values, in the order of the table, flags first: others may have other defaults then. With --version
  /// everything else is ignored. Throws UsageError for a value that its key does not accept.
  void apply(const std::vector<Key>& keys) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> given_;  ///< values by option; empty for a flag
  std::vector<std::string> arguments_;
};

}  // namespace framequality::apps
