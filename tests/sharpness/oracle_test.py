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
if not os.path.exists(os.path.join(folder, "directional.py")):
    skip(f"no directional.py at {folder}")
directional = importlib.import_module("directional")

# What truth.py defines of whole frames, in regions, zones and fields: what each pixel adds goes where the oracle sums
# what pixels of other metrics add. Where it can, definition() compares with truth.py itself.
RATIO, DIRECTIONAL = "mean-square-frequency", "directional-frequency"
CORRECTED = ("tenengrad", "brenner", "laplacian-variance", RATIO, DIRECTIONAL)
WITHOUT_SCALE = (RATIO, DIRECTIONAL)
STEPS = [(dx, dy, dx * dx + dy * dy) for dx, dy in directional.DIRECTIONS.values()]
ENOUGH = 1024  # blocks of noise; of more than twice as many not all are looked at
TRUTH_OPTIONS = {"depth", "prefilter", "downscale", "normalize", "limited"}
KNOWN = oracle.METRICS + [RATIO, DIRECTIONAL]
oracle.POWER[RATIO] = oracle.POWER[DIRECTIONAL] = 0
contributions, finish = oracle.contributions, oracle.finish


def directions(g):
    """What each pixel adds to S2 and S1 of each direction, and whether it adds."""
    h, w = g.shape
    parts = [np.zeros_like(g) for _ in range(9)]
    if min(h, w) > 2:
        here = g[1:-1, 1:-1]
        for d, (dx, dy, _) in enumerate(STEPS):
            behind, before = (g[1 + s * dy:h - 1 + s * dy, 1 + s * dx:w - 1 + s * dx] for s in (1, -1))
            parts[d][1:-1, 1:-1] = (before - 2 * here + behind) ** 2
            parts[4 + d][1:-1, 1:-1] = (behind - here) ** 2
        parts[8][1:-1, 1:-1] = 1
    return parts


def finish_directions(sums, unit):
    inner, ratios, has_signal = sums[8], [], False
    for d, (_, _, step) in enumerate(STEPS):
        bends, slopes = sums[d] / unit / step ** 2, sums[4 + d] / unit / step
        if slopes <= 0:
            continue
        noise = [0.0, 0.0]
        if correcting:
            variance, gains = correcting
            noise = [variance * inner * gain for gain in list(gains[DIRECTIONAL].values())[d]]
        has_signal = has_signal or slopes - noise[1] >= 0.15 * noise[1]
        ratios.append((max(0.0, bends - noise[0]) + 0.05 * noise[0]) / (max(0.0, slopes - noise[1]) + 3 * noise[1]))
    if not has_signal or min(ratios) <= 0:
        return 0.0
    return len(ratios) / sum(1 / r for r in ratios)


def contributions_and_ratio(g, metric, depth, f):
    if metric == DIRECTIONAL:
        return directions(g)
    if metric != RATIO:
        return contributions(g, metric, depth, f)
    gradient = contributions(g, "tenengrad", depth, f)[0]
    bends = np.zeros_like(gradient)
    if min(g.shape) > 2:
        bends[1:-1, 1:-1] = (g[:-2, 1:-1] + g[2:, 1:-1] + g[1:-1, :-2] + g[1:-1, 2:] - 4 * g[1:-1, 1:-1]) ** 2
    inner = np.zeros_like(gradient)  # pixels that add to both: noise does so in each of them
    inner[1:-1, 1:-1] = 1
    return [bends, gradient, inner]


def finish_or_ratio(metric, parts, n, depth, f):
    variance, gains = correcting or (0, {})
    if metric == DIRECTIONAL:
        sums = [int(part.sum(dtype=object)) if part.size else 0 for part in parts]
        return finish_directions(sums, float(1 << f) ** 2 * float(1 << (depth - 8)) ** 2)
    if metric != RATIO:
        return max(0.0, finish(metric, parts, n, depth, f) - gains[metric] * variance) if correcting else finish(
            metric, parts, n, depth, f)
    unit = float(1 << f) ** 2 * float(1 << (depth - 8)) ** 2
    bends, gradient, inner = (int(part.sum(dtype=object)) if part.size else 0 for part in parts)
    if not correcting:
        return 64 * bends / gradient if gradient else 0.0
    bends -= unit * variance * gains["laplacian-variance"] * inner
    noise = unit * variance * gains["tenengrad"] * inner
    gradient -= noise
    return 64 * bends / gradient if bends > 0 and gradient > 0 and gradient >= 0.15 * noise else 0.0


