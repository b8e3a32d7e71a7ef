#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The runner of the tests, on a small project: what names select, compile and run, the progress line, the closing
table, and what is left of tests' files and processes.

usage: run_tests_test.py SOURCE_ROOT
"""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
LIMIT = 120  # s, for one run
sys.path.insert(0, str(ROOT / "scripts"))
import run_tests  # pylint: disable=import-error,wrong-import-position

# Stands in for GoogleTest: knows the filter and the shard that it was given, and writes its results as GoogleTest does.
PROGRAM = r"""
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#define TEST(suite, name) void suite##name()
#define TEST_F TEST
#define TEST_P TEST
#define TYPED_TEST TEST
TEST(Gate, Opens) {}
  TEST_F(Gate, ClosesInTime) {}
TEST(GateWindow, Slides) {}
TEST_P(Every, Format) {}
TYPED_TEST(Lane, Adds) {}
TEST(Sweep, Low) {}
int main(int argc, char** argv) {
  std::string filter = "*";
  for (int i = 1; i < argc; ++i)
    if (!std::strncmp(argv[i], "--gtest_filter=", 15)) filter = argv[i] + 15;
  const char* shard = std::getenv("GTEST_SHARD_INDEX");
  std::ofstream(std::getenv("RECORD"), std::ios::app) << argv[0] << ' ' << filter << ' ' << (shard ? shard : "whole") << '\n';
  std::ofstream(std::getenv("GTEST_OUTPUT") + 4) <<
      "<testsuites><testsuite><testcase name=\"Opens\" status=\"run\" result=\"completed\" classname=\"Gate\"/>"
      "<testcase name=\"Format/1\" status=\"run\" result=\"completed\" classname=\"All/Every\">"
      "<failure message=\"x\">expected 1, got 2</failure></testcase>"
      "<testcase name=\"Skips\" status=\"run\" result=\"skipped\" classname=\"Gate\">"
      "<skipped message=\"/a/gate_test.cpp:7&#x0A;no usable GPU&#x0A;\"/></testcase></testsuite></testsuites>";
  return 1;
}
"""
MESON = """
project('small', 'cpp')
program = executable('program', 'gate_test.cpp')
broken = executable('broken', 'broken_test.cpp', build_by_default: false)
foreach shard : ['0', '1']
  test('elements-' + shard, program, env: {'GTEST_TOTAL_SHARDS': '2', 'GTEST_SHARD_INDEX': shard}, suite: 'element')
endforeach
test('sweep', program, args: '--gtest_filter=*Sweep*', suite: 'parity')
test('broken', broken, suite: 'parity')
sh = find_program('sh')
foreach name, script : {
  'passes': 'exit 0',
  'passes-too': 'exit 0',
  'skips': 'echo "SKIPPED: no camera"; exit 77',
  'skips-too': 'echo "SKIPPED: no camera"; exit 77',
  'fails': 'echo said before; exit 3',
  'writes-caches': 'touch "$XDG_CACHE_HOME/registry" "$XDG_CONFIG_HOME/settings"',
  'litters': 'mkdir -p "$TMPDIR/a folder"; chmod 0 "$TMPDIR/a folder"; echo > "$TMPDIR/crumb"',
  'spawns': 'setsid sleep 987 >/dev/null 2>&1 &',
  'spawns-and-fails': 'echo > "$TMPDIR/crumb"; setsid sleep 987 >/dev/null 2>&1 & exit 1',
  'waits': 'setsid sleep 987 & echo > "$TMPDIR/crumb"; echo $$ > "$RECORD"; exec sleep 987',
}
  test(name, sh, args: ['-c', script], suite: 'unit', priority: name == 'fails' ? 9 : 0)
