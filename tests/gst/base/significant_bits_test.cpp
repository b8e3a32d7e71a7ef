// SPDX-License-Identifier: LGPL-2.1-or-later
// Formats of 16 bits whose words hold fewer: with significant-bits they are worked on as the format of that depth is.
#include "algorithms/sharpness/metrics.h"
#include "tests/gst/rig.h"

#include <cstring>
#include <functional>

namespace framequality::test {

using namespace sharpness;

namespace {

using Properties = std::vector<std::pair<const char*, const char*>>;
// Rows of all planes without bytes behind them, which nobody writes.
constexpr int kWidth = 56, kHeight = 38;
constexpr const char* kAll[] = {"sharpnessmeter", "bliindsmeter", "nlmeans", "patchbilateral", "halftone"};

class BitsRig : public Rig {
 public:
  BitsRig(const char* factory, const char* bits, const Properties& properties, const std::string& of)
      : Rig({}, factory) {
    for (const auto& [name, value] : properties) set(name, value);
    set("significant-bits", bits);
    caps(of);
  }
};

/// Full range and one matrix, so that formats differ in nothing but where their samples lie.
std::string caps_of(const char* format, const char* colorimetry = "1:4:0:0") {
  const std::string name = format;
  const bool is_yuv = name[0] == 'I' || name[0] == 'Y' || name == "AYUV64";
  return video_caps(format, kWidth, kHeight, is_yuv ? (",colorimetry=" + std::string(colorimetry)).c_str() : "");
}

/// code(c, x, y) of component c of every pixel, chroma at its own size; other bytes are 255.
using Codes = std::function<unsigned(int, int, int)>;
BufferPtr frame_of(const std::string& caps, const Codes& code, GstClockTime pts = 0) {
  const GstVideoInfo info = video_info(caps);
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 255, info.size);
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_WRITE));
  const std::string name = GST_VIDEO_INFO_NAME(&info);
  const bool is_big = name.ends_with("BE");
  for (guint c = 0; c < std::min(GST_VIDEO_INFO_N_COMPONENTS(&info), 3u); ++c)
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y)
      for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); ++x) {
        guint8* at = static_cast<guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                     std::ptrdiff_t{y} * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
                     std::ptrdiff_t{x} * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
        const unsigned word = code(static_cast<int>(c), x, y);
        at[is_big ? 1 : 0] = static_cast<guint8>(word);
        at[is_big ? 0 : 1] = static_cast<guint8>(word >> 8);
      }
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 30;
  return buffer;
}

/// Words of component c, row by row, as they stand.
std::vector<unsigned> words_of(const std::string& caps, GstBuffer* buffer, guint c) {
  const GstVideoInfo info = video_info(caps);
  GstVideoFrame frame;
  std::vector<unsigned> words;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ));
  const bool is_big = std::string(GST_VIDEO_INFO_NAME(&info)).ends_with("BE");
  for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, c); ++y)
    for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, c); ++x) {
      const guint8* at = static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, c)) +
                         std::ptrdiff_t{y} * GST_VIDEO_FRAME_COMP_STRIDE(&frame, c) +
                         std::ptrdiff_t{x} * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, c);
      words.push_back(is_big ? at[0] << 8 | at[1] : at[0] | at[1] << 8);
    }
  gst_video_frame_unmap(&frame);
  return words;
}

/// A picture with shades, edges and noise in codes of this many bits; `above`: what lies in the bits above.
Codes scene(int bits, unsigned above = 0, std::uint64_t seed = 5) {
  return [=](int c, int x, int y) {
    Random random(seed + static_cast<std::uint64_t>((c * 1000 + y) * 1000 + x));
    const int shade = 50 + x / 2 + 20 * c + (x / 25 + y / 15) % 2 * 70 + random.below(31);
    const auto code = static_cast<unsigned>(shade << (bits - 8) | random.below(1 << (bits - 8)));
    return (code & ((1u << bits) - 1)) | (above * static_cast<unsigned>(random.below(1 << 16)) << bits & 0xffff);
  };
}

