// SPDX-License-Identifier: LGPL-2.1-or-later
// The device that an element works on: chosen on the way to READY, weighed against the CPU during streaming, left
// after a fault.
#pragma once

#include "engine/choose.h"
#include "gst/base/device_base.h"

#include <optional>
#include <string>

namespace framequality {

void set_place(FqDeviceBase* self, std::optional<Place> place);

/// Why only the CPU supports the current settings, or null; see FqDeviceBaseClass.
const char* unsupported_reason(FqDeviceBase* self);

/// The criteria for choosing a device. `settings` must outlive it.
Wish wish_of(FqDeviceBase* self, const DeviceSettings& settings, const char* unsupported);

/// Chooses the device again if the criteria have changed. Throws ElementError if none can be used.
void choose_place(FqDeviceBase* self);

/// Starts on the device of frames that only a device reads, or on the CPU for all others.
void begin_weighing(FqDeviceBase* self, Memory memory);

/// Leaves a device for good after a fault, with a warning that `what` continues elsewhere, with this promise. Throws
/// the fault if frames cannot be processed elsewhere, or the user chose this device alone.
Place leave_device(FqDeviceBase* self, Memory memory, const Error& fault, const Place& failed, const char* what,
                   const char* promise);

/// The device that may be cheaper than the CPU for a new stream; empty if the place is settled.
std::optional<Prospect> prospect_of(FqDeviceBase* self);
/// Records a move to another place, for now.
void count_move(FqDeviceBase* self, const Place& to);
/// Keeps work on the CPU, because no device can be used.
void stay_on_cpu(FqDeviceBase* self, const std::string& reason);

}  // namespace framequality
