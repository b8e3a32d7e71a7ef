// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends that elements measure and filter with, as a table, so that tests can put failing ones in their place.
#pragma once

#include "cpu/bliinds/meter.h"
#include "cpu/denoise/filter.h"
#include "cpu/halftone/filter.h"
#include "cpu/sharpness/meter.h"
#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/halftone/filter.h"
#include "cuda/pinned.h"
#include "cuda/sharpness/meter.h"

#include <memory>

namespace framequality {

struct Backends {
  cuda::Device (*find_device)(int wanted) = cuda::find_device;
  std::unique_ptr<Meter> (*make_cpu_meter)(const Geometry&) = [](const Geometry& g) { return cpu::make_meter(g); };
  std::unique_ptr<Meter> (*make_cuda_meter)(const Geometry&, int id, int depth) = cuda::make_meter;
  std::unique_ptr<bliinds::Meter> (*make_cpu_bliinds_meter)(const Geometry&) = [](const Geometry& g) {
    return cpu::make_bliinds_meter(g);
  };
  std::unique_ptr<bliinds::Meter> (*make_cuda_bliinds_meter)(const Geometry&, int id,
                                                             int depth) = cuda::make_bliinds_meter;
  std::unique_ptr<denoise::Filter> (*make_cpu_denoiser)(const PictureGeometry&, int threads) =
      [](const PictureGeometry& g, int threads) { return cpu::make_denoiser(g, threads); };
  std::unique_ptr<denoise::Filter> (*make_cuda_denoiser)(const PictureGeometry&, int id,
                                                         int depth) = cuda::make_denoiser;
  std::unique_ptr<halftone::Filter> (*make_cpu_halftone)(const Geometry&, int threads) =
      [](const Geometry& g, int threads) { return cpu::make_halftone(g, threads); };
  std::unique_ptr<halftone::Filter> (*make_cuda_halftone)(const Geometry&, int id, int depth) = cuda::make_halftone;
  bool (*pin)(void* data, std::size_t bytes, int id) noexcept = cuda::pin;
  void (*unpin)(void* data, int id) noexcept = cuda::unpin;
};

/// The table in use. Write it only while no element exists.
inline Backends& backends() {
  static Backends table;
  return table;
}

}  // namespace framequality
