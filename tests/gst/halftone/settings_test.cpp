// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone: caps both ways, what each property asks for, and that what comes out is what the host twin makes.
#include "tests/gst/halftone/rig.h"

namespace framequality::test {
namespace {

/// A random frame through an element with these properties is what the twin makes with these settings.
void expect_makes(const std::string& caps, Properties properties, const halftone::Settings& settings, int fields = 1) {
  const GstVideoInfo info = video_info(caps);
  HalftoneRig rig(properties);
  rig.caps(caps);
  BufferPtr buffer = random_buffer(caps, 9);
  const auto want = halftoned(caps, buffer.get(), settings, fields);
  const BufferPtr out = rig.pass(std::move(buffer));
  ASSERT_TRUE(out) << caps;
  EXPECT_TRUE(rows_of(out.get(), info.width, info.height, settings.packed) == want) << caps;
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty()) << caps;
}

/// Settings for video of limited range.
halftone::Settings limited() {
  halftone::Settings s;
  s.tone.limited = true;
  return s;
}

TEST(Halftone, EveryFormatOfTheMetersIsTakenAtOddAndTinySizes) {
  const auto formats = listed_formats("halftone");
  EXPECT_GT(formats.size(), 80u);
  for (const auto& format : formats)
    for (const auto& [w, h] : {std::pair{17, 11}, {1, 1}, {2, 1}, {1, 3}})
      for (const char* packed : {"false", "true"}) {
        const std::string caps = video_caps(format.c_str(), w, h);
        const GstVideoInfo info = video_info(caps);
        halftone::Settings s;
        s.tone.limited = GST_VIDEO_INFO_IS_YUV(&info);  // which is the default of all of them
        s.packed = packed == std::string("true");
        expect_makes(caps, {{"packed", packed}}, s);
      }
}

TEST(Halftone, PropertiesAreSettings) {
  const std::string caps = video_caps("GRAY8", 150, 70);
  expect_makes(caps, {}, {});
  const auto check = [&](Properties properties, auto&& change) {
    halftone::Settings s;
    change(s);
    expect_makes(caps, properties, s);
  };
  check({{"method", "tdfed"}}, [](auto& s) { s.method = kTdfed; });
  check({{"method", "blue-noise"}}, [](auto& s) { s.method = kBlueNoise; });
  check({{"serpentine", "true"}}, [](auto& s) { s.serpentine = true; });
  check({{"levels", "4"}}, [](auto& s) { s.levels = 4; });
  check({{"levels", "16"}, {"method", "tdfed"}}, [](auto& s) { s.levels = 16, s.method = kTdfed; });
  check({{"strength", "0.5"}}, [](auto& s) { s.strength = 128; });
  check({{"strength", "0"}, {"method", "blue-noise"}}, [](auto& s) { s.strength = 0, s.method = kBlueNoise; });
  check({{"invert", "true"}}, [](auto& s) { s.tone.invert = true; });
  check({{"linear", "true"}}, [](auto& s) { s.tone.light = halftone::Light::kSrgb; });
  check({{"packed", "true"}}, [](auto& s) { s.packed = true; });
  check({{"packed", "true"}, {"invert", "true"}}, [](auto& s) { s.packed = s.tone.invert = true; });
  check({{"method", "tdfed"}, {"n-threads", "2"}}, [](auto& s) { s.method = kTdfed; });
  for (const halftone::ToneTable* t : halftone::kToneTables)
    check({{"method", "tdfed"}, {"swath-rows", std::to_string(t->swath_rows).c_str()}},
          [&](auto& s) { s.method = kTdfed, s.swath_rows = t->swath_rows; });
}

TEST(Halftone, SettingsDifferInWhatTheyMake) {
  const std::string caps = video_caps("GRAY8", 150, 70);
  const BufferPtr buffer = random_buffer(caps, 9);
  std::set<std::vector<std::uint8_t>> made;
  for (int i = 0; i < 8; ++i) {
    halftone::Settings s;
    if (i == 1) s.method = kTdfed;
    if (i == 2) s.method = kBlueNoise;
    if (i == 3) s.serpentine = true;
    if (i == 4) s.levels = 4;
    if (i == 5) s.strength = 128;
    if (i == 6) s.tone.invert = true;
    if (i == 7) s.tone.light = halftone::Light::kSrgb;
    made.insert(halftoned(caps, buffer.get(), s));
  }
  EXPECT_EQ(made.size(), 8u) << "the test before this one could not fail";
}

TEST(Halftone, CapsSayRangeAndLight) {
  const auto yuv = [](const char* colorimetry) {
    return video_caps("I420", 64, 32, (std::string(",colorimetry=(string)") + colorimetry).c_str());
  };
  auto s = limited();
  expect_makes(yuv("bt709"), {}, s);
  expect_makes(yuv("1:3:5:1"), {}, {});
  expect_makes(video_caps("GRAY8", 64, 32, ",colorimetry=(string)bt601"), {}, s);
  expect_makes(video_caps("RGB", 64, 32), {}, {});
  s.tone.light = halftone::Light::kBt709;
  expect_makes(yuv("bt709"), {{"linear", "true"}}, s);
  expect_makes(video_caps("NV12", 64, 32), {{"linear", "true"}}, s);
  s.tone.light = halftone::Light::kSrgb;
  expect_makes(yuv("2:3:7:1"), {{"linear", "true"}}, s);
  s.tone = {};
  expect_makes(yuv("1:3:1:1"), {{"linear", "true"}}, s);  // gamma 1.0: it is linear
  s.tone.light = halftone::Light::kSrgb;
  expect_makes(video_caps("RGB", 64, 32), {{"linear", "true"}}, s);
}

/// A frame of one luma code.
BufferPtr flat(const std::string& caps, int code) {
  BufferPtr buffer = random_buffer(caps, 1);
  gst_buffer_memset(buffer.get(), 0, static_cast<guint8>(code), gst_buffer_get_size(buffer.get()));
  return buffer;
}

TEST(Halftone, BlackOfLimitedRangeHasNoWhiteDots) {
  const std::string video = video_caps("NV12", 96, 64, ",colorimetry=(string)bt709");
  const std::string full = video_caps("GRAY8", 96, 64);
  for (const char* method : {"floyd-steinberg", "tdfed", "blue-noise"}) {
    HalftoneRig rig({{"method", method}});
    const auto shares = [&](const std::string& caps, int code) {
      rig.caps(caps);
      const BufferPtr out = rig.pass(flat(caps, code));
      const auto rows = rows_of(out.get(), 96, 64, false);
      return static_cast<double>(std::count(rows.begin(), rows.end(), 255)) / static_cast<double>(rows.size());
    };
    EXPECT_EQ(shares(video, 16), 0) << method;
    EXPECT_EQ(shares(video, 0), 0) << method;
    EXPECT_EQ(shares(video, 235), 1) << method;
    EXPECT_EQ(shares(video, 255), 1) << method;
    EXPECT_NEAR(shares(video, 126), 110.0 / 219, 0.02) << method;
    EXPECT_EQ(shares(full, 0), 0) << method;
    EXPECT_EQ(shares(full, 255), 1) << method;
    EXPECT_GT(shares(full, 16), 0.03) << method << ": 16 is grey there";
    EXPECT_LT(shares(full, 235), 0.97) << method;
  }
}

TEST(Halftone, PackedIsOneBitPerPixelFromTheHighest) {
  // Black and white alone come out as they are, whatever the method.
  for (const int width : {1, 2, 7, 8, 9, 15, 16, 17, 64, 65, 131}) {
    const std::string caps = video_caps("GRAY8", width, 3);
    BufferPtr buffer(gst_buffer_new_allocate(nullptr, video_info(caps).size, nullptr));
    gst_buffer_memset(buffer.get(), 0, 0xff, gst_buffer_get_size(buffer.get()));
    Random random(static_cast<std::uint64_t>(width));
    GstMapInfo map;
    gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE);
    std::vector<std::uint8_t> want(static_cast<std::size_t>((width + 7) / 8 * 3));
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < width; ++x) {
        const bool white = random.below(2);
        map.data[y * ((width + 3) / 4 * 4) + x] = white ? 255 : 0;
        if (white)
          want[static_cast<std::size_t>((width + 7) / 8 * y + x / 8)] |= static_cast<std::uint8_t>(128 >> x % 8);
      }
    gst_buffer_unmap(buffer.get(), &map);
    for (const char* method : {"floyd-steinberg", "tdfed", "blue-noise"}) {
      HalftoneRig rig({{"packed", "true"}, {"method", method}});
      rig.caps(caps);
      const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(buffer.get())));
      ASSERT_TRUE(out);
      EXPECT_EQ(gst_buffer_get_size(out.get()), want.size());
      EXPECT_TRUE(rows_of(out.get(), width, 3, true) == want) << width << " " << method;
    }
  }
}

