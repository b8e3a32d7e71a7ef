// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of a measured frame's results: fields of message and meta, zones, roi, statistics.
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"

namespace framequality::test {

using namespace sharpness;

namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

std::vector<double> zones(const GstStructure* s) {
  std::vector<double> list;
  const GValue* array = gst_structure_get_value(s, "zones");
  if (!array || !GST_VALUE_HOLDS_ARRAY(array)) return list;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    list.push_back(g_value_get_double(gst_value_array_get_value(array, i)));
  return list;
}

TEST(Result, MessageHasTheContractsFields) {
  Rig rig{{"zone-columns", "3"}, {"zone-rows", "2"}, {"roi", "<4,5,40,30>"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 1, GST_SECOND);
  const Scores want = expected(kCaps, buffer.get(), {.zone_columns = 3, .zone_rows = 2, .roi = Rect{4, 5, 40, 30}});
  rig.pass(std::move(buffer));
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 1u);
  const GstStructure* s = heard.results[0].get();
  EXPECT_EQ(count(s, "timestamp"), GST_SECOND);
  EXPECT_EQ(count(s, "stream-time"), GST_SECOND);
  EXPECT_EQ(count(s, "running-time"), GST_SECOND);
  EXPECT_EQ(count(s, "duration"), GST_SECOND / 30);
  EXPECT_EQ(count(s, "frame"), 0u);
  EXPECT_EQ(text(s, "metric"), "tenengrad");
  EXPECT_EQ(text(s, "device"), rig.string("active-device"));
  EXPECT_EQ(number(s, "score"), want.score);
  guint width = 0, height = 0, columns = 0, rows = 0;
  EXPECT_TRUE(gst_structure_get(s, "width", G_TYPE_UINT, &width, "height", G_TYPE_UINT, &height, "zone-columns",
                                G_TYPE_UINT, &columns, "zone-rows", G_TYPE_UINT, &rows, nullptr));
  EXPECT_EQ(width, 64u);
  EXPECT_EQ(height, 48u);
  EXPECT_EQ(columns, 3u);
  EXPECT_EQ(rows, 2u);
  EXPECT_EQ(zones(s), want.zones);
  const GValue* roi = gst_structure_get_value(s, "roi");
  ASSERT_TRUE(roi && GST_VALUE_HOLDS_ARRAY(roi));
  ASSERT_EQ(gst_value_array_get_size(roi), 4u);
  const int edges[] = {4, 5, 40, 30};
  for (guint i = 0; i < 4; ++i) EXPECT_EQ(g_value_get_int(gst_value_array_get_value(roi, i)), edges[i]);
}

TEST(Result, DamagedFramesAreCalledSo) {
  Rig rig;
  rig.caps(kCaps);
  const auto damaged = [&](bool flagged) {
    BufferPtr buffer = random_buffer(kCaps, 1);
    if (flagged) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_CORRUPTED);
    rig.pass(std::move(buffer));
    const Heard heard = rig.heard();
    gboolean value = FALSE;
    if (!gst_structure_get_boolean(heard.results.at(0).get(), "damaged", &value)) return std::string("absent");
    return std::string(value ? "yes" : "no");
  };
  EXPECT_EQ(damaged(true), "yes");
  EXPECT_EQ(damaged(false), "no");
  rig.set("detect-damage", "false");
  EXPECT_EQ(damaged(true), "absent");
}

TEST(Result, FieldsOfOptionsNotUsedAreAbsent) {
  Rig rig;
  rig.caps(kCaps);
  rig.pass(random_buffer(kCaps, 1));
  const Heard heard = rig.heard();
  for (const char* field : {"roi", "zones", "zone-columns", "zone-rows", "noise", "mean", "clipped-black", "normalize"})
    EXPECT_FALSE(gst_structure_has_field(heard.results.at(0).get(), field)) << field;
}

TEST(Result, MetaHasTheFieldsOfTheMessage) {
  Rig rig{{"zone-columns", "2"}, {"roi", "<0,0,20,20>"}};
  rig.caps(kCaps);
  const BufferPtr out = rig.pass(random_buffer(kCaps, 1));
  const Heard heard = rig.heard();
  GstCustomMeta* meta = gst_buffer_get_custom_meta(out.get(), "GstSharpnessMeta");
  ASSERT_TRUE(meta);
  const StructurePtr renamed(gst_structure_copy(heard.results.at(0).get()));
  gst_structure_set_name(renamed.get(), "GstSharpnessMeta");
  EXPECT_TRUE(gst_structure_is_equal(renamed.get(), gst_custom_meta_get_structure(meta)));
}

