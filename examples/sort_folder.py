#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the images below a folder, sharpest first, with the kind of blur of each.

usage: sort_folder.py FOLDER
"""
import pathlib
import sys

import framequality as fq

SUFFIXES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp", ".pgm", ".ppm"}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: sort_folder.py FOLDER")
    ranked = []
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
        if path.suffix.lower() not in SUFFIXES:
            continue
        try:
            measured = fq.measure(fq.read(path), **fq.ACROSS_SCENES)
        except ImportError as error:  # no package that reads such files is installed
            sys.exit(str(error))
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            continue
        ranked.append((measured.score, measured.blur, path))
    for score, blur, path in sorted(ranked, key=lambda entry: -entry[0]):
        print(f"{score:8.4f}  {blur:8}  {path}")


main()
