#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints published_model.h: the weights that the published parameters of BLIINDS-II come down to.

usage: model.py FOLDER > published_model.h
FOLDER holds mu.txt (25 numbers) and sigma_inv.txt (25 x 25): mean and inverse covariance of the 24 features and the
subjective score over the LIVE data base. The density of features f and score s is largest at the s that minimises
the quadratic form (f - m, s - m_s) A (f - m, s - m_s)': s = m_s - a (f - m) / A_ss, with a the mean of A's last row and
column. Computed as fractions, rounded once.
"""
import pathlib
import sys
from fractions import Fraction

FEATURES = 24
folder = pathlib.Path(sys.argv[1])
mean = [Fraction(word) for word in (folder / "mu.txt").read_text().split()]
rows = [[Fraction(word) for word in line.split()]
        for line in (folder / "sigma_inv.txt").read_text().splitlines() if line.strip()]
assert len(mean) == FEATURES + 1 and [len(row) for row in rows] == [FEATURES + 1] * (FEATURES + 1)
last = rows[FEATURES][FEATURES]
weights = [-(rows[FEATURES][i] + rows[i][FEATURES]) / 2 / last for i in range(FEATURES)]
# The release counts its scores 1...100 from 0.
constant = mean[FEATURES] - 1 - sum(w * m for w, m in zip(weights, mean))

lines = [", ".join(f"{float(w):.17g}" for w in weights[i:i + 4]) for i in range(0, FEATURES, 4)]
print("""// SPDX-License-Identifier: LGPL-2.1-or-later
// The published parameters of BLIINDS-II as weights: written by model.py.
//
// LIVE release of the authors, University of Texas at Austin: mu.txt, sigma_inv.txt; Saad, Bovik, Charrier, IEEE TIP
// 21(8), 2012.
#pragma once

namespace framequality::bliinds {

inline constexpr double kPublishedConstant = %.17g;
inline constexpr double kPublishedWeights[] = {
    // clang-format off
    %s,
    // clang-format on
};

}  // namespace framequality::bliinds""" % (float(constant), ",\n    ".join(lines)))
