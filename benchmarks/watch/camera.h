// SPDX-License-Identifier: LGPL-2.1-or-later
// A fixed camera that can go bad, its meter and its watch.
#pragma once

#include "algorithms/sharpness/meter.h"
#include "algorithms/split_mix.h"
#include "algorithms/watch/camera_watch.h"
#include "benchmarks/watch/scenes.h"

#include <memory>
#include <optional>
#include <vector>

namespace framequality::bench {

/// A vehicle on the road. Positions are shares of the view of the camera before any fault.
struct Vehicle {
  double left, right, top, bottom;
  double luma;
  int pattern;  ///< of its windows and edges, 0...63
};

/// What the camera does to the scene.
struct Condition {
  double gain = 1;   ///< of luma
  double noise = 2;  ///< its standard deviation, 8-bit codes
  double blur = 0;   ///< radius of the disk that a point becomes, pixels
  double turned_x = 0, turned_y = 0;
  double rolled = 0;     ///< degrees
  double smeared = 0;    ///< share of the view, from one side (negative: the other), that a disk of 8 pixels blurs
  bool covered = false;  ///< what is seen is a plain of this luma, brighter to one side
  double cover_luma = 0, cover_slope = 0;
  bool frozen = false;
  double passer = -2, passer_width = 0;  ///< something in front: its middle, -1...1 across the view, and its width
  std::vector<Vehicle> vehicles;         ///< the nearest last
  int jpeg = 0;                          ///< quality, 1...100; 0: not compressed
};

class WatchedCamera {
 public:
  WatchedCamera(const Scene& scene, std::uint64_t seed, const CameraWatchSettings& settings, int zone_columns,
                int zone_rows);

  /// Exposes, measures and watches one frame.
  std::optional<CameraNews> frame(double seconds, const Condition& condition);
  const CameraWatch& watch() const { return watch_; }
  const WatchedFrame& measured() const { return measured_; }

 private:
  void expose(const cv::Mat& scene, const Condition& condition);

  const Scene& scene_;
  SplitMix random_;
  CameraWatchSettings settings_;
  CameraWatch watch_;
  std::shared_ptr<const sharpness::Plan> plan_;
  std::unique_ptr<sharpness::Meter> meter_;
  cv::Mat frame_, blurred_;
  double blur_ = 0;
  cv::Mat disk_;
  std::vector<double> zones_;
  WatchedFrame measured_;
};

}  // namespace framequality::bench
