// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of what focuscontroller can move: properties of every number type, fields of structures, V4L2 controls; and its
// words when it cannot.
#include "gst/focuscontroller/v4l2_control.h"
#include "tests/gst/focuscontroller/rig.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <map>

namespace framequality::test {
namespace {

/// The error of a controller with these properties when its first frame comes, of which there must be one.
std::string error_of(const std::string& properties) {
  FocusRig rig(properties);
  EXPECT_EQ(gst_harness_push(rig.harness(), scored_frame(1, 0).release()), GST_FLOW_ERROR) << properties;
  const FocusHeard heard = rig.heard();
  EXPECT_EQ(heard.errors.size(), 1u) << properties;
  return heard.errors.empty() ? "(none)" : heard.errors[0].text;
}

bool focus(FocusRig& rig, double best) { return rig.watch(best, "focused"); }

TEST(Actuator, MovesNumbersOfEveryType) {
  for (const char* type : {"int", "uint", "int64", "uint64", "float", "double"}) {
    FocusRig rig(std::string("settle-frames=0 min=1 max=90 step=1 actuator=lens.as-") + type);
    if (type == std::string("float")) rig.set("min", "-80");
    const double best = type == std::string("float") ? -30 : 30;
    EXPECT_TRUE(focus(rig, best)) << type;
    EXPECT_NEAR(rig.position(), best, 1) << type;
    EXPECT_TRUE(rig.heard().errors.empty());
  }
}

TEST(Actuator, LensThatKnowsItsRangeNeedsNone) {
  FocusRig rig("settle-frames=0 actuator=lens.as-int");
  ASSERT_TRUE(focus(rig, -11));
  EXPECT_NEAR(rig.position(), -11, 1);
  for (const double m : rig.heard().moves()) {
    EXPECT_TRUE(m >= -20 && m <= 100) << m;
    EXPECT_EQ(m, std::round(m));
  }
}

TEST(Actuator, RangeIsNeverWiderThanTheLens) {
  FocusRig rig("settle-frames=0 min=-1000 max=1000 step=1 actuator=lens.as-int");
  ASSERT_TRUE(focus(rig, 100));
  for (const double m : rig.heard().moves()) EXPECT_TRUE(m >= -20 && m <= 100) << m;
}

TEST(Actuator, StepIsAHundredthOfTheRangeUnlessTheLensSays) {
  FocusRig rig("settle-frames=0 min=3 max=4 actuator=lens.as-double");
  for (int i = 0; i < 400 && rig.state() != "focused"; ++i) rig.frame(FocusRig::peak(100 * rig.position(), 347));
  EXPECT_NEAR(rig.position(), 3.47, 0.01);
}

TEST(Actuator, SearchStartsFromWhereTheLensIs) {
  FocusRig low("settle-frames=0 min=0 max=100 actuator=lens.as-double"),
      high("settle-frames=0 min=0 max=100 actuator=lens.as-double");
  high.lens()->position = 90;
  for (FocusRig* rig : {&low, &high})
    for (int i = 0; i < 3; ++i) rig->frame(1);
  EXPECT_LT(low.heard().moves().at(0), 50);
  EXPECT_GT(high.heard().moves().at(0), 50);
}

TEST(Actuator, FieldOfAStructureIsSetAmongTheOthers) {
  FocusRig rig("settle-frames=0 min=0 max=100 actuator=lens.controls.focus_absolute");
  rig.lens()->controls = gst_structure_new("c", "exposure", G_TYPE_INT, 77, "focus_absolute", G_TYPE_INT, 10, nullptr);
  const auto field = [&](const char* name) {
    const std::lock_guard lock(*rig.lens()->mutex);
    gint value = -1;
    gst_structure_get_int(rig.lens()->controls, name, &value);
    return value;
  };
  for (int i = 0; i < 400 && rig.state() != "focused"; ++i) rig.frame(FocusRig::peak(field("focus_absolute"), 64));
  EXPECT_EQ(rig.state(), "focused");
  EXPECT_NEAR(field("focus_absolute"), 64, 1);
  EXPECT_EQ(field("exposure"), 77);
}

TEST(Actuator, FieldOfAnEmptyStructureIsMade) {
  FocusRig rig("settle-frames=0 min=5 max=100 actuator=lens.controls.focus_absolute");
  rig.frame(1);
  rig.frame(1);
  ASSERT_TRUE(rig.lens()->controls);
  EXPECT_TRUE(gst_structure_has_field_typed(rig.lens()->controls, "focus_absolute", G_TYPE_INT));
}

TEST(Actuator, ErrorsNameWhatIsWrong) {
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens"),
            "actuator=lens: expected element.property, element.property.field or /dev/videoN");
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens."),
            "actuator=lens.: expected element.property, element.property.field or /dev/videoN");
  EXPECT_EQ(error_of("min=0 max=1 actuator=glass.as-int"),
            "actuator=glass.as-int: the pipeline has no element \"glass\"");
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens.focus"),
            "actuator=lens.focus: lens has no property \"focus\"; its numeric properties: as-int, as-uint, as-int64, "
            "as-uint64, as-float, as-double");
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens.text")
                .find("actuator=lens.text: property \"text\" is not a number but of type gchararray; "),
            0u);
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens.controls"),
            "actuator=lens.controls: property \"controls\" is not a number but of type GstStructure; name one of its "
            "fields, as in lens.controls.field");
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens.read-only"),
            "actuator=lens.read-only: property \"read-only\" cannot be set while playing");
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens.ready-only"),
            "actuator=lens.ready-only: property \"ready-only\" cannot be set while playing");
  EXPECT_EQ(
      error_of("min=0 max=1 actuator=lens.as-int.field"),
      "actuator=lens.as-int.field: property \"as-int\" is not a structure that can be read, and be set while playing");
  EXPECT_EQ(error_of("min=0 max=1 actuator=lens.nothing.field"),
            "actuator=lens.nothing.field: lens has no property \"nothing\"");
}

