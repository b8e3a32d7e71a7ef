// SPDX-License-Identifier: LGPL-2.1-or-later
// A clock for live pipelines that goes on only when all wait for it, so that they behave alike under any load.
#pragma once

#include <gst/check/gsttestclock.h>
#include <gst/gst.h>

namespace framequality::test {

/// Stands still until the pipeline's threads wait for it, and then goes on to what is waited for first.
class SteppedClock {
 public:
  /// pipeline: in state NULL.
  explicit SteppedClock(GstElement* pipeline) : clock_(GST_TEST_CLOCK(gst_test_clock_new())) {
    gst_pipeline_use_clock(GST_PIPELINE(pipeline), GST_CLOCK(clock_));
  }
  ~SteppedClock() { gst_object_unref(clock_); }
  SteppedClock(const SteppedClock&) = delete;
  SteppedClock& operator=(const SteppedClock&) = delete;

  /// Goes on to the earliest time that is waited for if, within 20 ms, as many threads wait as waiters() says, at least
  /// one; else does nothing.
  template <class Waiters>
  void step(Waiters&& waiters) {
    GList* pending = nullptr;
    gst_test_clock_timed_wait_for_multiple_pending_ids(clock_, waiters(), 20, &pending);
    g_list_free_full(pending, gst_clock_id_unref);
    // Asked again: those that wait by now may have given another one something to wait with.
    if (gst_test_clock_peek_id_count(clock_) >= waiters()) gst_test_clock_crank(clock_);
  }
  void step() {
    step([] { return 1U; });
  }

 private:
  GstTestClock* clock_;
};

}  // namespace framequality::test
