#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the score of bliindsmeter notices, and what not: the tables of docs/bliinds.md.

usage: bliinds_sweep.py TOOL distortions PICTURE... > tables.md
       bliinds_sweep.py TOOL mixtures PICTURE...
       bliinds_sweep.py TOOL channels PICTURE...
       bliinds_sweep.py TOOL focus PEAK PICTURE...

distortions  the score, in gray, with growing compression, noise and blur; what training on so distorted pictures says
             of unseen scenes
mixtures     rank correlation of the score with the radius of a blur, under noise, and with compression and noise of
             blurred pictures
channels     the score of luma beside that of red
focus        rank correlation of the score with the distance from the picture in focus, number PEAK, from 0, of a focus
             sweep; pictures whose names are numbers are that far apart

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
from scipy.stats import spearmanr

SWEEPS = {
    "JPEG quality": [100, 90, 75, 60, 50, 40, 30, 20, 15, 10, 5],
    "noise, σ": [0, 2, 4, 6, 8, 10, 15, 20, 30, 40],
    "blur, σ": [0, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16],
}
NOISES = [0, 0.5, 1, 2]
BLURS = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
STRONGER = [2, 5, 10, 20, 40]  # noise
QUALITIES = [90, 75, 50, 30, 20, 10]
CHANNELS = ["red", "luma"]


def codes_of(picture, mode):
    return np.asarray(Image.open(picture).convert(mode)).astype(float)


def distorted(codes, blur=0, noise=0):
    """Blurred, then noisy, each of R, G and B by itself; 8-bit again."""
    if blur:
        codes = gaussian_filter(codes, (blur, blur, 0)[:codes.ndim])
    codes = codes + noise * np.random.default_rng(1).normal(size=codes.shape)
    return Image.fromarray(np.clip(np.rint(codes), 0, 255).astype(np.uint8))


def save(folder, name, sweep, level, codes):
    """Writes the picture, distorted; its path."""
    kind = sweep.split()[0].strip(",")
    image = distorted(codes, **({kind: level} if kind != "JPEG" else {}))
    path = folder / f"{name}-{kind}-{level}.{'jpg' if kind == 'JPEG' else 'png'}"
    image.save(path, **({"quality": level} if kind == "JPEG" else {}))
    return path.name


def opinion(sweep, level):
    """What stands in for a person's score: how much the picture was distorted."""
    return min(99, 0.99 * (100 - level) if sweep.startswith("JPEG") else 2 * level if sweep.startswith("noise") else 10 * level)


def run(tool, folder, *arguments):
    return subprocess.run([tool, *arguments], check=True, stdout=subprocess.PIPE, text=True, cwd=folder).stdout


def scores(tool, folder, paths, channel, column="raw-score"):
    """By path. Raw scores tell apart what all are 0."""
    table = run(tool, folder, "score", f"--channel={channel}", "--", *paths)
    return {row["name"]: float(row[column]) for row in csv.DictReader(table.splitlines())}


