#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the animation at the top of the README: a simulated lens is focused on a photograph of scikit-image.

GST_PLUGIN_PATH=build/gst docs/figures/focus_animation.py docs/figures/focus.png
(python3-gst-1.0, python3-numpy, python3-pil, python3-skimage; --frames FOLDER also writes each frame)
"""
import argparse
import pathlib
import sys
import tempfile

import gi
import numpy
from PIL import Image

gi.require_version("Gst", "1.0")
from gi.repository import Gst

# By Rachel Michetti, CC0. Read as a file, since importing skimage would take a second.
PHOTOGRAPH = pathlib.Path("/usr/lib/python3/dist-packages/skimage/data/coffee.png")
WIDTH, HEIGHT = 480, 320
RATE = 10
LAST_MS = 2500  # how long the result is shown before the animation begins anew
LIMIT = 600_000


def frames(photograph):
    """An array (HEIGHT, WIDTH, 3) for each frame, from a blurred image until some frames after the search has ended."""
    pipeline = Gst.parse_launch(
        f'virtuallenssrc name=lens location="{photograph}" best-position=66 blur-per-unit=0.2 num-buffers=200'
        f" ! video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
        " ! sharpnessmeter prefilter=binomial3"
        " ! focuscontroller name=focus actuator=lens.position min=0 max=100 step=1 coarse-step=4 backlash=0 settle-frames=0"
        " mode=one-shot"
        " ! sharpnessoverlay peaking=true peaking-threshold=48 curve=true history=6000000000"
        " ! videoconvert ! video/x-raw,format=RGBx ! appsink name=sink sync=false max-buffers=1")
    sink, focus = pipeline.get_by_name("sink"), pipeline.get_by_name("focus")
    pipeline.set_state(Gst.State.PLAYING)
    left = 6
    while left:
        sample = sink.emit("try-pull-sample", 30 * Gst.SECOND)
        if sample is None:
            sys.exit(f"no frame came out: {pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)}")
        pixels = numpy.frombuffer(sample.get_buffer().extract_dup(0, 4 * WIDTH * HEIGHT), numpy.uint8)
        yield pixels.reshape(HEIGHT, WIDTH, 4)[..., :3]
        left -= focus.get_property("state").value_nick in ("focused", "failed")
    pipeline.set_state(Gst.State.NULL)


def palette(images, colours):
    """One palette for all, so that what does not change from frame to frame has the same bytes."""
    stacked = numpy.concatenate(images[::max(1, len(images) // 8)] + images[-1:])
    return Image.fromarray(stacked).quantize(colours, Image.Quantize.MEDIANCUT, kmeans=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--colours", type=int, default=32)
    parser.add_argument("--frames", type=pathlib.Path, help="folder for each frame as a file")
    arguments = parser.parse_args()
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        photograph = pathlib.Path(folder) / "photograph.png"
        Image.open(PHOTOGRAPH).convert("L").resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).save(photograph)
        images = list(frames(photograph))
    shared = palette(images, arguments.colours)
    drawn = [Image.fromarray(image).quantize(palette=shared, dither=Image.Dither.NONE) for image in images]
    durations = [1000 // RATE] * (len(drawn) - 1) + [LAST_MS]
    drawn[0].save(arguments.output, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=True)
    if arguments.frames:
        arguments.frames.mkdir(exist_ok=True)
        for i, image in enumerate(drawn):
            image.save(arguments.frames / f"{i:03}.png")
    size = arguments.output.stat().st_size
    print(f"{len(drawn)} frames, {size} bytes")
    if size > LIMIT:
        sys.exit(f"more than {LIMIT} bytes: take fewer colours")


main()
