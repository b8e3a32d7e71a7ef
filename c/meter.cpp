// SPDX-License-Identifier: LGPL-2.1-or-later
// Sharpness: a session for the latest geometry, and plans for the latest options.
#include "algorithms/sharpness/meter.h"

#include "algorithms/sharpness/mask.h"
#include "algorithms/sharpness/score.h"
#include "c/internal.h"
#include "cpu/workers.h"

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

using namespace framequality;
using namespace framequality::sharpness;
using namespace framequality::c;

struct fq_mask {
  std::vector<std::uint8_t> values;
  int width, height;
  std::uint64_t serial;  ///< no other mask of this process has it
};

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

fq_options default_options() {
  fq_options o{};
  o.size = sizeof o;
  o.metric = kDefaultMetric;
  o.downscale = o.zone_columns = o.zone_rows = 1;
  return o;
}

void require_flag(const char* member, int value) { require_range(member, value, 0, 1); }

/// Options that have been checked.
fq_options checked(const fq_options* given) {
  const fq_options o = known(given, default_options(), "options");
  require_range("options->metric", o.metric, 0, kMetricCount - 1);
  require_range("options->prefilter", o.prefilter, FQ_PREFILTER_NONE, FQ_PREFILTER_BINOMIAL5);
  if (o.downscale != 0 && o.downscale != 1 && o.downscale != 2 && o.downscale != 4)
    refuse("options->downscale is " + std::to_string(o.downscale) + ": it must be 0, 1, 2 or 4");
  require_flag("options->normalize", o.normalize);
  require_flag("options->statistics", o.statistics);
  require_flag("options->noise_correction", o.noise_correction);
  require_flag("options->limited", o.limited);
  require_flag("options->interlaced", o.interlaced);
  require_flag("options->has_roi", o.has_roi);
  require_range("options->zone_columns", o.zone_columns, 1, 64);
  require_range("options->zone_rows", o.zone_rows, 1, 64);
  require_range("options->reserved", o.reserved, 0, 0);
  if (o.mask) {
    require(!o.has_roi && o.zone_columns == 1 && o.zone_rows == 1 && o.downscale != 0 && !o.interlaced,
            "options->mask cannot be combined with roi, zones, interlaced or downscale 0: use downscale 1, 2 or 4");
  }
  return o;
}

Request request_of(const fq_options& o) {
  Request r;
  r.metric = o.metric;
  r.prefilter = static_cast<Prefilter>(o.prefilter);
  r.downscale = o.downscale;
  r.mean = o.normalize;
  r.zone_columns = o.zone_columns;
  r.zone_rows = o.zone_rows;
  r.statistics = o.statistics;
  r.noise_correction = o.noise_correction;
  r.limited = o.limited;
  r.interlaced = o.interlaced;
  if (o.has_roi) r.roi = Rect{o.roi.x, o.roi.y, o.roi.width, o.roi.height};
  if (o.mask) {
    r.mask = rectangles_of(o.mask->values.data(), o.mask->width, o.mask->width, o.mask->height, o.downscale);
    r.roi = bounds_of(r.mask);
  }
  return r;
}

bool is_same(const fq_options& a, const fq_options& b) {
  return a.metric == b.metric && a.prefilter == b.prefilter && a.downscale == b.downscale &&
         a.normalize == b.normalize && a.statistics == b.statistics && a.noise_correction == b.noise_correction &&
         a.limited == b.limited && a.interlaced == b.interlaced && a.zone_columns == b.zone_columns &&
         a.zone_rows == b.zone_rows && a.has_roi == b.has_roi &&
         (!a.has_roi ||
          (a.roi.x == b.roi.x && a.roi.y == b.roi.y && a.roi.width == b.roi.width && a.roi.height == b.roi.height));
}

/// The plans of the latest options, for one geometry: making one costs as much as measuring a small image.
class Plans {
 public:
  void clear() { plans_ = {}; }
  std::shared_ptr<const Plan> find(const Image& image, const fq_options& o) {
    const std::uint64_t serial = o.mask ? o.mask->serial : 0;
    for (const Entry& e : plans_)
      if (e.plan && e.mask == serial && is_same(e.options, o)) return e.plan;
    if (o.mask) {
      require(image.geometry().layout.kind != PixelLayout::Kind::kBayer,
              "a mosaic cannot be masked: demosaic it first");
      if (o.mask->width != image.width() || o.mask->height != image.height())
        refuse("the mask is " + std::to_string(o.mask->width) + "x" + std::to_string(o.mask->height) +
               " pixels but the image is " + std::to_string(image.width()) + "x" + std::to_string(image.height()) +
               ": they must have the same size");
    }
    auto plan = std::make_shared<const Plan>(make_plan(image.geometry(), request_of(o)));
    if (!plan->refusal.empty()) refuse(plan->refusal);
    Entry& entry = plans_[next_++ % plans_.size()];
    entry = {o, serial, plan};
    return plan;
  }

 private:
  struct Entry {
    fq_options options;
    std::uint64_t mask;
    std::shared_ptr<const Plan> plan;
  };
  std::array<Entry, 4> plans_{};
  std::size_t next_ = 0;
};

