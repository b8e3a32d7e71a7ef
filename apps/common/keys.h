// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of a program's table of keys: the options of its command line and the keys of its configuration file.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace framequality::apps {

/// A value of a configuration file; std::monostate: of a kind that no key accepts.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                           std::vector<std::string>>;

/// How an option is written. kTexts and kPaths collect all occurrences, the others use the last.
enum class Kind { kFlag, kNumber, kText, kPath, kTexts, kPaths };

/// The values a key accepts, and where they are stored.
struct Setter {
  Kind kind;
  std::string takes;                            ///< description of accepted values, for users
  std::function<bool(const Value& value)> set;  ///< false, and nothing is set, if the value is not accepted
  std::vector<std::string> words = {};          ///< all accepted values, if they are words

  /// The same with another description of accepted values.
  Setter as(std::string text) && {
    takes = std::move(text);
    return std::move(*this);
  }
};

enum class Where { kAnywhere, kCommandLine, kFile };

/// One row: an option `--name`, a key of the configuration file, or both.
struct Key {
  const char* name;
  char letter;        ///< of the short option; 0: none
  std::string value;  ///< as --help shows it; the shell completes words in lower case with | between them
  std::string help;
  Setter setter;
  Where where = Where::kAnywhere;

  bool is_option() const { return where != Where::kFile; }
  bool is_of_file() const { return where != Where::kCommandLine; }
};

// --- Setters
// Each sets the variable that it was made with, which must outlive it,
// if the value is accepted.

Setter flag(bool& target);
/// For a key that sets others: `on()` runs if it is true.
Setter flag(bool& target, std::function<void()> on);
/// Accepts any text, even an empty one: its user reports what is wrong with it.
Setter anything(std::string& target, Kind kind = Kind::kText);
Setter text(std::string& target);  ///< not empty
Setter text(std::optional<std::string>& target);
Setter path(std::string& target);
/// One of the words, which are separated by |.
Setter word(std::string& target, std::string_view words);
/// A text that `set` accepts.
Setter parsed(std::string takes, std::function<bool(const std::string& text)> set);

/// "a, b or c".
std::string listed(const std::vector<std::string>& words);
std::vector<std::string> split_words(std::string_view words);
std::optional<double> to_number(const Value& value);
/// A list of texts, or one text as a list; empty if it is neither.
std::vector<std::string> to_texts(const Value& value);

/// The enumerator of type E at the word's index; E counts from 0.
template <class E>
Setter word(E& target, std::string_view words) {
  const std::vector<std::string> known = split_words(words);
  const auto set = [&target, known](const Value& value) {
    const auto* given = std::get_if<std::string>(&value);
    for (std::size_t i = 0; given && i < known.size(); ++i) {
      if (*given != known[i]) continue;
      target = static_cast<E>(i);
      return true;
    }
    return false;
  };
  return {Kind::kText, listed(known), set, known};
}

/// A whole number.
template <class Number>
Setter count(Number& target, std::int64_t least, std::int64_t most) {
  const auto set = [&target, least, most](const Value& value) {
    const auto* given = std::get_if<std::int64_t>(&value);
    if (!given || *given < least || *given > most) return false;
    // If the target is an optional, use its value's type.
    if constexpr (requires { typename Number::value_type; })
      target = static_cast<typename Number::value_type>(*given);
    else
      target = static_cast<Number>(*given);
    return true;
  };
  return {Kind::kNumber, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), set};
}

/// Seconds, kept in ns.
template <class Time>
Setter seconds_from(std::int64_t least, Time& target) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto set = [&target, least](const Value& value) {
    const auto given = to_number(value);
    if (!given || !(*given >= static_cast<double>(least) && *given <= static_cast<double>(kMost))) return false;
    target = static_cast<std::uint64_t>(std::llround(*given * 1e9));
    return true;
  };
  return {Kind::kNumber, "a number of seconds from " + std::to_string(least) + " to " + std::to_string(kMost), set};
}

// --- Tables
// Lists of rows, and searches in them.

/// One table after the other.
std::vector<Key> joined(std::vector<Key> keys, std::vector<Key> more);

/// The row with this name; null if there is none.
const Key* find_key(const std::vector<Key>& keys, std::string_view name);

/// "; did you mean 'tcp'?" for a value, or one in a list, that is not one of the words; empty if none is near.
std::string suggested_word(const Key& key, const Value& value);

/// Text for --help about keys that only the configuration file accepts: a line each.
std::string help_of_file_keys(const std::vector<Key>& keys);

}  // namespace framequality::apps
