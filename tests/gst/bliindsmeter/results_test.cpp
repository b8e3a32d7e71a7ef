// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter: results, channels, formats, and what it does not measure.
#include "tests/gst/bliindsmeter/rig.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 61, 47);

double only_score(Heard heard) {
  EXPECT_EQ(heard.results.size(), 1u);
  return heard.results.empty() ? std::nan("") : number(heard.results[0].get(), "score");
}

TEST(Bliinds, MessageHasTheContractsFields) {
  BliindsRig rig{{"features", "true"}};
  rig.caps(kCaps);
  const BufferPtr out = rig.pass(random_buffer(kCaps, 1, GST_SECOND));
  const bliinds::Features features = features_of(kCaps, out.get());
  const bliinds::Score want = bliinds::score_of(bliinds::published_model(), features);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 1u);
  const GstStructure* s = heard.results[0].get();
  for (const char* field : {"timestamp", "stream-time", "running-time"}) EXPECT_EQ(count(s, field), GST_SECOND);
  EXPECT_EQ(count(s, "duration"), GST_SECOND / 30);
  EXPECT_EQ(count(s, "frame"), 0u);
  EXPECT_EQ(text(s, "channel"), "red") << "the default";
  EXPECT_EQ(text(s, "device"), rig.string("active-device"));
  guint width = 0, height = 0;
  EXPECT_TRUE(gst_structure_get(s, "width", G_TYPE_UINT, &width, "height", G_TYPE_UINT, &height, nullptr));
  EXPECT_EQ(width, 61u);
  EXPECT_EQ(height, 47u);
  EXPECT_EQ(number(s, "score"), want.score);
  EXPECT_NEAR(number(s, "raw-score"), want.raw, 1e-9);
  EXPECT_TRUE(same_features(features_in(s), features));
  const GstStructure* meta = bliinds_meta(out.get());
  ASSERT_TRUE(meta);
  const StructurePtr renamed(gst_structure_copy(s));
  gst_structure_set_name(renamed.get(), "GstBliindsMeta");
  EXPECT_TRUE(gst_structure_is_equal(renamed.get(), meta));
  gdouble last = -1;
  g_object_get(rig.element(), "last-score", &last, nullptr);
  EXPECT_EQ(last, want.score);
}

TEST(Bliinds, FeaturesComeAndGoWhilePlaying) {
  BliindsRig rig;
  rig.caps(kCaps);
  for (const bool wanted : {false, true, false}) {
    rig.set("features", wanted ? "true" : "false");
    const BufferPtr out = rig.pass(random_buffer(kCaps, 1));
    EXPECT_EQ(features_in(bliinds_meta(out.get())).size(), wanted ? 24u : 0u);
  }
}

TEST(Bliinds, OptionsOfTheBaseWork) {
  BliindsRig rig{{"interval", "50000000"}, {"attach-meta", "false"}};
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 6; ++i)
    EXPECT_FALSE(bliinds_meta(rig.pass(random_buffer(kCaps, i, i * GST_SECOND / 30)).get()));
  EXPECT_EQ(rig.heard().results.size(), 3u);
  EXPECT_EQ(rig.stat("measured"), 3u);
  EXPECT_EQ(rig.stat("skipped"), 3u);
  rig.set("post-messages", "false");
  rig.pass(random_buffer(kCaps, 7, GST_SECOND));
  EXPECT_TRUE(rig.heard().results.empty());
}

