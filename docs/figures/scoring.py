# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores images through sharpnessmeter, many settings at once: meters in a row that all read the same frame."""
import sys

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # GstApp gives appsrc its methods

Gst.init(None)


def metrics():
    """Nicks of the element's metrics, the default first."""
    meter = Gst.ElementFactory.make("sharpnessmeter")
    if meter is None:
        sys.exit("GStreamer finds no element 'sharpnessmeter': set GST_PLUGIN_PATH to the folder of libgstframequality.so")
    kind, default = type(meter.get_property("metric")), meter.find_property("metric").default_value
    values = kind.__enum_values__.values() if hasattr(kind, "__enum_values__") else kind  # else PyGObject 3.52
    return tuple(value.value_nick for value in sorted(values, key=lambda v: (int(v) != int(default), int(v))))


METRICS = metrics()


def run(source, settings=(), feed=None, field="score"):
    """The scores, or another field of the message, settings x frames, of what `source` (as gst-launch-1.0 takes it) delivers. Without settings it just
    runs to its end."""
    meters = "".join(f" ! sharpnessmeter name=m{i} {text}" for i, text in enumerate(settings))
    pipeline = Gst.parse_launch(f"{source}{meters} ! fakesink" if settings else source)
    scores = [[] for _ in settings]
    pipeline.set_state(Gst.State.PLAYING)
    if feed is not None:
        feed(pipeline.get_by_name("in"))
    bus = pipeline.get_bus()
    while True:
        message = bus.timed_pop_filtered(
            Gst.CLOCK_TIME_NONE, Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        if message.type == Gst.MessageType.EOS:
            break
        if message.get_structure().get_name() == "sharpnessmeter":
            scores[int(message.src.get_name()[1:])].append(message.get_structure()[field])
    pipeline.set_state(Gst.State.NULL)
    return numpy.array(scores)


def run_gray(pictures, settings, caps="", field="score"):
    """The same for a list of 8-bit gray arrays of one size."""
    pictures = list(pictures)
    height, width = pictures[0].shape
    assert width % 4 == 0, "rows of GRAY8 are padded to 4 bytes"

    def feed(source):
        for picture in pictures:
            source.push_buffer(Gst.Buffer.new_wrapped(picture.tobytes()))
        source.end_of_stream()

    return run(f"appsrc name=in format=time max-bytes=0 caps=video/x-raw,format=GRAY8,width={width},height={height},"
               f"framerate=30/1{caps}", settings, feed, field)


def table(*rows):
    """Prints rows of cells as Markdown, the first one the head."""
    print("| " + " | ".join(str(cell) for cell in rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows[1:]:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()
