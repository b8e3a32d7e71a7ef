#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every public function: what it returns, its options, and what it refuses."""
import ast
import inspect
import math
import os
import tempfile
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq

dice = np.random.default_rng(3)
H, W = 96, 128
y, x = np.mgrid[0:H, 0:W]
SCENE = ((np.sin(x / 2.1) + np.sin(y / 1.7) + np.sin((x + y) / 3.3)) * 40 + 128).astype(np.uint8)
NOISE = dice.integers(0, 256, (H, W), np.uint8)


def blurred(image, radius):
    """A box blur, without wrapping at the border."""
    padded = np.pad(image.astype(np.float64), radius, mode="edge")
    size = 2 * radius + 1
    rows = sum(padded[i:i + image.shape[0]] for i in range(size)) / size
    return np.rint(sum(rows[:, i:i + image.shape[1]] for i in range(size)) / size).astype(np.uint8)


SERIES = [blurred(SCENE, r) for r in (4, 2, 0, 1, 3)]  # 2 is the sharpest


class Score(unittest.TestCase, support.Failing):
    def test_known_answers(self):
        impulse = np.zeros((5, 5), np.uint8)
        impulse[2, 2] = 100
        # Of the 3x3 Sobel operators' squares: (4 * 1 + 2 * 4) * 100^2 for each of the two.
        self.assertEqual(fq.score(impulse), 24 * 100 ** 2 / 25)
        self.assertEqual(fq.score(impulse, metric="brenner"), 2 * 100 ** 2 / 25)
        self.assertIs(type(fq.score(impulse)), float)

    def test_options_change_the_score(self):
        plain = fq.score(NOISE)
        for options in (dict(metric="laplacian"), dict(prefilter="binomial3"), dict(downscale=2), dict(normalize="mean"),
                        dict(roi=(3, 4, 50, 40)), dict(noise_correction=True), dict(interlaced=True),
                        dict(bayer="rggb"), dict(normalize="mean", limited=True), dict(downscale=0)):
            self.assertNotEqual(fq.score(NOISE, **options), plain, options)
        self.assertEqual(fq.score(NOISE, roi=(0, 0, W, H)), plain)
        self.assertEqual(fq.score(NOISE, roi=[np.int64(0), 0, 10 ** 6, 10 ** 6]), plain)
        self.assertEqual(fq.score(NOISE, roi=None, mask=None, bits=None, bayer=None, data_range=None, device=None), plain)
        self.assertEqual(fq.score(NOISE, device="cpu"), plain)
        self.assertEqual(fq.score(NOISE, device="auto"), plain)
        self.assertEqual(fq.score(NOISE, downscale=0), min(fq.score(NOISE, downscale=k) for k in (1, 2, 4)))
        self.assertEqual(fq.score(NOISE, metric=str(b"laplacian", "ascii")), fq.score(NOISE, metric="laplacian"))

    def test_bayer(self):
        scores = {order: fq.score(NOISE, bayer=order) for order in ("rggb", "grbg", "gbrg", "bggr")}
        self.assertEqual(len(set(scores.values())), 4)
        cells = NOISE.astype(np.int64)
        luma = 38 * cells[::2, ::2] + 38 * cells[::2, 1::2] + 14 * cells[1::2, 1::2] + 38 * cells[1::2, ::2] + 64 >> 7
        self.assertEqual(scores["rggb"], fq.score(luma.astype(np.uint8)))
        self.assertEqual(fq.score(NOISE[:, ::-1], bayer="rggb"), fq.score(NOISE[:, ::-1].copy(), bayer="rggb"))
        self.fails(ValueError, ["bayer", "(96, 128, 3)"], fq.score, np.zeros((H, W, 3), np.uint8), bayer="rggb")

    def test_unknown_names(self):
        for options, parts in ((dict(metric="tenengrat"), ["'tenengrat'", "did you mean 'tenengrad'", "laplacian-variance"]),
                               (dict(metric="xyz"), ["'xyz'", "use one of: variance"]),
                               (dict(prefilter="binomial7"), ["binomial3, binomial5"]),
                               (dict(normalize="meen"), ["did you mean 'mean'"]),
                               (dict(order="gbr"), ["rgb, bgr"]), (dict(bayer="rgbg"), ["rggb, grbg, gbrg, bggr"])):
            self.fails(ValueError, parts, fq.score, NOISE, **options)
        self.fails(TypeError, ["option of score() 'metrik'", "did you mean 'metric'", "channel_axis"], fq.score, NOISE,
                   metrik="tenengrad")
        self.fails(TypeError, "option of score() 'zones'", fq.score, NOISE, zones=(2, 2))
        self.fails(TypeError, "option of measure() 'zone'", fq.measure, NOISE, zone=(2, 2))
        self.fails(TypeError, ["option of denoise() 'strenght'", "did you mean 'strength'"], fq.denoise, NOISE, strenght=1)
        self.fails(TypeError, ["option of halftone() 'level'", "did you mean 'levels'"], fq.halftone, NOISE, level=2)
        self.fails(TypeError, ["option of quality() 'chanel'", "did you mean 'channel'"], fq.quality, NOISE, chanel="luma")
        self.fails(TypeError, "option of scores() 'thread'", fq.scores, [NOISE], thread=2)
        self.fails(TypeError, "option of scores() 'thread'", fq.scores, [], thread=2)

    def test_values_that_are_refused(self):
        for options, error in ((dict(metric=3), TypeError), (dict(metric=None), TypeError), (dict(downscale=3), ValueError),
                               (dict(downscale=5), ValueError), (dict(downscale="2"), TypeError),
                               (dict(downscale=2.0), TypeError), (dict(roi=(1, 2, 3)), TypeError),
                               (dict(roi="abcd"), TypeError), (dict(roi=(1, 2, 3, 4.5)), TypeError),
                               (dict(roi=(1, 2, 3, 1 << 70)), ValueError), (dict(channel_axis=3), ValueError),
                               (dict(device="gpu"), ValueError), (dict(device="cuda:x"), ValueError),
                               (dict(device=0), TypeError), (dict(device=""), ValueError), (dict(device="x" * 99), ValueError),
                               (dict(device="cpu\0"), ValueError), (dict(metric="\udc80"), UnicodeEncodeError)):
            with self.assertRaises(error, msg=options):
                fq.score(NOISE, **options)
        self.fails(TypeError, "one image", fq.score)
        self.fails(TypeError, "2 positional", fq.score, NOISE, "laplacian")

    def test_signature(self):
        signature = inspect.signature(fq.score)
        keywords = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
        self.assertEqual(fq.score(NOISE, **{p.name: p.default for p in keywords}), fq.score(NOISE))
        self.assertIn("bit-identical", fq.score.__doc__)


