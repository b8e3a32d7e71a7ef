// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: the subject, zones of the meter or what a detector has found.
#include "tests/gst/focuscontroller/rig.h"

#include <gst/video/gstvideometa.h>

namespace framequality::test {
namespace {

struct Box {
  const char* label;
  guint x, y, width, height;
};

/// A scene of 100 x 80 pixels in 4 x 2 zones, whose left half is sharp at 30 and whose right half at 70.
class Scene {
 public:
  explicit Scene(const std::string& properties) : rig(std::string(kLens) + properties) {}

  void frame() {
    std::string fields = ", width=(uint)100, height=(uint)80, zone-columns=(uint)4, zone-rows=(uint)2, zones=<";
    const double left = FocusRig::peak(rig.position(), left_best), right = FocusRig::peak(rig.position(), 70);
    for (int i = 0; i < 8; ++i) fields += (i ? "," : "") + ("(double)" + std::to_string(i % 4 < 2 ? left : right));
    BufferPtr buffer = scored_frame(3 * left + right, frames_++ * FocusRig::kFrame, fields + ">");
    for (const Box& b : boxes)
      gst_buffer_add_video_region_of_interest_meta(buffer.get(), b.label, b.x, b.y, b.width, b.height);
    ASSERT_EQ(gst_harness_push(rig.harness(), buffer.release()), GST_FLOW_OK);
    const BufferPtr out(gst_harness_try_pull(rig.harness()));
  }
  /// Until the state is this one; false after 300 frames.
  bool until(const std::string& state) {
    for (int i = 0; i < 300; ++i) {
      frame();
      if (rig.state() == state) return true;
    }
    return false;
  }
  void still(int count) {
    while (count-- > 0) frame();
  }

  FocusRig rig;
  std::vector<Box> boxes;
  double left_best = 30;

 private:
  guint64 frames_ = 0;
};

TEST(FocusSubject, IsAZone) {
  for (const auto& [subject, best] : {std::pair("", 30), {"zone:0,0", 30}, {"zone:3,1", 70}, {"zone:2,0", 70}}) {
    Scene scene(*subject ? std::string("subject=") + subject : "");
    ASSERT_TRUE(scene.until("focused")) << subject;
    EXPECT_NEAR(scene.rig.position(), best, 1) << subject;
  }
}

TEST(FocusSubject, IsUnderTheBoxesOfADetector) {
  const Box wide{"face", 55, 0, 40, 40}, small{"face", 80, 50, 4, 4}, left{"hand", 0, 0, 50, 80};
  struct Case {
    const char* subject;
    std::vector<Box> boxes;
    double best;
  };
  for (const Case& c : {Case{"boxes", {wide}, 70},
                        {"boxes", {small}, 70},
                        {"boxes:face", {left, wide}, 70},
                        {"boxes:hand", {left, wide}, 30},
                        {"boxes:cat", {wide}, 30},
                        {"boxes", {}, 30}}) {
    Scene scene(std::string("subject=") + c.subject);
    scene.boxes = c.boxes;
    ASSERT_TRUE(scene.until("focused")) << c.subject;
    EXPECT_NEAR(scene.rig.position(), c.best, 1) << c.subject;
  }
}

TEST(FocusSubject, ThatIsElsewhereIsSearchedForAnew) {
  Scene scene("subject=boxes loss-frames=5");
  scene.boxes = {{"face", 0, 0, 50, 40}};
  ASSERT_TRUE(scene.until("focused"));
  EXPECT_NEAR(scene.rig.position(), 30, 1);
  scene.still(50);
  scene.boxes = {{"face", 5, 0, 50, 80}};
  scene.still(50);
  EXPECT_EQ(scene.rig.state(), "focused") << "it has moved, but is still in the zones";
  scene.boxes = {{"face", 60, 0, 35, 80}};
  scene.still(4);
  EXPECT_EQ(scene.rig.state(), "focused") << "it may come back";
  scene.boxes = {{"face", 0, 0, 50, 40}};
  scene.still(1);
  scene.boxes = {{"face", 60, 0, 35, 80}};
  scene.still(4);
  EXPECT_EQ(scene.rig.state(), "focused");
  ASSERT_TRUE(scene.until("coarse"));
  ASSERT_TRUE(scene.until("focused"));
  EXPECT_NEAR(scene.rig.position(), 70, 1);
  scene.boxes.clear();
  scene.still(100);
  EXPECT_NEAR(scene.rig.position(), 70, 1) << "without a subject, the lens stays";
  EXPECT_EQ(scene.rig.state(), "focused");
}

TEST(FocusSubject, ThatIsLostIsSearchedForWhereItIsNow) {
  Scene scene("subject=boxes");
  scene.boxes = {{"face", 0, 0, 50, 80}};
  ASSERT_TRUE(scene.until("focused"));
  scene.still(50);
  scene.boxes = {{"face", 30, 0, 65, 80}};
  scene.still(50);
  EXPECT_EQ(scene.rig.state(), "focused") << "a part is where it was";
  scene.left_best = 5;
  ASSERT_TRUE(scene.until("coarse"));
  ASSERT_TRUE(scene.until("focused"));
  EXPECT_NEAR(scene.rig.position(), 70, 1);
}

TEST(FocusSubject, MovesDuringASearchWithoutEffect) {
  Scene scene("subject=boxes mode=one-shot");
  scene.boxes = {{"face", 0, 0, 50, 80}};
  scene.still(8);
  scene.boxes = {{"face", 60, 0, 35, 80}};
  ASSERT_TRUE(scene.until("focused"));
  EXPECT_NEAR(scene.rig.position(), 30, 1) << "scores of other zones are not comparable";
}

TEST(FocusSubject, OfAnotherKindIsSearchedForAtOnce) {
  Scene scene("subject=zone:0,0");
  ASSERT_TRUE(scene.until("focused"));
  scene.rig.set("subject", "zone:3,0");
  ASSERT_TRUE(scene.until("coarse"));
  ASSERT_TRUE(scene.until("focused"));
  EXPECT_NEAR(scene.rig.position(), 70, 1);
}

TEST(FocusSubject, ThatCannotBeFoundIsAnError) {
  for (const auto& [subject, words] :
       {std::pair("zone:4,0",
                  "subject=zone:4,0: sharpnessmeter measures 4x2 zones: set its zone-columns and zone-rows"),
        {"zone:0", "subject=zone:0: use zone:COLUMN,ROW, boxes or boxes:LABEL"},
        {"zone:1,1x", "use zone:COLUMN,ROW"},
        {"faces", "subject=faces: use zone:COLUMN,ROW"}}) {
    FocusRig rig(std::string(kLens) + "subject=" + subject);
    BufferPtr buffer =
        scored_frame(1, 0, ", width=(uint)100, height=(uint)80, zone-columns=(uint)4, zone-rows=(uint)2");
    EXPECT_EQ(gst_harness_push(rig.harness(), buffer.release()), GST_FLOW_ERROR) << subject;
    const FocusHeard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_NE(heard.errors[0].text.find(words), std::string::npos) << heard.errors[0].text;
  }
}

}  // namespace
}  // namespace framequality::test
