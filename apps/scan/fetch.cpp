// SPDX-License-Identifier: LGPL-2.1-or-later
// A second reading of a scanned file, for the images of its frames.
#include "apps/scan/fetch.h"

#include "apps/common/pictures.h"
#include "apps/common/raster.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace framequality::apps::scan {

namespace {

// Each is one more decoder on a GPU, in addition to those of other files.
constexpr std::size_t kMostReaders = 4, kMostGpuReaders = 2;
// Decoding on costs less than seeking.
constexpr std::uint64_t kNear = 2 * GST_SECOND;
// More than the usual distance of keyframes (x264: 250 frames): decoders may output nothing of an open GOP at
// their beginning.
constexpr std::uint64_t kLead = 12 * GST_SECOND;
// Frames that wait for an earlier one.
constexpr std::size_t kMostKept = 12;
constexpr char kLost[] = "a chosen frame could not be found again";

}  // namespace

Fetch::Fetch(std::string name, const MeterOptions& meter, int gpu, int stall_timeout, std::vector<Moment> wanted,
             bool timed, Calls calls)
    : name_(std::move(name)),
      meter_(meter),
      gpu_(gpu),
      stall_timeout_(stall_timeout),
      wanted_(std::move(wanted)),
      calls_(std::move(calls)),
      seeks_(timed) {
  // Frames measured before may lie between those that a reader with an interval measures.
  meter_.interval = 0;
}

Fetch::~Fetch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  for (auto& reader : readers_) FileScan::retire(std::move(reader->scan));
  later_.drop();
}

void Fetch::start() {
  const std::size_t readers = seeks_ ? std::min(gpu_ >= 0 ? kMostGpuReaders : kMostReaders, wanted_.size()) : 1;
  // Create all before the first one runs.
  for (std::size_t i = 0; i < readers; ++i) add_reader();
  for (const auto& reader : readers_)
    reader->scan->start(seeks_ ? std::optional(place_for(reader->target)) : std::nullopt);
}

void Fetch::add_reader() {
  readers_.push_back(std::make_unique<Reader>());
  Reader& reader = *readers_.back();
  reader.target = next_++;
  FileScan::Calls calls;
  calls.frame = [this, &reader](const Measured& frame) {
    // Exceptions must not reach GStreamer's threads.
    try {
      return take(reader, frame);
    } catch (const std::exception& e) {
      fail(e.what());
      return false;
    }
  };
  calls.all_read = [this](const std::string&) { fail(kLost); };
  calls.opened = [] {};
  calls.warned = calls_.warned;
  calls.failed = [this](const std::string& why) { fail(why); };
  reader.scan = std::make_unique<FileScan>(name_, meter_, gpu_, stall_timeout_, std::move(calls));
}

/// The time to seek to for a frame.
std::uint64_t Fetch::place_for(std::size_t target) const {
  return wanted_[target].time - std::min(wanted_[target].time, lead_);
}

/// Seeks further back, then reads from the beginning. Frames already reported are not repeated.
void Fetch::start_again() {
  for (auto& reader : readers_) FileScan::retire(std::move(reader->scan));
  old_.insert(old_.end(), std::move_iterator(readers_.begin()), std::move_iterator(readers_.end()));
  readers_.clear();
  {
    const std::lock_guard lock(mutex_);
    kept_.clear();
    next_ = told_;
    is_over_ = false;
    seeks_ = lead_ == 0;
    lead_ = kLead;
  }
  start();
}

double Fetch::done() const { return static_cast<double>(told_) / static_cast<double>(wanted_.size()); }

bool Fetch::take(Reader& reader, const Measured& frame) {
  const Moment& moment = wanted_[reader.target];
  const std::uint64_t place = seeks_ ? frame.row.time.value_or(0) : frame.row.frame;
  const std::uint64_t wanted = seeks_ ? moment.time : moment.frame;
  if (place < wanted) return true;
  if (place > wanted || frame.row.score != moment.score) throw std::runtime_error(kLost);
  keep(reader.target, frame);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_over_ || next_ - told_ <= kMostKept; });
  if (is_over_ || next_ == wanted_.size()) return false;
  reader.target = next_++;
  if (!seeks_ || wanted_[reader.target].time - place <= kNear + lead_) return true;
  later_.add([&reader, from = place_for(reader.target)] {
    if (reader.scan) reader.scan->seek(from);
  });
  return false;
}

/// Keeps a frame, and reports all whose turn it is.
void Fetch::keep(std::size_t target, const Measured& frame) {
  const Owned<GstSample> sample(gst_sample_new(frame.buffer, frame.caps, nullptr, nullptr));
  Kept found{frame.row, copy_of(sample.get()), frame.video};
  found.row.frame = wanted_[target].frame;
  found.row.zones = {};
  const std::lock_guard lock(mutex_);
  kept_.emplace(target, std::move(found));
  for (auto first = kept_.begin(); !is_over_ && first != kept_.end() && first->first == told_; first = kept_.begin()) {
    const Kept& now = first->second;
    calls_.frame({now.row, gst_sample_get_buffer(now.sample.get()), gst_sample_get_caps(now.sample.get()), now.video});
    kept_.erase(first);
    ++told_;
  }
  changed_.notify_all();
  if (told_ == wanted_.size())
    later_.add([this] {
      const auto ended = calls_.ended;
      ended("");
    });
}

/// Ends with an error. Any thread.
void Fetch::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_over_, true)) return;
  changed_.notify_all();
  later_.add([this, why] {
    if (seeks_) {
      start_again();
      return;
    }
    const auto ended = calls_.ended;
    ended(why);
  });
}

}  // namespace framequality::apps::scan
