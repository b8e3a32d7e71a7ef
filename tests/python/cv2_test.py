#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""laplacian-variance equals cv2.Laplacian(gray, cv2.CV_64F).var() to 1e-14, and colours become gray as in OpenCV."""
import unittest

import support

np = support.need("numpy", "python3-numpy")
cv2 = support.need("cv2", "python3-opencv")
import framequality as fq

dice = np.random.default_rng(1)
TOLERANCE = 1e-14  # numpy's var() rounds sums that framequality has as integers


class OpenCV(unittest.TestCase):
    def expect(self, got, wanted, what):
        self.assertLessEqual(abs(got - wanted), TOLERANCE * wanted, what)

    def test_gray(self):
        for shape in ((3, 3), (2, 5), (17, 31), (240, 320), (481, 643), (1080, 1920)):
            y, x = np.mgrid[0:shape[0], 0:shape[1]]
            for name, image in (("random", dice.integers(0, 256, shape, np.uint8)),
                                ("ramp", ((x * 7 + y * 3) % 256).astype(np.uint8)),
                                ("photo", cv2.GaussianBlur(dice.integers(0, 256, shape, np.uint8), (0, 0), 1.3)),
                                ("checker", ((x + y) % 2 * 255).astype(np.uint8))):
                self.expect(fq.score(image, metric="laplacian-variance"), cv2.Laplacian(image, cv2.CV_64F).var(),
                            (name, shape))

    def test_16_bits(self):
        image = dice.integers(0, 65536, (120, 161), np.uint16)
        self.expect(fq.score(image, metric="laplacian-variance") * 65536, cv2.Laplacian(image, cv2.CV_64F).var(), "")

    def test_colour(self):
        image = dice.integers(0, 256, (120, 160, 3), np.uint8)
        gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        self.assertEqual(fq.score(image, order="bgr"), fq.score(gray))
        self.expect(fq.score(image, order="bgr", metric="laplacian-variance"), cv2.Laplacian(gray, cv2.CV_64F).var(), "")


if __name__ == "__main__":
    support.main()