class Measure(unittest.TestCase, support.Failing):
    def test_fields(self):
        m = fq.measure(SCENE, zones=(4, 3))
        self.assertEqual(m.score, fq.score(SCENE))
        self.assertEqual(float(m), m.score)
        self.assertEqual((m.zones.shape, m.zones.dtype), ((3, 4), np.float64))
        self.assertAlmostEqual(m.mean, SCENE.mean())
        self.assertEqual((m.clipped_black, m.clipped_white), ((SCENE == 0).mean(), (SCENE == 255).mean()))
        self.assertEqual((m.pixels, m.device, m.light_power), (H * W, "cpu", 2))
        self.assertIn(m.blur, ("flat", "sharp", "defocus", "motion"))
        self.assertTrue(0 <= m.anisotropy <= 1 and 0 <= m.blur_angle < 180 and m.noise >= 0)
        self.assertTrue(math.isnan(m.gradient_energy))
        self.assertGreater(fq.measure(SCENE, metric="mean-square-frequency").gradient_energy, 0)
        with self.assertRaises(AttributeError):
            m.score = 1

    def test_zones(self):
        m = fq.measure(NOISE, zones=(2, 3))
        for j in range(3):
            for i in range(2):
                self.assertEqual(m.zones[j, i], fq.score(NOISE, roi=(i * 64, j * 32, 64, 32)))
        self.assertEqual(fq.measure(NOISE).zones.tolist(), [[m.score]])
        for zones, error in (((0, 1), ValueError), ((1, 65), ValueError), (3, TypeError), ((1, 2, 3), TypeError)):
            with self.assertRaises(error):
                fq.measure(NOISE, zones=zones)

    def test_blur(self):
        self.assertEqual(fq.measure(np.zeros((64, 64), np.uint8)).blur, "flat")
        self.assertEqual(fq.measure(np.zeros((1, 1), np.uint8)).blur, "flat")
        image = np.kron(dice.integers(0, 2, (24, 32)), np.ones((4, 4))) * 200
        moved = np.mean([np.roll(image, i, 1) for i in range(13)], 0).astype(np.uint8)
        m = fq.measure(moved)
        self.assertEqual(m.blur, "motion")
        self.assertLess(min(m.blur_angle, 180 - m.blur_angle), 10)

    def test_clipped_floats(self):
        white = np.ones((8, 8))
        self.assertEqual(fq.measure(white * 0).clipped_black, 1)
        self.assertTrue(math.isnan(fq.measure(white).clipped_white))
        self.assertEqual(fq.measure(white, limited=True).clipped_white, 1)


