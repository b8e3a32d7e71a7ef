// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for tests of bliindsmeter: the values that a buffer should get, and those it got.
#pragma once

#include "algorithms/bliinds/model.h"
#include "cpu/bliinds/meter.h"
#include "tests/bliinds/yuv_picture.h"
#include "tests/gst/gray_frame.h"
#include "tests/gst/rig.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace framequality::test {

/// A bliindsmeter with these properties in a rig.
class BliindsRig : public Rig {
 public:
  BliindsRig(std::initializer_list<std::pair<const char*, const char*>> properties = {})
      : Rig(properties, "bliindsmeter") {}
};

inline const GstStructure* bliinds_meta(GstBuffer* buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "GstBliindsMeta");
  return meta ? gst_custom_meta_get_structure(meta) : nullptr;
}

/// The features in a result; empty if it has none.
inline std::vector<double> features_in(const GstStructure* s) {
  std::vector<double> list;
  const GValue* array = gst_structure_get_value(s, "features");
  if (!array) return list;
  EXPECT_TRUE(GST_VALUE_HOLDS_ARRAY(array));
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    list.push_back(g_value_get_double(gst_value_array_get_value(array, i)));
  return list;
}

/// The twins add in different orders: features agree to 1e-12 of themselves.
inline testing::AssertionResult same_features(const std::vector<double>& got, const bliinds::Features& expected) {
  if (got.size() != expected.size()) return testing::AssertionFailure() << got.size() << " features";
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= 1e-12 * std::abs(expected[i])))
      return testing::AssertionFailure() << "feature " << i << ": " << got[i] << ", expected " << expected[i];
  return testing::AssertionSuccess();
}

/// Features of codes of 16 bits or fewer, straight from the host twin.
inline bliinds::Features features_of(const std::vector<std::uint16_t>& codes, int width, int height, int depth) {
  const GrayFrame gray(codes, width, height, depth);
  const auto meter = cpu::make_bliinds_meter(gray.geometry);
  meter->submit({gray.frame, bliinds::Channel::kLuma});
  return meter->collect();
}

/// Red codes of a buffer: R, the gray, or of YUV what the caps' matrix and range make of Y and V as GStreamer's own
/// unpacker sees them; depth: bits of a code.
inline std::vector<std::uint16_t> red_of(const std::string& caps, GstBuffer* buffer, int* depth) {
  const GstVideoInfo info = video_info(caps);
  const GstVideoFormatInfo* f = info.finfo;
  if (GST_VIDEO_INFO_IS_GRAY(&info)) return codes_of(caps, buffer, depth);
  *depth = static_cast<int>(f->depth[0]);
  const std::map<GstVideoColorMatrix, double> kr{{GST_VIDEO_COLOR_MATRIX_FCC, 0.30},
                                                 {GST_VIDEO_COLOR_MATRIX_BT709, 0.2126},
                                                 {GST_VIDEO_COLOR_MATRIX_BT601, 0.299},
                                                 {GST_VIDEO_COLOR_MATRIX_SMPTE240M, 0.212},
                                                 {GST_VIDEO_COLOR_MATRIX_BT2020, 0.2627}};
  const auto found = kr.find(info.colorimetry.matrix);
  const bool is_yuv = GST_VIDEO_INFO_IS_YUV(&info);
  EXPECT_EQ(is_yuv, found != kr.end()) << caps;
  const Colorimetry colours{"", is_yuv ? found->second : 0, info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255};
  const bliinds::RedOfYuv how = red_gains(colours, *depth);
  GstVideoFrame frame;
  std::vector<std::uint16_t> codes;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    ADD_FAILURE() << caps;
    return codes;
  }
  const auto flags = GST_VIDEO_FRAME_IS_INTERLACED(&frame) ? GST_VIDEO_PACK_FLAG_INTERLACED : GST_VIDEO_PACK_FLAG_NONE;
  const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
  std::vector<std::uint16_t> line(static_cast<std::size_t>(info.width) * 4 + 64);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  for (int y = 0; y < info.height; ++y) {
    f->unpack_func(f, flags, line.data(), frame.data, frame.info.stride, 0, y, info.width);
    for (std::size_t x = 0; x < static_cast<std::size_t>(info.width); ++x) {
      const auto at = [&](std::size_t k) {
        return static_cast<std::int64_t>((wide ? line[4 * x + k] : bytes[4 * x + k]) >> ((wide ? 16 : 8) - *depth));
      };
      std::int64_t code = at(1);
      if (is_yuv) {
        const std::int64_t sum = how.y_gain * (at(1) - how.y_zero) + how.v_gain * (at(3) - how.v_zero);
        code = std::clamp<std::int64_t>((sum + 524288) >> 20, 0, (1 << *depth) - 1);
        const double exact =
            exact_red(colours, *depth, static_cast<std::uint32_t>(at(1)), static_cast<std::uint32_t>(at(3)));
        EXPECT_LE(std::abs(static_cast<double>(code) - exact), 0.55) << caps;
      }
      codes.push_back(static_cast<std::uint16_t>(code));
    }
  }
  gst_video_frame_unmap(&frame);
  return codes;
}

/// The features that a buffer of these caps should get.
inline bliinds::Features features_of(const std::string& caps, GstBuffer* buffer,
                                     bliinds::Channel channel = bliinds::Channel::kRed) {
  const GstVideoInfo info = video_info(caps);
  int depth = 8;
  const auto codes = channel == bliinds::Channel::kRed ? red_of(caps, buffer, &depth) : codes_of(caps, buffer, &depth);
  return features_of(codes, info.width, info.height, depth);
}

inline bliinds::Score bliinds_score(const std::string& caps, GstBuffer* buffer,
                                    bliinds::Channel channel = bliinds::Channel::kRed) {
  return bliinds::score_of(bliinds::published_model(), features_of(caps, buffer, channel));
}

}  // namespace framequality::test
