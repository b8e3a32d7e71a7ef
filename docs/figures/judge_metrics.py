#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures which metric is good for what, and prints the tables of docs/advice.md.

GST_PLUGIN_PATH=build/gst docs/figures/judge_metrics.py sweeps FOLDER...
  each folder: pictures of one focus sweep, in the order of their names. Swing, whether the peak is found, false maxima
GST_PLUGIN_PATH=build/gst docs/figures/judge_metrics.py made PICTURE...
  the same on sweeps made of sharp photographs: blurred by disks, with noise
GST_PLUGIN_PATH=build/gst docs/figures/judge_metrics.py scenes PICTURE...
  sharp photographs of different scenes, blurred, shaken, darkened and with noise: rank correlation of scores with blur
GST_PLUGIN_PATH=build/gst docs/figures/judge_metrics.py noise PICTURE...
  sharp photographs: the estimate of noise, and corrected scores in noise and at less light; a covered lens

Pictures are what PIL reads; colour becomes luma as the plugin makes it. The same files give the same numbers.
"""
import pathlib
import sys

import numpy
import scoring
from scoring import table

SEED = 1
STEPS = numpy.arange(-10, 11)  # of a made sweep
RADIUS = 0.7                   # of its disks, pixels for each step
PROMINENCE = 0.02              # of the highest score: less is no maximum


def luma(path):
    """Luma codes; width a multiple of 4."""
    from PIL import Image

    pixels = numpy.asarray(Image.open(path).convert("RGB")).astype(int)
    codes = (9798 * pixels[..., 0] + 19235 * pixels[..., 1] + 3735 * pixels[..., 2] + 16384) >> 15
    return codes[:, :codes.shape[1] // 4 * 4].astype(float)


def halved(picture):
    """Half the size: photographs as they are stored are softened by demosaicing, compressed, and noisy."""
    h, w = picture.shape[0] // 2 * 2, picture.shape[1] // 8 * 8
    return picture[:h, :w].reshape(h // 2, 2, w // 2, 2).mean((1, 3))


def codes(picture):
    return numpy.clip(numpy.rint(picture), 0, 255).astype(numpy.uint8)


def white(shape, sigma, seed=SEED):
    return sigma * numpy.random.default_rng(seed).standard_normal(shape, dtype=numpy.float32)


def disk_blurred(picture, radius):
    """The mean over a disk, by the Fourier transform of the mirrored picture."""
    if radius < 0.3:
        return picture
    n = int(numpy.ceil(radius)) + 1
    fine = 8
    grid = (numpy.arange(-n * fine - fine // 2, n * fine + fine // 2) + 0.5) / fine
    inside = (grid[:, None] ** 2 + grid[None, :] ** 2 <= radius ** 2).astype(float)
    side = 2 * n + 1
    disk = inside.reshape(side, fine, side, fine).sum((1, 3))
    return filtered(picture, disk / disk.sum(), n)


def gauss_blurred(picture, sigma):
    if sigma == 0:
        return picture
    n = int(numpy.ceil(4 * sigma))
    taps = numpy.exp(-numpy.arange(-n, n + 1) ** 2 / (2 * sigma ** 2))
    kernel = numpy.outer(taps, taps)
    return filtered(picture, kernel / kernel.sum(), n)


def path_blurred(picture, length, angle, turn=0):
    """Moved by so many pixels, to so many degrees (counterclockwise), along an arc that turns by so many."""
    count = 20 * length + 1
    heading = numpy.radians(angle + turn * (numpy.arange(count) / (count - 1) - 0.5))
    x, y = numpy.cumsum(numpy.cos(heading)) * length / count, -numpy.cumsum(numpy.sin(heading)) * length / count
    reach = length // 2 + 3
    x, y = x - x.mean() + reach, y - y.mean() + reach
    kernel = numpy.zeros((2 * reach + 1,) * 2)
    for i, j, a, b in zip(y.astype(int), x.astype(int), y % 1, x % 1):
        kernel[i:i + 2, j:j + 2] += numpy.outer((1 - a, a), (1 - b, b))
    return filtered(picture, kernel / kernel.sum(), reach)


def filtered(picture, kernel, n):
    h, w = picture.shape
    padded = numpy.pad(picture, n, mode="reflect")
    spectrum = numpy.fft.rfft2(padded) * numpy.fft.rfft2(kernel, padded.shape)
    return numpy.fft.irfft2(spectrum, padded.shape)[2 * n:2 * n + h, 2 * n:2 * n + w]


def ranks(values):
    order = numpy.argsort(values, kind="stable")
    place = numpy.empty(len(values))
    place[order] = numpy.arange(len(values))
    for value in numpy.unique(values):
        place[values == value] = place[values == value].mean()
    return place


def rank_correlation(a, b):
    """Spearman's."""
    a, b = ranks(numpy.asarray(a)), ranks(numpy.asarray(b))
    return float(numpy.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 0.0


def false_maxima(scores):
    """Maxima besides the highest that stand out by more than PROMINENCE of it."""
    top, count = int(scores.argmax()), 0
    for i in range(len(scores)):
        left, right = scores[i - 1] if i else -numpy.inf, scores[i + 1] if i + 1 < len(scores) else -numpy.inf
        if i == top or scores[i] < left or scores[i] <= right:
            continue
        # Down to the lowest point on the way to a higher score, on either side.
        sides = []
        for way in (scores[:i][::-1], scores[i + 1:]):
            higher = numpy.flatnonzero(way > scores[i])
            if higher.size:
                sides.append(way[:higher[0]].min(initial=scores[i]))
            elif way.size:
                sides.append(way.min())
        drop = scores[i] - max(sides) if sides else 0
        count += drop > PROMINENCE * scores[top]
    return count


SETTINGS = tuple((metric, options) for metric in scoring.METRICS for options in ("", "prefilter=binomial5"))
DOWNSCALES = (1, 2, 4)


def judge(sweeps):
    """sweeps: name -> (pictures, place of the sharpest or None: where most gradient metrics have their peak)."""
    texts = [f"metric={metric} {options}" for metric, options in SETTINGS]
    scores = {name: scoring.run_gray(map(codes, pictures), texts) for name, (pictures, _) in sweeps.items()}
    gradient = [i for i, (metric, _) in enumerate(SETTINGS) if metric in ("tenengrad", "brenner", "laplacian-variance")]
    best = {name: int(numpy.median([scores[name][i].argmax() for i in gradient])) if known is None else known
            for name, (_, known) in sweeps.items()}
    print("Sharpest picture, counted from 0:", ", ".join(f"{name} {best[name]} of {len(sweeps[name][0])}" for name in sweeps),
          "\n")
    rows = []
    for i, (metric, options) in enumerate(SETTINGS):
        swings = [scores[name][i].max() / max(scores[name][i].min(), 1e-9) for name in sweeps]
        found = sum(abs(int(scores[name][i].argmax()) - best[name]) <= 1 for name in sweeps)
        rows.append((f"`{metric}`" + (", `binomial5`" if options else ""), f"{found} of {len(sweeps)}",
                     sum(false_maxima(scores[name][i]) for name in sweeps),
                     *(f"{s:.3g}" if s < 1e6 else "negative" for s in swings)))
    table(("metric", "peaks found", "false maxima", *(f"swing, {name}" for name in sweeps)), *rows)
    texts = [f"metric={metric} downscale={k}" for metric in ("tenengrad", "laplacian-variance") for k in DOWNSCALES]
    rows = []
    for name, (pictures, _) in sweeps.items():
        scores = scoring.run_gray(map(codes, pictures), texts)
        rows.append((name, *(f"{s.max() / s.min():.3g}" for s in scores)))
    table(("swing", *(f"`{m}`, downscale={k}" for m in ("tenengrad", "laplacian-variance") for k in DOWNSCALES)), *rows)


def sweeps(folders):
    found = {}
    for folder in map(pathlib.Path, folders):
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in (".png", ".jpg", ".jpeg", ".tif", ".bmp"))
        found[folder.name] = [luma(file) for file in files], None
    judge(found)