TEST(Actuator, ErrorsAboutTheRangeSayWhatToSet) {
  EXPECT_EQ(error_of(""), "The range of the lens is unknown: set min and max");
  EXPECT_EQ(error_of("actuator=lens.as-double max=3"), "The range of the lens is unknown: set min");
  EXPECT_EQ(error_of("actuator=lens.as-uint"), "The range of the lens is unknown: set max");
  EXPECT_EQ(error_of("actuator=lens.controls.x min=0"), "The range of the lens is unknown: set max");
  EXPECT_EQ(error_of("min=7 max=3"), "min=7 is above max=3");
  EXPECT_EQ(error_of("actuator=lens.as-int min=200 max=300"),
            "min=200 and max=300 are outside the range of lens.as-int, which is -20 to 100");
  EXPECT_EQ(error_of("min=0 max=100 step=1e-9"), "The range 0 to 100 has more than 1e+06 positions: set a larger step");
  EXPECT_EQ(error_of("min=-1e308 max=1e308"),
            "The range -1e+308 to 1e+308 has more than 1e+06 positions: set a larger step");
}

TEST(Actuator, ErrorComesAgainWithTheNextFrame) {
  FocusRig rig("actuator=nobody.home min=0 max=1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(gst_harness_push(rig.harness(), scored_frame(1, 0).release()), GST_FLOW_ERROR);
    EXPECT_EQ(rig.heard().errors.size(), 1u);
  }
}

// --- V4L2 -----------------------------------------------------------------------------------------------------------

/// A camera in memory, at /dev/fake.
struct Camera {
  struct Control {
    v4l2_queryctrl info;
    int value;
  };
  std::map<__u32, Control> controls;
  int open = 0, opened = 0, fails_with = 0, interruptions = 0;

