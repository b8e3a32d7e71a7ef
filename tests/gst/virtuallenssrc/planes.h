// SPDX-License-Identifier: LGPL-2.1-or-later
// The planes of all frames of a virtuallenssrc.
#pragma once

#include "tests/gst/virtuallenssrc/rig.h"

#include <cstdint>
#include <string>
#include <vector>

namespace framequality::test {

/// Every frame's planes, rows joined without their padding.
struct Planes {
  std::string format;
  GstVideoColorimetry colorimetry;
  std::vector<std::vector<std::uint8_t>> of;
};
inline std::vector<Planes> planes_of(const std::string& properties, const std::string& caps) {
  std::vector<Planes> all;
  WatchedPipeline watched("virtuallenssrc name=lens " + properties + " ! " + caps + " ! fakesink name=sink");
  const ElementPtr lens = watched.get("lens");
  GstPad* pad = gst_element_get_static_pad(lens.get(), "src");
  watched.on_frame = [&](GstBuffer* buffer, int) {
    const CapsPtr now(gst_pad_get_current_caps(pad));
    GstVideoInfo info;
    GstVideoFrame frame;
    ASSERT_TRUE(gst_video_info_from_caps(&info, now.get()));
    ASSERT_TRUE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
    Planes planes{gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)), info.colorimetry, {}};
    for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
      std::vector<std::uint8_t> codes;
      // Half of an odd number of pixels is rounded up; NV12 has U and V side by side.
      const bool chroma = p > 0;
      const int width = chroma ? (info.width + 1) / 2 * (planes.format == "NV12" ? 2 : 1) : info.width;
      const int height = chroma ? (info.height + 1) / 2 : info.height;
      for (int y = 0; y < height; ++y) {
        const auto* row = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                          std::ptrdiff_t{y} * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
        codes.insert(codes.end(), row, row + width);
      }
      planes.of.push_back(std::move(codes));
    }
    gst_video_frame_unmap(&frame);
    all.push_back(std::move(planes));
  };
  const Heard heard = watched.run_to_end();
  EXPECT_TRUE(heard.eos) << caps;
  for (const auto& e : heard.errors) ADD_FAILURE() << caps << ": " << e.text;
  gst_object_unref(pad);
  return all;
}

}  // namespace framequality::test
