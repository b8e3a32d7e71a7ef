// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel filters: strides, pools both ways, metadata, and that nobody else's pixels change.
#include "tests/gst/base/filter_rig.h"
#include "tests/gst/branches.h"
#include "tests/gst/pool.h"

#include <cstring>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("I420", 17, 11);
// Large enough to be pinned in place.
const std::string kLarge = video_caps("GRAY8", 640, 480);

/// A filter there.
class FilterPoolRig : public PoolRigOf<FilterRig> {
 public:
  explicit FilterPoolRig(std::initializer_list<std::pair<const char*, const char*>> properties = {},
                         std::function<void(GstQuery*)> answer = nullptr)
      : PoolRigOf(properties, std::move(answer)) {
    set("search-radius", "0");  // these tests are not about pixels
  }
};

class FilterMemory : public ScriptedFilters {};

/// The picture of a plain buffer in one with these strides (negative: bottom row first), planes apart by `gap`.
BufferPtr strided(const std::string& caps, GstBuffer* plain, int extra, bool upside_down, gsize gap) {
  const GstVideoInfo info = video_info(caps);
  const PictureGeometry g = geometry_of(info);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
  gsize size = gap;
  for (int p = 0; p < g.layout.planes; ++p) {
    const int step = static_cast<int>(g.row_bytes(p)) + extra;
    strides[p] = upside_down ? -step : step;
    offsets[p] = size + (upside_down ? static_cast<gsize>((g.rows(p) - 1) * step) : 0);
    size += static_cast<gsize>(g.rows(p) * step) + gap;
  }
  auto* bytes = static_cast<std::uint8_t*>(g_malloc0(size));
  const MappedPicture from(info, g, plain);
  for (int p = 0; p < g.layout.planes; ++p)
    for (int y = 0; y < g.rows(p); ++y)
      std::memcpy(bytes + offsets[p] + static_cast<gssize>(y) * strides[p],
                  from.frame().plane[p] + y * from.frame().stride[p], g.row_bytes(p));
  BufferPtr buffer(gst_buffer_new_wrapped(bytes, size));
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 GST_VIDEO_INFO_N_PLANES(&info), offsets, strides);
  return buffer;
}

TEST_F(FilterMemory, StridesAndOffsetsOfInputAreHonoured) {
  for (const char* device : {"cpu", "cuda"})
    for (const char* format : {"I420", "YUY2", "NV12", "RGB", "Y444_10LE"})
      for (const int extra : {0, 1, 30})
        for (const bool upside_down : {false, true}) {
          const std::string caps = video_caps(format, 17, 11);
          FilterRig rig{{"device", device}};
          rig.caps(caps);
          const BufferPtr plain = random_buffer(caps, 2);
          const auto want = filtered(caps, plain.get(), quick());
          const BufferPtr out = rig.pass(strided(caps, plain.get(), extra, upside_down, 5));
          ASSERT_TRUE(out);
          EXPECT_TRUE(is_filtered(rig, want, rows_of(caps, out.get()))) << format << " " << extra << " " << upside_down;
          EXPECT_FALSE(gst_buffer_get_video_meta(out.get())) << "nobody asked for strides";
        }
}

TEST_F(FilterMemory, StridesThatOverlapOrLeaveTheBufferAreOneError) {
  for (const gint stride : {16, 1000000, -24}) {
    FilterRig rig;
    rig.caps(video_caps("GRAY8", 24, 16));
    BufferPtr buffer(gst_buffer_new_allocate(nullptr, 24 * 16, nullptr));
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 24, 16, 1, offsets,
                                   strides);
    EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_ERROR) << stride;
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
  }
}

TEST_F(FilterMemory, InputIsUntouchedAndOutputIsItsOwn) {
  for (const char* device : {"cpu", "cuda"}) {
    FilterRig rig{{"device", device}};
    rig.caps(kCaps);
    const BufferPtr held = random_buffer(kCaps, 1);
    const auto before = rows_of(kCaps, held.get());
    const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(held.get())));
    ASSERT_TRUE(out);
    EXPECT_NE(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0));
    EXPECT_TRUE(rows_of(kCaps, held.get()) == before);
    EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(held.get()), 1);
  }
}