TEST(Halftone, OutputCapsSayWhatLeaves) {
  const auto are = [](HalftoneRig& rig, const char* text) {
    const CapsPtr caps(gst_pad_get_current_caps(rig.harness()->sinkpad)), want(gst_caps_from_string(text));
    return caps && gst_caps_is_strictly_equal(caps.get(), want.get());
  };
  HalftoneRig rig;
  const std::string caps =
      video_caps("NV12", 18, 6, ",colorimetry=(string)bt709,chroma-site=(string)mpeg2,pixel-aspect-ratio=4/3");
  rig.caps(caps);
  EXPECT_TRUE(are(rig, "video/x-raw,format=GRAY8,width=18,height=6,framerate=30/1,pixel-aspect-ratio=4/3"))
      << "whose default is full range";
  rig.set("packed", "true");
  rig.pass(random_buffer(caps, 1));
  EXPECT_TRUE(are(rig, "video/x-mono,format=(string)MSB,width=18,height=6,framerate=30/1,pixel-aspect-ratio=4/3"));
}

TEST(Halftone, CapsAreOfferedBothWays) {
  const auto offered = [](HalftoneRig& rig, const char* pad_name, const char* caps_text) {
    GstPad* pad = gst_element_get_static_pad(rig.element(), pad_name);
    const CapsPtr all(gst_pad_query_caps(pad, nullptr)), some(gst_caps_from_string(caps_text));
    gst_object_unref(pad);
    return static_cast<bool>(gst_caps_can_intersect(all.get(), some.get()));
  };
  HalftoneRig gray, bits({{"packed", "true"}});
  EXPECT_TRUE(offered(gray, "src", "video/x-raw,format=GRAY8"));
  EXPECT_FALSE(offered(gray, "src", "video/x-mono"));
  EXPECT_FALSE(offered(gray, "src", "video/x-raw,format=NV12"));
  EXPECT_TRUE(offered(bits, "src", "video/x-mono,format=MSB"));
  EXPECT_FALSE(offered(bits, "src", "video/x-mono,format=LSB"));
  EXPECT_FALSE(offered(bits, "src", "video/x-raw"));
  for (HalftoneRig* rig : {&gray, &bits}) {
    EXPECT_TRUE(offered(*rig, "sink", "video/x-raw,format=P010_10LE,width=1,height=1"));
    EXPECT_FALSE(offered(*rig, "sink", "video/x-raw,format=v210"));
    EXPECT_FALSE(offered(*rig, "sink", "video/x-mono"));
  }
  HalftoneRig narrow;
  gst_harness_set_sink_caps_str(narrow.harness(), "video/x-raw,format=GRAY8,width=24,height=16");
  EXPECT_TRUE(offered(narrow, "sink", "video/x-raw,format=I420,width=24,height=16"));
  EXPECT_FALSE(offered(narrow, "sink", "video/x-raw,format=I420,width=25,height=16"));
}

