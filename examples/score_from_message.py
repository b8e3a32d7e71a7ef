#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the score of every frame from the messages that sharpnessmeter posts on the bus.

Use messages if you need only the scores: the pipeline needs nothing but the meter.
"""
import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--source", default="videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=320,height=240",
                    help="measure this source, in gst-launch-1.0 syntax (default: %(default)s)")
parser.add_argument("--metric", default="tenengrad")
arguments = parser.parse_args()

Gst.init(None)
pipeline = Gst.parse_launch(f"{arguments.source} ! sharpnessmeter metric={arguments.metric} ! fakesink")
pipeline.set_state(Gst.State.PLAYING)
bus = pipeline.get_bus()
wanted = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR
failed = False
while True:
    message = bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, wanted)
    if message.type == Gst.MessageType.ELEMENT:
        fields = message.get_structure()
        if fields.get_name() == "sharpnessmeter":
            # Times are in nanoseconds; the score's unit is the metric's (tenengrad: squared 8-bit grey levels).
            print(fields["frame"], fields["timestamp"], fields["metric"], fields["score"])
    elif message.type == Gst.MessageType.ERROR:
        error, debug = message.parse_error()
        print(f"{message.src.get_name()}: {error.message}\n{debug}", file=sys.stderr)
        failed = True
        break
    else:
        break
pipeline.set_state(Gst.State.NULL)
sys.exit(failed)
