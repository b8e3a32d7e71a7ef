// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone with a palette: caps both ways, every format, and that what comes out is what the host twin makes.
#include "cpu/halftone/colour.h"

#include "algorithms/halftone/colour_filter.h"
#include "gst/halftone/filter.h"
#include "tests/gst/halftone/rig.h"
#include "tests/support/effort.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace framequality::test {
namespace {

using halftone::ColourOutput;
using halftone::ColourSettings;

const halftone::Palette& palette_named(std::string_view name) {
  for (const halftone::NamedPalette& named : halftone::named_palettes())
    if (name == named.name) return named.palette;
  throw std::logic_error("no such palette");
}

/// Settings for frames of these caps.
ColourSettings settings_for(const std::string& caps, std::string_view palette = "spectra6") {
  const GstVideoInfo info = video_info(caps);
  ColourSettings s;
  s.palette = palette_named(palette);
  s.tone = tone_of(info, {});
  s.matrix = matrix_of(info);
  return s;
}

std::vector<std::uint8_t> halftoned(const std::string& caps, GstBuffer* buffer, const ColourSettings& settings,
                                    int fields = 1) {
  const GstVideoInfo info = video_info(caps);
  const PictureGeometry geometry = colour_geometry_of(info).value();
  const MappedPicture frame(info, geometry, buffer);
  const std::size_t row = target_row_bytes(info.width, settings);
  std::vector<std::uint8_t> out(row * static_cast<std::size_t>(info.height));
  const auto filter = cpu::make_colour_halftone(geometry, 1);
  filter->submit({frame.frame(), {out.data(), static_cast<std::ptrdiff_t>(row), Memory::kHost}, settings, fields});
  filter->collect();
  return out;
}

/// Rows of a buffer without gaps.
std::vector<std::uint8_t> rows_of(GstBuffer* buffer, int width, int height, const ColourSettings& settings) {
  const std::size_t row = target_row_bytes(width, settings);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const std::size_t stride = settings.output == ColourOutput::kCodes ? row
                             : meta                                  ? static_cast<std::size_t>(meta->stride[0])
                                                                     : (row + 3) / 4 * 4;
  GstMapInfo map;
  std::vector<std::uint8_t> rows;
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  EXPECT_EQ(map.size, stride * static_cast<std::size_t>(height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y)
    rows.insert(rows.end(), map.data + y * stride, map.data + y * stride + row);
  gst_buffer_unmap(buffer, &map);
  return rows;
}

void expect_makes(const std::string& caps, Properties properties, const ColourSettings& settings, int fields = 1) {
  const GstVideoInfo info = video_info(caps);
  HalftoneRig rig(properties);
  if (settings.output == ColourOutput::kRgbx) gst_harness_set_sink_caps_str(rig.harness(), "video/x-raw,format=RGBx");
  rig.caps(caps);
  BufferPtr buffer = random_buffer(caps, 9);
  const auto want = halftoned(caps, buffer.get(), settings, fields);
  const BufferPtr out = rig.pass(std::move(buffer));
  ASSERT_TRUE(out) << caps;
  EXPECT_TRUE(rows_of(out.get(), info.width, info.height, settings) == want) << caps;
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty()) << caps;
}

TEST(HalftoneColours, EveryFormatButOneIsTakenAtOddAndTinySizes) {
  int cases = 0;
  for (const auto& format : listed_formats("halftone"))
    for (const auto& [w, h] : {std::pair{17, 11}, {1, 1}, {2, 3}}) {
      if (is_quick() && cases++ % 4) continue;
      const std::string caps = video_caps(format.c_str(), w, h);
      if (format == "GRAY10_LE32") {
        HalftoneRig rig({{"palette", "bwr"}, {"method", "blue-noise"}});
        rig.caps(caps);
        EXPECT_EQ(rig.push(random_buffer(caps, 9)), GST_FLOW_NOT_NEGOTIATED);
        continue;
      }
      ColourSettings s = settings_for(caps, "bwr");
      s.method = kBlueNoise;
      s.output = ColourOutput::kCodes;
      expect_makes(caps, {{"palette", "bwr"}, {"method", "blue-noise"}, {"packed", "true"}}, s);
    }
}

/// Mean of each channel, 0...255, of what a flat frame of one colour becomes that videoconvert makes in the format.
std::array<double, 3> mean_of(const std::string& format, const char* argb) {
  const std::string line =
      std::string("videotestsrc num-buffers=1 pattern=solid-color foreground-color=") + argb +
      " ! video/x-raw,format=RGB,width=64,height=64 ! videoconvert ! video/x-raw,format=" + format +
      " ! halftone name=h palette=custom palette-colors=" +
      "\"#000000,#ff0000,#00ff00,#0000ff,#ffff00,#ff00ff,#00ffff,#ffffff\" method=blue-noise ! "
      "video/x-raw,format=RGBx ! fakesink name=sink enable-last-sample=true";
  const ElementPtr pipeline(gst_parse_launch(line.c_str(), nullptr));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline.get());
  GstMessage* message = gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND,
                                                   static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  EXPECT_TRUE(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) << format;
  if (message) gst_message_unref(message);
  gst_object_unref(bus);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline.get()), "sink");
  GstSample* sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  std::array<double, 3> mean{};
  GstMapInfo map;
  if (sample && gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ)) {
    for (gsize i = 0; i < map.size; ++i)
      if (i % 4 < 3) mean[i % 4] += map.data[i] / (64.0 * 64);
    gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
  }
  if (sample) gst_sample_unref(sample);
  gst_object_unref(sink);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return mean;
}

