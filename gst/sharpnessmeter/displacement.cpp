// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sharpnessmeter/displacement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

namespace framequality {

namespace {

constexpr int kLongest = 128, kShortest = 16;  // pixels of the reduced image
constexpr int kSamples = 4;                    // most samples per pixel, each way
constexpr float kSmoothing = 1;                // pixels: standard deviation of the Gaussian
constexpr std::size_t kPeaks = 6;
constexpr int kBlock = 8;  // pixels
constexpr double kTexture = 1,
                 kTexturePart = 0.001;  // grey levels squared: least variance of a block worth comparing
constexpr double kLeastContrast = 2;    // grey levels squared: least variance of a frame with content
constexpr double kResembles = 0.6;      // correlation from which on blocks match
constexpr float kAsGood = 0.05F;        // below a block's highest correlation: smooth shades match at many places
constexpr int kFewestBlocks = 6;
constexpr double kFarthest = 0.6;  // share of each side

// Agreement of blocks, measured on photographs of python3-skimage: 0.4 to 1 for frames that only moved, even out of
// focus, brighter or with a rolling shutter; 0.1 to 0.7 if they also turned by 3 degrees or have noise as strong as
// their contrast; 0.03 to 0.22 for other images.
constexpr double kSure = 0.6;                     // no other candidate is checked
constexpr double kTrusted = 0.3;                  // of the reference
constexpr double kDoubtful = 0.2, kUnlike = 0.5;  // neighbours below both are a cut
constexpr double kReach = 0.12;                   // diagonals after which a frame becomes the reference

double square(double value) { return value * value; }

int reduced(int side, int longest) {
  const double scale = std::min(1.0, static_cast<double>(kLongest) / longest);
  return fast_length(std::max(kShortest, static_cast<int>(std::lround(side * scale))));
}

std::vector<float> hann(int length) {
  std::vector<float> window;
  window.reserve(static_cast<std::size_t>(length));
  for (int i = 0; i < length; ++i)
    window.push_back(static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * (i + 0.5) / length)));
  return window;
}

/// Sums of two blocks at once, for their correlation.
struct Sums {
  double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  int count = 0;

  void add(float p, float q) {
    a += p, b += q;
    aa += static_cast<double>(p) * p, bb += static_cast<double>(q) * q, ab += static_cast<double>(p) * q;
    ++count;
  }
  void add(const Sums& other) {
    a += other.a, b += other.b, aa += other.aa, bb += other.bb, ab += other.ab, count += other.count;
  }
  double variance_a() const { return aa / count - square(a / count); }
  double variance_b() const { return bb / count - square(b / count); }
  double correlation() const {
    const double both = variance_a() * variance_b();
    return both > 0 ? (ab / count - a / count * (b / count)) / std::sqrt(both) : 0;
  }
};

}  // namespace

/// Variance from which on a block is compared: noise in flat blocks is not texture.
double DisplacementMeter::least_texture(const View& view) { return std::max(kTexture, kTexturePart * view.variance); }

DisplacementMeter::DisplacementMeter(const Geometry& geometry)
    : geometry_(geometry),
      width_(reduced(geometry.width, std::max(geometry.width, geometry.height))),
      height_(reduced(geometry.height, std::max(geometry.width, geometry.height))),
      samples_x_(std::clamp(geometry.width / width_, 1, kSamples)),
      samples_y_(std::clamp(geometry.height / height_, 1, kSamples)),
      fft_(width_, height_) {
  const double diagonal = std::hypot(geometry.width, geometry.height);
  unit_x_ = geometry.width / diagonal / width_;
  unit_y_ = geometry.height / diagonal / height_;
  for (int i = 0; i < width_ * samples_x_; ++i)
    column_.push_back(static_cast<int>((i + 0.5) * geometry.width / (width_ * samples_x_)));
  for (int x = 0; x <= width_; ++x)
    first_.push_back(static_cast<std::size_t>(x) * static_cast<std::size_t>(geometry.width) /
                     static_cast<std::size_t>(width_));
  const std::vector<float> across = hann(width_), down = hann(height_);
  for (const float y : down)
    for (const float x : across) window_.push_back(x * y);
  const auto low_pass = [](int k, int length) {
    const double frequency = static_cast<double>(std::min(k, length - k)) / length;
    return std::exp(-2 * square(std::numbers::pi * kSmoothing * frequency));
  };
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x <= width_ / 2; ++x)
      smooth_.push_back(static_cast<float>(low_pass(x, width_) * low_pass(y, height_)));
}

