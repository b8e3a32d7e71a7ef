#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Autofocus of a GenICam camera (GigE Vision, USB3 Vision) with a software trigger.

Aravis drives the camera. For each frame, the program moves the lens, which is a feature of the camera, waits for it,
emits `arrived`, triggers the camera and measures.
"""
import argparse
import queue
import sys
import time

import gi

gi.require_version("Aravis", "0.8")
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Aravis, GLib, Gst, GstApp  # GstApp gives the appsink its methods

TRIGGER = "TriggerSelector=FrameStart TriggerMode=On TriggerSource=Software"
PATIENCE = 5  # s; the source itself gives up after 2


class Lens:
    """An integer or floating feature of the camera that moves its lens. For another lens, replace go_to()."""

    def __init__(self, camera, feature, settle):
        self.device, self.feature, self.settle, self.moves = camera.get_device(), feature, settle, 0
        if not self.device.is_feature_available(feature):
            raise RuntimeError(f"the camera has no feature {feature}; arv-tool-0.8 features lists those that it has")
        self.is_integer = isinstance(self.device.get_feature(feature), Aravis.GcInteger)
        get_bounds = self.device.get_integer_feature_bounds if self.is_integer else self.device.get_float_feature_bounds
        self.min, self.max = get_bounds(feature)

    def go_to(self, position):
        """Moves the lens; returns when it is at rest."""
        if self.is_integer:
            self.device.set_integer_feature_value(self.feature, round(position))
        else:
            self.device.set_float_feature_value(self.feature, position)
        time.sleep(self.settle)
        self.moves += 1


class Rig:
    def __init__(self, options):
        # do-timestamp: by default Aravis counts time from the first frame, but focuscontroller compares frame times
        # with the pipeline's to tell frames before a move from those after it.
        self.pipeline = Gst.parse_launch(
            f"aravissrc name=camera do-timestamp=true features=\"{TRIGGER}\" ! {options.caps} ! "
            "sharpnessmeter normalize=mean prefilter=binomial5 post-messages=false ! "
            "focuscontroller name=focus mode=one-shot wait-for-arrival=true settle-frames=0 lag-frames=0 "
            f"step={options.step} ! "
            "appsink name=sink sync=false")
        self.focus, self.sink, self.source = (self.pipeline.get_by_name(name) for name in ("focus", "sink", "camera"))
        if options.camera:
            self.source.set_property("camera-name", options.camera)
        self.options, self.frames, self.moves, self.bus = options, 0, queue.SimpleQueue(), self.pipeline.get_bus()
        # Does not capture self: a rig that its pipeline references would never be freed, nor would the camera.
        self.focus.connect("move", lambda _, position, moves: moves.put(position), self.moves)

    def start(self):
        options = self.options
        self.pipeline.set_state(Gst.State.READY)
        self.ended()
        self.camera = self.source.get_property("camera")
        self.lens = Lens(self.camera, options.lens, options.settle)
        self.focus.set_property("min", self.lens.min if options.min is None else options.min)
        self.focus.set_property("max", self.lens.max if options.max is None else options.max)
        self.pipeline.set_state(Gst.State.PLAYING)

    def ended(self):
        """Returns focuscontroller's message if the search has ended, else None; raises errors of all elements."""
        ended = None
        while message := self.bus.pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.ELEMENT):
            if message.type == Gst.MessageType.ERROR:
                raise RuntimeError(message.parse_error()[0].message)
            fields = message.get_structure()
            if fields.get_name() == "focuscontroller" and fields["state"] in ("focused", "failed"):
                ended = fields
        return ended

    def take(self):
        """Triggers a frame; returns when it is measured and focuscontroller has seen it."""
        self.camera.software_trigger()
        if self.sink.try_pull_sample(PATIENCE * Gst.SECOND) is None:
            self.ended()
            raise RuntimeError(f"no frame came within {PATIENCE} s of a trigger")
        self.frames += 1

    def find_focus(self):
        """The message that ends the search."""
        while True:
            self.take()
            # focuscontroller requests a move before it passes the frame on to the appsink.
            while not self.moves.empty():
                self.lens.go_to(self.moves.get())
                self.focus.emit("arrived")
            if fields := self.ended():
                return fields

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--camera", help="name or address of the camera, as arv-tool-0.8 prints it (default: the first one)")
    parser.add_argument("--lens", default="FocusPos", help="the feature that moves the lens (default: %(default)s)")
    parser.add_argument("--min", type=float, help="lowest position (default: the feature's)")
    parser.add_argument("--max", type=float, help="highest position (default: the feature's)")
    parser.add_argument("--step", type=float, default=1, help="precision of the search (default: %(default)s)")
    parser.add_argument("--settle", type=float, default=0.05, metavar="S",
                        help="wait this many seconds for each move of the lens (default: %(default)s)")
    parser.add_argument("--caps", default="video/x-raw,format=GRAY8", help="caps of the images (default: %(default)s)")
    return parser.parse_args()


def main():
    options, rig = read_options(), None
    Gst.init(None)
    try:
        rig = Rig(options)
        rig.start()
        fields = rig.find_focus()
        print(f"{fields['state']} at {fields['position']:g} after {rig.lens.moves} moves, {rig.frames} frames")
        if fields["state"] == "failed":
            raise RuntimeError("no position is sharper than the others")
    except (RuntimeError, GLib.Error) as error:
        # GLib's messages begin with a domain.
        sys.exit(f"software_trigger.py: {error.message if isinstance(error, GLib.Error) else error}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if rig:
            rig.close()


if __name__ == "__main__":
    main()
