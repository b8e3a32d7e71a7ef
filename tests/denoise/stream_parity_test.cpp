// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers on the GPU against the host twin: windows of a stream, frames in flight, misuse.
#include "tests/denoise/scene.h"

#include <cstring>

namespace framequality::test {
namespace {

/// A stream: windows that share frames, so that each is uploaded once, with frames in flight.
TEST_F(DenoiseParity, WindowsOfAStreamInFlight) {
  for (const char* const layout : {"GRAY8", "P010_10LE"})
    for (const MemoryKind where : {MemoryKind::kPageable, MemoryKind::kPinned, MemoryKind::kDevice})
      for (int depth = 1; depth <= 4; ++depth)
        for (const int radius : {0, 2}) {
          Case c;
          c.layout = layout;
          c.settings = small_settings(1, 2);
          c.settings.chroma = Chroma::kSeparate;
          SCOPED_TRACE(c.words() + ", radius " + std::to_string(radius) + ", depth " + std::to_string(depth) + " " +
                       kWhereNames[static_cast<std::size_t>(where)]);
          const int frames = 10, ahead = depth;
          std::deque<BlocksIn> host, device, expected, got;
          const PictureGeometry g = c.geometry();
          for (int f = 0; f < frames; ++f) {
            const Placement placement = kPlacements[static_cast<std::size_t>(f) % kPlacements.size()];
            const Blocks blocks(g, placement, c.fill, static_cast<std::uint64_t>(f) + 1),
                canvas(g, placement, Random(1));
            host.emplace_back(blocks, MemoryKind::kPageable, device_);
            device.emplace_back(blocks, where, device_);
            expected.emplace_back(canvas, MemoryKind::kPageable, device_);
            got.emplace_back(canvas, where, device_);
          }
          const auto window = [&](std::deque<BlocksIn>& all, int f, std::vector<Source>& to) {
            const int first = std::max(f - radius, 0);
            for (int i = first; i <= std::min(f + radius, frames - 1); ++i)
              to.push_back({all[static_cast<std::size_t>(i)].frame(), static_cast<std::uint64_t>(i) + 100});
            return static_cast<std::size_t>(f - first);
          };
          // Chroma comes and goes, so that frames are there without it.
          const auto settings = [&](int f) {
            Settings s = c.settings;
            if (f % 4 == 1) s.chroma = Chroma::kNone;
            return s;
          };
          const auto twin = cpu::make_denoiser(g);
          const auto filter = cuda::make_denoiser(g, device_, depth);
          for (int f = 0; f < frames + ahead; ++f) {
            if (f >= ahead) {
              filter->collect();
              const int done = f - ahead;
              std::vector<Source> sources;
              const std::size_t center = window(host, done, sources);
              const auto at = static_cast<std::size_t>(done);
              twin->submit({sources, center, expected[at].canvas(), settings(done), 1});
              twin->collect();
              EXPECT_TRUE(same(expected[at].now(), got[at].now(), settings(done), differing_)) << "frame " << done;
            }
            if (f >= frames) continue;
            std::vector<Source> sources;
            const std::size_t center = window(device, f, sources);
            filter->submit({sources, center, got[static_cast<std::size_t>(f)].canvas(), settings(f), 1});
          }
          if (HasFailure()) return;
        }
}

/// What the same serial number is worth: the second window's frame is not read again.
TEST_F(DenoiseParity, AFrameOfTwoWindowsIsUploadedOnce) {
  Case c;
  c.frames = 3;
  c.center = 1;
  c.settings = small_settings(1, 2);
  c.where = MemoryKind::kPinned;
  Scene scene(c, device_);
  scene.expect();
  const auto filter = cuda::make_denoiser(c.geometry(), device_);
  scene.submit(*filter, false, 5);
  filter->collect();
  ASSERT_TRUE(same(scene.expected(), scene.got(), c.settings, differing_));
  for (int f = 0; f < 3; ++f) {
    const Canvas spoiled = scene.source(f).canvas();
    std::memset(spoiled.plane[0], 0, c.geometry().row_bytes(0));
  }
  scene.submit(*filter, false, 5);
  filter->collect();
  EXPECT_TRUE(same(scene.expected(), scene.got(), c.settings, differing_)) << "the same frames again";
  scene.submit(*filter, false, 50);
  filter->collect();
  EXPECT_FALSE(same(scene.expected(), scene.got(), c.settings, differing_)) << "other frames";
}

TEST_F(DenoiseParity, PendingFramesMayBeAbandoned) {
  Case c;
  c.size = {641, 361};
  c.where = MemoryKind::kPinned;
  c.layout = "NV12";
  Scene scene(c, device_);
  for (int turn = 0; turn < 3; ++turn) {
    const auto filter = cuda::make_denoiser(c.geometry(), device_, 3);
    for (int i = 0; i < 3; ++i) scene.submit(*filter, false);
  }
}

TEST_F(DenoiseParity, MisuseThrows) {
  Case c;
  Scene scene(c, device_);
  const auto filter = cuda::make_denoiser(c.geometry(), device_);
  EXPECT_THROW(filter->collect(), std::logic_error);
  EXPECT_THROW(filter->submit({{}, 0, {}, c.settings, 1}), std::logic_error);
  scene.submit(*filter, false);
  EXPECT_THROW(scene.submit(*filter, false), std::logic_error);
  filter->collect();
}

}  // namespace
}  // namespace framequality::test