/// A format of 16 bits, and one of `bits` with the same samples in the first `components`.
struct Pair {
  const char *full, *deep, *bits;
  guint components;
  int depth() const { return std::atoi(bits); }
};
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all {
    {"GRAY16_LE", "I420_10LE", "10", 1}, {"GRAY16_BE", "I420_10BE", "10", 1}, {"GRAY16_LE", "I420_12LE", "12", 1},
        {"GRAY16_BE", "Y444_12LE", "12", 1}, {"ARGB64_LE", "GBR_10LE", "10", 3}, {"BGRA64_BE", "GBR_12BE", "12", 3},
        {"ARGB64", "GBR_12LE", "12", 3}, {"AYUV64", "Y444_10LE", "10", 3}, {"Y444_16LE", "Y444_10LE", "10", 3},
        {"Y444_16BE", "Y444_12LE", "12", 3},
#if GST_CHECK_VERSION(1, 26, 0)
        {"GRAY16_LE", "GRAY10_LE16", "10", 1},
#endif
  };
  return all;
}

/// What a meter with these properties says of one frame.
StructurePtr result(const char* factory, const Properties& properties, const std::string& caps, const Codes& codes,
                    const char* bits = "0") {
  BitsRig rig(factory, bits, properties, caps);
  rig.pass(frame_of(caps, codes));
  Heard all{.of = factory};
  const BusPtr bus(gst_element_get_bus(rig.element()));
  while (MessagePtr message{gst_bus_pop(bus.get())}) all.add(message.get());
  EXPECT_TRUE(all.warnings.empty() && all.errors.empty()) << caps;
  EXPECT_EQ(all.results.size(), 1u) << caps;
  return all.results.empty() ? nullptr : std::move(all.results[0]);
}

testing::AssertionResult same(const StructurePtr& a, const StructurePtr& b) {
  if (!a || !b) return testing::AssertionFailure() << "no result";
  if (gst_structure_is_equal(a.get(), b.get())) return testing::AssertionSuccess();
  gchar *x = gst_structure_to_string(a.get()), *y = gst_structure_to_string(b.get());
  const std::string text = std::string(x) + "\n" + y;
  g_free(x);
  g_free(y);
  return testing::AssertionFailure() << text;
}

TEST(SignificantBits, SharpnessIsThatOfTheFormatOfThatDepth) {
  // Every field that a result can have, then other ways through the meter.
  const std::vector<Properties> ways{{},
                                     {{"statistics", "true"},
                                      {"noise-correction", "true"},
                                      {"normalize", "mean"},
                                      {"zone-columns", "3"},
                                      {"zone-rows", "2"},
                                      {"roi", "<3,2,50,33>"}},
                                     {{"prefilter", "binomial5"}, {"statistics", "true"}},
                                     {{"downscale", "2"}, {"prefilter", "binomial3"}}};
  for (int m = 0; m < kMetricCount; ++m)
    for (Properties properties : ways) {
      properties.emplace_back("metric", metric_info(m).name);
      for (const Pair& pair : pairs()) {
        const Codes codes = scene(pair.depth());
        const StructurePtr got = result("sharpnessmeter", properties, caps_of(pair.full), codes, pair.bits);
        EXPECT_TRUE(same(got, result("sharpnessmeter", properties, caps_of(pair.deep), codes)))
            << pair.full << " " << pair.deep;
      }
    }
}

TEST(SignificantBits, QualityIsThatOfTheFormatOfThatDepth) {
  // Red of YUV is made by the range of codes of that depth.
  for (const char* colorimetry : {"1:4:0:0", "bt709"})
    for (const Pair& pair : pairs())
      for (const char* channel : {"luma", "red"}) {
        if (pair.components == 1 && channel == std::string("red")) continue;
        const Properties properties{{"channel", channel}, {"features", "true"}};
        const Codes codes = scene(pair.depth());
        const StructurePtr got = result("bliindsmeter", properties, caps_of(pair.full, colorimetry), codes, pair.bits);
        EXPECT_TRUE(same(got, result("bliindsmeter", properties, caps_of(pair.deep, colorimetry), codes)))
            << pair.full << " " << pair.deep << " " << colorimetry;
      }
}

