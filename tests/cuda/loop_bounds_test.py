#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loop bounds in device code that are minima or maxima go through loop_bound(): cuda/loop_bound.cuh says why.

usage: loop_bounds_test.py SOURCE_ROOT
"""
import pathlib
import re
import sys

PLAIN = re.compile(r"\b(?:const )?(?:int|auto) (?:[^;=]*, )?(\w+) = (?:min|max)\(")
LOOP = r"for \([^;]*;[^;]*[<>]=? *(?:\w+ [-+] )?{}\b"


def faults_in(text):
    for name in PLAIN.findall(text):
        if re.search(LOOP.format(name), text):
            yield name
    yield from re.findall(r"for \([^;]*;[^;]*[<>]=? *((?:min|max)\([^;]*);", text)


root = pathlib.Path(sys.argv[1])
files = [path for path in (root / "cuda").rglob("*") if path.suffix in (".cu", ".cuh")]
faults = [f"{path.relative_to(root)}: {name}" for path in files for name in faults_in(path.read_text())]
if not list(faults_in("const int n = min(a, b);\nfor (int i = 0; i < n; ++i) {}")):
    faults.append("the pattern itself: would not be caught")
print(f"{len(files)} files")
for fault in faults:
    print("FAILED", fault)
sys.exit(len(faults) > 0 or not files)
