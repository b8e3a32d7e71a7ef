#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the image on the page of sharpnessoverlay: a focus sweep over a tilted board of fibres, made by this script.

GST_PLUGIN_PATH=build/gst docs/figures/overlay_screenshot.py docs/figures/sharpnessoverlay.png
(python3-gst-1.0, python3-numpy, python3-pil; options say what else it can show)
"""
import argparse
import sys

import gi
import numpy
from PIL import Image

gi.require_version("Gst", "1.0")
from gi.repository import Gst

RATE = 12
SECONDS = 10
COLOURS = 256
BLURS = numpy.array([0, 0.7, 1.4, 2.4, 3.8, 5.8, 8.5])  # standard deviations, pixels at 720 lines


def fibres(width, height, random):
    """A picture of bright fibres and grains on a dark ground, float RGB 0...1."""
    scale = height / 720
    y, x = numpy.mgrid[0:height, 0:width].astype(numpy.float32) / scale
    picture = numpy.full((height, width, 3), (0.10, 0.11, 0.13), numpy.float32)
    for _ in range(54):
        angle, offset = random.uniform(0, numpy.pi), random.uniform(-700, 700)
        bend, phase = random.uniform(5, 40), random.uniform(0, 6)
        along = (x - 640) * numpy.cos(angle) + (y - 360) * numpy.sin(angle)
        across = -(x - 640) * numpy.sin(angle) + (y - 360) * numpy.cos(angle) - offset
        across += bend * numpy.sin(along / 140 + phase)
        radius = random.uniform(2, 7)
        body = numpy.clip(radius + 0.5 - numpy.abs(across), 0, 1)
        shade = 0.35 + 0.65 * numpy.sqrt(numpy.clip(1 - (across / radius) ** 2, 0, 1))
        colour = numpy.array((0.55, 0.62, 0.60)) * random.uniform(0.5, 1.3) + random.uniform(-0.08, 0.08, 3)
        picture += (body * 1.0)[..., None] * (shade[..., None] * colour - picture)
    return numpy.clip(picture, 0, 1)


def blurred(picture, sigma):
    """Gaussian blur by the Fourier transform; the picture is mirrored at its border."""
    if sigma == 0:
        return picture
    edge = int(4 * sigma) + 1
    padded = numpy.pad(picture, ((edge, edge), (edge, edge), (0, 0)), mode="reflect")
    h, w = padded.shape[:2]
    gain = (numpy.exp(-2 * (numpy.pi * sigma * numpy.fft.fftfreq(h)) ** 2)[:, None]
            * numpy.exp(-2 * (numpy.pi * sigma * numpy.fft.rfftfreq(w)) ** 2))
    spectrum = numpy.fft.rfft2(padded, axes=(0, 1)) * gain[..., None]
    return numpy.fft.irfft2(spectrum, s=(h, w), axes=(0, 1))[edge:-edge, edge:-edge]


def frames(width, height):
    """RGB bytes of each frame. The board is tilted: its left end is in focus when its right end is not."""
    random = numpy.random.default_rng(7)
    scale = height / 720
    sharp = fibres(width, height, random)
    stack = [blurred(sharp, sigma * scale).astype(numpy.float32) for sigma in BLURS]
    depth = numpy.linspace(-0.55, 0.55, width) + 0.1
    for i in range(RATE * SECONDS):
        t = i / (RATE * SECONDS - 1)
        # Through focus, back, and to a stop beside the middle.
        focus = 1.6 * numpy.cos(2.6 * numpy.pi * t) * (1 - t) ** 0.7 - 0.12 * t
        sigma = 9 * numpy.abs(depth - focus)
        place = numpy.interp(sigma, BLURS, numpy.arange(len(BLURS)))
        low = numpy.minimum(place.astype(int), len(BLURS) - 2)
        picture = numpy.empty_like(stack[0])
        for level in range(len(BLURS) - 1):
            part = low == level
            mix = (place[part] - level)[None, :, None]
            picture[:, part] = stack[level][:, part] * (1 - mix) + stack[level + 1][:, part] * mix
        yield (numpy.clip(picture, 0, 1) * 255 + 0.5).astype(numpy.uint8).tobytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--size", default="960x540")
    parser.add_argument("--meter", default="prefilter=binomial3 zone-columns=8 zone-rows=5")
    parser.add_argument("--overlay", default="peaking=true")
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))

    Gst.init(None)
    pipeline = Gst.parse_launch(
        f"appsrc name=source format=time block=true max-bytes={width * height * 12}"
        f" caps=video/x-raw,format=RGB,width={width},height={height},framerate={RATE}/1 ! videoconvert"
        f" ! video/x-raw,format=I420 ! sharpnessmeter {arguments.meter} ! sharpnessoverlay {arguments.overlay}"
        " ! videoconvert ! video/x-raw,format=RGBx ! appsink name=sink sync=false")
    source, sink = pipeline.get_by_name("source"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    sample = None
    for i, pixels in enumerate(frames(width, height)):
        buffer = Gst.Buffer.new_wrapped(pixels)
        buffer.pts, buffer.duration = i * Gst.SECOND // RATE, Gst.SECOND // RATE
        source.emit("push-buffer", buffer)
        sample = sink.emit("try-pull-sample", 30 * Gst.SECOND)
        if sample is None:
            sys.exit("no picture came out: " + str(pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)))
    pipeline.set_state(Gst.State.NULL)
    data = sample.get_buffer().extract_dup(0, 4 * width * height)
    picture = Image.frombytes("RGB", (width, height), data, "raw", "RGBX")
    # As many colours as keep it small.
    picture.quantize(COLOURS, Image.Quantize.MEDIANCUT, kmeans=4, dither=Image.Dither.NONE).save(arguments.output, optimize=True)


main()
