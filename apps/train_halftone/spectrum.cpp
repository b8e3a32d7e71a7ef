// SPDX-License-Identifier: LGPL-2.1-or-later
// Fourier transforms of 128 x 128 segments, two real ones in one complex.
#include "apps/train_halftone/spectrum.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace framequality::tools {
namespace {

constexpr int kN = kSegment, kLog = 7;
constexpr std::size_t kBins = std::size_t{kN} * kN;
static_assert(1 << kLog == kN);

std::size_t bin(int u, int v) { return static_cast<std::size_t>((v & (kN - 1)) * kN + (u & (kN - 1))); }

int reversed(int i) {
  int r = 0;
  for (int b = 0; b < kLog; ++b) r |= (i >> b & 1) << (kLog - 1 - b);
  return r;
}

/// Butterflies between two rows of kN values.
void butterflies(float* __restrict ar, float* __restrict ai, float* __restrict br, float* __restrict bi, float c,
                 float s) {
  for (int x = 0; x < kN; ++x) {
    const float tr = br[x] * c - bi[x] * s, ti = br[x] * s + bi[x] * c;
    br[x] = ar[x] - tr;
    bi[x] = ai[x] - ti;
    ar[x] += tr;
    ai[x] += ti;
  }
}

/// out[x][y] = in[y][x], in tiles that stay in the cache.
void transpose(const float* in, float* out) {
  for (int y0 = 0; y0 < kN; y0 += 8)
    for (int x0 = 0; x0 < kN; x0 += 8)
      for (int x = x0; x < x0 + 8; ++x)
        for (int y = y0; y < y0 + 8; ++y) out[x * kN + y] = in[y * kN + x];
}

}  // namespace

Analyser::Analyser() : window_(kN), cosine_(kN / 2), sine_(kN / 2), re_(kBins), im_(kBins), other_(kBins) {
  for (int i = 0; i < kN; ++i)
    window_[static_cast<std::size_t>(i)] = static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / kN));
  for (int i = 0; i < kN / 2; ++i) {
    cosine_[static_cast<std::size_t>(i)] = static_cast<float>(std::cos(2 * std::numbers::pi * i / kN));
    sine_[static_cast<std::size_t>(i)] = static_cast<float>(-std::sin(2 * std::numbers::pi * i / kN));
  }
}

void Analyser::transform() {
  for (int pass = 0; pass < 2; ++pass) {
    for (int y = 0; y < kN; ++y)
      if (const int r = reversed(y); r > y) {
        std::swap_ranges(&re_[bin(0, y)], &re_[bin(0, y)] + kN, &re_[bin(0, r)]);
        std::swap_ranges(&im_[bin(0, y)], &im_[bin(0, y)] + kN, &im_[bin(0, r)]);
      }
    for (int half = 1; half < kN; half *= 2)
      for (int begin = 0; begin < kN; begin += 2 * half)
        for (int i = 0; i < half; ++i) {
          const auto turn = static_cast<std::size_t>(i * (kN / 2 / half));
          const std::size_t a = bin(0, begin + i), b = bin(0, begin + i + half);
          butterflies(&re_[a], &im_[a], &re_[b], &im_[b], cosine_[turn], sine_[turn]);
        }
    transpose(re_.data(), other_.data());
    std::swap(re_, other_);
    transpose(im_.data(), other_.data());
    std::swap(im_, other_);
  }
}

void Analyser::add_pair(const Corner& first, const Corner& second, double a, Spectrum& sum) {
  const auto mean = static_cast<float>(a);
  const auto fill = [&](const Corner& c, std::vector<float>& out) {
    for (int y = 0; y < kN; ++y) {
      const float wy = window_[static_cast<std::size_t>(y)];
      const int row = (c.y + y) % c.dots->height;
      for (int x = 0; x < kN; ++x)
        out[bin(x, y)] = (static_cast<float>(c.dots->dot((c.x + x) % c.dots->width, row)) - mean) * wy *
                         window_[static_cast<std::size_t>(x)];
    }
  };
  fill(first, re_);
  fill(second, im_);
  transform();
  const auto scale = static_cast<float>(1 / (a * (1 - a)));
  for (int v = 0; v < kN; ++v)
    for (int u = 0; u < kN; ++u) {
      const std::size_t i = bin(u, v), j = bin(-u, -v);
      const float r1 = (re_[i] + re_[j]) / 2, i1 = (im_[i] - im_[j]) / 2;
      const float r2 = (im_[i] + im_[j]) / 2, i2 = (re_[j] - re_[i]) / 2;
      const float p1 = (r1 * r1 + i1 * i1) * scale, p2 = (r2 * r2 + i2 * i2) * scale;
      sum.power[i] += p1 + p2;
      sum.amplitude[i] += std::sqrt(p1) + std::sqrt(p2);
    }
}

