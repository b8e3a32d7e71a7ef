#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Saves the sharpest of every N frames of a video that OpenCV reads, for example for photogrammetry.

usage: best_frames.py VIDEO FOLDER [N]
"""
import pathlib
import sys

import cv2
import framequality as fq


def frames(path):
    video = cv2.VideoCapture(path)
    if not video.isOpened():
        sys.exit(f"{path}: OpenCV cannot open it")
    while True:
        ok, frame = video.read()
        if not ok:
            return
        yield frame


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: best_frames.py VIDEO FOLDER [N]")
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    for best in fq.best(frames(sys.argv[1]), every=every, order="bgr"):
        cv2.imwrite(str(folder / f"{best.index:06}.png"), best.image)
        print(f"{best.index:6}  {best.score:.4f}")


main()
