#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a denoiser upstream of sharpnessmeter does for the ranking of a noisy focus sweep: the table of docs/denoising.md.

GST_PLUGIN_PATH=build/gst docs/figures/denoise_ranking.py FILE...
FILE...: the photographs of one sweep in order of focus; those wider than a thousand pixels are shrunk to about 700 (by
the mean of boxes). Gaussian noise, new in every frame, a fixed seed, is added, rounded and clipped. For each noise and each way to measure, by
tenengrad: how many places the sharpest frame is off, the rank correlation (Spearman) with the sweep without noise, and
how many times the lowest score the highest is.
"""
import sys

import numpy
import scoring
from PIL import Image
from scipy.stats import spearmanr

SIGMAS = (0, 5, 10, 20, 40)
# name -> (elements upstream of the meter, the meter's prefilter)
WAYS = {
    "as it is": ("", "none"),
    "`prefilter=binomial5`": ("", "binomial5"),
    "`patchbilateral`": (" ! patchbilateral", "none"),
    "`patchbilateral sigma-range=` σ": (" ! patchbilateral sigma-range={sigma}", "none"),
    "`nlmeans`": (" ! nlmeans", "none"),
    "`nlmeans strength=` 0.8 σ": (" ! nlmeans strength={strength}", "none"),
    "`nlmeans strength=` 0.5 σ `sigma=` σ": (" ! nlmeans strength={less} sigma={sigma}", "none"),
    "`nlmeans`, `prefilter=binomial5`": (" ! nlmeans", "binomial5"),
}


def shrunk(path):
    codes = numpy.asarray(Image.open(path).convert("L")).astype(numpy.float32)
    box = max(1, round(codes.shape[1] / 700))
    height, width = codes.shape[0] // box, codes.shape[1] // (4 * box) * 4
    return codes[: box * height, : box * width].reshape(height, box, width, box).mean((1, 3))


def main():
    pictures = [shrunk(path) for path in sys.argv[1:]]
    clean = scoring.run_gray([numpy.rint(p).astype(numpy.uint8) for p in pictures], ["metric=tenengrad"])[0]
    print("| upstream of the meter | " + " | ".join(f"σ {sigma}" for sigma in SIGMAS) + " |")
    print("|---|" + "---|" * len(SIGMAS))
    for name, (elements, prefilter) in WAYS.items():
        cells = []
        for sigma in SIGMAS:
            random = numpy.random.default_rng(sigma)
            noisy = [numpy.clip(numpy.rint(p + sigma * random.standard_normal(p.shape)), 0, 255).astype(numpy.uint8) for p in pictures]
            text = elements.format(sigma=max(sigma, 1), strength=max(0.8 * sigma, 1), less=max(0.5 * sigma, 1))
            scores = scoring.run_gray(noisy, [f"metric=tenengrad prefilter={prefilter}"], text)[0]
            off = abs(int(scores.argmax()) - int(clean.argmax()))
            cells.append(f"{off}, {spearmanr(scores, clean).statistic:.2f}, {scores.max() / scores.min():.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


main()
