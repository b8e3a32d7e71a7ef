#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the score of every frame from the GstSharpnessMeta that sharpnessmeter attaches to the buffer.

The metadata travels with the pixels: no messages to match by time.
"""
import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # GstApp gives the appsink its methods

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--source", default="videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=320,height=240",
                    help="measure this source, in gst-launch-1.0 syntax (default: %(default)s)")
parser.add_argument("--metric", default="tenengrad")
arguments = parser.parse_args()

Gst.init(None)
pipeline = Gst.parse_launch(
    f"{arguments.source} ! sharpnessmeter metric={arguments.metric} post-messages=false ! appsink name=sink sync=false"
)
sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
pipeline.set_state(Gst.State.PLAYING)
failed = False
while not failed and not sink.is_eos():
    # Pulling without a limit would wait forever after an error, because errors arrive on the bus.
    sample = sink.try_pull_sample(Gst.SECOND // 10)
    error = bus.pop_filtered(Gst.MessageType.ERROR)
    if error is not None:
        print(f"{error.src.get_name()}: {error.parse_error()[0].message}", file=sys.stderr)
        failed = True
    elif sample is not None:
        buffer = sample.get_buffer()
        meta = buffer.get_custom_meta("GstSharpnessMeta")
        if meta is not None:  # `interval` leaves frames unmeasured
            fields = meta.get_structure()
            print(fields["frame"], buffer.pts, fields["metric"], fields["score"])
pipeline.set_state(Gst.State.NULL)
sys.exit(failed)