/// What comes out of an element for one frame.
BufferPtr made(const char* factory, const Properties& properties, const std::string& caps, const Codes& codes,
               const char* bits = "0") {
  BitsRig rig(factory, bits, properties, caps);
  return rig.pass(frame_of(caps, codes));
}

std::vector<guint8> bytes_of(GstBuffer* buffer) {
  std::vector<guint8> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

TEST(SignificantBits, DenoisersWriteTheWordsOfTheFormatOfThatDepth) {
  const std::vector<std::pair<const char*, Properties>> ways{
      {"nlmeans", {{"search-radius", "2"}, {"patch-radius", "1"}, {"chroma", "joint"}}},
      {"nlmeans", {{"search-radius", "2"}, {"patch-radius", "1"}, {"strength", "9"}}},
      {"patchbilateral", {}},
      {"patchbilateral", {{"sigma-range", "12"}, {"chroma", "separate"}}}};
  for (const auto& [factory, properties] : ways)
    for (const Pair& pair : pairs()) {
      const std::string full = caps_of(pair.full), deep = caps_of(pair.deep);
      const Codes codes = scene(pair.depth());
      const BufferPtr got = made(factory, properties, full, codes, pair.bits);
      const BufferPtr want = made(factory, properties, deep, codes);
      ASSERT_TRUE(got && want);
      for (guint c = 0; c < pair.components; ++c)
        EXPECT_EQ(words_of(full, got.get(), c), words_of(deep, want.get(), c)) << factory << " " << full << " " << c;
      EXPECT_NE(words_of(full, got.get(), 0), words_of(full, frame_of(full, codes).get(), 0)) << factory << full;
      const std::vector<unsigned> opaque(std::size_t{kWidth} * kHeight, 65535);
      if (full.find("64") != std::string::npos) {
        EXPECT_EQ(words_of(full, got.get(), 3), opaque) << full;
      }
    }
}

TEST(SignificantBits, HalftonesAreThoseOfTheFormatOfThatDepth) {
  for (const char* method : {"floyd-steinberg", "tdfed", "blue-noise"})
    for (const char* levels : {"2", "4"})
      for (const Pair& pair : pairs()) {
        const Properties properties{{"method", method}, {"levels", levels}};
        const Codes codes = scene(pair.depth());
        const auto got = bytes_of(made("halftone", properties, caps_of(pair.full), codes, pair.bits).get());
        EXPECT_EQ(got, bytes_of(made("halftone", properties, caps_of(pair.deep), codes).get())) << pair.full << method;
        EXPECT_GT(*std::max_element(got.begin(), got.end()), 0) << pair.full << method;
      }
}

TEST(SignificantBits, BitsAboveAreIgnoredAndWrittenAsZeros) {
  for (const Pair& pair : pairs()) {
    const std::string caps = caps_of(pair.full);
    const Codes clean = scene(pair.depth()), dirty = scene(pair.depth(), 1);
    // Without what would be warned of too.
    const auto score = [&](const Codes& codes) {
      BitsRig rig("sharpnessmeter", pair.bits, {}, caps);
      return rig.score(frame_of(caps, codes));
    };
    EXPECT_EQ(score(dirty), score(clean)) << caps;
    for (const char* factory : {"nlmeans", "patchbilateral"})
      EXPECT_EQ(words_of(caps, made(factory, {}, caps, dirty, pair.bits).get(), 0),
                words_of(caps, made(factory, {}, caps, clean, pair.bits).get(), 0))
          << factory << " " << caps;
    EXPECT_EQ(bytes_of(made("halftone", {}, caps, dirty, pair.bits).get()),
              bytes_of(made("halftone", {}, caps, clean, pair.bits).get()))
        << caps;
  }
}

TEST(SignificantBits, ChangeWithTheNextFrame) {
  const std::string caps = caps_of("GRAY16_LE");
  const auto want = [&](const char* bits) {
    return number(result("sharpnessmeter", {}, caps, scene(10), bits).get(), "score");
  };
  const double full = want("0"), ten = want("10"), twelve = want("12");
  EXPECT_NEAR(ten, 4096 * full, 1e-9 * ten);
  EXPECT_NEAR(ten, 16 * twelve, 1e-9 * ten);
  Rig rig;
  rig.caps(caps);
  EXPECT_EQ(rig.score(frame_of(caps, scene(10))), full);
  for (int i = 0; i < 3; ++i) {
    rig.set("significant-bits", "10");
    EXPECT_EQ(rig.score(frame_of(caps, scene(10))), ten);
    rig.set("significant-bits", "12");
    EXPECT_EQ(rig.score(frame_of(caps, scene(10))), twelve);
    rig.set("significant-bits", "0");
    EXPECT_EQ(rig.score(frame_of(caps, scene(10))), full);
  }
  EXPECT_EQ(rig.stat("measured"), 10u);
  // New caps keep it.
  rig.set("significant-bits", "10");
  rig.caps(caps_of("GRAY16_BE"));
  EXPECT_EQ(rig.score(frame_of(caps_of("GRAY16_BE"), scene(10))), ten);
}

TEST(SignificantBits, FramesHeldForOthersLeaveAsTheyWereTaken) {
  const std::string caps = caps_of("GRAY16_LE");
  const auto run = [&](bool change, std::size_t from, std::size_t to) {
    Rig rig({{"temporal-radius", "2"}, {"search-radius", "1"}, {"patch-radius", "1"}}, "nlmeans");
    rig.set("significant-bits", change || from == 0 ? "10" : "12");
    rig.caps(caps);
    std::vector<std::vector<unsigned>> frames;
    const auto take = [&] {
      while (const BufferPtr out = rig.pull()) frames.push_back(words_of(caps, out.get(), 0));
    };
    for (std::size_t i = from; i < to; ++i) {
      if (change && i == 4) rig.set("significant-bits", "12");
      EXPECT_EQ(rig.push(frame_of(caps, scene(10, 0, 100 * i), i * GST_SECOND / 30)), GST_FLOW_OK);
      take();
    }
    gst_harness_push_event(rig.harness(), gst_event_new_eos());
    take();
    return frames;
  };
  // As two streams, one after the other.
  auto want = run(false, 0, 4);
  for (auto& frame : run(false, 4, 9)) want.push_back(std::move(frame));
  ASSERT_EQ(want.size(), 9u);
  EXPECT_EQ(run(true, 0, 9), want);
  EXPECT_NE(run(false, 0, 9), want);
}

/// Texts of the warnings about `count` frames.
std::vector<std::string> warnings(const char* factory, const char* bits, const std::string& caps, int count,
                                  const Codes& codes) {
  const bool is_slow = factory == std::string("nlmeans");
  BitsRig rig(factory, bits, is_slow ? Properties{{"search-radius", "1"}} : Properties{}, caps);
  for (int i = 0; i < count; ++i) rig.pass(frame_of(caps, codes, static_cast<GstClockTime>(i) * GST_SECOND / 30));
  std::vector<std::string> texts;
  for (const auto& fault : rig.heard().warnings) {
    EXPECT_TRUE(fault.is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS));
    texts.push_back(fault.text);
  }
  return texts;
}

