#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much noise nlmeans and patchbilateral remove from photographs: the tables and the image of docs/denoising.md.

GST_PLUGIN_PATH=build/gst docs/figures/denoise_quality.py follow [PHOTOGRAPH...]
GST_PLUGIN_PATH=build/gst docs/figures/denoise_quality.py others [--draw PICTURE.png]

Adds white Gaussian noise to photographs, rounds to 8 bits (to as many as --depth says), filters and compares with the
photographs. Without any given they are five that scikit-image carries. The same numbers come each time.

follow: both elements with their defaults, which follow the noise, beside the noisy picture and the best of several fixed
strengths for each picture: mean PSNR, and the picture that is worst off. --half also takes the photographs halved by the
mean of 2x2, which frees them of noise and compression of their own; --crop W H takes their middle.
others: mean PSNR and SSIM beside other programs, at the strength that has the best PSNR over all five (each program is
shown at its best). All average over 21x21 pixels by patches of 7x7, but for patchbilateral (7x7, 3x3). Needs
python3-opencv and ffmpeg too.
"""
import argparse
import functools
import pathlib
import subprocess

import gi
import numpy as np
from PIL import Image, ImageDraw
from skimage import data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from skimage.restoration import denoise_nl_means

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # GstApp gives appsrc and appsink their methods

Gst.init(None)

NAMES = ("camera", "astronaut", "chelsea", "coffee", "immunohistochemistry")
SIGMAS = (10, 20, 40)


def by_opencv(strength, noisy):
    import cv2

    return cv2.fastNlMeansDenoising(noisy, None, strength, 7, 21)


def by_pipeline(element, noisy):
    """The picture as a GStreamer element leaves it."""
    height, width = noisy.shape
    row = (noisy.itemsize * width + 3) // 4 * 4  # bytes, as GStreamer pads them
    rows = np.zeros((height, row), np.uint8)
    rows[:, :noisy.itemsize * width] = noisy.view(np.uint8)
    format = "GRAY8" if noisy.dtype == np.uint8 else "GRAY16_LE"
    pipeline = Gst.parse_launch(f"appsrc name=in caps=video/x-raw,format={format},width={width},height={height},framerate=0/1 "
                                f"! {element} ! appsink name=out sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_by_name("in").push_buffer(Gst.Buffer.new_wrapped(rows.tobytes()))
    sample = pipeline.get_by_name("out").pull_sample()
    seen = np.frombuffer(sample.get_buffer().extract_dup(0, rows.size), np.uint8).reshape(rows.shape)
    pipeline.set_state(Gst.State.NULL)
    return np.ascontiguousarray(seen[:, :noisy.itemsize * width]).view(noisy.dtype)


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
    "nlmeans as it is": ((1,), lambda s, sigma, noisy: by_pipeline("nlmeans", noisy)),
    "nlmeans": ((0.7, 0.8, 0.9, 1.0, 1.1, 1.2), lambda s, sigma, noisy: by_pipeline(f"nlmeans strength={s * sigma}", noisy)),
    "nlmeans, sigma given": ((0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
                             lambda s, sigma, noisy: by_pipeline(f"nlmeans strength={s * sigma} sigma={sigma}", noisy)),
    "nlmeans, sigma=-1": ((0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
                            lambda s, sigma, noisy: by_pipeline(f"nlmeans strength={s * sigma} sigma=-1", noisy)),
    "patchbilateral": ((0.8, 0.9, 1.0, 1.2, 1.4), lambda s, sigma, noisy: by_pipeline(f"patchbilateral sigma-range={s * sigma}", noisy)),
    "patchbilateral as it is": ((1,), lambda s, sigma, noisy: by_pipeline("patchbilateral", noisy)),
    "OpenCV 4.6 fastNlMeansDenoising": ((0.7, 0.8, 0.9, 1.0, 1.1, 1.2),
                                        lambda s, sigma, noisy: by_opencv(s * sigma, noisy)),
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


def others(draw_to):
    chosen = {}
    print("| mean of five photographs | " + " | ".join(f"σ {sigma}" for sigma in SIGMAS) + " | strength at its best, in σ |")
    print("|---|" + "---|" * (len(SIGMAS) + 1))
    noisy = [np.mean([quality(photograph(n), with_noise(photograph(n), sigma)) for n in NAMES], axis=0) for sigma in SIGMAS]
    print("| noisy | " + " | ".join(f"{psnr:.2f} dB, {ssim:.3f}" for psnr, ssim in noisy) + " | |")
    for method in METHODS:
        rows = [best(method, sigma) for sigma in SIGMAS]
        chosen.update({(method, sigma): row[0] for sigma, row in zip(SIGMAS, rows)})
        print(f"| {method} | " + " | ".join(f"{psnr:.2f} dB, {ssim:.3f}" for _, psnr, ssim in rows) + " | " +
              ("follows" if len(METHODS[method][0]) == 1 else ", ".join(f"{s:g}" for s, _, _ in rows)) + " |", flush=True)
    if draw_to:
        draw(chosen, draw_to)


# --- Strengths that follow the noise --------------------------------------------------------------------------------

LEVELS = (0, 0.5, 1, 2, 5, 10, 20, 30)
# element -> fixed strengths in units of sigma
FOLLOWING = {"nlmeans": ("strength", (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1)),
             "patchbilateral": ("sigma-range", (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6))}


def gray(path):
    picture = Image.open(path)
    return np.asarray(picture if picture.mode == "L" else picture.convert("RGB").convert("L"))


def halved(picture):
    height, width = (n // 2 * 2 for n in picture.shape)
    boxes = picture[:height, :width].reshape(height // 2, 2, width // 2, 2)
    return np.rint(boxes.mean((1, 3))).astype(np.uint8)


def middle(picture, size):
    top, left = (max(0, (n - m) // 2) for n, m in zip(picture.shape, (size[1], size[0])))
    return np.ascontiguousarray(picture[top:top + size[1], left:left + size[0]])


def seen_at(clean, sigma, depth):
    """The picture with noise, of 8 bits, or of `depth` bits in the high ones of 16."""
    noise = np.random.default_rng(int(10 * sigma)).normal(0, 1, clean.shape) * sigma
    if depth == 8:
        return np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)
    codes = np.clip(np.rint((clean + noise) * ((1 << depth) - 1) / 255), 0, (1 << depth) - 1)
    return np.rint(codes * 65535 / ((1 << depth) - 1)).astype(np.uint16)


def decibels(clean, picture):
    """PSNR; none for the picture itself."""
    codes = picture if picture.dtype == np.uint8 else picture / 257
    squares = ((codes - clean.astype(float)) ** 2).mean()
    return 10 * np.log10(255 ** 2 / squares) if squares > 0 else np.inf


def follow(pictures, depth):
    heads = [f"{element}, {what}" for element in FOLLOWING for what in ("as it is", "best fixed", "worst off")]
    print("| σ | noisy | " + " | ".join(heads) + " |\n|---|" + "---|" * (len(heads) + 1))
    for sigma in LEVELS:
        noisy = {name: seen_at(clean, sigma, depth) for name, clean in pictures.items()}
        untouched = {name: decibels(pictures[name], noisy[name]) for name in pictures}
        cells = [f"{np.mean(list(untouched.values())):.2f}"]
        for element, (strength, factors) in FOLLOWING.items():
            now = {name: by_pipeline(element, noisy[name]) for name in pictures}
            if sigma == 0:
                changed = [name for name in pictures if (now[name] != noisy[name]).any()]
                cells += [f"{len(changed)} of {len(pictures)} changed", "", ", ".join(changed)]
                continue
            psnr = {name: decibels(pictures[name], now[name]) for name in pictures}
            best = {name: max(decibels(pictures[name], by_pipeline(f"{element} {strength}={f * sigma}", noisy[name])) for f in factors)
                    if sigma > 2 else untouched[name] for name in pictures}
            loss, worst = min((psnr[name] - best[name], name) for name in pictures)
            cells += [f"{np.mean(list(psnr.values())):.2f}", f"{np.mean(list(best.values())):.2f}" if sigma > 2 else "",
                      f"{worst} {loss:+.2f}"]
        print(f"| {sigma:g} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("follow")
    one.add_argument("photographs", nargs="*")
    one.add_argument("--half", action="store_true")
    one.add_argument("--crop", nargs=2, type=int, metavar=("W", "H"))
    one.add_argument("--depth", type=int, default=8, choices=(8, 10, 12, 16))
    commands.add_parser("others").add_argument("--draw", metavar="PICTURE.png")
    given = parser.parse_args()
    if given.command == "others":
        return others(given.draw)
    pictures = {pathlib.Path(p).stem: gray(p) for p in given.photographs} or {n: photograph(n) for n in NAMES}
    if given.half:
        pictures |= {f"{name} halved": halved(picture) for name, picture in pictures.items()}
    if given.crop:
        pictures = {name: middle(picture, given.crop) for name, picture in pictures.items()}
    follow(pictures, given.depth)


main()
