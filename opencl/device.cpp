// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/device.h"

#include "device/error.h"
#include "opencl/context.h"
#include "opencl/self_test.h"

#include <algorithm>
#include <cctype>
#include <glob.h>
#include <string_view>
#include <tuple>

namespace framequality::opencl {
namespace {

std::string lower(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return all;
}

/// The titles of all devices, for the error about an unknown one.
std::string listed() {
  std::string all;
  for (const DeviceInfo& d : devices()) all.append(all.empty() ? "'" : ", '").append(d.title()).append("'");
  return all;
}

/// The devices that match, the best first.
std::vector<int> candidates(const Wanted& wanted) {
  const std::vector<DeviceInfo>& all = devices();
  std::vector<int> ids;
  for (int id = 0; id < static_cast<int>(all.size()); ++id) {
    const DeviceInfo& d = all[static_cast<std::size_t>(id)];
    if (wanted.id >= 0 && id != wanted.id) continue;
    if (lower(d.title()).find(lower(wanted.name)) == std::string::npos && std::to_string(id) != wanted.name) continue;
    if (wanted.automatic && wanted.name.empty() && d.is_software) continue;
    ids.push_back(id);
  }
  std::ranges::stable_sort(ids, {}, [&](int id) {
    const DeviceInfo& d = all[static_cast<std::size_t>(id)];
    const bool is_it = lower(d.title()) == lower(wanted.name) || std::to_string(id) == wanted.name;
    return std::tuple(!is_it, d.is_software, d.processor);
  });
  return ids;
}

/// Why a device cannot be used; empty if it can.
std::string obstacle(int id) {
  const DeviceInfo& d = devices()[static_cast<std::size_t>(id)];
  if (!d.is_available) return d.title() + " is unavailable or has no compiler";
  if (!d.is_little_endian) return d.title() + " is big-endian, which is not supported";
  return self_test(id);
}

/// Whether the system has a GPU, as its device nodes say. Drivers would know better, but loading them all costs each
/// process 0.2 s and 70 MB, and Mesa's Clover ends a Python process that had C++ modules before GStreamer.
bool may_have_gpu() {
#if defined(__linux__)
  for (const char* const node : {"/dev/dri/renderD*", "/dev/kfd", "/dev/nvidia[0-9]*", "/dev/nvhost-gpu", "/dev/nvgpu",
                                 "/dev/dxg", "/dev/mali*", "/dev/kgsl-3d0", "/dev/pvr*", "/dev/galcore"}) {
    glob_t found{};
    const bool is_there = glob(node, GLOB_NOSORT, nullptr, &found) == 0;
    globfree(&found);
    if (is_there) return true;
  }
  return false;
#else
  return true;
#endif
}

Device find(const Wanted& wanted) {
  // It may be the GPU that has just failed, and compiling takes time.
  if (wanted.after_fault) return {-1, "", "OpenCL is not tried after a device's fault"};
  if (wanted.automatic && wanted.name.empty() && !may_have_gpu())
    return {-1, "", "OpenCL is not tried: there is no GPU in /dev; device=opencl tries all drivers"};
  if (!has_api())
    return {-1, "", "libOpenCL.so.1 is missing: install ocl-icd-libopencl1 and the GPU's OpenCL driver (docs/gpu.md)"};
  if (devices().empty()) return {-1, "", "OpenCL finds no device: install the GPU's OpenCL driver (docs/gpu.md)"};
  std::string reasons;
  for (const int id : candidates(wanted)) {
    const std::string reason = obstacle(id);
    if (reason.empty()) return {id, devices()[static_cast<std::size_t>(id)].title(), ""};
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  if (!reasons.empty()) return {-1, "", reasons};
  if (!wanted.name.empty())
    return {-1, "", "no OpenCL device matches '" + std::string(wanted.name) + "'; available are " + listed()};
  if (wanted.id >= 0) return {-1, "", "no OpenCL device " + std::to_string(wanted.id) + "; available are " + listed()};
  return {-1, "", "OpenCL finds no GPU, only " + listed()};
}

}  // namespace

Device find_device(const Wanted& wanted) {
  return guard(Device{-1, "", "out of memory"}, [&] { return find(wanted); });
}

int device_count() noexcept {
  return guard(0, [] { return static_cast<int>(devices().size()); });
}

}  // namespace framequality::opencl
