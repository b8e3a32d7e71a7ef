#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Test that installed files are built so that faults are harder to use: tables of functions that are bound before
anything runs and then read-only, no memory that is both written and executed, stacks and copies that are checked,
programs at random addresses.

usage: hardening_test.py fortified|plain FILE...
"""
import re
import shutil
import subprocess
import sys
import unittest

FORTIFIED = sys.argv.pop(1) == "fortified"
FILES = sys.argv[1:]
del sys.argv[1:]


def readelf(option, file):
    return subprocess.run(["readelf", "--wide", option, file], capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def each(self):
        for file in FILES:
            with self.subTest(file=file):
                yield file

    def test_functions_are_bound_at_the_start_and_then_read_only(self):
        for file in self.each():
            self.assertRegex(readelf("--segments", file), r"GNU_RELRO")
            self.assertRegex(readelf("--dynamic", file), r"\((FLAGS|FLAGS_1)\).*NOW|BIND_NOW")

    def test_nothing_is_both_written_and_executed(self):
        for file in self.each():
            segments = readelf("--segments", file)
            self.assertRegex(segments, r"GNU_STACK .* RW +0x")
            self.assertNotRegex(segments, r"(LOAD|GNU_STACK) .* RWE ")
            self.assertNotIn("TEXTREL", readelf("--dynamic", file))

    def test_addresses_are_random(self):
        for file in self.each():
            self.assertRegex(readelf("--file-header", file), r"Type: +DYN")
            if ".so" not in file.rsplit("/", 1)[-1]:
                self.assertRegex(readelf("--dynamic", file), r"\(FLAGS_1\).*PIE")

    def test_nobody_says_where_libraries_are(self):
        for file in self.each():
            self.assertNotRegex(readelf("--dynamic", file), r"\((RPATH|RUNPATH)\)")

    def test_stacks_are_checked(self):
        for file in self.each():
            self.assertIn("__stack_chk_fail", readelf("--dyn-syms", file))

    @unittest.skipUnless(FORTIFIED, "built without optimization")
    def test_copies_are_checked(self):
        checked = set()
        for file in FILES:
            checked |= set(re.findall(r"\bUND (__\w+_chk)@", readelf("--dyn-syms", file)))
        self.assertTrue(checked - {"__stack_chk_fail"}, checked)


if __name__ == "__main__":
    if not shutil.which("readelf"):
        print("SKIPPED: needs readelf (binutils)")
        sys.exit(77)
    unittest.main()
