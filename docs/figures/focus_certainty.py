#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fit the constants of a search's certainty (algorithms/focus/certainty.h) to the searches of focus_bench.

    focus_bench --only certainty --photos DIR --sweep DIR --samples searches.csv
    docs/figures/focus_certainty.py searches.csv

Prints them as in algorithms/focus/tuning.h. The quantities are those of struct Evidence, limited as there.
"""
import csv
import sys

import numpy as np

LIMITS = {"error": (0.1, 3), "blind": (0.02, 5), "short": 0.12}


def read(path, half):
    """Quantities of the searches of one half, and whether each ended in focus."""
    rows = [[float(v) for v in row[1:]] for row in csv.reader(open(path, encoding="ascii")) if row[0] == half]
    off, error, blind, short, swept = np.array(rows).T
    return np.stack([np.ones(len(off)), np.log(np.clip(error, *LIMITS["error"])), np.log(np.clip(blind, *LIMITS["blind"])),
                     np.clip(short / LIMITS["short"], 0, 1), swept], axis=1), off <= 1


def fit(x, y):
    """Coefficients of the logistic regression: Newton's method on the likelihood."""
    b = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ b))
        step = np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + 1e-6 * np.eye(len(b)), x.T @ (y - p))
        b += step
        if abs(step).max() < 1e-9:
            break
    return b


def loss(x, y, b):
    p = 1 / (1 + np.exp(-x @ b))
    return -np.mean(np.log(np.where(y, p, 1 - p)))


def main():
    x, y = read(sys.argv[1], "fit")
    b = fit(x, y)
    for name, value in zip(("surely", "surely_error", "surely_blind", "surely_short", "surely_swept"), b):
        print(f"  double {name} = {value:.2f};")
    other = read(sys.argv[1], "check")
    print(f"log loss: {loss(x, y, b):.4f} fitted, {loss(*other, b):.4f} checked, over {len(y)} and {len(other[1])} searches")


if __name__ == "__main__":
    main()
