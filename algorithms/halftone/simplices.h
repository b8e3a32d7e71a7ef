// SPDX-License-Identifier: LGPL-2.1-or-later
// Mixtures of points: the Delaunay simplices that few points in space span, and the nearest point in them.
#pragma once

#include "algorithms/halftone/oklab.h"

#include <array>
#include <span>
#include <vector>

namespace framequality::halftone {

/// At most four points with weights that sum to 1.
struct Mixed {
  int count = 0;
  std::array<int, 4> point{};
  std::array<double, 4> weight{};
};

/// All mixtures of at most 32 points, which may lie in a plane or on a line.
class Simplices {
 public:
  explicit Simplices(std::span<const Vector3> points);

  /// The mixture nearest to a place: the place itself, if it lies among the points, from the corners of the Delaunay
  /// simplex that holds it, which are near. Corners without weight are left out.
  Mixed nearest(const Vector3& place) const;

 private:
  /// Corners, and the rows that give a place's weights: those of corners 1... are row . (place - origin), the rest is
  /// corner 0's.
  struct Simplex {
    unsigned corners = 0;  ///< bit i: point i
    int count = 0;
    std::array<int, 4> point{};
    Vector3 origin;
    std::array<Vector3, 3> row{};
  };
  bool make(unsigned corners, Simplex& simplex) const;
  bool is_delaunay(const Simplex& simplex) const;
  void add_faces(unsigned corners, std::vector<bool>& known);
  static void weigh(const Simplex& simplex, const Vector3& place, std::array<double, 4>& weight);

  std::vector<Vector3> points_;
  std::vector<double> lifted_;
  std::vector<Simplex> simplices_;  ///< with all their faces, the most corners first
};

}  // namespace framequality::halftone
