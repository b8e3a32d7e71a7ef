// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers: nothing is copied, strides and offsets are honoured, and nothing is read out of bounds.
#include "tests/gst/branches.h"
#include "tests/gst/sharpnessmeter/scores.h"

#include <cstring>

namespace framequality::test {

using namespace sharpness;

namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

/// Exactly these bytes in memory of their own, so that a sanitizer sees a read past them.
BufferPtr wrap(const std::vector<std::uint8_t>& bytes, GstMemoryFlags flags = static_cast<GstMemoryFlags>(0)) {
  auto* copy = static_cast<std::uint8_t*>(g_malloc(std::max<std::size_t>(bytes.size(), 1)));
  std::copy(bytes.begin(), bytes.end(), copy);
  BufferPtr buffer(gst_buffer_new());
  gst_buffer_append_memory(buffer.get(),
                           gst_memory_new_wrapped(flags, copy, bytes.size(), 0, bytes.size(), copy, g_free));
  GST_BUFFER_PTS(buffer.get()) = 0;
  return buffer;
}

std::vector<std::uint8_t> noise(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  Random random(size);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random.next());
  return bytes;
}

TEST(Memory, WritableBufferPassesItself) {
  Rig rig;
  rig.caps(kCaps);
  BufferPtr buffer = random_buffer(kCaps, 1);
  const GstBuffer* same = buffer.get();
  EXPECT_EQ(rig.pass(std::move(buffer)).get(), same);
}

TEST(Memory, SharedBufferGetsANewHeaderOverTheSameMemory) {
  for (const int flags : {0, static_cast<int>(GST_MEMORY_FLAG_NO_SHARE), static_cast<int>(GST_MEMORY_FLAG_READONLY)}) {
    Rig rig;
    rig.caps(kCaps);
    BufferPtr held = wrap(noise(64 * 48), static_cast<GstMemoryFlags>(flags));
    GST_BUFFER_FLAG_SET(held.get(), GST_BUFFER_FLAG_DISCONT);
    GST_BUFFER_OFFSET(held.get()) = 17;
    BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(held.get())));
    EXPECT_NE(out.get(), held.get());
    ASSERT_EQ(gst_buffer_n_memory(out.get()), 1u);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0)) << flags;
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
    EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 17u);
    EXPECT_TRUE(std::isnan(meta_score(held.get())));
    EXPECT_FALSE(std::isnan(meta_score(out.get())));
    // The new header keeps the old one from its pool.
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(held.get()), 2);
    out.reset();
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(held.get()), 1);
  }
}

TEST(Memory, WithoutMetaTheVeryBufferPasses) {
  Rig rig{{"attach-meta", "false"}, {"roi-meta", "true"}};
  rig.caps(kCaps);
  const BufferPtr held = random_buffer(kCaps, 1);
  gst_buffer_add_video_region_of_interest_meta(held.get(), "face", 1, 1, 9, 9);
  const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(held.get())));
  EXPECT_EQ(out.get(), held.get());
  EXPECT_EQ(rig.heard().results.size(), 1u);
}

TEST(Memory, TeeSharesMemory) {
  // Buffers reach both sinks; those of the metered branch must hold the memory of the other's.
  const auto seen = frames_at_both_sinks(
      "videotestsrc num-buffers=8 ! tee name=t t. ! queue ! sharpnessmeter ! fakesink name=a sync=false "
      "t. ! queue ! fakesink name=b sync=false");
  ASSERT_EQ(seen[0].size(), 8u);
  ASSERT_EQ(seen[1].size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(gst_buffer_peek_memory(seen[0][i].get(), 0), gst_buffer_peek_memory(seen[1][i].get(), 0)) << i;
    EXPECT_FALSE(std::isnan(meta_score(seen[0][i].get())));
    EXPECT_TRUE(std::isnan(meta_score(seen[1][i].get())));
  }
}

