// SPDX-License-Identifier: LGPL-2.1-or-later
// virtuallenssrc: the right image for every position, in time, from files of all names, and errors
// that help.
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/gst/virtuallenssrc/planes.h"

#include <tuple>

namespace framequality::test {
namespace {

/// Codes of the first byte of each frame; on_frame may move the lens.
std::vector<int> codes(WatchedPipeline& watched, const std::function<void(int n)>& on_frame = {}) {
  std::vector<int> all;
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    all.push_back(code_of(buffer));
    if (on_frame) on_frame(n);
  };
  const Heard heard = watched.run_to_end();
  EXPECT_TRUE(heard.eos);
  for (const auto& e : heard.errors) ADD_FAILURE() << e.text;
  return all;
}

/// A lens source with these pictures.
class FromPictures : public WatchedPipeline {
 public:
  FromPictures(const std::string& location, const std::string& properties)
      : WatchedPipeline("virtuallenssrc name=lens " + properties + " ! fakesink name=sink") {
    const ElementPtr lens = get("lens");
    g_object_set(lens.get(), "location", location.c_str(), nullptr);
  }
};

std::string error_of(const std::string& location) {
  FromPictures watched(location, "num-buffers=1");
  const Heard heard = watched.run_to_end();
  return heard.errors.empty() ? "no error" : heard.errors.front().text;
}

TEST(VirtualLensSrc, NamesThatAreNumbersArePositions) {
  const PictureFolder folder;
  folder.add("-1.5.png", 10);
  folder.add("1e1.png", 30);
  folder.add("2.25.png", 20);
  folder.text("readme.txt", "not a picture");
  folder.text(".hidden.png", "not looked at");
  FromPictures watched(folder.path(), "position=-100 num-buffers=6");
  const std::vector<double> positions{0.3, 0.4, 6.1, 6.2, 1e6};
  EXPECT_EQ(codes(watched,
                  [&](int n) {
                    if (n < 5) watched.set("lens", "position", positions[static_cast<std::size_t>(n)]);
                  }),
            (std::vector{10, 10, 20, 20, 30, 30}));
}

TEST(VirtualLensSrc, OtherNamesCountFromZeroInTheirOrder) {
  const PictureFolder folder;
  folder.add("p_10.png", 30);
  folder.add("p_2.PNG", 20);
  folder.add("a.png", 10);
  FromPictures watched(folder.path(), "num-buffers=3");
  EXPECT_EQ(codes(watched, [&](int n) { watched.set("lens", "position", n + 1.0); }), (std::vector{10, 20, 30}));
}

TEST(VirtualLensSrc, PositionShowsLagFramesLater) {
  const PictureFolder folder;
  for (int i = 0; i < 10; ++i) folder.add(std::to_string(i) + ".png", i);
  for (const int lag : {0, 1, 3}) {
    FromPictures watched(folder.path(), "num-buffers=12 position=1 lag=" + std::to_string(lag));
    std::vector<int> expected(12, 1);
    std::fill(expected.begin() + 5 + lag, expected.end(), 7);
    EXPECT_EQ(codes(watched,
                    [&](int n) {
                      if (n == 4) watched.set("lens", "position", 7);
                    }),
              expected)
        << lag;
  }
}

TEST(VirtualLensSrc, ShiftMovesTheScene) {
  const PictureFolder folder;
  for (int i = 0; i < 10; ++i) folder.add(std::to_string(i) + ".png", i);
  FromPictures watched(folder.path(), "num-buffers=2 position=5");
  EXPECT_EQ(codes(watched, [&](int) { watched.set("lens", "shift", 2); }), (std::vector{5, 3}));
}

TEST(VirtualLensSrc, OnePictureIsBlurred) {
  const PictureFolder folder;
  folder.add("flat.png", 77, 33, 21);
  FromPictures watched(folder.path() + "/flat.png", "num-buffers=2 position=10 best-position=4");
  EXPECT_EQ(codes(watched), (std::vector{77, 77}));
}

TEST(VirtualLensSrc, BuiltInSceneIsSharpestAtBestPosition) {
  WatchedPipeline watched(
      "virtuallenssrc name=lens num-buffers=5 ! video/x-raw,width=160,height=120 ! sharpnessmeter ! fakesink "
      "name=sink");
  std::vector<double> scores;
  watched.set("lens", "position", 30);
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    scores.push_back(meta_score(buffer));
    if (n < 3)
      watched.set("lens", "position", 40 + 10 * n);
    else
      watched.set("lens", "best-position", 80);
  };
  EXPECT_TRUE(watched.run_to_end().eos);
  ASSERT_EQ(scores.size(), 5u);
  EXPECT_LT(1.5 * scores[0], scores[1]);
  EXPECT_LT(1.5 * scores[1], scores[2]);
  EXPECT_EQ(scores[1], scores[3]) << "both sides alike";
  EXPECT_EQ(scores[0], scores[4]) << "20 away, before and after the best position moved";
}

