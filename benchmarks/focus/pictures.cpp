// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources of images: folders of photographs and of focus sweeps, and clips, all cut to one size.
#include "benchmarks/focus/pictures.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#if FQ_HAVE_OPENCV
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#endif

namespace framequality::bench {

std::string short_name(const std::string& path) {
  const std::filesystem::path p = std::filesystem::path(path).lexically_normal();
  return (p.has_filename() ? p : p.parent_path()).stem().string();
}

bool can_read_pictures() { return FQ_HAVE_OPENCV; }

#if FQ_HAVE_OPENCV
namespace {

std::vector<std::string> pictures_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string end = entry.path().extension().string();
    std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return std::tolower(c); });
    if (end == ".jpg" || end == ".jpeg" || end == ".png") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Its middle; empty if it is smaller than that.
Pixels cut(cv::Mat luma) {
  const double larger = std::min(luma.cols / static_cast<double>(kWidth), luma.rows / static_cast<double>(kHeight));
  if (larger < 1) return {};
  if (larger > 2) cv::resize(luma, luma, {}, 2 / larger, 2 / larger, cv::INTER_AREA);
  const cv::Mat middle = luma(cv::Rect((luma.cols - kWidth) / 2, (luma.rows - kHeight) / 2, kWidth, kHeight)).clone();
  return {middle.datastart, middle.dataend};
}

Pixels read_picture(const std::string& file) {
  const cv::Mat luma = cv::imread(file, cv::IMREAD_GRAYSCALE);
  return luma.empty() ? Pixels{} : cut(luma);
}

}  // namespace

std::vector<std::pair<std::string, Pixels>> read_photographs(const std::string& folder, std::size_t most) {
  std::vector<std::pair<std::string, Pixels>> all, chosen;
  for (const std::string& file : pictures_in(folder))
    if (Pixels p = read_picture(file); !p.empty()) all.emplace_back(short_name(file), std::move(p));
  if (all.empty()) throw std::runtime_error("no picture can be read in " + folder);
  const std::size_t n = std::min(most, all.size());
  for (std::size_t i = 0; i < n; ++i) chosen.push_back(std::move(all[i * all.size() / n]));
  return chosen;
}

std::vector<Pixels> read_sweep(const std::string& folder) {
  std::vector<Pixels> pictures;
  for (const std::string& file : pictures_in(folder))
    if (Pixels p = read_picture(file); !p.empty()) pictures.push_back(std::move(p));
  if (pictures.size() < 3) throw std::runtime_error("no sweep of three pictures or more can be read in " + folder);
  return pictures;
}

std::vector<Pixels> read_clip(const std::string& file, std::size_t most) {
  std::vector<Pixels> frames;
  cv::VideoCapture video(file);
  cv::Mat frame, luma;
  while (frames.size() < most && video.read(frame)) {
    cv::cvtColor(frame, luma, cv::COLOR_BGR2GRAY);
    Pixels p = cut(luma);
    if (p.empty()) break;
    frames.push_back(std::move(p));
  }
  if (frames.empty())
    throw std::runtime_error("no frames of " + std::to_string(kWidth) + "x" + std::to_string(kHeight) +
                             " or more can be read from " + file);
  return frames;
}

#else

static constexpr const char* kNoOpenCv = "reading pictures needs OpenCV, which this build has not";

std::vector<std::pair<std::string, Pixels>> read_photographs(const std::string&, std::size_t) {
  throw std::runtime_error(kNoOpenCv);
}
std::vector<Pixels> read_sweep(const std::string&) { throw std::runtime_error(kNoOpenCv); }
std::vector<Pixels> read_clip(const std::string&, std::size_t) { throw std::runtime_error(kNoOpenCv); }

#endif

}  // namespace framequality::bench