/// Calls to(rows of the frame's planes, row of the reduced image) for all sampled rows.
template <class To>
void DisplacementMeter::for_rows(const Frame& frame, To to) const {
  for (int j = 0; j < height_ * samples_y_; ++j) {
    const auto y = static_cast<std::ptrdiff_t>((j + 0.5) * geometry_.height / (height_ * samples_y_));
    std::array<const std::uint8_t*, 3> row = {};
    for (int p = 0; p < geometry_.layout.planes(); ++p)
      row[static_cast<std::size_t>(p)] = frame.plane[p] + y * frame.stride[p];
    to(row, j / samples_y_);
  }
}

void DisplacementMeter::reduce(const Frame& frame, std::vector<float>& image) {
  const PixelLayout& layout = geometry_.layout;
  const auto width = static_cast<std::size_t>(width_);
  image.assign(width * static_cast<std::size_t>(height_), 0);
  if (layout.is_plain() && layout.word_bytes == 1) {
    // All bytes of a row: adding whole rows is cheaper than selecting bytes.
    sums_.assign(static_cast<std::size_t>(geometry_.width), 0);
    int rows = 0;
    for_rows(frame, [&](const auto& row, int y) {
      for (std::size_t x = 0; x < sums_.size(); ++x) sums_[x] = static_cast<std::uint16_t>(sums_[x] + row[0][x]);
      if (++rows < samples_y_) return;
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t begin = first_[x], end = std::max(begin + 1, first_[x + 1]);
        std::uint32_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += sums_[i];
        image[static_cast<std::size_t>(y) * width + x] =
            static_cast<float>(sum) / static_cast<float>(static_cast<int>(end - begin) * samples_y_);
      }
      std::ranges::fill(sums_, std::uint16_t{0});
      rows = 0;
    });
    return;
  }
  const auto unit = static_cast<float>(samples_x_ * samples_y_ * std::ldexp(1.0, layout.depth - 8));
  for_rows(frame, [&](const auto& row, int y) {
    const int* column = column_.data();
    for (std::size_t x = 0; x < width; ++x) {
      std::uint32_t sum = 0;
      for (int i = 0; i < samples_x_; ++i) sum += luma_code(layout, row[0], row[1], row[2], *column++);
      image[static_cast<std::size_t>(y) * width + x] += static_cast<float>(sum) / unit;
    }
  });
}

void DisplacementMeter::transform(View& view) {
  double sum = 0, squares = 0;
  for (const float value : view.image) sum += value, squares += square(value);
  const auto count = static_cast<double>(view.image.size());
  const auto mean = static_cast<float>(sum / count);
  view.variance = squares / count - square(sum / count);
  windowed_.resize(view.image.size());
  for (std::size_t i = 0; i < windowed_.size(); ++i) windowed_[i] = (view.image[i] - mean) * window_[i];
  fft_.forward(windowed_, view.spectrum);
}

void DisplacementMeter::correlate(const View& from, const View& to) {
  constexpr float kLeast = 1e-6F;
  cross_.resize(from.spectrum.size());
  float largest = 0;
  for (std::size_t i = 0; i < cross_.size(); ++i) {
    const std::complex<float> a = from.spectrum[i], b = to.spectrum[i];
    // The operator of std::complex also checks for infinities.
    cross_[i] = {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real()};
    largest = std::max(largest, std::norm(cross_[i]));
  }
  const float least = kLeast * std::sqrt(largest) + 1e-30F;
  for (std::size_t i = 0; i < cross_.size(); ++i) cross_[i] *= smooth_[i] / (std::sqrt(std::norm(cross_[i])) + least);
  fft_.inverse(cross_, surface_);
}

float DisplacementMeter::at(int x, int y) const {
  x = (x % width_ + width_) % width_;
  y = (y % height_ + height_) % height_;
  return surface_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)];
}

/// Finds the highest local maxima of the surface, within 5x5.
void DisplacementMeter::find_peaks() {
  peaks_.clear();
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x) {
      const float height =
          surface_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)];
      if (peaks_.size() == kPeaks && height <= peaks_.back().height) continue;
      bool is_peak = true;
      for (int j = -2; j <= 2 && is_peak; ++j)
        for (int i = -2; i <= 2; ++i) is_peak = is_peak && at(x + i, y + j) <= height;
      if (!is_peak) continue;
      if (peaks_.size() == kPeaks) peaks_.pop_back();
      const auto place = std::ranges::find_if(peaks_, [&](const Peak& p) { return p.height < height; });
      peaks_.insert(place, Peak{height, x, y});
    }
}