def crops(g, roi, interlaced):
    """The roi of each field."""
    fields = 2 if interlaced else 1
    x, y, w, h = roi or (0, 0, g.shape[1], g.shape[0])
    for p in range(fields):
        field = g[p::fields]
        (x0, x1), (y0, y1) = (oracle.span(x, x + w, 0, 1, 1, field.shape[1]),
                              oracle.span(y, y + h, p, fields, 1, field.shape[0]))
        if x1 > x0 and y1 > y0:
            yield field[y0:y1, x0:x1]


def statistics(g, depth=8, limited=False, roi=None, interlaced=False, **_):
    """-> noise, mean, clipped black, clipped white, root mean square noise of the roi; 0 of nothing."""
    parts = [np.asarray(c, np.int64) for c in crops(np.asarray(g), roi, interlaced)]
    if not parts:
        return [0.0] * 5
    residuals = []
    for c in parts:
        h, w = c.shape
        k = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]])
        residuals.append(abs(sum(k[j, i] * c[j:h - 2 + j, i:w - 2 + i] for j in range(3) for i in range(3)))
                         if min(h, w) > 2 else np.zeros((0, 0), np.int64))
    blocks = [r[:r.shape[0] // 16 * 16, :r.shape[1] // 16 * 16] for r in residuals]
    whole = sum(b.size // 256 for b in blocks)
    step, groups = max(1, whole // ENOUGH), []
    for b in blocks:  # groups of four blocks side by side, row by row
        rows = (b[y:y + 16] for y in range(0, b.shape[0], 16))
        groups += [row[:, x:x + 64] for row in rows for x in range(0, b.shape[1], 64)][::step]
    sums = np.sort(np.array([int(g[:, x:x + 16].sum()) for g in groups for x in range(0, g.shape[1], 16)], np.int64))
    counted = groups if sums.size else [r for r in residuals if r.size]
    n = sum(r.size for r in counted)
    mean = (sums[(sums.size - 1) // 4] / 256 / truth.QUARTILE if sums.size
            else sum(int(r.sum()) for r in counted) / n if n else 0.0)
    noise = math.sqrt(math.pi / 2) / 6 * mean / 2 ** (depth - 8)
    rms = math.sqrt(sum(int((r.astype(object) ** 2).sum()) for r in counted) / n) / 6 / 2 ** (depth - 8) if n else 0.0
    pixels = np.concatenate([c.ravel() for c in parts])
    if len(parts) == 1:  # as truth.py has it, but for blocks that are left out
        assert math.isclose(noise, truth.noise(parts[0], depth), rel_tol=TOLERANCE if step == 1 else 0.05), noise
    return [noise, *truth.exposure(pixels, depth, limited), rms]


def is_noise(g, metric, options):
    """Nothing that little light could make sharp: no more energy than white noise of all the residual's power has."""
    depth, prefilter, k = (options.get(key, value) for key, value in (("depth", 8), ("prefilter", "none"),
                                                                      ("downscale", 1)))
    whole = {key: options[key] for key in ("depth", "prefilter", "downscale", "roi", "interlaced") if key in options}
    seen = {}

    def remember(name, parts, n, *rest):
        squares = parts[4:8] if metric == DIRECTIONAL else parts[1:2] if metric == RATIO else parts[-1:]
        seen["sums"] = [int(s.sum(dtype=object)) if s.size else 0 for s in squares]
        seen["n"], seen["f"] = n, rest[1]
        return 0.0

    oracle.finish = remember
    oracle.score(g, metric, **whole)
    oracle.finish = finish_or_ratio
    s, f = oracle.working_samples(np.zeros((8, 8), np.int64), depth, prefilter, k)
    shift = {1: 0, 2: 2, 4: 4}[k] + {"none": 0, "binomial3": 4, "binomial5": 8}[prefilter] - f
    rms = max(statistics(g, **options)[4], math.sqrt(1 / 12) * 2.0 ** (8 - depth)) / k * 2.0 ** (f + depth - 8)
    inner = inner_pixels(g, metric, options)
    if metric == DIRECTIONAL:
        gain, plain = (sum(g1 * step for (_, g1), (_, _, step) in zip(directional.noise_gains(p).values(), STEPS))
                       for p in (prefilter, "none"))
    else:
        gain, plain = (truth.gain("tenengrad" if metric == RATIO else metric, p) for p in (prefilter, "none"))
    # Samples that are not codes are rounded once more.
    return sum(seen["sums"]) <= 1.15 * inner * (gain * rms * rms + (plain / 12 if shift else 0))


def inner_pixels(g, metric, options):
    """Pixels of the roi whose neighbours are all in the frame."""
    fields, k = 2 if options.get("interlaced") else 1, options.get("downscale", 1)
    x, y, w, h = options.get("roi") or (0, 0, g.shape[1], g.shape[0])
    left, right, up, down = {"tenengrad": (1, 1, 1, 1), RATIO: (1, 1, 1, 1), DIRECTIONAL: (1, 1, 1, 1), "brenner": (0, 2, 0, 0)}.get(metric, (0, 0, 0, 0))
    n = 0
    for p in range(fields):
        rows, columns = len(range(p, g.shape[0], fields)) // k, g.shape[1] // k
        (x0, x1), (y0, y1) = (oracle.span(x, x + w, 0, 1, k, columns), oracle.span(y, y + h, p, fields, k, rows))
        n += max(0, min(x1, columns - right) - max(x0, left)) * max(0, min(y1, rows - down) - max(y0, up))
    return n


FLAT, SHARP, DEFOCUS, MOTION = range(4)


def blur_definition(g, **options):
    """-> kind of blur, anisotropy, angle of the roi, noise taken off."""
    global correcting
    prefilter, depth, k = (options.get(key, value) for key, value in (("prefilter", "none"), ("depth", 8), ("downscale", 1)))
    whole = {key: options[key] for key in ("depth", "prefilter", "downscale", "roi", "interlaced") if key in options}
    sums = {}

    def remember(_, parts, n, *rest):
        sums["of"] = [int(part.sum(dtype=object)) if part.size else 0 for part in parts]
        sums["f"] = rest[1]
        return 0.0

    oracle.finish = remember
    oracle.score(g, DIRECTIONAL, **whole)
    oracle.finish = finish_or_ratio
    variance = (statistics(g, **options)[0] / k) ** 2
    totals, unit, ratios = sums["of"], 4.0 ** (sums["f"] + depth - 8), {}
    signal = False
    for d, ((bend_gain, slope_gain), (_, _, step)) in enumerate(zip(directional.noise_gains(prefilter).values(), STEPS)):
        bends, slopes = totals[d] / unit / step ** 2, totals[4 + d] / unit / step
        bend_noise, slope_noise = (variance * totals[8] * gain for gain in (bend_gain, slope_gain))
        if slopes > 0:
            signal = signal or slopes - slope_noise >= 0.15 * slope_noise
            ratios[d] = (max(0.0, bends - bend_noise) + 0.05 * bend_noise) / (max(0.0, slopes - slope_noise) + 3 * slope_noise)
    if not signal or min(ratios.values()) <= 0 or is_noise(g, DIRECTIONAL, options):
        return FLAT, 0.0, 0.0
    anisotropy = 1 - min(ratios.values()) / max(ratios.values())
    # As behind binomial5, which the thresholds are for.
    softer = {d: 1 / (1 / r + {"none": 1.8, "binomial3": 0.9, "binomial5": 0.0}[prefilter]) for d, r in ratios.items()}
    along = math.log(softer[1] / softer[0]) if {0, 1} <= set(softer) else 0.0
    across = math.log(softer[2] / softer[3]) if {2, 3} <= set(softer) else 0.0
    frequency = len(softer) / sum(1 / r for r in softer.values())
    if 1 - math.exp(-math.hypot(along, across)) > 0.28 + 0.2 * abs(math.log(frequency / 0.24)):
        kind = MOTION
    else:
        kind = SHARP if frequency > 0.24 else DEFOCUS
    return kind, anisotropy, math.degrees(math.atan2(across, along)) / 2 % 180


correcting = None  # variance of the noise in a working sample, and what of it each metric sees


oracle.contributions, oracle.finish = contributions_and_ratio, finish_or_ratio


def definition(g, metric, correct=False, **options):
    """-> (score, [zone scores]) of any metric."""
    global correcting
    if metric in WITHOUT_SCALE:
        options["normalize"] = "none"
    correct = correct and metric in CORRECTED
    if correct:
        prefilter, k = options.get("prefilter", "none"), options.get("downscale", 1)
        correcting = (statistics(g, **options)[0] / k) ** 2, {m: truth.gain(m, prefilter) for m in truth.KERNEL}
        correcting[1][DIRECTIONAL] = directional.noise_gains(prefilter)
    score, zones = oracle.score(g, metric, **options)
    correcting = None
    if (metric in WITHOUT_SCALE or correct) and set(options) <= TRUTH_OPTIONS and options.get("normalize", "none") == "none":
        whole = {key: options[key] for key in ("depth", "prefilter", "downscale") if key in options}
        if metric == DIRECTIONAL:
            direct = directional.score(g, correct=correct, **whole)
        else:
            direct = truth.corrected(g, metric if metric != RATIO else "ratio", **whole) if correct else truth.ratio(g, **whole)
        assert math.isclose(score, direct, rel_tol=1e-9, abs_tol=1e-9), (metric, options, score, direct)
    if correct and (options.get("normalize") == "mean" or metric in WITHOUT_SCALE) and is_noise(g, metric, options):
        return 0.0, [0.0] * len(zones)
    return score, zones


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
