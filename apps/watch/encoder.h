// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes JPEGs of frames in a thread of its own.
#pragma once

#include "apps/common/owned.h"
#include "apps/common/task_pool.h"

#include <functional>
#include <string>

namespace framequality::apps::watch {

class Encoder {
 public:
  /// `error`: empty, or why `jpeg` is empty. Called in the encoder's thread.
  using OnDone = std::function<void(const std::string& jpeg, const std::string& error)>;
  Encoder();  ///< frames that still wait at its end are dropped

  /// At most `longest` pixels on the longer side. From any thread; false if too many wait already.
  bool submit(Owned<GstSample> frame, int longest, OnDone done);

 private:
  TaskPool pool_;
};

}  // namespace framequality::apps::watch
