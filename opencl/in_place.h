// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that others allocated, as buffers: pinned host memory, and DMA buffers.
#pragma once

#include "opencl/context.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace framequality::opencl {

/// Memory pinned in a context, and a byte's offset in it. Default: no buffer.
struct InPlace {
  cl_mem buffer = nullptr;
  std::size_t offset = 0, bytes = 0;  ///< bytes: of the whole memory
};
InPlace find_pinned(const std::uint8_t* data, const Context& context);

/// A copy of a DMA buffer's descriptor for a driver. By cl_khr_external_memory the driver owns and closes it, but some
/// leave it open.
class Descriptor {
 public:
  /// Throws Error.
  explicit Descriptor(int fd);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  /// Closes it, unless the driver has.
  ~Descriptor();
  int get() const { return fd_; }
  /// Call it when the driver has it: after the driver has closed it, the number may become another descriptor's.
  void look();

 private:
  bool is_open() const;

  int fd_;
  std::uint64_t device_ = 0, inode_ = 0;
};

/// A DMA buffer in a context. Each frame that is read from it is acquired and released by its queue.
class Import {
 public:
  /// A command that hands memory over to a queue, or back.
  using HandOver = cl_int(CL_API_CALL*)(cl_command_queue, cl_uint, const cl_mem*, cl_uint, const cl_event*, cl_event*);

  /// way: the extension. acquire, release: null where the device needs no such commands.
  Import(std::shared_ptr<Context> context, Descriptor descriptor, Buffer buffer, std::size_t bytes, const char* way,
         HandOver acquire, HandOver release);
  Import(const Import&) = delete;
  Import& operator=(const Import&) = delete;
  ~Import();
  /// That of a frame of Memory::kDma. Throws Error if it was imported in another context.
  static const Import& of(const void* import, const Context& context);

  Context& context() const { return *context_; }
  cl_mem get() const { return buffer_.get(); }
  std::size_t bytes() const { return bytes_; }
  std::string_view way() const { return way_; }
  std::size_t offset_of(const std::uint8_t* byte) const {
    return reinterpret_cast<std::uintptr_t>(byte) - reinterpret_cast<std::uintptr_t>(this);
  }
  /// Queue what comes before and after the commands that read it. They throw Error.
  void acquire(cl_command_queue queue) const;
  void release(cl_command_queue queue) const;
  /// True if it was acquired and not released, because a command between failed.
  bool is_held() const { return is_held_; }

  std::size_t seen = 0;  ///< hash of the contents that were compared last, 0: none

 private:
  std::shared_ptr<Context> context_;
  Descriptor descriptor_;  ///< outlives the buffer
  Buffer buffer_;
  std::size_t bytes_;
  const char* way_;
  HandOver acquire_, release_;
  mutable std::atomic<bool> is_held_ = false;
};

}  // namespace framequality::opencl
