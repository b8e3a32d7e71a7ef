#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws position and score over the frames of a focusing run with a virtual lens whose best position moves on the way.

GST_PLUGIN_PATH=build/gst docs/figures/focus_run.py docs/figures/focus-run.svg
"""
import itertools
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

FRAMES, MOVED_AT = 360, 170
BEST = (62.0, 25.0)
SETTLE = 2
PIPELINE = (f"virtuallenssrc name=lens num-buffers={FRAMES} best-position={BEST[0]} lag={SETTLE} noise=3 "
            "flicker=0.05 ! sharpnessmeter normalize=mean prefilter=binomial5 statistics=true ! "
            f"focuscontroller name=focus actuator=lens.position min=0 max=100 settle-frames={SETTLE} ! "
            "fakesink name=sink signal-handoffs=true")


def record():
    """Position, score and state after each frame; the scene moves at frame MOVED_AT."""
    pipeline = Gst.parse_launch(PIPELINE)
    lens, focus = pipeline.get_by_name("lens"), pipeline.get_by_name("focus")
    rows = []

    def on_frame(*_):
        rows.append((lens.props.position, focus.props.score, focus.props.state.value_nick))
        if len(rows) == MOVED_AT:
            lens.props.best_position = BEST[1]

    pipeline.get_by_name("sink").connect("handoff", on_frame)
    pipeline.set_state(Gst.State.PLAYING)
    end = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert end is not None and end.type == Gst.MessageType.EOS, end and end.parse_error()
    return rows


def main():
    Gst.init(None)
    positions, scores, states = zip(*record())

    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "focus"
    from matplotlib import pyplot

    figure, (top, bottom) = pyplot.subplots(2, 1, figsize=(9, 4.2), sharex=True, layout="constrained")
    top.step(range(FRAMES), positions, where="post", color="tab:blue", label="position")
    top.step((0, MOVED_AT, FRAMES), (*BEST, BEST[1]), where="post", color="black", linestyle=":", label="best position")
    bottom.plot(scores, color="tab:orange", label="score")
    colours = {"coarse": "tab:blue", "fine": "tab:green", "settle": "tab:green", "tracking": "tab:red"}
    begin = 0
    for state, run in itertools.groupby(states):
        end = begin + len(list(run))
        print(f"frame {begin}: {state} at {positions[begin]:g}")
        for axes in (top, bottom):
            axes.axvspan(begin, end, color=colours.get(state, "white"), alpha=0.13, linewidth=0)
        begin = end
    top.set(ylabel="lens position", xlim=(0, FRAMES), ylim=(-3, 103))
    bottom.set(ylabel="score", ylim=(0, None),
               xlabel="frame (blue: coarse, green: fine and settle, red: tracking, white: focused)")
    for axes in (top, bottom):
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", fontsize=8)
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
