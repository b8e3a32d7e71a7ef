#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Test of who may include whom: a list of what is allowed for each floor and room; all else is a fault.

usage: layering_test.py SOURCE_ROOT [KERNEL_LIBRARY...]
Floors: gst and c -> engine -> device -> algorithms, cpu and cuda -> device, opencl -> cpu, whose results it proves itself by; rooms of gst -> rooms of cpu; host for all but
device and algorithms; leaves, headers of device that include nothing of ours, for all. On each floor are rooms, folders named by what they
are for, and ground: what lies at the floor's root or in its ground folders. A room may include its own files, ground,
and the rooms of the same name on lower floors; ground includes no room.
KERNEL_LIBRARY: static library compiled for one instruction set. It may define no weak function: the linker keeps one
copy of an inline function, and if that is the one made of AVX-512 an older machine dies in unrelated code. Weak
constants are the same everywhere.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Floor -> floors below whose ground it may include.
FLOORS = {
    "algorithms": [],
    "host": [],
    "device": ["algorithms"],
    "cpu": ["algorithms", "device", "host"],
    "cuda": ["algorithms", "device", "host"],
    "opencl": ["algorithms", "cpu", "device", "host"],
    "engine": ["algorithms", "device", "host"],
    "c": ["algorithms", "cpu", "device", "engine", "host"],
    "python": ["c"],
    "gst": ["algorithms", "device", "engine", "host"],
    "apps": ["algorithms", "host"],
}
# Words that all floors need, a frame's memory among them.
LEAVES = {"device/error.h", "device/memory.h"}
# Folders of a floor that are ground, each with those of them that it may include.
GROUNDS = {"algorithms": {"text": []}, "gst": {"object": [], "memory": ["object"], "buffer": ["memory", "object"], "base": ["buffer", "memory", "object"]}, "apps": {"common": []}}
# Room -> rooms that it may include on floors below, where they are named otherwise.
BELOW = {
    "engine/": ["bliinds", "halftone"],
    "c/": ["bliinds", "denoise", "focus", "halftone", "sharpness"],
    "gst/sharpnessmeter": ["sharpness"],
    "gst/bliindsmeter": ["bliinds"],
    "gst/camerawatch": ["watch"],
    "gst/focuscontroller": ["focus", "sharpness"],
    "gst/virtuallenssrc": ["focus"],
    "gst/sharpnessoverlay": ["overlay"],
    "apps/scan": ["sharpness"],
    "apps/train_halftone": ["halftone"],
}
# Libraries -> the floors that may include them.
LIBRARIES = {
    r"gst/|glib|gio/|gmodule": ["gst", "apps"],
    r"Python\.h": ["python"],
    r"pango|cairo": ["gst"],
    r"cuda_runtime|cuda\.h|cub/|cuda_fp16": ["cuda"],
    r"CL/": ["opencl"],
}
# For applications to include, not for us.
PUBLIC = {"c/framequality/meta.h"}
# Tables of all rooms, which is what they are for.
TABLES = {"cpu/backend.cpp", "cuda/backend.cpp", "cuda/no_cuda.cpp", "opencl/backend.cpp", "opencl/no_opencl.cpp",
          "opencl/print_kernel.cpp", "opencl/self_test.cpp"}
# What all element tests include, and what all elements do: a room in it would have every edit there recompile them all.
WITHOUT_ROOMS = ["tests/gst/rig.h", "device/backend.h"]
# Called with memory that is not pinned they may read what is there later: runtime.h's copy_async() takes no other, and
# upload and download ask what they have. denoise/filter.cpp copies on the device.
ASYNCHRONOUS_COPIES = {"cuda/runtime.h", "cuda/upload.cpp", "cuda/download.cpp", "cuda/denoise/filter.cpp"}
# The maths of all metrics, which no header may bring to others: an edit of one metric would recompile them.
MATHS = "algorithms/sharpness/metrics/all.h"
SOURCES = (".h", ".cpp", ".cu", ".cuh", ".in")


def place(path):
    """Floor and room of a file or an include: room is a folder's name, "" for the floor's root."""
    parts = path.split("/")
    return parts[0], parts[1] if len(parts) > 2 else ""


def is_ground(floor, room):
    return room == "" or room in GROUNDS.get(floor, {})


def allowed(name, included):
    """True if the file may include that one; both are paths below the root."""
    if name in LEAVES or included in LEAVES:
        return name not in LEAVES
    (floor, room), (to_floor, to_room) = place(name), place(included)
    if floor == to_floor:
        if room == to_room or name in TABLES:
            return True
        if is_ground(floor, room):
            return to_room in GROUNDS.get(floor, {}).get(room, [])
        return is_ground(floor, to_room)
    if name in TABLES:
        return to_floor in FLOORS[floor] or (floor == "gst" and to_floor == "cpu")
    below = BELOW.get(f"{floor}/{room}", [room])
    if to_room and to_room in below and to_room != "":
        return to_floor in FLOORS[floor] or (floor == "gst" and to_floor == "cpu")
    return to_floor in FLOORS[floor] and is_ground(to_floor, to_room)