/// Exposure of the masked pixels: a plan's statistics are those of the mask's bounding box.
void expose_masked(const Plan& plan, const Frame& frame, fq_result& result) {
  const PixelLayout& layout = plan.geometry.layout;
  const ClipCodes clip = clip_codes(layout.depth, plan.request.limited);
  std::uint64_t sum = 0, black = 0, white = 0, count = 0;
  for (const Rect& r : plan.request.mask)
    for (std::int64_t y = r.y; y < r.y + r.height; ++y) {
      const std::uint8_t* rows[3] = {};
      for (int p = 0; p < layout.planes(); ++p) rows[p] = frame.plane[p] + frame.stride[p] * y;
      for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
        const auto code = static_cast<int>(luma_code(layout, rows[0], rows[1], rows[2], static_cast<int>(x)));
        sum += static_cast<unsigned>(code);
        black += code <= clip.black;
        white += code >= clip.white;
        ++count;
      }
    }
  const auto n = static_cast<double>(std::max<std::uint64_t>(count, 1));
  result.mean = std::ldexp(static_cast<double>(sum) / n, 8 - layout.depth);
  result.clipped_black = static_cast<double>(black) / n;
  result.clipped_white = static_cast<double>(white) / n;
}

fq_result result_of(const Plan& plan, const Scores& s, const Frame& frame) {
  const Request& request = plan.request;
  fq_result r{};
  r.score = s.score;
  r.noise = request.measures_statistics() ? s.statistics.noise : kNone;
  r.mean = r.clipped_black = r.clipped_white = kNone;
  if (request.measures_statistics()) {
    if (request.mask.empty()) {
      r.mean = s.statistics.mean;
      r.clipped_black = s.statistics.clipped_black;
      r.clipped_white = s.statistics.clipped_white;
    } else if (frame.memory == Memory::kHost) {
      expose_masked(plan, frame, r);
    }
  }
  r.gradient_energy = s.gradient_energy.value_or(kNone);
  r.gradient_noise = s.gradient_energy ? s.gradient_noise : kNone;
  r.blur = s.blur ? static_cast<int>(s.blur->kind) : FQ_BLUR_UNKNOWN;
  const bool has_direction = s.blur && s.blur->kind != BlurKind::kFlat;
  r.anisotropy = has_direction ? s.blur->anisotropy : kNone;
  r.blur_angle = has_direction ? s.blur->angle : kNone;
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.zones()); ++i) r.pixels += plan.pixels[i];
  r.light_power = request.mean ? 0 : metric_info(request.metric).power;
  return r;
}
static_assert(static_cast<int>(BlurKind::kFlat) == FQ_BLUR_FLAT &&
              static_cast<int>(BlurKind::kMotion) == FQ_BLUR_MOTION);

/// A caller's array, whose structs may be longer or shorter than this library's. They all have the first one's size.
template <class T>
class Array {
 public:
  explicit Array(T* first) : first_(reinterpret_cast<Byte*>(first)), step_(first->size) {}
  T* operator[](std::size_t i) const { return reinterpret_cast<T*>(first_ + i * step_); }

 private:
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  Byte* first_;
  std::size_t step_;
};

}  // namespace

struct fq_meter {
  fq_meter(const char* device, int in_flight)
      : runner(
            device, [](const Backend& b) { return b.sharpness != nullptr; }, true),
        depth(in_flight) {}

  void submit(const fq_image* given, const fq_options& options) {
    const Image image(given);
    if (pending.size() == static_cast<std::size_t>(depth))
      throw StateError(std::to_string(depth) + " images are pending, as many as in_flight allows: collect one first");
    if (!pending.empty() && pending.back().frame.memory != image.frame().memory)
      throw StateError("collect all pending images before changing the memory of images");
    if (image.is_on_device() && runner.settle(image.frame().memory)) geometry.reset();
    runner.require_readable(image);
    if (!geometry || !(*geometry == image.geometry())) remake(image.geometry());
    const Task task{image.frame(), plans.find(image, options)};
    if (std::exchange(last_plan, task.plan) != task.plan) session->renew();
    runner.hold(image.is_on_device());
    session->submit(task);
    pending.push_back(task);
  }

  fq_result collect(double* zones, std::size_t zone_count) {
    if (pending.empty()) throw StateError("no image is pending: submit one first");
    // Read before the image is removed.
    const auto count = static_cast<std::size_t>(pending.front().plan->zones());
    if (zones && zone_count < count)
      refuse("there is room for " + std::to_string(zone_count) + " zones of " + std::to_string(count));
    const Task task = std::move(pending.front());
    pending.pop_front();
    const Scores scores = finish(*task.plan, session->collect(task));
    if (zones) std::ranges::copy(scores.zones, zones);
    return result_of(*task.plan, scores, task.frame);
  }

  void remake(const Geometry& wanted) {
    if (!pending.empty()) throw StateError("collect all pending images before changing the size or format of images");
    session.reset();
    plans.clear();
    geometry.reset();
    std::optional<Prospect> prospect = runner.prospect();
    session.emplace(
        runner, runner.place(), depth,
        [wanted](const Place& place, int in_flight) {
          return place.backend->sharpness(wanted, {place.id, in_flight, 1});
        },
        std::move(prospect));
    geometry = wanted;
  }

