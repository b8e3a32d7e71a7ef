// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs pipelines in a child process under GStreamer's leaks tracer, which lists objects still alive at the end.
#include "tests/gst/leaks.h"

#include "tests/gst/base/filter_rig.h"
#include "tests/gst/halftone/rig.h"
#include "tests/gst/pool.h"
#include "tests/gst/sharpnessgate/rig.h"

#include <glib/gstdio.h>

namespace framequality::test {
namespace {

TEST(Leaks, NoneAfterPipelines) { EXPECT_EQ(alive_after("Child.DISABLED_Pipelines"), ""); }

TEST(Leaks, NoneAfterErrors) { EXPECT_EQ(alive_after("Child.DISABLED_Errors"), ""); }

TEST(Leaks, NoneWithFramesInFlight) { EXPECT_EQ(alive_after("ScriptedChild.DISABLED_InFlight"), ""); }

TEST(Leaks, NoneAfterFaultsWithFramesInFlight) { EXPECT_EQ(alive_after("ScriptedChild.DISABLED_Faults"), ""); }

TEST(Leaks, NoneWithPinnedMemory) { EXPECT_EQ(alive_after("ScriptedChild.DISABLED_Pinned"), ""); }

TEST(Leaks, NoneAfterFocusing) { EXPECT_EQ(alive_after("Child.DISABLED_Focusing"), ""); }

TEST(Leaks, NoneThroughGates) { EXPECT_EQ(alive_after("Child.DISABLED_Gates"), ""); }

TEST(Leaks, NoneThroughFilters) { EXPECT_EQ(alive_after("FilterChild.DISABLED_Filters"), ""); }

TEST(Leaks, NoneAfterFaultsInFilters) { EXPECT_EQ(alive_after("FilterChild.DISABLED_Faults"), ""); }

TEST(Leaks, NoneThroughHalftones) { EXPECT_EQ(alive_after("Child.DISABLED_Halftones"), ""); }

TEST(Leaks, NoneAfterFaultsInHalftones) { EXPECT_EQ(alive_after("HalftoneChild.DISABLED_Faults"), ""); }

TEST(Leaks, TracerWouldSee) { EXPECT_NE(alive_after("Child.DISABLED_Leak").find("GstBuffer"), std::string::npos); }

TEST(Child, DISABLED_Pipelines) {
  run("videotestsrc num-buffers=20 ! tee name=t t. ! queue ! sharpnessmeter zone-columns=3 roi=\"<1,1,99,99>\" ! "
      "sharpnessmeter metric=entropy ! fakesink t. ! queue ! videoconvert ! sharpnessmeter interval=100000000 ! "
      "fakesink");
}

TEST(Child, DISABLED_Errors) {
  Rig rig;
  rig.caps(video_caps("GRAY8", 64, 48));
  EXPECT_EQ(rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 9, nullptr))), GST_FLOW_ERROR);
  BufferPtr buffer = random_buffer(video_caps("GRAY8", 64, 48), 1);
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 80, 48);
  EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_ERROR);
  Rig second;
  second.caps("video/x-raw,format=GRAY8,width=64,height=48,interlace-mode=fields");
}

TEST(Child, DISABLED_Focusing) {
  const std::string meter = " ! sharpnessmeter ! focuscontroller min=0 max=20 ";
  run("virtuallenssrc name=lens is-live=true num-buffers=9 ! video/x-raw,framerate=100/1" + meter +
      "actuator=lens.position ! fakesink");
  run("virtuallenssrc num-buffers=9" + meter + "actuator=no.lens ! fakesink");
  run("virtuallenssrc name=lens num-buffers=9" + meter + "actuator=lens.no ! fakesink");
  run("virtuallenssrc num-buffers=9" + meter + "actuator=/dev/null ! fakesink");
  run("virtuallenssrc location=/dev ! fakesink");
  run("virtuallenssrc num-buffers=9 ! focuscontroller min=0 max=20 ! fakesink");
  gchar* picture = g_strdup_printf("%s/framequality-%d.png", g_get_tmp_dir(), static_cast<int>(g_random_int() >> 1));
  run(std::string("videotestsrc num-buffers=1 ! pngenc ! filesink location=") + picture);
  run(std::string("virtuallenssrc num-buffers=2 location=") + picture + " ! fakesink");
  g_remove(picture);
  g_free(picture);
}

TEST(Child, DISABLED_Gates) {
  for (const char* gate : {"min-score=2100 resume-score=2130", "mode=relative min-ratio=1 max-ratio=1.001",
                           "mode=best-of window-frames=7", "mode=best-of window-frames=7 action=mark", "mode=best-of"})
    run("videotestsrc pattern=ball num-buffers=20 ! sharpnessmeter ! tee name=t t. ! queue ! sharpnessgate " +
        std::string(gate) + " ! fakesink t. ! queue ! sharpnessgate min-score=1e9 ! fakesink");
  for (const bool flush : {false, true})
    for (const char* action : {"drop", "mark"}) {
      GateRig rig({{"action", action}});
      for (const char* mode : {"threshold", "best-of", "relative", "best-of"}) {
        rig.set("mode", mode);
        rig.feed(0, {3, 2, 4, 1});
        gst_harness_push_event(rig.harness(), gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, mode, nullptr)));
        gst_harness_push_event(rig.harness(), gst_event_new_gap(160 * ms, 40 * ms));
      }
      if (!flush) continue;  // what is held is to the end
      gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
      gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
    }
}

