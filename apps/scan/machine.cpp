// SPDX-License-Identifier: LGPL-2.1-or-later
// Number and placement of the scans that this machine runs at once.
#include "apps/scan/machine.h"

#include "apps/common/later.h"
#include "apps/common/threads.h"
#include "apps/scan/gpus.h"
#include "host/cores.h"

#include <algorithm>
#include <utility>

namespace framequality::apps::scan {

namespace {

// Decoders of the usual codecs use several cores for one file.
constexpr int kCoresPerFile = 2, kMostFiles = 16;
constexpr int kFirstStreams = 4;  // of a GPU, until its capacity is known

int places_of_processor() { return std::clamp(host::usable_cores() / kCoresPerFile, 1, kMostFiles); }

}  // namespace

Machine::Machine(const Options& options, std::function<void()> more)
    : more_(std::move(more)), chooses_(!options.jobs), segments_(options.segments) {
  const bool may_use_gpus = FQ_HAVE_CUDA && options.meter.device != "cpu";
  const std::vector<int> there = may_use_gpus || !options.gpus.empty() ? decoding_gpus() : std::vector<int>{};
  for (const int gpu : options.gpus) {
    if (std::find(there.begin(), there.end(), gpu) == there.end())
      throw UsageError("--gpus: GStreamer has no decoder for GPU " + std::to_string(gpu) +
                       (there.empty() ? ", nor for any other" : ""));
    gpus_[gpu] = 0;
  }
  if (options.gpus.empty())
    for (const int gpu : there) gpus_[gpu] = 0;
  if (options.jobs)
    set_places(*options.jobs);
  else
    set_places(gpus_.empty() ? places_of_processor() : kFirstStreams * static_cast<int>(gpus_.size()));
}

void Machine::saw_decoder(bool on_gpu) {
  if (!chooses_ || gpus_.empty() || asked_) return;
  if (!on_gpu) {  // images, perhaps, or formats that GPUs do not decode
    if (places_ >= places_of_processor()) return;
    set_places(places_of_processor());
    more_();
    return;
  }
  asked_ = true;
  const int count = static_cast<int>(gpus_.size());
  set_places(kFirstStreams * count);
  // GPUs of one machine are alike. The answer goes to the main loop, which no longer runs once this is gone.
  // Without a thread to ask in, the few places must do.
  (void)try_detached([this, count, gpu = gpus_.begin()->first] {
    const int streams = streams_of(gpu);
    call_later([this, places = streams * count] {
      set_places(places);
      more_();
    });
  });
}

void Machine::set_places(int places) {
  files_ = places;
  places_ = places * segments_.value_or(1);
  // One stream nearly fills an engine. More decoders than engines cost more than they gain, except at the end
  // of a file.
  spare_ = segments_ || gpus_.empty() ? places_ : std::max(1, places_ * 4 / 7);
}

int Machine::take_place() {
  ++taken_;
  if (gpus_.empty()) return -1;
  const auto least =
      std::min_element(gpus_.begin(), gpus_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  ++least->second;
  return least->first;
}

void Machine::free_place(int gpu) {
  --taken_;
  if (const auto found = gpus_.find(gpu); found != gpus_.end()) --found->second;
}

std::size_t Machine::scans_of_a_file(bool on_gpu) const {
  if (segments_) return static_cast<std::size_t>(*segments_);
  return on_gpu ? static_cast<std::size_t>(places_) : 1;
}

}  // namespace framequality::apps::scan
