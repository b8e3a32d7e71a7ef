// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/placement.h"

#include "gst/base/device_choice.h"
#include "gst/object/owned.h"

#include <algorithm>
#include <string>

using namespace framequality;

void framequality::set_place(FqDeviceBase* self, std::optional<Place> place) {
  {
    const std::lock_guard lock(self->device->mutex);
    self->device->place = place;
  }
  g_object_notify(G_OBJECT(self), "active-device");
}

const char* framequality::unsupported_reason(FqDeviceBase* self) {
  FqDeviceBaseClass* klass = FQ_DEVICE_BASE_GET_CLASS(self);
  return klass->unsupported_reason ? klass->unsupported_reason(self) : nullptr;
}

static auto makes_of(FqDeviceBase* self) {
  FqDeviceBaseClass* klass = FQ_DEVICE_BASE_GET_CLASS(self);
  return klass->makes_now ? klass->makes_now(self) : klass->makes;
}

Wish framequality::wish_of(FqDeviceBase* self, const DeviceSettings& settings, const char* unsupported) {
  const auto all = backends();
  const bool has_name = std::any_of(all.begin(), all.end(), [&](const Backend* backend) {
    return backend->number == static_cast<int>(settings.device) && backend->has_names;
  });
  return {static_cast<int>(settings.device), has_name ? -1 : settings.cuda_device_id, settings.opencl_device,
          unsupported, makes_of(self)};
}

/// The error for a named device that cannot be used.
static ElementError not_found(const DeviceSettings& settings, const std::string& reason) {
  std::string text;
  for (const Backend* backend : backends())
    if (backend->number == static_cast<int>(settings.device))
      text = std::string("device=") + backend->name + " cannot be used: ";
  return {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, text + reason};
}

/// Why the devices that properties name are not used. Empty if none is named, or if only the CPU can do the work.
static std::string why_named_are_unused(const DeviceSettings& settings, const Wish& wish) {
  std::string all;
  for (const Backend* backend : backends()) {
    const bool is_named = backend->has_names ? !wish.name.empty() : settings.cuda_device_id >= 0;
    if (wish.unsupported || is_cpu(*backend) || !is_named || !may_choose(wish, *backend)) continue;
    Wish named = wish;
    named.number = backend->number;
    named.id = backend->has_names ? -1 : settings.cuda_device_id;
    all += (all.empty() ? "" : "; ") +
           (backend->has_names ? "opencl-device=" + settings.opencl_device
                               : "cuda-device-id=" + std::to_string(settings.cuda_device_id)) +
           " cannot be used: " + choose(named).reason;
  }
  return all;
}

/// True if the cheaper place must be determined: the user has not chosen one, and there is a choice.
static bool may_weigh(FqDeviceBase* self, const DeviceSettings& settings, const char* unsupported) {
  const Wish wish = wish_of(self, settings, unsupported);
  const auto all = backends();
  return FQ_DEVICE_BASE_GET_CLASS(self)->weighs && settings.device == DeviceChoice::kAuto &&
         settings.cuda_device_id < 0 && settings.opencl_device.empty() &&
         std::any_of(all.begin(), all.end(),
                     [&](const Backend* backend) { return !is_cpu(*backend) && may_choose(wish, *backend); });
}

static void set_weighs(FqDeviceBase* self, bool weighs) {
  const std::lock_guard lock(self->device->mutex);
  self->device->weighs = weighs;
  self->device->found.reset();
}

