// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter: results, channels, formats, models, and what it does not measure.
#include "tests/gst/bliindsmeter/rig.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 61, 47);

/// A file that is gone with this.
class File {
 public:
  explicit File(const std::string& text) {
    const int fd = mkstemp(path_.data());
    EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "bliinds-model-XXXXXX";
};

/// Text of a model whose score is this number for every frame.
std::string constant_model(double score) { return bliinds::text_of({score, {}}); }

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
  EXPECT_EQ(text(s, "channel"), "luma");
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
  const MessagePtr end(gst_bus_timed_pop_filtered(bus.get(), 20 * GST_SECOND,
                                                  static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
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

/// Formats in the sink template.
std::vector<std::string> formats() {
  const ElementPtr meter(gst_element_factory_make("bliindsmeter", nullptr));
  gst_object_ref_sink(meter.get());
  const CapsPtr caps(gst_pad_template_get_caps(gst_element_get_pad_template(meter.get(), "sink")));
  const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), "format");
  std::vector<std::string> names;
  for (guint i = 0; i < gst_value_list_get_size(list); ++i)
    names.emplace_back(g_value_get_string(gst_value_list_get_value(list, i)));
  return names;
}

TEST(Bliinds, EveryFormatScoresByItsCodes) {
  const auto listed = formats();
  EXPECT_GT(listed.size(), 60u);
  for (const auto& format : listed)
    for (const auto& [w, h] : {std::pair{61, 37}, {4, 4}}) {
      const std::string caps = video_caps(format.c_str(), w, h);
      BliindsRig rig{{"features", "true"}};
      rig.caps(caps);
      const BufferPtr out = rig.pass(random_buffer(caps, 7));
      const bliinds::Features features = features_of(caps, out.get());
      const GstStructure* s = bliinds_meta(out.get());
      ASSERT_TRUE(s) << caps;
      EXPECT_TRUE(same_features(features_in(s), features)) << caps;
      EXPECT_EQ(number(s, "score"), bliinds::score_of(bliinds::published_model(), features).score) << caps;
    }
}

/// Red codes of a buffer as GStreamer unpacks them.
std::vector<std::uint16_t> red_of(const std::string& caps, GstBuffer* buffer, int* depth) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  GstVideoInfo info;
  gst_video_info_from_caps(&info, c.get());
  *depth = static_cast<int>(info.finfo->depth[0]);
  GstVideoFrame frame;
  gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ);
  const GstVideoFormatInfo* f = info.finfo;
  const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
  std::vector<std::uint16_t> line(static_cast<std::size_t>(info.width) * 4 + 64), codes;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  for (int y = 0; y < info.height; ++y) {
    f->unpack_func(f, GST_VIDEO_PACK_FLAG_NONE, line.data(), frame.data, info.stride, 0, y, info.width);
    for (std::size_t x = 0; x < static_cast<std::size_t>(info.width); ++x)
      codes.push_back(
          static_cast<std::uint16_t>((wide ? line[4 * x + 1] : bytes[4 * x + 1]) >> ((wide ? 16 : 8) - *depth)));
  }
  gst_video_frame_unmap(&frame);
  return codes;
}

TEST(Bliinds, RedIsRedInEveryRgbFormat) {
  int tried = 0;
  for (const auto& format : formats()) {
    if (!GST_VIDEO_FORMAT_INFO_IS_RGB(gst_video_format_get_info(gst_video_format_from_string(format.c_str()))))
      continue;
    ++tried;
    const std::string caps = video_caps(format.c_str(), 40, 33);
    BliindsRig rig{{"channel", "red"}, {"features", "true"}};
    rig.caps(caps);
    const BufferPtr out = rig.pass(random_buffer(caps, 3));
    int depth = 8;
    const auto codes = red_of(caps, out.get(), &depth);
    const bliinds::Features features = features_of(codes, 40, 33, depth);
    const GstStructure* s = bliinds_meta(out.get());
    ASSERT_TRUE(s) << caps;
    EXPECT_TRUE(same_features(features_in(s), features)) << caps;
    EXPECT_EQ(text(s, "channel"), "red");
    EXPECT_NE(features, features_of(caps, out.get())) << "luma is another picture";
  }
  EXPECT_GT(tried, 20);
}

