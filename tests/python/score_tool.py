# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package with the command line of tests/sharpness/score_tool.cpp, so that oracle_test.py checks it too.

usage: as of score_tool; isa=cuda measures on a GPU, any other on the CPU.
"""
import sys

import framequality as fq

PREFILTERS = ("none", "binomial3", "binomial5")
KINDS = ("flat", "sharp", "defocus", "motion")


def main():
    given = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    if given.get("isa") == "list":
        print("python")
        if any(d.usable and d.name.startswith("cuda") for d in fq.devices()):
            print("cuda")
        return
    width, height, depth = (int(given.get(k, 8)) for k in ("width", "height", "depth"))
    memory = memoryview(open(sys.argv[1], "rb").read())
    image = memory.cast("B", (height, width)) if depth == 8 else memory.cast("H", (height, width))
    options = {"prefilter": PREFILTERS[int(given.get("prefilter", 0))], "downscale": int(given.get("downscale", 1)),
               "normalize": ("none", "mean")[int(given.get("normalize", 0))], "limited": given.get("limited") == "1",
               "noise_correction": given.get("corrected") == "1", "interlaced": given.get("interlaced") == "1",
               "zones": (int(given.get("columns", 1)), int(given.get("rows", 1))),
               "device": "cuda" if given["isa"] == "cuda" else "cpu"}
    if depth > 8:
        options["bits"] = depth
    if "bayer" in given:
        options["bayer"] = given["bayer"]
    if "roi" in given:
        options["roi"] = tuple(map(int, given["roi"].split(",")))
    for number, metric in enumerate(fq.METRICS):
        m = fq.measure(image, metric=metric, **options)
        zones = [v for row in m.zones for v in row]
        print(metric, *(repr(float(v)) for v in (m.score, *zones)))
        if number == 0:
            print("statistics", *(repr(float(v)) for v in (m.noise, m.mean, m.clipped_black, m.clipped_white)))
        if number == 0 or metric == "directional-frequency":
            sharpest = sorted(zones, reverse=True)[:3]
            print("blur" if number == 0 else "own-blur", KINDS.index(m.blur), *(repr(0.0 if v != v else float(v)) for v in (m.anisotropy, m.blur_angle)),
                  repr(float(sum(sharpest)) / len(sharpest)))


main()