def made(files):
    found = {}
    for file in map(pathlib.Path, files):
        picture = halved(luma(file))
        pictures = [disk_blurred(picture, RADIUS * abs(step)) + white(picture.shape, 2, seed)
                    for seed, step in enumerate(STEPS)]
        found[file.stem] = pictures, len(STEPS) // 2
    judge(found)


BLURS = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
LIGHTS = (1, 1 / 4, 1 / 16, 1 / 64)
NOISES = (0, 0.5, 1, 2)
RECIPES = ("metric=tenengrad", "metric=tenengrad prefilter=binomial5", "metric=tenengrad prefilter=binomial5 normalize=mean",
           "metric=tenengrad prefilter=binomial5 normalize=mean noise-correction=true", "metric=laplacian-variance",
           "metric=mean-square-frequency", "metric=mean-square-frequency prefilter=binomial5",
           "metric=mean-square-frequency prefilter=binomial5 noise-correction=true",
           "metric=directional-frequency prefilter=binomial5",
           "metric=directional-frequency prefilter=binomial5 noise-correction=true")
SHAKES = (0, 2, 3, 5, 8, 12, 20)  # px, in so many degrees:
SHAKEN_TO = (0, 30, 45, 100, 135)


def scenes(files):
    pictures = [halved(luma(file)) for file in files]
    blurred = [[gauss_blurred(picture, sigma) for sigma in BLURS] for picture in pictures]

    def scores(light, noise):
        """recipes x scenes x blurs"""
        all_scores = [scoring.run_gray([codes(b * light + white(b.shape, noise, 100 * i + j)) for j, b in enumerate(row)],
                                       RECIPES) for i, row in enumerate(blurred)]
        return numpy.array(all_scores).transpose(1, 0, 2)

    by_noise = [scores(1, noise) for noise in NOISES]
    by_light = numpy.stack([scores(light, 0.5) for light in LIGHTS], axis=-1)
    blur = numpy.broadcast_to(numpy.array(BLURS)[None, :], by_noise[0].shape[1:])
    rows = []
    for r, recipe in enumerate(RECIPES):
        deep = numpy.broadcast_to(blur[..., None], by_light[r].shape)
        rows.append((f"`{recipe}`", *(f"{-rank_correlation(s[r].ravel(), blur.ravel()):.2f}" for s in by_noise),
                     f"{-rank_correlation(by_light[r].ravel(), deep.ravel()):.2f}"))
    shaken = [[(length, path_blurred(picture, length, angle) if length else picture)
               for length in SHAKES for angle in SHAKEN_TO[:len(SHAKEN_TO) if length else 1]] for picture in pictures]
    for noise in (0.5, 5):
        lengths = numpy.array([length for row in shaken for length, _ in row])
        by_scene = [scoring.run_gray([codes(p + white(p.shape, noise, 100 * i + j)) for j, (_, p) in enumerate(row)], RECIPES)
                    for i, row in enumerate(shaken)]
        for r, row in enumerate(rows):
            rows[r] = (*row, f"{-rank_correlation(numpy.concatenate([s[r] for s in by_scene]), lengths):.2f}")
    print(f"{len(files)} scenes x {len(BLURS)} blurs (Gaussian, sigma {', '.join(map(str, BLURS))} px)\n")
    table(("rank correlation with sharpness", *(f"noise {n}" for n in NOISES),
           f"light 1 to 1/{round(1 / LIGHTS[-1])}, noise 0.5", "shaken, noise 0.5", "shaken, noise 5"), *rows)