  void add(__u32 id, const char* name, int min, int max, int step, int value, __u32 flags = 0,
           __u32 type = V4L2_CTRL_TYPE_INTEGER) {
    v4l2_queryctrl info{};
    info.id = id;
    info.type = type;
    std::strncpy(reinterpret_cast<char*>(info.name), name, sizeof info.name - 1);
    info.minimum = min, info.maximum = max, info.step = step, info.flags = flags;
    controls[id] = {info, value};
  }
  static int fail(int error) {
    errno = error;
    return -1;
  }
  int call(unsigned long request, void* argument) {
    if (interruptions > 0) return --interruptions, fail(EINTR);
    if (request == VIDIOC_QUERYCTRL) {
      auto& info = *static_cast<v4l2_queryctrl*>(argument);
      const bool next = info.id & V4L2_CTRL_FLAG_NEXT_CTRL;
      const auto at = next ? controls.upper_bound(info.id & ~V4L2_CTRL_FLAG_NEXT_CTRL) : controls.find(info.id);
      if (at == controls.end()) return fail(EINVAL);
      info = at->second.info;
      return 0;
    }
    auto& control = *static_cast<v4l2_control*>(argument);
    const auto at = controls.find(control.id);
    if (at == controls.end()) return fail(EINVAL);
    if (request == VIDIOC_G_CTRL) {
      control.value = at->second.value;
      return 0;
    }
    if (request != VIDIOC_S_CTRL) return fail(ENOTTY);
    if (fails_with) return fail(fails_with);
    const v4l2_queryctrl& info = at->second.info;
    EXPECT_TRUE(control.value >= info.minimum && control.value <= info.maximum) << control.value;
    at->second.value = control.value;
    return 0;
  }
};
Camera camera;

class V4l2 : public testing::Test {
 protected:
  void SetUp() override {
    camera = {};
    camera.add(V4L2_CID_BRIGHTNESS, "Brightness", 0, 255, 1, 128);
    camera.add(V4L2_CID_FOCUS_ABSOLUTE, "Focus, Absolute", 0, 250, 5, 40);
    camera.add(V4L2_CID_FOCUS_AUTO, "Focus, Automatic Continuous", 0, 1, 1, 1, 0, V4L2_CTRL_TYPE_BOOLEAN);
    camera.add(V4L2_CID_PRIVATE_BASE, "Lens (near) Motor", -8, 8, 1, 0);
    v4l2_calls() = {[](const char* path, int flags) {
                      EXPECT_TRUE(flags & O_CLOEXEC);
                      if (std::string(path) == "/dev/locked") return Camera::fail(EACCES);
                      if (std::string(path) != "/dev/fake" && std::string(path) != "/dev/by-path/usb:1.0")
                        return Camera::fail(ENOENT);
                      ++camera.opened;
                      return 100 + ++camera.open;
                    },
                    [](int) { return --camera.open, 0; },
                    [](int, unsigned long request, void* argument) { return camera.call(request, argument); }};
  }
  void TearDown() override {
    EXPECT_EQ(camera.open, 0) << "left open";
    v4l2_calls() = real_;
  }
  static int focus() { return camera.controls[V4L2_CID_FOCUS_ABSOLUTE].value; }

 private:
  const V4l2Calls real_ = v4l2_calls();
};

TEST_F(V4l2, FocusesWithTheRangeAndStepOfTheDriver) {
  {
    FocusRig rig("settle-frames=0 actuator=/dev/fake");
    for (int i = 0; i < 400 && rig.state() != "focused"; ++i) {
      camera.interruptions = 2;
      rig.frame(FocusRig::peak(focus() / 5.0, 33));
    }
    EXPECT_EQ(rig.state(), "focused");
    EXPECT_NEAR(focus(), 165, 5);
    EXPECT_EQ(camera.controls[V4L2_CID_FOCUS_AUTO].value, 0) << "its own autofocus is on";
    for (const double m : rig.heard().moves()) EXPECT_EQ(std::fmod(m, 5), 0) << m;
  }
  EXPECT_EQ(camera.opened, 1);
}

