// SPDX-License-Identifier: LGPL-2.1-or-later
// A fixed camera that can go bad, its meter and its watch.
#include "benchmarks/watch/camera.h"

#include "algorithms/sharpness/metrics.h"
#include "algorithms/sharpness/score.h"
#include "cpu/sharpness/meter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace framequality::bench {

using namespace sharpness;

namespace {

constexpr std::size_t kNoise = std::size_t{1} << 20;

/// Gaussian numbers, more than a frame has pixels: frames begin anywhere in them.
const std::vector<float>& gaussians() {
  static const std::vector<float> numbers = [] {
    std::vector<float> n(2 * kNoise);
    SplitMix random(2026);
    for (std::size_t i = 0; i < n.size(); i += 2) {
      const double r = std::sqrt(-2 * std::log(1 - random.uniform())), a = 2 * std::numbers::pi * random.uniform();
      n[i] = static_cast<float>(r * std::cos(a));
      n[i + 1] = static_cast<float>(r * std::sin(a));
    }
    return n;
  }();
  return numbers;
}

/// A disk's share of each pixel, its edge one pixel wide.
cv::Mat disk_of(double radius) {
  const int n = static_cast<int>(std::ceil(radius));
  cv::Mat disk(2 * n + 1, 2 * n + 1, CV_32F);
  for (int y = -n; y <= n; ++y)
    for (int x = -n; x <= n; ++x)
      disk.at<float>(y + n, x + n) = static_cast<float>(std::clamp(radius + 0.5 - std::hypot(x, y), 0.0, 1.0));
  return disk / cv::sum(disk)[0];
}

int metric_index(const char* name) {
  for (int i = 0; i < kMetricCount; ++i)
    if (std::strcmp(metric_info(i).name, name) == 0) return i;
  throw std::invalid_argument(name);
}

/// Draws a vehicle whose scene has moved by `by`: its body with a lighter roof, a row of windows, and wheels.
void draw(cv::Mat& on, const Vehicle& v, cv::Point by) {
  const cv::Rect whole(0, 0, on.cols, on.rows);
  const auto box = [&](double left, double top, double right, double bottom) {
    const auto x = [&](double share) { return static_cast<int>((v.left + share * (v.right - v.left)) * on.cols); };
    const auto y = [&](double share) { return static_cast<int>((v.top + share * (v.bottom - v.top)) * on.rows); };
    return cv::Rect(cv::Point(x(left), y(top)) - by, cv::Point(x(right), y(bottom)) - by) & whole;
  };
  const auto fill = [&](const cv::Rect& r, double luma) {
    if (!r.empty()) on(r).setTo(std::clamp(luma, 0.0, 255.0));
  };
  fill(box(0, 0, 1, 0.9), v.luma);
  fill(box(0, 0, 1, 0.08), v.luma * 1.25 + 8);
  const int windows = 2 + v.pattern % 4;
  for (int i = 0; i < windows; ++i)
    fill(box((i + 0.15) / windows, 0.15, (i + 0.85) / windows, 0.4), v.pattern & 16 ? 30 : v.luma * 0.4 + 60);
  if (v.pattern & 32) fill(box(0.1, 0.55, 0.9, 0.6), 255 - v.luma);
  fill(box(0.12, 0.75, 0.3, 1), 20);
  fill(box(0.7, 0.75, 0.88, 1), 20);
}

}  // namespace

WatchedCamera::WatchedCamera(const Scene& scene, std::uint64_t seed, const CameraWatchSettings& settings,
                             int zone_columns, int zone_rows)
    : scene_(scene), random_(seed), settings_(settings), frame_(kViewHeight, kViewWidth, CV_8U) {
  const Geometry geometry{.width = kViewWidth, .height = kViewHeight, .layout = {}};
  Request request;
  request.metric = metric_index("mean-square-frequency");
  request.prefilter = Prefilter::kBinomial5;
  request.noise_correction = request.statistics = true;
  request.zone_columns = zone_columns;
  request.zone_rows = zone_rows;
  measured_.grid = {zone_columns,
                    static_cast<double>(kViewWidth) / zone_columns / (static_cast<double>(kViewHeight) / zone_rows)};
  plan_ = std::make_shared<const Plan>(make_plan(geometry, request));
  meter_ = cpu::make_meter(geometry);
}

