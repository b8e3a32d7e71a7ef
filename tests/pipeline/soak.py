#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Memory stays constant over many frames: growth of the resident size in the second half (allocators settle late), with
messages, zones and metadata on. What grows with the frames grows in each tenth of them; a single step is an allocator's. By hand: GST_PLUGIN_PATH=build/gst tests/pipeline/soak.py --frames 100000"""
import argparse
import pathlib
import statistics
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # GstApp gives the appsink its methods

from harness import LIMIT

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--frames", type=int, default=10000)
parser.add_argument("--bound", type=float, default=2.0, metavar="MIB",
                    help="growth in half of the frames that fails (default: %(default)s; a leak of 420 bytes a frame shows in 10000)")
parser.add_argument("--meter", default="zone-columns=4 zone-rows=4", metavar="PROPERTIES")
parser.add_argument("--caps", default="video/x-raw,format=NV12,width=320,height=240")
arguments = parser.parse_args()


def resident_mib():
    pages = pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096 / 2**20


Gst.init(None)
# The appsink holds the stream back while this reads, so that no backlog of messages looks like a leak.
pipeline = Gst.parse_launch(f"videotestsrc pattern=ball num-buffers={arguments.frames} ! {arguments.caps}"
                            f" ! sharpnessmeter {arguments.meter} ! queue ! appsink name=sink sync=false max-buffers=4")
sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
pipeline.set_state(Gst.State.PLAYING)
tenth, frames, scores, sizes, problem = max(arguments.frames // 10, 1), 0, 0, [], None
while problem is None and not sink.is_eos():
    sample = sink.try_pull_sample(LIMIT * Gst.SECOND)
    if sample is not None:
        frames += 1
        if sample.get_buffer().get_custom_meta("GstSharpnessMeta") is None:
            problem = f"frame {frames} has no metadata"
        if frames % tenth == 0:
            sizes.append(resident_mib())
            print(f"{frames:>9} frames {sizes[-1]:8.2f} MiB")
    elif not sink.is_eos():
        problem = "no frame for 30 s"
    while (message := bus.pop()) is not None:
        if message.type == Gst.MessageType.ERROR:
            problem = message.parse_error()[0].message
        elif message.type == Gst.MessageType.ELEMENT and message.get_structure().get_name() == "sharpnessmeter":
            scores += 1
pipeline.set_state(Gst.State.NULL)
if problem is None and not frames == scores == arguments.frames:
    problem = f"{arguments.frames} frames sent, {frames} came, {scores} scores posted"
half = sizes[len(sizes) // 2:]
grown = statistics.median(b - a for a, b in zip(sizes[-len(half) - 1:], half)) * len(half) if len(sizes) > 1 else 0.0
if problem is None and grown > arguments.bound:
    problem = f"grows by {grown:.2f} MiB in {len(half) * tenth} frames, more than {arguments.bound} MiB"
print(f"{sizes[0] if sizes else 0:.2f} MiB at first, {sizes[-1] if sizes else 0:.2f} MiB last: {problem or 'constant'}")
sys.exit(problem is not None)
