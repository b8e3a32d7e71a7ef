#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Focuses with a slow motorised stage, then keeps the sharpest plane of a z-stack around the peak.

focuscontroller requests each position on the signal `move`, and waits for the signal `arrived`.
"""
import argparse
import csv
import math
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstApp, GstVideo  # GstApp gives the appsink its methods


class Stage:
    """Moves to the position that was requested last, in its own thread. It is simulated: replace travel() for yours.

    speed: units per second. show(position): called on the way. arrived(): called when the stage stands at the
    position requested last. What travel() raises is kept in `error`, and ends the thread.
    """

    def __init__(self, speed, show, arrived):
        self.speed, self.show, self.arrived = speed, show, arrived
        self.position, self.moves, self.error = 0.0, 0, None
        self.target, self.closing, self.changed = None, False, threading.Condition()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def go_to(self, position):
        """Returns immediately: focuscontroller calls it in the streaming thread, and waiting would block frames."""
        with self.changed:
            self.target = position
            self.moves += 1
            self.changed.notify()

    def run(self):
        try:
            while True:
                with self.changed:
                    self.changed.wait_for(lambda: self.closing or self.target is not None)
                    if self.closing:
                        return
                    target, self.target = self.target, None
                self.travel(target)
                if not self.interrupted():
                    self.arrived()
        except Exception as error:  # of any driver: the thread that waits for the stage must get it
            self.error = error

    def interrupted(self):
        """True if another position was requested, or if the stage is being closed."""
        return self.closing or self.target is not None

    def travel(self, target):
        """Moves; returns when the stage stands still, or is wanted elsewhere; raises if it does neither. A real one talks
        to its serial port here, for example with pyserial, opened with a timeout:

            self.port.write(b"MOVE %.3f\\r" % target)
            if self.port.read_until(b"\\r") != b"DONE\\r":
                raise OSError("the stage does not answer")
        """
        last = time.monotonic()
        while self.position != target and not self.interrupted():
            time.sleep(0.005)
            now = time.monotonic()
            reach, distance = self.speed * (now - last), target - self.position
            self.position = target if abs(distance) <= reach else self.position + math.copysign(reach, distance)
            last = now
            self.show(self.position)

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify()
        self.thread.join(timeout=5)


class Microscope:
    """A camera, its meter and focus controller, and a stage. Use it in one thread at a time. It raises RuntimeError for
    errors of pipeline and stage, and if something takes longer than the options allow."""

    def __init__(self, options):
        self.options = options
        # If the stage moved for longer than the controller's time limit, the camera would seem to have no scores.
        patience = int((10 + (options.max - options.min) / options.speed) * Gst.SECOND)
        self.pipeline = Gst.parse_launch(
            f"{options.camera} ! sharpnessmeter normalize=mean prefilter=binomial5 post-messages=false ! "
            f"focuscontroller name=focus mode=one-shot wait-for-arrival=true min={options.min} max={options.max} "
            f"step={options.step} settle-frames={options.settle_frames} timeout={patience} ! "
            "appsink name=sink sync=false max-buffers=1 drop=true wait-on-eos=false")
        self.focus, self.sink, self.lens = (self.pipeline.get_by_name(name) for name in ("focus", "sink", "lens"))
        self.bus = self.pipeline.get_bus()
        self.there, self.arrived_at = threading.Event(), 0
        self.stage = Stage(options.speed, self.show, self.arrived)
        self.focus.connect("move", lambda _, position: self.stage.go_to(position))
        # A live camera's frames have the time of their exposure.
        self.is_live = self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.NO_PREROLL

    def show(self, position):
        if self.lens:
            self.lens.set_property("position", position)

    def arrived(self):
        """Called in the stage's thread."""
        self.arrived_at = self.focus.get_current_running_time()
        self.there.set()
        self.focus.emit("arrived")

    def message(self, deadline, what, wait):
        """The next message of the focus controller within `wait` seconds, else None."""
        if self.stage.error:
            raise RuntimeError(f"stage: {self.stage.error}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} within {self.options.timeout:g} s")
        message = self.bus.timed_pop_filtered(
            int(wait * Gst.SECOND), Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR
            | Gst.MessageType.WARNING)
        if message is None:
            return None
        if message.type == Gst.MessageType.ERROR:
            raise RuntimeError(f"{message.src.get_name()}: {message.parse_error()[0].message}")
        if message.type == Gst.MessageType.EOS:
            raise RuntimeError("the camera's stream ended")
        if message.type == Gst.MessageType.WARNING:
            print(f"{message.src.get_name()}: {message.parse_warning()[0].message}", file=sys.stderr)
            return None
        fields = message.get_structure()
        return fields if fields.get_name() == "focuscontroller" else None

    def find_focus(self):
        """The message that ends the search."""
        deadline = time.monotonic() + self.options.timeout
        while True:
            fields = self.message(deadline, "the search did not end", 0.1)
            if fields and fields["event"] == "state" and fields["state"] in ("focused", "failed"):
                return fields

    def go_to(self, position):
        deadline = time.monotonic() + self.options.timeout
        self.there.clear()
        self.stage.go_to(position)
        while not self.there.wait(0.02):
            self.message(deadline, f"the stage did not arrive at {position:g}", 0)

    def picture(self):
        """Returns a sample that was exposed after the stage arrived, with the lens at rest, and its score."""
        deadline = time.monotonic() + self.options.timeout
        skip = self.options.settle_frames
        if not self.is_live:
            skip += 2  # frames have no time of exposure: one waits in the appsink, one is on its way
        while True:
            self.message(deadline, "no frame with a score came", 0)
            sample = self.sink.try_pull_sample(Gst.SECOND // 10)
            if sample is None:
                continue
            exposed = sample.get_segment().to_running_time(Gst.Format.TIME, sample.get_buffer().pts)
            if self.is_live and exposed < self.arrived_at:
                continue
            skip -= 1
            meta = sample.get_buffer().get_custom_meta("GstSharpnessMeta")
            if skip < 0 and meta is not None:
                return sample, meta.get_structure()["score"]

    def close(self):
        self.stage.close()
        self.pipeline.set_state(Gst.State.NULL)


def write_curve(path, fields):
    """Writes the positions and scores that the search saw, if the message has them; returns their number, or None."""
    if not (fields.has_field("positions") and fields.has_field("scores")):
        return None
    positions, scores = ([float(number) for number in fields[name]] for name in ("positions", "scores"))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["position", "score"])
        writer.writerows(zip(positions, scores))
    return len(positions)


