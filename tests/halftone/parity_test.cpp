// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on the GPU against the host twin: the same bits, wherever frames and pictures lie.
#include "algorithms/halftone/tables.h"
#include "cpu/halftone/filter.h"
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "cuda/sharpness/meter.h"
#include "tests/halftone/pictures.h"
#include "tests/support/gpu.h"
#include "tests/support/memory_kinds.h"
#include "tests/support/sanitizers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace framequality::test {
namespace {

using namespace halftone;
using Content = halftone_pictures::Fill;

bool is_quick() {
#if FQ_ASAN
  return true;
#else
  return is_set("FQ_PARITY_QUICK");
#endif
}

/// One picture to be halftoned, and how.
struct Case {
  std::string layout = "GRAY8";
  Size size{67, 70};
  Settings settings;
  int fields = 1;
  MemoryKind where = MemoryKind::kDevice, out = MemoryKind::kDevice;  ///< frame and picture
  Placement from = Placement::kTight, to = Placement::kTight;
  Content content = Content::kRandom;
  std::uint64_t seed = 1;

  std::string words() const {
    const auto name = [](const auto& names, auto i) { return names[static_cast<std::size_t>(i)]; };
    std::ostringstream text;
    text << layout << " " << halftone_pictures::name_of(settings, geometry_of(layout, size)) << " swath "
         << settings.swath_rows << " light " << static_cast<int>(settings.tone.light) << ", fields " << fields << ", "
         << name(kWhereNames, where) << " " << name(kPlacementNames, from) << " to " << name(kWhereNames, out) << " "
         << name(kPlacementNames, to) << ", content " << static_cast<int>(content) << " seed " << seed;
    return text.str();
  }
};

/// Memory for a picture among sentinels, in some place.
class Sheet {
 public:
  static constexpr std::uint8_t kUntouched = 0xa5;

  Sheet(Size size, bool packed, Placement placement, MemoryKind where, int device)
      : size_(size), row_(target_row_bytes(size.width, packed)), where_(where) {
    std::size_t step = row_;
    if (placement == Placement::kOdd) step += 7, before_ = 3;
    if (placement == Placement::kPadded || placement == Placement::kNegative)
      step = (row_ + 64) / 64 * 64, before_ = 64;
    const auto rows = static_cast<std::size_t>(size.height);
    bytes_.assign(2 * before_ + rows * step, kUntouched);
    const bool up = placement == Placement::kNegative;
    origin_ = before_ + (up ? (rows - 1) * step : 0);
    stride_ = up ? -static_cast<std::ptrdiff_t>(step) : static_cast<std::ptrdiff_t>(step);
    if (where == MemoryKind::kDevice) device_ = std::make_unique<cuda::DeviceBytes>(bytes_, device);
    if (where == MemoryKind::kPinned) {
      pinned_ = std::make_unique<PinnedBytes>(bytes_.size(), framequality::Place{&cuda::kBackend, device});
      EXPECT_TRUE(pinned_->is_pinned());
      std::memcpy(pinned_->data(), bytes_.data(), bytes_.size());
    }
  }
  Target target() {
    std::uint8_t* const data = device_   ? device_->data()
                               : pinned_ ? static_cast<std::uint8_t*>(pinned_->data())
                                         : bytes_.data();
    return {data + origin_, stride_, where_ == MemoryKind::kDevice ? Memory::kCuda : Memory::kHost};
  }
  /// All bytes as they are now.
  const std::vector<std::uint8_t>& now() {
    if (device_) device_->read(bytes_);
    if (pinned_) std::memcpy(bytes_.data(), pinned_->data(), bytes_.size());
    return bytes_;
  }
  std::string place_of(std::size_t byte) const {
    const auto from_row0 = static_cast<std::ptrdiff_t>(byte) - static_cast<std::ptrdiff_t>(origin_);
    for (int y = 0; y < size_.height; ++y)
      if (const std::ptrdiff_t x = from_row0 - y * stride_; x >= 0 && x < static_cast<std::ptrdiff_t>(row_))
        return "byte " + std::to_string(x) + " of row " + std::to_string(y);
    return "a byte outside the picture";
  }

 private:
  Size size_;
  std::size_t row_, before_ = 0, origin_ = 0;
  std::ptrdiff_t stride_ = 0;
  MemoryKind where_;
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<cuda::DeviceBytes> device_;
  std::unique_ptr<PinnedBytes> pinned_;
};

std::vector<std::uint16_t> codes_of(const Case& c, int depth) {
  Random random(c.seed);
  std::vector<std::uint16_t> codes;
  for (int y = 0; y < c.size.height; ++y)
    for (int x = 0; x < c.size.width; ++x)
      codes.push_back(static_cast<std::uint16_t>(
          halftone_pictures::code_of(c.content, x, y, c.size.width, (1u << depth) - 1, random)));
  return codes;
}

/// A case's frame, and the sheets for the two twins.
class Scene {
 public:
  Scene(const Case& c, int device)
      : case_(c),
        picture_(geometry_of(c.layout, c.size), codes_of(c, geometry_of(c.layout, c.size).layout.depth), c.from),
        input_(picture_, c.where, device),
        expected_(c.size, c.settings.packed, c.to, MemoryKind::kPageable, device),
        got_(c.size, c.settings.packed, c.to, c.out, device) {}

