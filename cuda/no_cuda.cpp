// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of a build without CUDA: there is never a device.
#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "cuda/pinned.h"
#include "cuda/sharpness/meter.h"

namespace framequality::cuda {
namespace {
constexpr const char* kReason = "this build has no CUDA: build with -Dcuda=enabled, or use device=cpu";
}

Device find_device(int) { return {-1, "", kReason}; }
int device_count() noexcept { return 0; }
void* context() noexcept { return nullptr; }
void set_context(void*) noexcept {}
std::unique_ptr<sharpness::Meter> make_meter(const Geometry&, int, int) { throw Error(Fault::kNoDevice, kReason); }
std::unique_ptr<bliinds::Meter> make_bliinds_meter(const bliinds::Input&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::unique_ptr<halftone::Filter> make_halftone(const Geometry&, int, int) { throw Error(Fault::kNoDevice, kReason); }
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
bool pin(void*, std::size_t, int) noexcept { return false; }
void unpin(void*, int) noexcept {}

}  // namespace framequality::cuda