class Many(unittest.TestCase, support.Failing):
    def test_scores(self):
        wanted = [fq.score(image) for image in SERIES]
        for images in (SERIES, tuple(SERIES), np.stack(SERIES), (i for i in SERIES), map(lambda i: i / 255, SERIES),
                       np.stack(SERIES)[:, ::-1][:, ::-1], memoryview(np.stack(SERIES))):
            got = fq.scores(images, threads=2)
            self.assertEqual((got.dtype, got.tolist()), (np.float64, wanted))
        self.assertEqual(fq.scores(np.stack(SERIES)[..., None].repeat(3, 3)).tolist(), wanted)
        self.assertEqual(fq.scores(np.stack(SERIES)[:, None], channel_axis=0).tolist(), wanted)
        self.assertEqual(fq.scores([]).tolist(), [])
        self.assertEqual(fq.scores(SERIES, device="auto").tolist(), wanted)
        self.assertEqual(fq.scores([NOISE, SCENE[:50], SCENE / 255]).tolist(),
                         [fq.score(NOISE), fq.score(SCENE[:50]), fq.score(SCENE)])

    def test_many_more_than_a_part(self):
        images = [dice.integers(0, 256, (9 + i % 3, 11), np.uint8) for i in range(500)]
        wanted = [fq.score(i) for i in images]
        self.assertEqual(fq.scores(iter(images)).tolist(), wanted)
        self.assertEqual(fq.scores(iter(images), threads=1, device="auto").tolist(), wanted)

    def test_iterators_stay_bounded(self):
        alive = 0

        class Frame(np.ndarray):
            nbytes = 64 << 20  # so that few of them are kept

            def __del__(self):
                nonlocal alive
                alive -= 1

        most = 0

        def frames():
            nonlocal alive, most
            for i in range(300):
                frame = np.full((8, 8), i % 256, np.uint8).view(Frame)
                alive += 1
                most = max(most, alive)
                yield frame
                del frame
        fq.scores(frames(), threads=2)
        self.assertLess(most, 16)
        most = 0
        self.assertEqual(fq.best(frames(), threads=2).index, 0)
        self.assertLess(most, 16)

    def test_errors_say_which(self):
        bad = SERIES[:3] + [np.zeros((3, 3), np.int32)]
        self.fails(TypeError, ["image 3: ", "int32"], fq.scores, bad)
        self.fails(ValueError, ["image 103: ", "NaN"], fq.scores, [NOISE] * 103 + [np.full((3, 3), np.nan)], threads=1)
        self.fails(ValueError, ["image 1: ", "mask"], fq.scores, [NOISE, NOISE[:5]], mask=np.ones((H, W), bool))
        self.fails(ValueError, "score() for one image", fq.scores, NOISE)
        self.fails(ValueError, "(9, 9, 3)", fq.scores, np.zeros((9, 9, 3), np.uint8))
        self.fails(TypeError, "framequality.read", fq.scores, "a.png")
        self.fails(TypeError, "iterable", fq.scores, 5)
        self.fails(ValueError, "threads", fq.scores, [NOISE], threads=-1)

        def broken():
            yield NOISE
            raise KeyError("camera")
        self.fails(KeyError, "camera", fq.scores, broken())

    def test_rank_and_best(self):
        ranked = fq.rank(SERIES, metric="tenengrad")
        self.assertEqual([index for index, _ in ranked], [2, 3, 1, 4, 0])
        across = [fq.score(i, **fq.ACROSS_SCENES) for i in SERIES]
        self.assertEqual(dict(fq.rank(SERIES)), dict(enumerate(across)))
        best = fq.best(iter(SERIES))
        self.assertEqual((best.index, best.score), (int(np.argmax(across)), max(across)))
        self.assertIs(best.image, SERIES[best.index])
        self.assertEqual([b.index for b in fq.best(SERIES, count=3, metric="tenengrad")], [2, 3, 1])
        self.assertEqual(len(fq.best(SERIES, count=9)), 5)
        self.assertEqual(fq.best([], count=2), [])
        self.fails(ValueError, "no images", fq.best, [])
        self.assertEqual(fq.best([NOISE] * 5).index, 0)  # the first of equal ones

    def test_best_of_every(self):
        images = SERIES * 40
        for every in (1, 2, 3, 5, 7, 64, 1000):
            scores = [fq.score(i) for i in images]
            wanted = [n + int(np.argmax(scores[n:n + every])) for n in range(0, len(images), every)]
            got = list(fq.best(iter(images), every=every, metric="tenengrad", prefilter="none", downscale=1,
                               noise_correction=False, threads=1))
            self.assertEqual([b.index for b in got], wanted)
        self.fails(ValueError, "every", fq.best, images, every=0)
        self.fails(ValueError, "count", fq.best, images, count=1.5)
        self.fails(TypeError, "not both", fq.best, images, count=1, every=2)

    def test_best_of_every_is_prompt(self):
        """A live source gives a group's best before many more images are taken."""
        taken = 0

        def live():
            nonlocal taken
            while True:
                taken += 1
                yield NOISE
        first = next(fq.best(live(), every=30, threads=1))
        self.assertEqual(first.index, 0)
        self.assertLessEqual(taken, 60)


