#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the score of bliindsmeter moves with growing compression, noise and blur, and what training on so distorted
pictures says of unseen scenes: the tables of docs/bliinds.md.

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
tool = pathlib.Path(tool).resolve()
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
    return path.name


def opinion(sweep, level):
    """What stands in for a person's score: how much the picture was distorted."""
    return min(99, 0.99 * (100 - level) if sweep.startswith("JPEG") else 2 * level if sweep.startswith("noise") else 10 * level)


def run(folder, *arguments):
    return subprocess.run([tool, *arguments], check=True, stdout=subprocess.PIPE, text=True, cwd=folder).stdout


def train(folder, paths, with_scenes):
    """The report of a model trained on the distorted pictures."""
    with open(folder / "scores.csv", "w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["name", "score"] + ["scene"] * with_scenes)
        for (name, sweep, level), path in paths.items():
            rows.writerow([path, opinion(sweep, level)] + [name] * with_scenes)
    return run(folder, "train", "features.csv", "scores.csv", "model.txt")


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    paths = {}
    for picture in pictures:
        name = pathlib.Path(picture).stem
        codes = np.asarray(Image.open(picture).convert("L")).astype(float)
        for sweep, levels in SWEEPS.items():
            for level in levels:
                paths[name, sweep, level] = save(folder, name, sweep, level, codes)
    table = run(folder, "score", *paths.values())
    score = {row["name"]: row["score"] for row in csv.DictReader(table.splitlines())}
    (folder / "features.csv").write_text(run(folder, "features", *paths.values()), encoding="utf-8")
    reports = [train(folder, paths, with_scenes) for with_scenes in (True, False)]

names = list(dict.fromkeys(name for name, _, _ in paths))
for sweep, levels in SWEEPS.items():
    print(f"| {sweep} | {' | '.join(map(str, levels))} |")
    print("|---|" + "---|" * len(levels))
    for name in names:
        print(f"| {name} | {' | '.join(score[paths[name, sweep, level]] for level in levels)} |")
    print()
for title, report in zip(("by scene", "each picture a scene of its own"), reports):
    print(f"{title}:\n\n{report}")
