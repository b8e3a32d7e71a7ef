// SPDX-License-Identifier: LGPL-2.1-or-later
// A control of a V4L2 device that moves a lens, and its system calls, which tests can replace.
#include "gst/focuscontroller/v4l2_control.h"

#include "gst/object/guard.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(focuscontroller_debug);
#define GST_CAT_DEFAULT focuscontroller_debug

namespace framequality {

namespace {

constexpr char kFocus[] = "focus_absolute";

[[noreturn]] void fail(int code, const std::string& text) { throw ElementError(GST_RESOURCE_ERROR, code, text); }

class Device {
 public:
  explicit Device(const std::string& path)
      : path_(path), fd_(v4l2_calls().open(path.c_str(), O_RDWR | O_CLOEXEC)), error_(fd_ < 0 ? errno : 0) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (fd_ >= 0) v4l2_calls().close(fd_);
  }

  /// errno of opening it; 0: it is open.
  int error() const { return error_; }
  const std::string& path() const { return path_; }
  /// False with errno set if it fails.
  template <class T>
  bool call(unsigned long request, T& argument) {
    int result;
    do result = v4l2_calls().ioctl(fd_, request, &argument);
    while (result < 0 && errno == EINTR);
    return result >= 0;
  }

 private:
  std::string path_;
  int fd_, error_;
};

/// "Focus (absolute)" as v4l2-ctl prints it: focus_absolute.
std::string plain_name(const __u8* name) {
  std::string plain;
  bool gap = false;
  for (; *name; ++name) {
    if (!g_ascii_isalnum(static_cast<gchar>(*name))) {
      gap = !plain.empty();
      continue;
    }
    if (std::exchange(gap, false)) plain += '_';
    plain += g_ascii_tolower(static_cast<gchar>(*name));
  }
  return plain;
}

v4l2_queryctrl find_control(Device& device, const std::string& name) {
  v4l2_queryctrl found{};
  if (name == kFocus) {  // by its number, because drivers may name it differently
    found.id = V4L2_CID_FOCUS_ABSOLUTE;
    if (device.call(VIDIOC_QUERYCTRL, found)) return found;
  }
  std::string others;
  v4l2_queryctrl each{};
  for (each.id = V4L2_CTRL_FLAG_NEXT_CTRL; device.call(VIDIOC_QUERYCTRL, each); each.id |= V4L2_CTRL_FLAG_NEXT_CTRL) {
    if (plain_name(each.name) == name) return each;
    if (each.type == V4L2_CTRL_TYPE_INTEGER) others += (others.empty() ? "" : ", ") + plain_name(each.name);
  }
  fail(GST_RESOURCE_ERROR_NOT_FOUND, device.path() + " has no control " + name +
                                         (others.empty() ? " and no other numeric control" : "; it has: " + others));
}

class V4l2Control final : public Actuator {
 public:
  V4l2Control(std::unique_ptr<Device> device, std::string name) : device_(std::move(device)), name_(std::move(name)) {
    if (name_ == kFocus) {
      v4l2_control off{V4L2_CID_FOCUS_AUTO, 0};
      if (!device_->call(VIDIOC_S_CTRL, off))
        GST_INFO("%s: cannot turn off the camera's own autofocus: %s", device_->path().c_str(), g_strerror(errno));
    }
    control_ = find_control(*device_, name_);
    if (control_.type != V4L2_CTRL_TYPE_INTEGER)
      fail(GST_RESOURCE_ERROR_SETTINGS, "The control " + name_ + " of " + device_->path() + " is not a number");
    if (control_.flags & (V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_READ_ONLY))
      fail(GST_RESOURCE_ERROR_SETTINGS,
           "The control " + name_ + " of " + device_->path() + " is disabled or read-only");
  }

  Travel travel() const override {
    return {double(control_.minimum), double(control_.maximum), double(std::max(control_.step, 1))};
  }

  double position() override {
    v4l2_control now{control_.id, 0};
    return device_->call(VIDIOC_G_CTRL, now) ? now.value : std::nan("");
  }

  void move(double position) override {
    const double value = std::clamp(std::round(position), double(control_.minimum), double(control_.maximum));
    v4l2_control to{control_.id, static_cast<__s32>(value)};
    if (!device_->call(VIDIOC_S_CTRL, to))
      fail(GST_RESOURCE_ERROR_WRITE, "Cannot set " + name_ + " of " + device_->path() + " to " +
                                         std::to_string(static_cast<int>(value)) + ": " + g_strerror(errno));
  }

 private:
  std::unique_ptr<Device> device_;
  std::string name_;
  v4l2_queryctrl control_{};
};

}  // namespace

V4l2Calls& v4l2_calls() {
  static V4l2Calls table{[](const char* path, int flags) { return open(path, flags); }, close,
                         [](int fd, unsigned long request, void* argument) { return ioctl(fd, request, argument); }};
  return table;
}

std::unique_ptr<Actuator> open_v4l2_control(const std::string& name) {
  auto device = std::make_unique<Device>(name);
  std::string control = kFocus;
  const std::size_t colon = name.rfind(':');
  // Links in /dev/v4l/by-path also contain colons, so the whole name is tried first.
  if (device->error() == ENOENT && colon != std::string::npos && name.find('/', colon) == std::string::npos) {
    device = std::make_unique<Device>(name.substr(0, colon));
    control = name.substr(colon + 1);
  }
  if (device->error())
    fail(GST_RESOURCE_ERROR_OPEN_READ_WRITE, "Cannot open " + device->path() + ": " + g_strerror(device->error()));
  return std::make_unique<V4l2Control>(std::move(device), control);
}

}  // namespace framequality
