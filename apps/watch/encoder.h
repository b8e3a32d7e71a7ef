// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes JPEGs of frames in a thread of its own.
#pragma once

#include "apps/common/owned.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace framequality::apps::watch {

class Encoder {
 public:
  /// `error` is empty, or says why `jpeg` is. Called in the encoder's thread.
  using OnDone = std::function<void(const std::string& jpeg, const std::string& error)>;
  Encoder();
  ~Encoder();  ///< what waits is not done
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// At most `longest` pixels long and high. From any thread; false if too many wait already.
  bool submit(Owned<GstSample> frame, int longest, OnDone done);

 private:
  struct Task {
    Owned<GstSample> frame;
    int longest;
    OnDone done;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Task> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace framequality::apps::watch