TEST(VirtualLensSrc, CapsChooseTheSizeOfTheBuiltInScene) {
  for (const char* caps : {"video/x-raw,width=33,height=7,framerate=24000/1001", "video/x-raw,width=1,height=1",
                           "video/x-raw,width=1920,height=1080,framerate=60/1"}) {
    std::size_t frames = 0;
    WatchedPipeline watched(std::string("virtuallenssrc position=40 num-buffers=3 ! ") + caps +
                            " ! fakesink name=sink");
    watched.on_frame = [&](GstBuffer*, int) { ++frames; };
    EXPECT_TRUE(watched.run_to_end().eos);
    EXPECT_EQ(frames, 3u) << caps;
  }
}

TEST(VirtualLensSrc, LensStaysWhereItIsWhenTheSizeChanges) {
  const auto scores = [](int until) {  // frames of another size
    WatchedPipeline watched(
        "virtuallenssrc name=lens num-buffers=12 position=90 best-position=50 slew=2 noise=3 ! capsfilter name=size "
        "caps=video/x-raw,format=GRAY8,width=64,height=48 ! sharpnessmeter ! fakesink name=sink");
    const ElementPtr size = watched.get("size");
    if (until > 0) gst_util_set_object_arg(G_OBJECT(size.get()), "caps", "video/x-raw,format=GRAY8,width=99,height=77");
    std::vector<double> all;
    watched.on_frame = [&](GstBuffer* buffer, int n) {
      all.push_back(meta_score(buffer));
      if (n == 0) watched.set("lens", "position", 50);
      if (n + 1 == until)
        gst_util_set_object_arg(G_OBJECT(size.get()), "caps", "video/x-raw,format=GRAY8,width=64,height=48");
    };
    EXPECT_TRUE(watched.run_to_end().eos);
    return all;
  };
  const auto always = scores(0), later = scores(6);
  ASSERT_EQ(always.size(), 12u);
  ASSERT_EQ(later.size(), 12u);
  EXPECT_NE(later[5], always[5]);
  for (std::size_t i = 6; i < 12; ++i) EXPECT_EQ(later[i], always[i]) << i;
}

TEST(VirtualLensSrc, SlewAndBacklashDecideWhatIsShown) {
  const PictureFolder folder;
  for (int i = 0; i < 30; ++i) folder.add(std::to_string(i) + ".png", i);
  FromPictures watched(folder.path(), "num-buffers=12 position=5 lag=1 slew=4 backlash=3");
  EXPECT_EQ(codes(watched,
                  [&](int n) {
                    if (n == 1) watched.set("lens", "position", 15);
                    if (n == 6) watched.set("lens", "position", 6);
                  }),
            (std::vector{5, 5, 5, 9, 13, 15, 15, 15, 14, 10, 9, 9}));
}

TEST(VirtualLensSrc, ExposureShowsTheWay) {
  const PictureFolder folder;
  for (int i = 0; i < 40; ++i) folder.add(std::to_string(i) + ".png", i);
  for (const auto& [exposure, first, second] : {std::tuple{"0", 16, 32}, {"1", 8, 24}, {"0.25", 14, 30}}) {
    FromPictures watched(folder.path(), std::string("num-buffers=5 slew=16 exposure=") + exposure);
    EXPECT_EQ(codes(watched,
                    [&](int n) {
                      if (n == 0) watched.set("lens", "position", 32);
                    }),
              (std::vector{0, first, second, 32, 32}))
        << exposure;
  }
}

TEST(VirtualLensSrc, BreathingMagnifies) {
  const auto frame = [](const std::string& properties) {
    return planes_of("num-buffers=1 blur-per-unit=0 " + properties, "video/x-raw,width=33,height=33").at(0).of[0];
  };
  const auto plain = frame("position=50"), large = frame("position=60 breathing=0.1");
  EXPECT_EQ(frame("position=50 breathing=0.1"), plain);
  EXPECT_EQ(frame("position=60"), plain);
  EXPECT_EQ(large, frame("position=40 breathing=-0.1"));
  // Twice as large: every second pixel is one of the picture's.
  for (int y = 0; y <= 32; y += 2)
    for (int x = 0; x <= 32; x += 2)
      ASSERT_EQ(large[static_cast<std::size_t>(y * 33 + x)],
                plain[static_cast<std::size_t>((8 + y / 2) * 33 + 8 + x / 2)])
          << x << "," << y;
  const auto small = frame("position=60 breathing=-1e300");
  EXPECT_EQ(small[0], plain[0]) << "the corner goes on";
  EXPECT_EQ(small[16 * 33 + 16], plain[16 * 33 + 16]);
}

