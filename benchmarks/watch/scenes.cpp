// SPDX-License-Identifier: LGPL-2.1-or-later
// Scenes in front of a fixed camera: photographs that stand still, and clips that run to and fro.
#include "benchmarks/watch/scenes.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <stdexcept>

namespace framequality::bench {

namespace {

constexpr double kLarger = 1.6;            ///< than the view, at least, each way
constexpr std::size_t kMostFrames = 2000;  ///< of a clip

/// So large that the view is 1/kLarger of it; empty if it is smaller than that.
cv::Mat fitted(const cv::Mat& gray) {
  const double scale =
      kLarger * std::max(static_cast<double>(kViewWidth) / gray.cols, static_cast<double>(kViewHeight) / gray.rows);
  if (scale > 1) return {};
  cv::Mat small;
  cv::resize(gray, small, {}, scale, scale, cv::INTER_AREA);
  return small;
}

int begin_of(int whole, int part, double turned) {
  return static_cast<int>(std::lround((whole - part) * (turned + 1) / 2));
}

}  // namespace

cv::Mat Scene::view(double seconds, double x, double y) const {
  const auto count = static_cast<std::int64_t>(frames.size());
  std::int64_t i = count > 1 ? static_cast<std::int64_t>(std::floor(seconds * rate)) % (2 * count - 2) : 0;
  if (i >= count) i = 2 * count - 2 - i;
  const cv::Mat& frame = frames[static_cast<std::size_t>(i)];
  return frame({begin_of(frame.cols, kViewWidth, x), begin_of(frame.rows, kViewHeight, y), kViewWidth, kViewHeight});
}

cv::Point Scene::moved(double x, double y) const {
  const cv::Mat& frame = frames.front();
  return {begin_of(frame.cols, kViewWidth, x) - begin_of(frame.cols, kViewWidth, 0),
          begin_of(frame.rows, kViewHeight, y) - begin_of(frame.rows, kViewHeight, 0)};
}

std::vector<Scene> photograph_scenes(const std::string& folder, std::size_t most) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string end = entry.path().extension().string();
    if (end == ".jpg" || end == ".png") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Scene> all, chosen;
  for (const auto& file : files) {
    const cv::Mat gray = cv::imread(file.string(), cv::IMREAD_GRAYSCALE);
    if (gray.empty()) continue;
    if (cv::Mat fit = fitted(gray); !fit.empty()) all.push_back({file.stem().string(), false, 1, {fit}});
  }
  if (all.empty()) throw std::runtime_error("there is no photograph of 512x384 or more in " + folder);
  const std::size_t n = std::min(most, all.size());
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(all[i * all.size() / n]);
  return chosen;
}

Scene clip_scene(const std::string& file) {
  cv::VideoCapture clip(file);
  Scene scene{std::filesystem::path(file).stem().string(), true, clip.get(cv::CAP_PROP_FPS), {}};
  cv::Mat frame, gray;
  while (scene.frames.size() < kMostFrames && clip.read(frame)) {
    cv::cvtColor(frame, gray, cv::COLOR_BGR2GRAY);
    cv::Mat fit = fitted(gray);
    if (fit.empty()) break;
    scene.frames.push_back(fit);
  }
  if (scene.frames.size() < 2 || !(scene.rate > 0)) throw std::runtime_error("cannot read the clip " + file);
  return scene;
}

}  // namespace framequality::bench
