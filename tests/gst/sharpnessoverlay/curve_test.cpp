// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of sharpnessoverlay's curve of an autofocus search, from events as focuscontroller sends them and broken ones.
#include "gst/object/structure.h"
#include "tests/gst/leaks.h"
#include "tests/gst/sharpnessoverlay/rig.h"
#include "tests/support/effort.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace framequality::test {
namespace {

using overlay::Box;
using overlay::lay_out;
using overlay::Layout;
using Numbers = std::vector<double>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
constexpr double kMost = std::numeric_limits<double>::max(), kLeast = std::numeric_limits<double>::denorm_min();
const std::string kCaps = video_caps("RGB", 640, 480), kSmallCaps = video_caps("GRAY8", 320, 240);
const Layout kLayout = lay_out(640, 480, 1, 1);
const std::pair<const char*, const char*> kCurve{"curve", "true"}, kNoText{"text", "false"}, kNoGraph{"graph", "false"},
    kNoZones{"zones", "false"};

/// The structure of a search that has ended: sharp at 62, scores from 0.2 to 1.4.
struct Search {
  Numbers positions{0, 20, 40, 50, 56, 60, 62, 64, 70, 80, 100};
  Numbers scores{0.2, 0.21, 0.3, 0.5, 0.9, 1.3, 1.4, 1.3, 0.7, 0.3, 0.2};
  double top = 62.04, width = 8, error = 0.11;
  const char* state = "focused";

  GstStructure* structure() const {
    GstStructure* s =
        gst_structure_new("focuscontroller", "event", G_TYPE_STRING, "state", "state", G_TYPE_STRING, state, "position",
                          G_TYPE_DOUBLE, 62.0, "score", G_TYPE_DOUBLE, 1.4, "top", G_TYPE_DOUBLE, top, "width",
                          G_TYPE_DOUBLE, width, "error", G_TYPE_DOUBLE, error, nullptr);
    set_array(s, "positions", G_TYPE_DOUBLE, g_value_set_double, positions);
    set_array(s, "scores", G_TYPE_DOUBLE, g_value_set_double, scores);
    return s;
  }
};

/// Takes the structure.
void push(Rig& rig, GstStructure* structure) {
  EXPECT_TRUE(
      gst_harness_push_event(rig.harness(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, structure)));
}
void push(Rig& rig, const Search& search) { push(rig, search.structure()); }

/// Draws nothing but a curve.
class CurveRig : public OverlayRig {
 public:
  explicit CurveRig(const std::string& caps = kCaps) : OverlayRig({kCurve, kNoText, kNoGraph, kNoZones}), caps_(caps) {
    this->caps(caps);
  }
  Picture picture() { return {caps_, pass(flat(caps_, 100, time_ += GST_SECOND / 30)).get()}; }
  Box changes() { return changed(Picture(caps_, flat(caps_).get()), picture()); }