/// GRAY8 64x48 at this stride and offset; negative strides start at the last row in memory.
BufferPtr strided(const std::vector<std::uint8_t>& picture, int stride, std::size_t offset, std::size_t tail = 0) {
  const std::size_t step = static_cast<std::size_t>(std::abs(stride));
  std::vector<std::uint8_t> bytes = noise(offset + 47 * step + 64 + tail);
  for (std::size_t y = 0; y < 48; ++y)
    std::copy_n(picture.data() + y * 64, 64, bytes.data() + offset + (stride < 0 ? 47 - y : y) * step);
  BufferPtr buffer = wrap(bytes);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset + (stride < 0 ? 47 * step : 0)};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64, 48, 1, offsets,
                                 strides);
  return buffer;
}

TEST(Memory, VideoMetaGivesStrideAndOffset) {
  const auto picture = noise(64 * 48);
  const BufferPtr plain = wrap(picture);
  const double want = expected(kCaps, plain.get()).score;
  for (const int stride : {64, 65, 80, 1000, -64, -77})
    for (const std::size_t offset : {0u, 1u, 100u}) {
      Rig rig;
      rig.caps(kCaps);
      EXPECT_EQ(rig.score(strided(picture, stride, offset)), want) << stride << " " << offset;
    }
}

TEST(Memory, BuffersOfSeveralMemories) {
  const auto picture = noise(64 * 48 * 3 / 2);
  const std::string caps = video_caps("I420", 64, 48);
  const BufferPtr plain = wrap(picture);
  const double want = expected(caps, plain.get()).score;
  for (const std::size_t cut : {std::size_t{64 * 48}, std::size_t{1000}, std::size_t{64 * 48 + 5}}) {
    BufferPtr buffer = wrap({picture.begin(), picture.begin() + static_cast<std::ptrdiff_t>(cut)});
    const BufferPtr rest = wrap({picture.begin() + static_cast<std::ptrdiff_t>(cut), picture.end()});
    gst_buffer_append_memory(buffer.get(), gst_buffer_get_memory(rest.get(), 0));
    Rig rig;
    rig.caps(caps);
    EXPECT_EQ(rig.score(std::move(buffer)), want) << cut;
  }
}

/// Pushes a buffer that must be refused with one STREAM/FORMAT error holding all of `words`.
void refused(const std::string& caps, BufferPtr buffer, const std::vector<std::string>& words) {
  Rig rig;
  rig.caps(caps);
  EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
  for (const auto& word : words) EXPECT_NE(heard.errors[0].text.find(word), std::string::npos) << heard.errors[0].text;
  EXPECT_TRUE(heard.results.empty());
  EXPECT_FALSE(rig.pull());
}

TEST(Memory, TruncatedBufferIsAnErrorWithNumbers) {
  refused(kCaps, wrap(noise(64 * 48 - 1)), {"64x48", "3072", "3071"});
  refused(kCaps, wrap({}), {"3072", "0"});
  refused(video_caps("I420", 64, 48), wrap(noise(64 * 48 + 100)), {"4608", "3172"});
  refused(video_caps("GBR", 8, 8), wrap(noise(8 * 8 * 2)), {"192", "128"});
}

/// The element that a warning or an error says to put upstream.
std::string cure_in(const std::string& text) {
  const std::size_t begin = text.find("rawvideoparse"), end = text.rfind(" upstream");
  return begin < end && end != std::string::npos ? text.substr(begin, end - begin) : "";
}

/// Score of a buffer behind this element.
double cured(const std::string& cure, const std::string& caps, BufferPtr buffer) {
  const std::unique_ptr<GstHarness, Free<gst_harness_teardown>> harness(
      gst_harness_new_parse((cure + " ! sharpnessmeter").c_str()));
  gst_harness_set_src_caps_str(harness.get(), caps.c_str());
  EXPECT_EQ(gst_harness_push(harness.get(), buffer.release()), GST_FLOW_OK) << cure;
  const BufferPtr out(gst_harness_try_pull(harness.get()));
  EXPECT_TRUE(out) << cure;
  return out ? meta_score(out.get()) : std::nan("");
}

