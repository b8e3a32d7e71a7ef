#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores every frame of a video file: prints the moments with the highest and the lowest scores, warns of scene changes,
and writes a table and a plot."""
import argparse
import csv
import math
import pathlib
import re
import sys
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # GstApp gives the appsink its methods

HIGH, LOW, LINE, CUT = "#1b7837", "#b2182b", "#4d4d4d", "#2166ac"
# Zones for comparing the scene from frame to frame; they do not change the score.
ZONES = "zone-columns=8 zone-rows=8"
# A scene changes where the share of the detail that moves to other zones is at least CHANGE, and at least TIMES the share
# in the frames around. In clips with and without cuts, the cuts had at least 0.45 and 18 times; nothing else, not even a
# bird that jumps at the camera (0.34), had 0.25 and 2.5 times.
CHANGE, TIMES, AROUND = 0.25, 4, 4


def decoder(video, rest):
    """A pipeline that decodes the video's frames into `rest`; videoconvert passes them through unchanged unless `rest`
    cannot accept their format."""
    pipeline = Gst.parse_launch("filesrc name=file ! decodebin expose-all-streams=false caps=video/x-raw(ANY)"
                                f" ! videoconvert ! {rest}")
    pipeline.get_by_name("file").set_property("location", str(video))
    return pipeline


def raise_error(message):
    error, debug = message.parse_error()
    raise RuntimeError(f"{message.src.get_name()}: {error.message} ({debug})")


def unit_of(meter):
    """Unit of the meter's scores: the metric's description is `formula [unit]: text`. A level is an 8-bit grey level."""
    return re.search(r"\[([^]]+)\]: ", meter.get_property("metric").value_name)[1].replace("^2", "²")


def score(video, properties):
    """Every frame's (time in s since the first frame, score, number), and facts about the run."""
    pipeline = decoder(video, f"sharpnessmeter name=meter {ZONES} {properties} ! fakesink sync=false")
    meter, bus = pipeline.get_by_name("meter"), pipeline.get_bus()
    rows, zones, last, begins = [], [], None, 0.0
    started = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            message = bus.timed_pop_filtered(
                Gst.CLOCK_TIME_NONE, Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR)
            if message.type == Gst.MessageType.ERROR:
                raise_error(message)
            if message.type == Gst.MessageType.EOS:
                break
            fields = message.get_structure()
            if fields.get_name() != "sharpnessmeter":
                continue
            at = fields["stream-time"]
            # A frame without a time gets that of the frame before.
            at = at / Gst.SECOND if at != Gst.CLOCK_TIME_NONE else begins + rows[-1][0] if rows else 0.0
            if not rows:
                begins = at
            rows.append((at - begins, fields["score"], len(rows)))
            zones.append(fields["zones"] if fields.has_field("zones") else [])
            last = fields
            if sys.stderr.isatty() and len(rows) % 100 == 0:
                print(f"\r{len(rows)} frames", end="\r", file=sys.stderr)
        seconds = time.monotonic() - started
        if not rows:
            raise RuntimeError("no frame was scored: check that the file has a video stream")
        return rows, {
            "metric": last["metric"],
            "unit": unit_of(meter),
            "device": last["device"],
            "begins": begins,  # stream time of the first frame, s
            "scenes": [rows[number] for number in scene_changes(zones)],
            "rate": len(rows) / seconds,
        }
    finally:
        pipeline.set_state(Gst.State.NULL)


def scene_changes(zones):
    """Numbers of the first frames of new scenes, from the zones' scores of every frame. Focus and light change all zones
    alike, and motion moves detail step by step; a cut moves it at once. Slow transitions are not detected, nor any change
    with entropy and the -frequency metrics, which are not sums of detail."""
    steps, last = [], None
    for scores in zones:
        scores = [max(0.0, score) for score in scores]
        total = sum(scores)
        # A blank frame belongs to no scene.
        shares = [score / total for score in scores] if total > 0 else last
        steps.append(sum(abs(a - b) for a, b in zip(shares, last)) / 2 if shares and last else 0.0)
        last = shares
    found = []
    for number, step in enumerate(steps[1:], 1):
        around = sorted(steps[max(1, number - AROUND):number] + steps[number + 1:number + 1 + AROUND])
        # The second largest: another cut may be close.
        if step >= CHANGE and len(around) >= AROUND and step >= TIMES * around[-2]:
            found.append(number)
    return found


def moments(rows, count, separation, highest):
    """The `count` highest (or lowest) rows that lie at least `separation` s from each other, highest (lowest) first."""
    chosen = []
    for row in sorted(rows, key=lambda row: row[1], reverse=highest):
        if all(abs(row[0] - other[0]) >= separation for other in chosen):
            chosen.append(row)
            if len(chosen) == count:
                break
    return chosen


def warning(scenes, shown=5):
    """Advice for comparing scores across scene changes."""
    where = ", ".join(f"{at:.2f} s (frame {number})" for at, _, number in scenes[:shown])
    more = f" and {len(scenes) - shown} more times" if len(scenes) > shown else ""
    return (f"Warning: the scene changes at {where}{more}.\n"
            "Compare scores only within a scene: a sharp frame of a plain scene can score lower than a blurred frame of a"
            " busy one.")


def number_format(rows):
    """A format that gives the largest score about six digits, so that columns line up."""
    largest = max(abs(row[1]) for row in rows)
    return f".{max(0, 5 - int(math.log10(largest)) if largest >= 1 else 5)}f"


def stream_time(sample):
    """Stream time of the frame, in s; negative if unknown."""
    return sample.get_segment().to_stream_time(Gst.Format.TIME, sample.get_buffer().pts) / Gst.SECOND


