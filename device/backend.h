// SPDX-License-Identifier: LGPL-2.1-or-later
// A device as a table: its names, the memory that it reads, makers of its workers. It names the rooms' types and
// includes none of them: an element includes its own room.
#pragma once

#include "algorithms/worker.h"
#include "device/memory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace framequality {

struct Geometry;
struct PictureGeometry;
namespace sharpness {
struct Task;
using Meter = Worker<Task, std::span<const std::int64_t>>;
}  // namespace sharpness
namespace bliinds {
struct Input;
class Meter;
}  // namespace bliinds
namespace denoise {
struct Task;
using Filter = Worker<Task, void>;
}  // namespace denoise
namespace halftone {
struct Task;
using Filter = Worker<Task, void>;
struct ColourTask;
using ColourFilter = Worker<ColourTask, void>;
}  // namespace halftone

/// The requested one of a backend's devices.
struct Wanted {
  int id = -1;                 ///< its number; -1: any
  std::string_view name = {};  ///< part of its name, for backends whose devices have names; empty: any
  bool automatic = false;      ///< the backend was not named: excludes devices that gain nothing over the CPU
  bool after_fault = false;    ///< a stream has lost a device: only a device that works at once, and certainly, counts
};

/// Result of looking for a device.
struct Device {
  int id = -1;         ///< the backend's number of it, -1: none usable
  std::string name;    ///< as the driver calls it
  std::string reason;  ///< id < 0: why, and what the user can do about it
};

/// Parameters of a worker, besides the geometry of its frames.
struct Where {
  int id = -1;      ///< as Device::id; -1: in the context that is current in every call
  int depth = 1;    ///< tasks that may be pending
  int threads = 0;  ///< of the CPU, 0 for all cores; meters have one
};

/// A way to compute. All give the same results, within the limits that each room states.
struct Backend {
  const char* name;        ///< value of the property `device`, and name in messages
  const char* title;       ///< name in sentences
  int number;              ///< number of the property's value: permanent; 0 is auto
  Memory memory;           ///< memory whose frames are read in place, besides the host's
  bool has_names = false;  ///< its devices are selected by name, not by number
  /// The device to use: the requested one, or the first usable one. Unsupported selections are ignored. Never
  /// throws.
  Device (*find)(const Wanted& wanted);
  /// Number of devices, usable or not. Null: one. Never throws.
  int (*count)() noexcept = nullptr;
  /// Makes host memory faster to read for device `id`; false if refused. Null: no gain. Any thread.
  bool (*pin)(void* data, std::size_t bytes, int id) noexcept;
  void (*unpin)(void* data, int id) noexcept;
  /// Host memory of the backend that device `id` reads by itself, for devices that read no other; null if there
  /// is none, and then pin() is tried. Null: never. Any thread.
  std::shared_ptr<void> (*allocate)(std::size_t bytes, int id) noexcept = nullptr;
  /// Lets device `id` read a DMA buffer of the kernel by itself, in frames of Memory::kDma, which all its workers then
  /// accept. Called for every frame, after it has been written; waits until the buffer's writers have finished. known:
  /// what it returned for this buffer before, or null; no work that reads it is pending. The result must be kept until
  /// work that reads it has ended; null: copy this frame. Null: no device can. Any thread.
  std::shared_ptr<void> (*import)(int fd, std::size_t bytes, const std::shared_ptr<void>& known,
                                  int id) noexcept = nullptr;
  /// The calling thread's current context, which workers change, and its restoration. Null: no contexts.
  void* (*context)() noexcept = nullptr;
  void (*set_context)(void* context) noexcept = nullptr;
  // Null: the next backend does it. They throw Error, or the host's exceptions.
  std::unique_ptr<sharpness::Meter> (*sharpness)(const Geometry&, const Where&);
  std::unique_ptr<bliinds::Meter> (*bliinds)(const bliinds::Input&, const Where&);
  std::unique_ptr<denoise::Filter> (*denoise)(const PictureGeometry&, const Where&);
  std::unique_ptr<halftone::Filter> (*halftone)(const Geometry&, const Where&);
  std::unique_ptr<halftone::ColourFilter> (*colour_halftone)(const PictureGeometry&, const Where&) = nullptr;
  /// Whether `halftone` also has the tone-dependent method.
  bool diffuses_by_tone = true;
  /// Whether `colour_halftone` has error diffusion too, beside blue noise.
  bool diffuses_colours = true;
};

/// The device on which frames are processed.
struct Place {
  const Backend* backend;
  int id = -1;  ///< as Where::id
};

/// All backends, best first; the last one is the CPU, which works everywhere and in the caller's thread.
std::span<const Backend* const> backends();

/// For tests: replaces backends(), by a list that must stay valid; empty: restores it. Only while no element exists.
void use_backends(std::span<const Backend* const> all);

inline bool is_cpu(const Backend& backend) { return &backend == backends().back(); }
inline Place cpu_place() { return {backends().back()}; }

}  // namespace framequality
