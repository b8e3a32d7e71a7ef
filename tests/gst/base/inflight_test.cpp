// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in flight: how many are held back, in what order they leave, and that each has its own score, fields and
// options.
#include "tests/gst/scripted.h"
#include "tests/gst/sharpnessmeter/scores.h"

namespace framequality::test {

using namespace sharpness;

namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

/// Pushes and pulls as a stream would.
class InFlight : public Scripted {
 protected:
  /// Pushes a frame, takes what leaves.
  void push(Rig& rig, BufferPtr buffer) {
    EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
    take(rig);
  }
  void end(Rig& rig) {
    EXPECT_TRUE(gst_harness_push_event(rig.harness(), gst_event_new_eos()));
    take(rig);
  }
  void take(Rig& rig) {
    while (BufferPtr out = rig.pull()) out_.push_back(std::move(out));
  }
  /// Frame i is out_[i], by its time.
  void expect_order(std::size_t total) {
    ASSERT_EQ(out_.size(), total);
    for (std::size_t i = 0; i < total; ++i) EXPECT_EQ(GST_BUFFER_PTS(out_[i].get()), time_of(i)) << i;
  }
  /// For the next case of one test.
  void again() {
    out_.clear();
    anew();
  }
  std::vector<BufferPtr> out_;
};

TEST_F(InFlight, FramesLeaveInOrderEachWithItsOwnScore) {
  for (const bool lazy : {false, true})
    for (const std::size_t behind : {0u, 1u, 3u, 16u}) {
      SCOPED_TRACE(std::to_string(behind) + (lazy ? " read late" : " read at once"));
      again();
      script.lazy = lazy;
      Rig rig{{"in-flight", std::to_string(behind).c_str()}};
      rig.caps(kCaps);
      std::vector<double> want;
      for (std::size_t i = 0; i < 40; ++i) {
        BufferPtr buffer = watched_frame(kCaps, i);
        want.push_back(expected(kCaps, buffer.get()).score);
        push(rig, std::move(buffer));
        EXPECT_EQ(out_.size(), i < behind ? 0 : i + 1 - behind);
      }
      end(rig);
      expect_order(40);
      const Heard heard = rig.heard();
      ASSERT_EQ(heard.results.size(), 40u);
      for (std::size_t i = 0; i < 40; ++i) {
        const GstStructure* s = heard.results[i].get();
        EXPECT_EQ(number(s, "score"), want[i]) << i;
        EXPECT_EQ(count(s, "frame"), i);
        for (const char* field : {"timestamp", "stream-time", "running-time"}) EXPECT_EQ(count(s, field), time_of(i));
        EXPECT_EQ(text(s, "device"), "cuda");
        const GstStructure* meta = meta_of(out_[i].get());
        ASSERT_TRUE(meta) << i;
        EXPECT_TRUE(same_fields(meta, s)) << i;
      }
      EXPECT_EQ(static_cast<std::size_t>(script.depth), behind + 1);
      EXPECT_EQ(script.most_pending, behind + 1);
      EXPECT_EQ(rig.stat("measured"), 40u);
      EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
    }
}

TEST_F(InFlight, UnmeasuredFramesKeepTheirPlace) {
  for (const std::size_t behind : {0u, 1u, 3u, 16u}) {
    again();
    Rig rig{{"in-flight", std::to_string(behind).c_str()}, {"interval", "66000000"}};
    rig.caps(kCaps);
    for (std::size_t i = 0; i < 21; ++i) {
      push(rig, watched_frame(kCaps, i));
      EXPECT_EQ(out_.size(), i < behind ? 0 : i + 1 - behind);
    }
    end(rig);
    expect_order(21);
    for (std::size_t i = 0; i < 21; ++i) {
      const GstStructure* meta = meta_of(out_[i].get());
      EXPECT_EQ(meta != nullptr, i % 2 == 0) << i;
      if (!meta) continue;
      EXPECT_EQ(number(meta, "score"), expected(kCaps, out_[i].get()).score) << i;
      EXPECT_EQ(count(meta, "frame"), i / 2);
    }
    EXPECT_EQ(rig.heard().results.size(), 11u);
    EXPECT_EQ(rig.stat("measured"), 11u);
    EXPECT_EQ(rig.stat("skipped"), 10u);
  }
}

TEST_F(InFlight, FramesAreReadByTheBitsThatWereSetWhenTheyCame) {
  const std::string caps = video_caps("GRAY16_LE", 64, 48);
  for (const std::size_t behind : {0u, 1u, 3u, 16u}) {
    SCOPED_TRACE(behind);
    again();
    Rig rig{{"in-flight", std::to_string(behind).c_str()}};
    rig.caps(caps);
    std::vector<double> want;
    for (std::size_t i = 0; i < 40; ++i) {
      const int bits = i < 10 ? 16 : i < 13 ? 10 : i < 30 ? 12 : 16;
      rig.set("significant-bits", bits == 16 ? "0" : std::to_string(bits).c_str());
      BufferPtr buffer = watched_frame(caps, i);
      int depth = 0;
      auto codes = codes_of(caps, buffer.get(), &depth);
      for (auto& code : codes) code = static_cast<std::uint16_t>(code & ((1 << bits) - 1));
      want.push_back(expected(codes, 64, 48, bits).score);
      push(rig, std::move(buffer));
    }
    end(rig);
    expect_order(40);
    for (std::size_t i = 0; i < out_.size(); ++i) EXPECT_EQ(meta_score(out_[i].get()), want[i]) << i;
    const Heard heard = rig.heard();
    EXPECT_EQ(heard.results.size(), 40u);
    EXPECT_EQ(heard.warnings.size(), 2u);  // random words have more bits than 10 and 12
    EXPECT_TRUE(heard.errors.empty());
    EXPECT_EQ(rig.stat("measured"), 40u);
  }
}

/// Options as a user sets them, and what they ask for.
struct Options {
  const char *metric, *roi, *columns, *downscale;
  Request request;
};
const std::vector<Options>& options() {
  static const std::vector<Options> all{
      {"tenengrad", "<>", "1", "1", {}},
      {"entropy", "<>", "3", "1", {.metric = metric_index("entropy"), .zone_columns = 3}},
      {"brenner",
       "<5,6,30,31>",
       "1",
       "2",
       {.metric = metric_index("brenner"), .downscale = 2, .roi = Rect{5, 6, 30, 31}}},
      {"variance",
       "<0,0,20,20>",
       "4",
       "1",
       {.metric = metric_index("variance"), .zone_columns = 4, .roi = Rect{0, 0, 20, 20}}}};
  return all;
}

TEST_F(InFlight, EachFrameHasTheOptionsItCameWith) {
  // Also those that the CPU measures again because a later frame's submit, or their own collect, failed.
  for (const bool lazy : {false, true})
    for (const int fault : {0, 1, 2}) {
      SCOPED_TRACE(fault);
      again();
      script.lazy = lazy;
      if (fault == 1) script.fail_submit_at = 6;
      if (fault == 2) script.fail_collect_at = 4;
      Rig rig{{"in-flight", "3"}};
      rig.caps(kCaps);
      for (std::size_t i = 0; i < 12; ++i) {
        const Options& o = options()[i % 4];
        rig.set("metric", o.metric);
        rig.set("roi", o.roi);
        rig.set("zone-columns", o.columns);
        rig.set("downscale", o.downscale);
        push(rig, watched_frame(kCaps, i));
      }
      rig.set("metric", "laplacian");
      end(rig);
      expect_order(12);
      for (std::size_t i = 0; i < 12; ++i) {
        const Options& o = options()[i % 4];
        const Scores want = expected(kCaps, out_[i].get(), o.request);
        const GstStructure* meta = meta_of(out_[i].get());
        ASSERT_TRUE(meta) << i;
        EXPECT_EQ(number(meta, "score"), want.score) << i;
        EXPECT_EQ(text(meta, "metric"), o.metric) << i;
        EXPECT_EQ(gst_structure_has_field(meta, "roi") != FALSE, o.request.roi.has_value()) << i;
        const GValue* zones = gst_structure_get_value(meta, "zones");
        ASSERT_EQ(zones != nullptr, o.request.zone_columns > 1) << i;
        for (guint z = 0; zones && z < want.zones.size(); ++z)
          EXPECT_EQ(g_value_get_double(gst_value_array_get_value(zones, z)), want.zones[z]) << i << " " << z;
      }
      EXPECT_EQ(rig.stat("replayed-on-cpu"), fault ? 4u : 0u);
    }
}

TEST_F(InFlight, RegionsOfEachFrameAreScored) {
  for (const int fail_at : {-1, 3}) {
    again();
    script.lazy = true;
    script.fail_submit_at = fail_at;
    Rig rig{{"in-flight", "3"}, {"roi-meta", "true"}};
    rig.caps(kCaps);
    const auto regions = [](std::size_t i) {
      std::vector<Rect> list;
      for (std::size_t r = 0; r < i % 3; ++r)
        list.push_back({static_cast<std::int64_t>(i + r), 2, 20, static_cast<std::int64_t>(10 + i)});
      return list;
    };
    for (std::size_t i = 0; i < 8; ++i) {
      BufferPtr buffer = watched_frame(kCaps, i);
      for (const Rect& r : regions(i))
        gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", static_cast<guint>(r.x),
                                                     static_cast<guint>(r.y), static_cast<guint>(r.width),
                                                     static_cast<guint>(r.height));
      push(rig, std::move(buffer));
    }
    end(rig);
    expect_order(8);
    for (std::size_t i = 0; i < 8; ++i) {
      const Scores want = expected(kCaps, out_[i].get(), {.extra = regions(i)});
      EXPECT_EQ(meta_score(out_[i].get()), want.score) << i;
      gpointer at = nullptr;
      for (const double score : want.extra) {
        auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
            gst_buffer_iterate_meta_filtered(out_[i].get(), &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
        ASSERT_TRUE(meta);
        const GstStructure* param = gst_video_region_of_interest_meta_get_param(meta, "sharpness");
        ASSERT_TRUE(param) << i;
        EXPECT_EQ(number(param, "score"), score) << i;
      }
    }
  }
}

TEST_F(InFlight, EachFrameIsInterlacedByItsOwnFlag) {
  const std::string caps = video_caps("GRAY8", 64, 48, ",interlace-mode=mixed");
  script.lazy = true;
  script.fail_collect_at = 5;
  Rig rig{{"in-flight", "3"}};
  rig.caps(caps);
  for (std::size_t i = 0; i < 10; ++i) {
    BufferPtr buffer = watched_frame(caps, i);
    if (i % 3 == 0) GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
    push(rig, std::move(buffer));
  }
  end(rig);
  expect_order(10);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(meta_score(out_[i].get()), expected(caps, out_[i].get(), {.interlaced = i % 3 == 0}).score) << i;
}

TEST_F(InFlight, OutputsAreThoseSetWhenTheFrameCame) {
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  std::vector<const GstBuffer*> in;
  for (std::size_t i = 0; i < 12; ++i) {
    rig.set("attach-meta", i % 2 ? "false" : "true");
    rig.set("post-messages", i % 3 ? "false" : "true");
    BufferPtr buffer = watched_frame(kCaps, i);
    in.push_back(buffer.get());
    push(rig, std::move(buffer));
  }
  end(rig);
  expect_order(12);
  std::vector<std::uint64_t> posted;
  for (const auto& s : rig.heard().results) posted.push_back(count(s.get(), "frame"));
  EXPECT_EQ(posted, (std::vector<std::uint64_t>{0, 3, 6, 9}));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(meta_of(out_[i].get()) != nullptr, i % 2 == 0) << i;
    EXPECT_EQ(out_[i].get(), in[i]) << "a writable buffer passes itself";
  }
  EXPECT_EQ(rig.stat("measured"), 12u);
}

