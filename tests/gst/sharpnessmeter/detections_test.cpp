// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes of object detectors are scored as regions of interest are.
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"

#include <gst/analytics/gstanalyticsclassificationmtd.h>
#include <gst/analytics/gstanalyticsobjectdetectionmtd.h>

#include <array>
#include <cmath>

namespace framequality::test {

using namespace sharpness;

namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

void add_detection(GstBuffer* buffer, const char* label, const Rect& box, float confidence = 0.5f) {
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  if (!meta) meta = gst_buffer_add_analytics_relation_meta(buffer);
  GstAnalyticsODMtd object;
  ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(
      meta, label ? g_quark_from_string(label) : 0, static_cast<gint>(box.x), static_cast<gint>(box.y),
      static_cast<gint>(box.width), static_cast<gint>(box.height), confidence, &object));
}

/// The structures in the field `detections`; empty without one.
std::vector<const GstStructure*> detections(const GstStructure* fields) {
  std::vector<const GstStructure*> all;
  const GValue* array = gst_structure_get_value(fields, "detections");
  for (guint i = 0; array && i < gst_value_array_get_size(array); ++i)
    all.push_back(gst_value_get_structure(gst_value_array_get_value(array, i)));
  return all;
}

const GstStructure* meta_of(const BufferPtr& buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer.get(), "GstSharpnessMeta");
  return meta ? gst_custom_meta_get_structure(meta) : nullptr;
}

TEST(Detections, ScoreAsRegionsOfInterestDo) {
  Rig rig{{"roi-meta", "true"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  const std::vector<Rect> boxes{{3, 4, 20, 10}, {-5, -6, 30, 30}, {60, 40, 1000, 1000}, {100, 100, 10, 10}};
  const Rect region{7, 8, 9, 10};
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 7, 8, 9, 10);
  for (const Rect& box : boxes) add_detection(buffer.get(), "dog", box, 0.75f);
  const Scores want = expected(kCaps, buffer.get(), {.extra = {region, boxes[0], boxes[1], boxes[2], boxes[3]}});
  const BufferPtr out = rig.pass(std::move(buffer));
  const Heard heard = rig.heard();
  ASSERT_FALSE(heard.results.empty());
  const std::array<const GstStructure*, 2> both{meta_of(out), heard.results.back().get()};
  for (const GstStructure* fields : both) {
    ASSERT_TRUE(fields);
    const auto found = detections(fields);
    ASSERT_EQ(found.size(), boxes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_EQ(number(found[i], "score"), want.extra[i + 1]) << i;
      EXPECT_EQ(text(found[i], "label"), "dog");
      EXPECT_EQ(number(found[i], "confidence"), 0.75);
      int x = 0, y = 0, width = 0, height = 0;
      EXPECT_TRUE(gst_structure_get(found[i], "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "width", G_TYPE_INT, &width,
                                    "height", G_TYPE_INT, &height, nullptr));
      EXPECT_EQ((Rect{x, y, width, height}), boxes[i]);
    }
    EXPECT_EQ(number(found[3], "score"), 0) << "outside";
  }
  gpointer at = nullptr;
  GstMeta* meta = gst_buffer_iterate_meta_filtered(out.get(), &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  const GstStructure* param =
      gst_video_region_of_interest_meta_get_param(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), "sharpness");
  ASSERT_TRUE(param);
  EXPECT_EQ(number(param, "score"), want.extra[0]) << "the region beside them";
}

TEST(Detections, AreLeftAloneByDefaultAndMissedInNoFrameWithout) {
  Rig rig;
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  add_detection(buffer.get(), "dog", {3, 4, 20, 10});
  EXPECT_TRUE(detections(meta_of(rig.pass(std::move(buffer)))).empty());
  rig.set("roi-meta", "true");
  EXPECT_FALSE(gst_structure_has_field(meta_of(rig.pass(random_buffer(kCaps, 9))), "detections"));
}

TEST(Detections, OtherAnalyticsAndUnnamedObjectsAreNoTrouble) {
  Rig rig{{"roi-meta", "true"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  add_detection(buffer.get(), nullptr, {3, 4, 20, 10});
  GstAnalyticsClsMtd cls;
  gfloat confidence = 1;
  GQuark what = g_quark_from_string("poodle");
  ASSERT_TRUE(gst_analytics_relation_meta_add_cls_mtd(gst_buffer_get_analytics_relation_meta(buffer.get()), 1,
                                                      &confidence, &what, &cls));
  add_detection(buffer.get(), "cat", {1, 2, 5, 5});
  const BufferPtr out = rig.pass(std::move(buffer));
  const auto found = detections(meta_of(out));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(text(found[0], "label"), "");
  EXPECT_EQ(text(found[1], "label"), "cat");
  // By its id an application finds what else is known of the object.
  guint id = 0;
  GstAnalyticsODMtd object;
  EXPECT_TRUE(gst_structure_get_uint(found[1], "id", &id));
  EXPECT_TRUE(gst_analytics_relation_meta_get_od_mtd(gst_buffer_get_analytics_relation_meta(out.get()), id, &object));
  EXPECT_EQ(gst_analytics_od_mtd_get_obj_type(&object), g_quark_from_string("cat"));
}

TEST(Detections, MoreThan64RegionsInAllWarnOnce) {
  Rig rig{{"roi-meta", "true"}};
  rig.caps(kCaps);
  for (int round = 0; round < 3; ++round) {
    BufferPtr buffer = random_buffer(kCaps, 9);
    for (guint i = 0; i < 10; ++i) gst_buffer_add_video_region_of_interest_meta(buffer.get(), "r", i, i, 9, 9);
    for (int i = 0; i < 70; ++i) add_detection(buffer.get(), "o", {i % 40, i % 30, 9, 9});
    EXPECT_EQ(detections(meta_of(rig.pass(std::move(buffer)))).size(), 54u);
  }
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
}

#if GST_CHECK_VERSION(1, 26, 0)
TEST(Detections, TurnedBoxesCountAsUprightOnesAroundThem) {
  Rig rig{{"roi-meta", "true"}};
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 9);
  GstAnalyticsODMtd object;
  ASSERT_TRUE(gst_analytics_relation_meta_add_oriented_od_mtd(gst_buffer_add_analytics_relation_meta(buffer.get()),
                                                              g_quark_from_string("ship"), 20, 10, 24, 12,
                                                              static_cast<gfloat>(std::acos(-1.0) / 2), 1, &object));
  const BufferPtr out = rig.pass(std::move(buffer));
  const auto found = detections(meta_of(out));
  ASSERT_EQ(found.size(), 1u);
  int x = 0, y = 0, width = 0, height = 0;
  gst_structure_get(found[0], "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "width", G_TYPE_INT, &width, "height",
                    G_TYPE_INT, &height, nullptr);
  // A quarter turn about the centre.
  EXPECT_NEAR(x, 26, 1);
  EXPECT_NEAR(y, 4, 1);
  EXPECT_NEAR(width, 12, 1);
  EXPECT_NEAR(height, 24, 1);
}
#endif

}  // namespace
}  // namespace framequality::test
