#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The option mask against its definition in numpy: what each pixel of the whole image adds, summed over the mask."""
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq

dice = np.random.default_rng(23)
H, W = 61, 83
y, x = np.mgrid[0:H, 0:W]
GRAY = np.clip(dice.normal(0, 9, (H, W)) + (x * 5 + y * 3) % 256, 0, 255).astype(np.uint8)
COLOUR = dice.integers(0, 256, (H, W, 3), np.uint8)
MASKS = {
    "all": np.ones((H, W), bool),
    "disk": (x - 40) ** 2 + (y - 30) ** 2 < 25 ** 2,
    "ring": ((x - 40) ** 2 + (y - 30) ** 2 < 28 ** 2) & ((x - 40) ** 2 + (y - 30) ** 2 > 15 ** 2),
    "random": dice.random((H, W)) < 0.4,
    "checker": (x + y) % 2 == 0,
    "columns": x % 2 == 0,
    "corner": (x + y) > 130,
    "pixel": (x == 7) & (y == 9),
    "edge": x == W - 1,
    "two": (x < 20) | ((x > 60) & (y > 40)),
}


def samples(g, prefilter, downscale):
    """Working samples in units of 1/16 grey level: box sums, then binomial smoothing with repeated edges."""
    g = g.astype(np.int64)
    if downscale > 1:
        h, w = (n // downscale for n in g.shape)
        g = g[:h * downscale, :w * downscale].reshape(h, downscale, w, downscale).sum((1, 3))
    shift = {1: 0, 2: 2, 4: 4}[downscale]
    taps = {"none": (1,), "binomial3": (1, 2, 1), "binomial5": (1, 4, 6, 4, 1)}[prefilter]
    if len(taps) > 1:
        p = np.pad(g, len(taps) // 2, mode="edge")
        p = sum(t * p[i:i + g.shape[0]] for i, t in enumerate(taps))
        g = sum(t * p[:, i:i + g.shape[1]] for i, t in enumerate(taps))
        shift += {3: 4, 5: 8}[len(taps)]
    if shift < 4:
        return g << (4 - shift)
    return g + (1 << (shift - 4) >> 1) >> (shift - 4)


def definition(g, mask, metric, prefilter="none", downscale=1, normalize="none"):
    s = samples(g, prefilter, downscale)
    h, w = s.shape
    m = mask[:h * downscale, :w * downscale].reshape(h, downscale, w, downscale).all((1, 3))
    n, o = int(m.sum()), np.zeros((h, w), np.int64)
    if n == 0:
        return 0.0
    if metric == "laplacian-variance":
        p = np.pad(s, 1, mode="reflect")
        one = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * s)[m]
        value, power = (n * int((one * one).sum()) - int(one.sum()) ** 2) / n ** 2, 2
    elif metric == "variance":
        one = s[m]
        value, power = (n * int((one * one).sum()) - int(one.sum()) ** 2) / n ** 2, 2
    else:
        if metric == "tenengrad":
            a = [[s[j:h - 2 + j, i:w - 2 + i] for i in range(3)] for j in range(3)]
            gx = a[0][2] + 2 * a[1][2] + a[2][2] - a[0][0] - 2 * a[1][0] - a[2][0]
            gy = a[2][0] + 2 * a[2][1] + a[2][2] - a[0][0] - 2 * a[0][1] - a[0][2]
            o[1:-1, 1:-1], power = gx * gx + gy * gy, 2
        elif metric == "brenner":
            o[:, :-2], power = (s[:, 2:] - s[:, :-2]) ** 2, 2
        elif metric == "gray-difference":
            o[:-1, :-1], power = abs(s[:-1, :-1] - s[:-1, 1:]) + abs(s[:-1, :-1] - s[1:, :-1]), 1
        value = int(o[m].sum()) / n
    value /= 16 ** power
    if normalize == "mean":
        mean = s[m].mean() / 16
        value = value / mean ** power if mean > 0 else 0.0
    return value


class Definition(unittest.TestCase):
    def test_scores(self):
        for name, mask in MASKS.items():
            for metric in ("tenengrad", "laplacian-variance", "variance", "brenner", "gray-difference"):
                for options in ({}, dict(prefilter="binomial3"), dict(prefilter="binomial5", downscale=2),
                                dict(downscale=4), dict(normalize="mean")):
                    wanted = definition(GRAY, mask, metric, **options)
                    got = fq.score(GRAY, mask=mask, metric=metric, **options)
                    self.assertLessEqual(abs(got - wanted), 1e-12 * abs(wanted), (name, metric, options))

    def test_rectangles_score_as_regions(self):
        for roi in ((0, 0, W, H), (5, 7, 30, 20), (W - 3, H - 3, 3, 3), (10, 0, 1, H)):
            rx, ry, rw, rh = roi
            mask = np.zeros((H, W), bool)
            mask[ry:ry + rh, rx:rx + rw] = True
            for metric in fq.METRICS:
                for options in ({}, dict(noise_correction=True), dict(prefilter="binomial3", normalize="mean")):
                    self.assertEqual(fq.score(GRAY, mask=mask, metric=metric, **options),
                                     fq.score(GRAY, roi=roi, metric=metric, **options), (roi, metric, options))

    def test_layouts_of_images_and_depths(self):
        mask = MASKS["disk"]
        plain = fq.score(COLOUR, mask=mask)
        self.assertEqual(fq.score(COLOUR.transpose(2, 0, 1), channel_axis=0, mask=mask), plain)
        self.assertEqual(fq.score(COLOUR[:, ::-1], mask=mask[:, ::-1]), fq.score(COLOUR[:, ::-1].copy(), mask=mask[:, ::-1]))
        self.assertEqual(fq.score(GRAY / 255, mask=mask), fq.score(GRAY, mask=mask))
        self.assertEqual(fq.score(GRAY.astype(">u2") << 2, bits=10, mask=mask), fq.score(GRAY, mask=mask))

    def test_statistics(self):
        m = fq.measure(GRAY, mask=MASKS["disk"])
        self.assertEqual(m.pixels, MASKS["disk"].sum())
        self.assertAlmostEqual(m.mean, GRAY[MASKS["disk"]].mean())
        self.assertEqual(m.zones.tolist(), [[m.score]])

    def test_empty(self):
        for metric in fq.METRICS:
            self.assertEqual(fq.score(GRAY, mask=np.zeros((H, W), bool), metric=metric), 0.0, metric)
        self.assertEqual(fq.measure(GRAY, mask=np.zeros((H, W), bool)).pixels, 0)

    def test_batches(self):
        mask = MASKS["ring"]
        images = [GRAY, GRAY[::-1], GRAY.T.copy().T]
        wanted = [fq.score(i, mask=mask) for i in images]
        self.assertEqual(fq.scores(images, mask=mask).tolist(), wanted)
        self.assertEqual(fq.scores(np.stack(images), mask=mask, device="auto").tolist(), wanted)
        self.assertEqual(fq.best(images, mask=mask, downscale=1).score, max(
            fq.score(i, mask=mask, **{**fq.ACROSS_SCENES, "downscale": 1}) for i in images))


class Arrays(unittest.TestCase, support.Failing):
    def test_layouts_of_masks(self):
        mask = MASKS["disk"]
        plain = fq.score(GRAY, mask=mask)
        read_only = mask.copy()
        read_only.flags.writeable = False
        padded = np.zeros((H, W + 5), bool)
        padded[:, :W] = mask
        for same in (mask.astype(np.uint8), mask.astype(np.uint8) * 200, np.asfortranarray(mask), read_only, padded[:, :W],
                     mask[::-1, ::-1].copy()[::-1, ::-1], mask.repeat(2, 1)[:, ::2], memoryview(mask)):
            self.assertEqual(fq.score(GRAY, mask=same), plain)
        row = np.broadcast_to(mask[30], (H, W))
        self.assertEqual(fq.score(GRAY, mask=row), fq.score(GRAY, mask=row.copy()))

    def test_refused(self):
        mask = MASKS["disk"]
        for dtype in (np.int8, np.uint16, np.int64, np.float32):
            self.fails(TypeError, ["mask", np.dtype(dtype).name, "mask != 0"], fq.score, GRAY, mask=mask.astype(dtype))
        self.fails(ValueError, ["mask", "(60, 83)", "61"], fq.score, GRAY, mask=mask[1:])
        self.fails(ValueError, ["mask", "(61, 83, 1)"], fq.score, GRAY, mask=mask[..., None])
        self.fails(ValueError, "(83, 61)", fq.score, GRAY, mask=mask.T)
        with self.assertRaises(TypeError):
            fq.score(GRAY, mask=5)
        for options in (dict(roi=(0, 0, 5, 5)), dict(downscale=0), dict(interlaced=True)):
            self.fails(ValueError, "mask", fq.score, GRAY, mask=mask, **options)
        self.fails(ValueError, "mask", fq.measure, GRAY, mask=mask, zones=(2, 2))
        self.fails(ValueError, "mask", fq.score, GRAY, mask=mask, bayer="rggb")


if __name__ == "__main__":
    support.main()
