#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much the brightness of a photograph changes when a part of another one covers 30 to 90% of it.

usage: benchmarks/python/covered.py [PHOTOGRAPH...]

Without names: those of scikit-image. autofocus.md uses it to tell passers-by from a loss of focus. Needs python3-skimage.
"""
import pathlib
import sys

import numpy
import skimage
import skimage.color
import skimage.io

COVERS = 4000


def gray(path):
    """The photograph in grey levels of 0 to 255; None if it is none, or smaller than 200 pixels."""
    if pathlib.Path(path).suffix.lower() not in (".png", ".jpg", ".jpeg", ".tif", ".tiff"):
        return None
    try:
        image = skimage.io.imread(path)
    except (OSError, SyntaxError, ValueError):  # scikit-image has damaged files too
        return None
    if image.ndim == 3 and image.shape[-1] in (3, 4):
        image = skimage.color.rgb2gray(image[..., :3]) * 255
    if image.ndim != 2 or min(image.shape) < 200:
        return None
    return image.astype(float) * (255 if image.max() <= 1 else 1)


def change(photo, other, random):
    """The change of the mean when a band of `other`, as high as the frame, is in front."""
    width = int(photo.shape[1] * random.uniform(0.3, 0.9))
    at = random.integers(0, photo.shape[1] - width + 1)
    seen = min(width, other.shape[1])
    left = random.integers(0, other.shape[1] - seen + 1)
    covered = photo.copy()
    covered[:, at:at + width] = other[:, left:left + seen].mean()
    return abs(covered.mean() - photo.mean()) / photo.mean()


def main():
    names = sys.argv[1:] or sorted((pathlib.Path(skimage.__file__).parent / "data").iterdir())
    photos = [image for image in map(gray, names) if image is not None]
    random = numpy.random.default_rng(0)
    changes = []
    for _ in range(COVERS):
        one, other = random.choice(len(photos), 2, replace=False)
        changes.append(change(photos[one], photos[other], random))
    print(f"{len(photos)} photographs, {COVERS} covers: brightness changes by {numpy.median(changes):.1%} in the median, "
          f"by less than 1% in {numpy.mean(numpy.array(changes) < 0.01):.1%}")


if __name__ == "__main__":
    main()
