// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of a build without CUDA: there is never a device.
#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/denoise/testing.h"
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "cuda/pinned.h"
#include "cuda/sharpness/meter.h"
#include "cuda/sharpness/testing.h"
#include "cuda/testing.h"

namespace framequality::cuda {
namespace {
constexpr const char* kReason = "built without CUDA: build with -Dcuda=enabled, or use device=cpu";
}

Device find_device(int) { return {-1, "", kReason}; }
std::unique_ptr<Meter> make_meter(const Geometry&, int, int) { throw Error(Fault::kNoDevice, kReason); }
std::unique_ptr<bliinds::Meter> make_bliinds_meter(const bliinds::Input&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::unique_ptr<denoise::Filter> make_general_denoiser(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::unique_ptr<halftone::Filter> make_halftone(const Geometry&, int, int) { throw Error(Fault::kNoDevice, kReason); }
bool pin(void*, std::size_t, int) noexcept { return false; }
void unpin(void*, int) noexcept {}
DeviceBytes::DeviceBytes(std::span<const std::uint8_t>, int) { throw Error(Fault::kNoDevice, kReason); }
void DeviceBytes::read(std::span<std::uint8_t>) const { throw Error(Fault::kNoDevice, kReason); }
double kernel_seconds(Meter&, std::span<const Frame>, std::shared_ptr<const Plan>, int) {
  throw Error(Fault::kNoDevice, kReason);
}
CUstream_st* stream_of(Meter&) { throw Error(Fault::kNoDevice, kReason); }
void stall(CUstream_st*, double) { throw Error(Fault::kNoDevice, kReason); }
void trap(CUstream_st*) { throw Error(Fault::kNoDevice, kReason); }
double read_bandwidth(int) { throw Error(Fault::kNoDevice, kReason); }

}  // namespace framequality::cuda
