// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-watch's command line and configuration: what is read, and what is said of mistakes.
#include "apps/common/program.h"
#include "apps/common/url.h"
#include "apps/watch/address.h"
#include "apps/watch/keys.h"
#include "apps/watch/options.h"
#include "apps/watch/source.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <gst/gst.h>

#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace framequality::apps::watch {
namespace {

class WatchConfig : public testing::Test {
 protected:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    gchar* name = g_dir_make_tmp("watch-XXXXXX", nullptr);
    folder_ = name;
    g_free(name);
    path_ = folder_ + "/w.toml";
    write("clip.mp4", "not empty");
  }
  void TearDown() override {
    for (const std::string& name : written_) g_unlink(name.c_str());
    g_rmdir(folder_.c_str());
  }
  void write(const std::string& name, const std::string& text) {
    written_.push_back(folder_ + '/' + name);
    std::ofstream(written_.back()) << text;
  }
  static Settings options(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "framequality-watch");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return parse_options(static_cast<int>(arguments.size()), argv.data());
  }
  Settings config(const std::string& text, std::vector<std::string> more = {}) {
    write("w.toml", text);
    more.insert(more.begin(), {"--config", path_});
    return options(more);
  }
  /// What is said of a configuration that is of no use.
  std::string refused(const std::string& text) {
    try {
      config(text);
      return "accepted";
    } catch (const UsageError& e) {
      return without_path(e.what());
    }
  }
  /// What is said of a camera that is left out beside one that is right.
  std::string rejected(const std::string& camera) {
    const Settings settings = config(camera + "\n[[camera]]\nname = 'right'\nurl = 'rtsp://right/1'\n");
    EXPECT_EQ(settings.cameras.size(), 1u);
    return settings.rejected.empty() ? "accepted" : without_path(settings.rejected[0].reason);
  }
  std::string without_path(std::string text) const {
    for (std::size_t at; (at = text.find(path_)) != std::string::npos;) text.replace(at, path_.size(), "W");
    for (std::size_t at; (at = text.find(folder_)) != std::string::npos;) text.replace(at, folder_.size(), "D");
    return text;
  }

  std::string folder_, path_;
  std::vector<std::string> written_;
};