bool has(const std::vector<std::string>& texts, const std::string& part) {
  return texts.size() == 1 && texts[0].find(part) != std::string::npos;
}

TEST(SignificantBits, UnusedBitsAreWarnedOfOnceWithTheValueToSet) {
  for (const char* factory : kAll) {
    for (const char* format : {"GRAY16_LE", "GRAY16_BE", "ARGB64_LE"}) {
      const std::string caps = caps_of(format);
      EXPECT_TRUE(warnings(factory, "0", caps, 31, scene(10)).empty()) << factory << format;
      EXPECT_TRUE(has(warnings(factory, "0", caps, 80, scene(10)), "set significant-bits=10;")) << factory << format;
      EXPECT_TRUE(has(warnings(factory, "0", caps, 80, scene(12)), "set significant-bits=12;")) << factory << format;
    }
    const std::string caps = caps_of("GRAY16_LE");
    EXPECT_TRUE(warnings(factory, "0", caps, 80, scene(16)).empty()) << factory;
    EXPECT_TRUE(warnings(factory, "0", caps, 80, [](int, int, int) { return 0u; }).empty()) << factory;
    for (const char* fitting : {"10", "12", "16"})
      EXPECT_TRUE(warnings(factory, fitting, caps, 80, scene(10)).empty()) << factory;
    for (const char* yuv : {"I420_10LE", "Y444_16LE", "AYUV64"})
      EXPECT_TRUE(warnings(factory, "0", caps_of(yuv), 40, scene(10)).empty()) << factory << yuv;
  }
}

