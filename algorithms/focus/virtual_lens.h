// SPDX-License-Identifier: LGPL-2.1-or-later
// A simulated lens: the image at each of its positions, optionally late, slow, breathing, noisy and
// flickering.
//
//   VirtualLens lens(320, 240, dead_leaves(320, 240, 1), {.best_position = 40, .drive = {.lag = 2}, .noise = 3});
//   std::vector<std::uint8_t> image(320 * 240);
//   lens.render(position, image.data());  // once for each frame, with the position that the lens is sent to by now
#pragma once

#include "algorithms/focus/disk_blur.h"
#include "algorithms/focus/lens_drive.h"
#include "algorithms/split_mix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

namespace framequality {

/// A width x height image of overlapping disks in 8-bit grey levels, no row padding: edges of all sizes, occlusion,
/// and a spectrum like that of photographs. Lee, Mumford, Huang: Occlusion models for natural images, IJCV 2001.
inline std::vector<std::uint8_t> dead_leaves(int width, int height, std::uint64_t seed) {
  std::vector<std::uint8_t> picture(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 128);
  SplitMix random(seed);
  constexpr double kSmallest = 2, kLargest = 60;
  constexpr double kLayers = 6;  // mean number over each pixel
  const double spread = 1 - kSmallest * kSmallest / (kLargest * kLargest);
  const double mean_area = std::numbers::pi * 2 * kSmallest * kSmallest * std::log(kLargest / kSmallest) / spread;
  const auto leaves = static_cast<int>(kLayers * width * height / mean_area) + 1;
  for (int i = 0; i < leaves; ++i) {
    const double r = kSmallest / std::sqrt(1 - spread * random.uniform());  // density ~ r^-3
    const double cx = random.uniform() * width, cy = random.uniform() * height;
    const double level = 16 + 200 * random.uniform(), slope = 20 * (random.uniform() - 0.5) / r;
    for (int y = std::max(0, static_cast<int>(cy - r)); y < std::min<double>(height, cy + r); ++y) {
      const double half = std::sqrt(std::max(0.0, r * r - (y - cy) * (y - cy)));
      for (int x = std::max(0, static_cast<int>(std::ceil(cx - half))); x < std::min<double>(width, cx + half); ++x)
        picture[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
            static_cast<std::uint8_t>(level + slope * (x - cx) + 8 * random.uniform());
    }
  }
  return picture;
}

struct LensSettings {
  double best_position = 50;   ///< for a still image: where it is sharp
  double blur_per_unit = 0.1;  ///< for a still image: radius of the blur, pixels per unit of distance from there
  double breathing = 0;        ///< relative change of the image's size per unit above best_position
  double shift = 0;            ///< position p shows what p - shift would show
  DriveSettings drive{};       ///< how the lens follows its targets
  double noise = 0;            ///< sigma of Gaussian noise, 8-bit grey levels
  double flicker = 0;          ///< exposure of each frame is random in 1 - flicker...1 + flicker
  std::uint64_t seed = 0;      ///< of noise and flicker
};

/// Pixel values of black and white; values between them are linear.
struct LumaRange {
  int black = 0, white = 255;
};
inline constexpr LumaRange kLimitedRange{16, 235};

/// Renders 8-bit luma frames. Deterministic: the same settings and positions give the same frames.
/// Thread-safety: one thread at a time. Reuses its memory, which grows at the first position
/// that needs more; only a new position is expensive.
class VirtualLens {
 public:
  static constexpr double kLeastScale = 0.25, kMostScale = 4;  ///< limits of breathing
  using Pixels = std::vector<std::uint8_t>;                    ///< width x height, no row padding

  /// One still image, blurred by a disk away from its best position.
  VirtualLens(int width, int height, Pixels still, const LensSettings& settings = {})
      : VirtualLens(width, height, std::map<double, Pixels>{}, settings) {
    still_ = std::move(still);
  }
  /// The images of a real focus sweep by position: the nearest is shown.
  VirtualLens(int width, int height, std::map<double, Pixels> sweep, const LensSettings& settings = {})
      : width_(width),
        height_(height),
        sweep_(std::move(sweep)),
        settings_(settings),
        drive_(settings.drive),
        blur_(width, height),
        plane_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
        noise_(static_cast<std::size_t>(width)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  /// Where the lens was at the end of the last frame.
  double shown() const { return drive_.position(); }
  /// Continues from another lens's state, its motor and noise included, when the image size has changed.
  void go_on_from(const VirtualLens& other) {
    drive_ = other.drive_;
    frame_ = other.frame_;
  }
  /// Takes effect with the next frame.
  void configure(const LensSettings& settings) {
    settings_ = settings;
    drive_.configure(settings.drive);
  }

  /// Renders the next frame; `position`: the latest command. Until `drive.lag` frames are over, the lens
  /// stands where the first frame found it. A frame during a move is the mean of LensDrive::kMoments images
  /// on the way. stride: bytes; 0: no row padding.
  void render(double position, std::uint8_t* out, std::ptrdiff_t stride = 0, LumaRange range = {}) {
    if (stride == 0) stride = width_;
    const auto positions = drive_.frame(position);
    if (positions.size() == 1) {
      make_plane(positions[0]);
      expose(plane_.data(), 1, out, stride, range);
    } else {
      sum_.assign(plane_.size(), 0);
      for (const double at : positions) {
        make_plane(at);
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += plane_[i];
      }
      expose(sum_.data(), static_cast<double>(positions.size()), out, stride, range);
    }
    ++frame_;
  }

 private:
  /// Recipe of a plane: an image, the radius of its blur in its own pixels, and the scale applied afterwards.
  struct Look {
    const Pixels* picture = nullptr;
    double radius = 0, scale = 1;
    bool operator==(const Look&) const = default;
  };

  Look look_at(double position) const {
    const double at = position - settings_.shift, away = at - settings_.best_position;
    const double scale = 1 + settings_.breathing * away;
    Look look;
    if (!std::isnan(scale)) look.scale = std::clamp(scale, kLeastScale, kMostScale);
    if (sweep_.empty()) {
      look.picture = &still_;
      // The blur has the requested radius once it has been scaled.
      look.radius = std::min(DiskBlur::kMaxRadius, std::abs(away) * settings_.blur_per_unit) / look.scale;
      return look;
    }
    auto nearest = sweep_.lower_bound(at);
    if (nearest == sweep_.end() || (nearest != sweep_.begin() && at - std::prev(nearest)->first < nearest->first - at))
      --nearest;
    look.picture = &nearest->second;
    return look;
  }

  /// Fills plane_ with the image of this position, unless it is there already.
  void make_plane(double position) {
    const Look look = look_at(position);
    if (std::exchange(made_, look) == look) return;
    blur_(look.picture->data(), look.radius, plane_.data());
    if (look.scale != 1) magnify(look.scale);
  }

  /// Two neighbours in a row or column, and the weight of the second for a pixel between them.
  struct Tap {
    std::size_t first, second;
    float share;
  };
  /// Source of pixel i of `size` after scaling about the centre; beyond the edges, the edge.
  static Tap tap(int i, int size, double scale) {
    const double centre = (size - 1) / 2.0, at = std::clamp(centre + (i - centre) / scale, 0.0, size - 1.0);
    const auto first = static_cast<std::size_t>(at);
    return {first, std::min(first + 1, static_cast<std::size_t>(size - 1)),
            static_cast<float>(at - static_cast<double>(first))};
  }

  /// Scales plane_ about its centre, bilinearly.
  void magnify(double scale) {
    const auto w = static_cast<std::size_t>(width_);
    scaled_.resize(plane_.size());
    columns_.resize(w);
    for (int x = 0; x < width_; ++x) columns_[static_cast<std::size_t>(x)] = tap(x, width_, scale);
    std::uint16_t* out = scaled_.data();
    for (int y = 0; y < height_; ++y, out += w) {
      const Tap row = tap(y, height_, scale);
      const std::uint16_t *above = &plane_[row.first * w], *below = &plane_[row.second * w];
      for (std::size_t x = 0; x < w; ++x) {
        const Tap& column = columns_[x];
        const auto between = [&](const std::uint16_t* codes) {
          const float first = codes[column.first], second = codes[column.second];
          return first + column.share * (second - first);
        };
        const float top = between(above), bottom = between(below);
        const float code = top + row.share * (bottom - top) + 0.5f;  // rounds
        out[x] = static_cast<std::uint16_t>(code);
      }
    }
    plane_.swap(scaled_);
  }

  /// picture: sum of `count` planes in 1/256 grey levels.
  template <class Code>
  void expose(const Code* picture, double count, std::uint8_t* out, std::ptrdiff_t stride, LumaRange range) {
    SplitMix random(SplitMix(settings_.seed).next() ^ SplitMix(~frame_).next());
    const double gain = 1 + settings_.flicker * (2 * random.uniform() - 1);
    const auto scale = static_cast<float>(gain / (256 * count)), sigma = static_cast<float>(settings_.noise);
    const float contrast = static_cast<float>(range.white - range.black) / 255;
    const float black = static_cast<float>(range.black) + 0.5f;  // rounds
    for (int y = 0; y < height_; ++y, picture += width_, out += stride) {
      if (sigma > 0) make_noise(random);
      for (int x = 0; x < width_; ++x) {
        const float code = static_cast<float>(picture[x]) * scale + sigma * noise_[static_cast<std::size_t>(x)];
        out[x] = static_cast<std::uint8_t>(std::min(std::max(0.0f, code), 255.0f) * contrast + black);
      }
    }
  }

  /// A row of Gaussian noise of sigma 1.
  void make_noise(SplitMix& random) {
    static const auto quantiles = gaussian_quantiles();
    std::uint64_t bits = 0;
    for (std::size_t x = 0, left = 0; x < noise_.size(); ++x, --left, bits >>= kQuantileBits) {
      if (left == 0) bits = random.next(), left = 64 / kQuantileBits;
      noise_[x] = quantiles[bits % quantiles.size()];
    }
  }

  static constexpr unsigned kQuantileBits = 12;
  /// Equally likely values of mean 0 and variance 1, distributed as a Gaussian.
  static std::array<float, 1u << kQuantileBits> gaussian_quantiles() {
    std::array<float, 1u << kQuantileBits> table{};
    const double n = table.size();
    double at = 0, squares = 0;
    // The upper half's quantiles, each from the one below by Newton's method on the distribution function.
    for (std::size_t i = table.size() / 2; i < table.size(); ++i) {
      const double wanted = (static_cast<double>(i) + 0.5) / n;
      for (int step = 0; step < 20; ++step)
        at += (wanted - 0.5 * std::erfc(-at / std::numbers::sqrt2)) * std::sqrt(2 * std::numbers::pi) *
              std::exp(at * at / 2);
      squares += 2 * at * at;
      table[i] = static_cast<float>(at);
      table[table.size() - 1 - i] = static_cast<float>(-at);
    }
    const auto sigma = static_cast<float>(std::sqrt(squares / n));
    for (float& v : table) v /= sigma;
    return table;
  }

  int width_, height_;
  Pixels still_;
  std::map<double, Pixels> sweep_;
  LensSettings settings_;
  LensDrive drive_;
  DiskBlur blur_;
  std::vector<std::uint16_t> plane_;  ///< an image in 1/256 grey levels, and which
  Look made_;
  std::vector<std::uint16_t> scaled_;  ///< the next plane_, while it is scaled
  std::vector<Tap> columns_;
  std::vector<std::int32_t> sum_;  ///< of the planes of one exposure
  std::vector<float> noise_;
  std::uint64_t frame_ = 0;
};

}  // namespace framequality
