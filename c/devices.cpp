// SPDX-License-Identifier: LGPL-2.1-or-later
// Devices by name, and fall-back when one fails.
#include "c/internal.h"
#include "device/error.h"
#include "engine/choose.h"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace framequality::c {
namespace {

std::string name_of(const Place& place) {
  if (is_cpu(*place.backend)) return place.backend->name;
  return std::string(place.backend->name) + ":" + (place.id < 0 ? "current" : std::to_string(place.id));
}

/// A device's name in parts.
struct Wanted {
  const Backend* backend = nullptr;  ///< null: auto
  int id = -1;                       ///< the first usable one
  bool current = false;
};

Wanted parse(std::string_view device) {
  const auto colon = device.find(':');
  const std::string_view name = device.substr(0, colon),
                         which = colon == device.npos ? std::string_view() : device.substr(colon + 1);
  Wanted wanted;
  std::string names = "auto";
  for (const Backend* backend : backends()) {
    names += std::string(", ") + backend->name;
    if (name == backend->name) wanted.backend = backend;
  }
  if (!wanted.backend && device != "auto")
    refuse("unknown device '" + std::string(device) + "': use " + names + ", or one GPU, such as cuda:0");
  if (colon == device.npos) return wanted;
  wanted.current = which == "current" && wanted.backend->context;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), wanted.id);
  const bool is_number = error == std::errc() && end == which.data() + which.size() && wanted.id >= 0;
  if (is_cpu(*wanted.backend) || (!wanted.current && !is_number))
    refuse("'" + std::string(device) + "' is not a device: after the colon write the number of a GPU, or current");
  return wanted;
}

}  // namespace

Runner::Runner(const char* device, bool (*makes)(const Backend&), bool weighs) : makes_(makes) {
  require(device != nullptr, "device is NULL");
  const Wanted wanted = parse(device);
  if (wanted.current) {
    set({wanted.backend, -1});
    return;
  }
  may_fall_back_ = !wanted.backend;
  weighs_ = weighs && may_fall_back_;
  if (weighs_) {
    set(cpu_place());
    return;
  }
  const Choice choice = choose({wanted.backend ? wanted.backend->number : 0, wanted.id, {}, nullptr, makes});
  if (!choice.place) throw Error(Fault::kNoDevice, choice.reason);
  set(*choice.place);
}

std::optional<Prospect> Runner::prospect() {
  if (!weighs_) return std::nullopt;
  set(cpu_place());
  if (found_) return Prospect{[found = found_] { return Choice{found, {}, {}}; }, Weighing::kReopening};
  return Prospect{[makes = makes_] { return choose({.makes = makes}); }};
}

bool Runner::settle(Memory memory) {
  if (!weighs_) return false;
  const Place place = found_ ? *found_ : choose({.makes = makes_}).place.value_or(cpu_place());
  if (place.backend->memory != memory) return false;
  weighs_ = false;
  set(place);
  return true;
}

void Runner::moved(const Place& to) {
  if (!is_cpu(*to.backend)) found_ = to;
  set(to);
}

void Runner::stays(const std::string& /*reason*/) { weighs_ = false; }

void Runner::set(const Place& place) {
  place_ = place;
  name_ = name_of(place);
  // After a fall-back, the failed device's worker may still have to be destroyed.
  if (place.backend->context) keeper_ = place.backend;
}

void Runner::require_readable(const Image& image) const {
  if (image.is_on_device() && image.frame().memory != place_.backend->memory)
    refuse("the image is in GPU memory, which " + name_ + " cannot read: open the handle on that GPU, such as cuda:0");
}

bool Runner::enter() {
  if (!keeper_) return false;
  context_ = keeper_->context();
  return true;
}

void Runner::leave() noexcept { keeper_->set_context(context_); }

Place Runner::fall_back(const Error& fault, const Place& failed) {
  const std::optional<Place> next = next_place(*failed.backend, makes_);
  if (!may_fall_back_ || on_device_ || !next) throw fault;
  weighs_ = false;
  set(*next);
  return *next;
}

}  // namespace framequality::c

using namespace framequality;
using namespace framequality::c;

namespace {

void copy(char* to, std::size_t room, const std::string& text) { std::snprintf(to, room, "%s", text.c_str()); }

}  // namespace

extern "C" {

int fq_device_count(void) {
  int count = 0;
  for (const Backend* backend : backends()) count += devices_of(*backend);
  return count;
}

int fq_device_get(int index, fq_device_info* info) {
  return guarded([&] {
    require_range("index", index, 0, fq_device_count() - 1);
    int id = index;
    auto at = backends().begin();
    for (; id >= devices_of(**at); ++at) id -= devices_of(**at);
    const Device found = (*at)->find({.id = id});
    fq_device_info all{};
    all.usable = found.id >= 0;
    copy(all.name, sizeof all.name, name_of({*at, id}));
    copy(all.title, sizeof all.title, found.name);
    copy(all.reason, sizeof all.reason, found.reason);
    give(info, all, "info");
  });
}

}  // extern "C"
