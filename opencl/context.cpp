// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/context.h"

#include "device/error.h"
#include "host/log.h"
#include "opencl/cache.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace framequality::opencl {
namespace {

/// The name in the headers, or a number for codes beyond OpenCL 1.2.
std::string name_of(cl_int code) {
  switch (code) {
#define FQ_CODE(name) \
  case name:          \
    return #name;
    FQ_CODE(CL_DEVICE_NOT_FOUND)
    FQ_CODE(CL_DEVICE_NOT_AVAILABLE)
    FQ_CODE(CL_COMPILER_NOT_AVAILABLE)
    FQ_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    FQ_CODE(CL_OUT_OF_RESOURCES)
    FQ_CODE(CL_OUT_OF_HOST_MEMORY)
    FQ_CODE(CL_BUILD_PROGRAM_FAILURE)
    FQ_CODE(CL_MAP_FAILURE)
    FQ_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    FQ_CODE(CL_LINKER_NOT_AVAILABLE)
    FQ_CODE(CL_INVALID_VALUE)
    FQ_CODE(CL_INVALID_DEVICE)
    FQ_CODE(CL_INVALID_CONTEXT)
    FQ_CODE(CL_INVALID_COMMAND_QUEUE)
    FQ_CODE(CL_INVALID_MEM_OBJECT)
    FQ_CODE(CL_INVALID_BINARY)
    FQ_CODE(CL_INVALID_BUILD_OPTIONS)
    FQ_CODE(CL_INVALID_PROGRAM_EXECUTABLE)
    FQ_CODE(CL_INVALID_KERNEL_NAME)
    FQ_CODE(CL_INVALID_KERNEL_ARGS)
    FQ_CODE(CL_INVALID_WORK_GROUP_SIZE)
    FQ_CODE(CL_INVALID_BUFFER_SIZE)
#undef FQ_CODE
    default:
      return "error " + std::to_string(code);
  }
}

Fault fault_of(cl_int code) {
  switch (code) {
    case CL_DEVICE_NOT_FOUND:
    case CL_DEVICE_NOT_AVAILABLE:
      return Fault::kNoDevice;
    // A failed kernel also leaves CL_OUT_OF_RESOURCES: treated as a loss.
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return Fault::kOutOfMemory;
    default:
      return Fault::kDeviceLost;
  }
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  if (api().clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (api().clGetDeviceInfo(device, what, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  return text.substr(0, text.find('\0'));
}

std::string name_of(cl_platform_id platform) {
  std::size_t bytes = 0;
  if (api().clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (api().clGetPlatformInfo(platform, CL_PLATFORM_NAME, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  return text.substr(0, text.find('\0'));
}

template <class T>
T number_of(cl_device_id device, cl_device_info what) {
  T value{};
  (void)api().clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

DeviceInfo info_of(cl_platform_id platform, cl_device_id device) {
  DeviceInfo d;
  d.platform = platform;
  d.device = device;
  d.platform_name = name_of(platform);
  d.device_name = text_of(device, CL_DEVICE_NAME);
  d.version = text_of(device, CL_DEVICE_VERSION);
  d.driver = text_of(device, CL_DRIVER_VERSION);
  const auto type = number_of<cl_device_type>(device, CL_DEVICE_TYPE);
  d.processor = type & CL_DEVICE_TYPE_GPU           ? Processor::kGpu
                : type & CL_DEVICE_TYPE_ACCELERATOR ? Processor::kAccelerator
                                                    : Processor::kCpu;
  d.is_software = d.processor == Processor::kCpu;
  for (const char* const emulation : {"llvmpipe", "softpipe", "swrast", "Oclgrind"})
    d.is_software = d.is_software || d.device_name.find(emulation) != std::string::npos;
  d.is_available = number_of<cl_bool>(device, CL_DEVICE_AVAILABLE) != 0 &&
                   number_of<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) != 0;
  d.is_little_endian = number_of<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) != 0;
  d.shares_memory = number_of<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  d.divides_exactly =
      (number_of<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  d.group_items = number_of<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  d.local_bytes = static_cast<std::size_t>(number_of<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  d.units = number_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  if (text_of(device, CL_DEVICE_EXTENSIONS).find("cl_nv_device_attribute_query") != std::string::npos) {
    constexpr cl_device_info kMajor = 0x4000, kMinor = 0x4001;  // of the compute capability
    d.takes_dp4a = 10 * number_of<cl_uint>(device, kMajor) + number_of<cl_uint>(device, kMinor) >= 61;
  }
  return d;
}

std::vector<DeviceInfo> find_all() {
  std::vector<DeviceInfo> all;
  if (!has_api()) return all;
  cl_uint count = 0;
  if (api().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return all;
  std::vector<cl_platform_id> platforms(count);
  if (count == 0 || api().clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return all;
  for (const cl_platform_id platform : platforms) {
    if (api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> ids(count);
    if (api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS) continue;
    for (const cl_device_id id : ids) {
      all.push_back(info_of(platform, id));
      const DeviceInfo& d = all.back();
      host::log(host::LogLevel::kInfo, "OpenCL device %zu: %s, %s, driver %s", all.size() - 1, d.title().c_str(),
                d.version.c_str(), d.driver.c_str());
    }
  }
  return all;
}

std::string key_of(const DeviceInfo& d, const Source& source) {
  return d.title() + "\n" + d.version + "\n" + d.driver + "\n" + source.options + "\n" + source.text;
}

/// Devices whose results differed from the CPU's, until the process ends.
struct Refusals {
  std::mutex mutex;
  std::map<int, std::string> reasons;
};
Refusals& refusals() {
  static auto& all = *new Refusals;  // as contexts below
  return all;
}

}  // namespace

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) throw Error(fault_of(code), std::string("OpenCL: ") + call + ": " + name_of(code));
}

const std::vector<DeviceInfo>& devices() {
  static const auto& all = *new std::vector<DeviceInfo>(find_all());
  return all;
}

std::shared_ptr<Context> Context::of(int id) {
  // Never destroyed: a thread that opens a device may outlive all static objects.
  static auto& mutex = *new std::mutex;
  static auto& contexts = *new std::map<int, std::weak_ptr<Context>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Context> context = contexts[id].lock();
  if (!context || context->is_lost()) contexts[id] = context = std::make_shared<Context>(id);
  return context;
}

Context::Context(int id)
    : id_(id), device_([&]() -> const DeviceInfo& {
        if (id < 0 || static_cast<std::size_t>(id) >= devices().size())
          throw Error(Fault::kNoDevice, "OpenCL: no device " + std::to_string(id));
        return devices()[static_cast<std::size_t>(id)];
      }()) {
  cl_int code;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(device_.platform), 0};
  context_ = ContextHandle(api().clCreateContext(properties, 1, &device_.device, nullptr, nullptr, &code));
  check(code, "clCreateContext");
}

Queue Context::queue(bool profiles) const {
  cl_int code;
  Queue made(
      api().clCreateCommandQueue(context_.get(), device_.device, profiles ? CL_QUEUE_PROFILING_ENABLE : 0, &code));
  check(code, "clCreateCommandQueue");
  return made;
}

Buffer Context::buffer(std::size_t bytes, cl_mem_flags flags, void* host) const {
  cl_int code;
  Buffer made(api().clCreateBuffer(context_.get(), flags, bytes > 0 ? bytes : 1, host, &code));
  check(code, "clCreateBuffer");
  return made;
}

/// Compiles a program, and caches it for the next process.
Program Context::compile(const Source& source) const {
  const auto begin = std::chrono::steady_clock::now();
  host::log(host::LogLevel::kInfo, "%s: compiling a program of %zu bytes, to be stored in %s",
            device_.device_name.c_str(), source.text.size(), cache_folder().c_str());
  const char* text = source.text.c_str();
  cl_int code;
  Program program(api().clCreateProgramWithSource(context_.get(), 1, &text, nullptr, &code));
  check(code, "clCreateProgramWithSource");
  code = api().clBuildProgram(program.get(), 1, &device_.device, source.options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::size_t bytes = 0;
    (void)api().clGetProgramBuildInfo(program.get(), device_.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    (void)api().clGetProgramBuildInfo(program.get(), device_.device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
    host::log(host::LogLevel::kWarning, "%s: cannot compile a program: %s", device_.title().c_str(), log.c_str());
    check(code, "clBuildProgram");
  }
  std::size_t bytes = 0;
  if (api().clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) == CL_SUCCESS &&
      bytes > 0) {
    std::string binary(bytes, '\0');
    char* at = binary.data();
    if (api().clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof at, &at, nullptr) == CL_SUCCESS)
      cache(key_of(device_, source), binary);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  host::log(host::LogLevel::kInfo, "compiling took %.2f s", taken.count());
  return program;
}

/// A program that an earlier process has compiled; none if there is none, or the driver rejects it.
Program Context::load(const Source& source) const {
  const auto binary = cached(key_of(device_, source));
  if (!binary) return {};
  const std::size_t bytes = binary->size();
  const auto* at = reinterpret_cast<const unsigned char*>(binary->data());
  cl_int status, code;
  Program program(api().clCreateProgramWithBinary(context_.get(), 1, &device_.device, &bytes, &at, &status, &code));
  if (code == CL_SUCCESS && status == CL_SUCCESS &&
      api().clBuildProgram(program.get(), 1, &device_.device, source.options.c_str(), nullptr, nullptr) == CL_SUCCESS)
    return program;
  host::log(host::LogLevel::kInfo, "%s rejects the program that it compiled before", device_.title().c_str());
  return {};
}

Kernel Context::kernel(const Source& asked, const char* name) {
  // For debugging of drivers, and for tests on CPUs, where optimising takes longer than everything else.
  static const std::string more = [] {
    const char* const options = std::getenv("FQ_OPENCL_OPTIONS");
    return options ? std::string(1, ' ').append(options) : std::string();
  }();
  const Source source{asked.text, asked.options + more};
  const std::lock_guard lock(mutex_);
  auto at = programs_.find(source);
  if (at == programs_.end()) {
    Program program = load(source);
    if (!program) program = compile(source);
    at = programs_.emplace(source, std::move(program)).first;
  }
  cl_int code;
  Kernel made(api().clCreateKernel(at->second.get(), name, &code));
  check(code, "clCreateKernel");
  return made;
}

bool Context::is_proved(const Source& source) {
  const std::lock_guard lock(mutex_);
  return proved_.contains(source);
}

void Context::set_proved(std::span<const Source> sources) {
  const std::lock_guard lock(mutex_);
  proved_.insert(sources.begin(), sources.end());
}

void Context::refuse(const std::string& what) {
  const std::string reason = device_.title() + ", driver " + device_.driver + ", " + what +
                             ", so it is not used. Try another driver; docs/gpu.md lists those that were tested";
  host::log(host::LogLevel::kWarning, "%s", reason.c_str());
  {
    Refusals& all = refusals();
    const std::lock_guard lock(all.mutex);
    all.reasons[id_] = reason;
  }
  lose();
  throw Error(Fault::kDeviceLost, "OpenCL: " + reason);
}

std::string refusal_of(int id) {
  Refusals& all = refusals();
  const std::lock_guard lock(all.mutex);
  const auto at = all.reasons.find(id);
  return at == all.reasons.end() ? std::string() : at->second;
}

}  // namespace framequality::opencl
