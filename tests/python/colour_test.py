#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Colour halftones of the package: an oracle in numpy that knows nothing of the tables, and Pillow's quantize.

Pillow diffuses errors with the same weights, but chooses by distance in RGB in cells of 4 codes, from their lower
corner, divides towards zero, clips what a pixel wants to 0...255, and hands down the errors of blue in all channels of the
last column. With these put into the oracle it is Pillow, bit for bit: that is all that the two differ in.
"""
import itertools
import pathlib
import re
import tempfile
import unittest

import numpy as np

import framequality as fq
import support

try:
    from PIL import Image
except ImportError:
    Image = None

W, H = 61, 40
FULL, NODE = 4096, 128
SPECTRA6 = ("1a0d23", "b9cacd", "cab800", "790900", "00458b", "285239")
CUBE = ("000000", "ff0000", "00ff00", "0000ff", "ffff00", "ff00ff", "00ffff", "ffffff")
MASK = pathlib.Path(__file__).resolve().parents[2] / "algorithms/halftone/data/blue_noise_mask.cpp"


def rgb(colours):
    return np.array([[int(c[i:i + 2], 16) for i in (0, 2, 4)] for c in colours])


def text(colours):
    return ",".join("#" + c for c in colours)


def picture():
    y, x = np.mgrid[:H, :W]
    waves = np.stack([127.5 + 127.5 * np.sin(0.11 * x + 0.05 * y + c) for c in (0, 2, 4)], -1)
    return np.rint(np.clip(waves + np.random.default_rng(3).normal(0, 9, waves.shape), 0, 255)).astype(np.uint8)


def tones(codes):
    return np.floor(np.asarray(codes, int) * FULL / 255 + 0.5).astype(int)


def oklab(codes):
    """Of codes 0...1 and beyond."""
    size = np.abs(codes)
    light = np.where(size <= 0.04045, size / 12.92, ((size + 0.055) / 1.055) ** 2.4) * np.sign(codes)
    lms = np.cbrt(light @ np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                                    [0.0883024619, 0.2817188376, 0.6299787005]]).T)
    return lms @ np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                           [0.0259040371, 0.7827717662, -0.8086757660]]).T


def diffuse(wanted, palette, choose, divide, clip, limit, end_row=lambda sums, error: None):
    """Places in the palette by Floyd-Steinberg."""
    sums, out = np.zeros((H + 1, W + 2, 3), int), np.zeros((H, W), int)
    for y in range(H):
        for x in range(W):
            u = clip(wanted[y, x] + divide(sums[y, x + 1]))
            out[y, x] = choose(u)
            error = np.clip(u - palette[out[y, x]], *limit)
            for dx, dy, weight in ((1, 0, 7), (-1, 1, 3), (0, 1, 5), (1, 1, 1)):
                sums[y + dy, x + 1 + dx] += weight * error
        end_row(sums[y + 1, W], error)
    return out


def end_row_of_pillow(sums, error):
    sums[:] = sums[2], error[2], error[2]


def nearest_to(places):
    return lambda seen: np.argmin(((places - seen) ** 2).sum(-1))


def opponent(tone):
    luma = tone @ np.array([0.299, 0.587, 0.114]) / FULL
    return np.stack([luma, 0.5 * (tone[..., 0] / FULL - luma), 0.5 * (tone[..., 2] / FULL - luma)], -1)


def mixtures(nodes, palette):
    """Weights of the palette's colours at tones: the nearest mixture, and of those that of the nearest colours."""
    places, wanted = opponent(palette.astype(float)), opponent(nodes.astype(float))
    best, cost = np.zeros((len(nodes), len(palette))), np.full((len(nodes), 2), np.inf)
    lifted = (places**2).sum(-1)
    for count in (1, 2, 3, 4):
        for corners in itertools.combinations(range(len(palette)), count):
            corners = list(corners)
            edges = (places[corners[1:]] - places[corners[0]]).T
            weights = np.zeros((len(nodes), count))
            if count > 1:
                weights[:, 1:] = (wanted - places[corners[0]]) @ np.linalg.pinv(edges).T
            weights[:, 0] = 1 - weights[:, 1:].sum(-1)
            distance = ((weights @ places[corners] - wanted) ** 2).sum(-1)
            spread = weights @ lifted[corners]
            better = (weights.min(-1) > -1e-9) & ((distance < cost[:, 0] - 1e-15) | ((distance < cost[:, 0] + 1e-15) & (spread < cost[:, 1] - 1e-12)))
            cost[better] = np.stack([distance, spread], -1)[better]
            best[better] = 0
            best[np.ix_(better, corners)] = weights[better]
    return best


