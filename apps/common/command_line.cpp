// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of a program, parsed and documented by its table of keys.
#include "apps/common/command_line.h"

#include "apps/common/nearest.h"
#include "apps/common/program.h"
#include "apps/common/text.h"

#include <gst/gst.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace framequality::apps {

namespace {

using Strings = std::unique_ptr<char*, decltype(&g_strfreev)>;

/// GLib's result for one option, or for the arguments.
struct Found {
  gboolean flag = FALSE;
  gchar* text = nullptr;
  gchar** texts = nullptr;

  Found() = default;
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() {
    g_free(text);
    g_strfreev(texts);
  }

  std::vector<std::string> values() const {
    std::vector<std::string> all;
    if (text) all.emplace_back(text);
    for (gchar** one = texts; one && *one; ++one) all.emplace_back(*one);
    return all;
  }
};

GOptionEntry entry(const Key& key, Found& into) {
  const auto of = [&](GOptionArg kind, gpointer target, const char* value) {
    return GOptionEntry{key.name, key.letter, 0, kind, target, key.help.c_str(), value};
  };
  const char* value = key.value.c_str();
  switch (key.setter.kind) {
    case Kind::kFlag:
      return of(G_OPTION_ARG_NONE, &into.flag, nullptr);
    case Kind::kPath:
      return of(G_OPTION_ARG_FILENAME, &into.text, value);
    case Kind::kTexts:
      return of(G_OPTION_ARG_STRING_ARRAY, &into.texts, value);
    case Kind::kPaths:
      return of(G_OPTION_ARG_FILENAME_ARRAY, &into.texts, value);
    default:
      return of(G_OPTION_ARG_STRING, &into.text, value);
  }
}

/// The known option nearest to the one in the error: GLib names it at the end of its text.
std::string suggested_option(const std::string& error, char** words, const std::vector<Key>& keys) {
  std::vector<std::string> known = {"--help"};
  for (const Key& key : keys)
    if (key.is_option()) known.push_back(std::string("--") + key.name);
  for (char** word = words; *word; ++word) {
    std::string_view name = *word;
    if (!name.starts_with('-') || !error.ends_with(name)) continue;
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    return suggestion("--" + std::string(name.substr(0, name.find('='))), known);
  }
  return "";
}

/// The whole text as a number.
template <class Number>
bool is_number(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

Value value_of(Kind kind, const std::string& text) {
  if (kind != Kind::kNumber) return text;
  std::int64_t whole = 0;
  double real = 0;
  if (is_number(text, whole)) return whole;
  if (is_number(text, real)) return real;
  return std::monostate();
}

}  // namespace

void set_option(const Key& option, const std::string& text) {
  const Value value = value_of(option.setter.kind, text);
  if (option.setter.set(value)) return;
  throw UsageError(std::string("--") + option.name + " must be " + option.setter.takes + ", not '" + printable(text) +
                   "'" + suggested_word(option, value));
}

CommandLine::CommandLine(int argc, char** argv, const Help& help, const std::vector<Key>& keys, Library library) {
  std::vector<Found> found(keys.size());
  Found rest;
  std::vector<GOptionEntry> entries;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].is_option()) entries.push_back(entry(keys[i], found[i]));
  entries.push_back({G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest.texts, nullptr, help.arguments});
  entries.push_back({});

  const std::string about = std::string("- ") + help.about;
  const std::unique_ptr<GOptionContext, decltype(&g_option_context_free)> context(g_option_context_new(about.c_str()),
                                                                                  g_option_context_free);
  g_option_context_add_main_entries(context.get(), entries.data(), nullptr);
  if (library == Library::kGStreamer) g_option_context_add_group(context.get(), gst_init_get_option_group());
  g_option_context_set_summary(context.get(), help.summary);
  g_option_context_set_description(context.get(), help.description.c_str());
  // Keep the words that GLib removes, to suggest another.
  const Strings words(g_strdupv(argv), g_strfreev);
  GError* error = nullptr;
  if (!g_option_context_parse(context.get(), &argc, &argv, &error)) {
    std::string reason = printable(error->message);
    if (g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
      reason += suggested_option(error->message, words.get() + 1, keys);
    g_error_free(error);
    throw UsageError(reason);
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (found[i].flag || found[i].text || found[i].texts) given_[keys[i].name] = found[i].values();
  arguments_ = rest.values();
}

void CommandLine::apply(const std::vector<Key>& keys) const {
  for (const Key& key : keys)
    if (key.setter.kind == Kind::kFlag && has(key.name)) key.setter.set(true);
  if (has("version")) return;
  for (const Key& key : keys) {
    const auto found = given_.find(key.name);
    if (found == given_.end() || key.setter.kind == Kind::kFlag) continue;
    for (const std::string& text : found->second) set_option(key, text);
  }
}

}  // namespace framequality::apps
