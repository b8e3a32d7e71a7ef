# SPDX-License-Identifier: LGPL-2.1-or-later
"""The score of a photograph rises with growing JPEG compression and with growing noise.

usage: bliinds_quality.py TOOL PICTURES. Exits 77 (skipped) without the pictures, numpy or PIL. Not every picture is
monotone at every step: docs/bliinds.md has the tables.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

from harness import LIMIT

try:
    import numpy as np
    from PIL import Image
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

tool, pictures = sys.argv[1], pathlib.Path(sys.argv[2])
QUALITIES = [90, 75, 60, 50, 40, 30, 20, 15, 10, 5]
SIGMAS = [2, 4, 6, 8, 10, 15, 20, 30, 40]


def scores(paths):
    run = subprocess.run([tool, "score", *map(str, paths)], check=True, capture_output=True, text=True, timeout=LIMIT)
    return [float(row["score"]) for row in csv.DictReader(run.stdout.splitlines())]


def rises(what, found, least):
    """Whether no step goes down, and the whole way up is `least` at the least."""
    good = all(a <= b for a, b in zip(found, found[1:])) and found[-1] - found[0] >= least
    print("ok  " if good else "FAIL", what, *found)
    return good


def main():
    if not (pictures / "face_s0.png").exists():
        print(f"SKIPPED: no pictures at {pictures}")
        return 77
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for picture in ("face", "pink"):
            codes = np.asarray(Image.open(pictures / f"{picture}_s0.png")).astype(float)
            noise = np.random.default_rng(1).normal(size=codes.shape)
            noisy = [folder / f"{picture}-noise-{sigma}.png" for sigma in SIGMAS]
            for path, sigma in zip(noisy, SIGMAS):
                Image.fromarray(np.clip(np.rint(codes + sigma * noise), 0, 255).astype(np.uint8)).save(path)
            good &= rises(f"{picture}, noise of sigma {SIGMAS}:", scores(noisy), 30)
        image = Image.open(pictures / "face_s0.png")
        packed = [folder / f"quality-{quality}.jpg" for quality in QUALITIES]
        for path, quality in zip(packed, QUALITIES):
            image.save(path, quality=quality)
        good &= rises(f"face, JPEG quality {QUALITIES}:", scores(packed), 40)
    return not good


sys.exit(main())
