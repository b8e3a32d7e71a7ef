// SPDX-License-Identifier: LGPL-2.1-or-later
#include "algorithms/sharpness/score.h"

#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace framequality {
namespace {

/// A region's totals and its numbers of pixels.
struct RegionTotals {
  const std::int64_t* totals;  ///< plan.words of them
  std::uint64_t n;             ///< pixels
  std::uint64_t inner;         ///< of these, the ones that add to the totals
};

/// Working-sample units per 8-bit grey level.
double sample_unit(const Plan& plan) { return std::ldexp(1.0, plan.samples.fraction + plan.samples.depth - 8); }

/// Computes how much white noise adds to each of M's totals per pixel. sigma: the noise's standard deviation in the
/// frame, in 8-bit grey levels; averaging k x k pixels divides it by k.
template <class M>
void noise_of(const Plan& plan, double sigma, double (&noise)[kTotalsOf<M>]) {
  const double s = sigma / plan.samples.downscale * sample_unit(plan);
  for (int i = 0; i < kTotalsOf<M>; ++i) noise[i] = kNoiseGains<M>.gain[plan.samples.radius][i] * s * s;
}

/// True if the metric has the energy of the gradient among its totals.
template <class M>
constexpr bool kHasGradient = requires {
  M::kGradientTotal;
};

/// True if nothing in the frame differs from white noise, whatever its distribution: the sum that the score is made of
/// is no larger than noise of the residual's power would make it, rounding to whole codes being the least there is.
/// That power sees a picture's finest detail as well, which a gradient sees less of than of coarser one: in sharp
/// photographs the sum is more than 4 times as large without prefilter, 6 times behind binomial5; of first differences
/// of neighbours twice, and 9 times behind binomial5.
/// Unlike Statistics::noise it holds where noise is clipped, as behind a lens cap: of black pixels with some bright
/// ones among them most blocks have no noise at all.
template <class M>
bool is_noise(const Plan& plan, const RegionTotals& r, const Statistics& statistics) {
  const double rounding = std::sqrt(1.0 / 12) * std::ldexp(1.0, 8 - plan.samples.depth);
  double noise[kTotalsOf<M>];
  noise_of<M>(plan, std::max(statistics.rms_noise, rounding), noise);
  // Working samples are rounded once more.
  const double again = plan.samples.shift > 0 ? 1.0 / 12 : 0;
  double sum = 0, noise_sum = 0;
  for (int i = kTotalsOf<M> - M::kNoiseTotals; i < kTotalsOf<M>; ++i) {
    sum += static_cast<double>(r.totals[i]);
    noise_sum += noise[i] + again * kNoiseGains<M>.gain[0][i];
  }
  return sum <= (1 + kLeastSignal) * static_cast<double>(r.inner) * noise_sum;
}

/// Score of one region. nothing: the frame holds only noise, which scores 0 however dark the frame is.
double finish(const Plan& plan, const RegionTotals& r, const Statistics& statistics, bool nothing) {
  if (r.n == 0 || nothing) return 0;
  const double unit = sample_unit(plan);
  const int power = metric_info(plan.request.metric).power;
  double v = with_metric(plan.request.metric, [&](auto m) -> double {
    using M = decltype(m);
    if constexpr (kIsCorrected<M>) {
      if (plan.request.noise_correction) {
        double noise[kTotalsOf<M>];
        noise_of<M>(plan, statistics.noise, noise);
        return M::corrected(r.totals, r.n, r.inner, noise);
      }
    }
    return M::score(r.totals, r.n);
  });
  for (int e = 0; e < power; ++e) v /= unit;
  if (!plan.request.mean || power == 0) return v;
  const int black = plan.request.limited ? clip_codes(8, true).black : 0;
  const double mean = mean_of(r.totals[plan.words - 1], r.n) / unit - black;
  if (!(mean > 0)) return 0;
  for (int e = 0; e < power; ++e) v /= mean;
  return v;
}

/// Energies of the gradient in code^2 of one region, noise taken off, and of that noise; 0 where next to
/// nothing but noise is left. Nothing if the metric has none.
struct GradientEnergy {
  double energy = 0, noise = 0;
};
std::optional<GradientEnergy> gradient_energy(const Plan& plan, const RegionTotals& r, const Statistics& statistics) {
  return with_metric(plan.request.metric, [&](auto m) -> std::optional<GradientEnergy> {
    using M = decltype(m);
    if constexpr (kHasGradient<M>) {
      if (r.n == 0) return GradientEnergy{};
      double noise[kTotalsOf<M>];
      noise_of<M>(plan, statistics.noise, noise);
      const double unit = sample_unit(plan), share = noise[M::kGradientTotal],
                   energy = mean_of(r.totals[M::kGradientTotal], r.n) - share;
      return GradientEnergy{energy > kLeastSignal * share ? energy / unit / unit : 0, share / unit / unit};
    }
    return std::nullopt;
  });
}

/// Kind of blur of a region measured with directional-frequency. statistics: null if noise is not known.
Blur blur(const Plan& plan, const RegionTotals& r, const Statistics* statistics) {
  using M = DirectionalFrequency;
  double noise[kTotalsOf<M>] = {};
  if (statistics) {
    if (is_noise<M>(plan, r, *statistics)) return {};
    noise_of<M>(plan, statistics->noise, noise);
  }
  return blur_of(M::ratios(r.totals, r.inner, noise), plan.samples.radius);
}

}  // namespace

