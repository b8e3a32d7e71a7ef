#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the score of bliindsmeter moves with growing compression, noise and blur: the tables of bliinds.md.

usage: bliinds_sweep.py TOOL PICTURE... > tables.md
TOOL is framequality-bliinds. Needs python3-numpy, python3-pil, python3-scipy. The same pictures give the same tables.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

tool, *pictures = sys.argv[1:]
SWEEPS = {
    "JPEG quality": [100, 90, 75, 60, 50, 40, 30, 20, 15, 10, 5],
    "noise, σ": [0, 2, 4, 6, 8, 10, 15, 20, 30, 40],
    "blur, σ": [0, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16],
}


def save(folder, name, sweep, level, codes):
    """Writes the picture, distorted; its path."""
    kind = sweep.split()[0].strip(",")
    if kind == "noise":
        codes = codes + level * np.random.default_rng(1).normal(size=codes.shape)
    if kind == "blur":
        codes = gaussian_filter(codes, level)
    image = Image.fromarray(np.clip(np.rint(codes), 0, 255).astype(np.uint8))
    path = folder / f"{name}-{kind}-{level}.{'jpg' if kind == 'JPEG' else 'png'}"
    image.save(path, **({"quality": level} if kind == "JPEG" else {}))
    return str(path)


with tempfile.TemporaryDirectory() as folder:
    paths = {}
    for picture in pictures:
        name = pathlib.Path(picture).stem
        codes = np.asarray(Image.open(picture).convert("L")).astype(float)
        for sweep, levels in SWEEPS.items():
            for level in levels:
                paths[name, sweep, level] = save(pathlib.Path(folder), name, sweep, level, codes)
    table = subprocess.run([tool, "score", *paths.values()], check=True, capture_output=True, text=True).stdout
    score = {row["name"]: row["score"] for row in csv.DictReader(table.splitlines())}

names = list(dict.fromkeys(name for name, _, _ in paths))
for sweep, levels in SWEEPS.items():
    print(f"| {sweep} | {' | '.join(map(str, levels))} |")
    print("|---|" + "---|" * len(levels))
    for name in names:
        print(f"| {name} | {' | '.join(score[paths[name, sweep, level]] for level in levels)} |")
    print()
