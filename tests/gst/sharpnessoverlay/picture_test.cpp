// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the pixels that sharpnessoverlay draws into the image.
#include "tests/gst/sharpnessoverlay/rig.h"

namespace framequality::test {
namespace {

using overlay::Box;
using overlay::lay_out;

const std::string kCaps = video_caps("GRAY8", 640, 480);
const overlay::Layout kLayout = lay_out(640, 480, 1, 1);

/// What an overlay with these properties changes on the last of some frames with these scores, 1/30 s apart.
struct Drawn {
  Drawn(std::initializer_list<std::pair<const char*, const char*>> properties, const std::vector<Said>& said,
        const std::string& caps = kCaps)
      : Drawn(properties, said, caps, [](int, int) { return 100; }) {}
  Drawn(std::initializer_list<std::pair<const char*, const char*>> properties, const std::vector<Said>& said,
        const std::string& caps, const std::function<int(int, int)>& paint)
      : before(caps, painted(caps, paint).get()), after(draw(properties, said, caps, paint)) {}
  static Picture draw(std::initializer_list<std::pair<const char*, const char*>> properties,
                      const std::vector<Said>& said, const std::string& caps,
                      const std::function<int(int, int)>& paint) {
    OverlayRig rig(properties);
    rig.caps(caps);
    BufferPtr out;
    for (std::size_t i = 0; i < said.size(); ++i)
      out = rig.pass(with(painted(caps, paint, i * GST_SECOND / 30), said[i]));
    EXPECT_TRUE(rig.heard().warnings.empty());
    return {caps, out.get()};
  }
  Box changes() const { return changed(before, after); }
  Picture before, after;
};

const std::pair<const char*, const char*> kNoText{"text", "false"}, kNoGraph{"graph", "false"},
    kNoZones{"zones", "false"}, kPeaking{"peaking", "true"};

TEST(OverlayPicture, NothingSwitchedOnChangesNothing) {
  EXPECT_TRUE(Drawn({kNoText, kNoGraph}, {{.score = 5}}).changes().empty());
  EXPECT_TRUE(Drawn({kNoText, kNoGraph, kNoZones},
                    {{.score = 5, .roi = {0, 0, 99, 99}, .columns = 2, .rows = 1, .zones = {1, 2}}})
                  .changes()
                  .empty());
}

TEST(OverlayPicture, TextAndGraphFillTheirRegions) {
  const Box text = Drawn({kNoGraph}, {{.score = 5}}).changes();
  EXPECT_EQ(text, kLayout.text);
  const Box graph = Drawn({kNoText}, {{.score = 5}}).changes();
  EXPECT_EQ(graph, kLayout.graph);
}

TEST(OverlayPicture, PixelsOfAnyShapeKeepPartsInThePicture) {
  for (const double shape : {1.0, 2.0, 7.0, 40.0, 1e3, 3e6, 7.7777777e7, 1e8, 2e8, 2147483647.0})
    for (const int width : {1, 2, 640, 32767})
      for (const bool wide : {true, false}) {
        const int n = wide ? static_cast<int>(shape) : 1, d = wide ? 1 : static_cast<int>(shape);
        const overlay::Layout layout = lay_out(width, 480, n, d);
        for (const Box& box : {layout.text, layout.graph, layout.curve}) {
          if (box.empty()) continue;
          EXPECT_GE(box.x, 0) << width << " " << n << "/" << d;
          EXPECT_GE(box.y, 0) << width << " " << n << "/" << d;
          EXPECT_LE(std::int64_t{box.x} + box.width, width) << n << "/" << d;
          EXPECT_LE(box.y + box.height, 480) << width << " " << n << "/" << d;
        }
      }
  const std::string thin = kCaps + ",pixel-aspect-ratio=1/100000000";
  EXPECT_TRUE(Drawn({kNoZones}, {{.score = 5}}, thin).changes().empty());
}

TEST(OverlayPicture, TextSaysScoreAndMetric) {
  const Drawn one({kNoGraph}, {{.score = 111}}), same({kNoGraph}, {{.score = 111}}),
      other({kNoGraph}, {{.score = 118}});
  EXPECT_TRUE(changed(one.after, same.after).empty());
  const Box number = changed(one.after, other.after);
  EXPECT_FALSE(number.empty());
  const Box name = changed(one.after, Drawn({kNoGraph}, {{.score = 111, .metric = "brenner"}}).after);
  EXPECT_FALSE(name.empty());
  EXPECT_GT(name.y, number.y + number.height - 1);  // a line below it
  // The letters are nearly white on a plate that is darker than the picture.
  int brightest = 0, darkest = 255;
  for (int y = kLayout.text.y; y < kLayout.text.y + kLayout.text.height; ++y)
    for (int x = kLayout.text.x; x < kLayout.text.x + kLayout.text.width; ++x) {
      brightest = std::max(brightest, one.after.code(x, y));
      darkest = std::min(darkest, one.after.code(x, y));
    }
  EXPECT_GT(brightest, 200);
  EXPECT_LT(darkest, 60);
}

TEST(OverlayPicture, LongMetricNameStaysOnThePlate) {
  const Drawn drawn({kNoGraph}, {{.score = -1234567.8, .metric = "gray-difference-product"}});
  EXPECT_EQ(drawn.changes(), kLayout.text);
  // Its last letters are not cut off: some margin is left of the plate's right edge.
  const int right = kLayout.text.x + kLayout.text.width - 1, y = kLayout.text.y + kLayout.text.height / 2;
  for (int row = kLayout.text.y + 6; row < kLayout.text.y + kLayout.text.height - 6; ++row)
    EXPECT_EQ(drawn.after.code(right, row), drawn.after.code(right, y)) << row;
}

constexpr int kCurve = 140;  ///< the curve is brighter, and all else in the graph darker

/// Brightest row of the graph in this column, which is where the line is.
int line_at(const Picture& picture, int x) {
  int best = kLayout.graph.y;
  for (int y = kLayout.graph.y; y < kLayout.graph.y + kLayout.graph.height; ++y)
    if (picture.code(x, y) > picture.code(x, best)) best = y;
  return best;
}

TEST(OverlayPicture, GraphFollowsTheScores) {
  std::vector<Said> said(60);
  for (std::size_t i = 0; i < said.size(); ++i) said[i].score = i < 30 ? 10 : 90;
  const Drawn low_high({kNoText, {"history", "2000000000"}}, said);
  std::reverse(said.begin(), said.end());
  const Drawn high_low({kNoText, {"history", "2000000000"}}, said);
  // At a third of the graph, left of the step, and at five sixths, right of it; labels take the left quarter.
  const int left = kLayout.graph.x + kLayout.graph.width * 45 / 100,
            right = kLayout.graph.x + kLayout.graph.width * 85 / 100;
  EXPECT_GT(line_at(low_high.after, left), line_at(low_high.after, right) + kLayout.graph.height / 3);
  EXPECT_LT(line_at(high_low.after, left), line_at(high_low.after, right) - kLayout.graph.height / 3);
  EXPECT_EQ(line_at(low_high.after, left), line_at(high_low.after, right));
}

TEST(OverlayPicture, GraphScrolls) {
  // A peak at 1 s, seen at 1.2 s and at 2.4 s.
  const auto peak_seen_at = [](std::size_t frames) {
    std::vector<Said> said(frames);
    for (std::size_t i = 0; i < frames; ++i) said[i].score = i == 30 ? 50 : 1;
    const Picture picture = Drawn({kNoText, {"history", "3000000000"}}, said).after;
    int best = 0, top = picture.height;
    for (int x = kLayout.graph.x + kLayout.graph.width / 3; x < kLayout.graph.x + kLayout.graph.width - 20; ++x)
      if (picture.code(x, line_at(picture, x)) > kCurve && line_at(picture, x) < top) {
        top = line_at(picture, x);
        best = x;
      }
    return best;
  };
  const int early = peak_seen_at(37), late = peak_seen_at(73);
  EXPECT_LT(late, early - kLayout.graph.width / 6);
}

TEST(OverlayPicture, PauseOfScoresIsAGapInTheGraph) {
  OverlayRig rig{kNoText, {"history", "3000000000"}};
  rig.caps(kCaps);
  BufferPtr out;
  for (GstClockTime i = 0; i <= 90; ++i) {
    BufferPtr frame = flat(kCaps, 100, i * GST_SECOND / 30);
    if (i < 30 || i > 60) say(frame.get(), {.score = 7.0 + static_cast<double>(i % 2)});
    out = rig.pass(std::move(frame));
  }
  const Picture picture(kCaps, out.get());
  const int left = kLayout.graph.x + kLayout.graph.width / 3, width = kLayout.graph.width * 2 / 3;
  const auto brightest = [&](int x) { return picture.code(x, line_at(picture, x)); };
  EXPECT_GT(brightest(left + width / 10), brightest(left + width * 45 / 100) + 50);
  EXPECT_GT(brightest(left + width * 8 / 10), brightest(left + width * 45 / 100) + 50);
}

TEST(OverlayPicture, StaleScoreIsGreyAndNamedSo) {
  OverlayRig rig{kNoGraph};
  rig.caps(kCaps);
  const Picture fresh(kCaps, rig.pass(with(flat(kCaps), {.score = 42})).get());
  // One frame without a score, as an interval of the meter leaves them, changes nothing.
  const Picture next(kCaps, rig.pass(flat(kCaps, 100, GST_SECOND / 30)).get());
  EXPECT_TRUE(changed(fresh, next).empty());
  const Picture stale(kCaps, rig.pass(flat(kCaps, 100, 5 * GST_SECOND)).get());
  EXPECT_FALSE(changed(fresh, stale).empty());
  const auto brightest = [](const Picture& picture) {
    int most = 0;
    for (int y = kLayout.text.y; y < kLayout.text.y + kLayout.text.height; ++y)
      for (int x = kLayout.text.x; x < kLayout.text.x + kLayout.text.width; ++x)
        most = std::max(most, picture.code(x, y));
    return most;
  };
  EXPECT_LT(brightest(stale), brightest(fresh) - 40);
  EXPECT_TRUE(rig.heard().warnings.empty());
}

TEST(OverlayPicture, NoScoreYetDrawsNothingAndWarnsOnce) {
  OverlayRig rig;
  rig.caps(kCaps);
  const Picture before(kCaps, flat(kCaps).get());
  for (GstClockTime i = 0; i < 3; ++i)
    EXPECT_TRUE(changed(before, Picture(kCaps, rig.pass(flat(kCaps, 100, i)).get())).empty());
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("put sharpnessmeter"), std::string::npos);
}

TEST(OverlayPicture, ZonesAreColouredByTheirScores) {
  const std::string caps = video_caps("RGB", 640, 480);
  const Drawn drawn({kNoText, kNoGraph}, {{.score = 5, .columns = 2, .rows = 2, .zones = {0, 100, 30, 0}}}, caps);
  EXPECT_EQ(drawn.changes(), (Box{0, 0, 640, 480}));
  const auto at = [&](int column, int row) { return drawn.after.at(40 + column * 320, 40 + row * 240); };
  const Picture::Pixel blurred = at(0, 0), sharp = at(1, 0), middle = at(0, 1);
  EXPECT_EQ(blurred, at(1, 1));
  // Viridis: from violet over green to yellow.
  EXPECT_GT(sharp[1], blurred[1] + 40);
  EXPECT_GT(sharp[2], blurred[2] + 60);
  EXPECT_LT(sharp[3], blurred[3]);
  EXPECT_GT(middle[2], blurred[2] + 20);
  EXPECT_LT(middle[2], sharp[2]);
  // Something is written in the middle of a zone.
  const Picture::Pixel& plain = at(1, 0);
  int other = 0;
  for (int y = 100; y < 140; ++y)
    for (int x = 440; x < 520; ++x) other += drawn.after.at(x, y) != plain;
  EXPECT_GT(other, 50);
}

TEST(OverlayPicture, HeatMapKeepsItsScaleOverTheHistory) {
  const std::string caps = video_caps("RGB", 640, 480);
  const Said sharp{.score = 5, .columns = 2, .rows = 1, .zones = {0, 100}},
      dull{.score = 5, .columns = 2, .rows = 1, .zones = {0, 4}};
  const Drawn alone({kNoText, kNoGraph}, {dull}, caps), after_sharp({kNoText, kNoGraph}, {sharp, dull}, caps);
  // Alone it is the best there is; after a better one it is not.
  EXPECT_GT(alone.after.at(400, 40)[2], after_sharp.after.at(400, 40)[2] + 40);
}

TEST(OverlayPicture, ZonesLieInTheRoi) {
  const std::initializer_list<std::pair<const char*, const char*>> zones_only{kNoText, kNoGraph};
  EXPECT_EQ(Drawn(zones_only, {{.roi = {100, 80, 200, 160}, .columns = 2, .rows = 2, .zones = {1, 2, 3, 4}}}).changes(),
            (Box{100, 80, 200, 160}));
  // Clipped as the meter clips it, in 64 bits.
  EXPECT_EQ(
      Drawn(zones_only, {{.roi = {600, -50, G_MAXINT, 100}, .columns = 2, .rows = 2, .zones = {1, 2, 3, 4}}}).changes(),
      (Box{600, 0, 40, 50}));
  EXPECT_TRUE(
      Drawn(zones_only, {{.roi = {700, 0, 10, 10}, .columns = 2, .rows = 1, .zones = {0, 0}}}).changes().empty());
  // Measured at twice the size.
  EXPECT_EQ(
      Drawn(zones_only,
            {{.width = 1280, .height = 960, .roi = {200, 160, 400, 320}, .columns = 2, .rows = 1, .zones = {1, 2}}})
          .changes(),
      (Box{100, 80, 200, 160}));
}

TEST(OverlayPicture, RoiWithoutZonesIsOutlined) {
  const Drawn drawn({kNoText, kNoGraph}, {{.roi = {100, 80, 200, 160}}});
  EXPECT_EQ(drawn.changes(), (Box{100, 80, 200, 160}));
  EXPECT_EQ(drawn.after.code(200, 160), drawn.before.code(200, 160));
}

TEST(OverlayPicture, WrongZoneCountIsNotDrawn) {
  EXPECT_TRUE(Drawn({kNoText, kNoGraph}, {{.columns = 3, .rows = 2, .zones = {1, 2, 3, 4, 5}}}).changes().empty());
}

TEST(OverlayPicture, PeakingMarksEdgesOnly) {
  for (const char* format :
       {"GRAY8", "I420", "NV12", "RGB", "BGRx", "GRAY16_LE", "P010_10LE", "Y444_16LE", "GRAY10_LE32"}) {
    const std::string caps = video_caps(format, 64, 48);
    for (const auto& [threshold, marked] : {std::pair{"40", true}, std::pair{"43", false}}) {
      // One step of 42 codes between columns 31 and 32: deeper formats, and RGB's luma, may round by one.
      const Drawn drawn({kNoText, kNoGraph, kPeaking, {"peaking-threshold", threshold}}, {{}}, caps,
                        [](int x, int) { return x < 32 ? 60 : 102; });
      int luma_changes = 0, outside = 0;
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 64; ++x) {
          if (drawn.after.at(x, y) == drawn.before.at(x, y)) continue;
          // Chroma of 4:2:0 reaches one pixel further.
          if (x < 30 || x > 33) ++outside;
          luma_changes += drawn.after.code(x, y) != drawn.before.code(x, y);
        }
      EXPECT_EQ(luma_changes, marked ? 2 * 46 : 0) << caps << threshold;
      EXPECT_EQ(outside, 0) << caps << threshold;
    }
  }
}