TEST(Halftone, WhatItCannotTakeIsNotNegotiated) {
  for (const char* caps : {"video/x-raw,format=v210,width=16,height=16,framerate=30/1",
                           "video/x-raw,format=GRAY8,width=16,height=16,framerate=30/1,interlace-mode=fields",
                           "video/x-mono,format=MSB,width=16,height=16,framerate=30/1"}) {
    HalftoneRig rig;
    rig.caps(caps);
    EXPECT_EQ(rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 256, nullptr))), GST_FLOW_NOT_NEGOTIATED) << caps;
  }
}

TEST(Halftone, PropertiesChangeWithTheNextFrame) {
  const std::string caps = video_caps("I420", 33, 20);
  HalftoneRig rig;
  rig.caps(caps);
  const BufferPtr buffer = random_buffer(caps, 3);
  auto s = limited();
  const auto check = [&] {
    const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(buffer.get())));
    ASSERT_TRUE(out);
    EXPECT_TRUE(rows_of(out.get(), 33, 20, s.packed) == halftoned(caps, buffer.get(), s));
  };
  check();
  rig.set("method", "tdfed");
  s.method = kTdfed;
  check();
  rig.set("swath-rows", "64");
  s.swath_rows = 64;
  check();
  rig.set("packed", "true");
  s.packed = true;
  check();
  rig.set("invert", "true");
  s.tone.invert = true;
  check();
  rig.set("packed", "false");
  rig.set("levels", "16");
  s.packed = false;
  s.levels = 16;
  check();
  EXPECT_TRUE(rig.heard().errors.empty());
}

/// A property as text.
std::string value_of(Rig& rig, const char* name) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(rig.element()), name, &value);
  gchar* text = gst_value_serialize(&value);
  const std::string s = text;
  g_free(text);
  g_value_unset(&value);
  return s;
}