void WatchedCamera::expose(const cv::Mat& scene, const Condition& c) {
  cv::Mat view = c.vehicles.empty() ? scene : scene.clone();
  for (const Vehicle& v : c.vehicles) draw(view, v, scene_.moved(c.turned_x, c.turned_y));
  cv::Mat seen = view;
  if (c.covered) {
    seen = cv::Mat(kViewHeight, kViewWidth, CV_8U);
    for (int x = 0; x < kViewWidth; ++x)
      seen.col(x) =
          cv::saturate_cast<std::uint8_t>(c.cover_luma * (1 + c.cover_slope * (x - kViewWidth / 2) / kViewWidth));
  } else if (c.blur > 0.5) {
    if (c.blur != blur_) disk_ = disk_of(blur_ = c.blur);
    cv::filter2D(view, blurred_, CV_8U, disk_, {-1, -1}, 0, cv::BORDER_REFLECT_101);
    seen = blurred_;
  }
  if (c.rolled != 0) {
    const cv::Point2f middle(kViewWidth / 2.0F, kViewHeight / 2.0F);
    cv::Mat turned;
    cv::warpAffine(seen, turned, cv::getRotationMatrix2D(middle, c.rolled, 1.02), seen.size(), cv::INTER_CUBIC,
                   cv::BORDER_REFLECT_101);
    seen = turned;
  }
  if (c.smeared != 0) {
    const int width = static_cast<int>(std::abs(c.smeared) * kViewWidth);
    const cv::Rect part(c.smeared > 0 ? 0 : kViewWidth - width, 0, width, kViewHeight);
    cv::Mat soft;
    cv::filter2D(seen, soft, CV_8U, disk_of(8), {-1, -1}, 0, cv::BORDER_REFLECT_101);
    seen = seen.clone();
    soft(part).copyTo(seen(part));
  }
  if (c.passer_width > 0) {
    const int middle = static_cast<int>((c.passer + 1) / 2 * kViewWidth),
              half = static_cast<int>(c.passer_width / 2 * kViewWidth);
    const int from = std::clamp(middle - half, 0, kViewWidth), to = std::clamp(middle + half, 0, kViewWidth);
    seen = seen.clone();
    // Coarse texture, as of a lorry's side.
    for (int y = kViewHeight / 6; y < kViewHeight; ++y)
      for (int x = from; x < to; ++x)
        seen.at<std::uint8_t>(y, x) = static_cast<std::uint8_t>(90 + (((x - middle) / 24 + y / 40) % 2 ? 50 : 0));
  }
  const float* noise = gaussians().data() + random_.next() % kNoise;
  const auto gain = static_cast<float>(c.gain), sigma = static_cast<float>(c.noise);
  for (int y = 0; y < kViewHeight; ++y) {
    const std::uint8_t* from = seen.ptr(y);
    std::uint8_t* to = frame_.ptr(y);
    for (int x = 0; x < kViewWidth; ++x)
      to[x] = static_cast<std::uint8_t>(
          std::clamp(static_cast<float>(from[x]) * gain + sigma * *noise++ + 0.5f, 0.0f, 255.0f));
  }
  if (c.jpeg > 0) {
    std::vector<std::uint8_t> bytes;
    cv::imencode(".jpg", frame_, bytes, {cv::IMWRITE_JPEG_QUALITY, c.jpeg});
    cv::imdecode(bytes, cv::IMREAD_GRAYSCALE, &frame_);
  }
}

std::optional<CameraNews> WatchedCamera::frame(double seconds, const Condition& c) {
  if (!c.frozen) expose(scene_.view(seconds, c.turned_x, c.turned_y), c);
  Frame frame;
  frame.plane[0] = frame_.data;
  frame.stride[0] = static_cast<std::ptrdiff_t>(frame_.step);
  meter_->submit({frame, plan_});
  const Scores scores = finish(*plan_, meter_->collect());
  zones_ = scores.zone_gradient_energies;
  measured_.time = static_cast<std::int64_t>(seconds * 1e9);
  measured_.score = scores.score;
  measured_.noise = scores.statistics.noise;
  measured_.mean = scores.statistics.mean;
  measured_.clipped_black = scores.statistics.clipped_black;
  measured_.clipped_white = scores.statistics.clipped_white;
  measured_.energy = scores.gradient_energy.value_or(kUnknown);
  measured_.energy_noise = scores.gradient_noise;
  measured_.zones = zones_;
  return watch_.frame(measured_, settings_);
}

}  // namespace framequality::bench