TEST(HalftoneColours, FormatsStandForTheSameColours) {
  for (const auto& format : listed_formats("halftone")) {
    if (format.starts_with("GRAY") || format == "Y212_LE" || format == "Y212_BE") continue;
    const auto mean = mean_of(format, "0xffc86428");
    // Blue noise of 64x64 pixels, and codes of 8 bits on the way.
    EXPECT_NEAR(mean[0], 200, 6) << format;
    EXPECT_NEAR(mean[1], 100, 6) << format;
    EXPECT_NEAR(mean[2], 40, 6) << format;
  }
}

TEST(HalftoneColours, PropertiesAreSettings) {
  const std::string caps = video_caps("RGB", 150, 70);
  const auto check = [&](Properties properties, auto&& change, std::string_view palette = "spectra6") {
    ColourSettings s = settings_for(caps, palette);
    change(s);
    expect_makes(caps, properties, s);
  };
  for (const halftone::NamedPalette& named : halftone::named_palettes())
    check(
        {{"palette", named.name}}, [](auto&) {}, named.name);
  check({{"palette", "spectra6"}, {"method", "blue-noise"}}, [](auto& s) { s.method = kBlueNoise; });
  check({{"palette", "spectra6"}, {"serpentine", "true"}}, [](auto& s) { s.serpentine = true; });
  check({{"palette", "spectra6"}, {"strength", "0.5"}}, [](auto& s) { s.strength = 128; });
  check({{"palette", "spectra6"}, {"invert", "true"}}, [](auto& s) { s.tone.invert = true; });
  check({{"palette", "spectra6"}, {"absolute", "true"}}, [](auto& s) { s.relative = false; });
  check({{"palette", "spectra6"}, {"linear", "true"}},
        [](auto& s) { s.linear = true, s.tone.light = halftone::Light::kSrgb; });
  check({{"palette", "spectra6"}, {"packed", "true"}}, [](auto& s) { s.output = ColourOutput::kCodes; });
  check({{"palette", "spectra6"}}, [](auto& s) { s.output = ColourOutput::kRgbx; });
  check(
      {{"levels", "16"}, {"palette", "grey4"}, {"packed", "true"}}, [](auto& s) { s.output = ColourOutput::kCodes; },
      "grey4");
  check({{"palette", "custom"}, {"palette-colors", "#102030,#ffeedd=3"}},
        [](auto& s) { s.palette = halftone::parse_palette("#102030,#ffeedd=3"); });
}