/// A frame with rows of other strides, and no GstVideoMeta that says so.
BufferPtr laid_out(const std::string& caps, GstBuffer* plain, const std::vector<std::size_t>& strides) {
  const GstVideoInfo info = video_info(caps);
  GstMapInfo map;
  gst_buffer_map(plain, &map, GST_MAP_READ);
  std::vector<std::uint8_t> bytes;
  for (std::size_t p = 0; p < strides.size(); ++p)
    for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(&info, p); ++y) {
      const std::uint8_t* row = map.data + info.offset[p] + std::ptrdiff_t{y} * info.stride[p];
      const std::size_t kept = std::min(strides[p], static_cast<std::size_t>(info.stride[p]));
      bytes.insert(bytes.end(), row, row + kept);
      bytes.insert(bytes.end(), strides[p] - kept, 77);
    }
  gst_buffer_unmap(plain, &map);
  return wrap(bytes);
}

TEST(Memory, SizesThatSayHowRowsMayLieNameTheCure) {
  struct Case {
    const char* format;
    int width, height;
    std::vector<std::size_t> strides;
    bool too_short;  ///< an error; else a warning
    std::vector<std::string> words;
  };
  const std::vector<Case> cases{
      {"GRAY8", 64, 48, {80}, false, {"every 80 bytes", "not every 64", "plane-strides=\"<80>\"", "frame-size=3840"}},
      {"I420", 64, 48, {80, 40, 40}, false, {"\"<80,40,40>\"", "\"<0,3840,4800>\"", "frame-size=5760"}},
      {"GRAY16_LE", 64, 48, {192}, false, {"format=gray16-le", "\"<192>\""}},
      {"GRAY8", 61, 48, {61}, true, {"2928", "every 61 bytes", "not every 64", "\"<61>\""}},
      {"I420", 62, 48, {62, 31, 31}, true, {"\"<62,31,31>\"", "\"<0,2976,3720>\""}}};
  const bool has_parser = gst_registry_check_feature_version(gst_registry_get(), "rawvideoparse", 1, 0, 0);
  for (const Case& c : cases) {
    const std::string caps = video_caps(c.format, c.width, c.height);
    SCOPED_TRACE(caps);
    const BufferPtr plain = random_buffer(caps, 3);
    Rig rig;
    rig.caps(caps);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(rig.push(laid_out(caps, plain.get(), c.strides)), c.too_short ? GST_FLOW_ERROR : GST_FLOW_OK);
      const Heard heard = rig.heard();
      const auto& said = c.too_short ? heard.errors : heard.warnings;
      ASSERT_EQ(said.size(), c.too_short || i == 0 ? 1u : 0u) << "frame " << i;
      if (said.empty()) continue;
      EXPECT_TRUE(said[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
      for (const std::string& word : c.words)
        EXPECT_NE(said[0].text.find(word), std::string::npos) << word << " in " << said[0].text;
      if (!has_parser) continue;
      EXPECT_EQ(cured(cure_in(said[0].text), caps, laid_out(caps, plain.get(), c.strides)),
                expected(caps, plain.get()).score);
    }
  }
  if (!has_parser) GTEST_SKIP() << "no rawvideoparse to see whether it is one";
}

TEST(Memory, MoreBytesAtTheEndAreNoPadding) {
  // As drivers and pools round sizes up, or two frames in one.
  for (const std::size_t more : {1u, 1000u, 1024u, 3072u, 5000u}) {
    Rig rig;
    rig.caps(kCaps);
    const auto longer = noise(64 * 48 + more);
    const BufferPtr plain = wrap({longer.begin(), longer.begin() + 64 * 48});
    EXPECT_EQ(rig.score(wrap(longer)), expected(kCaps, plain.get()).score);
    EXPECT_TRUE(rig.heard().warnings.empty()) << more;
  }
}

TEST(Memory, VideoMetaBeyondTheBufferIsAnError) {
  const auto add = [](BufferPtr buffer, std::size_t offset, int stride, guint w = 64, guint h = 48,
                      GstVideoFormat format = GST_VIDEO_FORMAT_GRAY8) {
    gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, format, w, h, 1, offsets, strides);
    return buffer;
  };
  refused(kCaps, add(wrap(noise(3072)), 0, 63), {"64", "63"});
  refused(kCaps, add(wrap(noise(3072)), 0, 0), {"stride is 0"});
  refused(kCaps, add(wrap(noise(3072)), 1, 64), {"3072", "3071"});
  refused(kCaps, add(wrap(noise(3072)), 0, 65), {"65", "3072"});
  refused(kCaps, add(wrap(noise(3072)), 0, -64), {"-64"});
  refused(kCaps, add(wrap(noise(3072)), 3072, 64), {"3072"});
  refused(kCaps, add(wrap(noise(3072)), std::size_t{1} << 60, 64), {"3072"});
  refused(kCaps, add(wrap(noise(3072)), 0, G_MAXINT), {"2147483647"});
  refused(kCaps, add(wrap(noise(3072)), 0, G_MININT), {"-2147483648"});
  refused(kCaps, add(wrap(noise(3072)), 0, 64, 63), {"63x48"});
  refused(kCaps, add(wrap(noise(3072)), 0, 64, 64, 47), {"64x47"});
  refused(kCaps, add(wrap(noise(9216)), 0, 192, 64, 48, GST_VIDEO_FORMAT_RGB), {"GRAY8", "RGB"});
}

