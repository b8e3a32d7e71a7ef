// SPDX-License-Identifier: LGPL-2.1-or-later
// How much this machine scans at once, and where.
#include "apps/scan/machine.h"

#include "apps/scan/gpus.h"
#include "host/cores.h"

#include <algorithm>

namespace framequality::apps::scan {

namespace {

// Decoders of the usual codecs use several cores for one file.
constexpr int kCoresPerFile = 2, kMostFiles = 16;

}  // namespace

Machine::Machine(const Options& options) : segments_(options.segments) {
  const std::vector<int> there = decoding_gpus();
  for (const int gpu : options.gpus) {
    if (std::find(there.begin(), there.end(), gpu) == there.end())
      throw UsageError("--gpus: GStreamer has no decoder for GPU " + std::to_string(gpu) +
                       (there.empty() ? "; it has none for any GPU" : ""));
    gpus_[gpu] = 0;
  }
  if (options.gpus.empty())
    for (const int gpu : there) gpus_[gpu] = 0;
  if (options.jobs) {
    places_ = *options.jobs;
  } else if (gpus_.empty()) {
    places_ = std::clamp(host::usable_cores() / kCoresPerFile, 1, kMostFiles);
  } else {
    // GPUs of one machine are alike, and asking each takes its time.
    places_ = streams_of(gpus_.begin()->first) * static_cast<int>(gpus_.size());
  }
  files_ = places_;
  if (segments_) places_ *= *segments_;
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