TEST(HalftoneColours, CapsSayMatrixRangeAndFields) {
  const auto yuv = [](const char* more) { return video_caps("I420", 64, 38, more); };
  const Properties spectra6 = {{"palette", "spectra6"}};
  for (const char* more : {",colorimetry=(string)bt601", ",colorimetry=(string)bt709", ",colorimetry=(string)bt2020",
                           ",colorimetry=(string)1:4:16:4"})
    expect_makes(yuv(more), spectra6, settings_for(yuv(more)));
  EXPECT_EQ(settings_for(yuv(",colorimetry=(string)bt601")).matrix, halftone::Matrix::kBt601);
  EXPECT_EQ(settings_for(yuv(",colorimetry=(string)bt709")).matrix, halftone::Matrix::kBt709);
  EXPECT_EQ(settings_for(yuv(",colorimetry=(string)bt2020")).matrix, halftone::Matrix::kBt2020);
  const std::string woven = yuv(",interlace-mode=interleaved");
  expect_makes(woven, spectra6, settings_for(woven), 2);
}

TEST(HalftoneColours, OutputCapsSayWhatLeaves) {
  const auto are = [](HalftoneRig& rig, const char* text) {
    const CapsPtr caps(gst_pad_get_current_caps(rig.harness()->sinkpad)), want(gst_caps_from_string(text));
    return caps && gst_caps_is_strictly_equal(caps.get(), want.get());
  };
  HalftoneRig rig({{"palette", "bwr"}});
  const std::string caps = video_caps("NV12", 18, 6, ",colorimetry=(string)bt709,chroma-site=(string)mpeg2");
  rig.caps(caps);
  EXPECT_TRUE(are(rig, "video/x-raw,format=RGB,width=18,height=6,framerate=30/1"));
  rig.set("packed", "true");
  EXPECT_EQ(gst_buffer_get_size(rig.pass(random_buffer(caps, 1)).get()), 5u * 6);
  EXPECT_TRUE(
      are(rig,
          "video/x-indexed,format=(string)MSB,bits=2,palette=(string)\"#0a070e=0,#adb2ae=1,#55180e=2\",width=18,"
          "height=6,framerate=30/1"));
  rig.set("palette", "spectra6");
  EXPECT_EQ(gst_buffer_get_size(rig.pass(random_buffer(caps, 1)).get()), 9u * 6);
  rig.set("packed", "false");
  rig.set("palette", "none");
  rig.pass(random_buffer(caps, 1));
  EXPECT_TRUE(are(rig, "video/x-raw,format=GRAY8,width=18,height=6,framerate=30/1"));
}

TEST(HalftoneColours, PaletteChangesWithTheNextFrame) {
  const std::string caps = video_caps("RGB", 33, 20);
  HalftoneRig rig({{"palette", "bwr"}});
  rig.caps(caps);
  const BufferPtr buffer = random_buffer(caps, 3);
  const auto check = [&](std::string_view palette) {
    const ColourSettings s = settings_for(caps, palette);
    const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(buffer.get())));
    ASSERT_TRUE(out);
    EXPECT_TRUE(rows_of(out.get(), 33, 20, s) == halftoned(caps, buffer.get(), s)) << palette;
  };
  check("bwr");
  rig.set("palette", "acep7");
  check("acep7");
  rig.set("palette", "grey16");
  check("grey16");
}