/// Adds a match, the blocks of `to` compared with what the motion moves there, to whole pixels. False: too few blocks.
bool DisplacementMeter::compare(const View& from, const View& to, const Motion& motion) {
  Match match;
  match.x = motion.x;
  match.y = motion.y;
  const double least = least_texture(to);
  const std::size_t before = correlations_.size();
  Sums whole;
  for (int top = 0; top + kBlock <= height_; top += kBlock)
    for (int left = 0; left + kBlock <= width_; left += kBlock) {
      correlations_.push_back(0);
      const double x = left + (kBlock - width_) / 2.0, y = top + (kBlock - height_) / 2.0;
      const auto from_x = left - static_cast<int>(std::lround(motion.x - motion.turn * (y - motion.y)));
      const auto from_y = top - static_cast<int>(std::lround(motion.y + motion.turn * (x - motion.x)));
      if (from_x < 0 || from_y < 0 || from_x + kBlock > width_ || from_y + kBlock > height_) continue;
      Sums block;
      for (int j = 0; j < kBlock; ++j) {
        const float* q = to.image.data() + static_cast<std::ptrdiff_t>(top + j) * width_ + left;
        const float* p = from.image.data() + static_cast<std::ptrdiff_t>(from_y + j) * width_ + from_x;
        for (int i = 0; i < kBlock; ++i) block.add(p[i], q[i]);
      }
      whole.add(block);
      if (std::max(block.variance_a(), block.variance_b()) < least) continue;
      ++match.blocks;
      correlations_.back() = static_cast<float>(block.correlation());
      if (block.correlation() > kResembles) ++match.alike;
    }
  if (match.blocks < kFewestBlocks) {
    correlations_.resize(before);
    return false;
  }
  match.agreement = static_cast<double>(match.alike) / match.blocks;
  match.likeness = whole.correlation();
  matches_.push_back(match);
  return true;
}

/// The match that most blocks prefer.
DisplacementMeter::Match DisplacementMeter::best_match() {
  if (matches_.empty()) return {};
  const std::size_t blocks = correlations_.size() / matches_.size();
  highest_.assign(blocks, static_cast<float>(kResembles));
  for (std::size_t i = 0; i < correlations_.size(); ++i)
    highest_[i % blocks] = std::max(highest_[i % blocks], correlations_[i]);
  std::size_t best = 0;
  int most = -1;
  for (std::size_t m = 0; m < matches_.size(); ++m) {
    int votes = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      const float here = correlations_[m * blocks + i];
      if (here > kResembles && here >= highest_[i] - kAsGood) ++votes;
    }
    if (votes > most) most = votes, best = m;
  }
  return matches_[best];
}

/// Subpixel position of a peak: the vertex of the parabola through the logarithms around it.
double DisplacementMeter::refined(int x, int y, int along_x, int along_y) const {
  const auto height = [&](int step) {
    return std::log(std::max(1e-9, static_cast<double>(at(x + step * along_x, y + step * along_y))));
  };
  const double before = height(-1), here = height(0), after = height(1), bend = before - 2 * here + after;
  return bend < 0 ? std::clamp((before - after) / (2 * bend), -1.0, 1.0) : 0;
}

DisplacementMeter::Match DisplacementMeter::match(const View& from, const View& to) {
  correlate(from, to);
  find_peaks();
  matches_.clear();
  correlations_.clear();
  for (const Peak& peak : peaks_) {
    // The surface is periodic.
    for (const int y : {peak.y, peak.y - height_})
      for (const int x : {peak.x, peak.x - width_}) {
        if (std::abs(x) > kFarthest * width_ || std::abs(y) > kFarthest * height_) continue;
        if (!compare(from, to, {.x = static_cast<double>(x), .y = static_cast<double>(y)})) continue;
        matches_.back().x += refined(x, y, 1, 0);
        matches_.back().y += refined(x, y, 0, 1);
        if (matches_.back().agreement >= kSure) return matches_.back();
      }
  }
  // Objects that cover much, or a turn, hide the peak of the background.
  for (const Motion& motion : block_motions(from.image, to.image, width_, height_, least_texture(to)))
    compare(from, to, motion);
  return best_match();
}

Displacement DisplacementMeter::moved(const Displacement& from, const Match& match) const {
  return {from.x + match.x * unit_x_, from.y + match.y * unit_y_, from.shot};
}

Displacement DisplacementMeter::next(const Frame& frame) {
  reduce(frame, now_.image);
  transform(now_);
  if (now_.variance < kLeastContrast) return last_ ? last_->at : Displacement{};
  if (!reference_) {
    now_.at = {};
    reference_ = last_ = now_;
    return now_.at;
  }
  Match found = match(*reference_, now_);
  bool is_new = found.agreement >= kTrusted && std::hypot(found.x * unit_x_, found.y * unit_y_) > kReach;
  now_.at = moved(reference_->at, found);
  if (found.agreement < kTrusted) {
    found = match(*last_, now_);
    now_.at = last_->at;
    if (found.blocks > 0) {
      is_new = true;
      if (found.agreement < kDoubtful && found.likeness < kUnlike)
        now_.at = {0, 0, last_->at.shot + 1};
      else
        now_.at = moved(last_->at, found);
    }
  }
  if (is_new) reference_ = now_;
  std::swap(*last_, now_);
  return last_->at;
}

}  // namespace framequality