TEST(Result, TimesFollowTheSegment) {
  Rig rig;
  rig.caps(kCaps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.base = 3 * GST_SECOND;
  segment.time = 100 * GST_SECOND;
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  rig.pass(random_buffer(kCaps, 1, 12 * GST_SECOND));
  const Heard heard = rig.heard();
  const GstStructure* s = heard.results.at(0).get();
  EXPECT_EQ(count(s, "timestamp"), 12 * GST_SECOND);
  EXPECT_EQ(count(s, "running-time"), 5 * GST_SECOND);
  EXPECT_EQ(count(s, "stream-time"), 102 * GST_SECOND);
}

TEST(Result, FrameWithoutTimesSaysSo) {
  Rig rig;
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 1, GST_CLOCK_TIME_NONE);
  GST_BUFFER_DURATION(buffer.get()) = GST_CLOCK_TIME_NONE;
  rig.pass(std::move(buffer));
  const Heard heard = rig.heard();
  for (const char* field : {"timestamp", "stream-time", "running-time", "duration"})
    EXPECT_EQ(count(heard.results.at(0).get(), field), GST_CLOCK_TIME_NONE) << field;
}

TEST(Result, EveryMetricAndOption) {
  for (int metric = 0; metric < kMetricCount; ++metric)
    for (const char* prefilter : {"none", "binomial3", "binomial5"})
      for (const char* downscale : {"1", "2", "4"}) {
        Rig rig{{"metric", metric_info(metric).name},
                {"prefilter", prefilter},
                {"downscale", downscale},
                {"normalize", "mean"},
                {"zone-rows", "2"}};
        rig.caps(kCaps);
        BufferPtr buffer = random_buffer(kCaps, 2);
        Request request{.metric = metric, .downscale = downscale[0] - '0', .mean = true, .zone_rows = 2};
        request.prefilter = prefilter[0] == 'n'   ? Prefilter::kNone
                            : prefilter[8] == '3' ? Prefilter::kBinomial3
                                                  : Prefilter::kBinomial5;
        const Scores want = expected(kCaps, buffer.get(), request);
        rig.pass(std::move(buffer));
        const Heard heard = rig.heard();
        EXPECT_EQ(number(heard.results.at(0).get(), "score"), want.score);
        EXPECT_EQ(zones(heard.results.at(0).get()), want.zones);
        EXPECT_EQ(text(heard.results.at(0).get(), "metric"), metric_info(metric).name);
      }
}

TEST(Result, StatisticsOfTheRoi) {
  const std::string caps = video_caps("I420", 64, 48, ",interlace-mode=interleaved");
  Rig rig{{"statistics", "true"}, {"roi", "<3,4,50,41>"}, {"zone-columns", "2"}, {"downscale", "2"}};
  rig.caps(caps);
  BufferPtr buffer = random_buffer(caps, 2);
  const Statistics want = expected(caps, buffer.get(),
                                   {.downscale = 2,
                                    .interlaced = true,
                                    .limited = true,
                                    .statistics = true,
                                    .zone_columns = 2,
                                    .roi = Rect{3, 4, 50, 41}})
                              .statistics;
  const BufferPtr out = rig.pass(std::move(buffer));
  const Heard heard = rig.heard();
  GstCustomMeta* meta = gst_buffer_get_custom_meta(out.get(), "GstSharpnessMeta");
  ASSERT_TRUE(meta);
  for (const GstStructure* s :
       std::initializer_list<const GstStructure*>{heard.results.at(0).get(), gst_custom_meta_get_structure(meta)}) {
    EXPECT_EQ(number(s, "noise"), want.noise);
    EXPECT_EQ(number(s, "mean"), want.mean);
    EXPECT_EQ(number(s, "clipped-black"), want.clipped_black);
    EXPECT_EQ(number(s, "clipped-white"), want.clipped_white);
    EXPECT_EQ(text(s, "normalize"), "none");
  }
  EXPECT_GT(want.noise, 10);
  EXPECT_GT(want.clipped_white, 0.02);
}

