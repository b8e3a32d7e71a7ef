// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of a backend and device: for a start, and after a fault.
#pragma once

#include "device/backend.h"

#include <optional>
#include <string>
#include <string_view>

namespace framequality {

/// What is asked for.
struct Wish {
  int number = 0;                           ///< Backend::number; 0: the best that there is
  int id = -1;                              ///< the device's number; -1: the first usable one. If no backend is
                                            ///< named: not of one whose devices have names
  std::string_view name = {};               ///< the device's name, where the backend's have names; empty: any
  const char* unsupported = nullptr;        ///< why the CPU alone can do what is asked for; null: all can
  bool (*makes)(const Backend&) = nullptr;  ///< whether a backend has the worker that is needed; null: all do
};

struct Choice {
  std::optional<Place> place;  ///< none if what was asked for by name cannot be used
  std::string name;            ///< of the device, as its driver calls it
  std::string reason;          ///< why none, or none better
};

/// True if this backend can be the choice, should it find a device.
bool may_choose(const Wish& wish, const Backend& backend);

/// Looks for devices, from the best backend on.
Choice choose(const Wish& wish);

/// Devices of a backend that can be listed, usable or not; at least 1.
int devices_of(const Backend& backend);

/// Where work goes on when this backend has failed: the first usable device of those behind it. None behind the CPU.
std::optional<Place> next_place(const Backend& failed, bool (*makes)(const Backend&) = nullptr);

}  // namespace framequality