ADDED = (0, 1, 2, 5, 10, 20)


def noise(files):
    pictures = [halved(luma(file)) for file in files]
    estimate = ["statistics=true"]
    rows = []
    for file, picture in zip(files, pictures):
        seen = scoring.run_gray([codes(picture + white(picture.shape, sigma)) for sigma in ADDED], estimate, field="noise")[0]
        rows.append((pathlib.Path(file).stem, *(f"{v:.2f}" for v in seen)))
    table(("noise, sigma", *ADDED), *rows)

    # Corrected and not, the median over the scenes of the score over that of the clean picture in full light.
    wanted = [f"metric={metric} prefilter=binomial5{rest}" for metric, rest in
              (("tenengrad", ""), ("tenengrad", " noise-correction=true"), ("tenengrad", " normalize=mean"),
               ("tenengrad", " normalize=mean noise-correction=true"), ("mean-square-frequency", ""),
               ("mean-square-frequency", " noise-correction=true"))]
    cases = [(1, n) for n in (1, 2, 5)] + [(light, 0.5) for light in LIGHTS[1:]]
    ratios = []
    for picture in pictures:
        frames = [codes(picture)] + [codes(picture * light + white(picture.shape, n)) for light, n in cases]
        scores = scoring.run_gray(frames, wanted)
        ratios.append(scores[:, 1:] / scores[:, :1])
    middle = numpy.median(ratios, axis=0)
    table(("score over that without noise", *(f"noise {n}" for light, n in cases if light == 1),
           *(f"light 1/{round(1 / light)}" for light, _ in cases if light < 1)),
          *((f"`{text}`", *(f"{v:.2f}" for v in row)) for text, row in zip(wanted, middle)))

    recipe = [f"metric=tenengrad prefilter=binomial5 normalize=mean{rest}" for rest in ("", " noise-correction=true")]
    sharp = [[scoring.run_gray([codes(picture * light + white(picture.shape, 0.5))], recipe)[:, 0] for light in LIGHTS]
             for picture in pictures]
    shape = (480, 640)
    covered = [codes(level * sigma + white(shape, sigma)) for sigma in (0.3, 1, 3, 5, 10, 20) for level in (-1, 0, 0.5, 1, 2)]
    dark = scoring.run_gray(covered, recipe)
    lowest = numpy.array(sharp)[:, 0].min(axis=0)
    table(("`tenengrad prefilter=binomial5 normalize=mean`", "lowest of the sharp scenes", "highest of a covered lens"),
          *((name, f"{a:.3g}", f"{b:.3g}") for name, a, b in
            zip(("plain", "`noise-correction=true`"), lowest, dark.max(axis=1))))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("sweeps", "made", "scenes", "noise"):
        sys.exit(__doc__)
    {"sweeps": sweeps, "made": made, "scenes": scenes, "noise": noise}[sys.argv[1]](sys.argv[2:])