void framequality::choose_place(FqDeviceBase* self) {
  DeviceState& d = *self->device;
  const char* unsupported = unsupported_reason(self);
  const auto makes = makes_of(self);
  const DeviceSettings settings = d.settings.get();
  bool chosen;
  {
    const std::lock_guard lock(d.mutex);
    chosen = d.place.has_value();
  }
  if (chosen && settings.device == d.chosen_for.device && settings.cuda_device_id == d.chosen_for.cuda_device_id &&
      settings.opencl_device == d.chosen_for.opencl_device && unsupported == d.chosen_despite &&
      makes == d.chosen_among) {
    d.chosen_for = settings;
    return;
  }
  set_weighs(self, may_weigh(self, settings, unsupported));
  if (d.weighs) {
    GST_CAT_INFO_OBJECT(category(self), self, "starting on %s, until another device proves cheaper",
                        cpu_place().backend->title);
    d.chosen_for = settings;
    d.chosen_despite = unsupported;
    d.chosen_among = makes;
    return set_place(self, cpu_place());
  }
  const Wish wish = wish_of(self, settings, unsupported);
  const Choice choice = choose(wish);
  if (!choice.place) throw not_found(settings, choice.reason);
  const auto [backend, id] = *choice.place;
  if (!is_cpu(*backend)) {
    GST_CAT_INFO_OBJECT(category(self), self, "using %s device %d, %s", backend->title, id, choice.name.c_str());
  } else if (choice.reason.empty()) {
    GST_CAT_INFO_OBJECT(category(self), self, "using %s: device=cpu", backend->title);
  } else {
    GST_CAT_INFO_OBJECT(category(self), self, "using %s: %s", backend->title, choice.reason.c_str());
    // A named device is expected to work; an automatic one is not.
    if (const std::string why = why_named_are_unused(settings, wish); !why.empty())
      post(element(self), GST_MESSAGE_WARNING,
           {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, why + ". The CPU is used instead"});
  }
  d.chosen_for = settings;
  d.chosen_despite = unsupported;
  d.chosen_among = makes;
  set_place(self, choice.place);
}

Place framequality::leave_device(FqDeviceBase* self, Memory memory, const Error& fault, const Place& failed,
                                 const char* what, const char* promise) {
  const ElementError e = element_error(fault);
  if (self->device->chosen_for.device != DeviceChoice::kAuto || memory != Memory::kHost) throw e;
  const std::optional<Place> next = next_place(*failed.backend, makes_of(self));
  if (!next) throw e;
  post(element(self), GST_MESSAGE_WARNING,
       {e.domain, e.code, std::string(e.what()) + ". " + what + " continues on " + next->backend->title + promise});
  set_weighs(self, false);
  set_place(self, next);
  return *next;
}

// --- Weighing -------------------------------------------------------------------------------------------------------

/// Starts on the device of frames that only a device reads, or on the CPU for all others.
void framequality::begin_weighing(FqDeviceBase* self, Memory memory) {
  DeviceState& d = *self->device;
  if (!d.weighs) return;
  if (memory == Memory::kHost) {
    if (!is_cpu(*place_of(self).backend)) set_place(self, cpu_place());
    return;
  }
  const Choice choice = choose(wish_of(self, d.chosen_for, d.chosen_despite));
  if (choice.place) set_place(self, choice.place);
}

std::optional<Prospect> framequality::prospect_of(FqDeviceBase* self) {
  DeviceState& d = *self->device;
  if (!d.weighs) return std::nullopt;
  if (d.found) return Prospect{[found = d.found] { return Choice{found, {}, {}}; }, Weighing::kReopening};
  return Prospect{[wish = wish_of(self, d.chosen_for, d.chosen_despite)] { return choose(wish); }};
}

void framequality::count_move(FqDeviceBase* self, const Place& to) {
  DeviceState& d = *self->device;
  if (!is_cpu(*to.backend)) {
    const std::lock_guard lock(d.mutex);
    d.found = to;
  }
  d.stats.change([](WorkStats& stats) { ++stats.moves; });
  GST_CAT_INFO_OBJECT(category(self), self, "now using %s", to.backend->title);
  set_place(self, to);
}

void framequality::stay_on_cpu(FqDeviceBase* self, const std::string& reason) {
  GST_CAT_INFO_OBJECT(category(self), self, "staying on %s: %s", cpu_place().backend->title, reason.c_str());
  set_weighs(self, false);
}
