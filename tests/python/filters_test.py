#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Perceived quality, denoising, halftoning, autofocus, and reading of files."""
import math
import os
import sys
import tempfile
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq

dice = np.random.default_rng(5)
H, W = 40, 50
y, x = np.mgrid[0:H, 0:W]
CLEAN = ((x * 3 + y * 2) % 256 * 0.6 + 40).astype(np.uint8)
NOISY = np.clip(CLEAN + dice.normal(0, 8, (H, W)), 0, 255).astype(np.uint8)
COLOUR = np.stack([NOISY, np.roll(NOISY, 3, 0), np.roll(NOISY, 5, 1)], 2)


class Quality(unittest.TestCase, support.Failing):
    def test_range(self):
        self.assertTrue(0 <= fq.quality(NOISY) <= 99)
        self.assertEqual(fq.quality(COLOUR), fq.quality(np.ascontiguousarray(COLOUR[..., 0])))
        self.assertEqual(fq.quality(COLOUR[..., ::-1]), fq.quality(np.ascontiguousarray(COLOUR[..., 2])))
        self.assertIs(type(fq.quality(COLOUR, channel="luma")), float)
        self.assertEqual(fq.quality(COLOUR.transpose(2, 0, 1), channel_axis=0), fq.quality(COLOUR))

    def test_refused(self):
        self.fails(ValueError, ["3x20", "4x4"], fq.quality, np.zeros((20, 3), np.uint8))
        self.fails(ValueError, ["channel 'green'", "red, luma"], fq.quality, COLOUR, channel="green")
        self.fails(TypeError, "int64", fq.quality, COLOUR.astype(np.int64))


class Denoise(unittest.TestCase, support.Failing):
    def test_less_noise(self):
        for method in ("nlmeans", "patch-bilateral"):
            out = fq.denoise(NOISY, method=method)
            self.assertEqual((out.shape, out.dtype), (NOISY.shape, NOISY.dtype))
            before, after = (np.std(i.astype(float) - CLEAN) for i in (NOISY, out))
            self.assertLess(after, 0.8 * before, method)
        np.testing.assert_array_equal(fq.denoise(NOISY, strength=0), NOISY)
        self.assertTrue(out.flags.writeable)

    def test_layouts(self):
        """All layouts give the pixels of the plain one, in the shape that came in."""
        alpha = dice.integers(0, 256, (H, W, 1), np.uint8)
        rgba = np.concatenate([COLOUR, alpha], 2)
        options = dict(strength=12, threads=2)
        plain = fq.denoise(COLOUR, **options)
        self.assertFalse(np.array_equal(plain, COLOUR))
        got = fq.denoise(rgba, **options)
        np.testing.assert_array_equal(got, np.concatenate([plain, alpha], 2))
        np.testing.assert_array_equal(fq.denoise(rgba[..., :3], **options), plain)
        np.testing.assert_array_equal(fq.denoise(np.asfortranarray(COLOUR), **options), plain)
        np.testing.assert_array_equal(fq.denoise(COLOUR[:, ::-1][:, ::-1], **options), plain)
        np.testing.assert_array_equal(fq.denoise(COLOUR[..., ::-1], order="bgr", **options), plain[..., ::-1])
        for image, wanted in ((COLOUR, plain), (rgba, got)):
            planar = fq.denoise(image.transpose(2, 0, 1), channel_axis=0, **options)
            np.testing.assert_array_equal(planar, wanted.transpose(2, 0, 1))
            middle = fq.denoise(np.ascontiguousarray(image.transpose(0, 2, 1)), channel_axis=1, **options)
            np.testing.assert_array_equal(middle, wanted.transpose(0, 2, 1))
        gray = fq.denoise(NOISY, **options)
        np.testing.assert_array_equal(fq.denoise(NOISY[..., None], **options), gray[..., None])
        np.testing.assert_array_equal(fq.denoise(NOISY[None], channel_axis=0, **options), gray[None])

    def test_depths(self):
        for dtype in (np.uint16, ">u2"):
            for bits in (10, 16):
                image = (NOISY.astype(np.uint16) << (bits - 8)).astype(dtype)
                out = fq.denoise(image, strength=12, bits=bits)
                self.assertEqual((out.dtype, out.shape), (np.dtype(dtype), image.shape))
                difference = out / 2 ** (bits - 8) - fq.denoise(NOISY, strength=12)
                self.assertLess(abs(difference).max(), 1)
        for dtype in (np.float16, np.float32, np.float64, ">f4", ">f8"):
            for shape in (NOISY, COLOUR, np.dstack([COLOUR, NOISY])):
                image = (shape / 255).astype(dtype)
                out = fq.denoise(image, strength=12)
                self.assertEqual((out.dtype, out.shape), (np.dtype(dtype), image.shape))
                self.assertLess(abs(out.astype(float) * 255 - fq.denoise(shape, strength=12)).max(), 1.5)
                same = fq.denoise(image, strength=0).astype(float)
                self.assertLess(abs(same - image.astype(float)).max(), 1e-3 if dtype == np.float16 else 1 / 65280)
        wide = NOISY / 255 * 8 - 4
        out = fq.denoise(wide, strength=12, data_range=(-4, 4))
        self.assertLess(abs((out + 4) / 8 * 255 - fq.denoise(NOISY, strength=12)).max(), 1)

    def test_half_floats_round_trip(self):
        every = np.arange(1, 0x7c00, dtype=np.uint16)[:31740].view(np.float16).reshape(-1, 30)
        image = np.dstack([every] * 4)  # alpha is copied, also that of codes between two
        out = fq.denoise(image, strength=0, data_range=(0, 65504))
        np.testing.assert_array_equal(out[..., 3], every)
        step = 65504 / 65280
        self.assertLessEqual(abs(out[..., 0].astype(float) - every.astype(float)).max(), step / 2 + 16)
        low = np.linspace(0, 1, 4000).astype(np.float16).reshape(40, 100)
        codes = np.rint(low.astype(np.float32) * 65280)
        np.testing.assert_array_equal(fq.denoise(low, strength=0), (codes / 65280).astype(np.float16))

    def test_refused(self):
        self.fails(ValueError, ["method 'nlmean'", "did you mean 'nlmeans'"], fq.denoise, NOISY, method="nlmean")
        self.fails(ValueError, "patch_radius", fq.denoise, NOISY, patch_radius=8)
        self.fails(ValueError, "search_radius", fq.denoise, NOISY, search_radius=-1)
        self.fails(ValueError, "sigma", fq.denoise, NOISY, method="patch-bilateral", sigma=3)
        self.fails(ValueError, "strength", fq.denoise, NOISY, strength=math.nan)
        self.fails(ValueError, "threads", fq.denoise, NOISY, threads=-1)
        self.fails(ValueError, "mosaic", fq.denoise, NOISY, bayer="rggb")
        with self.assertRaises(TypeError):
            fq.denoise(NOISY, strength="much")
        with self.assertRaises(TypeError):
            fq.denoise(NOISY, sigma="much")


