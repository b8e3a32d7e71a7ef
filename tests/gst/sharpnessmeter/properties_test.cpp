// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties: ranges, defaults, values that are refused and kept.
#include "algorithms/sharpness/metrics.h"
#include "tests/gst/rig.h"

namespace framequality::test {

using namespace sharpness;

namespace {

/// GLib warnings while this lives.
class Warnings {
 public:
  Warnings() : old_(g_log_set_default_handler(log, this)) {}
  ~Warnings() { g_log_set_default_handler(old_, nullptr); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  int count = 0;
  std::string last;

 private:
  static void log(const gchar*, GLogLevelFlags level, const gchar* message, gpointer self) {
    if (!(level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL))) return;  // GLib 2.84 takes some for critical
    ++static_cast<Warnings*>(self)->count;
    static_cast<Warnings*>(self)->last = message;
  }
  GLogFunc old_;
};

std::vector<int> roi_of(Rig& rig) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(rig.element()), "roi", &value);
  std::vector<int> roi;
  for (guint i = 0; i < gst_value_array_get_size(&value); ++i)
    roi.push_back(g_value_get_int(gst_value_array_get_value(&value, i)));
  g_value_unset(&value);
  return roi;
}

TEST(Properties, RoiReadsBack) {
  Rig rig;
  EXPECT_EQ(roi_of(rig), std::vector<int>{});
  rig.set("roi", "<10,20,300,200>");
  EXPECT_EQ(roi_of(rig), (std::vector<int>{10, 20, 300, 200}));
  rig.set("roi", "<-2147483648,2147483647,-1,0>");
  EXPECT_EQ(roi_of(rig), (std::vector<int>{G_MININT, G_MAXINT, -1, 0}));
  rig.set("roi", "<>");
  EXPECT_EQ(roi_of(rig), std::vector<int>{});
}

TEST(Properties, WrongRoiWarnsAndIsNotTaken) {
  Rig rig{{"roi", "<1,2,3,4>"}};
  for (const char* wrong : {"<1>", "<1,2,3>", "<1,2,3,4,5>"}) {
    Warnings warnings;
    rig.set("roi", wrong);
    EXPECT_EQ(warnings.count, 1) << wrong;
    EXPECT_EQ(roi_of(rig), (std::vector<int>{1, 2, 3, 4})) << wrong;
  }
}

TEST(Properties, RoiOfOtherTypesIsNotTaken) {
  Rig rig{{"roi", "<1,2,3,4>"}};
  for (const char* wrong : {"<a,b,c,d>", "<1.5,2,3,4>", "1,2,3,4", "nonsense", "<1,2,3,99999999999>"}) {
    Warnings warnings;
    rig.set("roi", wrong);
    EXPECT_EQ(roi_of(rig), (std::vector<int>{1, 2, 3, 4})) << wrong;
  }
  GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&item, G_TYPE_DOUBLE);
  for (int i = 0; i < 4; ++i) gst_value_array_append_value(&array, &item);
  Warnings warnings;
  g_object_set_property(G_OBJECT(rig.element()), "roi", &array);
  g_value_unset(&array);
  EXPECT_EQ(warnings.count, 1);
  EXPECT_EQ(roi_of(rig), (std::vector<int>{1, 2, 3, 4}));
}

TEST(Properties, DownscaleIsOneTwoOrFourOrAllOfThem) {
  Rig rig;
  gint k = 0;
  for (const auto& [value, want] : {std::pair{"2", 2}, {"4", 4}, {"0", 0}, {"1", 1}}) {
    rig.set("downscale", value);
    g_object_get(rig.element(), "downscale", &k, nullptr);
    EXPECT_EQ(k, want);
  }
  Warnings warnings;
  for (const char* wrong : {"3", "-1", "5"}) rig.set("downscale", wrong);
  g_object_get(rig.element(), "downscale", &k, nullptr);
  EXPECT_EQ(k, 1);
  EXPECT_GE(warnings.count, 1);
  EXPECT_NE(warnings.last.find("downscale"), std::string::npos) << warnings.last;
}

TEST(Properties, MetricsAreTheList) {
  Rig rig;
  for (int i = 0; i < kMetricCount; ++i) {
    rig.set("metric", metric_info(i).name);
    gint value = -1;
    g_object_get(rig.element(), "metric", &value, nullptr);
    EXPECT_EQ(value, i);
  }
}

TEST(Properties, DefaultsAreTheContracts) {
  const Setting named = std::exchange(named_device, {});
  Rig rig;
  named_device = named;
  gint metric = -1, prefilter = -1, downscale = -1, normalize = -1, columns = -1, rows = -1, device = -1, id = 0;
  gboolean roi_meta = TRUE, post = FALSE, attach = FALSE;
  guint64 interval = 1;
  g_object_get(rig.element(), "metric", &metric, "prefilter", &prefilter, "downscale", &downscale, "normalize",
               &normalize, "zone-columns", &columns, "zone-rows", &rows, "device", &device, "cuda-device-id", &id,
               "roi-meta", &roi_meta, "post-messages", &post, "attach-meta", &attach, "interval", &interval, nullptr);
  EXPECT_STREQ(metric_info(metric).name, "tenengrad");
  EXPECT_EQ(prefilter, 0);
  EXPECT_EQ(downscale, 1);
  EXPECT_EQ(normalize, 0);
  EXPECT_EQ(columns, 1);
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(id, -1);
  EXPECT_FALSE(roi_meta);
  EXPECT_TRUE(post);
  EXPECT_TRUE(attach);
  EXPECT_EQ(interval, 0u);
}

TEST(Properties, DeviceIsFixedWhilePlaying) {
  Rig rig{{"device", "cpu"}};
  rig.caps(video_caps("GRAY8", 64, 48));
  Warnings warnings;
  rig.set("device", "cuda");
  rig.set("cuda-device-id", "3");
  EXPECT_EQ(warnings.count, 2);
  gint device = -1, id = -2;
  g_object_get(rig.element(), "device", &device, "cuda-device-id", &id, nullptr);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(id, -1);
}

TEST(Properties, EveryOneIsDocumented) {
  Rig rig;
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(rig.element()), &n);
  for (guint i = 0; i < n; ++i) {
    const char* blurb = g_param_spec_get_blurb(specs[i]);
    EXPECT_TRUE(blurb && *blurb) << specs[i]->name;
  }
  g_free(specs);
  const char* klass = gst_element_get_metadata(rig.element(), GST_ELEMENT_METADATA_KLASS);
  EXPECT_STREQ(klass, "Filter/Analyzer/Video");
}

}  // namespace
}  // namespace framequality::test