class Stubs(unittest.TestCase):
    def test_names_and_parameters(self):
        """__init__.pyi has what the package has."""
        with open(os.path.join(os.path.dirname(fq.__file__), "__init__.pyi")) as file:
            tree = ast.parse(file.read())
        functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
        others = {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
        self.assertEqual(set(functions) | set(classes) | (others - {"__version__", "__all__"}), set(fq.__all__))
        options = list(inspect.signature(fq.score).parameters)[1:]
        reading = [o for o in options if o in ("order", "bayer", "channel_axis", "bits", "data_range", "device")]
        for name, node in functions.items():
            wanted = []
            for p in inspect.signature(getattr(fq, name)).parameters.values():
                if p.kind is p.VAR_KEYWORD:
                    wanted += ["zones"] * (name == "measure") + (options if p.name == "options" else reading)
                else:
                    wanted.append(p.name)
            if name == "denoise":
                wanted.remove("bayer")
            arguments = node.args
            got = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
            self.assertEqual(got, wanted, name)
        for name in ("Measurement", "Best", "Device"):
            fields = [n.target.id for n in classes[name].body if isinstance(n, ast.AnnAssign)]
            self.assertEqual(fields, list(getattr(fq, name)._fields))
        metrics = next(n for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "Metric")
        self.assertEqual([e.value for e in metrics.value.slice.elts], list(fq.METRICS))

    def test_constants(self):
        self.assertTrue(all(isinstance(s, str) and s for pair in fq.METRICS.items() for s in pair))
        self.assertRegex(fq.__version__, r"^\d+\.\d+\.\d+")
        self.assertTrue(issubclass(fq.Error, RuntimeError))
        last = fq.devices()[-1]
        self.assertEqual((last.name, last.usable), ("cpu", True))
        for device in fq.devices():
            self.assertTrue(device.usable or device.reason, device)


if __name__ == "__main__":
    support.main()
