// SPDX-License-Identifier: LGPL-2.1-or-later
// Metadata: what carries it on, what is replaced, and the regions of interest that buffers bring along.
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"

namespace framequality::test {

using namespace sharpness;

namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

/// Scores in the metas of the buffers that reach `sink`, a fakesink named so; NaN for a buffer without.
std::vector<double> scores_at(const std::string& launch, const char* sink = "sink") {
  std::vector<double> scores;
  const ElementPtr pipeline = pipeline_of(launch);
  const ElementPtr element(gst_bin_get_by_name(GST_BIN(pipeline.get()), sink));
  g_object_set(element.get(), "signal-handoffs", TRUE, "sync", FALSE, nullptr);
  const auto handoff = +[](GstElement*, GstBuffer* buffer, GstPad*, gpointer to) {
    static_cast<std::vector<double>*>(to)->push_back(meta_score(buffer));
  };
  g_signal_connect(element.get(), "handoff", G_CALLBACK(handoff), &scores);
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const MessagePtr end = end_of(bus.get());
  EXPECT_TRUE(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS) << launch;
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return scores;
}

/// True if the metas of all five frames of a test picture come through `elements`.
bool survives(const std::string& elements) {
  const std::string source =
      "videotestsrc pattern=ball num-buffers=5 ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! "
      "sharpnessmeter ! ";
  const auto want = scores_at(source + "fakesink name=sink"), got = scores_at(source + elements);
  EXPECT_EQ(want.size(), 5u);
  EXPECT_EQ(got.size(), 5u) << elements;
  for (const double v : want) EXPECT_GT(v, 0);
  return want == got;
}

TEST(Meta, SurvivesWhatPassesOrTransforms) {
  for (const char* elements :
       {"queue", "tee ! queue", "identity", "videoconvert ! video/x-raw,format=RGB",
        "videoscale ! video/x-raw,width=80,height=60", "videoconvert ! videoscale ! video/x-raw,format=BGRx,width=320",
        "videocrop left=8 top=8", "videoflip method=rotate-180", "videobalance brightness=0.1",
        // Without drop-only 1.28 repeats the last frame at the end.
        "videorate drop-only=true"})
    EXPECT_TRUE(survives(std::string(elements) + " ! fakesink name=sink")) << elements;
}

TEST(Meta, SurvivesEncodersThatCarryIt) {
  // GstVideoEncoder and GstVideoDecoder hand on metas without tags, frame by frame.
  for (const char* elements :
       {"jpegenc ! jpegdec", "pngenc ! pngdec", "jpegenc ! matroskamux ! matroskademux ! jpegdec"})
    EXPECT_TRUE(survives(std::string("videoconvert ! ") + elements + " ! fakesink name=sink")) << elements;
}

TEST(Meta, IsLostInWhatMakesNewFrames) {
  for (const char* elements : {"compositor", "deinterlace mode=interlaced fields=top"})
    EXPECT_FALSE(survives(std::string(elements) + " ! fakesink name=sink")) << elements;
}

TEST(Meta, ReachesBothBranchesBehindTee) {
  const std::string launch =
      "videotestsrc num-buffers=4 ! sharpnessmeter ! tee name=t t. ! queue ! fakesink name=sink "
      "t. ! queue ! fakesink name=other";
  const auto a = scores_at(launch), b = scores_at(launch, "other");
  EXPECT_EQ(a.size(), 4u);
  EXPECT_EQ(a, b);
  for (const double v : a) EXPECT_GT(v, 0);
}

TEST(Meta, SecondMeterReplacesTheFirst) {
  Rig first{{"metric", "tenengrad"}, {"zone-columns", "2"}}, second{{"metric", "entropy"}};
  first.caps(kCaps);
  second.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 4);
  const double want = expected(kCaps, buffer.get(), {.metric = metric_index("entropy")}).score;
  const BufferPtr out = second.pass(first.pass(std::move(buffer)));
  GstCustomMeta* meta = gst_buffer_get_custom_meta(out.get(), "GstSharpnessMeta");
  ASSERT_TRUE(meta);
  EXPECT_EQ(number(gst_custom_meta_get_structure(meta), "score"), want);
  EXPECT_EQ(text(gst_custom_meta_get_structure(meta), "metric"), "entropy");
  EXPECT_FALSE(gst_structure_has_field(gst_custom_meta_get_structure(meta), "zones"));
  int metas = 0;
  gpointer at = nullptr;
  while (GstMeta* m = gst_buffer_iterate_meta(out.get(), &at)) metas += gst_meta_info_is_custom(m->info);
  EXPECT_EQ(metas, 1);
}

