// SPDX-License-Identifier: LGPL-2.1-or-later
// Number and placement of the scans that this machine runs at once.
#pragma once

#include "apps/scan/options.h"

#include <functional>
#include <map>

namespace framequality::apps::scan {

/// Places for scans, each on a GPU or, with number -1, on the CPU. Main thread only.
class Machine {
 public:
  /// Without --jobs: enough to fill the GPUs' decode engines, or a part of the cores, since decoders use several. No
  /// GPU is used with --device cpu or in a build without CUDA, unless --gpus names it. `more`: called in the main
  /// thread when there are more places. Throws UsageError if a GPU of --gpus cannot decode.
  Machine(const Options& options, std::function<void()> more);
  ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Reports that a file is being decoded, on a GPU or not. The first one on a GPU starts a query of its capacity,
  /// which takes time: there are few places until then.
  void saw_decoder(bool on_gpu);

  bool has_place() const { return taken_ < places_; }
  /// True if one more scan of a long file would help: not all decode engines are busy, however many files may begin.
  bool has_spare() const { return taken_ < spare_; }
  /// The place of the next scan: the GPU with the fewest. Give the place back afterwards.
  int take_place();
  void free_place(int gpu);

  /// Most scans that one long file may have.
  std::size_t scans_of_a_file(bool on_gpu) const;
  /// Most files that may be in progress at once.
  std::size_t files() const { return static_cast<std::size_t>(files_); }
  const std::map<int, int>& gpus() const { return gpus_; }

 private:
  void set_places(int places);

  const std::function<void()> more_;
  const bool chooses_;       ///< the number of places is not --jobs
  bool asked_ = false;       ///< the driver is being, or was, asked
  std::map<int, int> gpus_;  ///< scans running, by GPU
  int places_ = 1, spare_ = 1, files_ = 1, taken_ = 0;
  std::optional<int> segments_;
};

}  // namespace framequality::apps::scan
