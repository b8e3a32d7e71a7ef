// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of what makes the elements' workers, which tests replace by failing ones. It names the rooms' types and
// includes none of them: an element includes its own room.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/worker.h"
#include "cuda/device.h"
#include "gst/base/device_base.h"

#include <cstdint>
#include <memory>
#include <span>

namespace framequality {

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
}  // namespace halftone

/// Makes the workers of one room. threads: of the CPU, 0 for all cores; meters have one.
template <class Worker, class Geometry>
struct Twins {
  std::unique_ptr<Worker> (*cpu)(const Geometry&, int threads);
  std::unique_ptr<Worker> (*cuda)(const Geometry&, int id, int depth);

  std::unique_ptr<Worker> make(const Geometry& geometry, const Place& place, int depth, int threads = 0) const {
    return place.cuda ? cuda(geometry, place.id, depth) : cpu(geometry, threads);
  }
};

struct Backends {
  /// The product's own.
  Backends();

  cuda::Device (*find_device)(int wanted);
  Twins<Meter, Geometry> sharpness;
  Twins<bliinds::Meter, bliinds::Input> bliinds;
  Twins<denoise::Filter, PictureGeometry> denoise;
  Twins<halftone::Filter, Geometry> halftone;
};

/// The table in use. Write it only while no element exists.
Backends& backends();

}  // namespace framequality