TEST(VirtualLensSrc, TimestampsFollowTheRate) {
  WatchedPipeline watched(
      "virtuallenssrc num-buffers=4 ! video/x-raw,width=8,height=8,framerate=30000/1001 ! fakesink name=sink");
  std::vector<GstClockTime> times;
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    times.push_back(GST_BUFFER_PTS(buffer));
    EXPECT_EQ(GST_BUFFER_OFFSET(buffer), static_cast<guint64>(n));
    EXPECT_NEAR(static_cast<double>(GST_BUFFER_DURATION(buffer)), 33366666, 1);
  };
  EXPECT_TRUE(watched.run_to_end().eos);
  EXPECT_EQ(times, (std::vector<GstClockTime>{0, 33366666, 66733333, 100100000}));
}

TEST(VirtualLensSrc, TimeGoesOnAtAnotherRate) {
  WatchedPipeline watched("virtuallenssrc num-buffers=7 ! capsfilter name=rate ! fakesink name=sink");
  const ElementPtr rate = watched.get("rate");
  const auto choose = [&](const char* caps) { gst_util_set_object_arg(G_OBJECT(rate.get()), "caps", caps); };
  choose("video/x-raw,width=8,height=8,framerate=10/1");
  std::vector<GstClockTime> times;
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    times.push_back(GST_BUFFER_PTS(buffer) / GST_MSECOND);
    if (n == 1) choose("video/x-raw,width=8,height=8,framerate=50/1");
    if (n == 4) choose("video/x-raw,width=8,height=8,framerate=1/1");
  };
  EXPECT_TRUE(watched.run_to_end().eos);
  EXPECT_EQ(times, (std::vector<GstClockTime>{0, 100, 200, 220, 240, 260, 1260}));
}

TEST(VirtualLensSrc, SameSeedSameFrames) {
  const auto checksums = [](const std::string& properties) {
    std::vector<std::string> all;
    WatchedPipeline watched("virtuallenssrc num-buffers=3 position=41 " + properties +
                            " ! video/x-raw,width=64,height=48 ! fakesink name=sink");
    watched.on_frame = [&](GstBuffer* buffer, int) {
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_READ);
      gchar* sum = g_compute_checksum_for_data(G_CHECKSUM_MD5, map.data, map.size);
      all.emplace_back(sum);
      g_free(sum);
      gst_buffer_unmap(buffer, &map);
    };
    EXPECT_TRUE(watched.run_to_end().eos);
    EXPECT_EQ(all.size(), 3u);
    return all;
  };
  const auto quiet = checksums(""), noisy = checksums("noise=3 flicker=0.1 seed=5");
  EXPECT_EQ(quiet[0], quiet[1]);
  EXPECT_NE(noisy[0], noisy[1]);
  EXPECT_EQ(noisy, checksums("noise=3 flicker=0.1 seed=5"));
  EXPECT_NE(noisy, checksums("noise=3 flicker=0.1 seed=6"));
  const std::string moving = "best-position=60 breathing=0.01 slew=1 backlash=2 exposure=0.5 noise=3 flicker=0.1 ";
  EXPECT_EQ(checksums(moving), checksums(moving));
}

TEST(VirtualLensSrc, LiveFramesShowWhatTheirTimestampsSay) {
  const PictureFolder folder;
  for (int i = 0; i < 10; ++i) folder.add(std::to_string(i) + ".png", i);
  FromPictures watched(folder.path(), "is-live=true num-buffers=8 position=1");
  GstClockTime moved = GST_CLOCK_TIME_NONE;
  int after = 0;
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    if (n == 3) {
      watched.set("lens", "position", 7);
      moved = gst_element_get_current_running_time(watched.pipeline());
      EXPECT_GE(moved, GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer)) << "it left before it was exposed";
    } else if (n > 3 && GST_BUFFER_PTS(buffer) >= moved) {
      EXPECT_EQ(code_of(buffer), 7) << n;
      ++after;
    }
    if (n != 1) return;
    GstQuery* query = gst_query_new_latency();
    const ElementPtr lens = watched.get("lens");
    EXPECT_TRUE(gst_element_query(lens.get(), query));
    gboolean live = FALSE;
    GstClockTime least = 0;
    gst_query_parse_latency(query, &live, &least, nullptr);
    EXPECT_TRUE(live);
    EXPECT_EQ(least, GST_BUFFER_DURATION(buffer));
    gst_query_unref(query);
  };
  EXPECT_TRUE(watched.run_live_to_end().eos);
  EXPECT_GT(after, 0);
}