TEST(Child, DISABLED_Halftones) {
  run("videotestsrc num-buffers=6 ! video/x-raw,width=50,height=32 ! tee name=t t. ! queue ! halftone method=tdfed ! "
      "videoconvert ! fakesink t. ! queue ! halftone packed=true method=blue-noise ! fakesink");
  const std::string caps = video_caps("GRAY8", 64, 48);
  Rig rig({}, "halftone");
  rig.caps(caps);
  for (const char* packed : {"true", "false", "true"}) {
    rig.set("packed", packed);
    rig.push(random_buffer(caps, 1));
  }
  rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 9, nullptr)));
}

TEST(Child, DISABLED_Leak) { EXPECT_TRUE(gst_buffer_new()); }

/// The same with a GPU in play.
class ScriptedChild : public Scripted {
 protected:
  static void push(Rig& rig, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) rig.push(watched_frame(kPoolCaps, i));
  }
  static void send(Rig& rig, GstEvent* event) { gst_harness_push_event(rig.harness(), event); }
};

TEST_F(ScriptedChild, DISABLED_InFlight) {
  for (const char* attach : {"true", "false"}) {
    Rig rig{{"in-flight", "3"}, {"attach-meta", attach}, {"interval", "40000000"}};
    rig.caps(kPoolCaps);
    push(rig, 5);
    send(rig, gst_event_new_gap(0, 1));
    push(rig, 3);
    send(rig, gst_event_new_flush_start());
    send(rig, gst_event_new_flush_stop(TRUE));
    rig.caps(video_caps("GRAY8", 64, 48));
    rig.push(random_buffer(video_caps("GRAY8", 64, 48), 1));  // in flight to the end
  }
}

TEST_F(ScriptedChild, DISABLED_Faults) {
  for (const char* device : {"auto", "cuda"})
    for (const int at : {0, 2, 6}) {
      for (int* step : {&script.fail_make_at, &script.fail_submit_at, &script.fail_collect_at}) {
        anew();
        *step = at;
        Rig rig{{"in-flight", "3"}, {"device", device}};
        rig.caps(kPoolCaps);
        push(rig, 8);
        send(rig, gst_event_new_eos());
      }
      anew();
    }
}

TEST_F(ScriptedChild, DISABLED_Pinned) {
  PoolRig rig{{"in-flight", "2"}};
  const std::string caps = video_caps("GRAY8", 640, 480);
  rig.caps(caps);
  const PoolPtr pool = pool_in(ask(rig, caps).get());
  gst_buffer_pool_set_active(pool.get(), TRUE);
  for (int i = 0; i < 4; ++i) rig.push(take(pool.get()));
  const AllocatorPtr allocator = allocator_in(ask(rig, caps).get());
  gst_memory_unref(gst_allocator_alloc(allocator.get(), 100, nullptr));
  const BufferPtr same = random_buffer(caps, 1);
  for (int i = 0; i < 5; ++i) rig.push(BufferPtr(gst_buffer_ref(same.get())));
  EXPECT_GT(pins.pinned(), 4);
  send(rig, gst_event_new_eos());
  while (rig.pull()) continue;
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

class FilterChild : public ScriptedFilters {
 protected:
  static void push(Rig& rig, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) rig.push(watched_frame(kPoolCaps, i));
  }
};

TEST_F(FilterChild, DISABLED_Filters) {
  run("videotestsrc num-buffers=6 ! video/x-raw,width=48,height=32 ! tee name=t t. ! queue ! nlmeans search-radius=1 "
      "temporal-radius=2 device=cpu ! fakesink t. ! queue ! patchbilateral window-radius=1 ! nlmeans search-radius=1 ! "
      "fakesink");
  for (const char* radius : {"0", "2"}) {
    FilterRig rig{{"in-flight", "3"}, {"temporal-radius", radius}};
    rig.set("search-radius", "0");
    rig.caps(kPoolCaps);
    push(rig, 7);
    rig.send(gst_event_new_gap(0, 1));
    push(rig, 3);
    rig.send(gst_event_new_flush_start());
    rig.send(gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig.send(gst_event_new_segment(&segment));
    rig.caps(video_caps("GRAY8", 64, 48));
    rig.push(random_buffer(video_caps("GRAY8", 64, 48), 1));  // in flight to the end
  }
}

TEST_F(FilterChild, DISABLED_Faults) {
  for (const char* device : {"auto", "cuda"})
    for (int* step : {&script.fail_make_at, &script.fail_submit_at, &script.fail_collect_at}) {
      anew();
      *step = step == &script.fail_make_at ? 0 : 2;
      FilterRig rig{{"in-flight", "2"}, {"device", device}, {"temporal-radius", "1"}};
      rig.set("search-radius", "0");
      rig.caps(kPoolCaps);
      push(rig, 6);
      rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 9, nullptr)));
      rig.send(gst_event_new_eos());
    }
  anew();
}

class HalftoneChild : public ScriptedHalftones {};

TEST_F(HalftoneChild, DISABLED_Faults) {
  int none = -1;
  for (int* step : {&none, &script.fail_make_at, &script.fail_submit_at, &script.fail_collect_at})
    for (const char* packed : {"false", "true"}) {
      anew();
      *step = step == &script.fail_make_at ? 0 : 2;
      HalftoneRig rig{{"in-flight", "2"}, {"packed", packed}};
      rig.caps(kPoolCaps);
      for (std::uint64_t i = 0; i < 6; ++i) rig.push(watched_frame(kPoolCaps, i));
      rig.flush();
      for (std::uint64_t i = 0; i < 2; ++i) rig.push(watched_frame(kPoolCaps, i));  // in flight to the end
    }
  anew();
}

}  // namespace
}  // namespace framequality::test
