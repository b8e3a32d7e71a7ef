# SPDX-License-Identifier: LGPL-2.1-or-later
"""CPU time of the Python package compared with OpenCV's in one process, one thread each, medians of 200 by turns.

usage: versus_cv2.py, with the package in PYTHONPATH. Prints a Markdown table.
"""
import statistics
import subprocess
import sys
import time

import cv2
import numpy

import framequality as fq

REPEATS = 200


def medians(*functions):
    """Milliseconds of CPU time of each, called by turns."""
    times = [[] for _ in functions]
    for turn in range(REPEATS + 10):
        for function, taken in zip(functions, times):
            begin = time.process_time_ns()
            function()
            if turn >= 10:
                taken.append(time.process_time_ns() - begin)
    return [statistics.median(t) / 1e6 for t in times]


def per_call(function, calls=20000):
    """Microseconds, the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        begin = time.process_time_ns()
        for _ in range(calls):
            function()
        best = min(best, (time.process_time_ns() - begin) / calls / 1e3)
    return best


def import_time():
    """Milliseconds that the import adds to an interpreter, median of 21."""
    def run(code):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"], check=True)
        return time.perf_counter() - begin
    return (statistics.median(run("import framequality") - run("pass") for _ in range(21))) * 1e3


def main():
    cv2.setNumThreads(1)
    rng = numpy.random.default_rng(1)
    gray = cv2.GaussianBlur(rng.integers(0, 256, (1080, 1920), numpy.uint8), (0, 0), 1)
    color = numpy.ascontiguousarray(numpy.stack([gray, gray[::-1], gray[:, ::-1]], -1))
    four = numpy.ascontiguousarray(numpy.concatenate([color, color[..., :1]], -1))
    planar = numpy.ascontiguousarray(numpy.moveaxis(color, -1, 0))
    deep, floats = gray.astype(numpy.uint16) * 16, (gray / 255).astype(numpy.float32)
    metric = {"metric": "laplacian-variance"}
    rows = {
        "`cv2.Laplacian(gray, cv2.CV_64F).var()`": lambda: cv2.Laplacian(gray, cv2.CV_64F).var(),
        "the same of BGR, with `cv2.cvtColor`": lambda: cv2.Laplacian(cv2.cvtColor(color, cv2.COLOR_BGR2GRAY), cv2.CV_64F).var(),
        "`fq.score(gray, metric=\"laplacian-variance\")`": lambda: fq.score(gray, **metric),
        "of RGB": lambda: fq.score(color, **metric),
        "of BGR": lambda: fq.score(color, order="bgr", **metric),
        "of RGBA": lambda: fq.score(four, **metric),
        "of planar RGB": lambda: fq.score(planar, channel_axis=0, **metric),
        "of one channel of RGB": lambda: fq.score(color[..., 1], **metric),
        "of 12 bits": lambda: fq.score(deep, bits=12, **metric),
        "of float32": lambda: fq.score(floats, **metric),
        "`fq.measure(gray)`, with noise, exposure, blur": lambda: fq.measure(gray, **metric),
    }
    found = medians(*rows.values())
    first, plain = found[0], found[2]
    print("| 1920x1080, one thread | CPU time | of OpenCV's | of gray |\n|---|--:|--:|--:|")
    for name, ms in zip(rows, found):
        print(f"| {name} | {ms:.3f} ms | 1/{first / ms:.1f} | {ms / plain:.2f} |")
    assert fq.score(gray, **metric) == cv2.Laplacian(gray, cv2.CV_64F).var() or abs(
        fq.score(gray, **metric) / cv2.Laplacian(gray, cv2.CV_64F).var() - 1) < 1e-14
    small = numpy.ascontiguousarray(gray[:64, :64])
    print(f"\n64x64: {per_call(lambda: fq.score(small, metric='laplacian-variance')):.2f} us a call; import {import_time():.1f} ms")


main()