TEST(VirtualLensSrc, LiveFramesThatAreMissedAreNotMade) {
  const PictureFolder folder;
  for (int i = 0; i < 10; ++i) folder.add(std::to_string(i) + ".png", i);
  FromPictures watched(folder.path(), "is-live=true num-buffers=6 position=1");
  GstClockTime released = GST_CLOCK_TIME_NONE;
  std::uint64_t before = 0;
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    if (n == 2) {
      before = GST_BUFFER_OFFSET(buffer);
      GstClock* clock = gst_element_get_clock(watched.pipeline());
      gst_test_clock_advance_time(GST_TEST_CLOCK(clock),
                                  static_cast<GstClockTimeDiff>(10 * GST_BUFFER_DURATION(buffer)));
      gst_object_unref(clock);
      watched.set("lens", "position", 7);
      released = gst_element_get_current_running_time(watched.pipeline());
    } else if (n == 3) {
      EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT));
      EXPECT_EQ(GST_BUFFER_OFFSET(buffer), before + 11) << "the one that was being exposed";
      EXPECT_LE(GST_BUFFER_PTS(buffer), released);
      EXPECT_EQ(code_of(buffer), 7);
    }
  };
  EXPECT_TRUE(watched.run_live_to_end().eos);
  EXPECT_NE(released, GST_CLOCK_TIME_NONE);
}

TEST(VirtualLensSrc, HostileNamesAreJustNames) {
  const PictureFolder folder("a \"b' ! c #%41 \xc3\xa9\n; x=y");
  folder.add("0 ! fakesink.png", 10);
  folder.add("1 \" $(id) %20#?.png", 20);
  FromPictures watched(folder.path(), "num-buffers=2 position=0");
  EXPECT_EQ(codes(watched, [&](int) { watched.set("lens", "position", 1); }), (std::vector{10, 20}));
}

TEST(VirtualLensSrc, ErrorsSayWhatIsWrong) {
  const PictureFolder empty, broken, sizes, twice;
  EXPECT_EQ(error_of("/nowhere/at all"), "No such file or folder: /nowhere/at all");
  EXPECT_EQ(error_of(empty.path()), "There is no image (.png, .jpg, ...) in " + empty.path());
  EXPECT_EQ(error_of("/dev/null"), "/dev/null is neither a file nor a folder");
  broken.text("1.png", "this is no picture");
  EXPECT_NE(error_of(broken.path()).find("Cannot decode " + broken.path() + "/1.png: "), std::string::npos);
  sizes.add("1.png", 1, 8, 6);
  sizes.add("2.png", 1, 8, 7);
  EXPECT_EQ(error_of(sizes.path()),
            "The images of a sweep must have the same size, but " + sizes.path() + "/2.png is 8x7 and others are 8x6");
  twice.add("1.png", 1);
  twice.add("1.0.png", 1);
  EXPECT_NE(error_of(twice.path()).find("same position"), std::string::npos);
}

TEST(VirtualLensSrc, StartsAnewAfterAnError) {
  const PictureFolder folder;
  FromPictures watched(folder.path(), "num-buffers=2");
  EXPECT_FALSE(watched.run_to_end().errors.empty());
  folder.add("0.png", 40);
  EXPECT_EQ(codes(watched), (std::vector{40, 40}));
  EXPECT_EQ(codes(watched), (std::vector{40, 40}));
}

TEST(VirtualLensSrc, RealSweepPeaksWhereItIsSharp) {
  const auto folder = sweep_folder("sweep-mesh");
  if (folder.empty()) GTEST_SKIP() << "no focus sweep";
  double best = -1, highest = 0;
  WatchedPipeline watched("virtuallenssrc name=lens num-buffers=23 location=" + folder.string() +
                          " ! sharpnessmeter ! fakesink name=sink");
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    if (meta_score(buffer) > highest) highest = meta_score(buffer), best = 0.1 * n;
    watched.set("lens", "position", 0.1 * (n + 1));
  };
  EXPECT_TRUE(watched.run_to_end().eos);
  EXPECT_NEAR(best, 1.4, 0.11);
}

}  // namespace
}  // namespace framequality::test
