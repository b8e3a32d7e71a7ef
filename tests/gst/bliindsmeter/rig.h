// SPDX-License-Identifier: LGPL-2.1-or-later
// What the tests of bliindsmeter share: what a buffer should get, and what it got.
#pragma once

#include "algorithms/bliinds/model.h"
#include "cpu/bliinds/meter.h"
#include "gst/buffer/frame.h"
#include "tests/gst/rig.h"

#include <algorithm>

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
  Geometry geometry{width, height, {}};
  geometry.layout.depth = static_cast<std::uint8_t>(depth);
  geometry.layout.word_bytes = geometry.layout.pixel_stride = depth > 8 ? 2 : 1;
  const std::vector<std::uint8_t> bytes(codes.begin(), codes.end());
  Frame frame;
  frame.plane[0] = depth > 8 ? reinterpret_cast<const std::uint8_t*>(codes.data()) : bytes.data();
  frame.stride[0] = geometry.layout.pixel_stride * width;
  const auto meter = cpu::make_bliinds_meter(geometry);
  meter->submit({frame, bliinds::Channel::kLuma});
  return meter->collect();
}

/// The features that a buffer of these caps should get.
inline bliinds::Features features_of(const std::string& caps, GstBuffer* buffer) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  GstVideoInfo info;
  gst_video_info_from_caps(&info, c.get());
  int depth = 8;
  const auto codes = codes_of(caps, buffer, &depth);
  return features_of(codes, info.width, info.height, depth);
}

inline bliinds::Score bliinds_score(const std::string& caps, GstBuffer* buffer) {
  return bliinds::score_of(bliinds::published_model(), features_of(caps, buffer));
}

}  // namespace framequality::test
