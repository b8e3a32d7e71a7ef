// SPDX-License-Identifier: LGPL-2.1-or-later
// What elements measure and filter with, as a table, so that tests can put failing workers in their place.
#pragma once

#include "cpu/bliinds/meter.h"
#include "cpu/denoise/filter.h"
#include "cpu/halftone/filter.h"
#include "cpu/sharpness/meter.h"
#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "cuda/sharpness/meter.h"
#include "gst/base/device_base.h"

#include <memory>

namespace framequality {

/// What makes the workers of one room. threads: of the CPU, 0 for all cores; meters have one.
template <class Worker, class Geometry>
struct Twins {
  std::unique_ptr<Worker> (*cpu)(const Geometry&, int threads);
  std::unique_ptr<Worker> (*cuda)(const Geometry&, int id, int depth);

  std::unique_ptr<Worker> make(const Geometry& geometry, const Place& place, int depth, int threads = 0) const {
    return place.cuda ? cuda(geometry, place.id, depth) : cpu(geometry, threads);
  }
};

struct Backends {
  cuda::Device (*find_device)(int wanted) = cuda::find_device;
  Twins<Meter, Geometry> sharpness{[](const Geometry& g, int) { return cpu::make_meter(g); }, cuda::make_meter};
  Twins<bliinds::Meter, bliinds::Input> bliinds{[](const bliinds::Input& i, int) { return cpu::make_bliinds_meter(i); },
                                                cuda::make_bliinds_meter};
  Twins<denoise::Filter, PictureGeometry> denoise{
      [](const PictureGeometry& g, int threads) { return cpu::make_denoiser(g, threads); }, cuda::make_denoiser};
  Twins<halftone::Filter, Geometry> halftone{
      [](const Geometry& g, int threads) { return cpu::make_halftone(g, threads); }, cuda::make_halftone};
};

/// The table in use. Write it only while no element exists.
inline Backends& backends() {
  static Backends table;
  return table;
}

}  // namespace framequality
