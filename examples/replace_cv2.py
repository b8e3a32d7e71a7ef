#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores image files with framequality instead of cv2.Laplacian(...).var(), and compares the two if OpenCV is installed.

usage: replace_cv2.py IMAGE...
"""
import sys

import framequality as fq

try:
    import cv2
except ImportError:
    cv2 = None

if len(sys.argv) < 2:
    sys.exit("usage: replace_cv2.py IMAGE...")
for path in sys.argv[1:]:
    image = fq.read(path)
    gray = image if image.ndim == 2 else image[..., 1]  # one channel: read in place, not copied
    score = fq.score(gray, metric="laplacian-variance")
    print(f"{score:12.4f}  {path}")
    if cv2 and gray.dtype == "uint8":  # for other types, OpenCV's score depends on the range of the values
        before = cv2.Laplacian(gray, cv2.CV_64F).var()
        assert abs(score - before) <= 1e-12 * before, (score, before)
