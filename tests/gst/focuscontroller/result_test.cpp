// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: what it tells of a search that has ended, on the bus and downstream.
#include "tests/gst/focuscontroller/rig.h"

#include <algorithm>

namespace framequality::test {
namespace {

TEST(Focus, EndedSearchTellsItsCurve) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(47, "focused"));
  rig.heard();
  ASSERT_EQ(rig.ends().size(), 1u) << "but for the last message none has it";
  const FocusResult curve = *FocusResult::of(rig.ends()[0].get());
  EXPECT_EQ(text(rig.ends()[0].get(), "event"), "state");
  EXPECT_EQ(text(rig.ends()[0].get(), "state"), "focused");
  ASSERT_GT(curve.positions.size(), 5u);
  ASSERT_EQ(curve.scores.size(), curve.positions.size());
  EXPECT_TRUE(std::is_sorted(curve.positions.begin(), curve.positions.end()));
  for (std::size_t i = 0; i < curve.scores.size(); ++i)
    EXPECT_NEAR(curve.scores[i], FocusRig::peak(curve.positions[i], 47), 1e-9) << curve.positions[i];
  EXPECT_NEAR(curve.top, 47, 1);
  EXPECT_NEAR(curve.width, std::sqrt(300 * std::log(2)), 4) << "exp(-x^2/300) is 1/2";
  EXPECT_GE(curve.error, 0);
  EXPECT_LT(curve.error, 2);
  EXPECT_GT(curve.certainty, 0.9);
  EXPECT_LE(curve.certainty, 1);
}

TEST(Focus, CertaintyBelowTheLimitFailsNearThePeak) {
  FocusRig rig(std::string(kLens) + "min-certainty=1");
  ASSERT_TRUE(rig.watch(47, "failed"));
  rig.heard();
  const FocusResult result = *FocusResult::of(rig.ends().at(0).get());
  EXPECT_GT(result.certainty, 0);
  EXPECT_LT(result.certainty, 1);
  EXPECT_NEAR(result.top, 47, 2);
}

TEST(Focus, ResultHasTheLagAndThePlay) {
  for (const bool is_set : {true, false}) {
    FocusRig rig(std::string(kLens) + (is_set ? "lag-frames=3 backlash=4.5" : ""));
    LensDrive drive;
    drive.configure({.lag = 3, .backlash = 4.5});
    ASSERT_TRUE(rig.watch(drive, 61, "focused"));
    rig.heard();
    const FocusResult result = *FocusResult::of(rig.ends().at(0).get());
    EXPECT_EQ(result.lag, 3) << (is_set ? "set" : "learned");
    if (is_set) {
      EXPECT_EQ(result.backlash, 4.5);
    }
  }
  FocusRig early(std::string(kLens) + "timeout=1000000000");
  for (int i = 0; i < 60 && early.state() != "failed"; ++i) early.frame(i ? std::nullopt : std::optional(3.0));
  early.heard();
  const FocusResult nothing = *FocusResult::of(early.ends().at(0).get());
  EXPECT_FALSE(nothing.lag) << "is not known";
  EXPECT_FALSE(nothing.backlash);
}

TEST(Focus, SearchThatFindsNothingTellsWhatItSaw) {
  FocusRig rig(kLens);
  for (int i = 0; i < 400 && rig.state() != "failed"; ++i) rig.frame(3);
  rig.heard();
  ASSERT_EQ(rig.ends().size(), 1u);
  const FocusResult result = *FocusResult::of(rig.ends()[0].get());
  EXPECT_GT(result.positions.size(), 5u);
  EXPECT_EQ(result.scores, std::vector<double>(result.positions.size(), 3));
  EXPECT_EQ(result.top, 0);
  EXPECT_EQ(result.width, 0);
}

TEST(Focus, SearchThatIsGivenUpTellsNoCurve) {
  FocusRig rig(std::string(kLens) + "timeout=1000000000");
  ASSERT_TRUE(rig.watch(47, "focused"));
  rig.set("wait-for-arrival", "true");
  for (int i = 0; i < 60 && rig.state() != "failed"; ++i) rig.frame(3);
  rig.heard();
  ASSERT_EQ(rig.ends().size(), 2u);
  const FocusResult result = *FocusResult::of(rig.ends()[1].get());
  EXPECT_EQ(text(rig.ends()[1].get(), "state"), "failed");
  EXPECT_TRUE(result.positions.empty()) << "those of the search before";
  EXPECT_TRUE(result.scores.empty());
  EXPECT_EQ(result.top, 0);
}

TEST(Focus, ResultGoesDownstreamBeforeTheFrame) {
  FocusRig rig(kLens);
  struct Seen {
    int frames = 0;
    std::vector<std::pair<int, StructurePtr>> results;  ///< and how many frames came before each
  } seen;
  gst_pad_add_probe(
      rig.harness()->sinkpad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto& s = *static_cast<Seen*>(data);
        if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
          ++s.frames;
        } else if (GstEvent* event = gst_pad_probe_info_get_event(info);
                   GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY) {
          s.results.emplace_back(s.frames, gst_structure_copy(gst_event_get_structure(event)));
        }
        return GST_PAD_PROBE_OK;
      },
      &seen, nullptr);
  ASSERT_TRUE(rig.watch(50, "focused"));
  const int first = seen.frames;
  ASSERT_FALSE(rig.watch(50, "tracking", 100));
  ASSERT_TRUE(rig.watch(55, "tracking", 100));
  ASSERT_TRUE(rig.watch(55, "focused"));
  rig.heard();
  ASSERT_EQ(seen.results.size(), 2u) << "a search, and tracking";
  ASSERT_EQ(rig.ends().size(), 2u);
  EXPECT_EQ(seen.results[0].first, first - 1);
  EXPECT_EQ(seen.results[1].first, seen.frames - 1);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(gst_structure_is_equal(seen.results[i].second.get(), rig.ends()[i].get())) << "as the message says";
  GstEvent* kept = gst_pad_get_sticky_event(rig.harness()->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(gst_event_has_name(kept, "focuscontroller"));
  EXPECT_TRUE(gst_structure_is_equal(gst_event_get_structure(kept), rig.ends()[1].get())) << "the last one";
  gst_event_unref(kept);
}

}  // namespace
}  // namespace framequality::test
