// SPDX-License-Identifier: LGPL-2.1-or-later
// All work on one file: its rows, its summary, its images, its part of the report.
#include "apps/scan/job.h"

#include "apps/common/perceptual_hash.h"
#include "apps/scan/source.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr gint64 kFlushAfter = G_USEC_PER_SEC / 5;
constexpr std::size_t kFlushBytes = 1 << 16;
// Length of a scan's part of a file, ns. Shorter ones cost as much to find as to read, longer ones delay rows.
constexpr std::uint64_t kShortestPart = 8 * GST_SECOND, kLongestPart = 60 * GST_SECOND;
constexpr int kFutile = 3;  // cuts in a row without a further keyframe

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

}  // namespace

Job::Job(Input input, std::size_t index, const Options& options, const MeterOptions& meter, int gpu, Outlet outlet)
    : input_(std::move(input)),
      index_(index),
      options_(options),
      meter_(meter),
      gpu_(gpu),
      outlet_(std::move(outlet)),
      prefix_(outlet_.table.prefix(input_.name)),
      once_(input_.address == kStandardInput),
      wants_pictures_(options.exports_clips() || (!options.report.empty() && !once_)),
      needs_length_((options.best > 0 && !options.set) || (!options.report.empty() && !once_)),
      segments_([this](const Row& row) { tell(row); },
                [this](std::size_t segment) { later_.add([this, segment] { segment_done(segment); }); },
                [this](std::size_t segment, const std::string& error) {
                  later_.add([this, segment, error] { scans_ended(segment, error); });
                }) {
  result_.name = input_.name;
  if (options.follows_travel()) stretches_.emplace(options.every->travel, options.max_gap);
}

Job::~Job() {
  segments_.cancel();
  fetch_.reset();
  for (auto& running : scans_) FileScan::retire(std::move(running->scan));
  later_.drop();
  if (!text_.empty()) outlet_.output.add(index_, text_);
}

void Job::start() {
  begun_ = flushed_ = g_get_monotonic_time();
  run(gpu_, segments_.add(0)).scan->start();
}

Job::Running& Job::run(int gpu, std::size_t segment) {
  scans_.push_back(std::make_unique<Running>());
  Running& running = *scans_.back();
  running.gpu = gpu;
  running.segment = segment;
  FileScan::Calls calls;
  calls.frame = [this, &running](const Measured& frame) {
    // Exceptions must not reach GStreamer's threads.
    try {
      if (take(running, frame)) return true;
      later_.add([this, segment = running.segment.load()] { scan_stands(segment); });
      return false;
    } catch (const std::exception& e) {
      outlet_.failed(e.what());
      return false;
    }
  };
  calls.all_read = [this, &running](const std::string& shortfall) {
    segments_.end(running.segment, shortfall);
    later_.add([this, segment = running.segment.load()] { scan_stands(segment); });
  };
  calls.opened = [this, &running] { opened(running); };
  calls.warned = outlet_.warned;
  calls.failed = [this, &running](const std::string& why) { failed(running, why); };
  running.scan = std::make_unique<FileScan>(input_.address, meter_, gpu, options_.stall_timeout, std::move(calls));
  return running;
}

// --- Streaming threads ----------------------------------------------------------------------------------------------

bool Job::take(Running& running, const Measured& measured) {
  Row row = measured.row;
  if (stretches_ && row.travel) {
    row.place = stretches_->next(*row.travel, row.time);
    ways_.push_back({row.travel, row.place});
  }
  const Measured frame{row, measured.buffer, measured.caps, measured.video};
  if (options_.similar && row.frame == 0 && running.segment == 0) {
    const Owned<GstSample> sample(gst_sample_new(frame.buffer, frame.caps, nullptr, nullptr));
    result_.look = perceptual_hash(sample.get(), frame.video.orientation);
  }
  if (running.segment == 0 && wants_pictures_ && !is_cut_) {
    const std::uint64_t time = row.time.value_or(latest_);
    latest_ = time;
    if (!picks_ && row.frame == 0 && row.time && (frame.video.duration || !needs_length_)) {
      const std::uint64_t duration = frame.video.duration.value_or(time);
      assumed_ = duration - std::min(time, duration);
      make_picks({time, assumed_}, true);
    }
    if (picks_) picks_->offer(frame, time);
  }
  return segments_.take(running.segment, row);
}