TEST(OverlayPicture, PeakingHasItsColour) {
  const std::string caps = video_caps("RGB", 64, 48);
  const auto step = [](int, int y) { return y < 24 ? 50 : 150; };
  const Drawn opaque({kNoText, kNoGraph, kPeaking, {"peaking-color", "0xff00ff10"}}, {{}}, caps, step);
  EXPECT_EQ(opaque.after.at(20, 24), (Picture::Pixel{255, 0, 255, 16}));
  EXPECT_EQ(opaque.after.at(20, 23), (Picture::Pixel{255, 0, 255, 16}));
  EXPECT_EQ(opaque.changes(), (Box{1, 23, 62, 2}));
  const Drawn half({kNoText, kNoGraph, kPeaking, {"peaking-color", "0x80ff0000"}}, {{}}, caps, step);
  EXPECT_NEAR(half.after.at(20, 24)[1], 203, 1);
  EXPECT_NEAR(half.after.at(20, 24)[2], 75, 1);
}

/// A marked pixel of a grey picture: black, or white, but for some codes.
bool is_stripe(int code, int white, int slack = 0) { return code <= slack || code >= white - slack; }

TEST(OverlayPicture, PeakingOnGreyShowsOnBlackOnWhiteAndBetweenWhateverTheEdgesDirection) {
  for (const auto& [format, white] :
       {std::pair{"GRAY8", 255}, {"GRAY16_LE", 65535}, {"GRAY16_BE", 65535}, {"GRAY10_LE32", 65535 & ~63}}) {
    const std::string caps = video_caps(format, 96, 96);
    // GStreamer's own function, which blends into formats that Blender does not, takes grey for video range.
    const int slack = std::string(format) == "GRAY8" || std::string(format) == "GRAY16_LE" ? 0 : white / 11;
    for (const auto& [low, high] : {std::pair{0, 40}, {215, 255}, {108, 148}, {0, 255}})
      for (const auto& [across, down] : {std::pair{2, 0}, {0, 2}, {2, 2}, {2, -2}, {1, 2}, {-2, 1}}) {
        const auto side = [across = across, down = down](int x, int y) { return across * (x - 48) + down * (y - 48); };
        const Drawn drawn({kNoText, kNoGraph, kPeaking, {"peaking-threshold", "16"}}, {{}}, caps,
                          [&, low = low, high = high](int x, int y) { return side(x, y) < 0 ? low : high; });
        const double unit = white / 255.0;
        int marks = 0;
        for (int y = 0; y < 96; ++y)
          for (int x = 0; x < 96; ++x) {
            const int code = drawn.after.code(x, y);
            if (code == drawn.before.code(x, y)) continue;
            ++marks;
            EXPECT_TRUE(is_stripe(code, white, slack)) << caps << " " << x << "," << y << " is " << code;
            EXPECT_LE(std::abs(side(x, y)), 6) << caps << " " << x << "," << y;
          }
        EXPECT_GT(marks, 60) << caps << low;
        // Wherever one looks along the edge, something stands out from both of its sides.
        for (int y = 8; y < 88; y += 4)
          for (int x = 8; x < 88; x += 4) {
            if (std::abs(side(x, y)) > 2) continue;
            bool stands_out = false;
            for (int v = y - 7; v < y + 8; ++v)
              for (int u = x - 7; u < x + 8; ++u) {
                const int code = drawn.after.code(u, v);
                stands_out |= std::abs(side(u, v)) <= 6 && std::abs(code - low * unit) > 85 * unit &&
                              (std::abs(code - high * unit) > 85 * unit || high - low == 255);
              }
            EXPECT_TRUE(stands_out) << caps << ", " << low << " and " << high << ", edge along " << -down << ","
                                    << across << ", at " << x << "," << y;
          }
      }
  }
}

