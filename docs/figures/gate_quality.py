#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that sharpnessgate mode=relative drops of clips with motion blur put in, and of clips where only the content
changes: the tables of docs/advice.md.

usage: gate_quality.py [--meter PROPERTIES]... [--gate PROPERTIES]... [--frames N] [--noise SIGMA] CLIP... > table.md
A CLIP is any file that GStreamer decodes, of which the first N frames count (240), or a PNG or JPEG picture, over which
a window pans for 90 frames. Each --gate is tried with each --meter. Columns:

  recall       share dropped of the frames blurred by motion of 3, 4, 7 and 12 px in a random direction, which come in
               bursts of 1 to 4
  false drops  of the other frames of the same streams
  as it is     of the clip untouched: what a clip itself has of blur
  cuts         of streams of three shots of 30 frames: this clip, the next one, this one again
  fade         to half the light and back; black: to none and, after a while, back; noise: of sigma 8, then of 1;
               leaving: a part of the next clip drives out of the picture; 60 frames each

A drop that the untouched clip has too counts as that alone. --noise adds white noise to all frames after the blur. The
same numbers come each time. Needs python3-opencv and GStreamer with the plugin.
"""
import argparse
import os
import sys

import cv2
import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # GstApp gives appsrc its methods

METERS = ("metric=directional-frequency prefilter=binomial5",
          "metric=directional-frequency prefilter=binomial5 noise-correction=true",
          "metric=mean-square-frequency prefilter=binomial5",
          "metric=mean-square-frequency prefilter=binomial5 noise-correction=true",
          "prefilter=binomial5 normalize=mean", "prefilter=binomial5")
GATES = ("", "look-ahead=0")
LENGTHS, BURST = (3, 4, 7, 12), 4


def to_bytes(frames):
    return np.clip(np.rint(frames), 0, 255).astype(np.uint8)


def pan(path, rng, count=90):
    """A window of 3/4 of a picture, of 384x288 at most, goes over it by 1 to 4 pixels a frame, back at its edges."""
    picture = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    room = np.array(picture.shape) - (size := np.minimum(np.array(picture.shape) * 3 // 4, (288, 384)) // 4 * 4)
    at, step = rng.uniform(0, room), rng.uniform(1, 4, 2) * (0.4, 1)
    for _ in range(count):
        step = np.where((at + step < 0) | (at + step > room), -step, step)
        at = np.clip(at + step, 0, room)
        y, x = at.astype(int)
        yield picture[y:y + size[0], x:x + size[1]]


def decoded(path, count):
    """-> frames a second, the first frames' luma."""
    pipeline = Gst.parse_launch("filesrc name=file ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! "
                                "appsink name=out sync=false max-buffers=2")
    pipeline.get_by_name("file").set_property("location", path)
    out, frames, rate = pipeline.get_by_name("out"), [], 25.0
    pipeline.set_state(Gst.State.PLAYING)
    while len(frames) < count and (sample := out.emit("pull-sample")) is not None:
        caps = sample.get_caps().get_structure(0)
        width, height = caps["width"], caps["height"]
        known, *fraction = caps.get_fraction("framerate")
        rate = fraction[0] / fraction[1] if known and fraction[0] > 0 else rate
        rows = np.frombuffer(sample.get_buffer().extract_dup(0, sample.get_buffer().get_size()), np.uint8)
        rows = rows.reshape(-1, (width + 3) // 4 * 4)[:height // 4 * 4, :width // 4 * 4]
        top, left = ((n - min(n, most)) // 2 for n, most in zip(rows.shape, (480, 640)))
        frames.append(rows[top:top + 480, left:left + 640])
    pipeline.set_state(Gst.State.NULL)
    if not frames:
        sys.exit(f"{path}: no frames")
    return rate, frames


def passed(frames, rate, meter, gate):
    """For each frame whether the gate lets it pass."""
    height, width = frames[0].shape
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time max-bytes=0 caps=video/x-raw,format=GRAY8,width={width},height={height},"
        f"framerate={round(rate * 1000)}/1000 ! sharpnessmeter post-messages=false {meter} ! "
        f"sharpnessgate mode=relative action=mark {gate} ! fakesink name=out")
    marks = []

    def look(_, info):
        meta = info.get_buffer().get_custom_meta("GstSharpnessMeta")
        marks.append(meta.get_structure().get_boolean("passed")[1])
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name("out").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, look)
    source = pipeline.get_by_name("in")
    pipeline.set_state(Gst.State.PLAYING)
    for i, frame in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(np.ascontiguousarray(frame).tobytes())
        buffer.pts, buffer.duration = round(i * Gst.SECOND / rate), round(Gst.SECOND / rate)
        source.push_buffer(buffer)
    source.end_of_stream()
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(message.parse_error()[0].message)
    return np.array(marks)


def blurred(frame, length, angle):
    """Moved by so many pixels while the shutter was open."""
    reach = length // 2 + 2
    kernel = np.zeros((2 * reach + 1,) * 2, np.float32)
    for t in (np.arange(8 * length) + 0.5) / 8 - length / 2:
        y, x = reach + t * np.sin(angle), reach + t * np.cos(angle)
        i, j = int(y), int(x)
        kernel[i:i + 2, j:j + 2] += np.outer((1 - y + i, y - i), (1 - x + j, x - j))
    return cv2.filter2D(frame.astype(np.float32), -1, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)