TEST(Bliinds, MetaLivesBesideThatOfSharpness) {
  const ElementPtr pipeline = pipeline_of(
      "videotestsrc num-buffers=1 ! sharpnessmeter ! bliindsmeter ! videoscale ! video/x-raw,width=100 ! "
      "fakesink name=sink enable-last-sample=true");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  const MessagePtr end = end_of(bus.get());
  ASSERT_TRUE(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink");
  GstSample* sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  ASSERT_TRUE(sample);
  EXPECT_TRUE(bliinds_meta(gst_sample_get_buffer(sample)));
  EXPECT_FALSE(std::isnan(meta_score(gst_sample_get_buffer(sample))));
  gst_sample_unref(sample);
  gst_object_unref(sink);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

TEST(Bliinds, EveryFormatScoresByItsCodes) {
  const auto listed = listed_formats("bliindsmeter");
  EXPECT_GT(listed.size(), 60u);
  int gray = 0;
  for (const auto& format : listed)
    for (const auto& [w, h] : {std::pair{61, 37}, {4, 4}}) {
      // GStreamer's unpacker takes U for V in the last column of an odd row of VYUY.
      const std::string caps = video_caps(format.c_str(), format == "VYUY" ? w / 2 * 2 : w, h);
      const GstVideoInfo info = video_info(caps);
      BliindsRig rig{{"features", "true"}};
      rig.caps(caps);
      bliinds::Features features[2];
      for (const auto channel : {bliinds::Channel::kLuma, bliinds::Channel::kRed}) {
        const char* name = channel == bliinds::Channel::kRed ? "red" : "luma";
        rig.set("channel", name);
        const BufferPtr out = rig.pass(random_buffer(caps, 7));
        bliinds::Features& wanted = features[static_cast<int>(channel)] = features_of(caps, out.get(), channel);
        const GstStructure* s = bliinds_meta(out.get());
        ASSERT_TRUE(s) << caps;
        EXPECT_TRUE(same_features(features_in(s), wanted)) << caps << " " << name;
        EXPECT_EQ(number(s, "score"), bliinds::score_of(bliinds::published_model(), wanted).score) << caps;
        EXPECT_EQ(text(s, "channel"), name);
      }
      EXPECT_EQ(features[0] == features[1], GST_VIDEO_INFO_IS_GRAY(&info)) << caps;
      gray += GST_VIDEO_INFO_IS_GRAY(&info);
    }
  EXPECT_GT(gray, 6);
}

TEST(Bliinds, RedFollowsMatrixAndRangeOfTheCaps) {
  for (const char* format : {"NV12", "I420", "UYVY", "Y444_12LE", "P010_10LE", "AYUV64"}) {
    std::vector<bliinds::Features> seen;
    // Range and matrix: full and limited; FCC, BT.709, BT.601, SMPTE 240M, BT.2020.
    for (const char* colorimetry : {"1:2:0:0", "2:2:0:0", "1:3:0:0", "2:3:0:0", "1:4:0:0", "2:4:0:0", "1:5:0:0",
                                    "2:5:0:0", "1:6:0:0", "2:6:0:0"}) {
      const std::string caps = video_caps(format, 41, 22, (std::string(",colorimetry=") + colorimetry).c_str());
      BliindsRig rig{{"features", "true"}};
      rig.caps(caps);
      const BufferPtr out = rig.pass(random_buffer(caps, 7));
      const bliinds::Features features = features_of(caps, out.get());
      EXPECT_TRUE(same_features(features_in(bliinds_meta(out.get())), features)) << caps;
      EXPECT_EQ(std::count(seen.begin(), seen.end(), features), 0) << caps;
      seen.push_back(features);
    }
  }
}

TEST(Bliinds, RedWithoutColorimetryIsByGStreamersDefault) {
  const std::pair<std::string, std::string> same[] = {
      {video_caps("I420", 64, 48), video_caps("I420", 64, 48, ",colorimetry=bt601")},
      {video_caps("I420", 64, 720), video_caps("I420", 64, 720, ",colorimetry=bt709")},
      // GStreamer says that there is no such matrix of YUV, and takes its default.
      {video_caps("I420", 64, 48, ",colorimetry=1:1:0:0"), video_caps("I420", 64, 48, ",colorimetry=bt601")}};
  for (const auto& [given, meant] : same) {
    std::vector<double> features[2];
    for (const std::string& caps : {given, meant}) {
      BliindsRig rig{{"features", "true"}};
      rig.caps(caps);
      features[caps == meant] = features_in(bliinds_meta(rig.pass(random_buffer(caps, 2)).get()));
    }
    EXPECT_EQ(features[0], features[1]) << given;
    EXPECT_EQ(features[0].size(), 24u);
  }
}

TEST(Bliinds, ChromaOfInterlacedFramesIsThatOfItsField) {
  for (const char* format : {"I420", "NV12", "P010_10LE", "Y42B"}) {
    const std::string interlaced = video_caps(format, 40, 32, ",interlace-mode=interleaved");
    const std::string progressive = video_caps(format, 40, 32);
    BliindsRig rig{{"features", "true"}};
    rig.caps(interlaced);
    BufferPtr buffer = random_buffer(interlaced, 5);
    GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
    const BufferPtr out = rig.pass(std::move(buffer));
    const bliinds::Features features = features_of(interlaced, out.get());
    EXPECT_TRUE(same_features(features_in(bliinds_meta(out.get())), features)) << format;
    EXPECT_EQ(features == features_of(progressive, out.get()), std::string(format) == "Y42B") << format;
  }
}

/// A buffer whose planes lie apart, rows with gaps: `spare` bytes behind each row, the last plane `missing` short.
BufferPtr spread_buffer(const std::string& caps, gsize spare, gsize missing = 0) {
  GstVideoInfo info = video_info(caps);
  const BufferPtr tight = random_buffer(caps, 4);
  GstVideoFrame from;
  gst_video_frame_map(&from, &info, tight.get(), GST_MAP_READ);
  gsize offset[GST_VIDEO_MAX_PLANES] = {}, size = 11;
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const auto rows = static_cast<gsize>(GST_VIDEO_INFO_COMP_HEIGHT(&info, p));
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE(&info, p) + static_cast<gint>(spare);
    offset[p] = size;
    size += rows * static_cast<gsize>(stride[p]) + 5;
  }
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0x5a, size);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const gint rows = GST_VIDEO_INFO_COMP_HEIGHT(&info, p), step = GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
    for (gint y = 0; y < rows; ++y)
      gst_buffer_fill(buffer.get(), offset[p] + static_cast<gsize>(y) * static_cast<gsize>(stride[p]),
                      static_cast<const guint8*>(from.data[p]) + static_cast<gsize>(y) * static_cast<gsize>(step),
                      static_cast<gsize>(step));
  }
  gst_video_frame_unmap(&from);
  gst_buffer_set_size(buffer.get(), static_cast<gssize>(size - missing));
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 GST_VIDEO_INFO_N_PLANES(&info), offset, stride);
  return buffer;
}