  Runner runner;
  int depth;
  std::optional<Geometry> geometry;
  std::optional<Session<Task, std::span<const std::int64_t>>> session;
  Plans plans;
  std::shared_ptr<const Plan> last_plan;
  std::deque<Task> pending;
};

namespace {

/// Checked before any work whose result would be lost.
void require_result(const fq_result* result) {
  require(result != nullptr, "result is NULL");
  require_size(result->size, "result");
}

}  // namespace

extern "C" {

int fq_metric_count(void) { return kMetricCount; }
static const MetricInfo* info_of(int metric) {
  return metric < 0 || metric >= kMetricCount ? nullptr : &metric_info(metric);
}
const char* fq_metric_name(int metric) { return info_of(metric) ? info_of(metric)->name : nullptr; }
const char* fq_metric_summary(int metric) { return info_of(metric) ? info_of(metric)->summary : nullptr; }
const char* fq_metric_formula(int metric) { return info_of(metric) ? info_of(metric)->formula : nullptr; }
int fq_find_metric(const char* name) {
  if (name)
    for (int m = 0; m < kMetricCount; ++m)
      if (std::strcmp(name, metric_info(m).name) == 0) return m;
  return -1;
}

int fq_mask_open(const uint8_t* values, ptrdiff_t stride, int width, int height, fq_mask** mask) {
  return guarded([&] {
    static std::atomic<std::uint64_t> last{0};
    require(values && mask, "values or mask is NULL");
    *mask = nullptr;
    require_range("width", width, 1, 1 << 20);
    require_range("height", height, 1, 1 << 20);
    auto made = std::make_unique<fq_mask>();
    made->width = width;
    made->height = height;
    made->serial = ++last;
    made->values.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y)
      made->values.insert(made->values.end(), values + y * stride, values + y * stride + width);
    *mask = made.release();
  });
}
void fq_mask_close(fq_mask* mask) { delete mask; }

int fq_options_init(fq_options* options) {
  return guarded([&] { give(options, default_options(), "options"); });
}

int fq_meter_open(const char* device, int in_flight, fq_meter** meter) {
  return guarded([&] {
    require(meter != nullptr, "meter is NULL");
    *meter = nullptr;
    require_range("in_flight", in_flight, 1, 16);
    *meter = new fq_meter(device, in_flight);
  });
}
void fq_meter_close(fq_meter* meter) {
  if (meter && meter->session) meter->session->drop();
  delete meter;
}
const char* fq_meter_device(const fq_meter* meter) { return meter ? meter->runner.name().c_str() : ""; }

int fq_meter_submit(fq_meter* meter, const fq_image* image, const fq_options* options) {
  return guarded([&] {
    require(meter != nullptr, "meter is NULL");
    meter->submit(image, checked(options));
  });
}
int fq_meter_collect(fq_meter* meter, fq_result* result, double* zones, size_t zone_count) {
  return guarded([&] {
    require(meter != nullptr, "meter is NULL");
    require_result(result);
    give(result, meter->collect(zones, zone_count), "result");
  });
}
int fq_meter_measure(fq_meter* meter, const fq_image* image, const fq_options* options, fq_result* result,
                     double* zones, size_t zone_count) {
  return guarded([&] {
    require(meter != nullptr, "meter is NULL");
    require_result(result);
    const fq_options how = checked(options);
    if (zones && zone_count < static_cast<std::size_t>(how.zone_columns) * static_cast<std::size_t>(how.zone_rows))
      refuse("zone_count is smaller than the number of zones that the options ask for");
    if (!meter->pending.empty()) throw StateError("images are pending: collect them first");
    meter->submit(image, how);
    give(result, meter->collect(zones, zone_count), "result");
  });
}

int fq_measure_many(const fq_image* images, size_t count, const fq_options* options, int threads, fq_result* results,
                    size_t* failed) {
  return guarded([&] {
    if (failed) *failed = count;
    require(count == 0 || (images && results), "images or results is NULL");
    require_range("threads", threads, 0, 1 << 12);
    const fq_options how = checked(options);
    if (count == 0) return;
    require_size(images->size, "images");
    require_size(results->size, "results");
    const Array all_images(images);
    const Array all_results(results);
    cpu::Workers workers(threads);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::size_t first = count;
    std::exception_ptr why;
    const int used = static_cast<int>(std::min(count, static_cast<std::size_t>(workers.count())));
    workers.run(used, [&](int) {
      std::optional<fq_meter> meter;
      for (std::size_t i; (i = next.fetch_add(1)) < count;) try {
          if (!meter) meter.emplace("cpu", 1);
          meter->submit(all_images[i], how);
          give(all_results[i], meter->collect(nullptr, 0), "result");
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (i < first) {
            first = i;
            why = std::current_exception();
          }
          all_results[i]->score = kNone;
        }
    });
    if (failed) *failed = first;
    if (why) std::rethrow_exception(why);
  });
}

}  // extern "C"