TEST_F(V4l2, OtherControlsGoByTheirNames) {
  FocusRig rig("settle-frames=0 actuator=/dev/fake:lens_near_motor");
  for (int i = 0; i < 3; ++i) rig.frame(1);
  EXPECT_EQ(camera.controls[V4L2_CID_PRIVATE_BASE].value, rig.heard().moves().back());
  EXPECT_EQ(camera.controls[V4L2_CID_FOCUS_AUTO].value, 1) << "is none of its business";
}

TEST_F(V4l2, PathsMayHaveColons) {
  FocusRig rig("settle-frames=0 actuator=/dev/by-path/usb:1.0");
  rig.frame(1);
  EXPECT_EQ(rig.lens()->moves, 0);
  EXPECT_EQ(camera.controls[V4L2_CID_FOCUS_AUTO].value, 0);
  FocusRig brightness("settle-frames=0 actuator=/dev/by-path/usb:1.0:brightness");
  brightness.frame(1);
  EXPECT_TRUE(brightness.heard().errors.empty());
}

TEST_F(V4l2, ErrorsSayWhatFailed) {
  EXPECT_EQ(error_of("actuator=/dev/nothing"), "Cannot open /dev/nothing: No such file or directory");
  EXPECT_EQ(error_of("actuator=/dev/nothing:brightness"), "Cannot open /dev/nothing: No such file or directory");
  EXPECT_EQ(error_of("actuator=/dev/locked"), "Cannot open /dev/locked: Permission denied");
  EXPECT_EQ(error_of("actuator=/dev/fake:zoom"),
            "/dev/fake has no control zoom; it has: brightness, focus_absolute, lens_near_motor");
  EXPECT_EQ(error_of("actuator=/dev/fake:focus_automatic_continuous"),
            "The control focus_automatic_continuous of /dev/fake is not a number");
  camera.add(V4L2_CID_FOCUS_ABSOLUTE, "Focus, Absolute", 0, 250, 5, 40, V4L2_CTRL_FLAG_READ_ONLY);
  EXPECT_EQ(error_of("actuator=/dev/fake"), "The control focus_absolute of /dev/fake is disabled or read-only");
  camera.controls.clear();
  EXPECT_EQ(error_of("actuator=/dev/fake"), "/dev/fake has no control focus_absolute and no other numeric control");
}

TEST_F(V4l2, LensThatFailsEndsTheSearchButNotTheStream) {
  FocusRig rig("settle-frames=0 actuator=/dev/fake");
  for (int i = 0; i < 10; ++i) rig.frame(FocusRig::peak(focus() / 5.0, 33));
  camera.fails_with = EIO;
  for (int i = 0; i < 50; ++i) rig.frame(FocusRig::peak(focus() / 5.0, 33));
  EXPECT_EQ(rig.state(), "failed");
  const FocusHeard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty());
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("Cannot set focus_absolute of /dev/fake to "), std::string::npos);
  EXPECT_NE(heard.warnings[0].text.find(": Input/output error"), std::string::npos);
  camera.fails_with = 0;
  rig.emit("trigger");
  for (int i = 0; i < 400 && rig.state() != "focused"; ++i) rig.frame(FocusRig::peak(focus() / 5.0, 33));
  EXPECT_NEAR(focus(), 165, 5);
}

TEST_F(V4l2, DeviceIsClosedWhenTheStreamEnds) {
  FocusRig rig("settle-frames=0 actuator=/dev/fake");
  rig.frame(1);
  EXPECT_EQ(camera.open, 1);
  gst_element_set_state(rig.controller(), GST_STATE_READY);
  EXPECT_EQ(camera.open, 0);
}

}  // namespace
}  // namespace framequality::test