TEST(Meta, SecondMeterLeavesTheFirstsBufferAlone) {
  // Someone upstream still holds the first meter's buffer.
  Rig first{{"metric", "tenengrad"}}, second{{"metric", "entropy"}};
  first.caps(kCaps);
  second.caps(kCaps);
  const BufferPtr between = first.pass(random_buffer(kCaps, 4));
  const double before = meta_score(between.get());
  const BufferPtr out = second.pass(BufferPtr(gst_buffer_ref(between.get())));
  EXPECT_NE(out.get(), between.get());
  EXPECT_EQ(meta_score(between.get()), before);
  EXPECT_NE(meta_score(out.get()), before);
}

GstVideoRegionOfInterestMeta* add_roi(GstBuffer* buffer, guint x, guint y, guint w, guint h) {
  return gst_buffer_add_video_region_of_interest_meta(buffer, "face", x, y, w, h);
}

/// Score in the n-th region's `sharpness` structure; NaN if it has not exactly one.
double roi_score(GstBuffer* buffer, int n) {
  gpointer at = nullptr;
  GstMeta* meta = nullptr;
  for (int i = 0; i <= n; ++i)
    meta = gst_buffer_iterate_meta_filtered(buffer, &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  double score = std::nan("");
  int found = 0;
  for (GList* p = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->params; p; p = p->next)
    if (auto* s = static_cast<GstStructure*>(p->data); gst_structure_has_name(s, "sharpness")) {
      score = number(s, "score");
      ++found;
    }
  return found == 1 ? score : std::nan("");
}

TEST(RoiMeta, EveryRegionIsScored) {
  Rig rig{{"roi-meta", "true"}, {"zone-columns", "2"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  add_roi(buffer.get(), 3, 4, 20, 10);
  add_roi(buffer.get(), 60, 40, 4000000000u, 4000000000u);
  add_roi(buffer.get(), 100, 100, 10, 10);
  const Scores want =
      expected(kCaps, buffer.get(),
               {.zone_columns = 2, .extra = {{3, 4, 20, 10}, {60, 40, 4000000000, 4000000000}, {100, 100, 10, 10}}});
  BufferPtr out = rig.pass(std::move(buffer));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(roi_score(out.get(), i), want.extra[static_cast<std::size_t>(i)]) << i;
  EXPECT_EQ(roi_score(out.get(), 2), 0);
  EXPECT_EQ(meta_score(out.get()), want.score);
  EXPECT_TRUE(rig.heard().warnings.empty());
  // Measured again, the old params give way.
  rig.set("metric", "variance");
  out = rig.pass(std::move(out));
  EXPECT_NE(roi_score(out.get(), 0), want.extra[0]);
  EXPECT_FALSE(std::isnan(roi_score(out.get(), 0)));
}

TEST(RoiMeta, RegionsAreLeftAloneByDefault) {
  Rig rig;
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  add_roi(buffer.get(), 3, 4, 20, 10);
  EXPECT_TRUE(std::isnan(roi_score(rig.pass(std::move(buffer)).get(), 0)));
}

TEST(RoiMeta, MoreThan64WarnOnce) {
  Rig rig{{"roi-meta", "true"}};
  rig.caps(kCaps);
  for (int round = 0; round < 3; ++round) {
    BufferPtr buffer = random_buffer(kCaps, 9);
    for (guint i = 0; i < 70; ++i) add_roi(buffer.get(), i % 40, i % 30, 9, 9);
    const BufferPtr out = rig.pass(std::move(buffer));
    EXPECT_FALSE(std::isnan(roi_score(out.get(), 63)));
    EXPECT_TRUE(std::isnan(roi_score(out.get(), 64)));
  }
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
}

TEST(RoiMeta, SharedBuffersGetACopyOfTheRegions) {
  Rig rig{{"roi-meta", "true"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  add_roi(buffer.get(), 3, 4, 20, 10);
  const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(buffer.get())));
  EXPECT_FALSE(std::isnan(roi_score(out.get(), 0)));
  EXPECT_TRUE(std::isnan(roi_score(buffer.get(), 0)));
}

}  // namespace
}  // namespace framequality::test
