// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of a program's table of keys: the options of its command line and the keys of its configuration file.
#include "apps/common/keys.h"

#include "apps/common/nearest.h"

#include <algorithm>
#include <iterator>

namespace framequality::apps {

Setter flag(bool& target) {
  return flag(target, [] {});
}

Setter flag(bool& target, std::function<void()> on) {
  const auto set = [&target, on = std::move(on)](const Value& value) {
    const auto* given = std::get_if<bool>(&value);
    if (given && (target = *given)) on();
    return given != nullptr;
  };
  return {Kind::kFlag, "true or false", set};
}

Setter anything(std::string& target, Kind kind) {
  Setter setter = parsed("a text", [&target](const std::string& text) {
    target = text;
    return true;
  });
  setter.kind = kind;
  return setter;
}

Setter parsed(std::string takes, std::function<bool(const std::string& text)> set) {
  const auto of_text = [set = std::move(set)](const Value& value) {
    const auto* given = std::get_if<std::string>(&value);
    return given && set(*given);
  };
  return {Kind::kText, std::move(takes), of_text};
}

namespace {

template <class Target>
Setter non_empty(Target& target) {
  return parsed("a non-empty text", [&target](const std::string& text) {
    if (!text.empty()) target = text;
    return !text.empty();
  });
}

}  // namespace

Setter text(std::string& target) { return non_empty(target); }

Setter text(std::optional<std::string>& target) { return non_empty(target); }

Setter path(std::string& target) {
  Setter setter = text(target).as("a path");
  setter.kind = Kind::kPath;
  return setter;
}

Setter word(std::string& target, std::string_view words) {
  const std::vector<std::string> known = split_words(words);
  Setter setter = parsed(listed(known), [&target, known](const std::string& text) {
    const bool is_known = std::find(known.begin(), known.end(), text) != known.end();
    if (is_known) target = text;
    return is_known;
  });
  setter.words = known;
  return setter;
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
  return all;
}

std::vector<std::string> split_words(std::string_view words) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find('|', at), words.size());
    all.emplace_back(words.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::optional<double> to_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::vector<std::string> to_texts(const Value& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  if (const auto* one = std::get_if<std::string>(&value)) return {*one};
  return {};
}

std::vector<Key> joined(std::vector<Key> keys, std::vector<Key> more) {
  std::move(more.begin(), more.end(), std::back_inserter(keys));
  return keys;
}

const Key* find_key(const std::vector<Key>& keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

std::string suggested_word(const Key& key, const Value& value) {
  const std::vector<std::string>& words = key.setter.words;
  const std::vector<std::string> given = to_texts(value);
  const auto wrong = std::find_if(given.begin(), given.end(), [&](const std::string& text) {
    return std::find(words.begin(), words.end(), text) == words.end();
  });
  return wrong == given.end() ? "" : suggestion(*wrong, words);
}

std::string help_of_file_keys(const std::vector<Key>& keys) {
  std::string lines;
  for (const Key& key : keys)
    if (key.where == Where::kFile)
      lines.append("  ").append(key.name).append(": ").append(key.help).append("; ").append(key.setter.takes) += '\n';
  return lines;
}

}  // namespace framequality::apps
