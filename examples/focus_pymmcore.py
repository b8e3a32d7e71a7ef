#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Focuses a microscope through Micro-Manager's pymmcore, or a simulated microscope without --config.

usage: focus_pymmcore.py [--config FILE] [--range UM] [--step UM]

The search moves the stage by up to half of --range in both directions: make sure that the objective cannot touch the
sample there.
Not tested on a real microscope.
"""
import argparse
import random

import framequality as fq


class SimulatedCore:
    """The part of pymmcore.CMMCore that this program uses: a stage, and a camera whose image is sharp at 37.4 um."""

    def __init__(self):
        self._z = 20.0
        rng = random.Random(1)
        self._texture = [rng.random() for _ in range(64 * 64)]

    def getPosition(self):
        return self._z

    def setPosition(self, z):
        self._z = z

    def waitForDevice(self, _):
        pass

    def getFocusDevice(self):
        return "Z"

    def snapImage(self):
        contrast = 200 / (1 + ((self._z - 37.4) / 4) ** 2)
        self._image = memoryview(bytes(int(20 + contrast * t) for t in self._texture)).cast("B", (64, 64))

    def getImage(self):
        return self._image


def autofocus(core, span, step):
    """Moves the core's stage to the sharpest plane within `span` um around its position; returns the search."""
    start = core.getPosition()
    focus = fq.Autofocus(start - span / 2, start + span / 2, step=step, position=start, backlash=-1)

    def score():
        core.snapImage()
        return fq.score(core.getImage())

    def move(z):
        core.setPosition(z)
        core.waitForDevice(core.getFocusDevice())

    focus.run(score, move)
    return focus


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", help="Micro-Manager's configuration of the microscope")
    parser.add_argument("--range", type=float, default=100, help="um to search, around the current position")
    parser.add_argument("--step", type=float, default=0.5, help="um between planes, about half the depth of focus")
    args = parser.parse_args()
    if args.config:
        import pymmcore

        core = pymmcore.CMMCore()
        core.loadSystemConfiguration(args.config)
    else:
        core = SimulatedCore()
    focus = autofocus(core, args.range, args.step)
    print(f"in focus at {focus.top:.2f} um (certainty {focus.certainty:.0%}), {focus.frames} images, {focus.moves} moves")


main()
