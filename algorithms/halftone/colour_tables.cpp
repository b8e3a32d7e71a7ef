// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables for colour halftoning, made from a palette once, on the host, for all devices.
#include "algorithms/halftone/colour_tables.h"

#include "algorithms/halftone/oklab.h"
#include "algorithms/halftone/simplices.h"
#include "algorithms/halftone/tone.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace framequality::halftone {

namespace {

constexpr int kLightOne = 65535;

/// Light of an sRGB value 0...1 and beyond, rounded once: machines whose libraries differ must agree.
double light_of_code(double code) {
  const double light = std::floor(kLightOne * light_of(std::abs(code), Light::kSrgb) + 0.5) / kLightOne;
  return code < 0 ? -light : light;
}

/// Linear light of tones that may lie beyond 0...kFull.
Vector3 light_of_tones(const Vector3& tone, bool linear) {
  const Vector3 v = tone * (1.0 / kFull);
  return linear ? v : Vector3{light_of_code(v.x), light_of_code(v.y), light_of_code(v.z)};
}

std::vector<Vector3> tones_of(const ColourBasis& basis) {
  std::vector<Vector3> tones;
  for (const PaletteColour& c : basis.palette.colours())
    tones.push_back({static_cast<double>(palette_tone(c.red, basis.linear)),
                     static_cast<double>(palette_tone(c.green, basis.linear)),
                     static_cast<double>(palette_tone(c.blue, basis.linear))});
  return tones;
}

/// Light as the eye weighs it, of ITU-R BT.709.
double luminance_of(const Vector3& tone, bool linear) {
  return light_of_tones(tone, linear).dot({0.2126, 0.7152, 0.0722});
}

/// Space in which tones beyond the gamut move to its nearest point: lightness, and colour at half its weight.
Vector3 opponent_of(const Vector3& tone, bool linear) {
  const Vector3 weights = linear ? Vector3{0.2126, 0.7152, 0.0722} : Vector3{0.299, 0.587, 0.114};
  const Vector3 v = tone * (1.0 / kFull);
  const double luma = v.dot(weights);
  return {luma, 0.5 * (v.x - luma), 0.5 * (v.z - luma)};
}

/// Calls f(node, tone) for every node of the image's tones.
template <class F>
void for_each_node(F&& f) {
  for (int r = 0; r < kNodes; ++r)
    for (int g = 0; g < kNodes; ++g)
      for (int b = 0; b < kNodes; ++b) {
        const Vector3 tone{static_cast<double>(r * kNodeStep), static_cast<double>(g * kNodeStep),
                           static_cast<double>(b * kNodeStep)};
        f(static_cast<std::size_t>(b << 12 | g << 6 | r), tone);
      }
}

Mixture mixture_of(const Mixed& mixed, const std::vector<int>& rank) {
  const auto rank_at = [&](int i) { return rank[static_cast<std::size_t>(mixed.point[static_cast<std::size_t>(i)])]; };
  // The places of the colours in order of their ranks.
  std::array<int, 4> order{};
  for (int i = 0; i < mixed.count; ++i) {
    int before = 0;
    for (int k = 0; k < mixed.count; ++k) before += rank_at(k) < rank_at(i);
    order[static_cast<std::size_t>(before)] = i;
  }
  Mixture m = 0;
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const auto at = static_cast<std::size_t>(order[static_cast<std::size_t>(std::min(i, mixed.count - 1))]);
    m |= static_cast<Mixture>(mixed.point[at]) << 4 * i;
    if (i < mixed.count) sum += mixed.weight[at];
    if (i < 3)
      m |= static_cast<Mixture>(i < mixed.count - 1 ? std::floor(kWhite * sum + 0.5) : kWhite) << (16 * i + 16);
  }
  return m;
}

/// Places of the colours in order of their luminance.
std::vector<int> ranks_of(const std::vector<Vector3>& tones, bool linear) {
  std::vector<int> order(tones.size()), rank(tones.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return luminance_of(tones[static_cast<std::size_t>(a)], linear) <
           luminance_of(tones[static_cast<std::size_t>(b)], linear);
  });
  for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return rank;
}