 private:
  std::string caps_;
  GstClockTime time_ = 0;
};

Picture picture_of(const Search& search) {
  CurveRig rig;
  push(rig, search);
  return rig.picture();
}

bool is_curve(const Picture::Pixel& p) { return p[3] > 200 && p[3] > p[1] + 60; }
bool is_top(const Picture::Pixel& p) { return p[1] > 200 && p[1] > p[3] + 100; }

/// First row of the plot where this column shows the curve; the bottom if it does not.
int curve_at(const Picture& picture, int x) {
  int y = kLayout.curve.y + kLayout.curve.height / 4;
  while (y < kLayout.curve.y + kLayout.curve.height && !is_curve(picture.at(x, y))) ++y;
  return y;
}

/// Columns that show the mark of the top.
std::vector<int> marked(const Picture& picture) {
  std::vector<int> columns;
  const int y = kLayout.curve.y + kLayout.curve.height * 7 / 10;
  for (int x = kLayout.curve.x; x < kLayout.curve.x + kLayout.curve.width; ++x)
    if (is_top(picture.at(x, y))) columns.push_back(x);
  return columns;
}

TEST(OverlayCurve, NothingBeforeASearchHasEndedAndNoWarning) {
  CurveRig rig;
  EXPECT_TRUE(rig.changes().empty());
  EXPECT_TRUE(rig.heard().warnings.empty());
}

TEST(OverlayCurve, IsOffUnlessWanted) {
  OverlayRig rig{kNoText, kNoGraph, kNoZones};
  rig.caps(kCaps);
  push(rig, Search{});
  EXPECT_TRUE(same_pixels(kCaps, rig.pass(flat(kCaps)).get(), flat(kCaps).get()));
  // The event is of before; who wants to see it now, sees it.
  rig.set("curve", "true");
  EXPECT_FALSE(same_pixels(kCaps, rig.pass(flat(kCaps)).get(), flat(kCaps).get()));
  rig.set("curve", "false");
  EXPECT_TRUE(same_pixels(kCaps, rig.pass(flat(kCaps)).get(), flat(kCaps).get()));
}

TEST(OverlayCurve, FillsItsPart) {
  CurveRig rig;
  push(rig, Search{});
  EXPECT_EQ(rig.changes(), kLayout.curve);
  EXPECT_TRUE(rig.heard().warnings.empty());
}

TEST(OverlayCurve, PartsKeepOutOfEachOthersWay) {
  for (const auto& [width, height, fits] :
       {std::tuple{320, 240, true}, std::tuple{240, 320, true}, std::tuple{640, 480, true}, std::tuple{480, 640, true},
        std::tuple{1920, 1080, true}, std::tuple{1080, 1920, true}, std::tuple{3840, 2160, true},
        std::tuple{7680, 1000, true}, std::tuple{160, 120, false}, std::tuple{16, 16, false}, std::tuple{1, 1, false},
        std::tuple{2000, 40, false}, std::tuple{40, 2000, false}})
    for (const auto& [n, d] : {std::pair{1, 1}, std::pair{12, 11}, std::pair{2, 1}}) {
      const Layout layout = lay_out(width, height, n, d);
      if (n == 1) {
        EXPECT_EQ(!layout.curve.empty(), fits) << width << "x" << height;
      }
      if (layout.curve.empty()) continue;
      EXPECT_TRUE(within(layout.curve, {0, 0, width, height})) << width << "x" << height;
      for (const Box& other : {layout.text, layout.graph}) {
        const Box& c = layout.curve;
        EXPECT_TRUE(other.empty() || c.x >= other.x + other.width || c.y >= other.y + other.height ||
                    c.y + c.height <= other.y)
            << width << "x" << height << " " << n << "/" << d;
      }
    }
}

TEST(OverlayCurve, FramesOfAnySizeAreDrawnOn) {
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{16, 9}, std::pair{160, 120}, std::pair{240, 320},
                                      std::pair{321, 241}, std::pair{1920, 1080}})
    for (const auto& [n, d] : {std::pair{1, 1}, std::pair{12, 11}, std::pair{1, 3}}) {
      const std::string caps =
          video_caps("RGB", width, height) + ",pixel-aspect-ratio=" + std::to_string(n) + "/" + std::to_string(d);
      CurveRig rig(caps);
      push(rig, Search{});
      EXPECT_EQ(rig.changes(), lay_out(width, height, n, d).curve) << caps;
    }
}

TEST(OverlayCurve, FollowsTheSamplesAndMarksTheTop) {
  const Picture picture = picture_of({});
  const std::vector<int> top = marked(picture);
  ASSERT_FALSE(top.empty());
  // The axis goes from 0 to 100, right of the scores' labels.
  const int right = kLayout.curve.x + kLayout.curve.width, middle = (top.front() + top.back()) / 2;
  const int near = curve_at(picture, middle - 12), far = curve_at(picture, right - 20);
  EXPECT_GT(right - middle, kLayout.curve.width / 5);
  EXPECT_LT(right - middle, kLayout.curve.width / 2);
  EXPECT_LT(near, far - kLayout.curve.height / 5);
  EXPECT_LT(far, kLayout.curve.y + kLayout.curve.height);
  // Another top, elsewhere.
  Search search;
  search.top = 20;
  const std::vector<int> other = marked(picture_of(search));
  ASSERT_FALSE(other.empty());
  EXPECT_LT(other.back(), top.front() - kLayout.curve.width / 6);
}

