// SPDX-License-Identifier: LGPL-2.1-or-later
// Every position once, then the best: what any search has to beat in time, and a single score's noise in precision.
#include "benchmarks/focus/stop_and_go.h"

namespace framequality::bench {
namespace {

class Sweep : public StopAndGo {
 public:
  using StopAndGo::StopAndGo;

 private:
  double first() override { return range_.min; }
  std::optional<double> next(double position, double score) override {
    if (at_ == 0 || score > best_score_) best_ = position, best_score_ = score;
    if (at_ == range_.last()) return {};
    return range_.min + range_.step * ++at_;
  }
  double best() const override { return best_; }

  int at_ = 0;
  double best_ = 0, best_score_ = 0;
};

}  // namespace

std::unique_ptr<Autofocus> make_sweep(const LensRange& range, const Settings& settings) {
  SettingsReader(settings).finish("sweep");
  return std::make_unique<Sweep>(range);
}

}  // namespace framequality::bench
