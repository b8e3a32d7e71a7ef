#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The last word on optimization of each kernel is -O3, whatever flags the environment (a distribution's -O2) brings.

usage: kernel_flags_test.py BUILD_ROOT
"""
import json
import pathlib
import re
import sys

seen = failed = 0
for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text()):
    name = entry.get("output", entry["file"])
    if not re.search(r"libcpu-\w+\.a\.p/\w*kernels", name):
        continue
    seen += 1
    levels = re.findall(r" (-O\w*)", entry["command"])
    if not levels or levels[-1] != "-O3":
        failed += 1
        print("FAILED", name, levels)
print(f"{seen} kernels")
sys.exit(failed > 0 or seen == 0)
