// SPDX-License-Identifier: LGPL-2.1-or-later
// Brent's search: steps to the top of the parabola through the three best points, golden section steps where that does
// not converge.
// Source: R. P. Brent, Algorithms for Minimization without Derivatives (1973), chapter 5, in the variant that
// Micro-Manager runs: OughtaFocus (A. Edelstein, 2010; autofocus/.../oughtafocus/BrentFocuser.java, BSD licence) calls
// BrentOptimizer of Apache commons-math 3 (Apache licence 2.0), which begins in the middle of the interval, stops at a
// tolerance (here one step) or after 100 evaluations, and returns the best point it met. Written from these rules; no
// code was taken.
#include "benchmarks/focus/stop_and_go.h"

#include <cmath>
#include <numbers>

namespace framequality::bench {
namespace {

class Brent : public StopAndGo {
 public:
  explicit Brent(const LensRange& range) : StopAndGo(range), low_(range.min), high_(range.max) {}

 private:
  struct Point {
    double at = 0, score = 0;
  };
  static constexpr double kGolden = 2 - std::numbers::phi;
  static constexpr int kMostEvaluations = 100;

  double first() override { return probe_ = (low_ + high_) / 2; }

  std::optional<double> next(double position, double score) override {
    if (evaluations_ == 0 || score > found_.score) found_ = {position, score};
    const Point seen{probe_, score};
    if (evaluations_++ == 0)
      best_ = second_ = third_ = seen;
    else
      narrow(seen);
    if (evaluations_ == kMostEvaluations) return {};
    const double middle = (low_ + high_) / 2;
    if (std::abs(best_.at - middle) <= 2 * tolerance() - (high_ - low_) / 2) return {};
    const double step = propose(middle);
    probe_ = best_.at + (std::abs(step) < tolerance() ? std::copysign(tolerance(), step) : step);
    return probe_;
  }
  double best() const override { return found_.at; }

  double tolerance() const { return range_.step; }

  /// How far from the best point to look next.
  double propose(double middle) {
    if (std::abs(before_last_) > tolerance()) {
      // Top of the parabola through the three points: best_.at + p / q.
      const double r = (best_.at - second_.at) * (third_.score - best_.score);
      const double s = (best_.at - third_.at) * (second_.score - best_.score);
      double p = (best_.at - third_.at) * s - (best_.at - second_.at) * r;
      double q = 2 * (s - r);
      if (q > 0) p = -p;
      q = std::abs(q);
      const double limit = std::abs(q * before_last_ / 2);
      before_last_ = last_;
      if (p > q * (low_ - best_.at) && p < q * (high_ - best_.at) && std::abs(p) < limit) {
        last_ = p / q;
        const double to = best_.at + last_;
        if (to - low_ < 2 * tolerance() || high_ - to < 2 * tolerance())
          last_ = best_.at <= middle ? tolerance() : -tolerance();
        return last_;
      }
    }
    before_last_ = best_.at < middle ? high_ - best_.at : low_ - best_.at;
    return last_ = kGolden * before_last_;
  }

  /// The bracket and the three best points, with one more seen.
  void narrow(const Point& seen) {
    if (seen.score >= best_.score) {
      (seen.at < best_.at ? high_ : low_) = best_.at;
      third_ = second_;
      second_ = best_;
      best_ = seen;
      return;
    }
    (seen.at < best_.at ? low_ : high_) = seen.at;
    if (seen.score >= second_.score || second_.at == best_.at) {
      third_ = second_;
      second_ = seen;
    } else if (seen.score >= third_.score || third_.at == best_.at || third_.at == second_.at) {
      third_ = seen;
    }
  }

  double low_, high_, probe_ = 0;
  Point best_, second_, third_, found_;
  double last_ = 0, before_last_ = 0;  ///< the last two steps
  int evaluations_ = 0;
};

}  // namespace

std::unique_ptr<Autofocus> make_brent(const LensRange& range, const Settings& settings) {
  SettingsReader(settings).finish("brent");
  return std::make_unique<Brent>(range);
}

}  // namespace framequality::bench