def faults_of(root):
    faults, files = [], 0
    for floor in FLOORS:
        for path in sorted((root / floor).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or name in PUBLIC:
                continue
            files += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if floor == "cuda" and name not in ASYNCHRONOUS_COPIES and re.search(r"\bcudaMemcpy\w*Async\(", line):
                    faults.append(f"{name}:{number}: {line.strip()}")
                found = re.match(r'\s*#\s*include\s*([<"])([^">]+)', line)
                if not found:
                    continue
                if found[1] == '"':
                    good = allowed(name, found[2]) and not (found[2] == MATHS and path.suffix in (".h", ".cuh"))
                else:
                    good = all(floor in floors for pattern, floors in LIBRARIES.items() if re.match(pattern, found[2]))
                if not good:
                    faults.append(f"{name}:{number}: {line.strip()}")
    return faults, files


def rooms_in(root, name):
    """Includes of a room, of any floor, that this file has, directly or through others."""
    rooms, seen, waiting = [], set(), [(name, name)]
    while waiting:
        file, way = waiting.pop()
        if file in seen or not (root / file).is_file():
            continue
        seen.add(file)
        for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', (root / file).read_text(), re.MULTILINE):
            floor, room = place(included)
            if floor in FLOORS and not is_ground(floor, room):
                rooms.append(f"{name}: {way} -> {included}")
            waiting.append((included, f"{way} -> {included}"))
    return sorted(rooms)


def does_not_bite():
    """Includes that must be faults and are not, tried on a tree made of them."""
    bad = {
        "apps/common/a.h": "apps/scan/table.h",
        "apps/scan/a.cpp": "gst/buffer/frame.h",
        "apps/watch/a.cpp": "apps/scan/table.h",
        "apps/bliinds/a.cpp": "cpu/sharpness/meter.h",
        "cpu/workers.cpp": "apps/scan/table.h",
        "cpu/sharpness/a.cpp": "cuda/sharpness/meter.h",
        "algorithms/sharpness/a.h": "apps/scan/table.h",
        "algorithms/sharpness/c.h": MATHS,
        "algorithms/layout.h": "algorithms/sharpness/plan.h",
        "algorithms/sharpness/b.h": "algorithms/bliinds/meter.h",
        "algorithms/a.h": "host/cores.h",
        "cpu/simd.h": "cpu/sharpness/kernels.h",
        "cpu/denoise/a.cpp": "cpu/halftone/kernels.h",
        "cuda/runtime.h": "cuda/sharpness/job.h",
        "cuda/denoise/a.cu": "algorithms/halftone/filter.h",
        "gst/object/a.h": "gst/buffer/frame.h",
        "gst/buffer/a.h": "gst/base/stream.h",
        "gst/memory/a.h": "gst/buffer/frame.h",
        "gst/base/a.h": "gst/sharpnessgate/stream.h",
        "gst/base/b.h": "algorithms/denoise/filter.h",
        "gst/sharpnessgate/a.h": "gst/sharpnessmeter/detections.h",
        "gst/sharpnessmeter/a.h": "tests/gst/rig.h",
        "host/cores.cpp": "algorithms/layout.h",
        "device/memory.h": "device/error.h",
        "device/a.h": "algorithms/sharpness/plan.h",
        "device/b.h": "cpu/workers.h",
        "device/c.h": "engine/session.h",
        "engine/a.h": "gst/object/owned.h",
        "engine/b.h": "cuda/device.h",
        "engine/c.h": "algorithms/sharpness/plan.h",
        "gst/base/c.h": "cuda/device.h",
        "cpu/a.cpp": "engine/session.h",
        "algorithms/b.h": "device/backend.h",
    }
    libraries = {"algorithms/c.h": "glib.h", "cpu/c.cpp": "gst/gst.h", "gst/c.cpp": "cuda_runtime.h"}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, included in [*((n, f'"{i}"') for n, i in bad.items()), *((n, f"<{i}>") for n, i in libraries.items())]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"#include {included}\n")
        caught = {fault.split(":")[0] for fault in faults_of(root)[0]}
    return sorted({*bad, *libraries} - caught)


def weak_functions(libraries):
    nm = shutil.which("nm")
    if libraries and not nm:
        print("weak functions not looked for: nm is not installed")
    for library in libraries if nm else []:
        names = subprocess.run([nm, "-C", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        for line in names.splitlines():
            found = re.match(r"[0-9a-f]+ ([Wwi]) (.*)", line)
            if found:
                yield f"{pathlib.Path(library).name}: weak function {found[2]}"


def main():
    root = pathlib.Path(sys.argv[1])
    faults, files = faults_of(root)
    if files == 0:
        faults.append(f"no sources under {root}")
    for name in WITHOUT_ROOMS:
        faults += rooms_in(root, name)
    faults += weak_functions(sys.argv[2:])
    faults += [f"{name}: would not be caught" for name in does_not_bite()]
    print(f"{files} files and {len(sys.argv) - 2} libraries looked at")
    for fault in faults:
        print("FAILED", fault)
    return len(faults) > 0


sys.exit(main())
