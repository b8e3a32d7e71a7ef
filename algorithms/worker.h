// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of everything that processes frames, on the host or on a device: tasks in, results out, in order.
#pragma once

#include <string>

namespace framequality {

/// Processes frames of one geometry at one place. Each room has a Task, a frame with its options,
/// and a Result, and says where its workers are made how many tasks may be pending at a time. Everything that a
/// frame needs is allocated when the worker is made, or when options need more than any before, never per frame.
/// Thread-safety: one thread at a time.
template <class Task, class Result>
class Worker {
 public:
  using TaskType = Task;
  using ResultType = Result;

  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Waits until the device has released every task submitted.
  virtual ~Worker() = default;

  /// Starts a task. All its memory must stay valid, and the part that is read unchanged, until its result
  /// has been collected. Throws what its device throws (Error), std::invalid_argument if the task is not one for
  /// this worker and std::logic_error if no more may be pending; it has not been submitted then.
  virtual void submit(const Task& task) = 0;

  /// The result of the oldest task not yet collected; waits for it. One submit, one collect, also if this throws. What
  /// the result points to is valid until the next call.
  virtual Result collect() = 0;

  /// For logs: how the last task submitted is computed, such as its kernels. Empty if there is nothing to choose.
  virtual std::string route() const { return {}; }
};

}  // namespace framequality