TEST(Result, StatisticsTellWhetherTheScoreIsNormalized) {
  Rig rig{{"statistics", "true"}, {"normalize", "mean"}};
  rig.caps(kCaps);
  rig.pass(random_buffer(kCaps, 2));
  rig.set("normalize", "none");
  rig.pass(random_buffer(kCaps, 2, GST_SECOND));
  rig.set("statistics", "false");
  rig.pass(random_buffer(kCaps, 2, 2 * GST_SECOND));
  const Heard heard = rig.heard();
  EXPECT_EQ(text(heard.results.at(0).get(), "normalize"), "mean");
  EXPECT_EQ(text(heard.results.at(1).get(), "normalize"), "none");
  EXPECT_FALSE(gst_structure_has_field(heard.results.at(2).get(), "normalize"));
}

// With the metric, at all scales too, and with statistics of another one; nowhere else.
TEST(Result, BlurIsToldWithTheMetricAndWithStatistics) {
  const int directional = metric_index("directional-frequency");
  const std::pair<std::vector<std::pair<const char*, const char*>>, Request> cases[] = {
      {{{"metric", "directional-frequency"}}, {.metric = directional, .zone_columns = 3}},
      {{{"metric", "directional-frequency"}, {"downscale", "0"}},
       {.metric = directional, .downscale = 0, .zone_columns = 3}},
      {{{"statistics", "true"}}, {.statistics = true, .zone_columns = 3}}};
  for (const auto& [properties, request] : cases) {
    Rig rig{{"zone-columns", "3"}, {"sharpest-zones", "2"}};
    for (const auto& [name, value] : properties) rig.set(name, value);
    rig.caps(kCaps);
    BufferPtr buffer = random_buffer(kCaps, 1, 0);
    const Scores want = expected(kCaps, buffer.get(), request);
    rig.pass(std::move(buffer));
    const Heard heard = rig.heard();
    const GstStructure* s = heard.results.at(0).get();
    ASSERT_TRUE(want.blur);
    EXPECT_EQ(number(s, "score"), want.score);
    EXPECT_EQ(text(s, "blur"), name_of(want.blur->kind));
    EXPECT_EQ(gst_structure_has_field(s, "anisotropy") != FALSE, want.blur->kind != BlurKind::kFlat);
    if (want.blur->kind != BlurKind::kFlat) {
      EXPECT_EQ(number(s, "anisotropy"), want.blur->anisotropy);
      EXPECT_EQ(number(s, "blur-angle"), want.blur->angle);
    }
    EXPECT_EQ(number(s, "sharpest-zones"), sharpest_zones(want.zones, 2));
  }
  Rig rig;
  rig.caps(kCaps);
  rig.pass(random_buffer(kCaps, 1, 0));
  const Heard heard = rig.heard();
  for (const char* field : {"blur", "anisotropy", "blur-angle", "sharpest-zones"})
    EXPECT_FALSE(gst_structure_has_field(heard.results.at(0).get(), field)) << field;
}