TEST(OverlayPicture, PeakingOnGreyStaysInPlace) {
  // Edges move and light changes from frame to frame; what is marked in both frames looks the same in both.
  const auto bright = [](int x, int y) { return (x / 9 + y / 7) % 2 ? 200 : 30; };
  const auto dim = [](int x, int y) { return ((x + 1) / 9 + y / 7) % 2 ? 90 : 20; };
  const std::string caps = video_caps("GRAY8", 64, 48);
  OverlayRig rig{kNoText, kNoGraph, kPeaking};
  rig.caps(caps);
  const Picture first(caps, rig.pass(with(painted(caps, bright), {})).get());
  const Picture second(caps, rig.pass(with(painted(caps, dim, GST_SECOND / 30), {})).get());
  int both = 0, white = 0;
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x)
      if (is_stripe(first.code(x, y), 255) && is_stripe(second.code(x, y), 255)) {
        ++both;
        white += first.code(x, y) == 255;
        EXPECT_EQ(first.code(x, y), second.code(x, y)) << x << "," << y;
      }
  EXPECT_GT(both, 200);
  EXPECT_NEAR(static_cast<double>(white) / both, 0.5, 0.1);
}

TEST(OverlayPicture, PeakingOnGreyHasTheColoursOpacity) {
  const std::string caps = video_caps("GRAY8", 64, 48);
  const Drawn half({kNoText, kNoGraph, kPeaking, {"peaking-color", "0x80ff0000"}}, {{}}, caps,
                   [](int, int y) { return y < 24 ? 60 : 120; });
  std::array<int, 256> seen{};
  for (int x = 1; x < 63; ++x) ++seen[static_cast<std::size_t>(half.after.code(x, 23))];
  EXPECT_EQ(seen[30] + seen[158], 62);  // 60 towards black and towards white by 128 / 255
  EXPECT_GT(seen[30], 25);
  EXPECT_GT(seen[158], 25);
}

TEST(OverlayPicture, PeakingNeedsNoScore) {
  OverlayRig rig{kNoText, kNoGraph, kNoZones, kPeaking};
  rig.caps(kCaps);
  const auto step = [](int x, int) { return x < 100 ? 50 : 150; };
  const BufferPtr out = rig.pass(painted(kCaps, step));
  EXPECT_FALSE(changed(Picture(kCaps, painted(kCaps, step).get()), Picture(kCaps, out.get())).empty());
  EXPECT_TRUE(rig.heard().warnings.empty());
}

}  // namespace
}  // namespace framequality::test
