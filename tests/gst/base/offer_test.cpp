// SPDX-License-Identifier: LGPL-2.1-or-later
// ALLOCATION queries: when upstream is offered pinned buffers, and that pipelines take them and stay as they were.
#include "tests/gst/pool.h"

#include <fstream>
#include <iterator>

namespace framequality::test {
namespace {

class Offer : public Scripted {};

TEST_F(Offer, IsForTheCapsOfTheQuery) {
  PoolRig rig;
  rig.caps(kPoolCaps);
  for (const auto& [w, h] : {std::pair{64, 48}, {640, 480}}) {
    const std::string caps = video_caps("NV12", w, h);
    const PoolPtr pool = pool_in(ask(rig, caps).get());
    ASSERT_TRUE(pool) << caps;
    gst_buffer_pool_set_active(pool.get(), TRUE);
    EXPECT_EQ(gst_buffer_get_size(take(pool.get()).get()), video_info(caps).size);
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

TEST_F(Offer, WhatDownstreamOffersComesBackUnchanged) {
  const CapsPtr caps(gst_caps_from_string(kPoolCaps.c_str()));
  const PoolPtr theirs(gst_video_buffer_pool_new());
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 127;
  const auto count = [](GstQuery* q) {
    return std::vector<guint>{gst_query_get_n_allocation_pools(q), gst_query_get_n_allocation_params(q),
                              gst_query_get_n_allocation_metas(q)};
  };
  {
    PoolRig rig({}, [&](GstQuery* q) {
      gst_query_add_allocation_pool(q, theirs.get(), 200000, 2, 7);
      gst_query_add_allocation_meta(q, GST_VIDEO_META_API_TYPE, nullptr);
    });
    rig.caps(kPoolCaps);
    const QueryPtr query = ask(rig);
    EXPECT_EQ(count(query.get()), (std::vector<guint>{1, 0, 1}));
    EXPECT_EQ(pool_in(query.get()), theirs);
    guint size, min, max;
    gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, &size, &min, &max);
    EXPECT_EQ((std::vector<guint>{size, min, max}), (std::vector<guint>{200000, 2, 7}));
  }
  {
    PoolRig rig({}, [&](GstQuery* q) { gst_query_add_allocation_param(q, nullptr, &params); });
    rig.caps(kPoolCaps);
    const QueryPtr query = ask(rig);
    EXPECT_EQ(count(query.get()), (std::vector<guint>{0, 1, 0}));
    EXPECT_FALSE(allocator_in(query.get()));
    GstAllocationParams back;
    gst_query_parse_nth_allocation_param(query.get(), 0, nullptr, &back);
    EXPECT_EQ(back.align, 127u);
  }
  PoolRig rig({}, [](GstQuery* q) { gst_query_add_allocation_meta(q, GST_VIDEO_META_API_TYPE, nullptr); });
  rig.caps(kPoolCaps);
  EXPECT_EQ(count(ask(rig).get()), (std::vector<guint>{1, 1, 1})) << "who only reads strides gets ours";
}

TEST_F(Offer, IsOfferedOnlyWhereItHelps) {
  const auto offers = [](Rig& rig, const std::string& caps, bool need_pool = true) {
    const QueryPtr query = ask(rig, caps, need_pool);
    return std::pair{gst_query_get_n_allocation_pools(query.get()), gst_query_get_n_allocation_params(query.get())};
  };
  using Counts = std::pair<guint, guint>;
  {
    PoolRig rig;
    rig.caps(kPoolCaps);
    EXPECT_EQ(offers(rig, kPoolCaps), (Counts{1, 1}));
    EXPECT_EQ(offers(rig, kPoolCaps, false), (Counts{0, 0})) << "who needs no pool might pin every frame";
    EXPECT_EQ(offers(rig, "video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,framerate=30/1"),
              (Counts{0, 0}));
    script.fail_submit_at = script.submitted;
    rig.push(random_buffer(kPoolCaps, 1));
    EXPECT_EQ(offers(rig, kPoolCaps), (Counts{0, 0})) << "the CPU needs none";
  }
  anew();
  PoolRig cpu{{"device", "cpu"}};
  cpu.caps(kPoolCaps);
  EXPECT_EQ(offers(cpu, kPoolCaps), (Counts{0, 0}));
  script.present = false;
  PoolRig none;
  none.caps(kPoolCaps);
  EXPECT_EQ(offers(none, kPoolCaps), (Counts{0, 0}));
  script.present = true;
  PoolRig before;
  EXPECT_EQ(offers(before, kPoolCaps), (Counts{0, 0})) << "before caps";
}

TEST_F(Offer, PoolOfDownstreamGrowsByTheFramesInFlight) {
  const PoolPtr theirs(gst_video_buffer_pool_new());
  for (const guint most : {4u, 0u}) {
    PoolRig rig({{"in-flight", "4"}}, [&](GstQuery* q) {
      gst_query_add_allocation_pool(q, theirs.get(), video_info(kPoolCaps).size, 2, most);
    });
    rig.caps(kPoolCaps);
    const QueryPtr query = ask(rig);
    guint size, min, max;
    gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, &size, &min, &max);
    EXPECT_EQ(min, 6u);
    EXPECT_EQ(max, most == 0 ? 0u : 8u) << "0 is no limit";
    EXPECT_EQ(pool_in(query.get()), theirs);
  }
}

/// Buffers that reached the meter of a pipeline, and those of them that were pinned as they came.
struct Arrived {
  int buffers = 0, pinned = 0;
};
Arrived arrivals(const std::string& launch) {
  const ElementPtr pipeline = pipeline_of(launch);
  const ElementPtr meter(gst_bin_get_by_name(GST_BIN(pipeline.get()), "m"));
  GstPad* pad = gst_element_get_static_pad(meter.get(), "sink");
  Arrived arrived;
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer to) {
        auto* a = static_cast<Arrived*>(to);
        ++a->buffers;
        a->pinned += is_pinned(gst_pad_probe_info_get_buffer(info));
        return GST_PAD_PROBE_OK;
      },
      &arrived, nullptr);
  gst_object_unref(pad);
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const MessagePtr end = end_of(bus.get());
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  EXPECT_TRUE(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS) << launch;
  return arrived;
}

