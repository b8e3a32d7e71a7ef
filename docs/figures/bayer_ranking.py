#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures which samples of a Bayer mosaic rank focus best, and prints the tables of docs/metrics.md.

GST_PLUGIN_PATH=build/gst docs/figures/bayer_ranking.py FOLDER...
  each folder: pictures of one focus sweep, in the order of their names

Each picture is seen by a sensor: colours by the gains of daylight that is not yet balanced, a mosaic (rggb), noise of
each sample, 8 bits. Peaks: of how many of six metrics the highest score is that of the picture's luma without mosaic and
noise, or one beside it. Rank: mean rank correlation with the scores of that. Swing: of tenengrad, highest over lowest.
"""
import pathlib
import sys

import numpy
import scoring
from judge_metrics import codes, rank_correlation
from scoring import table

SEED = 1
GAINS = numpy.array([0.55, 1.0, 0.65])  # of R, G and B: what white balance has to take back
NOISES = (0, 5, 10)                     # sigma of a sample, 8-bit codes
HALVED = 1500                           # pictures wider than this are halved: photographs are demosaiced already
METRICS = ("tenengrad", "brenner", "laplacian-variance", "gray-difference", "roberts", "vollath-f4")
PREFILTERS = ("none", "binomial3", "binomial5")
SETTINGS = tuple(f"metric={metric} prefilter={prefilter}" for prefilter in PREFILTERS for metric in METRICS)


def colours(path):
    from PIL import Image

    pixels = numpy.asarray(Image.open(path).convert("RGB")).astype(float)
    if pixels.shape[1] > HALVED:
        h, w = (n // 2 * 2 for n in pixels.shape[:2])
        pixels = pixels[:h, :w].reshape(h // 2, 2, w // 2, 2, 3).mean((1, 3))
    h, w = pixels.shape[0] // 8 * 8, pixels.shape[1] // 8 * 8
    return pixels[:h, :w]


def weighted(r, g, b):
    return 0.299 * r + 0.587 * g + 0.114 * b


def mosaic(picture, sigma, seed):
    """What a sensor gives of it, rggb."""
    seen = picture * GAINS
    raw = seen[..., 1].copy()
    raw[::2, ::2], raw[1::2, 1::2] = seen[::2, ::2, 0], seen[1::2, 1::2, 2]
    return codes(raw + sigma * numpy.random.default_rng(seed).standard_normal(raw.shape))


def bilinear(raw):
    """Luma of bilinear interpolation, as bayer2rgb makes it but for its edges."""
    raw = raw.astype(float)
    h, w = raw.shape
    y, x = numpy.mgrid[:h, :w]
    out = []
    for where in ((y % 2 == 0) & (x % 2 == 0), (y + x) % 2 == 1, (y % 2 == 1) & (x % 2 == 1)):
        values = [numpy.pad(a, 1, mode="reflect") for a in (numpy.where(where, raw, 0), where.astype(float))]
        total, count = (sum(weight * v[1 + j:1 + j + h, 1 + i:1 + i + w] for j in (-1, 0, 1) for i in (-1, 0, 1)
                            for weight in ((1, 0.5, 0.25)[abs(i) + abs(j)],)) for v in values)
        out.append(numpy.where(where, raw, total / count))
    return weighted(*out)


def lattice(raw):
    """The green samples along their own rows and columns, which are the picture's diagonals; the middle of it."""
    h, w = raw.shape
    side = min(h, w) // 2 // 8 * 8
    u, v = numpy.mgrid[:side, :side] - side // 2
    x0, y0 = w // 4 * 2 + 1, h // 4 * 2
    return raw[y0 + u + v, x0 + u - v]


def cells(raw):
    return raw[::2, ::2].astype(float), raw[::2, 1::2].astype(float), raw[1::2, ::2].astype(float), \
        raw[1::2, 1::2].astype(float)


def green_rows(raw):
    """Every green sample, rows side by side though every second one lies a pixel further left."""
    return numpy.where((numpy.arange(raw.shape[0]) % 2 == 0)[:, None], raw[:, 1::2], raw[:, ::2])


def gray(pictures, noise, settings=SETTINGS):
    """Scores of luma without a mosaic."""
    seen = [weighted(*numpy.moveaxis(p * GAINS, 2, 0)) for p in pictures]
    return scoring.run_gray([codes(p + noise * numpy.random.default_rng(SEED + i).standard_normal(p.shape))
                             for i, p in enumerate(seen)], settings)


def of_mosaic(see, **options):
    def scores(pictures, noise):
        raws = (mosaic(p, noise, SEED + i) for i, p in enumerate(pictures))
        return scoring.run_gray([codes(see(raw)) for raw in raws], SETTINGS, **options)

    return scores


CANDIDATES = {
    "luma without a mosaic": gray,
    "the same, `downscale=2`": lambda pictures, noise: gray(pictures, noise, [f"{s} downscale=2" for s in SETTINGS]),
    "**luma of each cell**": of_mosaic(lambda raw: raw, kind="video/x-bayer,format=rggb"),
    "mean of the four of each cell": of_mosaic(lambda raw: sum(cells(raw)) / 4),
    "mean green of each cell": of_mosaic(lambda raw: sum(cells(raw)[1:3]) / 2),
    "one green of each cell": of_mosaic(lambda raw: cells(raw)[1]),
    "green, row by row": of_mosaic(green_rows),
    "green along the diagonals": of_mosaic(lattice),
    "bilinear interpolation": of_mosaic(bilinear),
    "the mosaic as if gray": of_mosaic(lambda raw: raw),
}


def judge(sweeps):
    """sweeps: name -> pictures. Of six metrics, each figure with the three prefilters."""
    truth = {name: gray(pictures, 0) for name, pictures in sweeps.items()}
    for name, pictures in sweeps.items():
        print(f"{name}: {len(pictures)} pictures of {pictures[0].shape[1]}x{pictures[0].shape[0]}, sharpest "
              f"{sorted({int(row.argmax()) for row in truth[name]})}")
    print()
    rows = []
    for noise in NOISES:
        for label, see in CANDIDATES.items():
            cells_of = []
            for name, pictures in sweeps.items():
                scores = see(pictures, noise)
                by_prefilter = [range(i, i + len(METRICS)) for i in range(0, len(SETTINGS), len(METRICS))]
                best = [int(row.argmax()) for row in truth[name]]
                cells_of += [
                    ", ".join(str(sum(abs(int(scores[i].argmax()) - best[i]) <= 1 for i in some)) for some in by_prefilter),
                    ", ".join(f"{numpy.mean([rank_correlation(scores[i], truth[name][i]) for i in some]):.2f}"
                              for some in by_prefilter),
                    ", ".join(f"{scores[some[0]].max() / scores[some[0]].min():.3g}" for some in by_prefilter)]
            rows.append((label, noise, *cells_of))
    table(("samples", "noise", *(f"{what}, {name}" for name in sweeps for what in ("peaks", "rank", "swing"))), *rows)


def main(folders):
    sweeps = {}
    for folder in map(pathlib.Path, folders):
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in (".png", ".jpg", ".jpeg", ".tif", ".bmp"))
        sweeps[folder.name] = [colours(file) for file in files]
    judge(sweeps)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
