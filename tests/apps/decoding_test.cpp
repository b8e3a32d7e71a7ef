// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of why a file could not be decoded: with decoders in the pipeline that do not start.
#include "apps/common/decoding.h"

#include "apps/common/open_gop.h"
#include "apps/common/owned.h"
#include "apps/common/shifted_png.h"
#include "apps/common/yuv4mpeg.h"

#include <glib/gstdio.h>

#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace framequality::apps {
namespace {

/// A decoder that fails on its way to PAUSED as one does whose GPU has no memory left, with a word or without.
template <bool kSpeaks>
struct Unwilling {
  static void init_class(gpointer klass, gpointer) {
    auto* element = GST_ELEMENT_CLASS(klass);
    gst_element_class_set_static_metadata(element, "unwilling", "Codec/Decoder/Video/Hardware", "fails", "nobody");
    for (const auto& [name, direction, format] :
         {std::tuple{"sink", GST_PAD_SINK, "image/jpeg"}, std::tuple{"src", GST_PAD_SRC, "video/x-raw"}}) {
      const Owned<GstCaps> caps(gst_caps_from_string(format));
      gst_element_class_add_pad_template(element, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get()));
    }
    element->change_state = [](GstElement* self, GstStateChange change) {
      if (change == GST_STATE_CHANGE_READY_TO_PAUSED) {
        if (kSpeaks) GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("No room for it"), ("out of memory"));
        return GST_STATE_CHANGE_FAILURE;
      }
      auto* parent = GST_ELEMENT_CLASS(g_type_class_peek(GST_TYPE_ELEMENT));
      return parent->change_state(self, change);
    };
  }
  static void init(GTypeInstance* instance, gpointer klass) {
    for (const char* name : {"sink", "src"})
      gst_element_add_pad(
          GST_ELEMENT(instance),
          gst_pad_new_from_template(gst_element_class_get_pad_template(GST_ELEMENT_CLASS(klass), name), name));
  }
  static void enter(const char* name) {
    static const GType type = g_type_register_static_simple(GST_TYPE_ELEMENT, name, sizeof(GstElementClass), init_class,
                                                            sizeof(GstElement), init, static_cast<GTypeFlags>(0));
    gst_element_register(nullptr, name, GST_RANK_PRIMARY + 100, type);
  }
};

void rank(const char* factory, guint rank) {
  const Owned<GstPluginFeature> feature(gst_registry_lookup_feature(gst_registry_get(), factory));
  if (feature) gst_plugin_feature_set_rank(feature.get(), rank);
}

class DecodingReason : public ::testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    GList* decoders = gst_element_factory_list_get_elements(GST_ELEMENT_FACTORY_TYPE_DECODER,
                                                            static_cast<GstRank>(GST_RANK_MARGINAL));
    const Owned<GstCaps> jpeg(gst_caps_from_string("image/jpeg"));
    for (GList* at = decoders; at; at = at->next)
      if (gst_element_factory_can_sink_any_caps(GST_ELEMENT_FACTORY(at->data), jpeg.get()))
        gst_plugin_feature_set_rank(GST_PLUGIN_FEATURE(at->data), GST_RANK_NONE);
    gst_plugin_feature_list_free(decoders);
    const Owned<GstElement> encode(
        gst_parse_launch(("videotestsrc num-buffers=1 ! jpegenc ! filesink location=" + path_).c_str(), nullptr));
    if (!encode) GTEST_SKIP() << "no jpegenc";
    gst_element_set_state(encode.get(), GST_STATE_PLAYING);
    const Owned<GstBus> bus(gst_element_get_bus(encode.get()));
    const Owned<GstMessage> end(gst_bus_timed_pop_filtered(bus.get(), 10 * GST_SECOND, GST_MESSAGE_EOS));
    gst_element_set_state(encode.get(), GST_STATE_NULL);
    ASSERT_TRUE(end);
  }
  void TearDown() override { g_unlink(path_.c_str()); }

  /// What decoding the picture fails of.
  std::string reason() const {
    Decoding decoding;
    const Owned<GstElement> pipeline(
        gst_parse_launch(("uridecodebin uri=file://" + path_ + " ! fakesink").c_str(), nullptr));
    decoding.watch(pipeline.get());
    const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    std::string text = "nothing was said";
    while (const Owned<GstMessage> message{gst_bus_timed_pop_filtered(
        bus.get(), 10 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR))}) {
      decoding.hear(message.get());
      if (GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_ERROR) continue;
      text = decoding.reason(message.get());
      break;
    }
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    return text;
  }
  const std::string path_ = std::string(g_get_tmp_dir()) + "/decoding-" + std::to_string(getpid()) + ".jpg";
};