  void expect(Filter& twin) {
    twin.submit({picture_.frame(), expected_.target(), case_.settings, case_.fields});
    twin.collect();
  }
  void submit(Filter& filter) { filter.submit({input_.frame(), got_.target(), case_.settings, case_.fields}); }
  testing::AssertionResult same() {
    const auto &a = expected_.now(), &b = got_.now();
    const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    if (at == a.size()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << case_.words() << ": " << got_.place_of(at) << " is " << int{b[at]} << ", not "
                                       << int{a[at]};
  }

 private:
  Case case_;
  Picture picture_;
  FrameIn input_;
  Sheet expected_, got_;
};

class HalftoneParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    device_ = cuda::find_device().id;
  }
  void check(const Case& c) {
    SCOPED_TRACE(c.words());
    Scene scene(c, device_);
    const Geometry g = geometry_of(c.layout, c.size);
    scene.expect(*cpu::make_halftone(g));
    const auto filter = cuda::make_halftone(g, device_);
    scene.submit(*filter);
    filter->collect();
    EXPECT_TRUE(scene.same());
    if (HasFailure()) ++failures_;
    ASSERT_LT(failures_, 10) << "enough";
  }

  int device_ = -1, failures_ = 0;
};

/// Frames in host memory become pictures there; those on the device, on either side.
constexpr std::pair<MemoryKind, MemoryKind> kWays[] = {{MemoryKind::kPageable, MemoryKind::kPageable},
                                                       {MemoryKind::kPinned, MemoryKind::kPinned},
                                                       {MemoryKind::kDevice, MemoryKind::kDevice},
                                                       {MemoryKind::kDevice, MemoryKind::kPageable},
                                                       {MemoryKind::kDevice, MemoryKind::kPinned}};

/// Every method, and every table of the tone-dependent one.
std::vector<Settings> methods() {
  std::vector<Settings> all(2);
  all[1].method = Method::kBlueNoise;
  for (const ToneTable* table : kToneTables) {
    Settings s;
    s.method = Method::kToneDependent;
    s.swath_rows = table->swath_rows;
    all.push_back(s);
  }
  return all;
}

constexpr Size kSides[] = {{1, 1},    {1, 40},   {40, 1},  {2, 3},     {3, 2},    {5, 5},   {31, 31},
                           {32, 32},  {33, 65},  {62, 33}, {63, 64},   {64, 97},  {95, 7},  {96, 32},
                           {97, 70},  {131, 34}, {640, 5}, {200, 131}, {7, 300},  {24, 64}, {94, 96},
                           {128, 63}, {129, 66}, {8, 129}, {30, 161},  {223, 190}};

TEST_F(HalftoneParity, EveryMethodAndSize) {
  std::uint64_t seed = 1;
  for (const Size size : kSides)
    for (const Settings& settings : methods())
      for (const Content content : halftone_pictures::kFills) {
        Case c;
        c.size = size;
        c.settings = settings;
        c.content = content;
        c.seed = seed++;
        c.settings.packed = seed % 5 == 0;
        c.fields = seed % 7 == 0 ? 2 : 1;
        if (is_quick() && seed % 11) continue;
        ASSERT_NO_FATAL_FAILURE(check(c));
      }
}

TEST_F(HalftoneParity, EveryLevelStrengthAndTone) {
  std::uint64_t seed = 1;
  for (const Settings& settings : methods())
    for (const int levels : {2, 4, 16})
      for (const int strength : {0, 1, 200, 255, 256})
        for (const char* const layout : {"GRAY8", "GRAY16_LE"})
          for (const Content content : {Content::kRandom, Content::kStripes, Content::kRamp}) {
            Case c;
            c.layout = layout;
            c.size = {201, 67};
            c.settings = settings;
            c.settings.levels = levels;
            c.settings.strength = strength;
            c.settings.packed = levels == 2 && seed % 2 == 0;
            c.settings.tone = {seed % 3 == 0, static_cast<Light>(seed % 3), seed % 4 == 0};
            c.content = content;
            c.seed = seed++;
            if (is_quick() && seed % 13) continue;
            ASSERT_NO_FATAL_FAILURE(check(c));
          }
}

TEST_F(HalftoneParity, EveryLayoutAndPlacement) {
  std::uint64_t seed = 1;
  for (const NamedLayout& named : layouts())
    for (const auto& [where, out] : kWays)
      for (const Placement from : kPlacements)
        for (const Placement to : kPlacements) {
          Case c;
          c.layout = named.name;
          c.size = {seed % 2 ? 67 : 130, 37};
          c.where = where;
          c.out = out;
          c.from = from;
          c.to = to;
          c.settings = methods()[seed % methods().size()];
          c.settings.packed = seed % 3 == 0;
          c.settings.tone.limited = seed % 2 == 0;
          c.fields = seed % 5 == 0 ? 2 : 1;
          c.seed = seed++;
          if (is_quick() && seed % 23) continue;
          ASSERT_NO_FATAL_FAILURE(check(c));
        }
}

