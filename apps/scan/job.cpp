// SPDX-License-Identifier: LGPL-2.1-or-later
// All that is done with one file: its rows, its summary, its pictures, its part of the report.
#include "apps/scan/job.h"

#include "apps/common/pictures.h"
#include "apps/common/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr gint64 kFlushAfter = G_USEC_PER_SEC / 5;
constexpr std::size_t kFlushBytes = 1 << 16;
constexpr int kReportWindows = 24;
constexpr std::size_t kReportMoments = 6;
constexpr int kThumbnail = 480;  // pixels

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

/// Picks a file's pictures for folder and report while its frames come by.
class Job::Picks {
 public:
  Picks(const Options& options, const std::string& base, Windows windows, bool timed) : timed_(timed) {
    if (options.best > 0 && !options.export_dir.empty()) {
      windows.count = options.best;
      pickers_.emplace_back(windows, true, [this, base, &options](const Moment& at, GstSample* frame) {
        exports_.emplace_back(options.export_dir + '/' + file_name(base, at), png_of(frame));
      });
    }
    if (!options.report.empty()) {
      windows.count = kReportWindows;
      const auto keep = [](std::vector<Thumbnail>& in) {
        return [&in](const Moment& at, GstSample* frame) { in.push_back({at, jpeg_of(frame, kThumbnail)}); };
      };
      pickers_.emplace_back(windows, true, keep(best_));
      pickers_.emplace_back(windows, false, keep(worst_));
    }
  }
  ~Picks() = default;
  Picks(const Picks&) = delete;
  Picks& operator=(const Picks&) = delete;

  void offer(const Measured& frame, std::uint64_t position) {
    for (WindowPick& picker : pickers_) picker.offer(frame, position);
  }

  /// All frames have come by: the pictures get their names, the thumbnails go to `result`.
  void finish(Result& result) {
    for (WindowPick& picker : pickers_) picker.finish();
    for (DraftFile& file : exports_) file.publish();
    result.best = chosen(best_, true, result.length);
    result.worst = chosen(worst_, false, result.length);
  }

 private:
  std::string file_name(const std::string& base, const Moment& at) const {
    std::array<char, 64> place;
    std::snprintf(place.data(), place.size(), "_f%06" G_GUINT64_FORMAT "_", guint64{at.frame});
    std::string name = base + place.data();
    const std::uint64_t ms = (at.time + GST_MSECOND / 2) / GST_MSECOND;
    std::snprintf(place.data(), place.size(), "%" G_GUINT64_FORMAT ".%03us_", guint64{ms / 1000},
                  static_cast<unsigned>(ms % 1000));
    if (timed_) name += place.data();
    return name + rounded(at.score, 6) + ".png";
  }

  static std::vector<Thumbnail> chosen(const std::vector<Thumbnail>& all, bool highest, std::uint64_t length) {
    std::vector<Moment> moments;
    moments.reserve(all.size());
    for (const Thumbnail& t : all) moments.push_back(t.moment);
    std::vector<Thumbnail> some;
    for (const std::size_t i : pick_moments(moments, highest, kReportMoments, length / kReportWindows))
      some.push_back(all[i]);
    return some;
  }

  const bool timed_;
  std::vector<WindowPick> pickers_;
  std::vector<DraftFile> exports_;
  std::vector<Thumbnail> best_, worst_;
};

Job::Job(Input input, std::size_t index, const Options& options, const MeterOptions& meter, Outlet outlet)
    : input_(std::move(input)),
      index_(index),
      options_(options),
      meter_(meter),
      outlet_(std::move(outlet)),
      prefix_(outlet_.table.prefix(input_.name)),
      wants_pictures_(!options.export_dir.empty() || !options.report.empty()) {
  result_.name = input_.name;
}

Job::~Job() {
  scan_.reset();
  if (!text_.empty()) outlet_.output.add(index_, text_);
}

