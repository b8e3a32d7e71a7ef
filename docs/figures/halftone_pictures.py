#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The images of docs/halftoning.md, and its tables: pixels that change between frames of a scene that stands still,
and PSNR after a blur.

GST_PLUGIN_PATH=build/gst docs/figures/halftone_pictures.py FOLDER
FOLDER: where halftone-ramp.png and halftone-photograph.png go; the tables go to stdout. All is made by the element.
Needs numpy, SciPy, Pillow, scikit-image (its photograph of a camera man) and GStreamer with the plugin;
the same bits come each time.
"""
import pathlib
import subprocess
import sys

import numpy
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter
from skimage import data

METHODS = {
    "floyd-steinberg": "method=floyd-steinberg",
    "floyd-steinberg, serpentine": "method=floyd-steinberg serpentine=true",
    "blue-noise": "method=blue-noise",
    "tdfed, 1 row": "method=tdfed swath-rows=1",
    "tdfed, 4 rows": "method=tdfed",
    "tdfed, 64 rows": "method=tdfed swath-rows=64",
}
FRAMES = 20
TONES = (32, 64, 96, 128)


def halftone(frames, properties):
    """The frames (an array of frames x height x width, 8 bits) through the element."""
    count, height, width = frames.shape
    assert width % 4 == 0, "rows of GRAY8 are padded to 4 bytes"
    command = ["gst-launch-1.0", "-q", "fdsrc", f"blocksize={height * width}", "!", "rawvideoparse", "format=gray8", f"width={width}",
               f"height={height}", "!", "halftone", *properties.split(), "!", "fdsink"]
    out = subprocess.run(command, input=frames.tobytes(), stdout=subprocess.PIPE, check=True, timeout=300).stdout
    return numpy.frombuffer(out, numpy.uint8).reshape(count, height, width)


def sheet(picture, ways, columns):
    """The picture by each of the ways, named, side by side at 1:1."""
    height, width = picture.shape
    title, gap = 14, 8
    rows = -(-len(ways) // columns)
    image = Image.new("L", (columns * (width + gap) - gap, rows * (height + title + gap) - gap), 255)
    draw = ImageDraw.Draw(image)
    for i, (name, properties) in enumerate(ways.items()):
        x, y = i % columns * (width + gap), i // columns * (height + title + gap)
        draw.text((x, y), name, fill=0)
        image.paste(Image.fromarray(halftone(picture[None], properties)[0]), (x, y + title))
    return image.convert("1", dither=Image.Dither.NONE)


def ramp(width, height):
    """Black to white from left to right."""
    return numpy.rint(numpy.tile(numpy.linspace(0, 255, width), (height, 1))).astype(numpy.uint8)


def changes(scene, sigma, properties):
    """Share of pixels that differ from one frame to the next, in per cent, with noise of this standard deviation."""
    random = numpy.random.default_rng(1)
    noisy = scene + sigma * random.standard_normal((FRAMES, *scene.shape))
    frames = halftone(numpy.clip(numpy.rint(noisy), 0, 255).astype(numpy.uint8), properties)
    return 100 * numpy.mean(frames[1:] != frames[:-1])


def psnr(pictures, properties):
    """Of each picture, in dB, when it and its halftone are blurred by a Gaussian of 1.5 pixels; without the borders."""
    def blur(picture):
        return gaussian_filter(picture.astype(float), 1.5)[48:-16, 32:-32]

    return [10 * numpy.log10(255**2 / numpy.mean((blur(a) - blur(b)) ** 2)) for a, b in zip(pictures, halftone(pictures, properties))]


def main():
    folder = pathlib.Path(sys.argv[1])
    photograph = data.camera()
    sheet(ramp(768, 72), METHODS, 1).save(folder / "halftone-ramp.png", optimize=True)
    sheet(photograph[40:296, 120:376], METHODS, 3).save(folder / "halftone-photograph.png", optimize=True)
    sigmas = (0.5, 1, 2, 4)
    print("| method | " + " | ".join(f"σ {sigma}" for sigma in sigmas) + " |")
    print("|---|" + "---|" * len(sigmas))
    for name, properties in METHODS.items():
        print(f"| {name} | " + " | ".join(f"{changes(photograph, sigma, properties):.1f} %" for sigma in sigmas) + " |", flush=True)

    pictures = numpy.stack([numpy.full_like(photograph, tone) for tone in TONES] + [photograph])
    print("\n| method | " + " | ".join(f"grey {tone}" for tone in TONES) + " | photograph |")
    print("|---|" + "---|" * len(pictures))
    for name, properties in METHODS.items():
        print(f"| {name} | " + " | ".join(f"{p:.1f}" for p in psnr(pictures, properties)) + " |", flush=True)


main()
