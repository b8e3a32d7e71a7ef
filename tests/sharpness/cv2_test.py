#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The line that most people type in Python, cv2.Laplacian(g, cv2.CV_64F).var(), gives the score of laplacian-variance
to about 15 digits: var() sums rounded numbers, the score comes of exact integers.

usage: cv2_test.py SCORE_TOOL. SCORE_TOOL: a command, words parted by tabs. Exits 77 (skipped) without python3-opencv.
"""
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error} (python3-opencv)")
    sys.exit(77)

DIGITS = 5e-15  # relative: 15 digits, the last one at most 5 off
noise = numpy.random.default_rng(4)


def frames():
    for width, height in ((33, 20), (320, 240), (641, 479), (1920, 1080)):
        y, x = numpy.mgrid[0:height, 0:width]
        yield "random", noise.integers(0, 256, (height, width))
        yield "noisy ramp", (x + 2 * y) * 255 / (width + 2 * height) + noise.normal(0, 3, (height, width))
        yield "waves", numpy.sin(x / 7) * 80 + numpy.cos(y / 9) * 40 + 120
        yield "dim", noise.normal(20, 1, (height, width))
        yield "checker", (x // 8 + y // 8) % 2 * 255


tool = sys.argv[1].split("\t")
exact = failed = count = 0
for name, frame in frames():
    frame = numpy.clip(numpy.rint(frame), 0, 255).astype(numpy.uint8)
    height, width = frame.shape
    with tempfile.NamedTemporaryFile() as file:
        frame.tofile(file.name)
        out = subprocess.run([*tool, file.name, f"width={width}", f"height={height}"], check=True,
                             capture_output=True, text=True).stdout
    score = float(dict(line.split()[:2] for line in out.splitlines())["laplacian-variance"])
    typed = float(cv2.Laplacian(frame, cv2.CV_64F).var())
    count += 1
    exact += score == typed
    if abs(score - typed) > DIGITS * typed:
        failed += 1
        print(f"FAILED {name} {width}x{height}: {score!r}, cv2 {typed!r}")
print(f"{count} frames compared, {exact} equal to the last bit, {failed} differ")
sys.exit(1 if failed else 0)
