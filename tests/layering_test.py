#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes point one way, gst -> cpu, cuda -> algorithms and host, and code built for one machine cannot leak into the rest.

usage: layering_test.py SOURCE_ROOT [KERNEL_LIBRARY...]
KERNEL_LIBRARY: static library compiled for one instruction set. It may define no weak function: the linker keeps one
copy of an inline function, and if that is the one made of AVX-512 an older machine dies in unrelated code. Weak
constants are the same everywhere.
"""
import pathlib
import re
import shutil
import subprocess
import sys

FORBIDDEN = {  # layer -> what it must not include
    "algorithms": r"gst/|glib|gio/|gmodule|host/|cpu/|cuda/|cuda_runtime|cub/|tests/",
    "host": r"gst/|glib|gio/|gmodule|cpu/|cuda/|cuda_runtime|cub/|algorithms/|tests/",
    "cpu": r"gst/|glib|gio/|gmodule|cuda/|cuda_runtime|cub/|tests/",
    "cuda": r"gst/|glib|gio/|gmodule|cpu/|tests/",
    "gst": r"cuda_runtime|cub/|apps/|tests/",
    "apps": r"gst/(?:[a-z_]+\.h)(?<!gst/gst\.h)\"|gst/[a-z]+/[a-z_]+\.h\"|cpu/|cuda/|cuda_runtime|cub/|tests/",
}
# Called with memory that is not pinned they may read what is there later: runtime.h's copy_async() takes no other, and
# upload and download ask what they have. denoise/filter.cpp copies on the device.
ASYNCHRONOUS_COPIES = {"cuda/runtime.h", "cuda/upload.cpp", "cuda/download.cpp", "cuda/denoise/filter.cpp"}

root = pathlib.Path(sys.argv[1])
faults, files = [], 0
for path in sorted((root / "cuda").rglob("*")):
    name = path.relative_to(root).as_posix()
    if path.suffix in (".h", ".cpp", ".cu", ".cuh") and name not in ASYNCHRONOUS_COPIES:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\bcudaMemcpy\w*Async\(", line):
                faults.append(f"{name}:{number}: {line.strip()}")
for layer, pattern in FORBIDDEN.items():
    for path in sorted((root / layer).rglob("*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".cuh", ".in"):
            continue
        files += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(rf'\s*#\s*include\s*[<"]({pattern})', line):
                faults.append(f"{path.relative_to(root)}:{number}: {line.strip()}")
if files == 0:
    faults.append(f"no sources under {root}")

nm = shutil.which("nm")
if sys.argv[2:] and not nm:
    print("weak functions not looked for: nm is not installed")
for library in sys.argv[2:] if nm else []:
    for line in subprocess.run([nm, "-C", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines():
        found = re.match(r"[0-9a-f]+ ([Wwi]) (.*)", line)
        if found:
            faults.append(f"{pathlib.Path(library).name}: weak function {found[2]}")

print(f"{files} files and {len(sys.argv) - 2} libraries looked at")
for fault in faults:
    print("FAILED", fault)
sys.exit(1 if faults else 0)
