// SPDX-License-Identifier: LGPL-2.1-or-later
// Linear least squares by QR, for the few columns and many rows of a training set.
#pragma once

#include "algorithms/bliinds/model.h"

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace framequality::tools {

/// Some columns do not say anything that the others, and a constant, do not say: there is no one solution.
class RankDeficient : public std::runtime_error {
 public:
  explicit RankDeficient(std::vector<std::size_t> columns)
      : std::runtime_error("rank-deficient"), columns(std::move(columns)) {}
  std::vector<std::size_t> columns;  ///< in ascending order
};

/// The constant and weights for which the sum of squares of score - constant - weights * features is least. The design
/// matrix is centred, its columns scaled to length 1, and factored by Householder reflections with column pivoting
/// (Golub, Van Loan: Matrix Computations, 5.4), so that the normal equations' squared condition never appears.
/// features, scores: of equal length, finite. Throws RankDeficient, always for fewer than 25 rows.
bliinds::Model least_squares(const std::vector<bliinds::Features>& features, const std::vector<double>& scores);

}  // namespace framequality::tools
