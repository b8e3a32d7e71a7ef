// SPDX-License-Identifier: LGPL-2.1-or-later
// The published parameters of BLIINDS-II as weights: written by model.py.
//
// LIVE release of the authors, University of Texas at Austin: mu.txt, sigma_inv.txt; Saad, Bovik, Charrier, IEEE TIP
// 21(8), 2012.
#pragma once

namespace framequality::bliinds {

inline constexpr double kPublishedConstant = 53.539094642857144;
inline constexpr double kPublishedWeights[] = {
    // clang-format off
    72.6875, -1.9553571428571428, -6.8928571428571432, 44.196428571428569,
    -226.39285714285714, 26.232142857142858, -25.714285714285715, 25.892857142857142,
    -7.8928571428571432, -8.9910714285714288, 66.178571428571431, -51.589285714285715,
    476.22321428571428, -41.241071428571431, 23.446428571428573, -57.982142857142854,
    37.928571428571431, -2.1517857142857144, -65.919642857142861, 79.258928571428569,
    -503.48214285714283, 32.526785714285715, 134.26785714285714, 43.053571428571431,
    // clang-format on
};

}  // namespace framequality::bliinds
