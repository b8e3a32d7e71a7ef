#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well sharpnessmeter tells kinds of blur and compares images of different sizes: tables of
docs/advice.md.

GST_PLUGIN_PATH=build/gst docs/figures/judge_blur.py kinds PICTURE...
  sharp photographs, blurred by disks, Gaussians and paths, straight and curved, with noise: share told right, and how
  far off the angle of straight motion is
GST_PLUGIN_PATH=build/gst docs/figures/judge_blur.py sizes PICTURE...
  sharp photographs, as they are, and twice and four times as large with a phone's grain, sharp and blurred by 4 and 5
  px of the original: how well one threshold parts them (area under the ROC curve)
GST_PLUGIN_PATH=build/gst docs/figures/judge_blur.py photos PICTURE...
  what is told of pictures as they are

Pictures are what PIL reads; colour becomes luma as the plugin makes it. The same files give the same numbers.
"""
import pathlib
import sys

import numpy
import scoring
from judge_metrics import codes, disk_blurred, gauss_blurred, halved, luma, path_blurred, white
from scoring import table

NOISES = (0, 1, 2, 5)
DISKS, SIGMAS = (2, 3, 4, 6, 8), (1.7, 2.5, 3.5, 5)  # radii; a Gaussian is about 2.35 sigma wide
LENGTHS, ANGLES = (4, 6, 8, 12, 16, 20), 22.5 * numpy.arange(8)
RECIPE = "metric=directional-frequency noise-correction=true "


def blurs_of(picture, rng):
    """(kind, extent in px, angle or None, picture)."""
    yield "sharp", 0, None, picture
    for radius in DISKS:
        yield "defocus", 2 * radius, None, disk_blurred(picture, radius)
    for sigma in SIGMAS:
        yield "defocus", 2.35 * sigma, None, gauss_blurred(picture, sigma)
    for length in LENGTHS:
        for angle in ANGLES:
            turned = angle + rng.uniform(-11, 11)
            yield "motion", length, turned % 180, path_blurred(picture, length, turned)
        for _ in range(3):
            yield "motion", length, None, path_blurred(picture, length, rng.uniform(0, 180), rng.uniform(30, 90))


def kinds(files):
    found = {prefilter: [] for prefilter in ("binomial5", "none")}
    for number, file in enumerate(files):
        picture, rng = halved(luma(file)), numpy.random.default_rng(number)
        cases, frames = [], []
        for kind, extent, angle, blurred in blurs_of(picture, rng):
            for noise in NOISES:
                cases.append((kind, extent, angle, noise))
                frames.append(codes(blurred + white(picture.shape, noise, len(frames))))
        for prefilter, all_cases in found.items():
            setting = [f"{RECIPE} prefilter={prefilter}"]
            told = scoring.run_gray(frames, setting, field="blur")[0]
            angles = scoring.run_gray(frames, setting, field="blur-angle")[0]
            all_cases += [(*case, kind, angle) for case, kind, angle in zip(cases, told, angles)]
    rows = []
    for prefilter, all_cases in found.items():
        for kind in ("sharp", "defocus", "motion"):
            right = [f"{numpy.mean([c[4] == kind for c in all_cases if c[0] == kind and c[3] == noise]):.1%}" for noise in NOISES]
            at_least = [f"{numpy.mean([c[4] == kind for c in all_cases if c[0] == kind and low <= c[1] < high]):.1%}"
                        if kind != "sharp" else "" for low, high in ((4, 6), (6, 99))]
            rows.append((prefilter, kind, *right, *at_least, sum(c[0] == kind for c in all_cases)))
        rows.append((prefilter, "all", *(f"{numpy.mean([c[4] == c[0] for c in all_cases if c[3] == noise]):.1%}" for noise in NOISES),
                     "", "", len(all_cases)))
    table(("`prefilter`", "`blur`", *(f"noise {n}" for n in NOISES), "4 to 6 px", "6 px and more", "pictures"), *rows)
    rows = []
    for prefilter, all_cases in found.items():
        for low, high in ((4, 6), (6, 12), (12, 99)):
            off = numpy.array([abs((c[5] - c[2] + 90) % 180 - 90) for c in all_cases
                               if c[2] is not None and low <= c[1] < high and c[4] == "motion"])
            rows.append((prefilter, f"{low} to {high}" if high < 99 else f"{low} and more", f"{numpy.median(off):.0f}",
                         f"{numpy.quantile(off, 0.9):.0f}", len(off)))
    table(("`prefilter`", "straight motion, px", "angle off by, median, degrees", "90% within", "pictures"), *rows)


def area(sharp, blurred):
    """Share of pairs of which the sharp one scores higher."""
    return float((numpy.subtract.outer(sharp, blurred) > 0).mean() + (numpy.subtract.outer(sharp, blurred) == 0).mean() / 2)


def enlarged(picture, times):
    """By Lanczos resampling, as a camera's picture is that has more pixels than its lens resolves."""
    from PIL import Image

    h, w = picture.shape
    return numpy.asarray(Image.fromarray(picture.astype(numpy.float32)).resize((w * times, h * times), Image.LANCZOS), float)


def sizes(files):
    settings = [f"{recipe} prefilter=binomial5 noise-correction=true{scale}"
                for recipe in ("metric=mean-square-frequency", "metric=directional-frequency") for scale in ("", " downscale=0")]
    scores = {}
    for number, file in enumerate(files):
        small = halved(luma(file))
        for times in (1, 2, 4):
            picture = enlarged(small, times)
            frames = [picture, gauss_blurred(picture, 1.7 * times), path_blurred(picture, 5 * times, 37 * number % 180)]
            # Demosaicing and denoising leave grain of more than one pixel.
            if times > 1:
                grain = 2 * times * gauss_blurred(white(picture.shape, 1, number), 0.6)
                frames = [frame + grain for frame in frames]
            for i, column in enumerate(scoring.run_gray(map(codes, frames), settings).T):
                scores.setdefault((times, i), []).append(column)
    rows = []
    for s, setting in enumerate(settings):
        def values(index, times):
            return [v[s] for key in scores if key[1] in index and times in (0, key[0]) for v in scores[key]]
        rows.append((f"`{setting}`", *(f"{area(values((0,), n), values((1, 2), n)):.3f}" for n in (1, 2, 4, 0))))
    table(("one threshold", "no grain", "twice as large", "four times", "all together"), *rows)


def photos(files):
    rows = []
    for file in files:
        frame, setting = [codes(luma(file))], [RECIPE + "prefilter=binomial5"]
        told = [scoring.run_gray(frame, setting, field=name)[0][0] for name in ("blur", "score", "anisotropy", "blur-angle")]
        rows.append((pathlib.Path(file).name, told[0], *(f"{v:.2f}" for v in told[1:3]), f"{told[3]:.0f}"))
    table(("picture", "`blur`", "`score`", "`anisotropy`", "`blur-angle`"), *rows)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("kinds", "sizes", "photos"):
        sys.exit(__doc__)
    {"kinds": kinds, "sizes": sizes, "photos": photos}[sys.argv[1]](sys.argv[2:])
