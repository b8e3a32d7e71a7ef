// SPDX-License-Identifier: LGPL-2.1-or-later
// Motions that blocks of an image have in common: translation and rotation of the background and of large objects.
#pragma once

#include <vector>

namespace framequality {

/// What is at p, from the middle of the image, moves to p + (x, y) + turn * (-p.y, p.x). Pixels, radians.
struct Motion {
  double x = 0, y = 0, turn = 0;
};

/// Blocks of 16x16 pixels of `from`, found again in `to` at half size by normalised correlation, within three tenths of
/// the longer side. Motions that at least three of them share within about two pixels, the most common one first: each
/// pair of blocks proposes one (RANSAC, Fischler and Bolles 1981, over all pairs), the best is fitted to its blocks by
/// least squares, which then leave. least: grey levels squared, variance of a block worth following.
std::vector<Motion> block_motions(const std::vector<float>& from, const std::vector<float>& to, int width, int height,
                                  double least);

}  // namespace framequality
