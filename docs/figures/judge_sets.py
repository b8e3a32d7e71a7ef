#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well `framequality-scan --set` chooses: sharp photographs of different scenes, each with three blurred copies.

usage: judge_sets.py PROGRAM IMAGE... -- [OPTION OF framequality-scan]...

Prints how many images of each blur (Gaussian, in pixels) are chosen with `--every 4`, which compares the copies of one
scene, and with `--best`, as many as there are scenes. The copies of a scene come in random order, always the same. Needs
Pillow, and the plugin in GST_PLUGIN_PATH.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from PIL import Image, ImageFilter

BLURS = (0, 0.7, 1.4, 2.8)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    program, *arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    images, options = arguments[:split], arguments[split + 1:]
    shuffled = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder, blur_of = pathlib.Path(name), {}
        for number, image in enumerate(images):
            gray = Image.open(image).convert("L")
            for place, blur in enumerate(shuffled.sample(BLURS, len(BLURS))):
                copy = f"{number:03}-{place}.png"
                (gray.filter(ImageFilter.GaussianBlur(blur)) if blur else gray).save(folder / copy, compress_level=1)
                blur_of[copy] = blur
        print("| choice | " + " | ".join(f"σ {blur}" if blur else "sharp" for blur in BLURS) + " |")
        print("|---|" + "--:|" * len(BLURS))
        for choice in (("--every", str(len(BLURS))), ("--best", str(len(images)))):
            manifest = folder / "manifest.json"
            subprocess.run([program, "--quiet", "--set", *choice, *options, "--manifest", manifest, folder], check=True,
                           stdout=subprocess.DEVNULL)
            chosen = [blur_of[pathlib.Path(frame["source"]).name]
                      for frame in json.loads(manifest.read_text(encoding="utf-8"))["frames"]]
            print(f"| `{' '.join(choice)}` | " + " | ".join(str(chosen.count(blur)) for blur in BLURS) + " |", flush=True)


main()
