// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of images among all inputs, per input or of the set, and their export.
#pragma once

#include "apps/scan/job.h"
#include "apps/scan/manifest.h"
#include "apps/scan/set.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace framequality::apps::scan {

/// Collects results and chooses among them. Main thread only.
class Choices {
 public:
  /// `options` outlives it.
  explicit Choices(const Options& options);
  /// Takes the result of input `index`, in any order. Throws std::runtime_error if it lacks data for the choice.
  void add(std::size_t index, Result&& result);
  /// After the last add(): places one chosen image in the export's folder; false once it is complete. Call it until
  /// then. Throws std::runtime_error.
  bool place_next();
  /// A video of the set, and its chosen frames, ascending.
  struct Video {
    std::size_t input;
    bool timed;
    std::vector<Moment> moments;
  };
  /// After place_next(): the next video whose frames must become images.
  std::optional<Video> next_video();
  /// Records the frames that became images.
  void set_pictures(std::size_t input, const std::vector<Picture>& pictures);
  /// The choice, once all images are in place.
  const Selected& selected() const { return *selected_; }
  std::size_t failed() const { return failed_; }
  /// Number of images in the export's folder, at any time.
  std::size_t exported() const { return exported_; }

 private:
  /// The choice of one input.
  struct Part {
    std::vector<ChosenFrame> chosen;
    std::optional<RejectedInput> rejected;
    std::uint64_t candidates = 0, damaged = 0;
  };
  Part part_of(std::size_t index, const Result& result) const;
  Selected gather();

  const Options& options_;
  std::optional<Set> set_;
  std::vector<Part> parts_;
  std::size_t failed_ = 0, exported_ = 0, placed_ = 0, pictured_ = 0;  ///< counts of chosen ones
  std::optional<Selected> selected_;
};

}  // namespace framequality::apps::scan