class Halftone(unittest.TestCase, support.Failing):
    def test_levels(self):
        image = np.ascontiguousarray(CLEAN)
        for method in ("floyd-steinberg", "tone-dependent", "blue-noise"):
            for levels in (2, 4, 16):
                out = fq.halftone(image, method=method, levels=levels)
                self.assertEqual((out.shape, out.dtype), ((H, W), np.uint8))
                self.assertLessEqual(set(np.unique(out)), {i * 255 // (levels - 1) for i in range(levels)})
                self.assertLess(abs(out.mean() - image.mean()), 12, (method, levels))

    def test_packed(self):
        out, packed = fq.halftone(CLEAN), fq.halftone(CLEAN, packed=True)
        np.testing.assert_array_equal(packed, np.packbits(out > 0, axis=1))
        np.testing.assert_array_equal(fq.halftone(CLEAN, invert=True, strength=0), 255 - fq.halftone(CLEAN, strength=0))
        self.assertFalse(np.array_equal(fq.halftone(CLEAN, serpentine=True), out))
        self.assertGreater(out.mean(), fq.halftone(CLEAN, linear=True).mean())

    def test_inputs(self):
        plain = fq.halftone(CLEAN)
        np.testing.assert_array_equal(fq.halftone(np.dstack([CLEAN] * 3)), plain)
        np.testing.assert_array_equal(fq.halftone(CLEAN[:, ::-1][:, ::-1]), plain)
        self.assertEqual(fq.halftone(CLEAN / 255).shape, (H, W))
        self.assertEqual(fq.halftone(np.dstack([CLEAN] * 3).transpose(2, 0, 1), channel_axis=0).shape, (H, W))

    def test_refused(self):
        self.fails(ValueError, "levels", fq.halftone, CLEAN, levels=3)
        self.fails(ValueError, "levels", fq.halftone, CLEAN, levels=4, packed=True)
        self.fails(ValueError, "strength", fq.halftone, CLEAN, strength=2.0)
        self.fails(ValueError, ["method", "blue-noise"], fq.halftone, CLEAN, method="bluenoise")


class Focus(unittest.TestCase, support.Failing):
    @staticmethod
    def stage(peak, start):
        class Stage:
            z, commands = start, 0

            def move(self, to):
                self.z = to
                self.commands += 1

            def score(self):
                return 10 + 1000 / (1 + ((self.z - peak) / 6) ** 2)
        return Stage()

    def test_run(self):
        for peak in (13.2, 50, 88.7):
            stage = self.stage(peak, 0.0)
            search = fq.Autofocus(0, 100, 0.5, position=0.0)
            self.assertFalse(search.done)
            position = search.run(stage.score, stage.move)
            self.assertLessEqual(abs(position - peak), 0.5)
            self.assertLess(abs(search.top - peak), 0.5)
            self.assertEqual((stage.z, search.position, search.state, search.done), (position, position, "focused", True))
            self.assertEqual(search.moves, stage.commands)
            self.assertGreater(search.frames, search.moves)
            self.assertGreaterEqual(search.error, 0)
            self.assertTrue(0.9 < search.certainty <= 1, search.certainty)
            positions = [p for p, _ in search.curve]
            self.assertEqual(positions, sorted(positions))
            self.assertTrue(search.reason)

    def test_goal(self):
        for goal, best in (("peak", 50), ("nearest", 84), ("farthest", 20)):
            stages = [self.stage(peak, 0.0) for peak in (20, 50, 50, 84)]

            def move(to):
                for stage in stages:
                    stage.move(to)
            search = fq.Autofocus(0, 100, 0.5, position=0, goal=goal)
            position = search.run(lambda: sum(stage.score() for stage in stages), move)
            self.assertLessEqual(abs(position - best), 1, goal)
        self.fails(ValueError, "goal must be one of 'peak', 'nearest', 'farthest', not 'near'", fq.Autofocus, 0, 100, 1,
                   goal="near")

    def test_stack(self):
        stage, stack = self.stage(50, 0.0), []
        search = fq.Autofocus(0, 100, 0.5, position=0, stack=5, stack_step=4)
        position = search.run(stage.score, stage.move, on_stack=lambda number, at: stack.append((number, at, stage.z)))
        self.assertEqual(stack, [(i + 1, position + 4 * (i - 2), position + 4 * (i - 2)) for i in range(5)])
        self.assertEqual((search.state, search.stack_image, stage.z), ("focused", 0, position))
        self.fails(ValueError, "stack", fq.Autofocus, 0, 100, 1, stack=-1)

    def test_loop_with_images_and_measurements(self):
        for measure in (fq.score, fq.measure):
            search, z = fq.Autofocus(0, 20, 1, position=0), 0.0
            while not search.done:
                blur = abs(z - 12) / 3 + 1
                image = (np.sin(x / blur / 1.3) * 100 / blur + 128).astype(np.uint8)
                z = search.next_position(measure(image))
                self.assertLess(search.frames, 300)
            self.assertEqual((search.state, z), ("focused", 12))

    def test_failures(self):
        flat = fq.Autofocus(0, 50, 1, position=0)
        self.fails(fq.Error, "autofocus failed: ", flat.run, lambda: 5.0, lambda to: None)
        self.assertEqual((flat.state, flat.done), ("failed", True))
        stage = self.stage(50, 0.0)
        search = fq.Autofocus(0, 100, 0.5, position=0)
        self.fails(fq.Error, "gave up after 7 images", search.run, stage.score, stage.move, max_frames=7)
        search.trigger()
        self.assertLessEqual(abs(search.run(stage.score, stage.move) - 50), 0.5)
        self.fails(ValueError, "step", fq.Autofocus, 0, 100, 0)
        self.fails(ValueError, "minimum at most maximum", fq.Autofocus, 100, 0, 1)
        self.fails(ValueError, "average_frames", fq.Autofocus, 0, 100, 1, average_frames=0)
        self.fails(ValueError, "min_certainty", fq.Autofocus, 0, 100, 1, min_certainty=50)
        unsure = fq.Autofocus(0, 100, 0.5, position=0, min_certainty=1)
        self.fails(fq.Error, "less certain than wanted", unsure.run, stage.score, stage.move)
        self.assertTrue(0 < unsure.certainty < 1, unsure.certainty)
        with self.assertRaises(TypeError):
            fq.Autofocus(0, "far", 1)
        with self.assertRaises(TypeError):
            search.next_position(None)
        fq.Autofocus(0, 10, 1).next_position(math.nan)

        def broken():
            raise KeyError("camera")
        self.fails(KeyError, "camera", fq.Autofocus(0, 10, 1).run, broken, print)


class Read(unittest.TestCase, support.Failing):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_pnm(self):
        header = b"# made by hand\n%d # wide\n %d\n%d\n"
        for kind, image in ((b"P5\n", NOISY), (b"P6 ", COLOUR)):
            got = fq.read(self.file("a.pnm", kind + header % (W, H, 255) + image.tobytes()))
            np.testing.assert_array_equal(got, image)
            deep = image.astype(np.uint16) * 257
            got = fq.read(self.file("b.pnm", kind + header % (W, H, 65535) + deep.astype(">u2").tobytes()))
            np.testing.assert_array_equal(got, deep)
            self.assertEqual(got.dtype, np.dtype(np.uint16))
            ten = image.astype(np.uint16) * 4 + 1
            got = fq.read(self.file("c.pnm", kind + header % (W, H, 1023) + ten.astype(">u2").tobytes()))
            np.testing.assert_array_equal(got, ten << 6)
            if image.ndim == 2:  # the luma of colours is rounded to their depth
                self.assertEqual(fq.score(got), fq.score(ten, bits=10))
            got = fq.read(self.file("d.pnm", kind + header % (W, H, 1000) + ten.clip(0, 1000).astype(">u2").tobytes()))
            np.testing.assert_array_equal(got, np.rint(ten.clip(0, 1000) * 65.28))
            got = fq.read(self.file("e.pnm", kind + header % (W, H, 15) + (image >> 4).tobytes()))
            np.testing.assert_array_equal(got, (image >> 4) * 17)

    def test_damaged_pnm(self):
        for content, part in ((b"P5 4 4 255\n123", "cut off"), (b"P5 x", "header"), (b"P5", "header"), (b"P5 0 4 255\n", "0x4"),
                              (b"P5 4 4 70000\n", "70000"), (b"P6 999999999 999999999 255\n", "999999999"),
                              (b"P5 9999999999 4 255\n", "header")):
            self.fails(OSError, ["cannot read", part], fq.read, self.file("damaged.pgm", content))
        self.fails(FileNotFoundError, "nowhere.pgm", fq.read, "nowhere.pgm")
        self.fails(IsADirectoryError, "directory", fq.read, self.folder.name)

    def test_pillow(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("python3-pil is not installed")
        path = os.path.join(self.folder.name, "a.png")
        for image in (NOISY, COLOUR, np.dstack([COLOUR, NOISY]), NOISY.astype(np.uint16) * 257):
            Image.fromarray(image).save(path)
            got = fq.read(path)
            np.testing.assert_array_equal(got, image)
            self.assertEqual(got.dtype, image.dtype)
        for mode, shape in (("P", (H, W, 3)), ("1", (H, W)), ("LA", (H, W))):
            Image.fromarray(NOISY).convert(mode).save(path)
            self.assertEqual(fq.read(path).shape, shape)
        Image.fromarray(COLOUR).convert("CMYK").save(os.path.join(self.folder.name, "a.tif"))
        self.assertEqual(fq.read(os.path.join(self.folder.name, "a.tif")).shape, (H, W, 3))
        with open(path, "rb") as file:
            content = file.read()
        for damaged in (b"hello", b"", content[:60], content[:-40]):
            self.fails(OSError, "cannot read", fq.read, self.file("b.png", damaged))

    def test_opencv_in_place_of_pillow(self):
        try:
            import cv2
        except ImportError:
            self.skipTest("python3-opencv is not installed")
        path = os.path.join(self.folder.name, "a.png")
        for image in (NOISY, COLOUR, np.dstack([COLOUR, NOISY])):
            cv2.imwrite(path, image if image.ndim == 2 else image[..., [2, 1, 0, 3][:image.shape[2]]])
            with unittest.mock.patch.dict(sys.modules, {"PIL": None}):
                np.testing.assert_array_equal(fq.read(path), image)
        with unittest.mock.patch.dict(sys.modules, {"PIL": None, "cv2": None}):
            self.fails(ImportError, ["a.png", "apt install python3-pil"], fq.read, path)


if __name__ == "__main__":
    import unittest.mock
    support.main()
