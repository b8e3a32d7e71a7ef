#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws scan-report.png: the report of framequality-scan on a clip of painted flowers that goes in and out
of focus.

Needs numpy, Pillow and Chromium, and GStreamer's x264enc.
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy
from PIL import Image, ImageDraw, ImageFilter

WIDTH, HEIGHT, FRAMES, RATE = 960, 540, 360, 30
PAN = 240  # pixels that the meadow is wider than the picture
SHOT = (1120, 1210)
WINDOW = 300  # pixels that the window is higher: part of it is not the page
COLOURS = 128  # of the screenshot: keeps the file small


def meadow():
    """Sky, stems and flowers, larger towards the viewer."""
    random = numpy.random.default_rng(7)
    picture = Image.new("RGB", (WIDTH + PAN, HEIGHT))
    draw = ImageDraw.Draw(picture)
    for y in range(HEIGHT):
        sky, grass = (120 + y // 6, 160 + y // 8, 205), (70 - y // 16, 120 - y // 14, 60 - y // 20)
        draw.line([(0, y), (WIDTH + PAN, y)], fill=sky if y < HEIGHT * 0.42 else grass)
    for y in sorted(random.uniform(0.46, 1.05, 420) * HEIGHT):
        near, x = (y / HEIGHT) ** 3, random.uniform(0, WIDTH + PAN)
        size, top = 2 + 17 * near, y - 20 - 90 * near
        draw.line([x, y, x + random.uniform(-8, 8), top], fill=(40, 84, 38), width=1 + int(3 * near))
        petal = [(235, 80, 90), (245, 190, 60), (240, 240, 235), (170, 110, 220), (240, 130, 60)][random.integers(5)]
        for turn in numpy.arange(0, 2 * numpy.pi, numpy.pi / 3):
            px, py, r = x + size * 0.7 * numpy.cos(turn), top + size * 0.7 * numpy.sin(turn), size * 0.5
            draw.ellipse([px - r, py - r, px + r, py + r], fill=petal)
        draw.ellipse([x - size * 0.4, top - size * 0.4, x + size * 0.4, top + size * 0.4], fill=(90, 60, 30))
    return picture


def film(path):
    whole, at = meadow(), numpy.arange(FRAMES) / RATE
    blur = numpy.clip(1.6 + 1.7 * numpy.sin(0.8 * at + 2.4) + 0.6 * numpy.sin(2.9 * at), 0.3, None)
    blur[225:240] += 3.5  # a knock at the camera
    encode = (f"gst-launch-1.0 -q fdsrc ! rawvideoparse width={WIDTH} height={HEIGHT} format=rgb framerate={RATE}/1 ! videoconvert"
              f" ! video/x-raw,format=I420 ! x264enc bitrate=5000 ! h264parse ! mp4mux ! filesink location={path}")
    with subprocess.Popen(encode.split(), stdin=subprocess.PIPE) as encoder:
        for frame, radius in enumerate(blur):
            left = int(PAN / 2 * (1 + numpy.sin(frame / 70)))
            view = whole.crop((left, 0, left + WIDTH, HEIGHT)).filter(ImageFilter.GaussianBlur(float(radius)))
            encoder.stdin.write(view.tobytes())
        encoder.stdin.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="framequality-scan")
    parser.add_argument("--out", default=pathlib.Path(__file__).with_name("scan-report.png"))
    parser.add_argument("--keep", metavar="DIR", help="leave clip and report there")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary)
        film(folder / "meadow.mp4")
        subprocess.run([program, "--report", "report.html", "meadow.mp4"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={temporary}/profile",
                        "--hide-scrollbars", "--virtual-time-budget=3000", f"--screenshot={temporary}/shot.png",
                        f"--window-size={SHOT[0]},{SHOT[1] + WINDOW}", (folder.resolve() / "report.html").as_uri()], check=True, capture_output=True)
        shot = Image.open(f"{temporary}/shot.png").convert("RGB").crop((0, 0, *SHOT))
        shot.quantize(COLOURS, dither=Image.Dither.NONE).save(arguments.out, optimize=True)


if __name__ == "__main__":
    main()
