// SPDX-License-Identifier: LGPL-2.1-or-later
// Scenes in front of a fixed camera: photographs that stand still, and clips that run to and fro.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

namespace framequality::bench {

inline constexpr int kViewWidth = 320, kViewHeight = 240;

/// A scene larger than what the camera sees of it, so that it can be turned elsewhere.
struct Scene {
  std::string name;
  bool is_clip = false;
  double rate = 1;              ///< frames/s
  std::vector<cv::Mat> frames;  ///< luma, 8 bits, of one size

  /// What the camera sees `seconds` after the start; 8 bits. x, y: where it points, -1...1 of how far it can be turned.
  cv::Mat view(double seconds, double x, double y) const;
  /// Distance between this view and that of the camera before any fault, pixels.
  cv::Point moved(double x, double y) const;
};

/// Photographs of a folder that are large enough, at most so many, evenly chosen. Throws std::runtime_error if none is.
std::vector<Scene> photograph_scenes(const std::string& folder, std::size_t most);
Scene clip_scene(const std::string& file);

}  // namespace framequality::bench
