// SPDX-License-Identifier: LGPL-2.1-or-later
#include "algorithms/sharpness/score.h"

#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace framequality::sharpness {
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

/// True if nothing in the frame differs from white noise, whatever its distribution: the score's sum is
/// no larger than noise of the residual's power would make it; that power is at least the error of rounding.
/// It includes an image's finest detail as well, which a gradient responds to less than to coarser detail: in sharp
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

/// Score of one region. corrects: the share of noise is subtracted. nothing: the frame holds only noise, which scores 0
/// however dark the frame is.
double finish(const Plan& plan, const RegionTotals& r, const Statistics& statistics, bool corrects, bool nothing) {
  if (r.n == 0 || nothing) return 0;
  const double unit = sample_unit(plan);
  const int power = metric_info(plan.request.metric).power;
  double v = with_metric(plan.request.metric, [&](auto m) -> double {
    using M = decltype(m);
    if constexpr (kIsCorrected<M>) {
      if (corrects) {
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

/// Energies of the gradient in level^2 of one region, noise subtracted, and of that noise; 0 where next to
/// nothing but noise is left. Empty if the metric has none.
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

/// The totals of a plan's cells and of region 0.
class CellTotals {
 public:
  CellTotals(const Plan& plan, const std::int64_t* totals) : plan_(&plan), totals_(totals) {
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(plan.zones()); ++cell) {
      const RegionTotals r = (*this)[cell];
      pixels_ += r.n;
      inner_ += r.inner;
      for (int i = 0; i < plan.words; ++i) sum_[i] += r.totals[i];
    }
  }

  const Plan& plan() const { return *plan_; }
  RegionTotals whole() const { return {sum_, pixels_, inner_}; }
  RegionTotals operator[](std::size_t cell) const {
    return {totals_ + cell * static_cast<std::size_t>(plan_->words), plan_->pixels[cell], plan_->inner[cell]};
  }

 private:
  const Plan* plan_;
  const std::int64_t* totals_;
  std::uint64_t pixels_ = 0, inner_ = 0;
  std::int64_t sum_[kHistogramBins] = {};
};

/// True if region 0 holds only noise, for metrics that can tell.
bool is_nothing(const CellTotals& cells, const Statistics& statistics) {
  return with_metric(cells.plan().request.metric, [&](auto m) {
    using M = decltype(m);
    if constexpr (kIsCorrected<M>)
      return (cells.plan().request.mean || M::kCancelsLight) && is_noise<M>(cells.plan(), cells.whole(), statistics);
    return false;
  });
}

/// Scores of region 0, its zones and the other regions.
void score_all(const CellTotals& cells, const Statistics& statistics, bool corrects, Scores& s) {
  const Plan& plan = cells.plan();
  const bool nothing = corrects && is_nothing(cells, statistics);
  const auto zones = static_cast<std::size_t>(plan.zones());
  s.zones.reserve(zones);
  s.extra.reserve(plan.pixels.size() - zones);
  for (std::size_t cell = 0; cell < plan.pixels.size(); ++cell)
    (cell < zones ? s.zones : s.extra).push_back(finish(plan, cells[cell], statistics, corrects, nothing));
  s.score = finish(plan, cells.whole(), statistics, corrects, nothing);
}

/// Replaces scores by those of a coarser scale where these are lower. A scale without a pixel whose neighbours all
/// exist does not count; with correction neither does one that shows only noise, so that the first other scale replaces
/// it. Returns true if the score of region 0 was replaced.
bool take_least(const CellTotals& cells, const Statistics& statistics, bool corrects, Scores& s) {
  const Plan& plan = cells.plan();
  if (corrects && is_nothing(cells, statistics)) return false;
  const auto take = [&](const RegionTotals& r, double& least) {
    if (r.inner == 0) return false;
    const double score = finish(plan, r, statistics, corrects, false);
    // With correction, 0 means only noise.
    if (corrects && score == 0) return false;
    if (!(score < least) && !(corrects && least == 0)) return false;
    least = score;
    return true;
  };
  for (std::size_t cell = 0; cell < plan.pixels.size(); ++cell)
    take(cells[cell], cell < s.zones.size() ? s.zones[cell] : s.extra[cell - s.zones.size()]);
  return take(cells.whole(), s.score);
}

}  // namespace

Scores finish(const Plan& plan, std::span<const std::int64_t> totals) {
  Scores s;
  const bool corrects = plan.request.noise_correction, measures_noise = plan.request.measures_statistics();
  if (measures_noise)
    s.statistics = finish_statistics(plan.statistics, plan.geometry.layout.depth,
                                     totals.subspan(static_cast<std::size_t>(plan.cell_totals())));
  const Statistics* const known = measures_noise ? &s.statistics : nullptr;
  const bool tells_blur = plan.request.metric == kDirectionalMetric;
  if (tells_blur || plan.request.statistics) s.blur = Blur{};
  const CellTotals cells(plan, totals.data());
  score_all(cells, s.statistics, corrects, s);
  if (tells_blur) s.blur = blur(plan, cells.whole(), known);
  if (plan.request.statistics) {
    const bool has_gradient = with_metric(plan.request.metric, [](auto m) { return kHasGradient<decltype(m)>; });
    if (has_gradient) s.zone_gradient_energies.reserve(s.zones.size());
    for (std::size_t zone = 0; zone < s.zones.size(); ++zone)
      if (const auto energy = gradient_energy(plan, cells[zone], s.statistics))
        s.zone_gradient_energies.push_back(energy->energy);
    if (const auto energy = gradient_energy(plan, cells.whole(), s.statistics)) {
      s.gradient_energy = energy->energy;
      s.gradient_noise = energy->noise;
    }
  }
  for (std::size_t i = 0; i < plan.companions.size(); ++i) {
    const CellTotals other(*plan.companions[i].plan, totals.data() + plan.companions[i].at);
    const bool is_directions = i == 0 && plan.has_directions;
    if (is_directions || (take_least(other, s.statistics, corrects, s) && tells_blur))
      s.blur = blur(other.plan(), other.whole(), known);
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

}  // namespace framequality::sharpness
