// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/gst/sharpnessmeter/scores.h"

#include "cpu/sharpness/meter.h"
#include "tests/gst/gray_frame.h"
#include "tests/gst/rig.h"

#include <stdexcept>

namespace framequality::test {

using namespace sharpness;

Scores expected(const std::vector<std::uint16_t>& codes, int width, int height, int depth, const Request& request) {
  const GrayFrame gray(codes, width, height, depth);
  const auto plan = std::make_shared<const Plan>(make_plan(gray.geometry, request));
  const auto meter = cpu::make_meter(gray.geometry);
  meter->submit({gray.frame, plan});
  return finish(*plan, meter->collect());
}

Scores expected(const std::string& caps, GstBuffer* buffer, const Request& request) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  GstVideoInfo info;
  gst_video_info_from_caps(&info, c.get());
  int depth = 8;
  const auto codes = codes_of(caps, buffer, &depth);
  return expected(codes, info.width, info.height, depth, request);
}

int metric_index(const std::string& name) {
  for (int i = 0; i < kMetricCount; ++i)
    if (name == metric_info(i).name) return i;
  throw std::invalid_argument(name);
}

}  // namespace framequality::test