endforeach
"""


class Names(unittest.TestCase):
    def test_as_each_meson_writes_them(self):
        for written in ("elements-0", "element / elements-0", "small:element / elements-0", "small:element+slow / elements-0",
                        "small - small:elements-0", "element+slow - small:elements-0"):
            self.assertEqual(run_tests.name_of(written), "elements-0")


class Small(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name) / "a tree"
        cls.build, cls.temporary, cls.record = cls.folder / "build", cls.folder / "tmp", cls.folder / "record"
        cls.temporary.mkdir(parents=True)
        (cls.folder / "meson.build").write_text(MESON)
        (cls.folder / "gate_test.cpp").write_text(PROGRAM)
        (cls.folder / "broken_test.cpp").write_text("#error is not to be compiled\nTEST(Broken, Case) {}\n")
        subprocess.run(["meson", "setup", "-Doptimization=0", str(cls.build), str(cls.folder)], check=True,
                       capture_output=True, timeout=LIMIT, env={**os.environ, "CXX": "c++"})

    def setUp(self):
        self.record.unlink(missing_ok=True)
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), "RECORD": str(self.record), "TERM": "xterm"}
        for name in ("GTEST_FILTER", "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", "TEST_PRELOAD"):
            self.environment.pop(name, None)
        self.command = ["/usr/bin/python3", str(ROOT / "scripts" / "run_tests.py"), str(self.build)]

    def tearDown(self):
        self.assertEqual(list(self.temporary.iterdir()), [], "the runner left something in its TMPDIR")
        self.assertEqual(self.sleepers(), [], "a process is left")

    @classmethod
    def sleepers(cls):
        """The processes that the small project's tests started."""
        return [pid for pid in os.listdir("/proc") if pid.isdigit() and cls.is_ours(pid)]

    @classmethod
    def is_ours(cls, pid):
        try:
            return (pathlib.Path("/proc", pid, "cmdline").read_bytes().startswith(b"sleep\x00987") and
                    str(cls.temporary).encode() in pathlib.Path("/proc", pid, "environ").read_bytes())
        except OSError:
            return False

    def run_tests(self, *arguments, status=0):
        done = subprocess.run([*self.command, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False,
                              env=self.environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def ran(self):
        """What the program was told, a line for each time that it ran."""
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        return sorted(line.split("/program ")[-1] for line in lines)

    def last(self, text):
        return text.splitlines()[-1]


class Selects(Small):
    def test_a_whole_name_means_that_test_alone(self):
        self.assertEqual(self.last(self.run_tests("passes")[0]), "1 passed, 0 failed, 0 skipped")

    def test_part_of_a_name_and_a_pattern_mean_all_that_match(self):
        self.assertEqual(self.last(self.run_tests("PASS")[0]), "2 passed, 0 failed, 0 skipped")
        self.assertEqual(self.last(self.run_tests("skips*", "passes")[0]), "1 passed, 0 failed, 2 skipped")

    def test_cases_run_once_unsharded_in_one_program(self):
        for name, filters in (("Gate.Opens", ["Gate.Opens"]), ("Gate", ["Gate.Opens:Gate.ClosesInTime"]),
                              ("closes", ["Gate.ClosesInTime"]), ("GateW*", ["GateWindow.Slides"]),
                              ("Every.Format", ["*Every.Format/*"]), ("All/Every.Format/1", ["All/Every.Format/1"]),
                              ("Lane.Adds", ["Lane/*.Adds"]), ("Lane/0.Adds", ["Lane/0.Adds"])):
            self.record.unlink(missing_ok=True)
            self.run_tests(name, status=1)
            self.assertEqual(self.ran(), [f"{filter} whole" for filter in filters], name)

    def test_each_program_runs_the_cases_that_its_own_filter_admits(self):
        self.run_tests("--suite", "parity", "Sweep", status=1)
        self.assertEqual(self.ran(), ["Sweep.Low whole"])

    def test_a_test_named_whole_keeps_its_shard(self):
        self.run_tests("elements-1", status=1)
        self.assertEqual(self.ran(), ["* 1"])
        self.record.unlink()
        self.run_tests("elements-", "Gate.Opens", status=1)
        self.assertEqual(self.ran(), ["* 0", "* 1"])
        self.record.unlink()
        self.run_tests("elements-0", "Gate.Opens", status=1)
        self.assertEqual(self.ran(), ["* 0", "Gate.Opens whole"])

    def test_a_source_file_means_its_cases(self):
        self.run_tests("--suite", "element", str(self.folder / "gate_test.cpp"), status=1)
        self.assertEqual(len(self.ran()), 1)
        self.assertIn("Every.Format", self.ran()[0])

    def test_only_what_is_needed_is_compiled(self):
        said, _ = self.run_tests("Broken.Case", status=1)
        self.assertIn("is not to be compiled", said)
        self.run_tests("passes", "Gate.Opens", status=1)

    def test_an_unknown_name_runs_nothing_and_names_what_is_like_it(self):
        for arguments, words in ((("Gate.Open5",), "did you mean Gate.Opens"), (("pases",), "did you mean passes"),
                                 (("--suite", "units", "passes"), "known suites: element, parity, unit"),
                                 (("--suite", "parity", "passes"), "--suite unit would run it"),
                                 (("--suite", "parity", "Gate.Opens"), "--suite element would run it"), (("qqqqqqqqqqqq",), "--list")):
            said, problem = self.run_tests(*arguments, status=2)
            self.assertIn(words, problem)
            self.assertNotIn("passed", said)
        self.assertEqual(self.ran(), [])


class Reports(Small):
    def test_the_end_names_failures_with_the_command_that_repeats_them(self):
        said, _ = self.run_tests("--repeat", "scripts/test --build x", "fails", "skips*", "elements-0", status=1)
        self.assertIn("said before", said)
        for line in ("  repeat it: scripts/test --build x fails", "  repeat it: scripts/test --build x All/Every.Format/1",
                     "       2  no camera", "       1  no usable GPU"):
            self.assertIn(f"\n{line}\n", said)
        self.assertEqual(self.last(said), "1 passed, 2 failed, 3 skipped")
        self.assertLess(said.index("no camera"), said.index("repeat it"))

    def test_long_tests_start_first_and_the_next_run_knows_how_long_they_take(self):
        said, _ = self.run_tests("--progress-every", "0", "fails", "passes", "passes-too", status=1)
        self.assertRegex(said, r"Testing: 3/3 done, 1 failed")
        known = json.loads((self.build / "test-durations.json").read_text())
        self.assertIn("passes", known)
        self.assertNotIn("fails", known)
        self.environment["MESON_TESTTHREADS"] = "1"
        said, _ = self.run_tests("--progress-every", "0", "passes", "passes-too", "fails", status=1)
        self.assertRegex(said, r"FAIL fails after [\d.]+ s\nTesting: 1/3 done, 1 failed, about \d+ s left")

    def test_where_nobody_watches_a_line_comes_now_and_then(self):
        said, _ = self.run_tests("passes", "passes-too")
        self.assertNotIn("Testing:", said)
        self.assertNotIn("\r", said)

    def test_a_terminal_has_one_line_rewritten(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([*self.command, "passes", "fails"], stdout=theirs, stderr=theirs, env=self.environment)
        os.close(theirs)
        said = b""
        try:
            while data := os.read(ours, 65536):
                said += data
        except OSError:  # how a terminal ends
            pass
        os.close(ours)
        self.assertEqual(process.wait(LIMIT), 1)
        self.assertRegex(said, rb"\r\x1b\[KTesting: 2/2 done, 1 failed\r")

    def test_compiling_says_little_and_shows_errors(self):
        shutil.rmtree(self.build / "program.p", ignore_errors=True)
        said, _ = self.run_tests("Gate.Opens", status=1)
        self.assertRegex(said, r"\ACompiled 2 of 2 steps in \d+ s\n")
        said, _ = self.run_tests("broken", status=1)
        self.assertRegex(said, r"FAILED: (\[code=1\] )?broken.p/[^\n]*\n")
        self.assertNotIn("passed", said)


class Leaves(Small):
    def test_a_file_left_behind_is_a_failure(self):
        said, _ = self.run_tests("litters", "passes", status=1)
        self.assertRegex(said, r"LEFT BEHIND litters\n.*\n +file a folder\n +file crumb\n")
        self.assertEqual(self.last(said), "2 passed, 1 failed, 0 skipped")

    def test_caches_and_settings_stay_in_the_build_folder(self):
        self.run_tests("writes-caches")
        self.assertEqual(sorted(path.name for path in (self.build / "test-home").rglob("*") if path.is_file()), ["registry", "settings"])

    def test_a_process_left_behind_is_a_failure(self):
        said, _ = self.run_tests("spawns", "passes", status=1)
        self.assertRegex(said, r"LEFT BEHIND spawns\n.*\n +process \d+: sleep 987\n")
        self.assertEqual(self.last(said), "2 passed, 1 failed, 0 skipped")

    def test_what_a_failed_test_leaves_is_removed_and_counts_once(self):
        said, _ = self.run_tests("spawns-and-fails", status=1)
        self.assertEqual(self.last(said), "0 passed, 1 failed, 0 skipped")

    def test_signals_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.record.unlink(missing_ok=True)
            with subprocess.Popen([*self.command, "waits"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=self.environment) as process:
                deadline = time.monotonic() + LIMIT
                while not (self.record.exists() and self.record.read_text()) and time.monotonic() < deadline:
                    time.sleep(0.05)
                process.send_signal(number)
                said = process.communicate(timeout=LIMIT)[0].decode()
            self.assertEqual(process.returncode, -number, said)
            self.assertEqual(list(self.temporary.iterdir()), [], said)
            self.assertEqual(self.sleepers(), [], said)


unittest.main()
