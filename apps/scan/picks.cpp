// SPDX-License-Identifier: LGPL-2.1-or-later
// The images of one file: chosen while its frames arrive, made in other threads.
#include "apps/scan/picks.h"

#include "apps/common/exif.h"
#include "apps/common/pictures.h"
#include "apps/common/raster.h"
#include "apps/common/text.h"
#include "apps/scan/source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <thread>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr unsigned kMostThreads = 4;
constexpr int kReportWindows = 24;
constexpr std::size_t kReportMoments = 6;
constexpr int kThumbnail = 480;  // pixels
constexpr int kThumbnailQuality = 85, kQuality = 95;
// Bytes of all photographs in a report, to bound its size; and of each.
constexpr std::size_t kReportBytes = 1'200'000, kFewestBytes = 3'000, kMostBytes = 60'000;
constexpr double kBitsPerPixel = 1.2;  // of a small photograph of quality 70

/// "1.600"
std::string short_seconds(std::uint64_t time) {
  const std::uint64_t ms = (time + GST_MSECOND / 2) / GST_MSECOND;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%" G_GUINT64_FORMAT ".%03u", guint64{ms / 1000},
                static_cast<unsigned>(ms % 1000));
  return text.data();
}

std::vector<Thumbnail> most_extreme(std::deque<Thumbnail>& all, bool highest, std::uint64_t length) {
  std::vector<Moment> moments;
  moments.reserve(all.size());
  for (const Thumbnail& t : all) moments.push_back(t.moment);
  std::vector<Thumbnail> some;
  for (const std::size_t i : pick_moments(moments, highest, kReportMoments, length / kReportWindows))
    some.push_back(std::move(all[i]));
  return some;
}

}  // namespace

std::unique_ptr<TaskPool> make_picture_threads() {
  const std::size_t threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  return std::make_unique<TaskPool>(threads, threads);
}

std::vector<std::size_t> chosen_of_clip(const Options& options, const std::vector<Moment>& moments, const Windows& clip,
                                        bool timed) {
  if (moments.empty()) return {};
  Windows windows = clip;
  windows.count = std::max(1, options.best);
  auto place = timed ? &Moment::time : &Moment::frame;
  if (options.follows_travel()) {
    windows = {0, kStretch, 1, true};
    place = &Moment::place;
  } else if (options.every && options.every->frames > 0) {
    windows = {moments.front().frame, options.every->frames, 1, true};
    place = &Moment::frame;
  } else if (options.every && timed) {
    windows = {moments.front().time, options.every->time, 1, true};
  }
  return choose_of_windows(moments, place, windows, windows.half(), true);
}

