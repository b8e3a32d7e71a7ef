// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of a backend and device.
#include "engine/choose.h"

#include <algorithm>

namespace framequality {

namespace {

/// Why the backend cannot be used, whatever its devices; empty if it can.
std::string obstacle(const Wish& wish, const Backend& backend) {
  if (wish.unsupported && !is_cpu(backend)) return wish.unsupported;
  if (wish.makes && !wish.makes(backend)) return std::string(backend.title) + " does not support this: use device=auto";
  return {};
}

bool is_meant(const Wish& wish, const Backend& backend) { return wish.number == 0 || wish.number == backend.number; }

}  // namespace

bool may_choose(const Wish& wish, const Backend& backend) {
  return is_meant(wish, backend) && obstacle(wish, backend).empty();
}

Choice choose(const Wish& wish) {
  Choice choice;
  for (const Backend* backend : backends()) {
    if (!is_meant(wish, *backend)) continue;
    std::string reason = obstacle(wish, *backend);
    if (reason.empty()) {
      const bool automatic = wish.number == 0;
      Device found = backend->find({automatic && backend->has_names ? -1 : wish.id, wish.name, automatic});
      if (found.id >= 0) {
        choice.place = Place{backend, found.id};
        choice.name = std::move(found.name);
        return choice;
      }
      reason = std::move(found.reason);
    }
    if (choice.reason.find(reason) != std::string::npos) continue;  // several may lack the same feature
    choice.reason += (choice.reason.empty() ? "" : "; ") + reason;
  }
  return choice;
}

int devices_of(const Backend& backend) { return std::max(backend.count ? backend.count() : 1, 1); }

std::optional<Place> next_place(const Backend& failed, bool (*makes)(const Backend&)) {
  const auto all = backends();
  for (auto at = std::find(all.begin(), all.end(), &failed); at != all.end() && ++at != all.end();) {
    if (makes && !makes(**at)) continue;
    if (const Device found = (*at)->find({.automatic = true, .after_fault = true}); found.id >= 0)
      return Place{*at, found.id};
  }
  return std::nullopt;
}

}  // namespace framequality