TEST(Bliinds, RedIsFoundWhereGstVideoMetaPutsIt) {
  for (const char* format : {"I420", "YV12", "NV12", "NV21", "Y42B", "YUY2", "P010_10LE", "Y444_16LE", "GBR"}) {
    const std::string caps = video_caps(format, 43, 26);
    BliindsRig rig{{"features", "true"}};
    rig.caps(caps);
    const BufferPtr out = rig.pass(spread_buffer(caps, 6));
    EXPECT_TRUE(same_features(features_in(bliinds_meta(out.get())), features_of(caps, random_buffer(caps, 4).get())))
        << format;
  }
}

TEST(Bliinds, ChromaThatIsNotThereIsOneErrorIfItIsNeeded) {
  for (const char* format : {"I420", "NV12"}) {
    const std::string caps = video_caps(format, 64, 48);
    BliindsRig luma{{"channel", "luma"}}, red;
    for (BliindsRig* rig : {&luma, &red}) rig->caps(caps);
    EXPECT_EQ(luma.push(spread_buffer(caps, 0, 40)), GST_FLOW_OK);
    EXPECT_TRUE(luma.heard().errors.empty());
    EXPECT_EQ(red.push(spread_buffer(caps, 0, 40)), GST_FLOW_ERROR);
    const Heard heard = red.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
    EXPECT_NE(heard.errors[0].text.find(std::string("Plane ") + (format[0] == 'I' ? "2" : "1")), std::string::npos)
        << heard.errors[0].text;
  }
}

/// The watch for significant bits looks at all of a pixel's samples, red alone is measured.
TEST(Bliinds, PixelsThatAreNotWholeAreAnError) {
  const std::string caps = video_caps("ARGB64", 31, 24);
  for (const gsize missing : {gsize{5}, gsize{6}, gsize{9}}) {
    BliindsRig rig;
    rig.caps(caps);
    EXPECT_EQ(rig.push(spread_buffer(caps, 0, missing)), missing == 5 ? GST_FLOW_OK : GST_FLOW_ERROR) << missing;
    EXPECT_EQ(rig.heard().errors.size(), missing == 5 ? 0u : 1u) << missing;
  }
}

