// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores of 8-bit images as sharpnessmeter prefilter=binomial5 normalize=mean gives them.
#pragma once

#include "tests/sharpness/measure.h"

#include <cstdint>
#include <memory>

namespace framequality::test {

class Scorer {
 public:
  Scorer(int width, int height) : geometry_{.width = width, .height = height, .layout = {}} {
    sharpness::Request request;
    request.prefilter = sharpness::Prefilter::kBinomial5;
    request.mean = true;
    plan_ = std::make_shared<const sharpness::Plan>(sharpness::make_plan(geometry_, request));
    meter_ = cpu::make_meter(geometry_);
  }
  double operator()(const std::uint8_t* picture) {
    Frame frame;
    frame.plane[0] = picture;
    frame.stride[0] = geometry_.width;
    meter_->submit({frame, plan_});
    return finish(*plan_, meter_->collect()).score;
  }

 private:
  Geometry geometry_;
  std::shared_ptr<const sharpness::Plan> plan_;
  std::unique_ptr<sharpness::Meter> meter_;
};

}  // namespace framequality::test
