#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much noise nlmeans and patchbilateral remove from photographs, beside other programs: the table and the picture of
docs/denoising.md.

usage: denoise_quality.py [PICTURE.png] > table.md
Adds white Gaussian noise to five photographs that scikit-image carries, rounds to 8 bits, filters with each program at
several strengths and prints mean PSNR and SSIM at the strength that has the best PSNR over all five (each program is
shown at its best). All average over 21x21 pixels by patches of 7x7, but for patchbilateral (7x7, 3x3). Needs
python3-skimage, python3-opencv, ffmpeg and GStreamer with the plugin; the same numbers come each time.
"""
import functools
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from PIL import Image, ImageDraw
from skimage import data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from skimage.restoration import denoise_nl_means

NAMES = ("camera", "astronaut", "chelsea", "coffee", "immunohistochemistry")
SIGMAS = (10, 20, 40)


def by_pipeline(element, noisy):
    """The picture as a GStreamer element leaves it."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder) / "before.png", pathlib.Path(folder) / "after.png"
        Image.fromarray(noisy).save(before)
        line = f"filesrc location={before} ! pngdec ! video/x-raw,format=GRAY8 ! {element} ! pngenc ! filesink location={after}"
        subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
        return np.asarray(Image.open(after))


def by_ffmpeg(options, noisy):
    height, width = noisy.shape
    raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{width}x{height}"]
    run = subprocess.run(["ffmpeg", "-v", "error", *raw, "-i", "-", "-vf", f"nlmeans={options}", *raw, "-"],
                         input=noisy.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(run.stdout, np.uint8).reshape(noisy.shape)


def by_skimage(h, sigma, noisy):
    seen = denoise_nl_means(noisy.astype(float), patch_size=7, patch_distance=10, h=h, sigma=sigma, fast_mode=True)
    return np.clip(np.rint(seen), 0, 255).astype(np.uint8)


# name -> (strengths in units of sigma, filter(strength, sigma, noisy))
METHODS = {
    "nlmeans": ((0.7, 0.8, 0.9, 1.0, 1.1, 1.2), lambda s, sigma, noisy: by_pipeline(f"nlmeans strength={s * sigma}", noisy)),
    "nlmeans, sigma given": ((0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
                             lambda s, sigma, noisy: by_pipeline(f"nlmeans strength={s * sigma} sigma={sigma}", noisy)),
    "nlmeans, sigma=-1": ((0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
                            lambda s, sigma, noisy: by_pipeline(f"nlmeans strength={s * sigma} sigma=-1", noisy)),
    "patchbilateral": ((0.8, 0.9, 1.0, 1.2, 1.4), lambda s, sigma, noisy: by_pipeline(f"patchbilateral sigma-range={s * sigma}", noisy)),
    "OpenCV 4.6 fastNlMeansDenoising": ((0.7, 0.8, 0.9, 1.0, 1.1, 1.2),
                                        lambda s, sigma, noisy: cv2.fastNlMeansDenoising(noisy, None, s * sigma, 7, 21)),
    "FFmpeg 5.1 nlmeans": ((0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0),
                           lambda s, sigma, noisy: by_ffmpeg(f"s={min(30, max(1, s * sigma))}:p=7:r=21", noisy)),
    "scikit-image 0.19 denoise_nl_means": ((0.7, 0.8, 0.9, 1.0, 1.1, 1.2), lambda s, sigma, noisy: by_skimage(s * sigma, 0, noisy)),
    "the same, sigma given": ((0.4, 0.5, 0.6, 0.7, 0.8, 0.9), lambda s, sigma, noisy: by_skimage(s * sigma, sigma, noisy)),
}
SHOWN = ("nlmeans", "nlmeans, sigma given", "patchbilateral", "OpenCV 4.6 fastNlMeansDenoising", "FFmpeg 5.1 nlmeans")


@functools.cache
def photograph(name):
    picture = getattr(data, name)()
    return picture if picture.ndim == 2 else np.asarray(Image.fromarray(picture).convert("L"))


def with_noise(clean, sigma):
    noise = np.random.default_rng(sigma).normal(0, sigma, clean.shape)
    return np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)


def quality(clean, picture):
    """PSNR in dB, SSIM with the Gaussian window of its authors."""
    return np.array([peak_signal_noise_ratio(clean, picture),
                     structural_similarity(clean, picture, gaussian_weights=True, sigma=1.5, use_sample_covariance=False)])


def best(method, sigma):
    """Strength in units of sigma, mean PSNR and SSIM."""
    strengths, denoise = METHODS[method]
    seen = []
    for s in strengths:
        means = np.mean([quality(photograph(n), denoise(s, sigma, with_noise(photograph(n), sigma))) for n in NAMES], axis=0)
        seen.append((means[0], means[1], s))
    psnr, ssim, s = max(seen)
    return s, psnr, ssim


def draw(chosen, path, sigma=20, name="astronaut", box=(150, 20, 310, 180)):
    """Cuts of one photograph, side by side."""
    clean = photograph(name)
    noisy = with_noise(clean, sigma)
    cuts = [("clean", clean), (f"noisy, sigma {sigma}", noisy)]
    cuts += [(method, METHODS[method][1](chosen[method, sigma], sigma, noisy)) for method in SHOWN]
    side, head = 2 * (box[2] - box[0]), 18
    sheet = Image.new("L", (4 * (side + 4) - 4, 2 * (side + head + 4) - 4), 255)
    pen = ImageDraw.Draw(sheet)
    for i, (title, picture) in enumerate(cuts):
        x, y = i % 4 * (side + 4), i // 4 * (side + head + 4)
        sheet.paste(Image.fromarray(picture).crop(box).resize((side, side), Image.Resampling.NEAREST), (x, y + head))
        pen.text((x + 2, y + 3), title, fill=0)
    sheet.save(path, optimize=True)


def main():
    chosen = {}
    print("| mean of five photographs | " + " | ".join(f"σ {sigma}" for sigma in SIGMAS) + " | strength at its best, in σ |")
    print("|---|" + "---|" * (len(SIGMAS) + 1))
    noisy = [np.mean([quality(photograph(n), with_noise(photograph(n), sigma)) for n in NAMES], axis=0) for sigma in SIGMAS]
    print("| noisy | " + " | ".join(f"{psnr:.2f} dB, {ssim:.3f}" for psnr, ssim in noisy) + " | |")
    for method in METHODS:
        rows = [best(method, sigma) for sigma in SIGMAS]
        chosen.update({(method, sigma): row[0] for sigma, row in zip(SIGMAS, rows)})
        print(f"| {method} | " + " | ".join(f"{psnr:.2f} dB, {ssim:.3f}" for _, psnr, ssim in rows) + " | " +
              ", ".join(f"{s:g}" for s, _, _ in rows) + " |", flush=True)
    if len(sys.argv) > 1:
        draw(chosen, sys.argv[1])


main()