TEST(Memory, VideoMetaLargerThanTheCapsShowsTheirPart) {
  const auto picture = noise(80 * 60);
  BufferPtr buffer = wrap(picture);
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 80, 60);
  const Scores want = expected(video_caps("GRAY8", 80, 60), buffer.get(),
                               {.metric = metric_index("variance"), .roi = Rect{0, 0, 64, 48}});
  Rig rig{{"metric", "variance"}};
  rig.caps(kCaps);
  EXPECT_EQ(rig.score(std::move(buffer)), want.score);
}

struct UnmappableAllocator {
  GstAllocator parent;
};
struct UnmappableAllocatorClass {
  GstAllocatorClass parent_class;
};
G_DEFINE_TYPE(UnmappableAllocator, unmappable_allocator, GST_TYPE_ALLOCATOR)
void unmappable_allocator_init(UnmappableAllocator* self) {
  self->parent.mem_map = [](GstMemory*, gsize, GstMapFlags) -> gpointer { return nullptr; };
}
void unmappable_allocator_class_init(UnmappableAllocatorClass* klass) {
  klass->parent_class.free = [](GstAllocator*, GstMemory* memory) { g_free(memory); };
}

TEST(Memory, UnmappableMemoryIsAReadError) {
  for (const bool video_meta : {false, true}) {
    auto* allocator = static_cast<GstAllocator*>(g_object_new(unmappable_allocator_get_type(), nullptr));
    gst_object_ref_sink(allocator);
    auto* memory = g_new0(GstMemory, 1);
    gst_memory_init(memory, static_cast<GstMemoryFlags>(0), allocator, nullptr, 3072, 0, 0, 3072);
    gst_object_unref(allocator);
    BufferPtr buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), memory);
    if (video_meta) gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64, 48);
    Rig rig;
    rig.caps(kCaps);
    EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_ERROR);
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ)) << heard.errors[0].text;
  }
}

TEST(Memory, AllocationQueryGoesDownstreamAndBackUnchanged) {
  for (const guint announced : {0u, 1u}) {
    Rig rig;
    rig.caps(kCaps);
    if (announced) gst_harness_add_propose_allocation_meta(rig.harness(), GST_VIDEO_META_API_TYPE, nullptr);
    const CapsPtr caps(gst_caps_from_string(kCaps.c_str()));
    GstQuery* query = gst_query_new_allocation(caps.get(), TRUE);
    GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
    EXPECT_TRUE(gst_pad_query(pad, query));
    gst_object_unref(pad);
    EXPECT_EQ(gst_query_get_n_allocation_pools(query), 0u);
    EXPECT_EQ(gst_query_get_n_allocation_metas(query), announced);
    gst_query_unref(query);
  }
}

}  // namespace
}  // namespace framequality::test