def train(tool, folder, paths, with_scenes):
    """The report of a model trained on the distorted pictures."""
    with open(folder / "scores.csv", "w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["name", "score"] + ["scene"] * with_scenes)
        for (name, sweep, level), path in paths.items():
            rows.writerow([path, opinion(sweep, level)] + [name] * with_scenes)
    return run(tool, folder, "train", "features.csv", "scores.csv", "model.txt")


def distortions(tool, folder, pictures):
    paths = {}
    for picture in pictures:
        name, codes = pathlib.Path(picture).stem, codes_of(picture, "L")
        for sweep, levels in SWEEPS.items():
            for level in levels:
                paths[name, sweep, level] = save(folder, name, sweep, level, codes)
    score = scores(tool, folder, paths.values(), "red", "score")
    (folder / "features.csv").write_text(run(tool, folder, "features", *paths.values()), encoding="utf-8")
    reports = [train(tool, folder, paths, with_scenes) for with_scenes in (True, False)]
    names = list(dict.fromkeys(name for name, _, _ in paths))
    for sweep, levels in SWEEPS.items():
        print(f"| {sweep} | {' | '.join(map(str, levels))} |")
        print("|---|" + "---|" * len(levels))
        for name in names:
            print(f"| {name} | {' | '.join(f'{score[paths[name, sweep, level]]:g}' for level in levels)} |")
        print()
    for title, report in zip(("by scene", "each picture a scene of its own"), reports):
        print(f"{title}:\n\n{report}")


def table_of(tool, folder, pictures, channel, kinds):
    """Raw scores, pictures x kinds, a kind being (blur, noise, quality of JPEG or None)."""
    paths = []
    for i, picture in enumerate(pictures):
        codes = codes_of(picture, "RGB")
        for blur, noise, quality in kinds:
            paths.append(f"{i}-{blur}-{noise}-{quality}.{'jpg' if quality else 'png'}")
            if not (folder / paths[-1]).exists():
                distorted(codes, blur, noise).save(folder / paths[-1], **({"quality": quality} if quality else {}))
    found = scores(tool, folder, paths, channel)
    return np.array([found[path] for path in paths]).reshape(len(pictures), len(kinds))


def correlations(levels, table):
    """Over all pictures together, the median of each by itself, and the least."""
    each = [spearmanr(levels, row)[0] for row in table]
    return spearmanr(np.tile(levels, len(table)), table.ravel())[0], np.median(each), min(each)


def mixtures(tool, folder, pictures):
    columns = " | ".join(f"{c}, all scenes | {c}, one scene, median | least" for c in CHANNELS)
    line = "|---|" + "---|" * 3 * len(CHANNELS)
    print(f"{len(pictures)} pictures. With the radius of a blur of σ {', '.join(map(str, BLURS))}, under noise:\n")
    print(f"| noise, σ | {columns} |\n{line}")
    medians = []
    for level in NOISES:
        tables = [table_of(tool, folder, pictures, c, [(blur, level, None) for blur in BLURS]) for c in CHANNELS]
        print(f"| {level} | " + " | ".join(f"{v:.2f}" for t in tables for v in correlations(BLURS, t)) + " |", flush=True)
        medians.append(np.median(tables[0], axis=0))
    print(f"\nMedian raw score of {CHANNELS[0]}:\n\n| blur, σ | {' | '.join(map(str, BLURS))} |")
    print("|---|" + "---|" * len(BLURS))
    for level, row in zip(NOISES, medians):
        print(f"| noise of σ {level} | {' | '.join(f'{v:.0f}' for v in row)} |")
    for what, levels in (("noise", STRONGER), ("compression", QUALITIES)):
        print(f"\nWith {what} ({', '.join(map(str, levels))}) of blurred pictures:\n\n| blur, σ | {columns} |\n{line}")
        for blur in (0, 1, 2, 4):
            cells = []
            for channel in CHANNELS:
                kinds = [(blur, level, None) if what == "noise" else (blur, 0, level) for level in levels]
                order = levels if what == "noise" else [-level for level in levels]
                cells += correlations(order, table_of(tool, folder, pictures, channel, kinds))
            print(f"| {blur} | " + " | ".join(f"{v:.2f}" for v in cells) + " |", flush=True)


def channels(tool, folder, pictures):
    """A JPEG picture comes as YUV; decoded to RGB and kept as PNG it has the same red but for the chroma between."""
    print("| picture | luma | red | red of RGB |\n|---|---|---|---|")
    paths = [str(pathlib.Path(picture).resolve()) for picture in pictures]
    copies = [f"{i}.png" for i in range(len(paths))]
    for path, copy in zip(paths, copies):
        Image.open(path).convert("RGB").save(folder / copy)
    luma, red = (scores(tool, folder, paths, channel, "score") for channel in ("luma", "red"))
    rgb = scores(tool, folder, copies, "red", "score")
    for path, copy in zip(paths, copies):
        print(f"| {pathlib.Path(path).stem} | {luma[path]:g} | {red[path]:g} | {rgb[copy]:g} |")
    apart = np.array([abs(luma[path] - red[path]) for path in paths])
    rounded = np.array([abs(rgb[copy] - red[path]) for path, copy in zip(paths, copies)])
    print(f"\nluma and red: {(apart > 2).sum()} of {len(apart)} differ by more than 2, half of them by more than "
          f"{np.median(apart):g}, the worst by {apart.max():g}")
    print(f"red and red of RGB: half of them differ by more than {np.median(rounded):g}, the worst by {rounded.max():g}")


def focus(tool, folder, arguments):
    peak, *pictures = arguments
    paths = [str(pathlib.Path(picture).resolve()) for picture in pictures]
    try:
        places = np.array([float(pathlib.Path(path).stem) for path in paths])
    except ValueError:
        places = np.arange(len(paths))
    away = np.abs(places - places[int(peak)])
    for channel in CHANNELS:
        found = scores(tool, folder, paths, channel)
        row = np.array([found[path] for path in paths])
        print(f"{channel}: rank correlation with defocus {spearmanr(away, row)[0]:.2f}; raw score {row[int(peak)]:.1f} in "
              f"focus, {row.min():.1f} to {row.max():.1f} in all; lowest {away[row.argmin()]:g} from focus")


def main():
    tasks = {task.__name__: task for task in (distortions, mixtures, channels, focus)}
    if len(sys.argv) < 4 or sys.argv[2] not in tasks:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        tasks[sys.argv[2]](pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder), sys.argv[3:])


main()