Triple rounded(const Vector3& tone) {
  const auto whole = [](double v) {
    return static_cast<std::uint64_t>(std::clamp(std::floor(v + 0.5), 0.0, 1.0 * kFull));
  };
  return triple(whole(tone.x), whole(tone.y), whole(tone.z));
}

std::uint8_t nearest_of(const Vector3& seen, const std::vector<Vector3>& places) {
  std::size_t nearest = 0;
  double least = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Vector3 off = seen - places[i];
    const double distance = off.dot(off);
    if (i > 0 && distance >= least) continue;
    least = distance;
    nearest = i;
  }
  return static_cast<std::uint8_t>(nearest);
}

}  // namespace

int palette_tone(int code, bool linear) {
  const double v = code / 255.0;
  return static_cast<int>(std::floor(kFull * (linear ? light_of(v, Light::kSrgb) : v) + 0.5));
}

constexpr int kHalfNode = kNodeStep / 2;  // whole: the middle of a cell lies on a tone

ChoiceTables make_choice(const ColourBasis& basis) {
  const std::vector<Vector3> tones = tones_of(basis);
  std::vector<Vector3> places;
  places.reserve(tones.size());
  for (const Vector3& t : tones) places.push_back(oklab_of(light_of_tones(t, basis.linear)));
  ChoiceTables tables;
  for (std::size_t i = 0; i < tones.size(); ++i)
    tables.minuend[i] = triple(static_cast<Triple>(2 * kFull)) - rounded(tones[i]);
  tables.nearest.resize(kCellPlaces);
  std::array<double, kCells> light{};
  for (int i = 0; i < kCells; ++i) {
    const double middle = i * kNodeStep + kHalfNode - kErrorBias;
    light[static_cast<std::size_t>(i)] = light_of_tones({middle, 0, 0}, basis.linear).x;
  }
  for (std::size_t b = 0; b < kCells; ++b)
    for (std::size_t g = 0; g < kCells; ++g)
      for (std::size_t r = 0; r < kCells; ++r)
        tables.nearest[b << 2 * kCellBits | g << kCellBits | r] =
            nearest_of(oklab_of({light[r], light[g], light[b]}), places);
  return tables;
}

GamutTables make_gamut(const ColourBasis& basis) {
  const std::vector<Vector3> tones = tones_of(basis);
  std::vector<Vector3> places;
  places.reserve(tones.size());
  for (const Vector3& t : tones) places.push_back(opponent_of(t, basis.linear));
  const std::vector<int> rank = ranks_of(tones, basis.linear);
  const auto dark = static_cast<std::size_t>(std::min_element(rank.begin(), rank.end()) - rank.begin()),
             light = static_cast<std::size_t>(std::max_element(rank.begin(), rank.end()) - rank.begin());
  const Vector3 black = tones[dark], range = tones[light] - tones[dark];
  const Simplices simplices(places);
  GamutTables tables;
  tables.mapped.resize(kNodePlaces);
  tables.mixed.resize(kNodePlaces);
  for_each_node([&](std::size_t node, const Vector3& tone) {
    Vector3 wanted = tone;
    if (basis.relative) {
      const Vector3 share = tone * (1.0 / kFull);
      wanted = black + Vector3{share.x * range.x, share.y * range.y, share.z * range.z};
    }
    const Mixed mixed = simplices.nearest(opponent_of(wanted, basis.linear));
    Vector3 mean;
    for (std::size_t i = 0; i < static_cast<std::size_t>(mixed.count); ++i)
      mean = mean + tones[static_cast<std::size_t>(mixed.point[i])] * mixed.weight[i];
    tables.mapped[node] = rounded(mean);
    tables.mixed[node] = mixture_of(mixed, rank);
  });
  return tables;
}

}  // namespace framequality::halftone
