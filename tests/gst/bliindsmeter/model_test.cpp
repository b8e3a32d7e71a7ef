// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter's models: from files, good and bad, also while playing.
#include "tests/gst/bliindsmeter/rig.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 61, 47);

/// A file that is gone with this.
class File {
 public:
  explicit File(const std::string& text) {
    const int fd = mkstemp(path_.data());
    EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "bliinds-model-XXXXXX";
};

/// Text of a model whose score is this number for every frame.
std::string constant_model(double score) { return bliinds::text_of({score, {}}); }

TEST(Bliinds, ModelMakesTheScore) {
  const File file("# mine\n" + constant_model(42.3));
  BliindsRig rig{{"model-location", file.path()}};
  rig.caps(kCaps);
  const BufferPtr out = rig.pass(random_buffer(kCaps, 1));
  EXPECT_EQ(number(bliinds_meta(out.get()), "score"), 42.5);
  EXPECT_EQ(number(bliinds_meta(out.get()), "raw-score"), 42.3);
  EXPECT_EQ(rig.string("model-location"), file.path());
  rig.set("model-location", "");
  EXPECT_NEAR(number(bliinds_meta(rig.pass(random_buffer(kCaps, 1)).get()), "raw-score"),
              bliinds_score(kCaps, out.get()).raw, 1e-9)
      << "empty: the published one";
}

TEST(Bliinds, BadModelKeepsItFromStarting) {
  std::string linear = "linear\n1\n", quadratic = "quadratic\n";
  for (int i = 0; i < 24; ++i) linear += "0\n";
  for (int i = 0; i < 25 + 625; ++i) quadratic += "0\n";
  const std::pair<std::string, const char*> bad[] = {
      {"", ": line 1: "},
      {"linear\n1 2\nthree", ": line 3: 'three' is not a number"},
      {"linear\n1 2\n", ": line 3: the text ends after 2 of 25 numbers"},
      {linear + "7", ": line 27: "},
      {"linear\n\n1 inf", ": line 3: "},
      {quadratic, "singular"},
      {"\xff\xfe", ": line 1: "},
      {std::string(2 << 20, ' '), "longer than 1 MiB"},
  };
  for (const auto& [text, reason] : bad) {
    const File file(text);
    const ElementPtr meter(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("bliindsmeter", nullptr))));
    const BusPtr bus(gst_bus_new());
    gst_element_set_bus(meter.get(), bus.get());
    g_object_set(meter.get(), "model-location", file.path(), nullptr);
    EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    Heard heard;
    while (const MessagePtr message{gst_bus_pop(bus.get())}) heard.add(message.get());
    gst_element_set_bus(meter.get(), nullptr);
    ASSERT_EQ(heard.errors.size(), 1u) << reason;
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
    EXPECT_NE(heard.errors[0].text.find(reason), std::string::npos) << heard.errors[0].text;
    EXPECT_NE(heard.errors[0].text.find(file.path()), std::string::npos) << heard.errors[0].text;
    EXPECT_TRUE(g_utf8_validate(heard.errors[0].text.c_str(), -1, nullptr));
    std::ofstream(file.path()) << constant_model(7);
    EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS) << "it is read again";
    gst_element_set_state(meter.get(), GST_STATE_NULL);
  }
}

TEST(Bliinds, UnreadableModelSaysWhy) {
  for (const auto& [path, reason] : {std::pair{"/nonexistent/model.txt", "No such file"}, {"/tmp", "directory"}}) {
    Heard heard = run("videotestsrc num-buffers=1 ! bliindsmeter model-location=" + std::string(path) + " ! fakesink");
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
    EXPECT_NE(heard.errors[0].text.find(reason), std::string::npos) << heard.errors[0].text;
  }
}

/// Opens a named pipe for writing as soon as somebody reads it; -1 if nobody does for 20 seconds.
int open_when_read(const char* path) {
  for (int i = 0; i < 2000; ++i) {
    const int fd = ::open(path, O_WRONLY | O_NONBLOCK);
    if (fd >= 0) return fd;
    g_usleep(10'000);
  }
  return -1;
}

TEST(Bliinds, ModelNamedWhileAnotherIsReadCounts) {
  const File first(""), second(constant_model(20));
  std::filesystem::remove(first.path());
  ASSERT_EQ(mkfifo(first.path(), 0600), 0);
  const ElementPtr meter(GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("bliindsmeter", nullptr))));
  g_object_set(meter.get(), "model-location", first.path(), nullptr);
  std::thread other([&] {
    const int fd = open_when_read(first.path());
    g_object_set(meter.get(), "model-location", second.path(), nullptr);
    const std::string model = constant_model(10);
    EXPECT_EQ(::write(fd, model.data(), model.size()), static_cast<ssize_t>(model.size()));
    ::close(fd);
  });
  EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  other.join();
  const std::unique_ptr<GstHarness, Free<gst_harness_teardown>> harness(
      gst_harness_new_with_element(meter.get(), "sink", "src"));
  gst_harness_set_src_caps_str(harness.get(), kCaps.c_str());
  const BufferPtr out(gst_harness_push_and_pull(harness.get(), random_buffer(kCaps, 1).release()));
  ASSERT_TRUE(out);
  EXPECT_EQ(number(bliinds_meta(out.get()), "score"), 20);
}

TEST(Bliinds, BadModelWhilePlayingIsAWarningAndTheOldOneCounts) {
  const File good(constant_model(10)), other(constant_model(20)), bad("linear 1 2");
  BliindsRig rig{{"model-location", good.path()}};
  rig.caps(kCaps);
  const auto score = [&] { return number(bliinds_meta(rig.pass(random_buffer(kCaps, 1)).get()), "score"); };
  EXPECT_EQ(score(), 10);
  rig.set("model-location", bad.path());
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty());
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_TRUE(heard.warnings[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
  EXPECT_NE(heard.warnings[0].text.find("the current model stays in use"), std::string::npos);
  EXPECT_EQ(rig.string("model-location"), good.path());
  EXPECT_EQ(score(), 10);
  rig.set("model-location", other.path());
  EXPECT_EQ(score(), 20);
  EXPECT_TRUE(rig.heard().warnings.empty());
}

}  // namespace
}  // namespace framequality::test
