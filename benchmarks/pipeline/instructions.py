#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions that sharpnessmeter costs the streaming thread for each 64x48 gray frame, by library.

Runs a pipeline with and without the meter under valgrind's callgrind, for two lengths, so that starting falls out, and
prints as JSON, for each set of options, what the meter adds to a frame: in the kernels that measure it, in the rest of
the plugin, in GStreamer, in GLib, and in everything else (the C library: locks and memory). Counts do not depend on what
else the machine does, but those with messages move by 3%: whoever reads the bus is now asleep and now awake.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from by_turns import conditions, launch, parser_of, use_build

LINE = ("videotestsrc pattern=black num-buffers={frames} ! video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1"
        " ! {meter} fakesink sync=false")
OPTIONS = {
    "message and meta": "",
    "message": "attach-meta=false",
    "meta": "post-messages=false",
    "neither": "post-messages=false attach-meta=false",
    "message and meta, 8x6 zones, statistics": "zone-columns=8 zone-rows=6 statistics=true",
}
# By what the name of the library and, after a space, that of the function begin with.
PARTS = (("kernels", re.compile(r"libgstframequality.* .*framequality::cpu::")), ("plugin", re.compile(r"libgstframequality")),
         ("GStreamer", re.compile(r"libgst")), ("GLib", re.compile(r"lib(glib|gobject)")), ("C library and others", re.compile("")))


def count(profile):
    """(object, function) -> instructions of its own, from a profile in callgrind's format."""
    names, counts, place, skip = {}, collections.Counter(), {"ob": "", "fn": ""}, False
    for line in profile.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(c?)(ob|fn)=(\(\d+\)) ?(.*)", line):
            called, key, number, name = match.groups()
            name = names.setdefault((key, number), name)
            if not called:
                place[key] = name
        elif line.startswith("calls="):
            skip = True  # what was called counts itself
        elif re.match(r"[0-9+*-]", line):
            if not skip:
                counts[place["ob"], place["fn"]] += int(line.split()[1]) if " " in line else 0
            skip = False
    return counts


def profile(meter, frames):
    """Instructions of the streaming thread, which is the busiest but for the one that starts the program (01)."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "profile"
        command = launch(LINE.replace("{meter}", meter), frames=frames)
        subprocess.run(["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}", *command],
                       check=True, stdout=subprocess.DEVNULL)
        threads = [count(file) for file in sorted(pathlib.Path(folder).glob("profile-*")) if not file.name.endswith("-01")]
    return max(threads, key=lambda counts: counts.total())


def per_frame(meter, frames):
    """(object, function) -> instructions for each frame."""
    once, twice = profile(meter, frames), profile(meter, 2 * frames)
    twice.subtract(once)
    return collections.Counter({place: instructions / frames for place, instructions in twice.items()})


def by_part(counts):
    parts = dict.fromkeys((name for name, _ in PARTS), 0)
    for (library, function), instructions in counts.items():
        place = f"{pathlib.Path(library).name} {function}"
        parts[next(name for name, pattern in PARTS if pattern.match(place))] += instructions
    return {name: round(instructions) for name, instructions in {**parts, "sum": sum(parts.values())}.items()}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--frames", type=int, default=500, help="of the shorter run (default: %(default)s)")
    parser.add_argument("--functions", type=int, default=0, help="also list this many of the functions that add most")
    arguments = parser.parse_args()
    use_build(arguments.build)
    result = {**conditions(arguments.commit), "unit": "instructions a frame"}
    bare = per_frame("", arguments.frames)
    result["without the meter"] = by_part(bare)
    for name, options in OPTIONS.items():
        added = per_frame(f"sharpnessmeter device=cpu {options} !", arguments.frames)
        added.subtract(bare)
        result[name] = by_part(added)
        if arguments.functions:
            result[name]["functions"] = {f"{pathlib.Path(library).name} {function}": round(instructions)
                                         for (library, function), instructions in added.most_common(arguments.functions)}
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