namespace {
Spectrum empty() { return {std::vector<float>(kBins), std::vector<float>(kBins)}; }

void divide(Spectrum& s, int n) {
  for (float& v : s.amplitude) v /= static_cast<float>(n);
  for (float& v : s.power) v /= static_cast<float>(n);
}
}  // namespace

Spectrum Analyser::patch(const Dots& dots, double a) {
  Spectrum sum = empty();
  int n = 0;
  for (int y = kTopMargin; y + kSegment <= kTopMargin + kEvaluated; y += kHop)
    for (int x = kSideMargin; x + kSegment <= kSideMargin + kEvaluated; x += 2 * kHop, n += 2)
      add_pair({&dots, x, y}, {&dots, x + kHop, y}, a, sum);
  divide(sum, n);
  return sum;
}

Spectrum Analyser::reference(std::span<const Dots> patterns, double a) {
  Spectrum sum = empty();
  int n = 0;
  for (const Dots& dots : patterns)
    for (int y = 0; y < dots.height; y += kHop)
      for (int x = 0; x < dots.width; x += 2 * kHop, n += 2) add_pair({&dots, x, y}, {&dots, x + kHop, y}, a, sum);
  Spectrum even = empty();
  for (int v = 0; v < kN; ++v)
    for (int u = 0; u < kN; ++u)
      for (const auto& [p, q] : {std::pair{u, v}, {-u, v}, {v, u}, {-v, u}}) {
        even.amplitude[bin(u, v)] += sum.amplitude[bin(p, q)];
        even.power[bin(u, v)] += sum.power[bin(p, q)];
      }
  divide(even, 4 * n);
  return even;
}

double cost(const Spectrum& reference, const Spectrum& halftone) {
  double sum = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    const float g = reference.amplitude[i], h = halftone.amplitude[i];
    const float ratio = g + h > 0 ? (g - h) / (g + h) : 0;
    sum += static_cast<double>(ratio * ratio);
  }
  constexpr int kOmitted = 9;
  for (int v = -1; v <= 1; ++v)
    for (int u = -1; u <= 1; ++u) {
      const float g = reference.amplitude[bin(u, v)], h = halftone.amplitude[bin(u, v)];
      const float ratio = g + h > 0 ? (g - h) / (g + h) : 0;
      sum -= static_cast<double>(ratio * ratio);
    }
  return sum / static_cast<double>(kBins - kOmitted);
}

double anisotropy(const Spectrum& halftone) {
  constexpr int kRings = kN / 2 + 1;
  double sum[kRings] = {}, squares[kRings] = {};
  int count[kRings] = {};
  for (int v = -kN / 2; v < kN / 2; ++v)
    for (int u = -kN / 2; u < kN / 2; ++u) {
      const int r = static_cast<int>(std::lround(std::hypot(u, v)));
      if (r < 2 || r >= kRings) continue;
      const double p = halftone.power[bin(u, v)];
      sum[r] += p;
      squares[r] += p * p;
      ++count[r];
    }
  double total = 0;
  int rings = 0;
  for (int r = 2; r < kRings; ++r) {
    const double mean = sum[r] / count[r], variance = (squares[r] - sum[r] * mean) / (count[r] - 1);
    if (!(mean > 0)) continue;
    total += 10 * std::log10(std::max(variance / (mean * mean), 1e-12));
    ++rings;
  }
  return rings ? total / rings : 0;
}

}  // namespace framequality::tools
