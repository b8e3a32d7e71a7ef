#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No reference and no memory is lost, on any path: references are counted, and memory stays the same in long loops."""
import gc
import sys
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq
from objects_test import CUDA, GRAY, Interface, Tensor

FLOATS, DEEP = GRAY / 255, GRAY.astype(np.uint16) << 4
COLOUR = np.dstack([GRAY] * 3)
MASK = GRAY > 50
NAN = np.full((20, 20), np.nan)


def calls():
    """One call of each path, those that fail among them."""
    yield "score", lambda: fq.score(GRAY)
    yield "options", lambda: fq.score(GRAY, metric="laplacian", roi=(1, 2, 30, 20), order="bgr", device="cpu", downscale=2)
    yield "copy", lambda: fq.score(GRAY[:, ::-1])
    yield "floats", lambda: fq.score(FLOATS)
    yield "transposed floats", lambda: fq.score(FLOATS.T)
    yield "bits", lambda: fq.score(DEEP, bits=12)
    yield "mask", lambda: fq.score(GRAY, mask=MASK)
    yield "mask copy", lambda: fq.score(GRAY, mask=np.asfortranarray(MASK))
    yield "measure", lambda: fq.measure(GRAY, zones=(3, 2))
    yield "scores", lambda: fq.scores([GRAY, FLOATS, COLOUR], threads=2)
    yield "scores of an array", lambda: fq.scores(np.stack([GRAY] * 3))
    yield "scores in flight", lambda: fq.scores([GRAY] * 9 + [COLOUR], device="auto")
    yield "best", lambda: (fq.best([GRAY] * 3), fq.rank([GRAY] * 3), list(fq.best([GRAY] * 3, every=2)))
    yield "denoise", lambda: fq.denoise(GRAY[:16, :16], threads=1)
    yield "denoise floats", lambda: fq.denoise(FLOATS[:16, :16], threads=1)
    yield "halftone", lambda: fq.halftone(GRAY, packed=True, threads=1)
    yield "quality", lambda: fq.quality(GRAY)
    yield "devices", fq.devices
    yield "dlpack", lambda: fq.score(Tensor(GRAY))
    yield "versioned dlpack", lambda: fq.score(Tensor(GRAY, version=(1, 0)))
    yield "interface", lambda: fq.score(Interface(GRAY))
    yield "interface with bytes", lambda: fq.score(Interface(GRAY, data=GRAY.tobytes()))
    yield "focus", lambda: fq.Autofocus(0, 50, 1, position=0).run(lambda: 5.0, lambda to: None)
    yield "bad focus", lambda: fq.Autofocus(0, 50, -1)
    yield "metric", lambda: fq.score(GRAY, metric="tenengrat")
    yield "option", lambda: fq.score(GRAY, metrik="tenengrad")
    yield "values", lambda: fq.score(GRAY, roi=(1, 2, 3, None))
    yield "range", lambda: fq.score(FLOATS, data_range=(1, 0))
    yield "nan", lambda: fq.score(NAN)
    yield "nan among many", lambda: fq.scores([GRAY, NAN, FLOATS])
    yield "type", lambda: fq.score(GRAY.astype(np.int64))
    yield "type among many", lambda: fq.scores([GRAY, GRAY.astype(np.int64)])
    yield "shape", lambda: fq.score(np.zeros((2, 3, 4, 5), np.uint8))
    yield "object", lambda: fq.score(object())
    yield "file name", lambda: fq.score("a.png")
    yield "exceeded bits", lambda: fq.score(DEEP, bits=10)
    yield "mask of another size", lambda: fq.score(GRAY, mask=MASK[1:])
    yield "mask of another type", lambda: fq.score(GRAY, mask=DEEP)
    yield "mask with zones", lambda: fq.measure(GRAY, mask=MASK, zones=(2, 2))
    yield "mask with masks of many", lambda: fq.scores([GRAY, GRAY[1:]], mask=MASK)
    yield "device", lambda: fq.score(GRAY, device="cuda:63")
    yield "device in flight", lambda: fq.scores([GRAY] * 3, device="cuda:63")
    yield "dlpack on a gpu", lambda: fq.score(Tensor(GRAY, CUDA, id=63))
    yield "dlpack floats on a gpu", lambda: fq.score(Tensor(FLOATS, CUDA))
    yield "dlpack of a future version", lambda: fq.score(Tensor(GRAY, version=(9, 0)))
    yield "interface on a gpu", lambda: fq.score(Interface(GRAY, "__cuda_array_interface__"), device="cuda:63")
    yield "denoise options", lambda: fq.denoise(GRAY, patch_radius=99)
    yield "halftone options", lambda: fq.halftone(GRAY, levels=3)
    yield "quality of too small an image", lambda: fq.quality(GRAY[:2, :2])


def attempt(call):
    try:
        call()
    except (ValueError, TypeError, BufferError, fq.Error):
        pass


class Leaks(unittest.TestCase):
    def test_references(self):
        watched = {"gray": GRAY, "floats": FLOATS, "deep": DEEP, "colour": COLOUR, "mask": MASK, "nan": NAN,
                   "Error": fq.Error, "ValueError": ValueError, "None": None, "True": True, "name": sys.intern("tenengrad")}
        for name, call in calls():
            attempt(call)
            gc.collect()
            before = {key: sys.getrefcount(value) for key, value in watched.items()}
            for _ in range(50):
                attempt(call)
            gc.collect()
            after = {key: sys.getrefcount(value) for key, value in watched.items()}
            grown = {key: after[key] - before[key] for key in watched if after[key] - before[key] >= 40}
            self.assertEqual(grown, {}, name)

    def test_blocks(self):
        """No Python object is left behind by each call. Pools of memory grow at first, leaks in every round."""
        for name, call in calls():
            grown = []
            while len(grown) < 6 and (not grown or grown[-1] >= 100):
                before = sys.getallocatedblocks()
                for _ in range(200):
                    attempt(call)
                gc.collect()
                grown.append(sys.getallocatedblocks() - before)
            self.assertLess(grown[-1], 100, (name, grown))

    def test_memory(self):
        def all_of_them(times):
            for _ in range(times):
                for _, call in calls():
                    attempt(call)
            return support.resident_bytes()
        all_of_them(30)
        before = all_of_them(30)
        after = all_of_them(300)
        self.assertLess(after - before, 4 << 20)

    def test_memory_of_large_images(self):
        """Each of these copies 6 MB, and fails or not: kept once, not each time."""
        large = np.zeros((1000, 1000, 3))
        bad = large.copy()
        bad[-1, -1, -1] = 2
        rounds = [lambda: fq.score(large), lambda: fq.score(bad), lambda: fq.scores([large] * 4),
                  lambda: fq.scores([large, bad]), lambda: fq.score(large, mask=np.ones((1000, 1000), bool))]
        for call in rounds * 3:
            attempt(call)
        before = support.resident_bytes()
        for call in rounds * 20:
            attempt(call)
        self.assertLess(support.resident_bytes() - before, 40 << 20)

    def test_tensors_are_given_back(self):
        for tensor in (Tensor(GRAY), Tensor(FLOATS, CUDA), Tensor(NAN), Tensor(GRAY[:, ::-1], CUDA)):
            for _ in range(10):
                attempt(lambda: fq.score(tensor))
                attempt(lambda: fq.scores([GRAY, tensor]))
            self.assertEqual(tensor.deleted, 20)


if __name__ == "__main__":
    support.main()