TEST_F(FilterMemory, OtherBranchOfATeeSeesItsOwnPixels) {
  const auto seen = frames_at_both_sinks(
      "videotestsrc pattern=snow num-buffers=4 ! video/x-raw,format=GRAY8,width=24,height=16 ! tee name=t t. ! queue ! "
      "nlmeans search-radius=1 patch-radius=1 strength=100 ! fakesink name=a sync=false t. ! queue ! "
      "fakesink name=b sync=false");
  ASSERT_EQ(seen[0].size(), 4u);
  ASSERT_EQ(seen[1].size(), 4u);
  denoise::Settings settings = quick();
  settings.range = 10000;
  const std::string caps = video_caps("GRAY8", 24, 16);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(rows_of(caps, seen[0][i].get()) == filtered(caps, seen[1][i].get(), settings).rows) << i;
}

TEST_F(FilterMemory, UpstreamIsOfferedPinnedBuffersForAllThatAreHeld) {
  FilterPoolRig rig{{"in-flight", "3"}, {"temporal-radius", "2"}};
  rig.caps(kPoolCaps);
  const QueryPtr query = ask(rig);
  ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), 1u);
  guint size = 0, min = 0, max = 1;
  gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, &size, &min, &max);
  EXPECT_EQ(size, video_info(kPoolCaps).size);
  EXPECT_EQ(min, 3u + 4u + 1u);
  EXPECT_EQ(max, 0u);
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  const PoolPtr pool = pool_in(query.get());
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  EXPECT_TRUE(is_pinned(take(pool.get()).get()));
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST_F(FilterMemory, OnTheCpuUpstreamLearnsHowManyBuffersStay) {
  for (const auto& [radius, pools] : {std::pair{"0", 0u}, {"2", 1u}}) {
    FilterPoolRig rig{{"device", "cpu"}, {"temporal-radius", radius}};
    rig.caps(kPoolCaps);
    const QueryPtr query = ask(rig);
    ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), pools);
    EXPECT_FALSE(pool_in(query.get()));
    if (!pools) continue;
    guint min = 0;
    gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, nullptr, &min, nullptr);
    EXPECT_EQ(min, 5u);
  }
}

TEST_F(FilterMemory, OutputIsPinnedWhereNobodyElseBringsAPool) {
  FilterPoolRig rig{{"in-flight", "1"}};
  rig.caps(kLarge);
  BufferPtr out;
  for (std::uint64_t i = 0; i < 3; ++i) rig.push(random_buffer(kLarge, i, time_of(i)));
  out = rig.pull();
  ASSERT_TRUE(out);
  EXPECT_TRUE(is_pinned(out.get()));
  // It lives on without the element.
  rig.send(gst_event_new_eos());
  while (rig.pull()) continue;
  gst_element_set_state(rig.element(), GST_STATE_NULL);
  EXPECT_TRUE(is_pinned(out.get()));
}

TEST_F(FilterMemory, OutputComesFromDownstreamsPool) {
  for (const char* device : {"cpu", "cuda"})
    for (const bool strides : {false, true}) {
      anew();
      const PoolPtr theirs(gst_video_buffer_pool_new());
      FilterPoolRig rig({{"device", device}, {"in-flight", "2"}}, [&](GstQuery* q) {
        gst_query_add_allocation_pool(q, theirs.get(), video_info(kLarge).size, 2, 4);
        if (strides) gst_query_add_allocation_meta(q, GST_VIDEO_META_API_TYPE, nullptr);
      });
      rig.caps(kLarge);
      // Downstream holds as many as it said it needs, while the element writes its own.
      std::deque<BufferPtr> outs;
      for (std::uint64_t i = 0; i < 9; ++i) {
        rig.push(random_buffer(kLarge, i, time_of(i)));
        while (BufferPtr out = rig.pull()) outs.push_back(std::move(out));
        while (outs.size() > 4) outs.pop_front();
      }
      ASSERT_EQ(outs.size(), 4u);
      for (const BufferPtr& out : outs) {
        EXPECT_EQ(out->pool, theirs.get());
        EXPECT_EQ(gst_buffer_get_video_meta(out.get()) != nullptr, strides);
      }
      EXPECT_TRUE(rig.heard().errors.empty());
      outs.clear();
    }
}