TEST(SignificantBits, SamplesOfMoreBitsAreWarnedOfOnce) {
  for (const char* factory : kAll) {
    const std::string caps = caps_of("GRAY16_LE");
    EXPECT_TRUE(has(warnings(factory, "10", caps, 80, scene(12)), "set significant-bits=12")) << factory;
    EXPECT_TRUE(has(warnings(factory, "12", caps, 1, scene(16)), "set significant-bits=16")) << factory;
    EXPECT_TRUE(has(warnings(factory, "10", caps_of("Y444_16LE"), 1, scene(12)), "set significant-bits=12")) << factory;
  }
}

TEST(SignificantBits, FormatsOfOtherDepthsAreLeftAsTheyAreWithAWarning) {
  for (const char* factory : kAll) {
    EXPECT_TRUE(has(warnings(factory, "10", video_caps("GRAY8", kWidth, kHeight), 3, scene(8)), "no effect on GRAY8"))
        << factory;
    EXPECT_TRUE(has(warnings(factory, "12", caps_of("I420_10LE"), 3, scene(10)), "no effect on I420_10LE")) << factory;
    // What the format says too.
    EXPECT_TRUE(warnings(factory, "10", caps_of("I420_10LE"), 3, scene(10)).empty()) << factory;
  }
  const std::string caps = caps_of("P010_10LE");
  const BufferPtr random = random_buffer(caps, 4);
  const auto score = [&](const char* bits) {
    Rig rig{{"significant-bits", bits}};
    rig.caps(caps);
    return rig.score(BufferPtr(gst_buffer_copy_deep(random.get())));
  };
  EXPECT_EQ(score("12"), score("0"));
}

TEST(SignificantBits, OtherValuesAreRefused) {
  for (const char* factory : kAll) {
    Rig rig({{"significant-bits", "12"}}, factory);
    static int complaints;
    complaints = 0;
    const GLogFunc old =
        g_log_set_default_handler([](const gchar*, GLogLevelFlags, const gchar* text,
                                     gpointer) { complaints += std::strstr(text, "0, or 9 to 16") != nullptr; },
                                  nullptr);
    for (const char* wrong : {"1", "8"}) rig.set("significant-bits", wrong);
    g_log_set_default_handler(old, nullptr);
    EXPECT_EQ(complaints, 2) << factory;
    guint bits = 0;
    g_object_get(rig.element(), "significant-bits", &bits, nullptr);
    EXPECT_EQ(bits, 12u) << factory;
    for (const guint right : {0u, 9u, 16u}) {
      g_object_set(rig.element(), "significant-bits", right, nullptr);
      g_object_get(rig.element(), "significant-bits", &bits, nullptr);
      EXPECT_EQ(bits, right) << factory;
    }
  }
}

}  // namespace
}  // namespace framequality::test