TEST(Result, NoiseCorrectionTellsTheNoiseThatItTakesOff) {
  Rig rig{{"noise-correction", "true"}, {"normalize", "mean"}, {"prefilter", "binomial3"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 2);
  Request request{.mean = true, .noise_correction = true};
  request.prefilter = Prefilter::kBinomial3;
  const Scores want = expected(kCaps, buffer.get(), request);
  rig.pass(std::move(buffer));
  rig.set("noise-correction", "false");
  rig.pass(random_buffer(kCaps, 2, GST_SECOND));
  const Heard heard = rig.heard();
  EXPECT_EQ(number(heard.results.at(0).get(), "score"), want.score);
  EXPECT_EQ(number(heard.results.at(0).get(), "noise"), want.statistics.noise);
  EXPECT_FALSE(gst_structure_has_field(heard.results.at(0).get(), "mean"));
  EXPECT_EQ(want.score, 0) << "random codes are noise";
  EXPECT_GT(number(heard.results.at(1).get(), "score"), 0);
  EXPECT_FALSE(gst_structure_has_field(heard.results.at(1).get(), "noise"));
}

TEST(Result, StatsAndLastScore) {
  Rig rig;
  gdouble last = -1;
  g_object_get(rig.element(), "last-score", &last, nullptr);
  EXPECT_EQ(last, 0);
  EXPECT_EQ(rig.stat("measured"), 0u);
  rig.caps(kCaps);
  double score = 0;
  for (std::uint64_t i = 0; i < 3; ++i) score = rig.score(random_buffer(kCaps, i, i * GST_SECOND));
  g_object_get(rig.element(), "last-score", &last, nullptr);
  EXPECT_EQ(last, score);
  EXPECT_EQ(rig.stat("measured"), 3u);
  EXPECT_EQ(rig.stat("skipped"), 0u);
  EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
  EXPECT_GT(rig.stat("busy-ns"), 0u);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(count(heard.results[i].get(), "frame"), i);
}

TEST(Result, PostMessagesAndAttachMetaSwitchOff) {
  Rig rig{{"post-messages", "false"}};
  rig.caps(kCaps);
  EXPECT_FALSE(std::isnan(rig.score(random_buffer(kCaps, 1))));
  EXPECT_TRUE(rig.heard().results.empty());
  rig.set("post-messages", "true");
  rig.set("attach-meta", "false");
  EXPECT_TRUE(std::isnan(rig.score(random_buffer(kCaps, 1))));
  EXPECT_EQ(rig.heard().results.size(), 1u);
}

TEST(Result, WithNeitherFramesAreMeasuredAndCounted) {
  Rig rig{{"post-messages", "false"}, {"attach-meta", "false"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 2);
  const double want = expected(kCaps, buffer.get(), {}).score;
  EXPECT_TRUE(std::isnan(rig.score(std::move(buffer))));
  double last = 0;
  g_object_get(rig.element(), "last-score", &last, nullptr);
  EXPECT_EQ(last, want);
  EXPECT_EQ(rig.stat("measured"), 1u);
  rig.set("post-messages", "true");
  rig.pass(random_buffer(kCaps, 1));
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 1u);
  EXPECT_EQ(count(heard.results[0].get(), "frame"), 1u);
}

TEST(Result, RoiOutsideScoresZeroAndWarnsOncePerCaps) {
  for (const char* roi : {"<64,0,10,10>", "<-20,-20,10,10>", "<0,0,0,5>", "<5,5,-3,9>",
                          "<2147483647,2147483647,2147483647,2147483647>", "<-2147483648,0,-2147483648,9>"}) {
    Rig rig{{"roi", roi}, {"zone-columns", "2"}};
    rig.caps(kCaps);
    EXPECT_EQ(rig.score(random_buffer(kCaps, 1)), 0) << roi;
    EXPECT_EQ(rig.score(random_buffer(kCaps, 2)), 0) << roi;
    rig.set("metric", "variance");
    EXPECT_EQ(rig.score(random_buffer(kCaps, 2)), 0) << roi;
    Heard heard = rig.heard();
    ASSERT_EQ(heard.warnings.size(), 1u) << roi;
    EXPECT_NE(heard.warnings[0].text.find(roi), std::string::npos) << heard.warnings[0].text;
    EXPECT_TRUE(heard.errors.empty());
    rig.caps(video_caps("GRAY8", 32, 48));
    EXPECT_EQ(rig.score(random_buffer(video_caps("GRAY8", 32, 48), 2)), 0);
    EXPECT_EQ(rig.heard().warnings.size(), 1u) << roi;
  }
}

TEST(Result, RoiIsClippedToTheFrame) {
  Rig rig{{"roi", "<-2147483648,-2147483648,2147483647,2147483647>"}};
  rig.caps(kCaps);
  EXPECT_EQ(rig.score(random_buffer(kCaps, 1)), 0);
  rig.set("roi", "<-10,-10,2147483647,2147483647>");
  BufferPtr buffer = random_buffer(kCaps, 1);
  const double want = expected(kCaps, buffer.get()).score;
  EXPECT_EQ(rig.score(std::move(buffer)), want);
}

TEST(Result, ZonesOfTheSmallestFrames) {
  const std::string caps = video_caps("GRAY8", 2, 1);
  Rig rig{{"zone-columns", "64"}, {"zone-rows", "64"}};
  rig.caps(caps);
  EXPECT_EQ(rig.score(random_buffer(caps, 1)), 0);
  const Heard heard = rig.heard();
  EXPECT_EQ(zones(heard.results.at(0).get()), std::vector<double>(64 * 64, 0));
  EXPECT_TRUE(heard.warnings.empty());
}

}  // namespace
}  // namespace framequality::test
