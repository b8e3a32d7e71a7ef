// SPDX-License-Identifier: LGPL-2.1-or-later
// A control of a V4L2 device that moves a lens, and its system calls, which tests can replace.
#pragma once

#include "gst/focuscontroller/actuator.h"

#include <memory>
#include <string>

namespace framequality {

/// Replacements for the functions of the same names.
struct V4l2Calls {
  int (*open)(const char* path, int flags);
  int (*close)(int fd);
  int (*ioctl)(int fd, unsigned long request, void* argument);
};

/// The table in use. Write it only while no device is open.
V4l2Calls& v4l2_calls();

/// The control of a device, named `/dev/videoN` (its focus_absolute) or `/dev/videoN:control`, with the control's name
/// as v4l2-ctl --list-ctrls prints it. Turns the device's own autofocus off if the control is focus_absolute. Throws
/// ElementError.
std::unique_ptr<Actuator> open_v4l2_control(const std::string& name);

}  // namespace framequality