TEST(OverlayCurve, SaysPositionCertaintyAndFailure) {
  const Search usual;
  Search vague = usual, unsure = usual, failed = usual;
  vague.error = 0;
  unsure.error = 3;
  failed.state = "failed";
  const Picture picture = picture_of(usual);
  const int title = kLayout.curve.y + kLayout.curve.height / 5;  // the plot is below
  for (const Search& search : {vague, unsure, failed}) {
    const Box box = changed(picture, picture_of(search));
    EXPECT_FALSE(box.empty());
    EXPECT_LT(box.y, title);
  }
  // A failure is written in a colour, and the mark has none.
  EXPECT_TRUE(marked(picture_of(failed)).empty());
  int coloured = 0;
  const Picture sad = picture_of(failed);
  for (int y = kLayout.curve.y; y < title; ++y)
    for (int x = kLayout.curve.x; x < kLayout.curve.x + kLayout.curve.width; ++x) {
      coloured += is_top(sad.at(x, y));
      EXPECT_FALSE(is_top(picture.at(x, y))) << x << " " << y;
    }
  EXPECT_GT(coloured, 20);
}

TEST(OverlayCurve, NothingNewIsTheSameComposition) {
  DrawnDownstream rig{kCurve, kNoText, kNoGraph, kNoZones};
  rig.caps(kCaps);
  push(rig, Search{});
  const BufferPtr a = rig.pass(flat(kCaps, 100, 0)), b = rig.pass(flat(kCaps, 100, 1));
  ASSERT_EQ(rectangles_in(a), 1u);
  EXPECT_EQ(composition_in(a), composition_in(b));
  // A score moves the graph, and leaves the curve's pixels.
  rig.set("graph", "true");
  const BufferPtr c = rig.pass(with(flat(kCaps, 100, 2), {.score = 3}));
  ASSERT_EQ(rectangles_in(c), 2u);
  EXPECT_EQ(gst_video_overlay_composition_get_rectangle(composition_in(c), 0),
            gst_video_overlay_composition_get_rectangle(composition_in(a), 0));
  rig.set("graph", "false");
  Search search;
  search.top = 50;
  push(rig, search);
  const BufferPtr d = rig.pass(flat(kCaps, 100, 3));
  ASSERT_EQ(rectangles_in(d), 1u);
  EXPECT_NE(composition_in(a), composition_in(d));
}

TEST(OverlayCurve, NewerResultTakesThePlaceOfTheOlder) {
  CurveRig rig;
  push(rig, Search{});
  const Picture first = rig.picture();
  Search search;
  search.state = "failed";
  push(rig, search);
  EXPECT_TRUE(changed(rig.picture(), picture_of(search)).empty());
  push(rig, Search{});
  EXPECT_TRUE(changed(rig.picture(), first).empty());
}

TEST(OverlayCurve, OtherEventsChangeNothing) {
  CurveRig rig;
  push(rig, Search{});
  const Picture first = rig.picture();
  push(rig, gst_structure_new_empty("focuscontroller"));
  push(rig, gst_structure_new("focuscontroller", "state", G_TYPE_INT, 3, nullptr));
  push(rig, gst_structure_new("focuscontroller", "state", G_TYPE_STRING, "coarse", nullptr));
  push(rig, gst_structure_new("somebody-else", "state", G_TYPE_STRING, "failed", nullptr));
  gst_harness_push_event(rig.harness(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                             gst_structure_new("focuscontroller", "state",
                                                                               G_TYPE_STRING, "failed", nullptr)));
  EXPECT_TRUE(changed(rig.picture(), first).empty());
}

TEST(OverlayCurve, NewCapsDrawItAgain) {
  CurveRig rig;
  push(rig, Search{});
  rig.picture();
  for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{320, 240}}) {
    const std::string caps = video_caps("RGB", width, height);
    rig.caps(caps);
    const Box box = changed(Picture(caps, flat(caps).get()), Picture(caps, rig.pass(flat(caps)).get()));
    EXPECT_EQ(box, lay_out(width, height, 1, 1).curve) << caps;
  }
}

/// The sticky event of that name on a pad.
bool is_on(GstPad* pad) {
  for (guint i = 0;; ++i) {
    const std::unique_ptr<GstEvent, Free<gst_event_unref>> event(
        gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i));
    if (!event) return false;
    if (gst_event_has_name(event.get(), "focuscontroller")) return true;
  }
}

