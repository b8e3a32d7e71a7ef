#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pipelines come and go and leave nothing behind: made and destroyed one after the other, elements taken out while they
play, many live ones at once. Threads and file descriptors are as many as before, memory does not grow.
By hand: GST_PLUGIN_PATH=build/gst tests/pipeline/comings_and_goings.py --pipelines 2000 --removals 2000 --live 64"""
import argparse
import ctypes
import gc
import os
import pathlib
import statistics
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from harness import LIMIT

ELEMENTS = [
    "sharpnessmeter", "sharpnessmeter in-flight=2 zone-columns=4 zone-rows=4", "bliindsmeter", "sharpnessmeter ! sharpnessgate",
    "sharpnessmeter ! focuscontroller min=0 max=9", "sharpnessmeter metric=mean-square-frequency statistics=true ! camerawatch",
    "sharpnessmeter ! sharpnessoverlay peaking=true", "nlmeans", "patchbilateral in-flight=1", "halftone",
    "sharpnessmeter ! nlmeans ! halftone ! bliindsmeter ! sharpnessgate",
]
CAPS = "video/x-raw,format=NV12,width=64,height=48,framerate=25/1"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--pipelines", type=int, default=440)
parser.add_argument("--removals", type=int, default=220)
parser.add_argument("--live", type=int, default=32)
parser.add_argument("--seconds", type=float, default=2, help="that the live ones run")
parser.add_argument("--bound", type=float, default=0.25, metavar="MIB", help="steady growth of what is allocated in the second half that fails (default: %(default)s)")
arguments = parser.parse_args()


def threads():
    return len(os.listdir("/proc/self/task"))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class MallInfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = MallInfo2


def allocated_mib():
    """What is allocated and not freed. Of what is resident, the more depends on which threads met when."""
    info = libc.mallinfo2()
    return (info.uordblks + info.hblkhd) / 2**20


def resident_mib():
    pages = pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096 / 2**20


def settled(count, before):
    """What is counted, once it is no more than before, or after a long time: GLib keeps idle threads for a while."""
    end = time.monotonic() + LIMIT
    while count() > before and time.monotonic() < end:
        time.sleep(0.05)
    return count()


def wait_for(pipeline, kinds):
    message = pipeline.get_bus().timed_pop_filtered(LIMIT * Gst.SECOND, kinds | Gst.MessageType.ERROR)
    assert message is not None, f"nothing for {LIMIT} s"
    assert message.type != Gst.MessageType.ERROR, message.parse_error()


def make(i):
    """A pipeline of its own: played to its end, or destroyed in the middle of it; messages read, or left unread."""
    element = ELEMENTS[i % len(ELEMENTS)]
    to_the_end = i // len(ELEMENTS) % 2 == 0
    pipeline = Gst.parse_launch(f"videotestsrc num-buffers={5 if to_the_end else -1} ! {CAPS} ! {element} ! fakesink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    wait_for(pipeline, Gst.MessageType.EOS if to_the_end else Gst.MessageType.ASYNC_DONE)
    pipeline.set_state(Gst.State.NULL)


class Exchange:
    """A pipeline that plays on while the element in its middle is taken out and another put in."""

    def __init__(self):
        self.pipeline = Gst.parse_launch(f"videotestsrc is-live=true ! {CAPS.replace('25/1', '500/1')} ! "
                                         # No more frames wait than now and then: where they pile up, memory grows.
                                         "queue name=before max-size-buffers=3 ! "
                                         "identity name=after ! fakesink name=sink sync=false signal-handoffs=true")
        self.before, self.after = self.pipeline.get_by_name("before"), self.pipeline.get_by_name("after")
        self.inside, self.frames = None, 0
        self.sink = self.pipeline.get_by_name("sink")
        self.handler = self.sink.connect("handoff", self.count)
        self.pipeline.set_state(Gst.State.PLAYING)

    def count(self, *_):
        self.frames += 1

    def put(self, description):
        bin_ = Gst.parse_bin_from_description(description, True)
        done = []

        def exchange(pad, _info):
            if self.inside is None:
                self.before.unlink(self.after)
            else:
                self.before.unlink(self.inside)
                self.inside.unlink(self.after)
                self.inside.set_state(Gst.State.NULL)
                self.pipeline.remove(self.inside)
            self.inside = bin_
            self.pipeline.add(bin_)
            assert self.before.link(bin_) and bin_.link(self.after)
            bin_.sync_state_with_parent()
            done.append(True)
            return Gst.PadProbeReturn.REMOVE

        frames = self.frames
        self.before.get_static_pad("src").add_probe(Gst.PadProbeType.BLOCK | Gst.PadProbeType.BUFFER, exchange)
        end = time.monotonic() + LIMIT
        while not done or self.frames < frames + 3:
            assert time.monotonic() < end, f"no frame for {LIMIT} s after {description}"
            message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            assert message is None, message.parse_error()
            time.sleep(0.002)
        # What is left was only read in part.
        self.pipeline.get_bus().set_flushing(True)
        self.pipeline.get_bus().set_flushing(False)

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)
        self.sink.disconnect(self.handler)  # it holds this, and this holds the sink


def repeat(name, times, action):
    """Runs action(0), action(1)... What leaks grows in each tenth of them; a single step is an allocator's."""
    sizes, tenth = [], max(times // 10, 1)
    for i in range(times):
        action(i)
        if (i + 1) % tenth == 0:
            gc.collect()
            sizes.append(allocated_mib())
    half = sizes[len(sizes) // 2:]
    grown = min(statistics.median(b - a for a, b in zip(half, half[1:])) * (len(half) - 1), half[-1] - half[0])
    print(f"{name}: {times}; {' '.join(f'{s:.2f}' for s in sizes)} MiB allocated, in the second half by {grown:+.3f} MiB steadily,"
          f" {resident_mib():.1f} MiB resident", flush=True)
    assert grown < arguments.bound, f"{name}: memory grows"


def shows_frames(pipeline):
    known, position = pipeline.query_position(Gst.Format.TIME)
    return known and position > 0


def many_live():
    pipelines = []
    for i in range(arguments.live):
        pipelines.append(Gst.parse_launch(f"videotestsrc is-live=true ! {CAPS} ! {ELEMENTS[i % len(ELEMENTS)]} ! fakesink"))
        pipelines[-1].set_state(Gst.State.PLAYING)
    time.sleep(arguments.seconds)
    end = time.monotonic() + LIMIT
    for pipeline in pipelines:
        while not shows_frames(pipeline):
            assert time.monotonic() < end, "a live pipeline that shows nothing"
            time.sleep(0.01)
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        assert message is None, message.parse_error()
    print(f"live at once: {len(pipelines)}, {threads()} threads, {descriptors()} descriptors, {resident_mib():.1f} MiB")
    for pipeline in pipelines:
        pipeline.set_state(Gst.State.NULL)


def main():
    Gst.init(None)
    # What is made once and kept: plugins, the threads that share rows, tables.
    for i in range(2 * len(ELEMENTS)):
        make(i)
    gc.collect()
    first = threads(), descriptors()
    repeat("made and destroyed", arguments.pipelines, make)
    exchange = Exchange()
    repeat("taken out while playing", arguments.removals, lambda i: exchange.put(ELEMENTS[i % len(ELEMENTS)]))
    exchange.stop()
    del exchange
    many_live()
    gc.collect()
    last = settled(threads, first[0]), settled(descriptors, first[1])
    print(f"threads: {first[0]} before, {last[0]} after; descriptors: {first[1]}, {last[1]}")
    assert last[0] <= first[0] and last[1] <= first[1]


if __name__ == "__main__":
    sys.exit(main())