TEST(Halftone, SettingsThatCannotBeAreKeptOut) {
  const auto is_kept = [](HalftoneRig& rig, const char* name, const char* value) {
    const std::string before = value_of(rig, name);
    static int warned;
    warned = 0;
    const GLogFunc old = g_log_set_default_handler(
        [](const gchar*, GLogLevelFlags level, const gchar*, gpointer) { warned += !!(level & G_LOG_LEVEL_WARNING); },
        nullptr);
    rig.set(name, value);
    g_log_set_default_handler(old, nullptr);
    return value_of(rig, name) == before && warned == 1;
  };
  HalftoneRig rig;
  EXPECT_TRUE(is_kept(rig, "swath-rows", "5"));
  rig.set("swath-rows", "16");
  EXPECT_EQ(value_of(rig, "swath-rows"), "16");
  EXPECT_TRUE(is_kept(rig, "swath-rows", "5"));
  rig.set("levels", "4");
  EXPECT_TRUE(is_kept(rig, "packed", "true"));
  rig.set("levels", "2");
  rig.set("packed", "true");
  EXPECT_TRUE(is_kept(rig, "levels", "16"));
  EXPECT_TRUE(is_kept(rig, "serpentine", "true")) << "the element is playing";
}

TEST(Halftone, FieldsAreHalftonedAsPicturesOfTheirOwn) {
  for (const char* method : {"floyd-steinberg", "tdfed", "blue-noise"}) {
    halftone::Settings s = limited();
    s.method = method_of(method);
    expect_makes(video_caps("I420", 32, 21, ",interlace-mode=interleaved"), {{"method", method}}, s, 2);
    expect_makes(video_caps("I420", 32, 21), {{"method", method}}, s, 1);
  }
}

TEST(Halftone, StridesAndOffsetsOfInputAreHonoured) {
  const std::string caps = video_caps("GRAY8", 17, 11);
  const BufferPtr plain = random_buffer(caps, 2);
  const auto want = halftoned(caps, plain.get(), {});
  GstMapInfo from;
  gst_buffer_map(plain.get(), &from, GST_MAP_READ);
  for (const int stride : {17, 18, 64, -17, -40}) {
    const int step = std::abs(stride);
    const auto size = static_cast<gsize>(5 + 11 * step);
    auto* bytes = static_cast<std::uint8_t*>(g_malloc0(size));
    gsize offsets[GST_VIDEO_MAX_PLANES] = {static_cast<gsize>(stride < 0 ? 5 + 10 * step : 5)};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    for (int y = 0; y < 11; ++y)
      std::memcpy(bytes + offsets[0] + static_cast<gssize>(y) * stride, from.data + y * 20, 17);
    BufferPtr buffer(gst_buffer_new_wrapped(bytes, size));
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 17, 11, 1, offsets,
                                   strides);
    HalftoneRig rig;
    rig.caps(caps);
    const BufferPtr out = rig.pass(std::move(buffer));
    ASSERT_TRUE(out) << stride;
    EXPECT_TRUE(rows_of(out.get(), 17, 11, false) == want) << stride;
  }
  gst_buffer_unmap(plain.get(), &from);
}

TEST(Halftone, FrameThatIsNotWholeIsOneError) {
  HalftoneRig rig({{"packed", "true"}});
  rig.caps(video_caps("GRAY8", 24, 16));
  EXPECT_EQ(rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 24 * 16 - 1, nullptr))), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
}

TEST(Halftone, TimeAndMetadataPass) {
  HalftoneRig rig({{"packed", "true"}});
  const std::string caps = video_caps("GRAY8", 24, 16);
  rig.caps(caps);
  BufferPtr buffer = random_buffer(caps, 1, 5 * GST_SECOND);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 1, 2, 3, 4);
  const BufferPtr out = rig.pass(std::move(buffer));
  ASSERT_TRUE(out);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 5 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), GST_SECOND / 30);
  EXPECT_TRUE(gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0));
  EXPECT_FALSE(gst_buffer_get_video_meta(out.get()));
}

TEST(Halftone, PipelinesRunToTheirEnd) {
  for (const char* launch :
       {"videotestsrc num-buffers=4 ! video/x-raw,format=NV12,width=50,height=32 ! halftone method=blue-noise ! "
        "videoconvert ! video/x-raw,format=RGB ! fakesink",
        "videotestsrc num-buffers=4 ! video/x-raw,width=50,height=32 ! halftone method=tdfed packed=true ! "
        "video/x-mono,format=MSB,width=50 ! queue ! fakesink",
        "videotestsrc num-buffers=4 ! video/x-raw,format=RGB,width=50,height=32 ! halftone levels=4 ! "
        "videoscale ! video/x-raw,width=25 ! fakesink"}) {
    const Heard heard = run(launch);
    EXPECT_TRUE(heard.eos && heard.warnings.empty()) << launch;
  }
}

}  // namespace
}  // namespace framequality::test