def pixels(sample):
    """The frame as an RGB array."""
    import numpy

    fields, buffer = sample.get_caps()[0], sample.get_buffer()  # get_structure(0) differs between versions
    width, height = fields["width"], fields["height"]
    data = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), numpy.uint8)
    return data.reshape(height, -1)[:, : width * 3].reshape(height, width, 3)


def pictures(video, times, width=400):
    """The frames at these stream times as RGB arrays; None for a frame that is not found again. Reads the file up to the
    last of them, since seeks and the times after them are not exact in every container."""
    pipeline = decoder(video, f"videoscale ! video/x-raw,format=RGB,width={width},pixel-aspect-ratio=1/1"
                              " ! appsink name=sink sync=false max-buffers=4")
    sink, found, wanted = pipeline.get_by_name("sink"), {}, set(times)
    pipeline.set_state(Gst.State.PLAYING)
    while wanted - found.keys() and (sample := sink.try_pull_sample(10 * Gst.SECOND)) is not None:
        at = stream_time(sample)
        found.update((time, pixels(sample)) for time in wanted - found.keys() if abs(time - at) < 0.0005)
    pipeline.set_state(Gst.State.NULL)
    return [found.get(at) for at in times]


def plot(path, video, rows, facts, highest, lowest):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    show = number_format(rows)
    unit = facts["unit"]
    images = pictures(video, [facts["begins"] + row[0] for row in highest + lowest])
    shape = next((image.shape for image in images if image is not None), (3, 4))
    columns = max(len(highest), len(lowest))
    curve, strip = 4.2, 12 / columns * shape[0] / shape[1] + 0.25  # inches
    figure = pyplot.figure(figsize=(12, curve + 2 * strip), layout="constrained")
    grid = figure.add_gridspec(3, columns, height_ratios=[curve, strip, strip])

    axes = figure.add_subplot(grid[0, :])
    axes.plot([row[0] for row in rows], [row[1] for row in rows], color=LINE, linewidth=0.8)
    axes.set_xlim(0, max(rows[-1][0], 1e-3))
    top, bottom = max(row[1] for row in rows), min(row[1] for row in rows)
    # From 0, so that heights compare; room for the numbers of the moments.
    room = 0.12 * ((top - min(bottom, 0)) or 1)
    axes.set_ylim(0 if bottom >= 0 else bottom - room, top + room)
    axes.grid(alpha=0.3)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"{facts['metric']} score [{unit}]")
    axes.set_title(f"Sharpness of {pathlib.Path(video).name}, {len(rows)} frames", loc="left")
    for number, row in enumerate(facts["scenes"]):
        axes.axvline(row[0], color=CUT, linestyle=":", label="the scene changes" if number == 0 else None)
    kinds = ("highest scores", highest, HIGH, "^", 7), ("lowest scores", lowest, LOW, "v", -16)
    for line, (label, chosen, color, marker, offset) in enumerate(kinds, 1):
        axes.plot([row[0] for row in chosen], [row[1] for row in chosen], marker, color=color, label=label)
        for number, row in enumerate(chosen, 1):
            # Not over the axis.
            place = (9, -4) if offset < 0 and row[1] < axes.get_ylim()[0] + room else (0, offset)
            axes.annotate(str(number), row[:2], place, textcoords="offset points", ha="center", color=color, weight="bold")
            cell = figure.add_subplot(grid[line, number - 1])
            cell.set(xticks=[], yticks=[], ylabel=label if number == 1 else "")
            cell.yaxis.label.set(color=color, weight="bold")
            cell.set_title(f"{number}:  {row[0]:.2f} s,  {row[1]:{show}} {unit}", color=color, fontsize=9)
            cell.spines[:].set_color(color)
            image = images.pop(0)
            if image is not None:
                cell.imshow(image)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False)
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video")
    parser.add_argument("--csv", metavar="FILE", help="write frame, time and score of every frame to this file")
    parser.add_argument("--plot", metavar="FILE",
                        help="draw the score over time and the chosen frames to this file; needs matplotlib")
    parser.add_argument("--count", type=int, default=5, help="print this many moments of each kind (default: %(default)s)")
    parser.add_argument("--separation", type=float, metavar="S",
                        help="keep them at least this many seconds apart (default: 1/20 of the video)")
    parser.add_argument("--meter", default="", metavar="PROPERTIES",
                        help="set these properties of sharpnessmeter, for example 'metric=brenner prefilter=binomial5'")
    arguments = parser.parse_args()

    Gst.init(None)
    try:
        rows, facts = score(arguments.video, arguments.meter)
    except (RuntimeError, gi.repository.GLib.Error) as error:
        print(f"score_video.py: {error}", file=sys.stderr)
        return 1

    unit, show = facts["unit"], number_format(rows)
    separation = arguments.separation if arguments.separation is not None else (rows[-1][0] - rows[0][0]) / 20
    highest = moments(rows, arguments.count, separation, True)
    lowest = moments(rows, arguments.count, separation, False)
    for title, chosen in (("highest", highest), ("lowest", lowest)):
        print(f"The {title} scores ({facts['metric']}):")
        for place, (at, value, number) in enumerate(chosen, 1):
            print(f"  {place}. {at:9.2f} s  frame {number:6}  {value:12{show}} {unit}")
    if facts["scenes"]:
        print(warning(facts["scenes"]))
    print(f"{len(rows)} frames scored on {facts['device']}, {facts['rate']:.0f} frames/s, decoding included")

    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["frame", "time_s", f"{facts['metric']}"])
            writer.writerows((number, f"{at:.9f}", repr(value)) for at, value, number in rows)
    if arguments.plot:
        plot(arguments.plot, arguments.video, rows, facts, highest, lowest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
