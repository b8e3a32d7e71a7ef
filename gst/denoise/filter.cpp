// SPDX-License-Identifier: LGPL-2.1-or-later
// The part that the denoising elements share: denoise::Filter as a PixelFilter.
#include "gst/denoise/filter.h"

#include "gst/base/backends.h"
#include "gst/base/flight.h"

#include <algorithm>
#include <utility>

namespace framequality {

namespace {

class Denoiser final : public PixelFilter {
 public:
  Denoiser(const FilterFormat& format, const Place& place, int depth, int threads,
           std::function<denoise::Settings()> settings)
      : geometry_(picture_geometry_of(format.in).value()),
        threads_(threads),
        settings_(std::move(settings)),
        flight_(place.cuda ? backends().make_cuda_denoiser(geometry_, place.id, depth)
                           : backends().make_cpu_denoiser(geometry_, threads),
                place.cuda, depth) {}

  void submit(const FilterTask& task) override {
    Pending& next = flight_.next();
    next.task = task;
    next.settings = settings_();
    flight_.submit();
  }

  void collect() override {
    flight_.collect();
    flight_.forget_oldest();
  }

  void move_to_cpu() override { flight_.move_to(backends().make_cpu_denoiser(geometry_, threads_)); }

  void drop() override { flight_.drop(); }

 private:
  /// A frame submitted and not collected.
  struct Pending {
    FilterTask task;
    denoise::Settings settings;
    void submit_to(denoise::Filter& filter) const {
      filter.submit(task.window(), task.center, task.out, settings, task.fields);
    }
  };

  PictureGeometry geometry_;
  int threads_;
  std::function<denoise::Settings()> settings_;
  Flight<denoise::Filter, Pending> flight_;
};

}  // namespace

std::unique_ptr<PixelFilter> make_denoiser(const FilterFormat& format, const Place& place, int depth, int threads,
                                           std::function<denoise::Settings()> settings) {
  return std::make_unique<Denoiser>(format, place, depth, threads, std::move(settings));
}

double range_of(double grey_levels) {
  constexpr double kLeast = 1e-6;  // one 16-bit code in the largest patch has no weight left
  const double h = std::max(grey_levels, kLeast);
  return h * h;
}

}  // namespace framequality