TEST_F(InFlight, SharedBuffersPassUncopied) {
  for (const char* attach : {"true", "false"}) {
    again();
    Rig rig{{"in-flight", "2"}, {"attach-meta", attach}};
    rig.caps(kCaps);
    std::vector<BufferPtr> held;
    for (std::size_t i = 0; i < 5; ++i) {
      held.push_back(watched_frame(kCaps, i));
      push(rig, BufferPtr(gst_buffer_ref(held.back().get())));
    }
    end(rig);
    expect_order(5);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(gst_buffer_peek_memory(out_[i].get(), 0), gst_buffer_peek_memory(held[i].get(), 0)) << i;
      EXPECT_FALSE(meta_of(held[i].get())) << i;
      EXPECT_EQ(out_[i] == held[i], std::string(attach) == "false") << i;
    }
  }
}

TEST_F(InFlight, CanOnlyChangeBeforePaused) {
  Rig rig{{"in-flight", "2"}};
  rig.caps(kCaps);
  const auto ignore = +[](const gchar*, GLogLevelFlags, const gchar*, gpointer) {};
  const auto before = g_log_set_default_handler(ignore, nullptr);
  rig.set("in-flight", "0");
  g_log_set_default_handler(before, nullptr);
  gint value = -1;
  g_object_get(rig.element(), "in-flight", &value, nullptr);
  EXPECT_EQ(value, 2);
}

}  // namespace
}  // namespace framequality::test