TEST_F(Offer, SourcesAndFiltersTakeIt) {
  for (const char* source :
       {"videotestsrc num-buffers=8 ! video/x-raw,format=GRAY8,width=322,height=242",
        "videotestsrc num-buffers=8 ! video/x-raw,format=RGB ! videoconvert ! video/x-raw,format=I420",
        "videotestsrc num-buffers=8 ! videoscale ! video/x-raw,format=NV12,width=322,height=242"}) {
    for (const char* behind : {"0", "3"}) {
      const Arrived a = arrivals(std::string(source) + " ! sharpnessmeter name=m cuda-device-id=5 in-flight=" + behind +
                                 " ! fakesink sync=false");
      EXPECT_EQ(a.buffers, 8) << source;
      EXPECT_EQ(a.pinned, 8) << source;
      EXPECT_EQ(pins.now(), 0) << "all are gone with the pipeline";
    }
  }
}

/// The frames in a file, without the bytes between rows, which are anything.
std::string rows_in(const std::string& path, const std::string& caps) {
  std::ifstream file(path, std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(file), {});
  const GstVideoInfo info = video_info(caps);
  EXPECT_EQ(all.size() % info.size, 0u);
  std::string rows;
  for (std::size_t frame = 0; frame + info.size <= all.size(); frame += info.size)
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p)
      for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(&info, p); ++y)
        rows += all.substr(
            frame + info.offset[p] + static_cast<std::size_t>(y * info.stride[p]),
            static_cast<std::size_t>(GST_VIDEO_INFO_COMP_WIDTH(&info, p) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, p)));
  return rows;
}

TEST_F(Offer, BytesAreThoseWithoutTheMeter) {
  gchar* folder = g_dir_make_tmp("fq-offer-XXXXXX", nullptr);
  ASSERT_TRUE(folder);
  const std::string dir = folder;
  g_free(folder);
  const std::string frames =
      "videotestsrc num-buffers=6 pattern=ball ! video/x-raw,format=I420,width=322,height=242,"
      "framerate=30/1";
  const auto has = [](const char* name) {
    GstElementFactory* factory = gst_element_factory_find(name);
    if (factory) gst_object_unref(factory);
    return factory != nullptr;
  };
  const std::string uyvy = video_caps("UYVY", 322, 242);
  std::vector<std::pair<std::string, std::string>> sources{{frames, kPoolCaps},
                                                           {frames + " ! videoconvert ! " + uyvy, uyvy}};
  // Encoded first, and once: encoders see the bytes between rows, which are anything.
  const bool x264 = has("x264enc");
  if ((x264 || has("openh264enc")) && has("avdec_h264") && has("h264parse")) {
    run(frames + " ! " + (x264 ? "x264enc speed-preset=ultrafast" : "openh264enc") + " ! h264parse ! " +
        "video/x-h264,stream-format=byte-stream ! filesink location=" + dir + "/x.h264");
    sources.emplace_back("filesrc location=" + dir + "/x.h264 ! h264parse ! avdec_h264", kPoolCaps);
  }
  if (has("jpegenc") && has("jpegdec") && has("jpegparse")) {
    run(frames + " ! jpegenc ! filesink location=" + dir + "/x.jpg");
    sources.emplace_back("filesrc location=" + dir + "/x.jpg ! jpegparse ! jpegdec", kPoolCaps);
  }
  for (const auto& [source, caps] : sources)
    for (const char* behind : {"0", "3"}) {
      anew();
      const std::string end = " ! filesink location=" + dir;
      EXPECT_TRUE(run(source + end + "/plain").eos);
      EXPECT_TRUE(run(source + " ! sharpnessmeter cuda-device-id=5 in-flight=" + behind + end + "/metered").eos);
      const std::string plain = rows_in(dir + "/plain", caps);
      EXPECT_GE(plain.size(), std::size_t{6 * 322 * 242});
      EXPECT_TRUE(plain == rows_in(dir + "/metered", caps)) << source;
      EXPECT_GT(pins.pinned(), 0) << source;
    }
  for (const char* name : {"/x.h264", "/x.jpg", "/plain", "/metered", ""}) std::remove((dir + name).c_str());
}

}  // namespace
}  // namespace framequality::test
