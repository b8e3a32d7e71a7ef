#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Players' scenarios, those that gst-validate has by default (it is packaged nowhere on Debian): play, seek forward,
backward and with a stop, fast, reverse, key units, scrubbing, pause and resume, many changes of state. A file is played
through each element, and through `identity` in its place: what is seen behind it, and what is wrong with it, must be the
same.
By hand: GST_PLUGIN_PATH=build/gst tests/pipeline/scenarios.py [ELEMENT]..."""
import collections
import os
import re
import subprocess
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from harness import LIMIT

FRAMES, RATE = 50, 25
LENGTH = FRAMES * Gst.SECOND // RATE
WAIT = LIMIT * Gst.SECOND
# Frames as they are: jpegdec loses the first one of a stream now and then, when states change fast.
NEEDS = ("matroskamux", "matroskademux")
ELEMENTS = [
    "sharpnessmeter", "sharpnessmeter in-flight=2", "sharpnessmeter metric=entropy prefilter=binomial5 statistics=true",
    "bliindsmeter", "bliindsmeter in-flight=2", "sharpnessgate", "sharpnessmeter ! sharpnessgate",
    "sharpnessmeter ! focuscontroller min=0 max=9", "camerawatch", "sharpnessmeter metric=mean-square-frequency ! camerawatch",
    "sharpnessoverlay", "sharpnessmeter zone-columns=4 zone-rows=4 ! sharpnessoverlay peaking=true", "nlmeans",
    "patchbilateral", "halftone", "halftone in-flight=2",
    "sharpnessmeter in-flight=1 ! nlmeans in-flight=1 ! halftone in-flight=1 ! bliindsmeter",
]


class Run:
    """A file played through an element, and all that comes out of it since the last flush."""

    def __init__(self, element, path):
        self.complaints = collections.Counter()
        self.trace = []
        self.flush = self.flushed_by = self.caps = self.seek_number = None
        self.segment = self.broken = None
        self.pipeline = Gst.parse_launch(
            f"filesrc location={path} ! matroskademux name=demuxer identity name=input ! {element} ! capsfilter name=after"
            " ! fakesink sync=false qos=false")
        # Each time anew: gst-launch's syntax links such pads once.
        into = self.pipeline.get_by_name("input").get_static_pad("sink")
        self.pipeline.get_by_name("demuxer").connect("pad-added", lambda _demuxer, pad: pad.link(into))
        self.bus = self.pipeline.get_bus()
        pad = self.pipeline.get_by_name("after").get_static_pad("sink")
        pad.add_probe(Gst.PadProbeType.DATA_DOWNSTREAM | Gst.PadProbeType.EVENT_FLUSH, self.see)

    def see(self, _pad, info):
        try:
            return self.look(info)
        except Exception as error:  # it would be printed, and what goes by be dropped
            self.broken = error
            return Gst.PadProbeReturn.OK

    def look(self, info):
        if info.type & Gst.PadProbeType.BUFFER:
            self.frame(info.get_buffer())
            return Gst.PadProbeReturn.OK
        event = info.get_event()
        kind = event.type
        if kind == Gst.EventType.FLUSH_START:
            self.flush = event.get_seqnum()
        elif kind == Gst.EventType.FLUSH_STOP:
            self.check(self.flush == event.get_seqnum(), "the ends of a flush have different numbers")
            self.flushed_by, self.flush, self.segment, self.trace = self.flush, None, None, []
        elif kind == Gst.EventType.CAPS:
            self.caps = event.parse_caps()
            # The overlay says them again when it knows how it is to draw.
            if not self.trace or self.trace[-1][0] != "caps":
                self.trace.append(("caps", re.search(r"width=\(int\)(\d+)", self.caps.to_string())[1]))
        elif kind == Gst.EventType.SEGMENT:
            self.check(self.caps is not None, "a segment before caps")
            self.segment = event.parse_segment().copy()
            self.number(event, "segment")
            s = self.segment
            self.trace.append(("segment", s.rate, s.start, s.stop, s.time, s.base))
        elif kind == Gst.EventType.EOS:
            self.number(event, "end")
            self.trace.append(("end",))
        elif kind in (Gst.EventType.STREAM_START, Gst.EventType.GAP):
            self.trace.append((Gst.EventType.get_name(kind),))
        return Gst.PadProbeReturn.OK

    def number(self, event, what):
        if self.flushed_by is not None:
            self.check(event.get_seqnum() == self.flushed_by, f"the {what} has not its seek's number")

    def frame(self, buffer):
        if self.segment is None:
            self.check(False, "a frame before its segment")
            return
        stop = buffer.pts + buffer.duration
        self.check(self.segment.clip(Gst.Format.TIME, buffer.pts, stop)[0], "a frame beyond its segment")
        self.trace.append(("frame", buffer.pts, buffer.duration, buffer.offset))

    def check(self, holds, text):
        if not holds:
            self.complaints[text] += 1

    def to(self, state):
        self.pipeline.set_state(state)
        result, _, _ = self.pipeline.get_state(WAIT)
        self.check(result == Gst.StateChangeReturn.SUCCESS, f"no change to {state.value_nick}")

    def seek(self, start, stop=-1, rate=1.0, flags=Gst.SeekFlags.ACCURATE):
        kind = Gst.SeekType.SET
        event = Gst.Event.new_seek(rate, Gst.Format.TIME, flags | Gst.SeekFlags.FLUSH, kind, int(start),
                                   kind if stop >= 0 else Gst.SeekType.NONE, int(stop))
        self.seek_number = event.get_seqnum()
        self.check(self.pipeline.send_event(event), "a seek was refused")
        state = self.pipeline.get_state(WAIT)
        self.check(state[0] == Gst.StateChangeReturn.SUCCESS, "no frame after a seek")
        if state.state == Gst.State.PAUSED and flags & Gst.SeekFlags.ACCURATE:
            known, position = self.pipeline.query_position(Gst.Format.TIME)
            wanted = start if rate > 0 else stop
            self.check(known and abs(position - wanted) <= Gst.SECOND // RATE, "a position that is not where it was sought")

    def end(self):
        """Plays to the end."""
        self.pipeline.set_state(Gst.State.PLAYING)
        while message := self.bus.timed_pop_filtered(WAIT, Gst.MessageType.EOS | Gst.MessageType.ERROR):
            if message.type == Gst.MessageType.ERROR:
                self.check(False, "error: " + message.parse_error()[0].message)
                return
            # That of before the last seek may have been on its way.
            if self.seek_number in (None, message.get_seqnum()):
                break
        self.check(message is not None, "no end")
        known, length = self.pipeline.query_duration(Gst.Format.TIME)
        self.check(known and length == LENGTH, "another duration")
        latency = Gst.Query.new_latency()
        self.check(self.pipeline.query(latency) and not latency.parse_latency().live, "another latency")

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)


def play(run):
    run.end()


def pause_resume(run):
    for _ in range(5):
        run.to(Gst.State.PLAYING)
        run.to(Gst.State.PAUSED)
    run.end()


def seeks(*places, **how):
    def scenario(run):
        run.to(Gst.State.PAUSED)
        for place in places:
            run.seek(place * LENGTH, **how)
        run.end()
    return scenario


def with_stop(run):
    run.to(Gst.State.PAUSED)
    run.seek(LENGTH / 4, LENGTH / 2)
    run.end()


def reverse(rate):
    def scenario(run):
        run.to(Gst.State.PAUSED)
        run.seek(0, 3 * LENGTH / 4, rate)
        run.end()
    return scenario


def playing_seeks(run):
    run.to(Gst.State.PLAYING)
    for place in (0.5, 0.1, 0.8, 0.3):
        run.seek(place * LENGTH)
    run.end()


def after_the_end(run):
    run.end()
    run.to(Gst.State.PAUSED)
    run.seek(LENGTH / 2)
    run.end()


def changes_of_state(run):
    for _ in range(6):
        for state in (Gst.State.READY, Gst.State.PAUSED, Gst.State.PLAYING, Gst.State.PAUSED, Gst.State.NULL):
            run.to(state)
    # Unheard of: to the bottom before the way up has come to its end.
    for _ in range(6):
        run.pipeline.set_state(Gst.State.PLAYING)
        run.to(Gst.State.NULL)
    run.trace = []
    run.caps = run.segment = run.flush = run.flushed_by = None
    run.end()


KEYS = Gst.SeekFlags.TRICKMODE | Gst.SeekFlags.TRICKMODE_KEY_UNITS | Gst.SeekFlags.KEY_UNIT
SCENARIOS = {
    "play": play,
    "pause_resume": pause_resume,
    "seek_forward": seeks(0.25, 0.5, 0.75),
    "seek_backward": seeks(0.75, 0.5, 0.25),
    "seek_key_unit": seeks(0.61, flags=Gst.SeekFlags.KEY_UNIT | Gst.SeekFlags.SNAP_BEFORE),
    "seek_with_stop": with_stop,
    "fast_forward": seeks(0.0, rate=4.0),
    "slow": seeks(0.5, rate=0.5),
    "trick_mode": seeks(0.0, rate=4.0, flags=KEYS),
    "reverse_playback": reverse(-1.0),
    "fast_reverse": reverse(-2.0),
    "scrubbing": seeks(*(i / 20 for i in range(19, 0, -1)), *(i / 20 for i in range(1, 20))),
    "seeks_while_playing": playing_seeks,
    "seek_after_the_end": after_the_end,
    "change_state_intensive": changes_of_state,
}


def outcome(element, scenario, path):
    """What the scenario lets out behind the element, and all complaints, GLib's too."""
    with tempfile.TemporaryFile() as log:
        screen = os.dup(2)
        os.dup2(log.fileno(), 2)
        run = Run(element, path)
        try:
            SCENARIOS[scenario](run)
        finally:
            run.stop()
            os.dup2(screen, 2)
            os.close(screen)
        if run.broken:
            raise run.broken
        log.seek(0)
        for line in log.read().decode(errors="replace").splitlines():
            if found := re.search(r"(CRITICAL|WARNING) \*\*: [\d:.]+: (.*)", line):
                run.complaints["GLib: " + found[2]] += 1
    return run.trace, run.complaints


