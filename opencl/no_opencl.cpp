// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of a build without OpenCL's headers: there is never a device.
#include "device/error.h"
#include "opencl/denoise/filter.h"
#include "opencl/device.h"
#include "opencl/halftone/filter.h"
#include "opencl/import.h"
#include "opencl/pinned.h"
#include "opencl/sharpness/meter.h"

namespace framequality::opencl {
namespace {
constexpr const char* kReason = "this build has no OpenCL: install opencl-c-headers and build again, or use device=cpu";
}

Device find_device(const Wanted&) { return {-1, "", kReason}; }
int device_count() noexcept { return 0; }
std::unique_ptr<sharpness::Meter> make_meter(const Geometry&, int, int) { throw Error(Fault::kNoDevice, kReason); }
std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::unique_ptr<halftone::Filter> make_halftone(const Geometry&, int, int) { throw Error(Fault::kNoDevice, kReason); }
std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, kReason);
}
std::shared_ptr<void> allocate(std::size_t, int) noexcept { return nullptr; }
bool pin(void*, std::size_t, int) noexcept { return false; }
void unpin(void*, int) noexcept {}
std::shared_ptr<void> import_dma_buffer(int, std::size_t, const std::shared_ptr<void>&, int) noexcept {
  return nullptr;
}

}  // namespace framequality::opencl
