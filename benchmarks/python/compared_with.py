# SPDX-License-Identifier: LGPL-2.1-or-later
"""CPU time of one frame of 1920x1080 in framequality, OpenCV, scikit-image and FFmpeg, one thread each, in turn.

usage: compared_with.py [ROUNDS], with the package in PYTHONPATH (python3-opencv, python3-skimage, ffmpeg). Prints a
Markdown table of medians. The frame is a photograph that comes with scikit-image, mirrored until it fills the frame, so that
its detail is that of a camera and not of an enlargement.
"""
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import cv2
import numpy
import skimage
import skimage.data
from skimage.measure import blur_effect

import framequality as fq

WIDTH, HEIGHT = 1920, 1080
FRAMES = 20  # that FFmpeg filters in one process
OURS = '`fq.score(gray, metric="laplacian-variance")`'


def photograph():
    gray = cv2.cvtColor(skimage.data.coffee(), cv2.COLOR_RGB2GRAY)
    height, width = gray.shape
    return numpy.pad(gray, ((0, HEIGHT - height), (0, WIDTH - width)), mode="symmetric")


def own_time(function):
    """Seconds of CPU time of this process."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def ffmpeg_time(frame, video_filter):
    """Seconds of CPU time of a process that reads the frame over and over, and filters it."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    begin = used()
    subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "-1", "-f", "rawvideo", "-pixel_format", "gray", "-video_size",
                    f"{WIDTH}x{HEIGHT}", "-i", frame, "-frames:v", str(FRAMES), "-threads", "1", "-filter_threads", "1",
                    "-vf", video_filter, "-f", "null", "-"], check=True)
    return used() - begin


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    cv2.setNumThreads(1)
    gray = photograph()
    calls = {
        OURS: lambda: fq.score(gray, metric="laplacian-variance"),
        "`fq.score(gray)`, which is Tenengrad": lambda: fq.score(gray),
        "`fq.score(gray, **fq.ACROSS_SCENES)`": lambda: fq.score(gray, **fq.ACROSS_SCENES),
        "`fq.measure(gray)`: score, noise, exposure, kind of blur": lambda: fq.measure(gray),
        "`cv2.Laplacian(gray, cv2.CV_64F).var()`": lambda: cv2.Laplacian(gray, cv2.CV_64F).var(),
        "`skimage.measure.blur_effect(gray)`": lambda: blur_effect(gray),
    }
    filtered = "`ffmpeg -vf blurdetect`, less the same with `-vf null`"
    times = {name: [] for name in (*calls, filtered)}
    with tempfile.TemporaryDirectory() as folder:
        frame = pathlib.Path(folder) / "frame.gray"
        frame.write_bytes(gray.tobytes())
        for turn in range(rounds + 1):
            taken = {name: own_time(function) for name, function in calls.items()}
            taken[filtered] = (ffmpeg_time(frame, "blurdetect") - ffmpeg_time(frame, "null")) / FRAMES
            if turn:  # the first one warms caches and pools of memory
                for name, seconds in taken.items():
                    times[name].append(seconds * 1e3)
    version = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True).stdout.split()[2]
    print(f"OpenCV {cv2.__version__}, scikit-image {skimage.__version__}, FFmpeg {version}, NumPy {numpy.__version__},"
          f" Python {sys.version.split()[0]}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {rounds} rounds\n")
    unit = statistics.median(times[OURS])
    print("| 1920x1080, gray, one thread | CPU time | least | times ours |\n|---|--:|--:|--:|")
    for name, all_of in times.items():
        middle = statistics.median(all_of)
        print(f"| {name} | {middle:.3g} ms | {min(all_of):.3g} ms | {middle / unit:.3g} |")
    own, theirs = fq.score(gray, metric="laplacian-variance"), cv2.Laplacian(gray, cv2.CV_64F).var()
    assert abs(own / theirs - 1) < 1e-14, (own, theirs)


main()