def main():
    Gst.init(None)
    missing = [name for name in NEEDS if not Gst.ElementFactory.find(name)]
    if missing:
        print(f"SKIPPED: {', '.join(missing)} not installed")
        return 77
    wrong = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/clip.mkv"
        subprocess.run(
            ["gst-launch-1.0", "-q", *f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format=I420,width=64,"
             f"height=48,framerate={RATE}/1 ! matroskamux ! filesink location={path}".split()],
            check=True, timeout=LIMIT)
        for scenario in SCENARIOS:
            wanted = outcome("identity", scenario, path)
            assert any(step[0] == "frame" for step in wanted[0]), scenario
            if wanted[1]:
                print(f"{scenario}: identity: {dict(wanted[1])}")
            for element in sys.argv[1:] or ELEMENTS:
                trace, complaints = outcome(element, scenario, path)
                more = complaints - wanted[1]
                if trace == wanted[0] and not more:
                    passed += 1
                    continue
                wrong += 1
                print(f"FAIL {scenario}: {element}: {dict(more)}")
                if trace != wanted[0]:
                    at = next((i for i, (a, b) in enumerate(zip(trace, wanted[0])) if a != b),
                              min(len(trace), len(wanted[0])))
                    print(f"  {len(trace)} steps, identity {len(wanted[0])}; first at {at}: {trace[at:at + 3]}, "
                          f"identity {wanted[0][at:at + 3]}")
    print(f"{passed} scenarios as with identity, {wrong} not")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