void Job::start() {
  begun_ = flushed_ = g_get_monotonic_time();
  start_scan([this](const Measured& frame) { take(frame); }, [this](const std::string& error) { first_ended(error); });
}

void Job::start_scan(const FileScan::OnFrame& on_frame, FileScan::OnEnd on_end) {
  // Exceptions must not reach GStreamer's threads.
  scan_ = std::make_unique<FileScan>(input_.name, meter_, [this, on_frame](const Measured& frame) {
    try {
      on_frame(frame);
    } catch (const std::exception& e) {
      outlet_.failed(e.what());
    }
  });
  scan_->start(std::move(on_end), outlet_.warned);
}

std::uint64_t Job::frames() const { return scan_ ? frames_before_ + scan_->frames() : frames_before_; }

double Job::done() const {
  if (!scan_) return 0;
  if (frames_before_ == 0) return scan_->done();
  return (1 + static_cast<double>(scan_->frames()) / static_cast<double>(frames_before_)) / 2;
}

void Job::take(const Measured& frame) {
  const Row& row = frame.row;
  std::vector<Moment>& moments = result_.moments;
  if (!row.time) result_.timed = false;
  const std::uint64_t time = row.time.value_or(moments.empty() ? 0 : moments.back().time);
  if (moments.empty() && wants_pictures_ && row.time && frame.video.duration) {
    assumed_ = *frame.video.duration - std::min(time, *frame.video.duration);
    picks_ = std::make_unique<Picks>(options_, input_.base, Windows{time, assumed_}, true);
  }
  if (picks_) picks_->offer(frame, time);
  moments.push_back({row.frame, time, row.score});
  end_ = time + (GST_BUFFER_DURATION_IS_VALID(frame.buffer) ? GST_BUFFER_DURATION(frame.buffer) : 0);
  if (!options_.report.empty() && !row.zones.empty()) result_.zones.add(row.zones);
  write_row(row);
}

void Job::write_row(const Row& row) {
  outlet_.table.append(text_, prefix_, row);
  const gint64 now = g_get_monotonic_time();
  if (text_.size() < kFlushBytes && now - flushed_ < kFlushAfter) return;
  outlet_.output.add(index_, text_);
  text_.clear();
  flushed_ = now;
}

void Job::first_ended(const std::string& error) {
  outlet_.output.add(index_, text_);
  text_.clear();
  outlet_.output.finish(index_);
  result_.error = error;
  result_.video = scan_->video();
  result_.decoded = scan_->frames();
  if (!result_.moments.empty()) result_.length = end_ - std::min(end_, result_.moments.front().time);
  if (!wants_pictures_ || result_.moments.empty() || windows_were_right(result_.length)) {
    finish();
    return;
  }
  // The container did not say how long the video is, or not the truth: now it is known.
  const Windows windows =
      result_.timed ? Windows{result_.moments.front().time, result_.length} : Windows{0, result_.decoded};
  frames_before_ = result_.decoded;
  scan_.reset();
  picks_ = std::make_unique<Picks>(options_, input_.base, windows, result_.timed);
  const bool timed = result_.timed;
  start_scan([this, timed](
                 const Measured& frame) { picks_->offer(frame, timed ? frame.row.time.value_or(0) : frame.row.frame); },
             [this](const std::string&) { finish(); });
}

bool Job::windows_were_right(std::uint64_t length) const {
  if (!picks_ || !result_.timed) return false;
  const std::uint64_t frame = length / result_.moments.size();
  return distance(length, assumed_) <= std::max(length / 100, 2 * frame);
}

void Job::finish() {
  result_.seconds = static_cast<double>(g_get_monotonic_time() - begun_) / G_USEC_PER_SEC;
  try {
    if (picks_) picks_->finish(result_);
  } catch (const std::exception& e) {
    outlet_.failed(e.what());
  }
  outlet_.ended();
}

}  // namespace framequality::apps::scan
