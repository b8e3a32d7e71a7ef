#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots the scores of the last frames in the terminal while the pipeline runs, from the messages on the bus.

Turn the lens until the curve is at its highest. Without a terminal, prints one line per second instead.
"""
import argparse
import collections
import shutil
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst

HEIGHT = 10
EIGHTHS = " ▁▂▃▄▅▆▇█"

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--source", default="videotestsrc pattern=ball is-live=true ! video/x-raw,format=I420,width=320,height=240",
                    help="measure this source, in gst-launch-1.0 syntax (default: %(default)s)")
parser.add_argument("--meter", default="prefilter=binomial5", help="properties of sharpnessmeter (default: %(default)s)")
arguments = parser.parse_args()


def chart(scores, width):
    """Lines with a bar for each of the last scores, labelled with the visible range."""
    shown = list(scores)[-width:]
    low, high = min(shown), max(shown)
    scale = HEIGHT * 8 / (high - low) if high > low else 0
    levels = [round((score - low) * scale) for score in shown]
    for row in reversed(range(HEIGHT)):
        label = f"{high:10.1f}" if row == HEIGHT - 1 else f"{low:10.1f}" if row == 0 else " " * 10
        yield f"{label} │" + "".join(EIGHTHS[min(max(level - 8 * row, 0), 8)] for level in levels)


class Plot:
    def __init__(self):
        self.scores = collections.deque(maxlen=1000)
        self.best, self.printed, self.drawn, self.failed = float("-inf"), -1, False, False
        self.is_terminal = sys.stdout.isatty()

    def add(self, fields):
        score, seconds = fields["score"], fields["running-time"] // Gst.SECOND
        self.scores.append(score)
        self.best = max(self.best, score)
        line = f"{fields['metric']} {score:.1f}, best so far {self.best:.1f}"
        if not self.is_terminal:
            if seconds != self.printed:
                print(f"{seconds} s: {line}", flush=True)
                self.printed = seconds
            return
        # Moves up to the top of the last drawing and redraws each line; \033[K clears the rest of a longer one.
        up = f"\033[{HEIGHT + 1}A" if self.drawn else ""
        self.drawn = True
        lines = [*chart(self.scores, max(shutil.get_terminal_size().columns - 12, 1)), line]
        print(up + "".join(f"{text}\033[K\n" for text in lines), end="", flush=True)


def on_message(_bus, message, plot, loop):
    if message.type == Gst.MessageType.ELEMENT and message.get_structure().get_name() == "sharpnessmeter":
        plot.add(message.get_structure())
    elif message.type == Gst.MessageType.ERROR:
        print(f"{message.src.get_name()}: {message.parse_error()[0].message}", file=sys.stderr)
        plot.failed = True
        loop.quit()
    elif message.type == Gst.MessageType.EOS:
        loop.quit()


Gst.init(None)
pipeline = Gst.parse_launch(f"{arguments.source} ! sharpnessmeter {arguments.meter} ! fakesink sync=true")
plot, loop = Plot(), GLib.MainLoop()
bus = pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message", on_message, plot, loop)
pipeline.set_state(Gst.State.PLAYING)
try:
    loop.run()
except KeyboardInterrupt:
    pass
pipeline.set_state(Gst.State.NULL)
sys.exit(plot.failed)
