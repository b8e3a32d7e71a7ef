// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter with a GPU that does what the test says: frames in flight, faults, flushes, ends, leaks.
#include "tests/gst/bliindsmeter/rig.h"
#include "tests/gst/scripted.h"

namespace framequality::bliinds {

/// Found by ScriptedWorker.
inline std::uint64_t hash(const Input& input, const Frame& frame) {
  std::uint64_t h = 0;
  for (const auto channel : {Channel::kLuma, Channel::kRed})
    for (int p = 0; p < 3; ++p) {
      const auto [row_bytes, rows] = channel_extent(input, channel, p);
      if (frame.plane[p] && rows > 0) h = test::hash_rows(h, frame.plane[p], frame.stride[p], rows, row_bytes);
    }
  return h;
}

}  // namespace framequality::bliinds

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("RGB", 24, 16);

/// Holds frames until they are collected, the latest that a real one may read them.
class ScriptedBliinds final : public ScriptedWorker<bliinds::Meter, bliinds::Input> {
 public:
  using ScriptedWorker::ScriptedWorker;
  bliinds::BlockValues blocks(int scale) override { return real().blocks(scale); }
};

class BliindsInFlight : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    tables.gpu.bliinds = [](const bliinds::Input& input, const Where& where) -> std::unique_ptr<bliinds::Meter> {
      make_scripted(where);
      return std::make_unique<ScriptedBliinds>(input, where.depth, cpu::make_bliinds_meter(input));
    };
  }
  void push(Rig& rig, std::uint64_t i, const std::string& caps = kCaps) {
    EXPECT_EQ(rig.push(watched_frame(caps, i)), GST_FLOW_OK) << i;
  }
  void end(Rig& rig) { gst_harness_push_event(rig.harness(), gst_event_new_eos()); }
  /// Frame i must come next, with its own score.
  void expect_next(Rig& rig, std::uint64_t i, const std::string& caps = kCaps) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << i;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), time_of(i));
    const GstStructure* s = bliinds_meta(out.get());
    ASSERT_TRUE(s) << i;
    EXPECT_EQ(number(s, "raw-score"), bliinds_score(caps, out.get()).raw) << i;
    EXPECT_EQ(count(s, "frame"), i);
  }
};

TEST_F(BliindsInFlight, FramesLeaveInOrderEachWithItsOwnScore) {
  for (const std::string& caps : {kCaps, video_caps("I420", 24, 16), video_caps("P010_10LE", 26, 18)})
    for (const std::size_t behind : {0u, 1u, 3u, 16u}) {
      anew();
      BliindsRig rig{{"in-flight", std::to_string(behind).c_str()}};
      rig.caps(caps);
      for (std::uint64_t i = 0; i < 20; ++i) {
        push(rig, i, caps);
        EXPECT_EQ(gst_harness_buffers_received(rig.harness()), i < behind ? 0 : i + 1 - behind);
      }
      end(rig);
      for (std::uint64_t i = 0; i < 20; ++i) expect_next(rig, i, caps);
      EXPECT_EQ(script.most_pending, behind + 1);
      const Heard heard = rig.heard();
      ASSERT_EQ(heard.results.size(), 20u);
      EXPECT_EQ(text(heard.results[0].get(), "device"), "cuda");
      EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
    }
}

TEST_F(BliindsInFlight, FramesKeepTheOptionsTheyCameWith) {
  BliindsRig rig{{"in-flight", "4"}};
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 8; ++i) {
    rig.set("channel", i % 2 ? "red" : "luma");
    rig.set("features", i % 3 ? "true" : "false");
    push(rig, i);
  }
  end(rig);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out);
    const GstStructure* s = bliinds_meta(out.get());
    EXPECT_EQ(text(s, "channel"), i % 2 ? "red" : "luma") << i;
    EXPECT_EQ(features_in(s).size(), i % 3 ? 24u : 0u) << i;
    const auto channel = i % 2 ? bliinds::Channel::kRed : bliinds::Channel::kLuma;
    EXPECT_EQ(number(s, "raw-score"), bliinds_score(kCaps, out.get(), channel).raw) << i;
  }
}

TEST_F(BliindsInFlight, AutoReplaysOnTheCpuAfterAnyFault) {
  for (const int behind : {0, 3})
    for (const int step : {0, 1, 2})
      for (const int at : {0, 2, 5}) {
        if (step == 0 && at > 0) continue;
        anew();
        SCOPED_TRACE(std::to_string(behind) + " behind, step " + std::to_string(step) + " at " + std::to_string(at));
        int* steps[] = {&script.fail_make_at, &script.fail_submit_at, &script.fail_collect_at};
        *steps[step] = at;
        BliindsRig rig{{"in-flight", std::to_string(behind).c_str()}};
        rig.caps(kCaps);
        for (std::uint64_t i = 0; i < 9; ++i) push(rig, i);
        end(rig);
        for (std::uint64_t i = 0; i < 9; ++i) expect_next(rig, i);
        const Heard heard = rig.heard();
        EXPECT_EQ(heard.warnings.size(), 1u);
        EXPECT_TRUE(heard.errors.empty());
        EXPECT_EQ(rig.stat("measured"), 9u);
        EXPECT_EQ(rig.string("active-device"), "cpu");
        EXPECT_EQ(script.alive, 0);
        EXPECT_EQ(rig.stat("replayed-on-cpu") > 0, step > 0);
      }
}

TEST_F(BliindsInFlight, CudaIsOneErrorAndNothingIsKept) {
  for (const int at : {0, 4}) {
    anew();
    script.fail_collect_at = at;
    BliindsRig rig{{"in-flight", "3"}, {"device", "cuda"}};
    rig.caps(kCaps);
    GstFlowReturn flow = GST_FLOW_OK;
    std::uint64_t pushed = 0;
    while (flow == GST_FLOW_OK && pushed < 12) flow = rig.push(watched_frame(kCaps, pushed++));
    EXPECT_EQ(flow, GST_FLOW_ERROR);
    end(rig);
    while (rig.pull()) continue;
    EXPECT_EQ(rig.heard().errors.size(), 1u);
    EXPECT_EQ(static_cast<std::uint64_t>(script.released), pushed);
  }
}

TEST_F(BliindsInFlight, FlushDropsThemWithoutAWord) {
  BliindsRig rig{{"in-flight", "4"}};
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 4; ++i) push(rig, i);
  gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
  gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
  EXPECT_EQ(script.released, 4);
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.results.empty() && heard.errors.empty());
}

TEST_F(BliindsInFlight, TinyFramesKeepTheirPlaceAndAskNoDevice) {
  const std::string tiny = video_caps("GRAY8", 3, 9);
  script.fail_make_at = 0;
  BliindsRig rig{{"in-flight", "2"}, {"device", "cuda"}};
  rig.caps(tiny);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(rig.push(watched_frame(tiny, i)), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 1u);
  end(rig);
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 3u);
  EXPECT_EQ(script.made, 0);
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
}

}  // namespace
}  // namespace framequality::test
