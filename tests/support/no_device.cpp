// SPDX-License-Identifier: LGPL-2.1-or-later
// The same without CUDA: nothing of it is called, since there is never a device.
#include "device/error.h"
#include "tests/support/device.h"
#include "tests/support/device_twins.h"

namespace framequality::cuda {
namespace {
[[noreturn]] void refuse() { throw Error(Fault::kNoDevice, "built without CUDA"); }
}  // namespace

DeviceBytes::DeviceBytes(std::span<const std::uint8_t>, int) { refuse(); }
void DeviceBytes::read(std::span<std::uint8_t>) const { refuse(); }
void stall(CUstream_st*, double) { refuse(); }
void trap(CUstream_st*) { refuse(); }
double read_bandwidth(int) { refuse(); }
double kernel_seconds(sharpness::Meter&, std::span<const Frame>, std::shared_ptr<const sharpness::Plan>, int) {
  refuse();
}
CUstream_st* stream_of(sharpness::Meter&) { refuse(); }
void submit_queued(sharpness::Meter&, const Frame&, std::shared_ptr<const sharpness::Plan>) { refuse(); }
std::unique_ptr<denoise::Filter> make_general_denoiser(const PictureGeometry&, int, int) { refuse(); }

}  // namespace framequality::cuda
