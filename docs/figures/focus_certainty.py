#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fit the constants of a search's certainty (algorithms/focus/certainty.h) to the searches of focus_bench.

    focus_bench --only certainty --photos DIR --sweep DIR --samples searches.csv
    docs/figures/focus_certainty.py searches.csv

Prints them as in algorithms/focus/tuning.h. The quantities are those of struct Evidence, limited as there.
"""
import csv
import pathlib
import re
import sys

import numpy as np

TUNING = (pathlib.Path(__file__).parents[2] / "algorithms/focus/tuning.h").read_text(encoding="utf-8")


def limit(name):
    return float(re.search(rf"\b{name} = ([\d.]+)", TUNING)[1])


LIMITS = {name: (limit("least_" + name), limit("most_" + name)) for name in ("error", "blind")}
MOST_SHORT = limit("most_short")
NAMES = ("logit_constant", "logit_error", "logit_blind", "logit_short", "logit_swept")
EDGES = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.01)


def read(path, halves):
    """Quantities of the searches of these halves, whether each ended in focus, and its scene."""
    rows = [[float(v) for v in row[1:]] for row in csv.reader(open(path, encoding="ascii")) if row[0] in halves]
    scene, off, error, blind, short, swept = np.array(rows).T
    return np.stack([np.ones(len(off)), np.log(np.clip(error, *LIMITS["error"])), np.log(np.clip(blind, *LIMITS["blind"])),
                     np.clip(short / MOST_SHORT, 0, 1), swept], axis=1), off <= 1, scene


def fit(x, y):
    """Coefficients of the logistic regression: Newton's method on the likelihood."""
    b = np.zeros(x.shape[1])
    for _ in range(50):
        p = probability(x, b)
        step = np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + 1e-6 * np.eye(len(b)), x.T @ (y - p))
        b += step
        if abs(step).max() < 1e-9:
            break
    return b


def probability(x, b):
    return 1 / (1 + np.exp(-x @ b))


def show(title, p, y):
    print(f"\n{title}: certainty, share in focus, searches")
    for low, high in zip(EDGES, EDGES[1:]):
        chosen = (p >= low) & (p < high)
        if chosen.any():
            print(f"  {low:.2f} to {min(high, 1):.2f}  {p[chosen].mean():.3f}  {y[chosen].mean():.3f}  {chosen.sum()}")


def main():
    x, y, _ = read(sys.argv[1], ("fit",))
    b = fit(x, y)
    for name, value in zip(NAMES, b):
        print(f"  double {name} = {value:.2f};")
    x, y, _ = read(sys.argv[1], ("check",))
    show("The other half of the pairs of lens and scene", probability(x, b), y)
    x, y, scene = read(sys.argv[1], ("fit", "check"))
    p = np.empty(len(y))
    for one in np.unique(scene):  # each scene by the others
        p[scene == one] = probability(x[scene == one], fit(x[scene != one], y[scene != one]))
    show("Each scene, fitted to the other scenes", p, y)


if __name__ == "__main__":
    main()