std::vector<Moment> pictured_of_clip(const Options& options, const std::vector<Moment>& moments, const Windows& clip,
                                     bool timed) {
  std::vector<std::size_t> all;
  const auto add = [&](const std::vector<std::size_t>& some) { all.insert(all.end(), some.begin(), some.end()); };
  if (options.exports_clips()) add(chosen_of_clip(options, moments, clip, timed));
  if (!options.report.empty()) {
    Windows windows = clip;
    windows.count = kReportWindows;
    for (const bool highest : {true, false})
      add(choose_of_windows(moments, timed ? &Moment::time : &Moment::frame, windows, 0, highest));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Moment> pictured;
  pictured.reserve(all.size());
  for (const std::size_t i : all) pictured.push_back(moments[i]);
  return pictured;
}

Picks::Picks(const Options& options, const Input& input, const Windows& clip, bool timed, TaskPool& pool,
             std::function<void(const std::string&)> failed)
    : options_(options), input_(input), timed_(timed), tasks_(pool, std::move(failed)) {
  Windows windows = clip;
  if (options.best > 0 && options.exports_clips()) {
    windows.count = options.best;
    pickers_.emplace_back(WindowChoice(windows, windows.half(), true),
                          [this](const Moment& at, GstSample* frame) { export_frame(at, frame); });
  }
  // The parts of standard input are not known in advance.
  if (!options.report.empty() && input.address != kStandardInput) {
    windows.count = kReportWindows;
    const auto keep = [this](std::deque<Thumbnail>& in) {
      return [this, &in](const Moment& at, GstSample* frame) { keep_thumbnail(in, at, frame); };
    };
    pickers_.emplace_back(WindowChoice(windows, 0, true), keep(best_));
    pickers_.emplace_back(WindowChoice(windows, 0, false), keep(worst_));
  }
}

void Picks::begin(std::uint64_t frame, std::uint64_t position) {
  if (every_ || !options_.every) return;
  const Every& every = *options_.every;
  const Windows windows = options_.follows_travel() ? Windows{0, kStretch, 1, true}
                                                    : Windows{every_place(frame, position),
                                                              every.frames > 0 ? every.frames : every.time, 1, true};
  every_.emplace(WindowChoice(windows, windows.half(), true),
                 [this](const Moment& at, GstSample* chosen) { export_frame(at, chosen); });
}

std::uint64_t Picks::every_place(std::uint64_t frame, std::uint64_t position) const {
  // Without times, a window in seconds never ends.
  return options_.every->frames > 0 ? frame : timed_ ? position : 0;
}

void Picks::offer(const Measured& frame, std::uint64_t position) {
  if (options_.every && options_.exports_clips()) {
    begin(frame.row.frame, position);
    every_->offer(frame, options_.follows_travel() ? frame.row.place : every_place(frame.row.frame, position));
  }
  ++offered_;
  for (WindowPick& picker : pickers_) picker.offer(frame, position);
  see(frame.video);
}

void Picks::add(const Moment& moment, GstSample* frame, const VideoFacts& video) {
  see(video);
  export_frame(moment, frame);
}

void Picks::see(const VideoFacts& video) {
  orientation_ = video.orientation;
  if (tags_ != video.tags) tags_ = video.tags;
}

void Picks::export_frame(const Moment& moment, GstSample* frame) {
  Owned<GstSample> copy = copy_of(frame);
  View view;
  view.orientation = orientation_;
  const auto [width, height] = raster_size(gst_sample_get_caps(copy.get()), view);
  Export& entry = exports_.emplace_back(Export{{moment, path(moment), width, height}, std::nullopt});
  auto make = [this, &entry, copy = std::move(copy), tags = tags_, view]() mutable {
    const Moment& at = entry.picture.moment;
    const std::string exif =
        exif_of(tags.get(), timed_ ? std::optional(at.time) : std::nullopt, description(entry.picture.moment));
    entry.draft.emplace(entry.picture.path, options_.pictures == PictureFormat::kJpeg
                                                ? jpeg_of(copy.get(), view, kQuality, exif)
                                                : png_of(copy.get(), view, exif));
  };
  tasks_.add(TaskPool::Task(std::move(make)));
}

/// A report of many photographs shows each in less detail: each gets its share of the page's bytes.
void Picks::keep_photograph(const Moment& moment, GstSample* frame) {
  const std::size_t bytes = std::clamp(kReportBytes / options_.inputs.size(), kFewestBytes, kMostBytes);
  const double pixels = static_cast<double>(bytes) * 8 / kBitsPerPixel;
  View view;
  view.orientation = orientation_;
  view.longest = std::min(kThumbnail, static_cast<int>(std::sqrt(pixels * 3 / 2)));
  Thumbnail& entry = best_.emplace_back(Thumbnail{moment, ""});
  auto make = [&entry, view, bytes, copy = copy_of(frame)] { entry.jpeg = jpeg_within(copy.get(), view, bytes); };
  tasks_.add(TaskPool::Task(std::move(make)));
}

void Picks::keep_thumbnail(std::deque<Thumbnail>& in, const Moment& moment, GstSample* frame) {
  if (offered_ == 1) {
    if (best_.empty()) keep_photograph(moment, frame);
    return;
  }
  Owned<GstSample> copy = copy_of(frame);
  Thumbnail& entry = in.emplace_back(Thumbnail{moment, ""});
  View view;
  view.orientation = orientation_;
  view.longest = kThumbnail;
  auto make = [&entry, view, copy = std::move(copy)] { entry.jpeg = jpeg_of(copy.get(), view, kThumbnailQuality); };
  tasks_.add(TaskPool::Task(std::move(make)));
}

std::string Picks::path(const Moment& at) const {
  std::array<char, 32> frame;
  std::snprintf(frame.data(), frame.size(), "_f%06" G_GUINT64_FORMAT "_", guint64{at.frame});
  return options_.export_dir + '/' + input_.base + frame.data() + (timed_ ? short_seconds(at.time) + "s_" : "") +
         rounded(at.score, 6) + (options_.pictures == PictureFormat::kJpeg ? ".jpg" : ".png");
}

std::string Picks::description(const Moment& at) const {
  const std::string name = input_.name.substr(input_.name.find_last_of('/') + 1);
  return printable(name) + ", frame " + std::to_string(at.frame) +
         (timed_ ? ", " + short_seconds(at.time) + " s" : "") + ", " + options_.meter.metric + ' ' +
         rounded(at.score, 6);
}

Chosen Picks::finish(std::uint64_t length) {
  if (every_) every_->finish();
  for (WindowPick& picker : pickers_) picker.finish();
  Chosen chosen;
  if (!tasks_.finish()) return chosen;
  for (Export& entry : exports_) {
    entry.draft->publish();
    chosen.pictures.push_back(std::move(entry.picture));
  }
  chosen.best = most_extreme(best_, true, length);
  chosen.worst = most_extreme(worst_, false, length);
  return chosen;
}

}  // namespace framequality::apps::scan
