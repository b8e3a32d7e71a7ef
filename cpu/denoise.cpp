// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of the denoisers, in plain loops.
#include "cpu/denoise.h"

#include "algorithms/denoise/noise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace framequality::cpu {
namespace {

using namespace denoise;

/// One component of one field.
struct Plane {
  const PictureLayout* layout;
  const std::uint8_t* data;
  std::ptrdiff_t stride, step;
  int width, height;
  Border border;
  int at(int x, int y) const {
    return static_cast<int>(
        read_sample(*layout, data + bordered(y, height, border) * stride + bordered(x, width, border) * step));
  }
};

class PlainFilter final : public Filter {
 public:
  explicit PlainFilter(const PictureGeometry& geometry) : g_(geometry) {}

  void submit(std::span<const Source> window, std::size_t center, const Canvas& out, const Settings& settings,
              int fields) override {
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
    const Passes passes = passes_of(g_.layout, s_);
    for (int i = 0; i < passes.count; ++i)
      for (int field = 0; field < fields_; ++field) filter(passes.pass[i], field);
  }

 private:
  Plane plane(const Frame& frame, int c, int field) const {
    const auto& component = g_.layout.component[c];
    const std::ptrdiff_t stride = frame.stride[component.plane];
    return {&g_.layout,       frame.plane[component.plane] + component.offset + field * stride,
            fields_ * stride, component.pixel_stride,
            g_.width_of(c),   (g_.height_of(c) - field + fields_ - 1) / fields_,
            s_.border};
  }

  double sigma(const Pass& pass, int field) const {
    if (!s_.estimate_sigma) return s_.sigma;
    double squares = 0;
    for (int k = 0; k < pass.count; ++k) {
      const Plane p = plane(window_[center_].frame, pass.component[k], field);
      std::uint64_t sum = 0;
      for (int y = 1; y + 1 < p.height; ++y)
        for (int x = 1; x + 1 < p.width; ++x) {
          int rows[3][3];
          for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) rows[j][i] = p.at(x + i - 1, y + j - 1);
          sum += noise_share(rows[0], rows[1], rows[2], 1);
        }
      const double sigma = noise_sigma(sum, p.width, p.height, g_.layout.depth);
      squares += sigma * sigma;
    }
    return std::sqrt(squares / pass.count);
  }

  void filter(const Pass& pass, int field) const {
    const Weights weights = weights_of(s_, pass, g_.layout.depth, sigma(pass, field));
    const Plane first = plane(window_[center_].frame, pass.component[0], field);
    for (int y = 0; y < first.height; ++y)
      for (int x = 0; x < first.width; ++x) filter(pass, weights, field, x, y);
  }

  void filter(const Pass& pass, const Weights& weights, int field, int x, int y) const {
    const int r = s_.search_radius, p = s_.patch_radius, depth = g_.layout.depth, middle = 1 << (depth - 1);
    float sum = 0, values[3] = {}, largest = kLeastCenter;
    Plane own[3];
    for (int k = 0; k < pass.count; ++k) own[k] = plane(window_[center_].frame, pass.component[k], field);
    const auto add = [&](float w, const Plane* planes, int px, int py) {
      sum += w;
      for (int k = 0; k < pass.count; ++k) values[k] += w * static_cast<float>(planes[k].at(px, py) - middle);
    };
    const auto visit = [&](const Plane* other, int tx, int ty) {
      double d = 0;
      for (int k = 0; k < pass.count; ++k)
        for (int j = -p; j <= p; ++j)
          for (int i = -p; i <= p; ++i) {
            const double e = own[k].at(x + i, y + j) - other[k].at(x + tx + i, y + ty + j);
            d += e * e;
          }
      const float w =
          exp2_minus(exponent(weights, static_cast<float>(d), static_cast<float>(tx * tx + ty * ty) * weights.spatial));
      largest = std::max(largest, w);
      add(w, other, x + tx, y + ty);
    };
    if (s_.center == CenterWeight::kOne) add(1, own, x, y);
    for (int ty = 0; ty <= r; ++ty)
      for (int tx = ty ? -r : 1; tx <= r; ++tx) {
        visit(own, tx, ty);
        visit(own, -tx, -ty);
      }
    for (std::size_t f = 0; f < window_.size(); ++f) {
      if (f == center_) continue;
      Plane other[3];
      for (int k = 0; k < pass.count; ++k) other[k] = plane(window_[f].frame, pass.component[k], field);
      for (int ty = -r; ty <= r; ++ty)
        for (int tx = -r; tx <= r; ++tx) visit(other, tx, ty);
    }
    if (s_.center == CenterWeight::kMax) add(largest, own, x, y);
    for (int k = 0; k < pass.count; ++k) {
      const int c = pass.component[k];
      const auto& component = g_.layout.component[c];
      const float mean = mean_of(values[k], sum, depth);
      const int row = y * fields_ + field;
      if (out_.unrounded[c]) out_.unrounded[c][static_cast<std::size_t>(row) * g_.width_of(c) + x] = mean;
      const int code = std::clamp(static_cast<int>(std::nearbyint(mean)), 0, g_.layout.largest());
      write_sample(g_.layout,
                   out_.plane[component.plane] + row * out_.stride[component.plane] + component.offset +
                       x * component.pixel_stride,
                   static_cast<std::uint32_t>(code));
    }
  }

  PictureGeometry g_;
  std::vector<Source> window_;
  std::size_t center_ = 0;
  Canvas out_;
  Settings s_;
  int fields_ = 1;
};

}  // namespace

std::unique_ptr<Filter> make_denoiser(const PictureGeometry& geometry, int, std::string_view) {
  return std::make_unique<PlainFilter>(geometry);
}

}  // namespace framequality::cpu
