# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of the Python package run, and print what they promise.

usage: examples_test.py EXAMPLES NAME. Exits 77 (skipped) where what the example uses is not installed.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(sys.argv[1]).resolve()


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def require(*modules):
    for module in modules:
        try:
            __import__(module)
        except ImportError:
            skip(f"{module} is not installed")


def run(name, *arguments):
    done = subprocess.run([sys.executable, str(EXAMPLES / name), *map(str, arguments)], capture_output=True, text=True,
                          timeout=80, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_images(folder, count=4):
    """Noise, smoothed more from image to image, as PGM files."""
    rng = random.Random(7)
    row = [[rng.randrange(256) for _ in range(96)] for _ in range(72)]
    for number in range(count):
        (folder / f"{number}.pgm").write_bytes(b"P5 96 72 255\n" + b"".join(bytes(r) for r in row))
        row = [[(row[y][x - 1] + row[y][x] + row[y][(x + 1) % 96] + row[y - 1][x] + row[(y + 1) % 72][x]) // 5
                for x in range(96)] for y in range(72)]


def replace_cv2():
    require("numpy")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_images(folder)
        scores = [float(line.split()[0]) for line in run("replace_cv2.py", *sorted(folder.iterdir())).splitlines()]
    assert len(scores) == 4 and scores == sorted(scores, reverse=True), scores


def sort_folder():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_images(folder)
        (folder / "broken.pgm").write_bytes(b"P5 9")
        lines = run("sort_folder.py", folder).splitlines()
    assert len(lines) == 4, lines
    scores = [float(line.split()[0]) for line in lines]
    assert scores == sorted(scores, reverse=True), lines
    assert all(line.split()[1] in ("flat", "sharp", "defocus", "motion") for line in lines), lines


def best_frames():
    require("numpy", "cv2")
    import cv2
    import numpy

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        clip = str(folder / "clip.avi")
        writer = cv2.VideoWriter(clip, cv2.VideoWriter_fourcc(*"MJPG"), 25, (160, 120))
        texture = cv2.resize(numpy.random.default_rng(1).integers(0, 256, (60, 80, 3), numpy.uint8), (160, 120))
        for number in range(30):
            writer.write(texture if number in (4, 17, 23) else cv2.GaussianBlur(texture, (0, 0), 2))
        writer.release()
        lines = run("best_frames.py", clip, folder / "best", 10).splitlines()
        found = sorted(int(p.stem) for p in (folder / "best").iterdir())
    assert found == [4, 17, 23] and len(lines) == 3, (found, lines)


def focus_pymmcore():
    words = run("focus_pymmcore.py").split()
    assert abs(float(words[3]) - 37.4) < 0.5, words


def score_tensor():
    require("torch")
    scores = [float(line) for line in run("score_tensor.py").splitlines()]
    assert len(scores) == 4 and scores[1] < scores[0] / 10, scores


os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
globals()[sys.argv[2]]()
