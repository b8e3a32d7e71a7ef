// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of a backend and device, at the start and after a fault.
#pragma once

#include "device/backend.h"

#include <optional>
#include <string>
#include <string_view>

namespace framequality {

/// The requested device.
struct Wish {
  int number = 0;                           ///< Backend::number; 0: the best available
  int id = -1;                              ///< the device's number; -1: the first usable one. If no backend is
                                            ///< named: not of one whose devices have names
  std::string_view name = {};               ///< the device's name, where the backend's have names; empty: any
  const char* unsupported = nullptr;        ///< why only the CPU can do the work; null: all can
  bool (*makes)(const Backend&) = nullptr;  ///< whether a backend has the required worker; null: all do
};

struct Choice {
  std::optional<Place> place;  ///< none if a named device cannot be used
  std::string name;            ///< of the device, as its driver calls it
  std::string reason;          ///< why none, or none better
};

/// True if this backend can be chosen, provided it finds a device.
bool may_choose(const Wish& wish, const Backend& backend);

/// Searches for devices, from the best backend on.
Choice choose(const Wish& wish);

/// Devices of a backend that can be listed, usable or not; at least 1.
int devices_of(const Backend& backend);

/// Next place after this backend has failed: the first usable device of those behind it. None after the CPU.
std::optional<Place> next_place(const Backend& failed, bool (*makes)(const Backend&) = nullptr);

}  // namespace framequality
