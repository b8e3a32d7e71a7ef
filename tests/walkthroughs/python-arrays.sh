# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Python and OpenCV: scores of arrays, equal to OpenCV's, and the sharpest frames of a video that OpenCV reads
link README.md docs/python.md#install
follow docs/python.md#install 'framequality --list-metrics'
grep -q '^laplacian-variance ' "$SAID"
# The user's own environment: OpenCV, and variables that the examples name.
sudo apt-get install -y -qq --no-install-recommends python3-opencv
save readme.py README.md 'fq.score(gray, metric="laplacian-variance")'
save video.py docs/python.md#many-images 'cv2.VideoCapture(path)'
cat >arrays.py <<'PYTHON'
import cv2
import numpy as np

video = cv2.VideoCapture("clip.mp4")
images = [cv2.cvtColor(video.read()[1], cv2.COLOR_BGR2RGB) for _ in range(20)]
rgb = images[0]
gray = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
exec(open("readme.py").read())
expected = cv2.Laplacian(gray, cv2.CV_64F).var()
assert abs(score - expected) <= 1e-12 * expected, (score, expected)
assert best.score == max(score for _, score in fq.rank(images)), best
assert best.image is images[best.index]
assert measured.zones.shape == (6, 8) and measured.noise >= 0 and measured.blur
print(score, best.index, measured.blur)
PYTHON
env/bin/python arrays.py
# The page's first example imports the package for all that follow.
env/bin/python -c 'import framequality as fq; exec(open("video.py").read())'
[ "$(find . -maxdepth 1 -name '0*.png' | wc -l)" = 10 ] # one of every 30 of the clip's 280 frames
