#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores, noise and exposure of every meter agree with the oracle scripts to 1e-12 relative: random frames,
photographs, all options.

usage: oracle_test.py SCORE_TOOL SHARED_DIRECTORY [ROUNDS]. SCORE_TOOL: a command, words parted by tabs. ROUNDS: fewer
random images than by default, and no photographs. Exits 77 (skipped) where the oracle or numpy is absent.
"""
import csv
import importlib
import math
import os
import random
import subprocess
import sys
import tempfile

SKIPPED = 77


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


tool, shared = sys.argv[1].split("\t"), sys.argv[2]
folder = os.path.join(shared, "oracles", "sharpness")
for name in ("oracle.py", "truth.py", "directional.py"):
    if not os.path.exists(os.path.join(folder, name)):
        skip(f"no {name} at {folder}")
try:
    import numpy as np
except ImportError:
    skip("python3-numpy is not installed")
sys.dont_write_bytecode = True
sys.path.insert(0, folder)
oracle = importlib.import_module("oracle")
from definitions import DIRECTIONAL, KNOWN, TOLERANCE, blur_definition, definition, statistics  # pylint: disable=wrong-import-position

METERS = ["reference"] + subprocess.run([*tool, "isa=list"], check=True, capture_output=True, text=True).stdout.split()
work = tempfile.TemporaryDirectory()
compared, failures = 0, []


def measured(g, meter, depth=8, prefilter="none", downscale=1, normalize="none", limited=False, roi=None,
             zones=(1, 1), interlaced=False, correct=False, bayer=None):
    """-> {metric: (score, [zone scores])} of the picture by one meter; options as those of definition(). The entry
    "statistics" has what statistics() returns."""
    path = os.path.join(work.name, "picture.raw")
    g.astype("<u2" if depth > 8 else "u1").tofile(path)
    command = [*tool, path, f"isa={meter}", f"width={g.shape[1]}", f"height={g.shape[0]}", f"depth={depth}",
               f"prefilter={['none', 'binomial3', 'binomial5'].index(prefilter)}", f"downscale={downscale}",
               f"normalize={int(normalize == 'mean')}", f"limited={int(limited)}", f"interlaced={int(interlaced)}",
               f"columns={zones[0]}", f"rows={zones[1]}", f"corrected={int(correct)}", "statistics=1"]
    if bayer:
        command.append(f"bayer={bayer}")
    if roi:
        command.append("roi=" + ",".join(map(str, roi)))
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {r[0]: (float(r[1]), [float(v) for v in r[2:]]) for r in rows}


def expect(wanted, got, what, least=0):
    global compared
    compared += 1
    if abs(wanted) < least and abs(got) < least:
        return
    # Scores far below one code are differences of integers: exact in both, or 0.
    if not (math.isfinite(got) and abs(got - wanted) <= TOLERANCE * abs(wanted)):
        failures.append(f"{what}: expected {wanted!r}, got {got!r}")


def compare(g, what, mosaic=None, **options):
    """All metrics by all meters against the oracle. mosaic: what the meters see in place of g, which is the luma of its
    cells: (samples, order, roi in samples)."""
    wanted = {m: definition(g, m, **options) for m in KNOWN}
    exposed = statistics(g, **options)
    blurred = blur_definition(g, **options)
    # Corrected scores are differences: what is left of two equal numbers is their rounding.
    least = 1e-9 if options.get("correct") else 0
    for meter in METERS:
        if mosaic is None:
            got = measured(g, meter, **options)
        elif meter == "reference":  # it knows codes alone
            continue
        else:
            got = measured(mosaic[0], meter, bayer=mosaic[1], **{**options, "roi": mosaic[2]})
        first, rest = got.pop("statistics")
        for name, a, b in zip(("noise", "mean", "black", "white", "rms"), exposed, [first, *rest]):
            expect(a, b, f"{meter} {name} {what} {g.shape[1]}x{g.shape[0]} {options}")
        for name in ("blur", "own-blur"):
            kind, (anisotropy, angle, sharpest) = got.pop(name)
            label = f"{meter} {name} {what} {g.shape[1]}x{g.shape[0]} {options}"
            expect(blurred[0], kind, label)
            expect(blurred[1], anisotropy, label, 1e-9)
            # At 0 and 180 degrees the angle turns over; where there is no direction it is one of two errors.
            if blurred[1] > 1e-6:
                turn = abs(angle - blurred[2])
                expect(0.0, min(turn, 180 - turn), label, 1e-4)
            best = sorted(got["variance" if name == "blur" else DIRECTIONAL][1], reverse=True)[:3]
            expect(sum(best) / len(best), sharpest, label, least)
        assert sorted(got) == sorted(KNOWN), f"the metrics differ: {sorted(got)}"
        for metric, (score, zones) in wanted.items():
            label = f"{meter} {metric} {what} {g.shape[1]}x{g.shape[0]} {options}"
            expect(score, got[metric][0], label, least)
            assert len(zones) == len(got[metric][1]), label
            for i, (a, b) in enumerate(zip(zones, got[metric][1])):
                expect(a, b, f"{label} zone {i}", least)


def picture(dice, fill, width, height, depth):
    top = (1 << depth) - 1
    noise = np.random.default_rng(dice.getrandbits(32))
    y, x = np.mgrid[0:height, 0:width]
    return {
        "random": lambda: noise.integers(0, top + 1, (height, width)),
        "black": lambda: np.zeros((height, width), np.int64),
        "white": lambda: np.full((height, width), top),
        "checker": lambda: (x + y) % 2 * top,
        "columns": lambda: x // 2 % 2 * top,
        "ramp": lambda: (x + 2 * y) * top // (width + 2 * height),
        "dim": lambda: noise.integers(0, 24 << (depth - 8), (height, width)),  # normalize: around black
        "noisy": lambda: np.clip(np.rint((x + 2 * y) * top / (width + 2 * height)
                                         + noise.normal(0, 3 << (depth - 8), (height, width))), 0, top).astype(np.int64),
        "covered": lambda: np.clip(np.rint(noise.normal(0, 4 << (depth - 8), (height, width))), 0, top).astype(np.int64),
    }[fill]()


def random_roi(dice, width, height):
    if dice.random() < 0.15:
        wild = [-2**31, -7, 0, 3, 2**31 - 1]
        return tuple(dice.choice(wild) for _ in range(4))
    x, y = dice.randint(-width // 4, width - 1), dice.randint(-height // 4, height - 1)
    return x, y, dice.randint(0, width + 3), dice.randint(0, height + 3)


def sweep(seed, rounds):
    dice = random.Random(seed)
    sizes = [(1, 1), (2, 2), (3, 3), (1, 9), (9, 1), (2, 5), (16, 16), (33, 7), (64, 65), (77, 55), (130, 41), (18, 18),
             (35, 170)]
    for n in range(rounds):
        width, height = sizes[n % len(sizes)]
        depth = dice.choice([8, 10, 12, 16])
        fill = dice.choice(["random", "random", "random", "black", "white", "checker", "columns", "ramp", "dim", "noisy",
                            "noisy", "covered"])
        compare(picture(dice, fill, width, height, depth), f"{fill} seed {seed} round {n}", depth=depth,
                prefilter=dice.choice(["none", "binomial3", "binomial5"]), downscale=dice.choice([1, 2, 4]),
                normalize=dice.choice(["none", "mean"]), limited=dice.random() < 0.5,
                correct=dice.random() < 0.5, interlaced=dice.random() < 0.3, zones=dice.choice([(1, 1), (1, 1), (2, 3), (5, 4), (9, 11)]),
                roi=random_roi(dice, width, height) if dice.random() < 0.5 else None)


def cells(mosaic, order):
    """Luma of each whole cell of 2x2 samples: BT.601 in steps of 1/128, rounded to nearest."""
    h, w = (n // 2 * 2 for n in mosaic.shape)
    weights = np.array([{"r": 38, "g": 38, "b": 14}[colour] for colour in order]).reshape(2, 2)
    assert weights.sum() == 128
    return sum(weights[j, i] * mosaic[j:h:2, i:w:2].astype(np.int64) for j in (0, 1) for i in (0, 1)) + 64 >> 7


def mosaics(seed, rounds):
    dice = random.Random(seed)
    for n in range(rounds):
        width, height = dice.choice([(2, 2), (3, 5), (17, 9), (66, 67), (131, 90), (260, 40)])
        depth, order = dice.choice([8, 10, 12, 14, 16]), dice.choice(["bggr", "gbrg", "grbg", "rggb"])
        samples = picture(dice, dice.choice(["random", "checker", "columns", "ramp", "noisy", "white"]), width, height, depth)
        # A region reaches from the cell that holds its first sample to before the one that holds the first beyond.
        roi = random_roi(dice, width, height) if dice.random() < 0.5 else None
        if roi and any(abs(v) > 2**30 for v in roi):
            roi = None
        x0, y0, x1, y1 = (max(v, 0) // 2 for v in (roi[0], roi[1], roi[0] + roi[2], roi[1] + roi[3])) if roi else (0,) * 4
        compare(cells(samples, order), f"{order} seed {seed} round {n} roi {roi}", mosaic=(samples, order, roi), depth=depth,
                prefilter=dice.choice(["none", "binomial3", "binomial5"]), downscale=dice.choice([1, 2, 4]),
                normalize=dice.choice(["none", "mean"]), correct=dice.random() < 0.5,
                zones=dice.choice([(1, 1), (2, 3), (5, 4)]), roi=(x0, y0, x1 - x0, y1 - y0) if roi else None)


def photographs():
    try:
        from PIL import Image
    except ImportError:
        print("photographs not compared: python3-pil is not installed")
        return
    stack = os.path.join(shared, "media", "stack-pcb")
    if not os.path.isdir(stack):
        print(f"photographs not compared: none at {stack}")
        return
    for name in ("pcb_000.JPG", "pcb_003.JPG", "pcb_009.JPG"):
        g = oracle.read(os.path.join(stack, name))[300:811, 700:1347]
        for options in ({}, dict(prefilter="binomial3"), dict(prefilter="binomial5", downscale=2, normalize="mean"),
                        dict(downscale=4, interlaced=True, zones=(4, 3)),
                        dict(correct=True), dict(correct=True, prefilter="binomial5"),
                        dict(correct=True, prefilter="binomial3", normalize="mean", zones=(4, 3), interlaced=True),
                        dict(normalize="mean", limited=True, roi=(101, 57, 333, 222), zones=(3, 5))):
            compare(g, name, **options)
        compare(g << 2 | g >> 6, name + " as 10 bits", depth=10, prefilter="binomial3", zones=(2, 2))
        compare(g * 257, name + " as 16 bits", depth=16, prefilter="binomial5")
    # Whole photographs against the table: prefilter, picture, metric, score; decoded as oracle.read does.
    table = os.path.join(folder, "stack-pcb.csv")
    with open(table, newline="") as file:
        rows = list(csv.reader(file))
    scores = {}
    for prefilter, name, metric, score in rows:
        key = prefilter, name
        if key not in scores:
            g = oracle.read(os.path.join(stack, name))
            scores[key] = {meter: measured(g, meter, prefilter=prefilter) for meter in METERS if meter != "reference"}
            exposed = statistics(g)
            for meter, got in scores[key].items():
                for what, a, b in zip(("noise", "mean", "black", "white", "rms"), exposed,
                                      [got["statistics"][0], *got["statistics"][1]]):
                    expect(a, b, f"{meter} {what} {name}")
        for meter, got in scores[key].items():
            expect(float(score), got[metric][0], f"{meter} {metric} {name} {prefilter} of stack-pcb.csv")


if len(sys.argv) > 3:
    sweep(9, int(sys.argv[3]))
    mosaics(9, int(sys.argv[3]))
else:
    for seed in range(3):
        sweep(seed, 44)
    mosaics(3, 60)
    photographs()
print(f"{compared} scores compared, meters: {' '.join(METERS)}")
for line in failures[:20]:
    print("FAILED", line)
print(f"{len(failures)} differ")
sys.exit(1 if failures else 0)
