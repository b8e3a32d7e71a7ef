// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements of a program with a third backend: it is a value of `device`, the best one, and what all suites here work
// on.
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/gst/third/backend.h"

#include <vector>

namespace framequality::test {
namespace {

/// The product's backends, and in front of them the third: before any element's class is made.
const std::vector<const Backend*> all = [] {
  std::vector<const Backend*> list{&third::kBackend};
  list.insert(list.end(), backends().begin(), backends().end());
  return list;
}();
[[maybe_unused]] const bool used = (use_backends(all), named_device = {"device", "third"}, true);

/// The suites of this program prove nothing where they run elsewhere.
class WorkedOn : public ::testing::Environment {
 public:
  void TearDown() override {
    if (::testing::UnitTest::GetInstance()->successful_test_count() > 0) {
      EXPECT_GT(third::forwarded, 0);
    }
  }
};
[[maybe_unused]] ::testing::Environment* const worked_on = ::testing::AddGlobalTestEnvironment(new WorkedOn);

const std::string kCaps = video_caps("GRAY8", 64, 48);

TEST(ThirdBackend, IsAValueOfTheProperty) {
  Rig rig;
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(rig.element()), "device");
  const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::string said;
  for (guint i = 0; i < values->n_values; ++i)
    said += std::to_string(values->values[i].value) + " " + values->values[i].value_nick + ": " +
            values->values[i].value_name + "\n";
  EXPECT_EQ(said,
            "0 auto: the third, CUDA or OpenCL where a usable device is cheaper, else the CPU\n"
            "1 cpu: the CPU\n"
            "2 cuda: CUDA; without a usable device, the change to READY fails\n"
            "3 opencl: OpenCL; without a usable device, the change to READY fails\n"
            "33 third: the third; without a usable device, the change to READY fails\n");
  spec = g_object_class_find_property(G_OBJECT_GET_CLASS(rig.element()), "active-device");
  EXPECT_STREQ(g_param_spec_get_blurb(spec),
               "Report the device in use: cpu, cuda, opencl or third; empty in state NULL");
}

TEST(ThirdBackend, IsTakenWhenItIsNamedAndNamedInMessages) {
  Rig rig{{"device", "third"}};
  rig.caps(kCaps);
  EXPECT_EQ(rig.string("active-device"), "third");
  const int before = third::forwarded;
  BufferPtr buffer = random_buffer(kCaps, 7);
  const double want = expected(kCaps, buffer.get()).score;
  EXPECT_EQ(rig.score(std::move(buffer)), want);
  EXPECT_EQ(third::forwarded, before + 1);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 1u);
  EXPECT_EQ(text(heard.results[0].get(), "device"), "third");
}

TEST(ThirdBackend, IsTakenByAutoForHeavyWork) {
  Rig rig{{"device", "auto"}};
  EXPECT_EQ(rig.string("active-device"), "cpu") << "it has to pay first";
  for (const char* factory : {"bliindsmeter", "nlmeans", "halftone"})
    EXPECT_EQ(Rig({}, factory).string("active-device"), "third") << factory;
}

TEST(ThirdBackend, HoldsFramesInFlight) {
  Rig rig{{"in-flight", "2"}};
  rig.caps(kCaps);
  const int before = third::forwarded;
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(rig.push(random_buffer(kCaps, i, i * GST_SECOND)), GST_FLOW_OK);
  EXPECT_EQ(third::forwarded, before + 1);
}

TEST(ThirdBackend, LeavesSerpentineToTheCpu) {
  Rig rig({{"serpentine", "true"}}, "halftone");
  rig.caps(kCaps);
  EXPECT_EQ(rig.string("active-device"), "cpu");
}

TEST(ThirdBackend, HalftonesToPalettesByTheMaskAlone) {
  Rig masked({{"palette", "bwr"}, {"method", "blue-noise"}}, "halftone");
  masked.caps(kCaps);
  EXPECT_EQ(masked.string("active-device"), "third");
  const int before = third::forwarded;
  EXPECT_TRUE(masked.pass(random_buffer(kCaps, 1)));
  EXPECT_EQ(third::forwarded, before + 1);
  masked.set("method", "floyd-steinberg");  // with a warning
  int method = -1;
  g_object_get(masked.element(), "method", &method, nullptr);
  EXPECT_EQ(method, 2) << "blue-noise";
  Rig diffused({{"palette", "bwr"}}, "halftone");
  diffused.caps(kCaps);
  EXPECT_EQ(diffused.string("active-device"), "cpu");
}

}  // namespace
}  // namespace framequality::test
