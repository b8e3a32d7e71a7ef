#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of all layouts and types score as the same pixels in plain memory do; all others are refused with a remedy."""
import array
import itertools
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq

dice = np.random.default_rng(7)
H, W = 37, 53
GRAY = dice.integers(0, 256, (H, W), np.uint8)
COLOUR = dice.integers(0, 256, (H, W, 3), np.uint8)
GRAY16 = dice.integers(0, 65536, (H, W), np.uint16)


def luma(rgb):
    """BT.601 in steps of 2^-15, as OpenCV."""
    r, g, b = (rgb[..., i].astype(np.int64) for i in range(3))
    return ((9798 * r + 19235 * g + 3735 * b + 16384) >> 15).astype(rgb.dtype)


class Layouts(unittest.TestCase, support.Failing):
    def test_channels(self):
        plain = fq.score(luma(COLOUR))
        alpha = dice.integers(0, 256, (H, W, 1), np.uint8)
        rgba = np.concatenate([COLOUR, alpha], 2)
        self.assertEqual(fq.score(GRAY[..., None]), fq.score(GRAY))
        self.assertEqual(fq.score(COLOUR), plain)
        self.assertEqual(fq.score(rgba), plain)
        self.assertEqual(fq.score(rgba[..., :3]), plain)
        for image in (COLOUR, rgba):
            first = np.ascontiguousarray(image.transpose(2, 0, 1))
            self.assertEqual(fq.score(first, channel_axis=0), plain)
            self.assertEqual(fq.score(image.transpose(2, 0, 1), channel_axis=0), plain)
            self.assertEqual(fq.score(first.transpose(1, 2, 0)), plain)
            self.assertEqual(fq.score(np.ascontiguousarray(image.transpose(0, 2, 1)), channel_axis=1), plain)
        self.assertEqual(fq.score(GRAY[None], channel_axis=0), fq.score(GRAY))

    def test_order(self):
        plain, bgr = fq.score(COLOUR), np.ascontiguousarray(COLOUR[..., ::-1])
        self.assertNotEqual(fq.score(bgr), plain)
        self.assertEqual(fq.score(bgr, order="bgr"), plain)
        self.assertEqual(fq.score(bgr[..., ::-1]), plain)
        self.assertEqual(fq.score(COLOUR[..., ::-1], order="bgr"), plain)
        abgr = np.concatenate([GRAY[..., None], bgr], 2)
        self.assertEqual(fq.score(abgr[..., :0:-1]), plain)
        self.assertEqual(fq.score(abgr[..., 1:], order="bgr"), plain)

    def test_strides(self):
        """Every combination of steps, of each axis order, for each type."""
        steps = (1, -1, 2, -3)
        for dtype in (np.uint8, np.uint16, ">u2", np.float16, np.float32, ">f4", np.float64):
            is_float = np.dtype(dtype).kind == "f"
            whole = COLOUR / 255 if is_float else COLOUR
            whole = whole.astype(dtype)
            for sy, sx in itertools.product(steps, steps):
                for image in (whole[::sy, ::sx], whole[::sy, ::sx, 0], whole[::sy, ::sx, ::-1],
                              whole.transpose(1, 0, 2)[::sy, ::sx], whole[..., 1].T[::sy, ::sx]):
                    plain = np.ascontiguousarray(image).astype(np.dtype(dtype).newbyteorder("="))
                    for metric in ("tenengrad", "brenner"):
                        self.assertEqual(fq.score(image, metric=metric), fq.score(plain, metric=metric),
                                         (dtype, sy, sx, image.strides))

    def test_values_of_strides(self):
        """As above, but the plain scores are those of bytes."""
        self.assertEqual(fq.score(GRAY[::-1, ::-1]), fq.score(GRAY[::-1, ::-1].copy()))
        self.assertEqual(fq.score(GRAY.T, metric="brenner"), fq.score(GRAY.T.copy(), metric="brenner"))
        self.assertNotEqual(fq.score(GRAY.T, metric="brenner"), fq.score(GRAY, metric="brenner"))
        wide = np.zeros((H, W, 300), np.uint8)
        wide[..., 17] = GRAY
        self.assertEqual(fq.score(wide[..., 17]), fq.score(GRAY))
        padded = np.zeros((H, W + 11), np.uint8)
        padded[:, :W] = GRAY
        self.assertEqual(fq.score(padded[:, :W]), fq.score(GRAY))

    def test_broadcast(self):
        row, column = GRAY[:1], GRAY[:, :1]
        for image in (np.broadcast_to(row, (H, W)), np.broadcast_to(column, (H, W)), np.broadcast_to(GRAY[0, 0], (H, W)),
                      np.broadcast_to(GRAY[..., None], (H, W, 3)),
                      np.lib.stride_tricks.as_strided(GRAY, (8, 9), (1, 2))):
            self.assertEqual(fq.score(image), fq.score(image.copy()))

    def test_unaligned(self):
        raw = np.zeros(GRAY16.nbytes + 1, np.uint8)
        odd = raw[1:].view(np.uint16).reshape(H, W)
        odd[:] = GRAY16
        self.assertEqual(fq.score(odd), fq.score(GRAY16))
        floats = np.zeros(H * W * 4 + 1, np.uint8)[1:].view(np.float32).reshape(H, W)
        floats[:] = GRAY / 255
        self.assertEqual(fq.score(floats), fq.score(GRAY))

    def test_read_only(self):
        image = GRAY.copy()
        image.flags.writeable = False
        self.assertEqual(fq.score(image), fq.score(GRAY))
        self.assertEqual(fq.score(memoryview(GRAY.tobytes()).cast("B", (H, W))), fq.score(GRAY))

    def test_small(self):
        for shape in ((1, 1), (1, 9), (9, 1), (2, 2), (1, 1, 3), (3, 1, 4)):
            self.assertEqual(fq.score(np.full(shape, 9, np.uint8)), 0.0)
            self.assertEqual(fq.score(np.full(shape, 0.5)), 0.0)

    def test_shapes_that_are_refused(self):
        for shape, parts in (((4,), ["(4,)", "(height, width)"]), ((), ["()"]), ((2, 4, 4, 3), ["(2, 4, 4, 3)", "scores()"]),
                             ((5, 6, 2), ["(5, 6, 2)", "channel_axis=-1"]), ((3, 50, 60), ["channel_axis=0"]),
                             ((0, 5), ["(0, 5)"]), ((5, 0), ["(5, 0)"]), ((0, 0, 3), ["(0, 0, 3)"])):
            self.fails(ValueError, parts, fq.score, np.zeros(shape, np.uint8))
        self.fails(ValueError, ["(50, 60, 3)", "channel_axis=0", "use channel_axis=-1"], fq.score,
                   np.zeros((50, 60, 3), np.uint8), channel_axis=0)
        self.fails(ValueError, ["1048576", "(1, 1048577)"], fq.score, np.zeros((1, 1048577), np.uint8))
        self.fails(ValueError, "shape (1, 1, 1", fq.score, np.zeros((1,) * 9, np.uint8).reshape((1,) * 8))
        self.fails(ValueError, "axes", fq.score, np.zeros((1,) * 9, np.uint8))


