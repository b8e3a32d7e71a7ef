// SPDX-License-Identifier: LGPL-2.1-or-later
// Images in every kind of memory that a GPU meets them in.
#pragma once

#include "cuda/device.h"
#include "device/pinned.h"
#include "tests/support/cases.h"
#include "tests/support/device.h"
#include "tests/support/layouts.h"
#include "tests/support/pictures.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {

enum class MemoryKind { kPageable, kPinned, kDevice };
inline constexpr const char* kWhereNames[] = {"pageable", "pinned", "device"};

/// A picture's frame in one kind of memory: strides and odd addresses are those of the picture.
class FrameIn {
 public:
  FrameIn(const Picture& picture, MemoryKind where, int device) : frame_(picture.frame()) {
    if (where == MemoryKind::kPageable) return;
    frame_.memory = where == MemoryKind::kDevice ? Memory::kCuda : Memory::kHost;
    const Geometry& geometry = picture.geometry();
    for (int p = 0; p < picture.planes(); ++p) {
      const auto block = picture.block(p);
      if (where == MemoryKind::kDevice) {
        device_.emplace_back(block, device);
        frame_.plane[p] = device_.back().data() + picture.origin(p);
        continue;
      }
      pinned_.push_back(std::make_unique<PinnedBytes>(block.size(), Place{&cuda::kBackend, device}));
      EXPECT_TRUE(pinned_.back()->is_pinned());
      auto* first = static_cast<std::uint8_t*>(pinned_.back()->data()) + picture.origin(p);
      for (int y = 0; y < geometry.height; ++y)
        std::memcpy(first + y * frame_.stride[p], picture.frame().plane[p] + y * frame_.stride[p],
                    geometry.layout.row_bytes(p, geometry.width));
      frame_.plane[p] = first;
    }
  }
  const Frame& frame() const { return frame_; }

 private:
  Frame frame_;
  std::vector<cuda::DeviceBytes> device_;
  std::vector<std::unique_ptr<PinnedBytes>> pinned_;
};

/// A size in a layout of layouts().
inline Geometry geometry_of(const std::string& layout, Size size) {
  for (const NamedLayout& named : layouts())
    if (named.name == layout) return {size.width, size.height, named.layout};
  throw std::invalid_argument(layout);
}

}  // namespace framequality::test
