// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for tests of halftone: images from the CPU code, and a GPU that halftones as told.
#pragma once

#include "cpu/halftone/filter.h"
#include "gst/buffer/frame.h"
#include "tests/gst/scripted.h"

#include <cstring>
#include <string_view>

namespace framequality::test {

inline constexpr auto kTdfed = halftone::Method::kToneDependent, kBlueNoise = halftone::Method::kBlueNoise;
inline halftone::Method method_of(std::string_view nick) {
  return nick == "tdfed" ? kTdfed : nick == "blue-noise" ? kBlueNoise : halftone::Method::kFloydSteinberg;
}
using Properties = std::initializer_list<std::pair<const char*, const char*>>;

/// What the host twin makes of a frame: rows without gaps.
inline std::vector<std::uint8_t> halftoned(const std::string& caps, GstBuffer* buffer,
                                           const halftone::Settings& settings, int fields = 1) {
  const GstVideoInfo info = video_info(caps);
  const PixelLayout layout = layout_of(*info.finfo).value();
  const MappedFrame frame(info, layout, buffer);
  const std::size_t row = halftone::target_row_bytes(info.width, settings.packed);
  std::vector<std::uint8_t> out(row * static_cast<std::size_t>(info.height));
  const auto filter = cpu::make_halftone({info.width, info.height, layout}, 1);
  filter->submit({frame.frame(), {out.data(), static_cast<std::ptrdiff_t>(row), Memory::kHost}, settings, fields});
  filter->collect();
  return out;
}

/// Rows of a GRAY8 or packed buffer without gaps, by its GstVideoMeta if it has one.
inline std::vector<std::uint8_t> rows_of(GstBuffer* buffer, int width, int height, bool packed) {
  const std::size_t row = halftone::target_row_bytes(width, packed);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const std::size_t stride = packed ? row : meta ? static_cast<std::size_t>(meta->stride[0]) : (row + 3) / 4 * 4;
  GstMapInfo map;
  std::vector<std::uint8_t> rows;
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  EXPECT_EQ(map.size, stride * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* begin = map.data + static_cast<std::size_t>(y) * stride;
    rows.insert(rows.end(), begin, begin + row);
  }
  gst_buffer_unmap(buffer, &map);
  return rows;
}

/// halftone in a harness.
class HalftoneRig : public Rig {
 public:
  explicit HalftoneRig(Properties properties = {}) : Rig(properties, "halftone") {}
  bool send(GstEvent* event) { return gst_harness_push_event(harness(), event); }
  /// And begins a new segment.
  void flush() {
    send(gst_event_new_flush_start());
    send(gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    send(gst_event_new_segment(&segment));
  }
};

/// Refuses what the device twin cannot do.
class ScriptedHalftone final : public ScriptedWorker<halftone::Filter, Geometry> {
 public:
  using ScriptedWorker::ScriptedWorker;
  void submit(const halftone::Task& task) override {
    EXPECT_FALSE(task.settings.serpentine);
    EXPECT_EQ(task.out.memory, Memory::kHost);
    ScriptedWorker::submit(task);
  }
};

/// The scripted GPU halftones too.
class ScriptedHalftones : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    tables.gpu.halftone = [](const Geometry& g, const Where& where) -> std::unique_ptr<halftone::Filter> {
      make_scripted(where);
      return std::make_unique<ScriptedHalftone>(g, where.depth, cpu::make_halftone(g, 1));
    };
  }
};

}  // namespace framequality::test
