// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of framequality-watch that need no camera: passwords, waits, events, metrics, images, the log.
#include "apps/common/contexts.h"
#include "apps/common/owned.h"
#include "apps/watch/backoff.h"
#include "apps/watch/chores.h"
#include "apps/watch/events.h"
#include "apps/watch/log.h"
#include "apps/watch/secrets.h"
#include "apps/watch/server.h"
#include "apps/watch/status.h"
#include "tests/apps/folder.h"
#include "tests/support/eventually.h"

#include <glib.h>
#include <glib/gstdio.h>

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace framequality::apps::watch {
namespace {

namespace fs = std::filesystem;

// --- Passwords ------------------------------------------------------------------------------------------------------

TEST(WatchSecrets, KnownPasswordsAreMaskedInEveryForm) {
  Secrets secrets;
  secrets.add("p%40ss word/1");
  secrets.add("");
  for (const char* text : {"[p@ss word/1]", "[p%40ss word/1]", "[p%40ss%20word%2F1]"})
    EXPECT_EQ(secrets.hide(text), "[***]") << text;
  // As letters of other words nothing would be left of a text.
  Secrets common;
  common.add("a");
  common.add("admin");
  EXPECT_EQ(common.hide("a camera, admin, administered: [a]"), "*** camera, ***, administered: [***]");
  // One is part of the other.
  Secrets nested;
  nested.add("longpassword");
  nested.add("longpassword-and-more");
  EXPECT_EQ(nested.hide("xlongpassword-and-morex"), "x***x");
  EXPECT_EQ(nested.hide("xlongpasswordx"), "x***x");
  Secrets odd;
  odd.add("***");
  EXPECT_EQ(odd.hide("rtsp://u:x@h ***"), "rtsp://u:***@h ***");
}

// --- Waits ----------------------------------------------------------------------------------------------------------

TEST(WatchBackoff, DoublesToAMinuteWithJitter) {
  Backoff backoff(7);
  for (int round = 0; round < 2; ++round) {
    for (const double seconds : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
      const double wait = static_cast<double>(backoff.next()) / 1e9;
      EXPECT_GE(wait, 0.8 * seconds);
      EXPECT_LE(wait, 1.2 * seconds);
    }
    backoff.reset();
  }
  Backoff one(1), other(2);
  EXPECT_NE(one.next(), other.next());
}

// --- Threads --------------------------------------------------------------------------------------------------------

TEST(WatchChores, WithoutAThreadAreUndoneOrDoneLater) {
  using std::chrono_literals::operator""ms;
  std::atomic<bool> threads = false, hold = true;
  std::atomic<int> done = 0;
  Chores chores([&](const Chores::Work& work) { return threads && try_detached(work); });
  EXPECT_FALSE(chores.try_run([&] { ++done; }));
  EXPECT_TRUE(chores.wait(0ms)) << "it does not count";
  chores.run([&] { ++done; });
  chores.retry();
  EXPECT_FALSE(chores.wait(0ms)) << "it is still to be done";
  EXPECT_EQ(done, 0);
  threads = true;
  chores.retry();
  EXPECT_TRUE(chores.wait(10'000ms));
  EXPECT_EQ(done, 1);
  // A thread that has done its own takes what waits.
  EXPECT_TRUE(chores.try_run([&] {
    while (hold) std::this_thread::yield();
    ++done;
  }));
  threads = false;
  for (int i = 0; i < 5; ++i) chores.run([&] { ++done; });
  EXPECT_EQ(done, 1);
  hold = false;
  EXPECT_TRUE(chores.wait(10'000ms));
  EXPECT_EQ(done, 7);
}

// --- Events and status ----------------------------------------------------------------------------------------------

TEST(WatchEvents, AreLinesOfJson) {
  Event event;
  event.time = 1'795'402'862'003'999;
  event.camera = "gate \"\\\n\x01\xff";
  event.state = "defocused";
  event.previous = "good";
  event.reason = "</script>";
  event.duration = 12'000'000'000;
  event.figures.score = 0.75;
  event.figures.ratio = std::numeric_limits<double>::quiet_NaN();
  event.figures.noise = std::numeric_limits<double>::infinity();
  event.snapshot = "a/b.jpg";
  EXPECT_EQ(
      json_line(event),
      "{\"time\":\"2026-11-23T03:01:02.003Z\",\"camera\":\"gate \\\"\\\\\\n\\u0001\uFFFD\",\"state\":\"defocused\","
      "\"previous\":\"good\",\"reason\":\"</script>\",\"repeated\":false,\"duration\":12,\"score\":0.75,"
      "\"snapshot\":\"a/b.jpg\"}\n");
  EXPECT_EQ(utc(0), "1970-01-01T00:00:00.000Z");
}

Status status_of(const std::string& name) {
  Status status;
  CameraStatus camera;
  camera.name = name;
  camera.source = "rtsp://u:***@h";
  camera.state = "defocused";
  camera.figures.score = 1.5;
  camera.figures.baseline = std::numeric_limits<double>::quiet_NaN();
  camera.frames = 12345;
  camera.history = {{100, 1.0}, {102, 0.5}};
  status.cameras.push_back(camera);
  status.made = g_get_monotonic_time();
  return status;
}

TEST(WatchStatus, IsJsonWithNullForTheUnknown) {
  const std::string json = status_json(status_of("a\"b"));
  EXPECT_NE(json.find("\"cameras\":[{\"name\":\"a\\\"b\",\"source\":\"rtsp://u:***@h\",\"state\":\"defocused\""),
            std::string::npos);
  EXPECT_NE(json.find("\"score\":1.5,\"baseline\":null,\"ratio\":null"), std::string::npos) << json;
  EXPECT_NE(json.find("\"frames\":12345,\"last_frame_age\":null"), std::string::npos);
  EXPECT_NE(json.find("\"width\":null,\"height\":null,\"history\":[[100,1],[102,0.5]]}]}\n"), std::string::npos);
}

TEST(WatchMetrics, AreOpenMetrics) {
  const std::string text = open_metrics(status_of("a\"b\\c\nd\xff"));
  const std::string label = "camera=\"a\\\"b\\\\c\\nd\uFFFD\"";
  for (const std::string& line : {
           std::string("# TYPE framequality_camera_score gauge\n"),
           "framequality_camera_score{" + label + "} 1.5\n",
           std::string("# TYPE framequality_camera_frames counter\n"),
           "framequality_camera_frames_total{" + label + "} 12345\n",
           "framequality_camera_reconnects_total{" + label + "} 0\n",
           std::string("# TYPE framequality_camera_state stateset\n"),
           "framequality_camera_state{" + label + ",framequality_camera_state=\"defocused\"} 1\n",
           "framequality_camera_state{" + label + ",framequality_camera_state=\"lost\"} 0\n",
           std::string("# UNIT framequality_camera_last_frame_age_seconds seconds\n"),
           std::string("# TYPE framequality_build info\n"),
           std::string("framequality_build_info{version=\""),
       })
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("framequality_camera_baseline{"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  // One family is one block.
  std::vector<std::string> families;
  for (std::size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos; ++at)
    families.push_back(text.substr(at + 7, text.find(' ', at + 7) - at - 7));
  EXPECT_EQ(families.size(), 10u);
}

// --- Pictures -------------------------------------------------------------------------------------------------------

const std::string kJpeg = "\xff\xd8\xff\xd9";

// --- The log --------------------------------------------------------------------------------------------------------

TEST(WatchLog, AppendsAndReopens) {
  const Folder folder;
  write(folder / "log", "before\n");
  Log log(folder / "log", [](const std::string& text, bool) { ADD_FAILURE() << text; });
  log.write("one\n");
  eventually([&] { return content(folder / "log") == "before\none\n"; });
  fs::rename(folder / "log", folder / "log.1");
  log.write("two\n");
  eventually([&] { return content(folder / "log.1") == "before\none\ntwo\n"; });
  log.reopen();
  log.write("three\n");
  eventually([&] { return content(folder / "log") == "three\n"; });
  log.close(std::chrono::seconds(5));
  EXPECT_EQ(content(folder / "log.1"), "before\none\ntwo\n");
}

TEST(WatchLog, AFullDiskIsSaidOnceAndTriedAgain) {
  const Folder folder;
  std::atomic<int> complaints = 0;
  std::promise<void> written;
  {
    Log log("/dev/full", [&, until = written.get_future().share()](const std::string& text, bool left) {
      EXPECT_EQ(text, "cannot write /dev/full: No space left on device");
      EXPECT_FALSE(left);
      ++complaints;
      until.wait();  // who wrote does not wait for this thread
    });
    for (int i = 0; i < 1000; ++i) log.write("line\n");
    written.set_value();
    eventually([&] { return complaints > 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // it is tried again meanwhile
    EXPECT_EQ(complaints, 1);
  }
  EXPECT_EQ(complaints, 1);
  EXPECT_THROW(Log(folder / "none/log", [](const std::string&, bool) {}), std::runtime_error);
}

TEST(WatchLog, AReaderThatStallsHoldsNobody) {
  const Folder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0666), 0);
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  std::atomic<int> lost = 0;
  {
    // More than is kept. Who waited for the reader would wait for ever.
    Log log(folder / "pipe", [&](const std::string&, bool) { ++lost; });
    for (int i = 0; i < 2000; ++i) log.write(std::string(9999, 'x') + '\n');
  }
  close(reader);
}

// --- The server -----------------------------------------------------------------------------------------------------

TEST(WatchServer, SaysWhyItCannotListen) {
  const Bell bell;
  const auto get = [](const Request&) { return Reply(); };
  const auto said = [&](const std::string& listen) -> std::string {
    try {
      const Server server(listen, bell, get);
      return server.url();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  };
  const std::string takes = "the address must be ADDRESS:PORT, such as 127.0.0.1:9640 or [::1]:9640";
  EXPECT_EQ(said("9640"), "cannot listen on 9640: " + takes);
  EXPECT_EQ(said(":9640"), "cannot listen on :9640: " + takes);
  EXPECT_EQ(said("127.0.0.1:"), "cannot listen on 127.0.0.1:: " + takes);
  for (const char* port : {"x", "65536", "99999", "4294967296", "-1", "+0", " 0", "0x0", "http"})
    EXPECT_EQ(said(std::string("127.0.0.1:") + port),
              std::string("cannot listen on 127.0.0.1:") + port + ": the port must be a number from 0 to 65535");
  EXPECT_TRUE(said("127.0.0.1:0").starts_with("http://127.0.0.1:"));
  const Server server("127.0.0.1:0", bell, get);
  const std::string taken = server.url().substr(7, server.url().size() - 8);
  EXPECT_EQ(said(taken), "cannot listen on " + taken + ": Address already in use");
}

TEST(Contexts, AreThoseOfTheFirst) {
  using apps::Owned;
  gst_init(nullptr, nullptr);
  constexpr char kType[] = "gst.cuda.context";
  const auto element = [] { return Owned<GstElement>(GST_ELEMENT(gst_object_ref_sink(gst_bin_new(nullptr)))); };
  const auto tell = [](GstMessage* message) {
    share_context(message);
    gst_message_unref(message);
  };
  const Owned<GstElement> first = element(), second = element();
  tell(gst_message_new_need_context(GST_OBJECT(first.get()), kType));
  EXPECT_FALSE(gst_element_get_context(first.get(), kType));
  // The second one waits for what the first one makes.
  std::thread waiting([&] { tell(gst_message_new_need_context(GST_OBJECT(second.get()), kType)); });
  tell(gst_message_new_have_context(GST_OBJECT(first.get()), gst_context_new("gst.gl.GLDisplay", TRUE)));
  GstContext* const made = gst_context_new(kType, TRUE);
  tell(gst_message_new_have_context(GST_OBJECT(first.get()), gst_context_ref(made)));
  waiting.join();
  GstContext* const given = gst_element_get_context(second.get(), kType);
  EXPECT_EQ(given, made);
  if (given) gst_context_unref(given);
  gst_context_unref(made);
  drop_contexts();
}

}  // namespace
}  // namespace framequality::apps::watch