TEST_F(WatchConfig, EverySettingArrives) {
  write("password", "s3cret!\nsecond line\n");
  const Settings s = config(R"(
listen = "[::1]:0"
allow-hosts = ["cameras.example.org", "b.example"]
log = "events.jsonl"
snapshots = "/pictures"
snapshots-most = 5
snapshots-most-bytes = 70000
baselines = "learned"
quiet = true
[defaults]
watch-for = ["defocused", "dark"]
hold-time = 2.5
stall-time = 4
min-ratio = 0.5
[[camera]]
name = "gate"
url = "rtsps://10.0.0.7:322/1?x=y"
user = "admin"
password-file = "password"
transport = "tcp"
tls-verify = false
roi = [1, 2, 30, 40]
significant-bits = 12
hold-time = 3
decoder-threads = 0
device = "cpu"
[[camera]]
url = "clip.mp4"
realtime = true
watch-for = "frozen"
[[camera]]
name = "test"
pipeline = "videotestsrc ! video/x-raw,width=32"
)");
  EXPECT_EQ(s.listen, "[::1]:0");
  EXPECT_EQ(s.allow_hosts, (std::vector<std::string>{"cameras.example.org", "b.example"}));
  EXPECT_EQ(s.log, folder_ + "/events.jsonl");
  EXPECT_EQ(s.snapshots, "/pictures");
  EXPECT_EQ(s.baselines, folder_ + "/learned");
  EXPECT_EQ(s.snapshots_most, 5u);
  EXPECT_EQ(s.snapshots_most_bytes, 70000u);
  EXPECT_TRUE(s.quiet);
  ASSERT_EQ(s.rejected.size(), 0u) << s.rejected[0].reason;
  ASSERT_EQ(s.cameras.size(), 3u);
  const CameraSettings &gate = s.cameras[0], &clip = s.cameras[1], &test = s.cameras[2];
  EXPECT_EQ(gate.uri, "rtsps://10.0.0.7:322/1?x=y");
  EXPECT_EQ(gate.user, "admin");
  EXPECT_EQ(gate.password, "s3cret!");
  EXPECT_EQ(gate.transport, Transport::kTcp);
  EXPECT_FALSE(gate.verify_tls);
  EXPECT_EQ(gate.watch.hold_time, 3'000'000'000u);
  EXPECT_EQ(gate.watch.stall_time, 4'000'000'000u);
  EXPECT_EQ(gate.watch.watch_for, "defocused+dark");
  EXPECT_EQ(gate.watch.min_ratio, 0.5);
  EXPECT_EQ(gate.watch.learn_time, std::nullopt);
  EXPECT_EQ(gate.watch.meter.roi, (std::array{1, 2, 30, 40}));
  EXPECT_EQ(gate.watch.meter.significant_bits, 12);
  EXPECT_EQ(clip.watch.meter.significant_bits, 0);
  EXPECT_EQ(gate.decoder_threads, 0);
  EXPECT_EQ(clip.name, "clip");
  EXPECT_TRUE(clip.is_file && clip.realtime && !gate.is_file);
  EXPECT_EQ(clip.watch.hold_time, 2'500'000'000u);
  EXPECT_EQ(clip.watch.watch_for, "frozen");
  EXPECT_EQ(clip.decoder_threads, 1);
  EXPECT_EQ(test.pipeline, "videotestsrc ! video/x-raw,width=32");
}

TEST_F(WatchConfig, OptionsGoBeforeDefaultsAndCamerasBeforeOptions) {
  const Settings s = config(
      "listen='none'\n[defaults]\nhold-time=1\nlearn-time=1\n[[camera]]\nname='a'\nurl='rtsp://a'\nlearn-time=9\n",
      {"--hold-time", "2", "--learn-time=2", "--listen=127.0.0.1:0", "b=rtsp://b"});
  EXPECT_EQ(s.listen, "127.0.0.1:0");
  ASSERT_EQ(s.cameras.size(), 2u);
  EXPECT_EQ(s.cameras[0].watch.hold_time, 2'000'000'000u);
  EXPECT_EQ(s.cameras[0].watch.learn_time, 9'000'000'000u);
  EXPECT_EQ(s.cameras[1].name, "b");
  EXPECT_EQ(s.cameras[1].watch.learn_time, 2'000'000'000u);
}

TEST_F(WatchConfig, HostNamesOfOptionsAreAdded) {
  const Settings s = config("allow-hosts = 'a'\n[[camera]]\nname='a'\nurl='rtsp://a'\n",
                            {"--allow-host", "b.example", "--allow-host=C."});
  EXPECT_EQ(s.allow_hosts, (std::vector<std::string>{"a", "b.example", "C."}));
}

TEST_F(WatchConfig, MistakesOfAllNameLineAndKey) {
  EXPECT_TRUE(refused("listen = \n").starts_with("W:1: invalid TOML: "));
  EXPECT_TRUE(refused("[[camera]]\nname = \"a\nb\"\n").starts_with("W:2: invalid TOML: "));
  EXPECT_EQ(refused("listne = 'none'\n"),
            "W:1: unknown key 'listne'; known keys: listen, allow-hosts, log, snapshots, snapshots-most, "
            "snapshots-most-bytes, baselines, quiet, defaults, camera; did you mean 'listen'?");
  EXPECT_EQ(refused("\nlisten = 9640\n"), "W:2: listen must be ADDRESS:PORT or none, not 9640");
  EXPECT_EQ(refused("allow-hosts = ['a', 'b:80']\n"),
            "W:1: allow-hosts must be host names without a port, such as cameras.example.org, not [ "
            "'a', 'b:80' ]");
  EXPECT_EQ(refused("snapshots-most = 0\n"), "W:1: snapshots-most must be a whole number from 1 to 1000000, not 0");
  EXPECT_EQ(refused("[defaults]\nhold-time = '1 s'\nname = 'x'\n").substr(0, 110),
            std::string("W:2: hold-time must be a number of seconds from 0 to 1000000, not '1 s'\nW:3: unknown key "
                        "'name'; known keys: "
                        "watch-for, hold-time")
                .substr(0, 110));
  EXPECT_EQ(refused("defaults = 1\n"), "W:1: defaults must be a table: write [defaults]");
  EXPECT_EQ(refused("camera = 'a'\n"), "W:1: camera must be an array of tables: write [[camera]] above each");
  EXPECT_EQ(refused("[camera]\nurl='rtsp://a'\n"),
            "W:1: camera must be an array of tables: write [[camera]] above each");
  EXPECT_EQ(refused(""), "the configuration has no [[camera]]");
  EXPECT_EQ(refused("[[camera]]\nname='a'\n"), "W:1: url or pipeline is missing");
  EXPECT_THROW(options({"--config", folder_}), std::runtime_error);
  EXPECT_THROW(options({"--config", folder_ + "/none.toml"}), std::runtime_error);
}

TEST_F(WatchConfig, MistakesOfOneCameraKeepOnlyItOut) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nhold_time=1\n",
       "W:4: unknown key 'hold_time'; known keys: watch-for, hold-time, recovery-time, repeat-interval, "
       "learn-time, stall-time, interval, min-ratio, resume-ratio, roi, significant-bits, device, transport, "
       "tls-verify, realtime, "
       "decoder-threads, name, url, pipeline, user, password-file; did you mean 'hold-time'?"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nwatch-for=['dark','defocussed']\n",
       "W:4: watch-for must be a list of defocused, covered, dark, overexposed, frozen, moved, flickering, noisy, not "
       "[ "
       "'dark', 'defocussed' ]; did you mean 'defocused'?"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\ntransport='tpc'\n",
       "W:4: transport must be auto, tcp or udp, not 'tpc'; did you mean 'tcp'?"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nhold-time=-1\n",
       "W:4: hold-time must be a number of seconds from 0 to 1000000, not -1"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nhold-time=nan\n",
       "W:4: hold-time must be a number of seconds from 0 to 1000000, not nan"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nsignificant-bits=8\n",
       "W:4: significant-bits must be a whole number from 9 to 16, not 8"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nstall-time=0\n",
       "W:4: stall-time must be a number of seconds from 1 to 1000000, not 0"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nmin-ratio=60\n", "W:4: min-ratio must be a number from 0 to 1, not 60"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nroi=[1,2,0,4]\n",
       "W:4: roi must be [X, Y, WIDTH, HEIGHT] in pixels, not [ 1, 2, 0, 4 ]"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nwatch-for=['blurred']\n",
       "W:4: watch-for must be a list of defocused, covered, dark, overexposed, frozen, moved, flickering, noisy, not "
       "[ "
       "'blurred' ]"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\ntransport='carrier pigeon'\n",
       "W:4: transport must be auto, tcp or udp, not 'carrier pigeon'"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nrealtime='yes'\n", "W:4: realtime must be true or false, not 'yes'"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\ndevice=1979-05-27\n",
       "W:4: device must be auto, cpu, cuda or opencl, not 1979-05-27"},
      {"[[camera]]\nname=7\nurl='rtsp://a'\n", "W:2: name must be a non-empty text, not 7"},
      {"[[camera]]\nname='a'\nurl=''\n", "W:3: url must be a non-empty text, not ''"},
      {"[[camera]]\nname=\"a\\tb\"\nurl='rtsp://a'\n",
       "W:1: name must have 1 to 100 characters, without control characters"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\npipeline='videotestsrc'\n",
       "W:1: url and pipeline exclude each other: give one of them"},
      {"[[camera]]\nname='a'\nurl='rtsp://'\n", "W:3: url: the URL has no host name"},
      {"[[camera]]\nname='a'\nurl='rtsp://a:rt/1'\n",
       "W:3: url: no port from 1 to 65535 follows a colon in the URL: write / ? # @ : in a user name or a "
       "password as %2F %3F %23 %40 %3A, and an IPv6 address in [ ]"},
      {"[[camera]]\nname='a'\nurl='rtsp://[::g]/1'\n",
       "W:3: url: the text in [ ] is not an IPv6 address, as in rtsp://[fd00::1]:554/stream"},
      {"[[camera]]\nname='a'\nurl='RTP://127.0.0.1:5004'\n",
       "W:3: url: rtp:// does not describe the stream: use the camera's rtsp:// URL, or a pipeline in the "
       "configuration, such as pipeline = 'udpsrc port=5004 "
       "caps=\"application/x-rtp,media=video,clock-rate=90000,encoding-name=H264\" ! rtph264depay ! avdec_h264'"},
      {"[[camera]]\nname='a'\nurl='rtsp:/u:hush@a/1'\n", "W:3: url: No such file or directory"},
      {"[[camera]]\nname='a'\nurl='rtsp://a b/1'\n", "W:3: url: the URL contains a space: write it as %20"},
      {"[[camera]]\nname='a'\nurl='gopher://a/1'\n", "W:3: url: no installed GStreamer element can read gopher://"},
      {"[[camera]]\nname='a'\nurl='nothing.mp4'\n", "W:3: url: No such file or directory"},
      {"[[camera]]\nname='a'\nurl='.'\n", "W:3: url: Is a directory"},
      {"[[camera]]\nname='a'\npipeline='nosuchelement'\n", "W:3: pipeline: no element \"nosuchelement\""},
      {"[[camera]]\npipeline='videotestsrc'\n", "W:1: name is missing: a camera with a pipeline needs one"},
      {"[[camera]]\nname='a'\nurl='rtsp://u:p@a'\nuser='v'\n",
       "W:1: user or password is given both in the URL and in a key"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\npassword-file='none'\n",
       "W:4: password-file: cannot read D/none: No such file or directory"},
      {"[[camera]]\nname='a'\nurl='rtsp://a'\nhold-time=-1\nroi=1\n",
       "W:4: hold-time must be a number of seconds from 0 to 1000000, not -1; W:5: roi must be [X, Y, WIDTH, HEIGHT] "
       "in pixels, not 1"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(rejected(text), expected) << text;
  const Settings twice = config("[[camera]]\nname='a'\nurl='rtsp://a'\n[[camera]]\nname='a'\nurl='rtsp://b'\n");
  ASSERT_EQ(twice.rejected.size(), 1u);
  EXPECT_EQ(without_path(twice.rejected[0].reason), "W:4: duplicate camera name 'a' (first used on line 1)");
}

TEST_F(WatchConfig, ValuesThatAreShownShortenedShowNoPassword) {
  const Settings s = config(
      "[[camera]]\nname='a'\nurl=['rtsp://admin:SuperSecretPw1@192.168.1.100:554/Streaming/Channels/101']\n"
      "[[camera]]\nname='b'\nurl='rtsp://b'\n");
  ASSERT_EQ(s.rejected.size(), 1u);
  EXPECT_EQ(s.rejected[0].reason.find("Secret"), std::string::npos) << s.rejected[0].reason;
}

TEST_F(WatchConfig, BytesOfAnyKindEndInAnErrorOrCameras) {
  // Whatever is cut off or damaged.
  const std::string text =
      "listen='none'\n[defaults]\nhold-time=1\n[[camera]]\nname='a'\nurl='rtsp://u:p@a/1'\nroi=[1,2,3,4]\n";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char byte : {'\0', '\xff', '"', '[', '=', '\n'}) {
      std::string damaged = text;
      damaged[i] = byte;
      EXPECT_NO_FATAL_FAILURE(refused(damaged));
    }
    EXPECT_NO_FATAL_FAILURE(refused(text.substr(0, i)));
  }
}

TEST_F(WatchConfig, CommandLineTakesNamesAndUrls) {
  const std::string clip = folder_ + "/clip.mp4";
  const Settings s = options({"rtsp://u:p%40ss@h:554/a/b?c=d", "gate=rtsp://h/1?x=y", clip, clip, "x=" + clip});
  ASSERT_EQ(s.cameras.size(), 5u);
  EXPECT_EQ(s.cameras[0].name, "h:554/a/b");
  EXPECT_EQ(s.cameras[0].uri, "rtsp://h:554/a/b?c=d");
  EXPECT_EQ(s.cameras[0].password, "p@ss");
  EXPECT_EQ(s.cameras[0].source, "rtsp://u:***@h:554/a/b?c=d");
  EXPECT_EQ(s.cameras[1].name, "gate");
  EXPECT_EQ(s.cameras[1].uri, "rtsp://h/1?x=y");
  EXPECT_EQ(s.cameras[2].name, "clip");
  EXPECT_EQ(s.cameras[3].name, "clip~2");
  EXPECT_EQ(s.cameras[4].name, "x");
  EXPECT_EQ(options({"rtsp://u:p@ss@h/1"}).cameras[0].password, "p@ss");
  EXPECT_EQ(options({"rtsp://[::1]:5/1"}).cameras[0].uri, "rtsp://[::1]:5/1");
}

TEST_F(WatchConfig, LegalUrlsAreTakenAsTheyAre) {
  const std::pair<const char*, const char*> cases[] = {
      {"rtsp://cam:554/ch@1", "rtsp://cam:554/ch@1"},
      {"http://cam/snap@2x.jpg", "http://cam/snap@2x.jpg"},
      {"http://cam?a@b", "http://cam?a@b"},
      {"rtsp://[::1]/1", "rtsp://[::1]/1"},
      {"rtsp://[::1]:554/1", "rtsp://[::1]:554/1"},
      {"rtsp://u:p@[fd00::7]:554/1@2", "rtsp://[fd00::7]:554/1@2"},
      {"rtsp://cam:/1", "rtsp://cam/1"},
      {"RTSP://u:p@cam/1", "rtsp://cam/1"},
      {"rtsp://u:p:q@cam/1", "rtsp://cam/1"},
      {"rtsp://admin:12/34@cam", "rtsp://admin:12/34@cam"},
      {"udp://239.1.1.1:5000", "udp://239.1.1.1:5000"},
      {"udp://:5000", "udp://:5000"},
  };
  for (const auto& [url, uri] : cases) {
    const Settings s = options({url});
    ASSERT_EQ(s.cameras.size(), 1u) << url;
    EXPECT_EQ(s.cameras[0].uri, uri);
    EXPECT_EQ(s.warnings.size(), split_url(uri)->has_late_at() ? 1u : 0u) << url;
  }
}

TEST_F(WatchConfig, NothingThatMayBeAPasswordIsKept) {
  // For all that is shown of a camera. The host may be a part of the password too.
  const char* urls[] = {"rtsp://admin:12/34@host", "rtsp://admin:2024#cam@host", "http://admin:123?abc@host/1",
                        "rtsp://admin:77@secret/x@host", "rtsp://admin:5@6/7@8@host:554"};
  for (const char* url : urls) {
    const Settings s = options({url, std::string("n=") + url, "rtsp://right/1"});
    ASSERT_EQ(s.cameras.size(), 3u) << url;
    EXPECT_EQ(s.cameras[0].name.substr(0, 4), "host") << url;
    for (const CameraSettings& camera : {s.cameras[0], s.cameras[1]}) {
      const std::string said = "cannot connect to " + camera.uri + ", " + camera.uri.substr(7) + ", " +
                               std::string(split_url(camera.uri)->server()) + ", " +
                               std::string(split_url(camera.uri)->tail);
      const std::string shown = camera.name + ' ' + s.secrets.hide(camera.source) + ' ' + s.secrets.hide(said);
      for (const char* part : {"12", "34", "2024", "cam@", "123", "abc", "77", "secret", "/x", "5@", "6/", "7@"})
        EXPECT_EQ(shown.find(part), std::string::npos) << shown;
    }
    ASSERT_EQ(s.warnings.size(), 2u);
    EXPECT_TRUE(s.warnings[1].starts_with("camera 'n': the @ after the first / ? or # of its URL is taken as part "))
        << s.warnings[1];
  }
  const Settings named = options({"x rtsp://u:hush@h=rtsp://a", "rtsp://b"});
  for (const CameraSettings& camera : named.cameras) EXPECT_EQ(camera.name.find("hush"), std::string::npos);
}

TEST_F(WatchConfig, CommandLineSaysWhatIsWrong) {
  const auto said = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      options(arguments);
      return "accepted";
    } catch (const UsageError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(said({}), "no cameras given");
  EXPECT_EQ(said({"--hold-time", "x", "rtsp://a"}),
            "--hold-time must be a number of seconds from 0 to 1000000, not 'x'");
  EXPECT_EQ(said({"--snapshots-most=1.5", "rtsp://a"}),
            "--snapshots-most must be a whole number from 1 to 1000000, not '1.5'");
  EXPECT_EQ(said({"--device=tpu", "rtsp://a"}),
            "--device must be auto, cpu, cuda or opencl, not 'tpu'; did you mean 'cpu'?");
  EXPECT_EQ(said({"--allow-host=http://a", "rtsp://a"}),
            "--allow-host must be host names without a port, such as cameras.example.org, not "
            "'http://a'");
  for (const char* url : {"rtsp://u:hush/hush@h/1", "rtsp://u:hush", "rtsp://u:hu sh@h", "u:hush@h", "rtsp:/u:hush@h/1",
                          "rtsp://u:1/hush@h:x", "rtsp://u:99999/hush@h", "rtsp://:hush@", "rtp://u:hush@h:1",
                          "gopher://u:hush@h/1", "file://u:hush@h/1"})
    EXPECT_EQ(said({url}).find("hush"), std::string::npos) << said({url});
  EXPECT_EQ(said({"/no/such/file"}), "/no/such/file: No such file or directory");
}

TEST_F(WatchConfig, NamesOfFilesAreHarmlessAndDiffer) {
  EXPECT_EQ(file_name_of("gate_2-b"), "gate_2-b");
  for (const char* name : {"../../etc/passwd", "a/b", "a b", ".hidden", "-rf", "", "\u00e4", "a\nb", "$(x)"}) {
    const std::string file = file_name_of(name);
    EXPECT_EQ(file.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~"),
              std::string::npos);
    EXPECT_TRUE(!file.empty() && file.front() != '-' && file.size() < 100) << file;
  }
  EXPECT_NE(file_name_of("a/b"), file_name_of("a b"));
  EXPECT_NE(file_name_of(std::string(200, 'a')), file_name_of(std::string(201, 'a')));
}

TEST(WatchKeys, AreUniqueAndExplained) {
  Settings program;
  CameraSettings camera;
  AddressSettings address;
  std::set<std::string> names;
  for (const Key& key : joined(program_keys(program), joined(camera_keys(camera), address_keys(address)))) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    EXPECT_EQ(key.is_option() && key.setter.kind != Kind::kFlag, !key.value.empty()) << key.name;
  }
  const std::string help = help_of_file_keys(camera_keys(camera));
  EXPECT_NE(help.find("  min-ratio: "), std::string::npos);
  EXPECT_EQ(help.find("  hold-time: "), std::string::npos);
}

}  // namespace
}  // namespace framequality::apps::watch