Scores finish(const Plan& plan, std::span<const std::int64_t> totals) {
  const auto words = static_cast<std::size_t>(plan.words);
  Scores s;
  if (plan.request.measures_statistics())
    s.statistics = finish_statistics(plan.statistics, plan.geometry.layout.depth,
                                     totals.subspan(static_cast<std::size_t>(plan.cell_totals())));
  std::int64_t sum[kHistogramBins] = {};
  RegionTotals whole{sum, 0, 0};
  const auto zones = static_cast<std::size_t>(plan.zones());
  for (std::size_t cell = 0; cell < zones; ++cell) {
    whole.n += plan.pixels[cell];
    whole.inner += plan.inner[cell];
    for (std::size_t i = 0; i < words; ++i) sum[i] += totals[cell * words + i];
  }
  const bool nothing = plan.request.noise_correction && with_metric(plan.request.metric, [&](auto m) {
                         using M = decltype(m);
                         if constexpr (kIsCorrected<M>)
                           return (plan.request.mean || M::kCancelsLight) && is_noise<M>(plan, whole, s.statistics);
                         return false;
                       });
  for (std::size_t cell = 0; cell < plan.pixels.size(); ++cell) {
    const RegionTotals region{totals.data() + cell * words, plan.pixels[cell], plan.inner[cell]};
    (cell < zones ? s.zones : s.extra).push_back(finish(plan, region, s.statistics, nothing));
    if (plan.request.statistics && cell < zones)
      if (const auto energy = gradient_energy(plan, region, s.statistics))
        s.zone_gradient_energies.push_back(energy->energy);
  }
  s.score = finish(plan, whole, s.statistics, nothing);
  const Statistics* const known = plan.request.measures_statistics() ? &s.statistics : nullptr;
  if (plan.request.metric == kDirectionalMetric) {
    s.blur = blur(plan, whole, known);
  } else if (plan.directions) {
    const Plan& of = *plan.directions;
    s.blur = blur(of, {totals.data() + plan.directions_at(), of.pixels[0], of.inner[0]}, known);
  } else if (plan.request.statistics) {
    s.blur = Blur{};
  }
  if (plan.request.statistics)
    if (const auto energy = gradient_energy(plan, whole, s.statistics)) {
      s.gradient_energy = energy->energy;
      s.gradient_noise = energy->noise;
    }
  return s;
}

double sharpest_zones(std::span<const double> zones, int count) {
  std::vector<double> best(zones.begin(), zones.end());
  const auto n = std::min(best.size(), static_cast<std::size_t>(std::max(count, 1)));
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(n), best.end(), std::greater<>());
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += best[i];
  return n > 0 ? sum / static_cast<double>(n) : 0;
}

}  // namespace framequality
