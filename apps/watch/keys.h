// SPDX-License-Identifier: LGPL-2.1-or-later
// What can be set, by name: the keys of the configuration file, which many options of the command line also have.
#pragma once

#include "apps/watch/settings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framequality::apps::watch {

/// A value as it stands in a configuration; std::monostate is of a kind that no key takes.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                           std::vector<std::string>>;

/// Something that can be set in a `T`.
template <class T>
struct Key {
  std::string_view name;
  const char* takes;                           ///< what would be accepted, for people
  bool (*set)(T& target, const Value& value);  ///< false, and nothing is set, if it is not that
  std::vector<std::string> words{};            ///< all that it takes, if they are words
};

/// Of the whole program.
const std::vector<Key<Settings>>& program_keys();
/// Of every camera, and so of all of them.
const std::vector<Key<CameraSettings>>& camera_keys();

/// The key; null if there is none.
template <class T>
const Key<T>* find_key(const std::vector<Key<T>>& keys, std::string_view name) {
  for (const Key<T>& key : keys)
    if (key.name == name) return &key;
  return nullptr;
}

/// "; did you mean 'tcp'?" for a value, or one in a list, that is none of the words; empty if none is near.
std::string suggested_word(const std::vector<std::string>& words, const Value& value);

}  // namespace framequality::apps::watch