def bursts(count, rng):
    """Which frames are blurred: not the first ones, and with sharp ones between bursts."""
    mask, at = np.zeros(count, bool), int(rng.integers(5, 12))
    while (length := int(rng.integers(1, BURST + 1))) + at < count:
        mask[at:at + length] = True
        at += length + int(rng.integers(BURST + 2, 25))
    return mask


def alike(a, b):
    """Both clips' frames cut to the size of the smaller one."""
    height, width = (min(m, n) for m, n in zip(a[0].shape, b[0].shape))
    return [[f[:height, :width] for f in clip] for clip in (a, b)]


def leaving(clip, other, count=60):
    """A third of the other clip's first picture drives over this one's and out of it."""
    here, there = alike(clip[:1], other[:1])
    height, width = here[0].shape
    part = there[0][height // 3:height * 2 // 3, :width // 2]
    for i in range(count):
        frame, x = here[0].copy(), width // 4 + i * width // 40
        if x < width:
            frame[height // 3:height // 3 + part.shape[0], x:x + part.shape[1]] = part[:, :width - x]
        yield frame


def streams_of(clip, other, rng, sigma):
    """name -> (frames, which of them are blurred)."""
    def noisy(frames, sigmas=sigma):
        sigmas = np.broadcast_to(sigmas, len(frames))
        return [to_bytes(f + rng.normal(0, s, f.shape)) if s > 0 else to_bytes(f) for f, s in zip(frames, sigmas)]

    sharp = np.zeros(len(clip), bool)
    streams = {"as it is": (noisy(clip), sharp)}
    for length in LENGTHS:
        mask = bursts(len(clip), rng)
        frames = [blurred(f, length, rng.uniform(0, np.pi)) if m else f for f, m in zip(clip, mask)]
        streams[length] = noisy(frames), mask
    a, b = alike(clip, other)
    shots = [*a[:30], *b[:30], *a[30:60]]
    part = clip[:60]
    light = np.interp(np.arange(len(part)), (10, 25, 35, 50), (1, 0.5, 0.5, 1))
    black = np.interp(np.arange(len(part)), (5, 25, 35, 55), (1, 0, 0, 1))
    drive = list(leaving(clip, other))
    for name, frames, sigmas in (("cuts", shots, sigma), ("fade", [f * a for f, a in zip(part, light)], sigma),
                                 ("black", [f * a for f, a in zip(part, black)], 0),
                                 ("noise", part, np.where(np.arange(len(part)) < len(part) // 2, 8, 1)),
                                 ("leaving", drive, max(sigma, 1))):
        streams[name] = noisy(frames, sigmas), np.zeros(len(frames), bool)
    return streams


def counted(clip, other, rate, seed, meter, gate, sigma):
    """Column -> dropped frames, and of how many."""
    counts = {"false": np.zeros(2, int)}
    own = np.zeros(len(clip), bool)
    for name, (frames, mask) in streams_of(clip, other, np.random.default_rng(seed), sigma).items():
        dropped = ~passed(frames, rate, meter, gate)
        if name == "as it is":
            own = dropped
        elif name not in ("cuts", "leaving"):
            dropped = dropped & (mask | ~own[:len(dropped)])
        if name in LENGTHS:
            counts["false"] += (dropped & ~mask).sum(), (~mask).sum()
        of = mask if name in LENGTHS else ~mask
        counts[name] = np.array(((dropped & of).sum(), of.sum()))
    return counts


def table(first, rows):
    """Rows are (name, columns)."""
    print(f"| {first} | recall 3 px | 4 px | 7 px | 12 px | false drops | as it is | cuts | fade | black | noise | leaving |")
    print("|---" + "|--:" * 11 + "|")
    for name, counts in rows:
        recall = (f"{counts[n][0] / max(1, counts[n][1]):.3f}" for n in LENGTHS)
        false = f"{100 * counts['false'][0] / max(1, counts['false'][1]):.2f}%"
        drops = (f"{counts[n][0]} of {counts[n][1]}" for n in ("as it is", "cuts", "fade", "black", "noise", "leaving"))
        print("|", " | ".join((name, *recall, false, *drops)), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split(" > table")[0])
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--meter", action="append")
    parser.add_argument("--gate", action="append")
    parser.add_argument("--frames", type=int, default=240)
    parser.add_argument("--noise", type=float, default=0)
    options = parser.parse_args()
    Gst.init(None)
    cv2.setNumThreads(1)
    clips = []
    for k, path in enumerate(options.clips):
        is_picture = path.lower().endswith((".png", ".jpg", ".jpeg"))
        clips.append((25.0, list(pan(path, np.random.default_rng(k)))) if is_picture else decoded(path, options.frames))

    def by_clip(meter, gate):
        for k, (rate, clip) in enumerate(clips):
            other = clips[(k + 1) % len(clips)][1] if len(clips) > 1 else clip[::-1]
            yield os.path.basename(options.clips[k]), counted(clip, other, rate, k, meter, gate, options.noise)

    first, rows = None, []
    for meter in options.meter or METERS:
        for gate in options.gate or GATES:
            clip_rows = list(by_clip(meter, gate))
            first = first or clip_rows
            total = {name: sum(counts[name] for _, counts in clip_rows) for name in clip_rows[0][1]}
            rows.append((f"`{' '.join(('sharpnessmeter ' + meter).split())} ! "
                         f"{' '.join(('sharpnessgate mode=relative ' + gate).split())}`", total))
    table("pipeline", rows)
    print("\nThe first of these, clip by clip:\n")
    table("clip", first)


if __name__ == "__main__":
    main()