def print_result(fields, moves, path):
    print(f"{fields['state']} at {fields['position']:g} after {moves} moves, score {fields['score']:g}")
    if fields.has_field("top"):
        print(f"peak of the curve at {fields['top']:g}", end="")
        for name, words in (("error", "standard error"), ("certainty", "certainty"), ("width", "half width")):
            if fields.has_field(name) and fields[name] > 0:
                print(f", {words} {fields[name]:g}", end="")
        print()
    count = write_curve(path, fields)
    if count is not None:
        print(f"{count} samples of the curve in {path}")


def planes(top, options):
    """Positions of the stack within the range, upwards: the stage approaches every plane from the same side."""
    around = (top + i * options.spacing for i in range(-options.planes, options.planes + 1))
    return [position for position in around if options.min <= position <= options.max]


def scan(microscope, top, options):
    """Saves the sharpest plane around the best position as an image."""
    positions, stack = planes(top, options), []
    for number, position in enumerate(positions, 1):
        microscope.go_to(position)
        sample, score = microscope.picture()
        print(f"plane {number} at {position:g}: {score:g}")
        stack.append((score, number, position, sample))
    score, number, position, sample = max(stack, key=lambda plane: plane[0])
    png = GstVideo.video_convert_sample(sample, Gst.Caps.from_string("image/png"), 10 * Gst.SECOND).get_buffer()
    with open(options.output, "wb") as file:
        file.write(png.extract_dup(0, png.get_size()))
    microscope.go_to(position)
    print(f"plane {number} of {len(stack)} at {position:g} is the sharpest, in {options.output}")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--camera", default="virtuallenssrc name=lens is-live=true best-position=62.3 noise=3",
                        help="source pipeline in gst-launch-1.0 syntax; the simulated stage moves the property `position` of an "
                        "element named lens, if there is one (default: %(default)s)")
    parser.add_argument("--min", type=float, default=0, help="lowest position (default: %(default)s)")
    parser.add_argument("--max", type=float, default=100, help="highest position (default: %(default)s)")
    parser.add_argument("--step", type=float, default=1, help="precision of the search (default: %(default)s)")
    parser.add_argument("--settle-frames", type=int, default=1, metavar="N",
                        help="skip this many frames after the stage has arrived (default: %(default)s)")
    parser.add_argument("--speed", type=float, default=200, help="speed of the stage, units per second (default: %(default)s)")
    parser.add_argument("--planes", type=int, default=3, metavar="N",
                        help="planes of the stack on each side of the peak (default: %(default)s)")
    parser.add_argument("--spacing", type=float, help="distance between planes (default: half a step)")
    parser.add_argument("--csv", default="curve.csv", help="write the curve of the search to this file (default: %(default)s)")
    parser.add_argument("--output", default="plane.png", help="write the sharpest plane to this file (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=60, metavar="S",
                        help="allow this many seconds for the search, and for each plane (default: %(default)s)")
    options = parser.parse_args()
    if options.spacing is None:
        options.spacing = options.step / 2
    if not options.min < options.max:
        parser.error("--min must be below --max")
    if min(options.step, options.speed, options.spacing, options.timeout) <= 0:
        parser.error("--step, --speed, --spacing and --timeout must be above 0")
    if min(options.planes, options.settle_frames) < 0:
        parser.error("--planes and --settle-frames must not be negative")
    return options


def main():
    options, microscope = read_options(), None
    Gst.init(None)
    try:
        microscope = Microscope(options)
        fields = microscope.find_focus()
        print_result(fields, microscope.stage.moves, options.csv)
        if fields["state"] == "failed":
            raise RuntimeError("no position is sharper than the others")
        scan(microscope, fields["top"] if fields.has_field("top") else fields["position"], options)
    except (RuntimeError, OSError, GLib.Error) as error:
        # GLib's messages begin with a domain.
        sys.exit(f"focus_stage.py: {error.message if isinstance(error, GLib.Error) else error}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if microscope:
            microscope.close()


if __name__ == "__main__":
    main()
