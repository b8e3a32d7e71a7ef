# SPDX-License-Identifier: LGPL-2.1-or-later
"""Code shared by the tests of the Python package. They run with PYTHONPATH set to the built package."""
import os
import sys
import unittest

SKIPPED = 77
sys.dont_write_bytecode = True


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def need(module, package):
    """A module that a test needs, or the end of the test."""
    try:
        return __import__(module)
    except ImportError:
        skip(f"{package} is not installed")


def main():
    """Runs the tests of the calling script; all skipped is skipped."""
    program = unittest.main(module="__main__", exit=False, verbosity=1)
    result = program.result
    if result.testsRun and len(result.skipped) == result.testsRun:
        skip("; ".join(sorted({why for _, why in result.skipped})))
    sys.stdout.flush()
    sys.exit(0 if result.wasSuccessful() else 1)


class Failing:
    """An assertion that an error is raised whose text has all the parts."""

    def fails(self, error, parts, function, *args, **keywords):
        parts = [parts] if isinstance(parts, str) else parts
        with self.assertRaises(error) as caught:
            function(*args, **keywords)
        text = str(caught.exception)
        for part in parts:
            self.assertIn(part, text)
        self.assertIs(type(caught.exception), error, text)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