TEST_F(DecodingReason, NamesWhatIsNotInstalled) {
  EXPECT_EQ(reason(),
            "GStreamer has no JPEG decoder; on Debian and Ubuntu: sudo apt install gstreamer1.0-plugins-good");
}

TEST_F(DecodingReason, NamesADecoderThatDoesNotStart) {
  Unwilling<false>::enter("unwillingdec");
  EXPECT_EQ(reason(), "its decoder failed to start: unwillingdec");
  rank("unwillingdec", GST_RANK_NONE);
}

TEST_F(DecodingReason, SaysWhatADecoderSaidAndWhatMayHelp) {
  Unwilling<true>::enter("nvunwillingdec");
  EXPECT_EQ(
      reason(),
      "its decoder failed to start: nvunwillingdec (out of memory); GPU memory may be full: try fewer files at once");
  rank("nvunwillingdec", GST_RANK_NONE);
}

TEST(Png, SamplesThatLieOneTooFarAreFoundAndMovedBack) {
  constexpr std::uint16_t kOpaque = 0xffff;
  const std::vector<std::uint16_t> right{kOpaque, 1, 2, 3, kOpaque, 4, 5, 6, kOpaque, 7, 8, 9};
  std::vector<std::uint16_t> shifted{0, kOpaque, 1, 2, 3, kOpaque, 4, 5, 6, kOpaque, 7, 8};
  EXPECT_FALSE(is_shifted_argb64(right));
  EXPECT_TRUE(is_shifted_argb64(shifted));
  shift_back(shifted);
  std::vector<std::uint16_t> expected = right;
  expected.back() = 6;  // lost
  EXPECT_EQ(shifted, expected);
  std::array<std::uint8_t, 26> header{};
  header[24] = 16;
  for (const auto& [type, expected] : {std::pair{2, true}, {0, false}, {6, false}}) {
    header[25] = static_cast<std::uint8_t>(type);
    EXPECT_EQ(is_deep_rgb(header), expected) << type;
  }
  // Red everywhere, as it should be.
  EXPECT_FALSE(is_shifted_argb64(std::vector<std::uint16_t>{kOpaque, kOpaque, 2, 3, kOpaque, kOpaque, 5, 6}));
  EXPECT_FALSE(is_shifted_argb64({}));
}

TEST(Yuv4mpeg, LongHeadersLoseTheFieldsForApplications) {
  const std::string all = "YUV4MPEG2 W1280 H720 F20:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2";
  EXPECT_EQ(shorter_yuv4mpeg_header(all), all);
  EXPECT_EQ(shorter_yuv4mpeg_header(all + " XCOLORRANGE=LIMITED"), "YUV4MPEG2 W1280 H720 F20:1 Ip A1:1 C420mpeg2");
  // With its newline, 80 bytes: as many as are read.
  const std::string longest = all + std::string(79 - all.size() - 2, ' ') + "X1";
  ASSERT_EQ(longest.size(), 79u);
  EXPECT_EQ(shorter_yuv4mpeg_header(longest), longest);
  EXPECT_NE(shorter_yuv4mpeg_header(longest + "2"), longest + "2");
  EXPECT_EQ(shorter_yuv4mpeg_header(""), "");
}

