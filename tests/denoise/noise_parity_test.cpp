// SPDX-License-Identifier: LGPL-2.1-or-later
// The noise estimate on the GPU: the weights of the plain loops, bit for bit.
#include "cuda/denoise/job.h"
#include "tests/denoise/on_device.h"
#include "tests/denoise/plain_noise.h"
#include "tests/denoise/scene.h"

#include <cstring>

namespace framequality::test {
namespace {

class DenoiseNoiseParity : public DenoiseParity {
 protected:
  /// All passes and fields of a frame.
  void compare(const std::string& layout, Size size, Fill fill, int fields, bool follows, std::uint64_t seed) {
    SCOPED_TRACE(layout + " " + std::to_string(size.width) + "x" + std::to_string(size.height) + ", fill " +
                 std::to_string(static_cast<int>(fill)) + ", fields " + std::to_string(fields) + " seed " +
                 std::to_string(seed));
    const PictureGeometry g = picture_geometry(layout, size);
    const Blocks blocks(g, kPlacements[seed % kPlacements.size()], fill, seed);
    BlocksIn host(blocks, MemoryKind::kPageable, device_), device(blocks, MemoryKind::kDevice, device_);
    const Frame in = host.frame(), there = device.frame();
    Settings s = small_settings(static_cast<int>(seed % 4), 2);
    s.follows = s.follows_chroma = follows;
    s.range = s.range_chroma = follows ? 0.49 : 50;
    s.spatial = seed % 3 * 0.01;
    s.estimate_sigma = true;
    s.chroma = seed % 2 ? Chroma::kJoint : Chroma::kSeparate;
    const Passes passes = passes_of(g.layout, s);
    for (int i = 0; i < passes.count; ++i) {
      const Pass& pass = passes.pass[i];
      cuda::DenoiseJob job;
      job.layout = g.layout;
      job.count = pass.count;
      job.width = g.width_of(pass.component[0]);
      job.height = g.height_of(pass.component[0]);
      job.fields = fields;
      for (int k = 0; k < pass.count; ++k) {
        const auto& at = g.layout.component[pass.component[k]];
        job.source[0][k] = {const_cast<std::uint8_t*>(there.plane[at.plane]) + at.offset, there.stride[at.plane]};
        job.pixel_stride[k] = at.pixel_stride;
      }
      const WeightRule rule = rule_of(s, pass, g.layout.depth);
      const OnDevice<NoiseBlock> room(std::vector<NoiseBlock>(cuda::noise_blocks(job) + 1, {77, 77}));
      const OnDevice<Weights> weights(std::vector<Weights>(3, {-7, -7, -7}));
      cuda::launch_noise(job, rule, room.get(), weights.get(), nullptr);
      cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const std::vector<Weights> got = weights.fetched();
      EXPECT_EQ(room.fetched().back().coarse, 77u) << "one block too many";
      EXPECT_EQ(got[static_cast<std::size_t>(fields)].scale, -7);
      for (int field = 0; field < fields; ++field) {
        double variance = 0;
        for (int k = 0; k < pass.count; ++k) {
          const auto& at = g.layout.component[pass.component[k]];
          variance += plain_noise_variance(job.width, job.field_height(field), g.layout.depth, [&](int x, int y) {
            return read_sample(g.layout, in.plane[at.plane] + at.offset + (y * fields + field) * in.stride[at.plane] +
                                             std::ptrdiff_t{x} * at.pixel_stride);
          });
        }
        const Weights expected = weights_of(rule, variance / pass.count), is = got[static_cast<std::size_t>(field)];
        EXPECT_EQ(std::memcmp(&expected, &is, sizeof is), 0)
            << "pass " << i << " field " << field << ": " << is.scale << " " << is.floor << " " << is.spatial
            << ", expected " << expected.scale << " " << expected.floor << " " << expected.spatial;
      }
    }
  }
};

TEST_F(DenoiseNoiseParity, EveryLayoutSizeAndFieldGivesThePlainLoopsWeights) {
  std::uint64_t seed = 1;
  for (const NamedPicture& named : picture_layouts())
    for (const Size size : {Size{1, 1}, {4, 9}, {5, 5}, {20, 20}, {19, 40}, {40, 19}, {84, 37}, {150, 101}})
      for (const int fields : {1, 2}) {
        compare(named.name, size, Fill::kRandom, fields, seed % 2, seed);
        ++seed;
        if (HasFailure()) return;
      }
}

TEST_F(DenoiseNoiseParity, ExtremeCodesGiveThePlainLoopsWeights) {
  for (const char* const layout : {"GRAY8", "depth10", "GRAY16_LE", "RGB"})
    for (const Fill fill : kFills) compare(layout, {200, 90}, fill, 1, false, 3);
}

/// More blocks than the threads that rank them.
TEST_F(DenoiseNoiseParity, LargeFramesGiveThePlainLoopsWeights) {
  for (const char* const layout : {"GRAY8", "GRAY16_LE", "NV12"})
    for (const Fill fill : {Fill::kRandom, Fill::kNearLimits}) compare(layout, {1923, 1085}, fill, 2, false, 5);
}

}  // namespace
}  // namespace framequality::test
