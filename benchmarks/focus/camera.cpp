// SPDX-License-Identifier: LGPL-2.1-or-later
// A camera without a lens: an image becomes a noisy 8-bit frame, and that is measured.
#include "benchmarks/focus/camera.h"

#include "algorithms/sharpness/score.h"
#include "algorithms/split_mix.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace framequality::bench {

using namespace sharpness;

namespace {

constexpr std::size_t kNoise = std::size_t{1} << 20;

/// Gaussian numbers, more than a frame has pixels: frames begin anywhere in them.
const std::vector<float>& gaussians() {
  static const std::vector<float> numbers = [] {
    std::vector<float> n(kNoise);
    SplitMix random(2024);
    for (std::size_t i = 0; i < kNoise; i += 2) {
      const double r = std::sqrt(-2 * std::log(1 - random.uniform())), a = 2 * std::numbers::pi * random.uniform();
      n[i] = static_cast<float>(r * std::cos(a));
      n[i + 1] = static_cast<float>(r * std::sin(a));
    }
    return n;
  }();
  return numbers;
}

}  // namespace

Camera::Camera(std::uint64_t seed) : frame_(std::size_t{kWidth} * kHeight), at_(seed) {
  const Geometry geometry{.width = kWidth, .height = kHeight, .layout = {}};
  Request request;
  request.prefilter = Prefilter::kBinomial5;
  request.mean = true;
  request.statistics = true;
  plan_ = std::make_shared<const Plan>(make_plan(geometry, request));
  meter_ = cpu::make_meter(geometry);
}

void Camera::expose(std::span<const std::uint16_t> plane, double contrast, double sigma) {
  const std::vector<float>& noise = gaussians();
  const auto scale = static_cast<float>(contrast / 256), offset = static_cast<float>(128 - 128 * contrast + 0.5);
  const auto s = static_cast<float>(sigma);
  std::size_t at = SplitMix(at_++).next() % kNoise;
  for (std::size_t i = 0; i < plane.size(); ++i) {
    const float code = static_cast<float>(plane[i]) * scale + offset + s * noise[at];
    frame_[i] = static_cast<std::uint8_t>(std::clamp(code, 0.0f, 255.0f));
    at = (at + 1) % kNoise;
  }
}

Expected Camera::measure(std::span<const std::uint16_t> plane, double contrast, double sigma, int frames) {
  if (sigma == 0) frames = 1;
  Expected e;
  double squares = 0;
  for (int i = 0; i < frames; ++i) {
    expose(plane, contrast, sigma);
    Frame frame;
    frame.plane[0] = frame_.data();
    frame.stride[0] = kWidth;
    meter_->submit({frame, plan_});
    const Scores scores = finish(*plan_, meter_->collect());
    const double change = scores.score - e.mean;
    e.mean += change / (i + 1);
    squares += change * (scores.score - e.mean);
    e.noise += scores.statistics.noise / frames;
    e.luma += scores.statistics.mean / frames;
  }
  e.sd = frames > 1 ? std::sqrt(squares / (frames - 1)) : 0;
  return e;
}

}  // namespace framequality::bench