class Colour(unittest.TestCase, support.Failing):
    def test_floyd_steinberg_is_that_of_the_oracle(self):
        image = picture()
        for colours in (SPECTRA6, CUBE):
            palette = tones(rgb(colours))
            nearest = nearest_to(oklab(palette / FULL))
            out = diffuse(tones(image), palette, lambda u: nearest(oklab((u // NODE * NODE + NODE // 2) / FULL)),
                          lambda s: (s + 8) >> 4, lambda u: u, (-FULL, FULL - 1))
            np.testing.assert_array_equal(fq.halftone(image, palette=text(colours), absolute=True), rgb(colours)[out])

    @unittest.skipUnless(Image, "needs Pillow")
    def test_pillow_is_the_oracle_with_its_arithmetic(self):
        image, palette = picture(), rgb(CUBE)
        nearest = nearest_to(palette)
        out = diffuse(image.astype(int), palette, lambda u: nearest(u // 4 * 4), lambda s: np.trunc(s / 16).astype(int),
                      lambda u: np.clip(u, 0, 255), (-255, 255), end_row_of_pillow)
        plain = Image.new("P", (1, 1))
        plain.putpalette(palette.astype(np.uint8).tobytes())
        pillow = Image.fromarray(image).quantize(palette=plain, dither=Image.Dither.FLOYDSTEINBERG)
        np.testing.assert_array_equal(np.asarray(pillow.convert("RGB")), palette[out])

    def test_blue_noise_is_that_of_the_oracle(self):
        image = picture()
        body = re.sub(r"//[^\n]*", "", MASK.read_text(encoding="utf-8"))
        mask = np.array(re.findall(r"\d+", body[body.index("{", body.index("kBlueNoiseMask")):]), int)[:128 * 128].reshape(128, 128)
        threshold = (2 * mask + 1) * 2040 // 16384 + 1
        rounding = np.roll(mask, (-64, -64), (0, 1))[:H, :W] // 128
        nodes = (tones(image) + rounding[..., None]) // NODE
        places, which = np.unique(nodes.reshape(-1, 3), axis=0, return_inverse=True)
        palette = tones(rgb(SPECTRA6))
        black, white = palette[0], palette[1]
        weights = mixtures(black + places * NODE / FULL * (white - black), palette)
        light = np.where(palette / FULL <= 0.04045, palette / FULL / 12.92, ((palette / FULL + 0.055) / 1.055) ** 2.4)
        order = np.argsort(light @ np.array([0.2126, 0.7152, 0.0722]), kind="stable")
        until = np.rint(np.cumsum(weights[:, order], -1) * 4080)[which.ravel()].reshape(H, W, -1)
        out = order[(threshold[:H, :W, None] > until).sum(-1)]
        made = fq.halftone(image, method="blue-noise", palette="spectra6")
        differ = np.any(made != rgb(SPECTRA6)[out], axis=-1)
        # Thresholds that lie between two integers are rounded from sums in another order.
        self.assertLess(differ.mean(), 0.002)

    def test_packed_codes_are_those_of_the_colours(self):
        image = picture()
        for name, codes, colours in (("spectra6", (0, 1, 2, 3, 5, 6), SPECTRA6), ("#000000,#ffffff=1", (0, 1), ("000000", "ffffff")),
                                     ("#000000,#ffffff,#ff0000=3", (0, 1, 3), ("000000", "ffffff", "ff0000"))):
            bits = 1 if max(codes) < 2 else 2 if max(codes) < 4 else 4
            seen, packed = fq.halftone(image, palette=name), fq.halftone(image, palette=name, packed=True)
            self.assertEqual(packed.shape, (H, (W * bits + 7) // 8))
            expected = np.zeros((H, packed.shape[1] * 8 // bits), int)
            for code, colour in zip(codes, rgb(colours)):
                expected[:, :W][np.all(seen == colour, -1)] = code
            unpacked = np.unpackbits(packed, axis=1).reshape(H, -1, bits) @ (1 << np.arange(bits)[::-1])
            np.testing.assert_array_equal(unpacked, expected)

    def test_inputs(self):
        image = picture()
        made = fq.halftone(image, palette="acep7")
        np.testing.assert_array_equal(fq.halftone(image[..., ::-1], palette="acep7", order="bgr"), made)
        np.testing.assert_array_equal(fq.halftone(np.dstack([image, image[..., :1]]), palette="acep7"), made)
        np.testing.assert_array_equal(fq.halftone(image.transpose(2, 0, 1), palette="acep7", channel_axis=0), made)
        for threads in (1, 2, 3):
            np.testing.assert_array_equal(fq.halftone(image, palette="acep7", threads=threads), made)
        gray = image[..., 0]
        np.testing.assert_array_equal(fq.halftone(gray, palette="grey16"), fq.halftone(np.dstack([gray] * 3), palette="grey16"))
        self.assertTrue(np.all(fq.halftone(np.full((9, 9), 255, np.uint8), palette="spectra6") == rgb(SPECTRA6)[1]))

    def test_refused(self):
        image = picture()
        self.fails(ValueError, ["spectra", "spectra6"], fq.halftone, image, palette="spectra")
        self.fails(ValueError, "at least 2", fq.halftone, image, palette="#000000")
        self.fails(ValueError, "twice", fq.halftone, image, palette="#000000,#000000")
        self.fails(ValueError, "at most 16", fq.halftone, image, palette=text("%06x" % i for i in range(17)))
        self.fails(ValueError, "#rrggbb", fq.halftone, image, palette="#000000,#fff", packed=True)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "panel.txt")
            self.fails(ValueError, ["panel.txt", "cannot be read"], fq.halftone, image, palette=path)
            path.write_text("#102030\n#d0e0f0=5\n")
            np.testing.assert_array_equal(fq.halftone(image, palette=path), fq.halftone(image, palette="#102030,#d0e0f0=5"))
            path.write_text("#102030\n#102030\n")
            self.fails(ValueError, "twice", fq.halftone, image, palette=path)
        self.fails(ValueError, "greys only", fq.halftone, image, palette="spectra6", method="tone-dependent")


if __name__ == "__main__":
    unittest.main()
