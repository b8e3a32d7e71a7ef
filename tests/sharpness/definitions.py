# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores, noise, exposure and kind of blur by definition, in numpy: the oracle's scripts, extended to regions, zones,
fields and the correction of noise. Whoever imports this has the folder of oracle.py, truth.py and directional.py in
sys.path.
"""
import math

import directional
import numpy as np
import oracle
import truth

TOLERANCE = 1e-12  # the oracle and score.h round a few doubles in different orders

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
