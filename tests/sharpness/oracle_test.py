#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores of every meter agree with the oracle script to 1e-12 relative: random frames, photographs, all options.

usage: oracle_test.py SCORE_TOOL SHARED_DIRECTORY. SCORE_TOOL: a command, words parted by tabs. Exits 77 (skipped) where the oracle or numpy is absent.
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
TOLERANCE = 1e-12  # the oracle and score.h round a few doubles in different orders


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


tool, shared = sys.argv[1].split("\t"), sys.argv[2]
folder = os.path.join(shared, "oracles", "sharpness")
if not os.path.exists(os.path.join(folder, "oracle.py")):
    skip(f"no oracle at {folder}")
try:
    import numpy as np
except ImportError:
    skip("python3-numpy is not installed")
if not os.path.exists(os.path.join(folder, "truth.py")):
    skip(f"no truth.py at {folder}")
sys.dont_write_bytecode = True
sys.path.insert(0, folder)
oracle, truth = importlib.import_module("oracle"), importlib.import_module("truth")

# What truth.py defines of whole frames, in regions, zones and fields: what each pixel adds goes where the oracle sums
# what pixels of other metrics add.
RATIO = "mean-square-frequency"
KNOWN = oracle.METRICS + [RATIO]
oracle.POWER[RATIO] = 0
contributions, finish = oracle.contributions, oracle.finish


def contributions_and_ratio(g, metric, depth, f):
    if metric != RATIO:
        return contributions(g, metric, depth, f)
    gradient = contributions(g, "tenengrad", depth, f)[0]
    bends = np.zeros_like(gradient)
    if min(g.shape) > 2:
        bends[1:-1, 1:-1] = (g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:] - 4 * g[1:-1, 1:-1]) ** 2
    return [bends, gradient]


def finish_or_ratio(metric, parts, n, depth, f):
    if metric != RATIO:
        return finish(metric, parts, n, depth, f)
    bends, gradient = (int(part.sum(dtype=object)) if part.size else 0 for part in parts)
    return 64 * bends / gradient if gradient else 0.0


oracle.contributions, oracle.finish = contributions_and_ratio, finish_or_ratio


def definition(g, metric, **options):
    """-> (score, [zone scores]) of any metric."""
    if metric == RATIO:
        options["normalize"] = "none"
    score, zones = oracle.score(g, metric, **options)
    if metric == RATIO and set(options) <= {"depth", "prefilter", "downscale", "normalize", "limited"}:
        whole = {key: options[key] for key in ("depth", "prefilter", "downscale") if key in options}
        assert math.isclose(score, truth.ratio(g, **whole), rel_tol=TOLERANCE), (score, truth.ratio(g, **whole))
    return score, zones


METERS = ["reference"] + subprocess.run([*tool, "isa=list"], check=True, capture_output=True, text=True).stdout.split()
work = tempfile.TemporaryDirectory()
compared, failures = 0, []


def measured(g, meter, depth=8, prefilter="none", downscale=1, normalize="none", limited=False, roi=None,
             zones=(1, 1), interlaced=False):
    """-> {metric: (score, [zone scores])} of the picture by one meter; options as those of oracle.score."""
    path = os.path.join(work.name, "picture.raw")
    g.astype("<u2" if depth > 8 else "u1").tofile(path)
    command = [*tool, path, f"isa={meter}", f"width={g.shape[1]}", f"height={g.shape[0]}", f"depth={depth}",
               f"prefilter={['none', 'binomial3', 'binomial5'].index(prefilter)}", f"downscale={downscale}",
               f"normalize={int(normalize == 'mean')}", f"limited={int(limited)}", f"interlaced={int(interlaced)}",
               f"columns={zones[0]}", f"rows={zones[1]}"]
    if roi:
        command.append("roi=" + ",".join(map(str, roi)))
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {r[0]: (float(r[1]), [float(v) for v in r[2:]]) for r in rows}


def expect(wanted, got, what):
    global compared
    compared += 1
    # Scores far below one code are differences of integers: exact in both, or 0.
    if not (math.isfinite(got) and abs(got - wanted) <= TOLERANCE * abs(wanted)):
        failures.append(f"{what}: expected {wanted!r}, got {got!r}")


def compare(g, what, **options):
    """All metrics by all meters against the oracle."""
    wanted = {m: definition(g, m, **options) for m in KNOWN}
    for meter in METERS:
        got = measured(g, meter, **options)
        assert sorted(got) == sorted(KNOWN), f"the metrics differ: {sorted(got)}"
        for metric, (score, zones) in wanted.items():
            label = f"{meter} {metric} {what} {g.shape[1]}x{g.shape[0]} {options}"
            expect(score, got[metric][0], label)
            assert len(zones) == len(got[metric][1]), label
            for i, (a, b) in enumerate(zip(zones, got[metric][1])):
                expect(a, b, f"{label} zone {i}")


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
    }[fill]()


def random_roi(dice, width, height):
    if dice.random() < 0.15:
        wild = [-2**31, -7, 0, 3, 2**31 - 1]
        return tuple(dice.choice(wild) for _ in range(4))
    x, y = dice.randint(-width // 4, width - 1), dice.randint(-height // 4, height - 1)
    return x, y, dice.randint(0, width + 3), dice.randint(0, height + 3)


def sweep(seed, rounds):
    dice = random.Random(seed)
    sizes = [(1, 1), (2, 2), (3, 3), (1, 9), (9, 1), (2, 5), (16, 16), (33, 7), (64, 65), (77, 55), (130, 41)]
    for n in range(rounds):
        width, height = sizes[n % len(sizes)]
        depth = dice.choice([8, 10, 12, 16])
        fill = dice.choice(["random", "random", "random", "black", "white", "checker", "columns", "ramp", "dim"])
        compare(picture(dice, fill, width, height, depth), f"{fill} seed {seed} round {n}", depth=depth,
                prefilter=dice.choice(["none", "binomial3", "binomial5"]), downscale=dice.choice([1, 2, 4]),
                normalize=dice.choice(["none", "mean"]), limited=dice.random() < 0.5,
                interlaced=dice.random() < 0.3, zones=dice.choice([(1, 1), (1, 1), (2, 3), (5, 4), (9, 11)]),
                roi=random_roi(dice, width, height) if dice.random() < 0.5 else None)


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
        for meter, got in scores[key].items():
            expect(float(score), got[metric][0], f"{meter} {metric} {name} {prefilter} of stack-pcb.csv")


for seed in range(3):
    sweep(seed, 44)
photographs()
print(f"{compared} scores compared, meters: {' '.join(METERS)}")
for line in failures[:20]:
    print("FAILED", line)
print(f"{len(failures)} differ")
sys.exit(1 if failures else 0)
