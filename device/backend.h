// SPDX-License-Identifier: LGPL-2.1-or-later
// A device as a table: its names, the memory that it reads, and what makes its workers. It names the rooms' types and
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
struct MeterTask;
using Meter = Worker<MeterTask, std::span<const std::int64_t>>;
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

/// Which of a backend's devices is asked for.
struct Wanted {
  int id = -1;                 ///< its number; -1: any
  std::string_view name = {};  ///< part of its name, for backends whose devices have names; empty: any
  bool automatic = false;      ///< nobody named the backend: devices that gain nothing over the CPU are not meant
  bool after_fault = false;    ///< a stream has lost a device: only what works at once, and beyond doubt, is meant
};

/// Result of looking for a device.
struct Device {
  int id = -1;         ///< the backend's number of it, -1: none usable
  std::string name;    ///< as the driver calls it
  std::string reason;  ///< id < 0: why, and what the user can do about it
};

/// What a worker is made for, beside the geometry of its frames.
struct Where {
  int id = -1;      ///< as Device::id; -1: in the context that is current in every call
  int depth = 1;    ///< tasks that may be pending
  int threads = 0;  ///< of the CPU, 0 for all cores; meters have one
};

/// One way to compute. All give the same results, as far as each room says.
struct Backend {
  const char* name;        ///< value of the property `device`, and what messages say
  const char* title;       ///< what sentences call it
  int number;              ///< number of the property's value: for good, 0 is auto
  Memory memory;           ///< that frames may lie in to be read in place, beside the host's
  bool has_names = false;  ///< its devices are asked for by name, not by number
  /// The device to use: the one wanted, or the first usable one. A backend ignores what its devices do not have. Never
  /// throws.
  Device (*find)(const Wanted& wanted);
  /// Devices that there are, usable or not. Null: one. Never throws.
  int (*count)() noexcept = nullptr;
  /// Makes host memory faster to read for device `id`; false if it is refused. Null: nothing to gain. Any thread.
  bool (*pin)(void* data, std::size_t bytes, int id) noexcept;
  void (*unpin)(void* data, int id) noexcept;
  /// Host memory of the backend's own that device `id` reads by itself, for devices that read no other; null if there
  /// is none, and then pin() is tried. Null: there never is. Any thread.
  std::shared_ptr<void> (*allocate)(std::size_t bytes, int id) noexcept = nullptr;
  /// The calling thread's current context, which workers change, and its restoration. Null: there is none.
  void* (*context)() noexcept = nullptr;
  void (*set_context)(void* context) noexcept = nullptr;
  // Null: the next backend does it. They throw Error, or what the host throws.
  std::unique_ptr<Meter> (*sharpness)(const Geometry&, const Where&);
  std::unique_ptr<bliinds::Meter> (*bliinds)(const bliinds::Input&, const Where&);
  std::unique_ptr<denoise::Filter> (*denoise)(const PictureGeometry&, const Where&);
  std::unique_ptr<halftone::Filter> (*halftone)(const Geometry&, const Where&);
  std::unique_ptr<halftone::ColourFilter> (*colour_halftone)(const PictureGeometry&, const Where&) = nullptr;
  /// Whether `halftone` has the tone-dependent method too.
  bool diffuses_by_tone = true;
  /// Whether `colour_halftone` has error diffusion too, beside blue noise.
  bool diffuses_colours = true;
};

/// Where frames are worked on.
struct Place {
  const Backend* backend;
  int id = -1;  ///< as Where::id
};

/// All there are, best first; the last one is the CPU, which works everywhere and in the caller's thread.
std::span<const Backend* const> backends();

/// For tests: what backends() says from now on, which must stay; empty: the product's own. While no element exists.
void use_backends(std::span<const Backend* const> all);

inline bool is_cpu(const Backend& backend) { return &backend == backends().back(); }
inline Place cpu_place() { return {backends().back()}; }

}  // namespace framequality