class Types(unittest.TestCase, support.Failing):
    def test_depths(self):
        """The same image scores the same with any depth."""
        eight = fq.score(GRAY, metric="laplacian")
        for bits in (9, 10, 12, 14, 16):
            image = GRAY.astype(np.uint16) << (bits - 8)
            self.assertAlmostEqual(fq.score(image, metric="laplacian", bits=bits), eight, delta=1e-12 * eight)
            self.assertEqual(fq.score(image.astype(">u2"), bits=bits), fq.score(image, bits=bits))
        self.assertEqual(fq.score(GRAY.astype(np.uint16) << 8), fq.score(GRAY.astype(np.uint16) << 8, bits=16))
        self.assertEqual(fq.score(GRAY, bits=8), fq.score(GRAY))

    def test_bits_that_are_exceeded(self):
        image = np.full((H, W), 1023, np.uint16)
        self.assertEqual(fq.score(image, bits=10), 0.0)
        for y, x in ((0, 0), (H - 1, W - 1), (17, 20)):
            for dtype in ("<u2", ">u2"):
                high = image.astype(dtype)
                high[y, x] = 1024
                for view in (high, high[::-1, ::-1], high.T):
                    self.fails(ValueError, ["1024", "bits=10"], fq.score, view, bits=10)
                self.fails(ValueError, ["image 1: ", "1024", "bits=10"], fq.scores, [image, high], bits=10)
        for bits in (7, 17, -1):
            self.fails(ValueError, ["bits", "8 to 16"], fq.score, image, bits=bits)
        self.fails(ValueError, ["bits=10", "uint16", "uint8"], fq.score, GRAY, bits=10)
        self.fails(ValueError, ["bits=10", "float64"], fq.score, GRAY / 255, bits=10)

    def test_floats_score_as_their_bytes(self):
        """The luma of colour images is rounded to their depth, which is 16 bits for floats."""
        for image, metric in itertools.product((GRAY, COLOUR), fq.METRICS):
            wanted = fq.score(image if image.ndim == 2 else image.astype(np.uint16) << 8, metric=metric)
            for dtype in (np.float32, np.float64, ">f4", ">f8"):
                got = fq.score((image / 255).astype(dtype), metric=metric)
                self.assertAlmostEqual(got, wanted, delta=1e-12 * abs(wanted), msg=(metric, dtype))

    def test_half_floats(self):
        every = np.arange(65536, dtype=np.uint16).view(np.float16)
        every = every[np.isfinite(every)].reshape(-1, 32)
        image = every.astype(np.float64)
        options = dict(data_range=(-65504, 65504), metric="tenengrad")
        self.assertAlmostEqual(fq.score(every, **options), fq.score(image, **options), delta=1e-3 * fq.score(image, **options))
        codes = np.rint((every.astype(np.float32) + np.float32(65504)) * np.float32(65280 / 131008)).astype(np.uint16)
        self.assertAlmostEqual(fq.score(every, **options), fq.score(codes), delta=1e-9 * fq.score(codes))

    def test_data_range(self):
        image = (GRAY / 255).astype(np.float64)
        wanted = fq.score(GRAY)
        self.assertAlmostEqual(fq.score(image * 4 - 1, data_range=(-1, 3)), wanted, delta=1e-6 * wanted)
        self.assertAlmostEqual(fq.score(GRAY.astype(np.float32), data_range=(0, 255)), wanted, delta=1e-9 * wanted)
        codes = np.rint(dice.random((H, W)) * 65280)
        self.assertEqual(fq.score(codes / 65280), fq.score(codes.astype(np.uint16)))

    def test_float_values_that_are_refused(self):
        for dtype, view in itertools.product((np.float16, np.float32, np.float64, ">f8"), range(3)):
            image = np.full((H, W), 0.5, dtype)
            image = (image, image[::-1, ::-1], image.T)[view]
            for y, x in ((0, 0), (5, 7), (-1, -1)):
                for value, parts in ((1.5, ["0.5 to 1.5", "data_range=(lo, hi)"]), (-2, ["-2 to 0.5", "(0, 1)"]),
                                     (np.inf, ["inf", "data_range"]), (-np.inf, ["-inf"]), (np.nan, ["NaN"])):
                    bad = image.copy()
                    bad[y, x] = value
                    self.fails(ValueError, parts, fq.score, bad)
        self.fails(ValueError, ["0.5 to 300", "data_range=(0, 255)"], fq.score, np.array([[0.5, 300]]), data_range=(0, 255))
        for given in ((1, 0), (0, 0), (0, float("nan")), (float("-inf"), 0)):
            self.fails(ValueError, ["data_range", "lo < hi"], fq.score, image, data_range=given)
        for given in (3, "ab", (1,), (0, 1, 2)):
            self.fails(TypeError, "data_range is (lo, hi)", fq.score, image, data_range=given)
        self.fails(ValueError, ["data_range", "uint16", "bits"], fq.score, GRAY16, data_range=(0, 1023))

    def test_types_that_are_refused(self):
        for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64):
            self.fails(TypeError, [np.dtype(dtype).name, "astype(numpy.uint8)", "bits="], fq.score, GRAY.astype(dtype))
        self.fails(TypeError, ["bool", "* 255"], fq.score, GRAY > 9)
        for dtype in (np.complex64, np.complex128, object, np.longdouble, "S1", "U1", "i4,i4"):
            self.fails(TypeError, "float32 or float64", fq.score, np.zeros((4, 4), dtype))
        self.fails(TypeError, "datetime64", fq.score, np.zeros((4, 4), "M8[s]"))
        self.fails(TypeError, "complex64", fq.score, np.zeros((4, 4), np.complex64))

    def test_objects_that_are_refused(self):
        self.fails(TypeError, ["file name 'a.png'", "framequality.read"], fq.score, "a.png")
        self.fails(TypeError, ["list", "numpy.array", "scores()"], fq.score, [[1, 2], [3, 4]])
        self.fails(TypeError, ["numpy.ndarray", "NoneType"], fq.score, None)
        self.fails(TypeError, "int", fq.score, 5)
        for image in (np.ma.array(GRAY, mask=GRAY > 9), GRAY, np.ma.array(GRAY)):
            if image is not GRAY:
                self.fails(TypeError, "getmaskarray", fq.score, image)
            else:
                fq.score(image)
        self.fails(ValueError, "(6,)", fq.score, b"abcdef")
        self.fails(ValueError, "(2,)", fq.score, array.array("H", [1, 2]))


if __name__ == "__main__":
    support.main()
