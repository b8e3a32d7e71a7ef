// SPDX-License-Identifier: LGPL-2.1-or-later
// A device's properties and a context on it, with the programs compiled for it.
#pragma once

#include "opencl/device.h"
#include "opencl/runtime.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace framequality::opencl {

/// Properties that a device reports.
struct DeviceInfo {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string platform_name, device_name, version, driver;
  Processor processor = Processor::kCpu;
  bool is_available = false, is_little_endian = true;
  bool is_software = false;      ///< an emulation on the CPU, whatever its reported type
  bool shares_memory = false;    ///< with the host: no copies are needed
  bool divides_exactly = false;  ///< float division can be rounded correctly
  bool takes_dp4a = false;       ///< its compiler accepts this NVIDIA instruction
  std::size_t group_items = 1;   ///< most work items of a group
  std::size_t local_bytes = 0;   ///< memory of a group
  unsigned units = 1;            ///< compute units

  /// Compared with `opencl-device`.
  std::string title() const { return platform_name + ": " + device_name; }
};

/// All devices, in clinfo's order; queried once.
const std::vector<DeviceInfo>& devices();

/// Why a device is not used, despite its properties; empty if it is.
std::string refusal_of(int id);

/// A program's text and compiler options. Equal text and options mean the same program.
struct Source {
  std::string text, options;
  bool operator<(const Source& other) const { return text != other.text ? text < other.text : options < other.options; }
};

/// A context on one device. All workers of a process on it share one; it is destroyed with the last of them.
/// Thread-safety: any thread.
class Context {
 public:
  /// The context of device `id`. Throws Error.
  static std::shared_ptr<Context> of(int id);

  explicit Context(int id);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int id() const { return id_; }
  const DeviceInfo& device() const { return device_; }
  cl_context get() const { return context_.get(); }

  Queue queue(bool profiles = false) const;
  /// Memory of the device. bytes: 0 counts as 1.
  Buffer buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) const;

  /// A kernel of a program, which is compiled, or loaded from the cache on disk, at its first use. A kernel
  /// has its own arguments: it is for one thread. Throws Error; the log has the compiler's messages.
  Kernel kernel(const Source& source, const char* name);

  /// Whether this program has been proved to compute the same as the host twin.
  bool is_proved(const Source& source);
  void set_proved(std::span<const Source> sources);
  /// Reports a wrong result: throws Error, and find_device() no longer finds this device. what: the result, a verb.
  [[noreturn]] void refuse(const std::string& what);
  /// Reports a failure: workers made from now on get another context.
  void lose() { is_lost_ = true; }
  bool is_lost() const { return is_lost_; }
  /// Reports that the device does not answer: do not wait for it any more, nor free memory that it may still write to.
  void hang() { is_hung_ = is_lost_ = true; }
  bool is_hung() const { return is_hung_; }

 private:
  Program compile(const Source& source) const;
  Program load(const Source& source) const;

  int id_;
  const DeviceInfo& device_;
  ContextHandle context_;
  std::atomic<bool> is_lost_ = false, is_hung_ = false;
  std::mutex mutex_;  ///< of the following
  std::map<Source, Program> programs_;
  std::set<Source> proved_;
};

}  // namespace framequality::opencl