TEST(Yuv4mpeg, ChromaThatTheDecoderMisreads) {
  for (const char* read : {"", " C420", " C420jpeg", " C420mpeg2 XYSCSS=420MPEG2", " C420paldv", " C422", " C444"})
    EXPECT_EQ(misread_yuv4mpeg_chroma("YUV4MPEG2 W16 H16 F25:1" + std::string(read), false), "") << read;
  const auto misread = [](const std::string& chroma, bool decodes_gray) {
    return misread_yuv4mpeg_chroma("YUV4MPEG2 W16 H16 C" + chroma + " F25:1", decodes_gray);
  };
  for (const char* deep : {"420p10", "422p12", "444p16", "444alpha", "mono10"})
    for (const bool decodes_gray : {false, true}) EXPECT_EQ(misread(deep, decodes_gray), deep);
  for (const char* other : {"mono", "411"}) {
    EXPECT_EQ(misread(other, false), other);
    EXPECT_EQ(misread(other, true), "");
  }
}

/// NAL units of these types, as H.265 streams have them: with start codes, or with lengths.
std::vector<std::uint8_t> access_unit(const std::vector<int>& types, int length_size) {
  std::vector<std::uint8_t> all;
  for (const int type : types) {
    std::vector<std::uint8_t> prefix(static_cast<std::size_t>(length_size), 0);
    if (length_size == 0)
      prefix = {0, 0, 0, 1};
    else
      prefix.back() = 5;
    all.insert(all.end(), prefix.begin(), prefix.end());
    all.insert(all.end(), {static_cast<std::uint8_t>(type << 1), 1, 0x80, 0x40, 0x20});
  }
  return all;
}

TEST(H265, FrameOfAnAccessUnit) {
  constexpr int kTrail = 1, kIdr = 19, kCra = 21, kVps = 32, kDelimiter = 35, kSei = 39;
  for (const int length_size : {0, 1, 2, 4}) {
    EXPECT_EQ(h265_frame_type(access_unit({kDelimiter, kVps, 33, 34, kSei, kCra, kCra}, length_size), length_size),
              kCra);
    EXPECT_EQ(h265_frame_type(access_unit({kTrail, kIdr}, length_size), length_size), kTrail);
    EXPECT_EQ(h265_frame_type(access_unit({kVps, kSei}, length_size), length_size), -1);
    // Of cut units only those count whose header is there.
    std::vector<std::uint8_t> cut = access_unit({kSei, kCra}, length_size);
    for (; !cut.empty(); cut.pop_back()) {
      const int type = h265_frame_type(cut, length_size);
      EXPECT_TRUE(type == -1 || type == kCra) << cut.size();
    }
  }
  EXPECT_EQ(h265_frame_type(std::vector<std::uint8_t>{0xff, 0xff, 0xff, 0xff, 2}, 4), kTrail);
  EXPECT_EQ(h265_frame_type({}, 4), -1);
  for (const int open : {16, 17, 18, kCra}) EXPECT_TRUE(is_open_keyframe(open)) << open;
  for (const int closed : {-1, kTrail, 8, kIdr, 20}) EXPECT_FALSE(is_open_keyframe(closed)) << closed;
}

