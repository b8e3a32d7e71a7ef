// SPDX-License-Identifier: LGPL-2.1-or-later
// A device's properties and a context on it, with the programs that have been compiled for it.
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

/// What a device says of itself.
struct DeviceInfo {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string platform_name, device_name, version, driver;
  Processor processor = Processor::kCpu;
  bool is_available = false, is_little_endian = true;
  bool is_software = false;      ///< an emulation on the CPU, whatever it calls itself
  bool shares_memory = false;    ///< with the host: nothing need be copied
  bool divides_exactly = false;  ///< float division can be rounded correctly
  bool takes_dp4a = false;       ///< its compiler takes this of NVIDIA's instructions
  std::size_t group_items = 1;   ///< work items that a group may have
  std::size_t local_bytes = 0;   ///< memory of a group
  unsigned units = 1;            ///< compute units

  /// As `opencl-device` is compared with.
  std::string title() const { return platform_name + ": " + device_name; }
};

/// All devices, as clinfo lists them; asked for once.
const std::vector<DeviceInfo>& devices();

/// Why a device is not used, whatever it can; empty: it is.
std::string refusal_of(int id);

/// A program's text and how it is compiled. Same text and options: same program.
struct Source {
  std::string text, options;
  bool operator<(const Source& other) const { return text != other.text ? text < other.text : options < other.options; }
};

/// A context on one device. All workers of a process on it share one; it goes with the last of them.
/// Thread-safety: any thread.
class Context {
 public:
  /// Of device `id`. Throws Error.
  static std::shared_ptr<Context> of(int id);

  explicit Context(int id);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int id() const { return id_; }
  const DeviceInfo& device() const { return device_; }
  cl_context get() const { return context_.get(); }

  Queue queue(bool profiles = false) const;
  /// Memory of the device. bytes: 0 is taken for 1.
  Buffer buffer(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) const;

  /// A kernel of a program, which is compiled, or fetched from the cache on disk, when it is first asked for. A kernel
  /// has arguments of its own: it is for one thread. Throws Error; the log has what the compiler says.
  Kernel kernel(const Source& source, const char* name);

  /// Whether this program has computed what the host twin computes.
  bool is_proved(const Source& source);
  void set_proved(std::span<const Source> sources);
  /// A program has computed something else: throws Error, and find_device() no longer finds this device. what: it does.
  [[noreturn]] void refuse(const std::string& what);
  /// Something has failed on it: workers made from now on get another context.
  void lose() { is_lost_ = true; }
  bool is_lost() const { return is_lost_; }
  /// The device does not answer: nobody may wait for it any more, nor free what it may still write to.
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
