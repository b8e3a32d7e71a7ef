#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Saves the sharpest frame of a stream: a pad probe reads the GstSharpnessMeta of each buffer.

Use a probe to see every frame in the streaming thread, anywhere downstream of the meter: here after a scaler.
"""
import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--source", default="videotestsrc pattern=ball num-buffers=90 ! video/x-raw,format=I420,width=640,height=480",
                    help="measure this source, in gst-launch-1.0 syntax (default: %(default)s)")
parser.add_argument("--output", default="sharpest.pgm", help="write the sharpest frame to this file (default: %(default)s)")
arguments = parser.parse_args()


class Sharpest:
    """The best frame so far. Only the streaming thread writes it; the main thread reads it after that has ended."""
    score, pts, pixels, size = float("-inf"), 0, b"", (0, 0)


def on_buffer(pad, info, best):
    buffer = info.get_buffer()
    meta = buffer.get_custom_meta("GstSharpnessMeta")
    if meta is not None and meta.get_structure()["score"] > best.score:  # frames that `interval` skips have none
        caps = pad.get_current_caps()[0]  # get_structure(0) is a context manager in GStreamer 1.26
        best.score, best.pts = meta.get_structure()["score"], buffer.pts
        # Copied: the buffer goes back to its pool when the probe returns.
        best.pixels, best.size = buffer.extract_dup(0, buffer.get_size()), (caps["width"], caps["height"])
    return Gst.PadProbeReturn.OK


Gst.init(None)
pipeline = Gst.parse_launch(
    f"{arguments.source} ! sharpnessmeter post-messages=false ! videoconvertscale ! "
    "video/x-raw,format=GRAY8,width=320,height=240 ! fakesink name=sink")
best = Sharpest()
pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_buffer, best)
pipeline.set_state(Gst.State.PLAYING)
bus, message = pipeline.get_bus(), None
try:
    while message is None:  # waiting without a limit would block Ctrl-C, which ends a live source
        message = bus.timed_pop_filtered(Gst.SECOND // 10, Gst.MessageType.EOS | Gst.MessageType.ERROR)
except KeyboardInterrupt:
    pass
pipeline.set_state(Gst.State.NULL)
if message is not None and message.type == Gst.MessageType.ERROR:
    sys.exit(f"{message.src.get_name()}: {message.parse_error()[0].message}")
if not best.pixels:
    sys.exit("no frame had a score")
with open(arguments.output, "wb") as picture:
    picture.write(b"P5 %d %d 255\n" % best.size + best.pixels)
print(f"{best.score} at {best.pts / Gst.SECOND:.3f} s, in {arguments.output}")
