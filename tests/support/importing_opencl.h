// SPDX-License-Identifier: LGPL-2.1-or-later
// A driver that imports DMA buffers, over the installed one: it maps them, and has the device read what is mapped.
#pragma once

#include "opencl/api.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace framequality::test {

/// What the driver offers and does wrong, and what it was asked for.
struct Importing {
  enum class Way {
    kNone,
    kKhronos,   ///< as Intel's driver, which does not list cl_khr_external_memory_dma_buf
    kOpaqueFd,  ///< imports other descriptors
    kArm,
    kBoth  ///< what is imported by Khronos' is other memory, or a copy
  };
  Way way = Way::kKhronos;
  enum class Fault {
    kNone,
    kZeros,     ///< the device reads other memory
    kSnapshot,  ///< the device reads what was there when it was imported
  };
  Fault fault = Fault::kNone;
  bool closes = true;        ///< takes the descriptor, as it should
  int fail_at = -1;          ///< the number of the import that fails
  int fail_acquire_at = -1;  ///< of the acquisition
  int fail_kernel_at = -1;   ///< of the launch of a kernel, from when this is set

  int asked = 0, imported = 0, acquired = 0;
  int uploads = 0;        ///< copies from host memory
  int device_copies = 0;  ///< from imported memory
  int failed_kernels = 0;
  std::set<cl_mem> live, held;  ///< imports that are not released, and those acquired
  std::set<cl_mem> by_khronos;  ///< must be acquired
};
inline Importing importing;

namespace importing_driver {

inline std::mutex mutex;
struct Mapped {
  void* data;
  std::size_t bytes;
};
inline std::vector<Mapped> maps;  // as long as a test, because commands may be pending when an import is released

inline const opencl::Api& real() { return *opencl::installed_api(); }

inline cl_mem import(cl_context context, int fd, cl_mem_flags flags, std::size_t bytes, bool is_khronos, cl_int* code) {
  const std::lock_guard lock(mutex);
  *code = CL_OUT_OF_RESOURCES;
  if (importing.asked++ == importing.fail_at) return nullptr;
  const bool is_copy = importing.way == Importing::Way::kBoth ? is_khronos : importing.fault != Importing::Fault::kNone;
  void* const data = is_copy ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                             : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return nullptr;
  maps.push_back({data, bytes});
  if (is_copy && importing.fault == Importing::Fault::kSnapshot) {
    EXPECT_EQ(pread(fd, data, bytes, 0), static_cast<ssize_t>(bytes));
  }
  const cl_mem made = real().clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, bytes, data, code);
  if (is_khronos && importing.closes) close(fd);
  if (is_khronos) importing.by_khronos.insert(made);
  ++importing.imported;
  importing.live.insert(made);
  return made;
}
inline cl_mem create_with_properties(cl_context context, const cl_ulong* properties, cl_mem_flags flags,
                                     std::size_t bytes, void* host, cl_int* code) {
  EXPECT_EQ(properties[0], 0x2067u);
  EXPECT_EQ(properties[2], 0u);
  EXPECT_EQ(host, nullptr);
  return import(context, static_cast<int>(properties[1]), flags, bytes, true, code);
}
inline cl_mem import_arm(cl_context context, cl_mem_flags flags, const std::intptr_t* properties, void* memory,
                         std::size_t bytes, cl_int* code) {
  EXPECT_EQ(properties[0], 0x40B2);
  EXPECT_EQ(properties[1], 0x40B4);
  EXPECT_EQ(properties[2], 0);
  return import(context, *static_cast<int*>(memory), flags, bytes, false, code);
}

inline cl_int acquire(cl_command_queue, cl_uint count, const cl_mem* memory, cl_uint, const cl_event*, cl_event*) {
  const std::lock_guard lock(mutex);
  EXPECT_EQ(count, 1u);
  EXPECT_TRUE(importing.live.contains(*memory));
  if (importing.acquired++ == importing.fail_acquire_at) return CL_OUT_OF_RESOURCES;
  EXPECT_TRUE(importing.held.insert(*memory).second) << "acquired twice";
  return CL_SUCCESS;
}
inline cl_int release(cl_command_queue, cl_uint count, const cl_mem* memory, cl_uint, const cl_event*, cl_event*) {
  const std::lock_guard lock(mutex);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(importing.held.erase(*memory), 1u) << "released, but not acquired";
  return CL_SUCCESS;
}
/// Expects that a command may use this memory now.
inline void expect_held(cl_mem memory) {
  const std::lock_guard lock(mutex);
  const bool must = importing.by_khronos.contains(memory);
  EXPECT_TRUE(!must || importing.held.contains(memory)) << "used, but not acquired";
}