TEST(OverlayCurve, StaysThroughAFlushAsItsEventDoes) {
  CurveRig rig;
  push(rig, Search{});
  const Picture before = rig.picture();
  EXPECT_TRUE(is_on(rig.harness()->sinkpad)) << "elements behind the overlay see it too";
  gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
  gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
  EXPECT_TRUE(is_on(pad));
  gst_object_unref(pad);
  EXPECT_TRUE(changed(rig.picture(), before).empty());
}

TEST(OverlayCurve, ReadyForgetsIt) {
  CurveRig rig;
  push(rig, Search{});
  EXPECT_FALSE(rig.changes().empty());
  gst_element_set_state(rig.element(), GST_STATE_READY);
  // Nor does the pad that it came from send it again, where that is new as well.
  gst_pad_set_active(rig.harness()->srcpad, FALSE);
  gst_pad_set_active(rig.harness()->srcpad, TRUE);
  gst_element_set_state(rig.element(), GST_STATE_PLAYING);
  gst_harness_push_event(rig.harness(), gst_event_new_stream_start("another"));
  rig.caps(kCaps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  EXPECT_TRUE(rig.changes().empty());
}

TEST(OverlayCurve, HeatMapsNumbersLeaveRoomForIt) {
  // Wherever there is a curve, the zones under it are of one colour.
  const auto zones_with = [](bool curve) {
    DrawnDownstream rig{kNoText, kNoGraph, {"curve", curve ? "true" : "false"}};
    rig.caps(kCaps);
    push(rig, Search{});
    const BufferPtr out = rig.pass(with(flat(kCaps), {.score = 1, .columns = 4, .rows = 4, .zones = Numbers(16, 7)}));
    GstVideoOverlayRectangle* zones = gst_video_overlay_composition_get_rectangle(composition_in(out), 0);
    GstBuffer* pixels =
        gst_video_overlay_rectangle_get_pixels_unscaled_raw(zones, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
    GstMapInfo map;
    gst_buffer_map(pixels, &map, GST_MAP_READ);
    std::vector<std::uint8_t> copy(map.data, map.data + map.size);
    gst_buffer_unmap(pixels, &map);
    const auto* stride = gst_buffer_get_video_meta(pixels)->stride;
    // Of the zone in the upper right corner, which the curve covers.
    std::set<std::vector<std::uint8_t>> colours;
    for (int y = 10; y < 110; ++y)
      for (int x = 490; x < 630; ++x) {
        const auto at = copy.begin() + std::ptrdiff_t{y} * stride[0] + 4 * x;
        colours.insert(std::vector<std::uint8_t>(at, at + 4));
      }
    return colours.size();
  };
  EXPECT_EQ(zones_with(true), 1u);
  EXPECT_GT(zones_with(false), 10u);
}

// --- Broken events --------------------------------------------------------------------------------------------------

struct Broken {
  const char* what;
  Numbers positions, scores;
  bool drawn;
};

TEST(OverlayCurve, BrokenSamplesAreLeftOut) {
  const Numbers many(10000, 3), too_many(10001, 3);
  const Broken all[] = {
      {"none", {}, {}, false},
      {"fewer scores", {1, 2, 3}, {1, 2}, false},
      {"fewer positions", {1}, {1, 2}, false},
      {"one", {62}, {3}, true},
      {"two of one position", {62, 62}, {3, 4}, true},
      {"all alike", {1, 2, 3}, {5, 5, 5}, true},
      {"zeros", {0, 0}, {0, 0}, true},
      {"not ascending", {30, 10, 20}, {5, 1, 9}, true},
      {"no number", {kNaN, kNaN}, {1, 2}, false},
      {"no score", {1, 2}, {kNaN, kInf}, false},
      {"some", {1, kNaN, 3, kInf, -kInf, 6}, {1, 2, kInf, 4, 5, kNaN}, true},
      {"as far apart as can be", {-kMost, 0, kMost}, {-kMost, 0, kMost}, true},
      {"as near as can be", {0, kLeast, 2 * kLeast}, {0, kLeast, 2 * kLeast}, true},
      {"many", many, many, true},
      {"too many", too_many, too_many, false},
  };
  for (const Broken& broken : all) {
    CurveRig rig(kSmallCaps);
    push(rig, Search{});
    const Box usual = rig.changes();
    push(rig, Search{.positions = broken.positions, .scores = broken.scores});
    EXPECT_EQ(rig.changes(), broken.drawn ? usual : Box{}) << broken.what;
    // That it failed is said all the same.
    push(rig, Search{.positions = broken.positions, .scores = broken.scores, .state = "failed"});
    EXPECT_EQ(rig.changes(), usual) << broken.what;
    EXPECT_TRUE(rig.heard().errors.empty()) << broken.what;
  }
}

TEST(OverlayCurve, AnyNumbersCanBeTopAndCertainty) {
  const Numbers numbers{62,    0,    0.1,  -1,    1e-9,  -1e-9,  1e9,    -1e9,
                        1e300, kNaN, kInf, -kInf, kMost, -kMost, kLeast, -kLeast};
  CurveRig rig(kSmallCaps);
  push(rig, Search{});
  const Box usual = rig.changes();
  int cases = 0;
  for (const Numbers& positions : {Numbers{0, 50, 100}, Numbers{-kMost, 0, kMost}, Numbers{0, kLeast, 2 * kLeast}})
    for (const double top : numbers)
      for (const double error : numbers) {
        if (is_quick() && ++cases % 7) continue;
        push(rig, Search{.positions = positions, .scores = {0, 1, 0}, .top = top, .error = error});
        EXPECT_EQ(rig.changes(), usual) << top << " " << error;
      }
  EXPECT_TRUE(rig.heard().errors.empty());
}

TEST(OverlayCurve, OrderOfTheSamplesDoesNotMatter) {
  Search search;
  std::reverse(search.positions.begin(), search.positions.end());
  std::reverse(search.scores.begin(), search.scores.end());
  EXPECT_TRUE(changed(picture_of(search), picture_of({})).empty());
}

TEST(OverlayCurve, ThousandsOfSamplesDrawTheirOutline) {
  Search dense;
  dense.positions.clear();
  dense.scores.clear();
  for (int i = 0; i <= 9000; ++i) {
    const double x = i / 90.0;
    dense.positions.push_back(x);
    dense.scores.push_back(0.2 + 1.2 / (1 + std::pow((x - 62) / 8, 2)));
  }
  const Picture picture = picture_of(dense);
  const std::vector<int> top = marked(picture);
  ASSERT_FALSE(top.empty());
  EXPECT_LT(curve_at(picture, top.front() - 6), curve_at(picture, top.front() - 40) - kLayout.curve.height / 8);
}

TEST(OverlayCurve, FieldsOfAnotherTypeAreNoSamples) {
  const auto draw = [](const std::function<void(GstStructure*)>& change) {
    CurveRig rig;
    GstStructure* s = Search{}.structure();
    change(s);
    push(rig, s);
    const Box box = rig.changes();
    EXPECT_TRUE(rig.heard().errors.empty());
    return box;
  };
  const std::vector<int> whole(11, 5);
  EXPECT_TRUE(draw([&](GstStructure* s) { set_array(s, "positions", G_TYPE_INT, g_value_set_int, whole); }).empty());
  EXPECT_TRUE(draw([&](GstStructure* s) { set_array(s, "scores", G_TYPE_INT, g_value_set_int, whole); }).empty());
  EXPECT_TRUE(draw([](GstStructure* s) { gst_structure_set(s, "scores", G_TYPE_DOUBLE, 3.0, nullptr); }).empty());
  EXPECT_TRUE(draw([](GstStructure* s) { gst_structure_remove_field(s, "positions"); }).empty());
  // Without a top there are samples to show.
  const auto strange = [](GstStructure* s) {
    gst_structure_remove_field(s, "top");
    gst_structure_set(s, "error", G_TYPE_STRING, "very", nullptr);
  };
  EXPECT_EQ(draw(strange), kLayout.curve);
}

TEST(OverlayCurve, LeaksNothing) { EXPECT_EQ(alive_after("OverlayCurve.DISABLED_Frames"), ""); }

TEST(OverlayCurve, DISABLED_Frames) {
  CurveRig rig;
  for (const char* state : {"focused", "failed", "fine"}) {
    Search search;
    search.state = state;
    push(rig, search);
    rig.picture();
  }
}

}  // namespace
}  // namespace framequality::test
