// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: focus stacks, as messages, as events downstream, and as the only frames that pass.
#include "tests/gst/focuscontroller/rig.h"

namespace framequality::test {
namespace {

/// The message about an image of a stack.
struct Image {
  std::string state;
  double position;
  guint stack, index, total;
  GstClockTime timestamp;

  static std::optional<Image> of(const GstStructure* s) {
    if (!s || !gst_structure_has_name(s, "focuscontroller") || text(s, "event") != "stack") return {};
    Image image{text(s, "state"), number(s, "position"), 0, 0, 0, count(s, "timestamp")};
    gst_structure_get_uint(s, "stack", &image.stack);
    gst_structure_get_uint(s, "stack-image", &image.index);
    gst_structure_get_uint(s, "stack-images", &image.total);
    return image;
  }
};

/// What comes out of a pipeline of a virtual lens: the images of stacks that messages tell, and the frames.
struct Shot {
  explicit Shot(const std::string& focus, const std::string& lens = "") {
    WatchedPipeline watched("virtuallenssrc name=lens best-position=62 " + lens +
                            " ! video/x-raw,width=160,height=120 ! sharpnessmeter normalize=mean prefilter=binomial5 "
                            "post-messages=false ! focuscontroller name=focus actuator=lens.position min=0 max=100 "
                            "mode=one-shot " +
                            focus + " ! fakesink name=sink");
    watched.on_message = [&](GstMessage* message) {
      heard.listen(message);
      if (const auto image = Image::of(gst_message_get_structure(message))) images.push_back(*image);
    };
    watched.on_frame = [&](GstBuffer* buffer, int) { frames.push_back(GST_BUFFER_PTS(buffer)); };
    EXPECT_TRUE(watched.run_to_end().eos);
  }
  FocusHeard heard;
  std::vector<Image> images;
  std::vector<GstClockTime> frames;
};

TEST(FocusStack, EachImageIsReported) {
  const Shot shot("stack=5 stack-step=4 settle-frames=3", "lag=2 num-buffers=200");
  ASSERT_EQ(shot.images.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const Image& image = shot.images[i];
    EXPECT_EQ(image.state, "stack");
    EXPECT_EQ(image.stack, 1u);
    EXPECT_EQ(image.index, i + 1);
    EXPECT_EQ(image.total, 5u);
    const double off = 4 * (static_cast<double>(i) - 2);
    EXPECT_NEAR(image.position, shot.images[0].position < 62 ? 62 + off : 62 - off, 1);
  }
  const std::vector<std::string> states = shot.heard.states();
  ASSERT_GE(states.size(), 2u);
  EXPECT_EQ(states[states.size() - 2], "stack");
  EXPECT_EQ(states.back(), "focused");
  EXPECT_EQ(std::count(states.begin(), states.end(), "focused"), 1);
  EXPECT_NEAR(shot.heard.moves().back(), 62, 1);
  EXPECT_EQ(shot.frames.size(), 200u);
}

TEST(FocusStack, StackOnlyPassesItsImagesAlone) {
  const Shot shot("stack=7 stack-only=true settle-frames=3", "lag=2 blur-per-unit=0.4 num-buffers=200");
  ASSERT_EQ(shot.images.size(), 7u);
  std::vector<GstClockTime> told;
  for (const Image& image : shot.images) told.push_back(image.timestamp);
  EXPECT_EQ(shot.frames, told);
}

TEST(FocusStack, EventComesBeforeItsFrame) {
  FocusRig rig(std::string(kLens) + "mode=one-shot stack=3 stack-step=5");
  struct Seen {
    std::vector<Image> images;
    std::vector<GstClockTime> frames;  ///< the next one after each
    bool is_next = false;
  } seen;
  gst_pad_add_probe(
      rig.harness()->sinkpad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto& s = *static_cast<Seen*>(data);
        if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
          if (std::exchange(s.is_next, false)) s.frames.push_back(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)));
        } else if (GstEvent* event = gst_pad_probe_info_get_event(info);
                   GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM) {
          if (const auto image = Image::of(gst_event_get_structure(event)))
            s.images.push_back(*image), s.is_next = true;
        }
        return GST_PAD_PROBE_OK;
      },
      &seen, nullptr);
  for (const guint stack : {1u, 2u}) {
    seen.images.clear();
    seen.frames.clear();
    ASSERT_TRUE(rig.watch(50, "stack"));
    ASSERT_TRUE(rig.watch(50, "focused"));
    ASSERT_EQ(seen.images.size(), 3u);
    ASSERT_EQ(seen.frames.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(seen.images[i].stack, stack);
      EXPECT_EQ(seen.images[i].timestamp, seen.frames[i]);
    }
    rig.emit("trigger");
  }
}

}  // namespace
}  // namespace framequality::test