TEST(Bliinds, RedOfOtherFormatsIsOneErrorThatSaysHow) {
  for (const char* format : {"NV12", "GRAY8", "I420_10LE", "AYUV64"}) {
    BliindsRig rig{{"channel", "red"}};
    const std::string caps = video_caps(format, 64, 48);
    rig.caps(caps);
    EXPECT_EQ(rig.push(random_buffer(caps, 1)), GST_FLOW_ERROR);
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
    EXPECT_NE(heard.errors[0].text.find("videoconvert ! video/x-raw,format=RGB"), std::string::npos);
    EXPECT_NE(heard.errors[0].text.find(format), std::string::npos);
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

TEST(Bliinds, ModelMakesTheScore) {
  const File file("# mine\n" + constant_model(42.3));
  BliindsRig rig{{"model-location", file.path()}};
  rig.caps(kCaps);
  const BufferPtr out = rig.pass(random_buffer(kCaps, 1));
  EXPECT_EQ(number(bliinds_meta(out.get()), "score"), 42.5);
  EXPECT_EQ(number(bliinds_meta(out.get()), "raw-score"), 42.3);
  EXPECT_EQ(rig.string("model-location"), file.path());
  rig.set("model-location", "");
  EXPECT_NEAR(number(bliinds_meta(rig.pass(random_buffer(kCaps, 1)).get()), "raw-score"),
              bliinds_score(kCaps, out.get()).raw, 1e-9)
      << "empty: the published one";
}

TEST(Bliinds, BadModelKeepsItFromStarting) {
  std::string linear = "linear\n1\n", quadratic = "quadratic\n";
  for (int i = 0; i < 24; ++i) linear += "0\n";
  for (int i = 0; i < 25 + 625; ++i) quadratic += "0\n";
  const std::pair<std::string, const char*> bad[] = {
      {"", ": line 1: "},
      {"linear\n1 2\nthree", ": line 3: 'three' is not a number"},
      {"linear\n1 2\n", ": line 3: the text ends after 2 of 25 numbers"},
      {linear + "7", ": line 27: "},
      {"linear\n\n1 inf", ": line 3: "},
      {quadratic, "singular"},
      {"\xff\xfe", ": line 1: "},
      {std::string(2 << 20, ' '), "longer than 1 MiB"},
  };
  for (const auto& [text, reason] : bad) {
    const File file(text);
    const ElementPtr meter(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("bliindsmeter", nullptr))));
    const BusPtr bus(gst_bus_new());
    gst_element_set_bus(meter.get(), bus.get());
    g_object_set(meter.get(), "model-location", file.path(), nullptr);
    EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    Heard heard;
    while (const MessagePtr message{gst_bus_pop(bus.get())}) heard.add(message.get());
    gst_element_set_bus(meter.get(), nullptr);
    ASSERT_EQ(heard.errors.size(), 1u) << reason;
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
    EXPECT_NE(heard.errors[0].text.find(reason), std::string::npos) << heard.errors[0].text;
    EXPECT_NE(heard.errors[0].text.find(file.path()), std::string::npos) << heard.errors[0].text;
    EXPECT_TRUE(g_utf8_validate(heard.errors[0].text.c_str(), -1, nullptr));
    std::ofstream(file.path()) << constant_model(7);
    EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS) << "it is read again";
    gst_element_set_state(meter.get(), GST_STATE_NULL);
  }
}

TEST(Bliinds, UnreadableModelSaysWhy) {
  for (const auto& [path, reason] : {std::pair{"/nonexistent/model.txt", "No such file"}, {"/tmp", "directory"}}) {
    Heard heard = run("videotestsrc num-buffers=1 ! bliindsmeter model-location=" + std::string(path) + " ! fakesink");
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
    EXPECT_NE(heard.errors[0].text.find(reason), std::string::npos) << heard.errors[0].text;
  }
}

/// Opens a named pipe for writing as soon as somebody reads it; -1 if nobody does for 20 seconds.
int open_when_read(const char* path) {
  for (int i = 0; i < 2000; ++i) {
    const int fd = ::open(path, O_WRONLY | O_NONBLOCK);
    if (fd >= 0) return fd;
    g_usleep(10'000);
  }
  return -1;
}

TEST(Bliinds, ModelNamedWhileAnotherIsReadCounts) {
  const File first(""), second(constant_model(20));
  std::filesystem::remove(first.path());
  ASSERT_EQ(mkfifo(first.path(), 0600), 0);
  const ElementPtr meter(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("bliindsmeter", nullptr))));
  g_object_set(meter.get(), "model-location", first.path(), nullptr);
  std::thread other([&] {
    const int fd = open_when_read(first.path());
    g_object_set(meter.get(), "model-location", second.path(), nullptr);
    const std::string model = constant_model(10);
    EXPECT_EQ(::write(fd, model.data(), model.size()), static_cast<ssize_t>(model.size()));
    ::close(fd);
  });
  EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  other.join();
  const std::unique_ptr<GstHarness, Free<gst_harness_teardown>> harness(
      gst_harness_new_with_element(meter.get(), "sink", "src"));
  gst_harness_set_src_caps_str(harness.get(), kCaps.c_str());
  const BufferPtr out(gst_harness_push_and_pull(harness.get(), random_buffer(kCaps, 1).release()));
  ASSERT_TRUE(out);
  EXPECT_EQ(number(bliinds_meta(out.get()), "score"), 20);
}

TEST(Bliinds, BadModelWhilePlayingIsAWarningAndTheOldOneCounts) {
  const File good(constant_model(10)), other(constant_model(20)), bad("linear 1 2");
  BliindsRig rig{{"model-location", good.path()}};
  rig.caps(kCaps);
  const auto score = [&] { return number(bliinds_meta(rig.pass(random_buffer(kCaps, 1)).get()), "score"); };
  EXPECT_EQ(score(), 10);
  rig.set("model-location", bad.path());
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty());
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_TRUE(heard.warnings[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
  EXPECT_NE(heard.warnings[0].text.find("kept"), std::string::npos);
  EXPECT_EQ(rig.string("model-location"), good.path());
  EXPECT_EQ(score(), 10);
  rig.set("model-location", other.path());
  EXPECT_EQ(score(), 20);
  EXPECT_TRUE(rig.heard().warnings.empty());
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
