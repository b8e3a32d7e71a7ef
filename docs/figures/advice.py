#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what docs/advice.md says about noise, compression and exposure, and prints its tables.

GST_PLUGIN_PATH=build/gst docs/figures/advice.py noise|exposure|compression FILE...
  noise, exposure  FILE...: JPEG photographs of one focus sweep
  compression      FILE: a JPEG photograph, panned; or any video
"""
import pathlib
import sys

import numpy
import scoring
from scoring import table

PREFILTERS = ("none", "binomial3", "binomial5")
EXPOSURES = (0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5)
MAX_SIGMA = 80
# kbit/s; x264enc has no B frames unless told.
ENCODERS = ("bitrate=300", "bitrate=1000", "bitrate=1000 bframes=2 b-adapt=false", "bitrate=4000")


def best_and_worst(files):
    pictures = [scoring.load_luma(file) for file in files]
    scores = scoring.run_gray(pictures, [f"metric={metric}" for metric in scoring.METRICS])
    for metric, row in zip(scoring.METRICS, scores):
        print(f"{metric:24} best {files[row.argmax()]} lowest {files[row.argmin()]} ratio {row.max() / row.min():.2f}")
    print()
    return pictures[scores[0].argmax()], pictures[scores[0].argmin()]


def noise(files):
    """The least sigma at which the noisy defocused picture beats the clean sharp one, and what noise on both does."""
    sharp, defocused = best_and_worst(files)
    settings = [f"metric={metric} prefilter={prefilter}" for metric in scoring.METRICS for prefilter in PREFILTERS]
    random = numpy.random.default_rng(1)
    fields = [random.standard_normal(sharp.shape, dtype=numpy.float32) for _ in range(2)]

    def noisy(picture, field, sigma):
        return numpy.clip(numpy.rint(picture + sigma * field), 0, 255).astype(numpy.uint8)

    clean, lost = scoring.run_gray([sharp, defocused], settings).T
    first = numpy.zeros(len(settings), int)
    for sigma in range(1, MAX_SIGMA + 1):
        first[(first == 0) & (scoring.run_gray([noisy(defocused, fields[0], sigma)], settings)[:, 0] > clean)] = sigma
    both, both_lost = scoring.run_gray([noisy(sharp, fields[1], 5), noisy(defocused, fields[0], 5)], settings).T

    def cell(index):
        if clean[index] < lost[index]:
            return "0"
        return str(first[index]) if first[index] else f"> {MAX_SIGMA}"

    columns = range(len(PREFILTERS))
    table(("metric",) + PREFILTERS,
          *((f"`{metric}`", *(cell(m * 3 + p) for p in columns)) for m, metric in enumerate(scoring.METRICS)))
    table(("metric", *PREFILTERS, *(f"{p}, sigma 5" for p in PREFILTERS)),
          *((f"`{metric}`", *(f"{clean[m * 3 + p] / lost[m * 3 + p]:.2f}" for p in columns),
             *(f"{both[m * 3 + p] / both_lost[m * 3 + p]:.2f}" for p in columns))
            for m, metric in enumerate(scoring.METRICS)))


def exposure(files):
    """Change of the score in percent when the luma of the sharp picture is multiplied."""
    sharp, _ = best_and_worst(files)
    pictures = [numpy.clip(numpy.rint(sharp * float(gain)), 0, 255).astype(numpy.uint8) for gain in EXPOSURES]
    # Video range: black at 16, the picture between 16 and 235.
    limited = [numpy.clip(numpy.rint(16 + sharp * (219 / 255 * gain)), 0, 255).astype(numpy.uint8)
               for gain in EXPOSURES]
    clipped = [f"{100 * numpy.mean(sharp * float(gain) > 255):.1f}" for gain in EXPOSURES]
    print("clipped to white, % of pixels:", dict(zip(EXPOSURES, clipped)), "\n")
    settings = [f"metric={metric} normalize={how}" for metric in scoring.METRICS for how in ("none", "mean")]
    for name, frames, caps in (("full range", pictures, ""), ("limited range", limited, ",colorimetry=bt709")):
        scores = scoring.run_gray(frames, settings, caps)
        one = EXPOSURES.index(1)
        table((name,) + EXPOSURES, *((f"`{text}`", *(f"{100 * (v / row[one] - 1):+.1f}" for v in row))
                                     for text, row in zip(settings, scores)))


def key_frames(text):
    """Which frames of an encoded stream are key frames, in order of display."""
    from gi.repository import Gst

    pipeline = Gst.parse_launch(f"{text} ! h264parse ! appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    sink, frames = pipeline.get_by_name("sink"), []
    while (sample := sink.emit("pull-sample")) is not None:
        buffer = sample.get_buffer()
        frames.append((buffer.pts, not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)))
    pipeline.set_state(Gst.State.NULL)
    return numpy.array([key for _, key in sorted(frames)])


def panned(path, frames=240, size=(640, 480)):
    """The photograph at half size, moving by a pixel a frame, with a sensor's noise of sigma 2."""
    picture = scoring.load_luma(path).astype(numpy.float32)
    half = (picture[::2, ::2] + picture[1::2, ::2] + picture[::2, 1::2] + picture[1::2, 1::2]) / 4
    random = numpy.random.default_rng(1)
    for i in range(frames):
        window = half[200 + i // 3:, 100 + i:][:size[1], :size[0]]
        noise = 2 * random.standard_normal(window.shape, dtype=numpy.float32)
        yield numpy.clip(numpy.rint(window + noise), 0, 255).astype(numpy.uint8)


def compression(files):
    """How the score, divided by the uncompressed frame's, swings within a group of pictures."""
    import tempfile

    settings = [f"metric={metric} prefilter={prefilter} downscale={downscale}"
                for metric in ("tenengrad", "brenner", "laplacian", "laplacian-variance", "gray-difference")
                for prefilter, downscale in (("none", 1), ("binomial3", 1), ("binomial5", 1), ("none", 2),
                                             ("binomial5", 2))]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(files[0])
        if path.suffix.lower() in (".jpg", ".jpeg"):
            raw = pathlib.Path(folder, "pan.gray")
            raw.write_bytes(b"".join(frame.tobytes() for frame in panned(path)))
            source = (f'filesrc location="{raw}" ! rawvideoparse format=gray8 width=640 height=480 framerate=30/1'
                      " ! videoconvert ! video/x-raw,format=I420")
        else:
            source = f'filesrc location="{path.resolve()}" ! decodebin ! videoconvert ! video/x-raw,format=I420'
        before = scoring.run(source, settings)
        for encoder in ENCODERS:
            coded = pathlib.Path(folder, "coded.h264")
            encode = f"{source} ! x264enc key-int-max=30 option-string=scenecut=0 threads=1 sync-lookahead=0 {encoder}"
            scoring.run(f'{encode} ! h264parse ! matroskamux ! filesink location="{coded}"')
            after = scoring.run(f'filesrc location="{coded}" ! matroskademux ! h264parse ! avdec_h264', settings)
            keys = key_frames(f'filesrc location="{coded}" ! matroskademux')
            assert after.shape == before.shape and keys.size == before.shape[1], (after.shape, before.shape, keys.size)
            ratio = after / before
            starts = numpy.flatnonzero(keys)
            starts = starts[starts > 0]
            # The step at a key frame, and the swing between the highest and lowest frame of a group.
            steps = 100 * (ratio[:, starts] / ratio[:, starts - 1] - 1)
            groups = [ratio[:, a:b] for a, b in zip(starts[:-1], starts[1:])]
            swing = numpy.mean([100 * (g.max(axis=1) - g.min(axis=1)) / g.mean(axis=1) for g in groups], axis=0)
            print(f"x264enc key-int-max=30 {encoder}: {keys.sum()} key frames of {keys.size}\n")
            table(("settings", "kept, %", "step at I frames, mean %", "largest %", "swing within a group, %"),
                  *((f"`{text}`", f"{100 * ratio[i].mean():.1f}", f"{steps[i].mean():+.1f}",
                     f"{steps[i][abs(steps[i]).argmax()]:+.1f}", f"{swing[i]:.1f}") for i, text in enumerate(settings)))


if __name__ == "__main__":
    {"noise": noise, "exposure": exposure, "compression": compression}[sys.argv[1]](sys.argv[2:])