TEST_F(FilterMemory, FlushGivesOutputBuffersBack) {
  const PoolPtr theirs(gst_video_buffer_pool_new());
  FilterPoolRig rig({{"in-flight", "3"}},
                    [&](GstQuery* q) { gst_query_add_allocation_pool(q, theirs.get(), video_info(kCaps).size, 1, 2); });
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
  rig.send(gst_event_new_flush_start());
  rig.send(gst_event_new_flush_stop(TRUE));
  GstStructure* config = gst_buffer_pool_get_config(theirs.get());
  guint most = 0;
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &most);
  gst_structure_free(config);
  ASSERT_GT(most, 3u);
  GstBufferPoolAcquireParams now{};
  now.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  std::vector<BufferPtr> all;
  GstBuffer* buffer = nullptr;
  while (all.size() <= most && gst_buffer_pool_acquire_buffer(theirs.get(), &buffer, &now) == GST_FLOW_OK)
    all.emplace_back(buffer);
  EXPECT_EQ(all.size(), most);
}

TEST_F(FilterMemory, WithoutAnOutputBufferFramesAreDropped) {
  const PoolPtr theirs(gst_video_buffer_pool_new());
  FilterPoolRig rig({{"in-flight", "1"}, {"temporal-radius", "1"}},
                    [&](GstQuery* q) { gst_query_add_allocation_pool(q, theirs.get(), video_info(kCaps).size, 2, 0); });
  rig.caps(kCaps);
  Listener listener(rig);
  const auto push = [&](std::uint64_t i) { return rig.push(watched_frame(kCaps, i)); };
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(push(i), GST_FLOW_OK);
  EXPECT_EQ(listener.taken(), "0 ");
  // As an element does that shuts down. More frames than the element could hold.
  gst_buffer_pool_set_flushing(theirs.get(), TRUE);
  for (std::uint64_t i = 3; i < 44; ++i) EXPECT_EQ(push(i), i % 2 ? GST_FLOW_FLUSHING : GST_FLOW_OK) << i;
  EXPECT_EQ(script.released, 44);
  gst_buffer_pool_set_flushing(theirs.get(), FALSE);
  for (std::uint64_t i = 50; i < 54; ++i) EXPECT_EQ(push(i), GST_FLOW_OK) << i;
  rig.send(gst_event_new_eos());
  EXPECT_EQ(listener.taken(), "50! 51 52 53 eos ");
  EXPECT_TRUE(rig.heard().errors.empty());
}

TEST_F(FilterMemory, MemoryThatComesAgainIsPinnedInPlace) {
  FilterPoolRig rig;
  rig.caps(kLarge);
  const BufferPtr same = random_buffer(kLarge, 1);
  GstMapInfo map;
  gst_buffer_map(same.get(), &map, GST_MAP_READ);
  const void* data = map.data;
  gst_buffer_unmap(same.get(), &map);
  for (int i = 0; i < 4; ++i) rig.pass(BufferPtr(gst_buffer_ref(same.get())));
  EXPECT_TRUE(pins.covers(data, 640 * 480));
}

TEST_F(FilterMemory, MetadataThatStillHoldsComesAlong) {
  const std::string caps = video_caps("GRAY8", 24, 16);
  FilterRig rig{{"in-flight", "1"}, {"temporal-radius", "1"}};
  rig.caps(caps);
  for (std::uint64_t i = 0; i < 3; ++i) {
    BufferPtr buffer = watched_frame(caps, i);
    GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer.get(), "GstSharpnessMeta");
    ASSERT_TRUE(meta);
    gst_structure_set(gst_custom_meta_get_structure(meta), "score", G_TYPE_DOUBLE, static_cast<double>(i), nullptr);
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 1, 2, 3, static_cast<guint>(4 + i));
    gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 24, 16);
    EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
  }
  rig.send(gst_event_new_eos());
  for (std::uint64_t i = 0; i < 3; ++i) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out);
    EXPECT_EQ(meta_score(out.get()), static_cast<double>(i));
    gpointer at = nullptr;
    const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
        gst_buffer_iterate_meta_filtered(out.get(), &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
    ASSERT_TRUE(roi);
    EXPECT_EQ(roi->h, 4 + i);
    EXPECT_FALSE(gst_buffer_get_video_meta(out.get())) << "it says where the input's planes are";
  }
}

}  // namespace
}  // namespace framequality::test
