#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the scores of all metrics over a focus sweep: a folder of PNG images named by their position in mm.

GST_PLUGIN_PATH=build/gst docs/figures/focus_sweep.py FOLDER docs/figures/focus-sweep.png
"""
import itertools
import pathlib
import sys

import numpy
import scoring

NO_PEAK = ("variance", "normalized-variance", "entropy", "mean-square-frequency", "directional-frequency")


def main():
    folder, output = map(pathlib.Path, sys.argv[1:])
    files = sorted(folder.glob("*.png"), key=lambda file: float(file.stem))
    positions = numpy.array([float(file.stem) for file in files])
    settings = [f"metric={metric}" for metric in scoring.METRICS]
    source = 'filesrc location="{}" ! pngdec ! videoconvert ! video/x-raw,format=GRAY8'
    scores = numpy.hstack([scoring.run(source.format(file), settings) for file in files])

    print("| metric | best at mm | best / worst | lowest at mm |\n|---|---|---|---|")
    for metric, row in zip(scoring.METRICS, scores):
        print(f"| `{metric}` | {positions[row.argmax()]:.2f} | {row.max() / row.min():.2f} |"
              f" {positions[row.argmin()]:.2f} |")

    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.2), sharex=True, sharey=True, layout="constrained")
    styles = itertools.cycle(("-", "--", "-.", ":"))
    best = positions[scores[0].argmax()]
    for metric, row in zip(scoring.METRICS, scores):
        other = metric in NO_PEAK
        style = "-" if other else next(styles)
        axes[int(other)].plot(positions, row / row.max(), style, linewidth=1.5, label=metric)
    for one, title in zip(axes, ("gradient and correlation metrics", "not for finding a peak")):
        one.axvline(best, color="black", linewidth=0.8, alpha=0.5)
        one.set(title=title, xlabel="stage position [mm]", ylim=(0, 1.05), xlim=(positions[0], positions[-1]))
        one.grid(alpha=0.3)
        one.legend(fontsize=8, loc="upper left" if one is axes[0] else "lower left")
    axes[0].set_ylabel("score / highest score of the sweep")
    figure.savefig(output, dpi=90)


if __name__ == "__main__":
    main()