TEST(HalftoneColours, BadPalettesAreKeptOutWithAWarning) {
  static std::string warned;
  const auto warning_of = [](HalftoneRig& rig, const char* name, const char* value) {
    warned.clear();
    const GLogFunc old = g_log_set_default_handler(
        [](const gchar*, GLogLevelFlags level, const gchar* text, gpointer) {
          if (level & G_LOG_LEVEL_WARNING) warned += text;
        },
        nullptr);
    rig.set(name, value);
    g_log_set_default_handler(old, nullptr);
    return warned;
  };
  HalftoneRig rig({{"palette", "custom"}});
  EXPECT_NE(warning_of(rig, "palette-colors", "#000000").find("at least 2 colours"), std::string::npos) << warned;
  EXPECT_NE(warning_of(rig, "palette-colors", "#000000,#000000").find("there twice"), std::string::npos) << warned;
  const std::string unread = warning_of(rig, "palette-file", "/no/such/palette");
  EXPECT_NE(unread.find("/no/such/palette: cannot be read: No such file"), std::string::npos) << unread;
  EXPECT_EQ(rig.string("palette-file"), "(null)");
  EXPECT_NE(warning_of(rig, "method", "tdfed").find("makes greys only"), std::string::npos) << warned;
  rig.caps(video_caps("RGB", 8, 8));
  EXPECT_EQ(rig.push(random_buffer(video_caps("RGB", 8, 8), 1)), GST_FLOW_NOT_NEGOTIATED);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS)) << heard.errors[0].text;
  EXPECT_NE(heard.errors[0].text.find("palette-colors"), std::string::npos) << heard.errors[0].text;
}

TEST(HalftoneColours, FilesArePalettesToo) {
  char path[] = "/tmp/fq-palette-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  constexpr std::string_view kText = "#102030\n#ffeedd=3\n";
  ASSERT_EQ(write(file, kText.data(), kText.size()), static_cast<ssize_t>(kText.size()));
  close(file);
  const std::string caps = video_caps("RGB", 33, 20);
  ColourSettings s = settings_for(caps);
  s.palette = halftone::parse_palette("#102030,#ffeedd=3");
  expect_makes(caps, {{"palette", "custom"}, {"palette-file", path}}, s);
  expect_makes(caps, {{"palette", "custom"}, {"palette-colors", "#000000,#ff0000"}, {"palette-file", path}}, s);
  // The one set last counts.
  HalftoneRig rig({{"palette", "custom"}, {"palette-file", path}, {"palette-colors", "#000000,#ff0000"}});
  unlink(path);
  EXPECT_EQ(rig.string("palette-file"), "(null)");
  EXPECT_EQ(rig.string("palette-colors"), "#000000,#ff0000");
  rig.set("palette-file", "");
  s.palette = halftone::parse_palette("#000000,#ff0000");
  rig.caps(caps);
  const BufferPtr buffer = random_buffer(caps, 3);
  const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(buffer.get())));
  ASSERT_TRUE(out);
  EXPECT_TRUE(rows_of(out.get(), 33, 20, s) == halftoned(caps, buffer.get(), s));
}

TEST(HalftoneColours, OfferedCapsAreThoseOfThePalette) {
  const auto offered = [](HalftoneRig& rig, const char* pad_name, const char* caps_text) {
    GstPad* pad = gst_element_get_static_pad(rig.element(), pad_name);
    const CapsPtr all(gst_pad_query_caps(pad, nullptr)), some(gst_caps_from_string(caps_text));
    gst_object_unref(pad);
    return static_cast<bool>(gst_caps_can_intersect(all.get(), some.get()));
  };
  HalftoneRig seen({{"palette", "spectra6"}}), codes({{"palette", "spectra6"}, {"packed", "true"}});
  EXPECT_TRUE(offered(seen, "src", "video/x-raw,format=RGBx"));
  EXPECT_FALSE(offered(seen, "src", "video/x-raw,format=GRAY8"));
  EXPECT_FALSE(offered(seen, "src", "video/x-indexed"));
  EXPECT_TRUE(offered(codes, "src", "video/x-indexed,bits=4"));
  EXPECT_FALSE(offered(codes, "src", "video/x-indexed,bits=2"));
  EXPECT_FALSE(offered(codes, "src", "video/x-mono"));
  EXPECT_TRUE(offered(codes, "sink", "video/x-raw,format=I420"));
  EXPECT_FALSE(offered(codes, "sink", "video/x-indexed"));
}

}  // namespace
}  // namespace framequality::test