inline void* extension_function(cl_platform_id platform, const char* name) {
  const std::string_view n = name;
  const bool is_both = importing.way == Importing::Way::kBoth;
  const bool is_khronos = is_both || importing.way == Importing::Way::kKhronos;
  if (n == "clEnqueueAcquireExternalMemObjectsKHR") return is_khronos ? reinterpret_cast<void*>(acquire) : nullptr;
  if (n == "clEnqueueReleaseExternalMemObjectsKHR") return is_khronos ? reinterpret_cast<void*>(release) : nullptr;
  if (n == "clImportMemoryARM")
    return is_both || importing.way == Importing::Way::kArm ? reinterpret_cast<void*>(import_arm) : nullptr;
  return real().clGetExtensionFunctionAddressForPlatform(platform, name);
}
inline cl_int device_info(cl_device_id device, cl_device_info what, std::size_t bytes, void* value, std::size_t* got) {
  const auto answer = [&](const void* data, std::size_t size) {
    if (value && bytes < size) return CL_INVALID_VALUE;
    if (got) *got = size;
    if (value) std::memcpy(value, data, size);
    return CL_SUCCESS;
  };
  using Way = Importing::Way;
  const bool is_arm = importing.way == Way::kArm, is_both = importing.way == Way::kBoth,
             is_khronos = is_both || importing.way == Way::kKhronos;
  const bool has_memory = is_khronos || importing.way == Way::kOpaqueFd;
  constexpr cl_device_info kImportTypes = 0x204F;
  if (what == kImportTypes) {
    const cl_uint types[] = {0x2060, 0x2067};  // opaque descriptors, DMA buffers
    return has_memory ? answer(types, (is_khronos ? 2 : 1) * sizeof(cl_uint)) : CL_INVALID_VALUE;
  }
  if (what != CL_DEVICE_EXTENSIONS) return real().clGetDeviceInfo(device, what, bytes, value, got);
  const std::string text = is_both      ? "cl_khr_external_memory cl_arm_import_memory cl_arm_import_memory_dma_buf"
                           : has_memory ? "cl_khr_fp64 cl_khr_external_memory "
                           : is_arm     ? "cl_arm_import_memory cl_arm_import_memory_dma_buf"
                                        : "cl_khr_byte_addressable_store";
  return answer(text.c_str(), text.size() + 1);
}

inline cl_int release_memory(cl_mem memory) {
  {
    const std::lock_guard lock(mutex);
    importing.live.erase(memory);
    importing.by_khronos.erase(memory);
    EXPECT_TRUE(importing.held.erase(memory) == 0 || importing.failed_kernels > 0) << "freed while acquired";
  }
  return real().clReleaseMemObject(memory);
}
inline cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* first,
                     const std::size_t* global, const std::size_t* local, cl_uint count, const cl_event* events,
                     cl_event* done) {
  if (importing.fail_kernel_at >= 0 && importing.fail_kernel_at-- == 0) {
    ++importing.failed_kernels;
    return CL_OUT_OF_RESOURCES;
  }
  return real().clEnqueueNDRangeKernel(queue, kernel, dimensions, first, global, local, count, events, done);
}
inline cl_int set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
  if (bytes == sizeof(cl_mem)) {
    cl_mem memory;
    std::memcpy(&memory, value, sizeof memory);
    expect_held(memory);
  }
  return real().clSetKernelArg(kernel, index, bytes, value);
}

/// The real function, after a note.
template <auto kMember, auto kNote, class... A>
struct Noted {
  static cl_int call(A... arguments) {
    kNote(arguments...);
    return (real().*kMember)(arguments...);
  }
};
template <auto kMember, auto kNote, class... A>
void put(opencl::Api& table, cl_int (*opencl::Api::*)(A...)) {
  table.*kMember = Noted<kMember, kNote, A...>::call;
}
inline constexpr auto kUpload = [](auto...) { ++importing.uploads; };
inline constexpr auto kCopy = [](cl_command_queue, cl_mem from, auto...) {
  expect_held(from);
  ++importing.device_copies;
};

}  // namespace importing_driver

/// The functions of that driver.
inline const opencl::Api& importing_api() {
  using namespace importing_driver;
  static const opencl::Api table = [] {
    opencl::Api t = *opencl::installed_api();
    t.clGetDeviceInfo = device_info;
    t.clGetExtensionFunctionAddressForPlatform = extension_function;
    t.clCreateBufferWithProperties = create_with_properties;
    t.clReleaseMemObject = release_memory;
    t.clSetKernelArg = set_argument;
    t.clEnqueueNDRangeKernel = launch;
#define FQ_PUT(name, note) put<&opencl::Api::name, note>(t, &opencl::Api::name);
    FQ_PUT(clEnqueueWriteBuffer, kUpload)
    FQ_PUT(clEnqueueWriteBufferRect, kUpload)
    FQ_PUT(clEnqueueCopyBuffer, kCopy)
    FQ_PUT(clEnqueueCopyBufferRect, kCopy)
#undef FQ_PUT
    return t;
  }();
  return table;
}

/// Puts the driver in place while it lives; no worker may exist before or after.
class ImportingOpenCl {
 public:
  ImportingOpenCl() {
    importing = {};
    opencl::use_api(&importing_api());
  }
  ~ImportingOpenCl() {
    opencl::use_api(nullptr);
    for (const auto& [data, bytes] : std::exchange(importing_driver::maps, {})) munmap(data, bytes);
  }
  ImportingOpenCl(const ImportingOpenCl&) = delete;
  ImportingOpenCl& operator=(const ImportingOpenCl&) = delete;
};

}  // namespace framequality::test
