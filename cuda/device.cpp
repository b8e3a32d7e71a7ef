// SPDX-License-Identifier: LGPL-2.1-or-later
// Search for a usable device, with the reason and a remedy if there is none.
#include "cuda/device.h"

#include "cuda/driver.h"
#include "cuda/runtime.h"
#include "host/log.h"

#include <algorithm>
#include <string>
#include <thread>

namespace framequality::cuda {
namespace {

/// "13.0" of 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Why devices cannot be counted.
std::string driver_trouble(cudaError_t error) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no NVIDIA driver: install it, or use device=cpu";
  if (error == cudaErrorInsufficientDriver)
    return "the NVIDIA driver supports CUDA " + version_text(driver) + ", but this build needs " +
           version_text(runtime) + ": update the driver, or use device=cpu";
  if (error == cudaErrorNoDevice)
    return "the NVIDIA driver finds no GPU: in a container, pass one to it; check CUDA_VISIBLE_DEVICES";
  return std::string("CUDA cannot be initialized: ") + cudaGetErrorString(error);
}

/// Why device `id` cannot be used; empty if it can. Creates a context only on a device that has kernels here.
std::string trouble_with(int id, std::string& name) {
  cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, id);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  name = properties.name;
  const std::string architecture = std::to_string(properties.major) + std::to_string(properties.minor);
  if (!has_kernels_for(properties.major * 10 + properties.minor))
    return "this build has no kernels for its architecture; build with -Dcuda-arch=" + architecture;
  // In a separate thread, so that the caller's current context stays unchanged.
  std::thread([&] {
    error = cudaSetDevice(id);
    cudaFuncAttributes attributes;
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, smallest_kernel());
    (void)cudaGetLastError();
  }).join();
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

Device look(int wanted) {
  Device device;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (error != cudaSuccess || count == 0) {
    device.reason = driver_trouble(error == cudaSuccess ? cudaErrorNoDevice : error);
    return device;
  }
  if (wanted >= count) {
    device.reason = "there is no CUDA device " + std::to_string(wanted) + "; the " +
                    (count == 1 ? "only one is 0" : "highest is " + std::to_string(count - 1));
    return device;
  }
  for (int id = std::max(wanted, 0); id < (wanted < 0 ? count : wanted + 1); ++id) {
    std::string name = "CUDA device";
    const std::string trouble = trouble_with(id, name);
    if (trouble.empty()) {
      host::log(host::LogLevel::kDebug, "CUDA: device %d of %d, %s", id, count, name.c_str());
      return {id, name, ""};
    }
    host::log(host::LogLevel::kInfo, "CUDA: skipping device %d, %s: %s", id, name.c_str(), trouble.c_str());
    device.reason += (device.reason.empty() ? "" : "; ") + name + " (" + std::to_string(id) + "): " + trouble;
  }
  return device;
}

}  // namespace

Device find_device(int wanted) {
  try {
    return look(wanted);
  } catch (const std::exception& e) {
    return {-1, "", e.what()};
  }
}

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  (void)cudaGetLastError();
  return count;
}

void* context() noexcept {
  static const auto get = driver_function<int (*)(void**)>("cuCtxGetCurrent");
  void* current = nullptr;
  return get && get(&current) == 0 ? current : nullptr;
}

void set_context(void* context) noexcept {
  static const auto set = driver_function<int (*)(void*)>("cuCtxSetCurrent");
  if (set) (void)set(context);
}

int capability() {
  int device, major, minor;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

}  // namespace framequality::cuda