void Job::tell(const Row& row) {
  std::vector<Moment>& moments = result_.moments;
  if (!row.time) result_.timed = false;
  const std::uint64_t time = row.time.value_or(moments.empty() ? 0 : moments.back().time);
  moments.push_back({row.frame, time, row.score, {}, 0, row.damaged});
  if (moments.size() <= ways_.size()) std::tie(moments.back().travel, moments.back().place) = ways_[moments.size() - 1];
  end_ = time + row.duration;
  if (!options_.report.empty() && !row.zones.empty()) result_.zones.add(row.zones);
  write_row(row);
  ++told_;
}

void Job::write_row(const Row& row) {
  outlet_.table.append(text_, prefix_, row);
  const gint64 now = g_get_monotonic_time();
  if (text_.size() < kFlushBytes && now - flushed_ < kFlushAfter) return;
  outlet_.output.add(index_, text_);
  text_.clear();
  flushed_ = now;
}

// --- Main thread ----------------------------------------------------------------------------------------------------

std::uint64_t Job::frames() const {
  if (scans_.empty()) return result_.decoded;
  return is_cut_ ? segments_.frames() : scans_[0]->scan->frames();
}

double Job::done() const {
  // Images fetched afterwards take a small part of the time.
  constexpr double kScanPart = 0.9;
  if (fetch_) return kScanPart + (1 - kScanPart) * fetch_->done();
  if (scans_.empty()) return 0;
  if (!is_cut_) return scans_[0]->scan->done();
  const double all = static_cast<double>(duration_) / GST_SECOND * rate_;
  return all > 0 ? std::min(1.0, static_cast<double>(segments_.frames()) / all) : 0;
}

void Job::opened(const Running& running) {
  if (running.segment != 0 || is_cut_) return;
  on_gpu_ = running.scan->is_on_gpu();
  outlet_.decoded(on_gpu_);
  duration_ = running.scan->duration();
  rate_ = running.scan->rate();
  // An interval's frames depend on where it begins.
  may_cut_ = running.scan->can_cut() && meter_.interval == 0 && !stretches_;
  if (may_cut_) outlet_.cuttable();
}

/// Where a further scan should begin, if worthwhile. Parts get shorter towards the end, so that all scans end
/// together.
std::optional<std::uint64_t> Job::next_bound() const {
  if (!may_cut_ || segments_.futile() >= kFutile || segments_.open() > 2 * scans_.size() + 2) return std::nullopt;
  const std::uint64_t begin = segments_.next_bound(0);
  if (begin >= duration_) return std::nullopt;
  const std::uint64_t part = std::clamp((duration_ - begin) / (2 * (scans_.size() + 1)), kShortestPart, kLongestPart);
  const std::uint64_t bound = segments_.next_bound(part);
  // The scan may have ended meanwhile, with the largest possible bound.
  if (bound >= duration_ || duration_ - bound < kShortestPart / 2) return std::nullopt;
  return bound;
}

bool Job::add_scan(int gpu) {
  const auto bound = next_bound();
  if (!bound) return false;
  is_cut_ = true;
  run(gpu, segments_.add(*bound)).scan->start(*bound);
  return true;
}

Job::Running* Job::scan_of(std::size_t segment) {
  const auto at = std::find_if(scans_.begin(), scans_.end(), [&](const auto& r) { return r->segment == segment; });
  return at == scans_.end() ? nullptr : at->get();
}

void Job::segment_done(std::size_t segment) {
  Running* running = scan_of(segment);
  if (!running) return;
  running->is_done = true;
  if (running->stands) use_again(*running);
}

void Job::scan_stands(std::size_t segment) {
  Running* running = scan_of(segment);
  if (!running) return;
  running->stands = true;
  if (running->is_done) use_again(*running);
}

