// SPDX-License-Identifier: LGPL-2.1-or-later
// How much this machine scans at once, and where.
#pragma once

#include "apps/scan/options.h"

#include <functional>
#include <map>

namespace framequality::apps::scan {

/// Places for scans, each on a GPU or, with number -1, on the processor. Main thread only.
class Machine {
 public:
  /// Without --jobs: what fills the decode engines of the GPUs, or a part of the cores, since decoders use several. No
  /// GPU is used with --device cpu or in a build without CUDA, unless --gpus names it. `more`: called in the main
  /// thread when there are more places. Throws UsageError if a GPU of --gpus cannot decode.
  Machine(const Options& options, std::function<void()> more);
  ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// A file is being decoded, on a GPU or not. The first one on a GPU has the driver asked how many more it decodes,
  /// which takes its time: there are few places until then.
  void saw_decoder(bool on_gpu);

  bool has_place() const { return taken_ < places_; }
  /// One more scan of a long file would be faster: not all decode engines are busy, however many files may be begun.
  bool has_spare() const { return taken_ < spare_; }
  /// Where the next scan is to run: the GPU with the fewest. The place must be given back.
  int take_place();
  void free_place(int gpu);

  /// How many scans one long file may have.
  std::size_t scans_of_a_file(bool on_gpu) const;
  /// How many files may be begun at once.
  std::size_t files() const { return static_cast<std::size_t>(files_); }
  const std::map<int, int>& gpus() const { return gpus_; }

 private:
  void set_places(int places);

  const std::function<void()> more_;
  const bool chooses_;       ///< the number of places is not --jobs
  bool asked_ = false;       ///< the driver is, or was
  std::map<int, int> gpus_;  ///< scans running, by GPU
  int places_ = 1, spare_ = 1, files_ = 1, taken_ = 0;
  std::optional<int> segments_;
};

}  // namespace framequality::apps::scan
