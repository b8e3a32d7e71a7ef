// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames that a meter or filter has been given and has not finished, kept so that another can take them over.
#pragma once

#include "gst/object/guard.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace framequality {

/// A backend, Meter or Filter, and its pending frames, the oldest first. Job: a frame with its options;
/// job.submit_to(backend) begins it. Nothing is allocated per frame. Throws what the backend throws.
template <class Backend, class Job>
class Flight {
 public:
  /// overlaps: the backend takes frames while others are pending, up to `depth`; else each is begun when it is
  /// collected.
  Flight(std::unique_ptr<Backend> backend, bool overlaps, int depth)
      : backend_(std::move(backend)), overlaps_(overlaps), jobs_(static_cast<std::size_t>(depth)) {}

  /// The job to fill in and then submit(). If that throws, it has not been submitted.
  Job& next() { return job(count_); }
  void submit() {
    if (overlaps_) next().submit_to(*backend_);
    ++count_;
  }

  Job& oldest() { return job(0); }
  /// Waits for the oldest job; what the backend gives for it. The job stays the oldest until it is forgotten.
  decltype(auto) collect() {
    if (!overlaps_) oldest().submit_to(*backend_);
    return backend_->collect();
  }
  void forget_oldest() {
    oldest() = {};
    oldest_ = (oldest_ + 1) % jobs_.size();
    --count_;
  }

  /// Gives the pending jobs to another backend, which begins each when it is collected. The old one is gone then.
  void move_to(std::unique_ptr<Backend> backend) {
    backend_ = std::move(backend);
    overlaps_ = false;
  }

  /// Waits until the backend has let go of all frames, and forgets them.
  void drop() {
    for (; count_ > 0; forget_oldest()) {
      // The frame whose collect() failed is the oldest still, but no longer pending in the backend.
      if (overlaps_)
        guard(false, [&] {
          backend_->collect();
          return true;
        });
    }
  }

 private:
  Job& job(std::size_t i) { return jobs_[(oldest_ + i) % jobs_.size()]; }

  std::unique_ptr<Backend> backend_;
  bool overlaps_;
  std::vector<Job> jobs_;
  std::size_t oldest_ = 0, count_ = 0;  ///< in use: count_ of jobs_ from oldest_ on, round and round
};

}  // namespace framequality