TEST_F(HalftoneParity, WideTallAndLarge) {
  for (const Size size : {Size{40000, 35}, {37, 3000}, {1, 5000}, {70000, 2}, {2500, 1900}, {8192, 8192}})
    for (const Settings& settings : methods()) {
      const bool is_large = size.width == 8192;
      // Narrow swaths of a large picture take a GPU long, and the CPU too.
      if (is_large && settings.method == Method::kToneDependent && settings.swath_rows < kMaxSwathRows) continue;
      for (const Content content : {Content::kNoisyEnds, Content::kRandom}) {
        Case c;
        c.size = size;
        c.settings = settings;
        c.content = content;
        c.settings.packed = content == Content::kRandom;
        if (is_quick() && (size.width > 2000 || size.height > 3000)) continue;
        ASSERT_NO_FATAL_FAILURE(check(c));
      }
    }
}

/// One filter, settings that change from frame to frame: what earlier frames left must not be taken for this one's.
TEST_F(HalftoneParity, FramesInFlightWithChangingSettings) {
  for (const int depth : {1, 2, 3, 16})
    for (const auto& [where, out] : kWays) {
      if (is_quick() && depth > 2) continue;
      const Size size{333, 290};
      const Geometry g = geometry_of("GRAY8", size);
      const auto twin = cpu::make_halftone(g);
      const auto filter = cuda::make_halftone(g, device_, depth);
      std::deque<Scene> scenes;
      const int frames = 4 * depth + 8;
      for (int f = 0; f < frames + depth; ++f) {
        if (f >= depth) {
          filter->collect();
          ASSERT_TRUE(scenes[static_cast<std::size_t>(f - depth)].same())
              << "frame " << f - depth << " depth " << depth;
        }
        if (f >= frames) continue;
        Case c;
        c.size = size;
        c.where = where;
        c.out = out;
        c.seed = static_cast<std::uint64_t>(f) + 1;
        c.content = halftone_pictures::kFills[static_cast<std::size_t>(f) % std::size(halftone_pictures::kFills)];
        if (f % 3 == 2) c.settings = methods()[static_cast<std::size_t>(f) % methods().size()];
        c.settings.packed = f % 4 == 1;
        c.settings.tone.invert = f % 5 == 3;
        c.fields = 1 + (f % 7 == 5);
        scenes.emplace_back(c, device_);
        scenes.back().expect(*twin);
        scenes.back().submit(*filter);
      }
    }
}

TEST_F(HalftoneParity, TheSameBitsEveryTime) {
  Case c;
  c.size = {1920, 1080};
  Scene scene(c, device_);
  const Geometry g = geometry_of(c.layout, c.size);
  scene.expect(*cpu::make_halftone(g));
  const auto filter = cuda::make_halftone(g, device_);
  for (int i = 0; i < (is_quick() ? 2 : 200); ++i) {
    scene.submit(*filter);
    filter->collect();
    ASSERT_TRUE(scene.same()) << "time " << i;
  }
}

TEST_F(HalftoneParity, PendingFramesMayBeAbandoned) {
  Case c;
  c.size = {641, 361};
  c.where = c.out = MemoryKind::kPinned;
  Scene scene(c, device_);
  for (int turn = 0; turn < 3; ++turn) {
    const auto filter = cuda::make_halftone(geometry_of(c.layout, c.size), device_, 3);
    for (int i = 0; i < 3; ++i) scene.submit(*filter);
  }
}

TEST_F(HalftoneParity, EmptyPicturesAreDoneAtOnce) {
  const auto filter = cuda::make_halftone(geometry_of("GRAY8", {0, 0}), device_);
  filter->submit({{}, {}, {}, 1});
  filter->collect();
}

TEST_F(HalftoneParity, MisuseThrows) {
  Case c;
  Scene scene(c, device_);
  const auto filter = cuda::make_halftone(geometry_of(c.layout, c.size), device_);
  EXPECT_THROW(filter->collect(), std::logic_error);
  Sheet sheet(c.size, false, Placement::kTight, MemoryKind::kPageable, device_);
  const Target out = sheet.target();
  Frame frame;
  frame.plane[0] = out.row0;
  Settings serpentine, wrong;
  serpentine.serpentine = true;
  wrong.levels = 3;
  EXPECT_THROW(filter->submit({frame, out, serpentine, 1}), std::invalid_argument);
  EXPECT_THROW(filter->submit({frame, out, wrong, 1}), std::invalid_argument);
  EXPECT_THROW(filter->submit({frame, out, {}, 3}), std::invalid_argument);
  Target on_device = out;
  on_device.memory = Memory::kCuda;
  EXPECT_THROW(filter->submit({frame, on_device, {}, 1}), std::invalid_argument);
  scene.submit(*filter);
  EXPECT_THROW(scene.submit(*filter), std::logic_error);
  filter->collect();
}

}  // namespace
}  // namespace framequality::test
