// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that halftoning's twins halftone both: the same bits, wherever frames and images lie.
#pragma once

#include "algorithms/halftone/tables.h"
#include "cpu/halftone/filter.h"
#include "cuda/sharpness/meter.h"
#include "tests/halftone/pictures.h"
#include "tests/support/effort.h"
#include "tests/support/gpu.h"
#include "tests/support/memory_kinds.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace framequality::test::halftone_scenes {

using namespace halftone;
using Content = halftone_pictures::Fill;

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

  Sheet(std::size_t row_bytes, int height, Placement placement, MemoryKind where, int device)
      : height_(height), row_(row_bytes), where_(where) {
    std::size_t step = row_;
    if (placement == Placement::kOdd) step += 7, before_ = 3;
    if (placement == Placement::kPadded || placement == Placement::kNegative)
      step = (row_ + 64) / 64 * 64, before_ = 64;
    const auto rows = static_cast<std::size_t>(height);
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
    for (int y = 0; y < height_; ++y)
      if (const std::ptrdiff_t x = from_row0 - y * stride_; x >= 0 && x < static_cast<std::ptrdiff_t>(row_))
        return "byte " + std::to_string(x) + " of row " + std::to_string(y);
    return "a byte outside the picture";
  }

 private:
  int height_;
  std::size_t row_, before_ = 0, origin_ = 0;
  std::ptrdiff_t stride_ = 0;
  MemoryKind where_;
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<cuda::DeviceBytes> device_;
  std::unique_ptr<PinnedBytes> pinned_;
};

/// words: what both are of.
inline testing::AssertionResult same_bytes(Sheet& expected, Sheet& got, const std::string& words) {
  const auto &a = expected.now(), &b = got.now();
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  if (at == a.size()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << words << ": " << got.place_of(at) << " is " << int{b[at]} << ", not "
                                     << int{a[at]};
}

inline std::vector<std::uint16_t> codes_of(const Case& c, int depth) {
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
        expected_(target_row_bytes(c.size.width, c.settings.packed), c.size.height, c.to, MemoryKind::kPageable,
                  device),
        got_(target_row_bytes(c.size.width, c.settings.packed), c.size.height, c.to, c.out, device) {}

  void expect(Filter& twin) {
    twin.submit({picture_.frame(), expected_.target(), case_.settings, case_.fields});
    twin.collect();
  }
  void submit(Filter& filter) { filter.submit({input_.frame(), got_.target(), case_.settings, case_.fields}); }
  testing::AssertionResult same() { return same_bytes(expected_, got_, case_.words()); }

 private:
  Case case_;
  Picture picture_;
  FrameIn input_;
  Sheet expected_, got_;
};

inline constexpr Size kSides[] = {{1, 1},    {1, 40},   {40, 1},  {2, 3},     {3, 2},    {5, 5},   {31, 31},
                                  {32, 32},  {33, 65},  {62, 33}, {63, 64},   {64, 97},  {95, 7},  {96, 32},
                                  {97, 70},  {131, 34}, {640, 5}, {200, 131}, {7, 300},  {24, 64}, {94, 96},
                                  {128, 63}, {129, 66}, {8, 129}, {30, 161},  {223, 190}};

}  // namespace framequality::test::halftone_scenes
