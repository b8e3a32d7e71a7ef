// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers in plain loops, pixel by pixel as weight.h defines them: what all twins are compared with.
#pragma once

#include "algorithms/denoise/filter.h"
#include "tests/denoise/plain_noise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace framequality::test {

class DenoiseReference final : public denoise::Filter {
 public:
  explicit DenoiseReference(const PictureGeometry& geometry) : g_(geometry) {}

  void submit(const denoise::Task& task) override {
    const auto& [window, center, out, settings, fields] = task;
    window_.assign(window.begin(), window.end());
    center_ = center;
    out_ = out;
    s_ = settings;
    fields_ = fields;
  }

  void collect() override {
    const Frame& in = window_[center_].frame;
    for (int p = 0; p < g_.layout.planes; ++p)
      for (int y = 0; y < g_.rows(p); ++y)
        std::memcpy(out_.plane[p] + y * out_.stride[p], in.plane[p] + y * in.stride[p], g_.row_bytes(p));
    const denoise::Passes passes = denoise::passes_of(g_.layout, s_);
    for (int i = 0; i < passes.count; ++i)
      for (int field = 0; field < fields_; ++field) filter(passes.pass[i], field);
  }

 private:
  /// One component of one field with its border: codes at -reach...width + reach - 1.
  struct Plane {
    int width, height, reach;
    std::vector<int> codes;
    int at(int x, int y) const {
      return codes[static_cast<std::size_t>(y + reach) * static_cast<std::size_t>(width + 2 * reach) +
                   static_cast<std::size_t>(x + reach)];
    }
  };

  Plane plane(const Frame& frame, int c, int field) const {
    const auto& component = g_.layout.component[c];
    const std::ptrdiff_t stride = frame.stride[component.plane];
    const std::uint8_t* data = frame.plane[component.plane] + component.offset + field * stride;
    Plane p{g_.width_of(c), (g_.height_of(c) - field + fields_ - 1) / fields_, s_.search_radius + s_.patch_radius, {}};
    if (p.height < 1) return p;
    for (int y = -p.reach; y < p.height + p.reach; ++y)
      for (int x = -p.reach; x < p.width + p.reach; ++x)
        p.codes.push_back(static_cast<int>(read_sample(
            g_.layout, data + denoise::bordered(y, p.height, s_.border) * fields_ * stride +
                           std::ptrdiff_t{denoise::bordered(x, p.width, s_.border)} * component.pixel_stride)));
    return p;
  }

  using Planes = std::vector<Plane>;  // of a pass
  Planes planes(std::size_t frame, const denoise::Pass& pass, int field) const {
    Planes all;
    for (int k = 0; k < pass.count; ++k) all.push_back(plane(window_[frame].frame, pass.component[k], field));
    return all;
  }

  denoise::Weights weights(const denoise::Pass& pass, const Planes& own) const {
    const int depth = g_.layout.depth;
    if (!pass.follows && !s_.estimate_sigma)
      return denoise::weights_of(denoise::rule_of(s_, pass, depth), s_.sigma * s_.sigma);
    double variance = 0;
    for (const Plane& p : own)
      variance += plain_noise_variance(p.width, p.height, depth, [&](int x, int y) { return p.at(x, y); });
    return denoise::weights_of(denoise::rule_of(s_, pass, depth), variance / static_cast<double>(own.size()));
  }

  void filter(const denoise::Pass& pass, int field) const {
    std::vector<Planes> frames;
    for (std::size_t f = 0; f < window_.size(); ++f) frames.push_back(planes(f, pass, field));
    const Planes& own = frames[center_];
    const denoise::Weights weights = this->weights(pass, own);
    for (int y = 0; y < own[0].height; ++y)
      for (int x = 0; x < own[0].width; ++x) filter(pass, weights, frames, field, x, y);
  }

  void filter(const denoise::Pass& pass, const denoise::Weights& weights, const std::vector<Planes>& frames, int field,
              int x, int y) const {
    const int r = s_.search_radius, p = s_.patch_radius, depth = g_.layout.depth, middle = 1 << (depth - 1);
    const Planes& own = frames[center_];
    float sum = 0, values[3] = {}, largest = denoise::kLeastCenter;
    const auto add = [&](float w, const Planes& planes, int px, int py) {
      sum += w;
      for (std::size_t k = 0; k < planes.size(); ++k)
        values[k] += w * static_cast<float>(planes[k].at(px, py) - middle);
    };
    const auto visit = [&](const Planes& other, int tx, int ty) {
      double d = 0;
      for (std::size_t k = 0; k < own.size(); ++k)
        for (int j = -p; j <= p; ++j)
          for (int i = -p; i <= p; ++i) {
            const double e = own[k].at(x + i, y + j) - other[k].at(x + tx + i, y + ty + j);
            d += e * e;
          }
      const float w = denoise::exp2_minus(
          denoise::exponent(weights, static_cast<float>(d), static_cast<float>(tx * tx + ty * ty) * weights.spatial));
      largest = std::max(largest, w);
      add(w, other, x + tx, y + ty);
    };
    if (s_.center == denoise::CenterWeight::kOne) add(1, own, x, y);
    const bool keeps = denoise::keeps(weights);
    for (int ty = 0; ty <= r && !keeps; ++ty)
      for (int tx = ty ? -r : 1; tx <= r; ++tx) {
        visit(own, tx, ty);
        visit(own, -tx, -ty);
      }
    for (std::size_t f = 0; f < frames.size() && !keeps; ++f)
      for (int ty = -r; f != center_ && ty <= r; ++ty)
        for (int tx = -r; tx <= r; ++tx) visit(frames[f], tx, ty);
    if (s_.center == denoise::CenterWeight::kMax) add(largest, own, x, y);
    for (int k = 0; k < pass.count; ++k) {
      const int c = pass.component[k];
      const auto& component = g_.layout.component[c];
      const float mean = denoise::mean_of(values[k], sum, depth);
      const std::ptrdiff_t row = std::ptrdiff_t{y} * fields_ + field;
      if (out_.unrounded[c]) out_.unrounded[c][row * g_.width_of(c) + x] = mean;
      const int code = std::clamp(static_cast<int>(std::nearbyint(mean)), 0, g_.layout.largest());
      write_sample(g_.layout,
                   out_.plane[component.plane] + row * out_.stride[component.plane] + component.offset +
                       std::ptrdiff_t{x} * component.pixel_stride,
                   static_cast<std::uint32_t>(code));
    }
  }

  PictureGeometry g_;
  std::vector<denoise::Source> window_;
  std::size_t center_ = 0;
  Canvas out_;
  denoise::Settings s_;
  int fields_ = 1;
};

}  // namespace framequality::test
