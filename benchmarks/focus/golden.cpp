// SPDX-License-Identifier: LGPL-2.1-or-later
// Golden section search: two probes divide the bracket, the lower one becomes its end.
// Source: J. Kiefer, Sequential minimax search for a maximum, Proc. Amer. Math. Soc. 4 (1953); the golden ratio in
// place of Fibonacci numbers, as textbooks have it. It assumes one peak and no noise.
#include "benchmarks/focus/stop_and_go.h"

#include <numbers>

namespace framequality::bench {
namespace {

class Golden : public StopAndGo {
 public:
  explicit Golden(const LensRange& range) : StopAndGo(range), low_(range.min), high_(range.max) {}

 private:
  static constexpr double kShare = std::numbers::phi - 1;  ///< of the bracket that is left by each probe

  double lower() const { return high_ - kShare * (high_ - low_); }
  double upper() const { return low_ + kShare * (high_ - low_); }

  double first() override { return lower(); }

  std::optional<double> next(double position, double score) override {
    if (!seen_any_ || score > best_score_) best_ = position, best_score_ = score, seen_any_ = true;
    (is_lower_ ? lower_score_ : upper_score_) = score;
    if (has_both_ || !is_lower_) {
      has_both_ = true;
      if (high_ - low_ <= 2 * range_.step) return {};
      is_lower_ = lower_score_ > upper_score_;
      if (is_lower_) {
        high_ = upper();
        upper_score_ = lower_score_;
      } else {
        low_ = lower();
        lower_score_ = upper_score_;
      }
      return is_lower_ ? lower() : upper();
    }
    is_lower_ = false;
    return upper();
  }
  double best() const override { return best_; }

  double low_, high_;
  double lower_score_ = 0, upper_score_ = 0;
  bool is_lower_ = true, has_both_ = false;  ///< which of the two is being probed
  bool seen_any_ = false;
  double best_ = 0, best_score_ = 0;
};

}  // namespace

std::unique_ptr<Autofocus> make_golden(const LensRange& range, const Settings& settings) {
  SettingsReader(settings).finish("golden");
  return std::make_unique<Golden>(range);
}

}  // namespace framequality::bench
