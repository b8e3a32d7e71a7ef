#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the choice of sources for clang-tidy since a commit, and of how far behind scripts/nightly says its table is.

usage: nightly_test.py SOURCE_ROOT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))


class Nightly(unittest.TestCase):
    def setUp(self):
        if not shutil.which("git"):
            self.skipTest("git is not installed")
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.tree = pathlib.Path(holder.name)
        (self.tree / "scripts").mkdir()
        (self.tree / "docs").mkdir()
        for name in ("changed.py", "nightly", "steps.sh"):
            shutil.copy(ROOT / "scripts" / name, self.tree / "scripts")
        self.git("init", "-q")
        self.write("gst/a.h", "int a;\n")
        self.write("gst/b.h", '#include "gst/a.h"\n')
        self.write("gst/b.cpp", '#include "gst/b.h"\n')
        self.write("gst/c.cpp", "int c;\n")
        self.first = self.commit()

    def git(self, *arguments):
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            env.pop(name, None)
        who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        return subprocess.run(["git", *who, *arguments], cwd=self.tree, env=env, capture_output=True, text=True,
                              check=True).stdout.strip()

    def write(self, name, text):
        (self.tree / name).parent.mkdir(exist_ok=True)
        (self.tree / name).write_text(text, encoding="utf-8")

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "--short=12", "HEAD")

    def chosen(self, commit):
        done = subprocess.run([sys.executable, "scripts/changed.py", commit], cwd=self.tree, capture_output=True,
                              text=True, input="gst/b.cpp\0gst/c.cpp\0", check=True)
        return [name for name in done.stdout.split("\0") if name]

    def nightly(self, *arguments):
        return subprocess.run(["scripts/nightly", *arguments], cwd=self.tree, capture_output=True, text=True, check=False)

    def test_nothing_changed(self):
        self.assertEqual(self.chosen(self.first), [])

    def test_a_header_reaches_what_includes_it_through_others(self):
        self.write("gst/a.h", "long a;\n")
        self.assertEqual(self.chosen(self.first), ["gst/b.cpp"])
        self.commit()
        self.assertEqual(self.chosen(self.first), ["gst/b.cpp"])

    def test_what_decides_for_all_chooses_all(self):
        self.write("gst/c.cpp", "long c;\n")
        self.assertEqual(self.chosen(self.first), ["gst/c.cpp"])
        self.write(".clang-tidy", "Checks: '*'\n")
        self.commit()
        self.assertEqual(self.chosen(self.first), ["gst/b.cpp", "gst/c.cpp"])

    def test_an_unknown_commit_chooses_all(self):
        self.assertEqual(self.chosen("0123456789ab"), ["gst/b.cpp", "gst/c.cpp"])
        self.assertEqual(self.chosen("none"), ["gst/b.cpp", "gst/c.cpp"])

    def test_behind(self):
        self.write("docs/nightly.md", f"Text.\n\n| step | commit |\n|---|---|\n| threads | {self.first} | d |\n"
                                      f"| sid | {self.first} | d |\n| trixie | 0123456789ab | d |\n")
        self.assertEqual(self.nightly("--commit", "sid").stdout.strip(), self.first)
        self.assertEqual(self.nightly("--commit", "fuzzers").stdout, "")
        self.commit()  # of documents alone
        self.assertIn("nightly: 0 commits of the product behind", self.nightly("--behind").stdout)
        for text in ("1", "2"):
            self.write("gst/c.cpp", text)
            self.commit()
        done = self.nightly("--behind")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nightly: 2 commits of the product behind (sid)", done.stdout)
        self.assertIn("does not have 0123456789ab, at which 'trixie' last ran", done.stdout)
        self.assertIn("nightly: never ran: clang-tidy fuzzers", done.stdout)

    def test_an_unknown_step_names_the_known(self):
        done = self.nightly("treads")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown step 'treads'; known steps: tests sanitizers threads", done.stderr)


unittest.main()