/// Call this only once the scan stands still: until then its thread may report rows, which waits for a reader of the
/// output without limit, and its frames are of its previous segment.
void Job::use_again(Running& running) {
  const auto bound = running.is_broken ? std::nullopt : next_bound();
  if (!bound) {
    free_scan(running);
    return;
  }
  running.is_done = running.stands = false;
  running.segment = segments_.add(*bound);
  running.scan->seek(*bound);
}

void Job::failed(Running& running, const std::string& why) {
  running.is_broken = true;
  // Perhaps for lack of GPU memory; the running scans may have enough of it.
  if (is_cut_) may_cut_ = false;
  const std::size_t segment = running.segment;
  segments_.end(segment, why);
  scan_stands(segment);
}

void Job::free_scan(const Running& over) {
  const auto at = std::find_if(scans_.begin(), scans_.end(), [&](const auto& r) { return r.get() == &over; });
  const std::unique_ptr<Running> running = std::move(*at);
  scans_.erase(at);
  // This may be destroyed by then.
  FileScan::retire(std::move(running->scan), [freed = outlet_.freed, gpu = running->gpu] { freed(gpu); });
}

void Job::scans_ended(std::size_t segment, const std::string& error) {
  may_cut_ = false;
  outlet_.output.add(index_, text_);
  text_.clear();
  outlet_.output.finish(index_);
  result_.error = error;
  for (const auto& running : scans_) {
    if (running->segment != segment) continue;
    result_.video = running->scan->video();
    result_.decoded = is_cut_ ? result_.moments.size() : running->scan->frames();
  }
  if (!result_.moments.empty()) result_.length = end_ - std::min(end_, result_.moments.front().time);
  while (!scans_.empty()) free_scan(*scans_.front());
  if (!wants_pictures_ || result_.moments.empty() || (!is_cut_ && windows_were_right(result_.length))) {
    finish();
    return;
  }
  if (once_) {
    if (result_.error.empty())
      result_.error = "its frames have no times, and standard input cannot be read again for their images";
    finish();
    return;
  }
  fetch_pictures();
}

/// For frames that came out of order, or a missing or wrong duration in the container.
void Job::fetch_pictures() {
  const bool timed = result_.timed;
  const Windows clip = timed ? Windows{result_.moments.front().time, result_.length} : Windows{0, result_.decoded};
  make_picks(clip, timed);
  picks_->begin(result_.moments.front().frame, timed ? result_.moments.front().time : 0);
  Fetch::Calls calls;
  calls.frame = [this, timed](const Measured& frame) {
    Row row = frame.row;
    const auto moment = std::ranges::lower_bound(result_.moments, row.frame, {}, &Moment::frame);
    if (moment != result_.moments.end())
      std::tie(row.travel, row.place, row.damaged) = std::tie(moment->travel, moment->place, moment->damaged);
    picks_->offer({row, frame.buffer, frame.caps, frame.video}, timed ? row.time.value_or(0) : row.frame);
  };
  calls.warned = outlet_.warned;
  calls.ended = [this](const std::string& error) {
    if (result_.error.empty() && !error.empty()) result_.error = "its images are incomplete: " + error;
    finish();
  };
  fetch_ = std::make_unique<Fetch>(input_.address, meter_, gpu_, options_.stall_timeout,
                                   pictured_of_clip(options_, result_.moments, clip, timed), timed, std::move(calls));
  fetch_->start();
}

void Job::make_picks(const Windows& clip, bool timed) {
  picks_ = std::make_unique<Picks>(options_, input_, clip, timed, outlet_.picture_threads, outlet_.failed);
}

bool Job::windows_were_right(std::uint64_t length) const {
  if (!picks_ || !result_.timed) return false;
  if (!needs_length_) return true;
  const std::uint64_t frame = length / result_.moments.size();
  return distance(length, assumed_) <= std::max(length / 100, 2 * frame);
}

void Job::finish() {
  fetch_.reset();
  result_.seconds = static_cast<double>(g_get_monotonic_time() - begun_) / G_USEC_PER_SEC;
  try {
    if (picks_) result_.chosen = picks_->finish(result_.length);
  } catch (const std::exception& e) {
    outlet_.failed(e.what());
  }
  outlet_.ended();
}

}  // namespace framequality::apps::scan