/// The thread-type of libav's decoder after such a frame as the first one: 0 (auto), or 2 (slice).
guint threads_after(int type, bool loses, bool seeks) {
  const Owned<GstElement> decoder(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("avdec_h265", nullptr))));
  mend_h265(decoder.get(), loses);
  const Owned<GstPad> source(GST_PAD(gst_object_ref_sink(gst_pad_new("src", GST_PAD_SRC)))),
      sink(gst_element_get_static_pad(decoder.get(), "sink"));
  gst_pad_link(source.get(), sink.get());
  gst_pad_set_active(source.get(), TRUE);
  gst_element_set_state(decoder.get(), GST_STATE_PAUSED);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(source.get(), gst_event_new_stream_start("test"));
  const Owned<GstCaps> caps(gst_caps_from_string("video/x-h265, stream-format=byte-stream, alignment=au"));
  gst_pad_push_event(source.get(), gst_event_new_caps(caps.get()));
  gst_pad_push_event(source.get(), gst_event_new_segment(&segment));
  const auto push = [&](int frame) {
    const std::vector<std::uint8_t> unit = access_unit({frame}, 0);
    gst_pad_push(source.get(), gst_buffer_new_memdup(unit.data(), unit.size()));
  };
  constexpr int kIdr = 19;
  if (seeks) {
    push(kIdr);
    push(type);
    gst_pad_push_event(source.get(), gst_event_new_flush_start());
    gst_pad_push_event(source.get(), gst_event_new_flush_stop(TRUE));
    gst_pad_push_event(source.get(), gst_event_new_segment(&segment));
  }
  push(type);
  guint threads = 0;
  g_object_get(decoder.get(), "thread-type", &threads, nullptr);
  gst_element_set_state(decoder.get(), GST_STATE_NULL);
  return threads;
}

TEST(H265, BeginsInAnOpenGopWithoutThreadsForFrames) {
  gst_init(nullptr, nullptr);
  const Owned<GstElement> is_there(gst_element_factory_make("avdec_h265", nullptr));
  if (!is_there) GTEST_SKIP() << "GStreamer has no avdec_h265";
  gst_object_ref_sink(is_there.get());
  constexpr int kTrail = 1, kIdr = 19, kCra = 21;
  constexpr guint kAuto = 0, kSlice = 2;
  for (const bool seeks : {false, true}) {
    EXPECT_EQ(threads_after(kCra, true, seeks), kSlice);
    EXPECT_EQ(threads_after(kIdr, true, seeks), kAuto);
    EXPECT_EQ(threads_after(kTrail, true, seeks), kAuto);
    EXPECT_EQ(threads_after(kCra, false, seeks), kAuto);
  }
}

/// If y4mdec read by itself, it could have its first frame before decodebin had a place for it.
TEST(DecodingVideo, IsPushedIntoY4mdec) {
  gst_init(nullptr, nullptr);
  const std::string path = g_get_tmp_dir() + std::string("/fq-decoding-") + std::to_string(getpid()) + ".y4m";
  const std::string line = "filesrc location=" + path + " ! decodebin ! fakesink name=sink sync=false";
  const std::string frame = "FRAME\n" + std::string(16 * 16 * 3 / 2, 'x');
  ASSERT_TRUE(
      g_file_set_contents(path.c_str(), ("YUV4MPEG2 W16 H16 F25:1 C420\n" + frame + frame).c_str(), -1, nullptr));
  Decoding decoding;
  const Owned<GstElement> pipeline(gst_parse_launch(line.c_str(), nullptr));
  decoding.watch(pipeline.get());
  Owned<GstPad> input;
  const auto keep = +[](GstBin*, GstBin*, GstElement* element, Owned<GstPad>* pad) {
    GstElementFactory* const factory = gst_element_get_factory(element);
    if (factory && std::string_view(GST_OBJECT_NAME(factory)) == "y4mdec")
      pad->reset(gst_element_get_static_pad(element, "sink"));
  };
  g_signal_connect(pipeline.get(), "deep-element-added", G_CALLBACK(keep), &input);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const Owned<GstMessage> end(gst_bus_timed_pop_filtered(
      bus.get(), 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  const GstPadMode mode = input ? GST_PAD_MODE(input.get()) : GST_PAD_MODE_NONE;
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  g_unlink(path.c_str());
  if (!input) GTEST_SKIP() << "no y4mdec";
  EXPECT_EQ(mode, GST_PAD_MODE_PUSH);
  EXPECT_TRUE(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS);
}

}  // namespace
}  // namespace framequality::apps