TEST(Bliinds, ChannelChangesWhilePlaying) {
  const std::string caps = video_caps("RGB", 40, 33);
  BliindsRig rig;
  rig.caps(caps);
  for (const char* channel : {"luma", "red", "luma"}) {
    rig.set("channel", channel);
    EXPECT_EQ(text(bliinds_meta(rig.pass(random_buffer(caps, 3)).get()), "channel"), channel);
  }
}

TEST(Bliinds, TinyFramesPassWithoutScoreAndOneWarning) {
  for (const auto& [w, h] : {std::pair{3, 100}, {100, 3}, {1, 1}}) {
    const std::string caps = video_caps("GRAY8", w, h);
    BliindsRig rig;
    rig.caps(caps);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(bliinds_meta(rig.pass(random_buffer(caps, 1)).get()));
    Heard heard = rig.heard();
    EXPECT_TRUE(heard.errors.empty() && heard.results.empty());
    ASSERT_EQ(heard.warnings.size(), 1u) << w << "x" << h;
    EXPECT_NE(heard.warnings[0].text.find(std::to_string(w) + "x" + std::to_string(h)), std::string::npos);
    EXPECT_EQ(rig.stat("measured"), 0u);
    EXPECT_EQ(rig.stat("skipped"), 3u);
    rig.caps(kCaps);
    EXPECT_TRUE(bliinds_meta(rig.pass(random_buffer(kCaps, 1)).get())) << "larger ones are measured again";
    EXPECT_EQ(rig.heard().warnings.size(), 0u);
    EXPECT_EQ(rig.stat("measured"), 1u);
  }
}

TEST(Bliinds, InterlacedFramesAreMeasuredWovenWithOneWarning) {
  for (const char* mode : {",interlace-mode=interleaved", ",interlace-mode=mixed"}) {
    const std::string caps = video_caps("GRAY8", 40, 31, mode);
    BliindsRig rig;
    rig.caps(caps);
    for (int i = 0; i < 2; ++i) {
      BufferPtr buffer = random_buffer(caps, 5);
      GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
      const BufferPtr out = rig.pass(std::move(buffer));
      EXPECT_NEAR(number(bliinds_meta(out.get()), "raw-score"),
                  bliinds_score(video_caps("GRAY8", 40, 31), out.get()).raw, 1e-9);
    }
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.warnings.size(), 1u);
    EXPECT_NE(heard.warnings[0].text.find("deinterlace"), std::string::npos);
  }
}

TEST(Bliinds, AuthorsScoresComeOutOfAPipeline) {
  const char* root = std::getenv("FQ_SOURCE_ROOT");
  const std::filesystem::path folder = std::filesystem::path(root ? root : ".") / "../shared/oracles/bliinds";
  std::ifstream table(folder / "octave_features.csv");
  if (!table) GTEST_SKIP() << "no oracle at " << folder;
  std::string line;
  std::getline(table, line);
  int pictures = 0;
  for (; std::getline(table, line); ++pictures) {
    const std::string name = line.substr(0, line.find(','));
    const double want = std::stod(line.substr(line.rfind(',') + 1));
    EXPECT_EQ(only_score(run("filesrc location=\"" + (folder / "images" / (name + ".png")).string() +
                                 "\" ! pngdec ! bliindsmeter ! fakesink",
                             "bliindsmeter")),
              want)
        << name;
  }
  EXPECT_EQ(pictures, 24);
}

TEST(Bliinds, EveryPropertyIsDocumented) {
  BliindsRig rig;
  guint n = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(rig.element()), &n);
  for (guint i = 0; i < n; ++i) EXPECT_STRNE(g_param_spec_get_blurb(specs[i]), "") << specs[i]->name;
  g_free(specs);
  EXPECT_STREQ(gst_element_get_metadata(rig.element(), GST_ELEMENT_METADATA_KLASS), "Filter/Analyzer/Video");
}

}  // namespace
}  // namespace framequality::test
