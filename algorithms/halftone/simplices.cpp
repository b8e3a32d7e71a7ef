// SPDX-License-Identifier: LGPL-2.1-or-later
// Mixtures of points: the Delaunay simplices that few points in space span, and the nearest point in them.
#include "algorithms/halftone/simplices.h"

#include <algorithm>
#include <bit>

namespace framequality::halftone {

namespace {

/// Relative volume below which points count as lying in a plane, or on a line.
constexpr double kFlat = 1e-9;
constexpr double kTiny = 1e-9;

}  // namespace

Simplices::Simplices(std::span<const Vector3> points) : points_(points.begin(), points.end()) {
  for (std::size_t i = 0; i < points_.size(); ++i) {
    // Points on one sphere, such as the corners of a cube, have more than one triangulation. Lifting each by
    // a different small height leaves one.
    const double apart = 1e-7 * static_cast<double>((i * i * 7 + i * 3) % 61);
    lifted_.push_back(points_[i].dot(points_[i]) + apart);
  }
  const auto end = 1u << points_.size();
  std::vector<bool> known(end);
  for (int corners = 4; corners >= 1 && simplices_.empty(); --corners)
    for (unsigned c = 1; c < end; ++c) {
      Simplex s;
      if (std::popcount(c) == corners && make(c, s) && is_delaunay(s)) add_faces(c, known);
    }
  std::stable_sort(simplices_.begin(), simplices_.end(),
                   [](const Simplex& a, const Simplex& b) { return a.count > b.count; });
}

/// False if the corners do not span the simplex: they lie in a plane, or on a line.
bool Simplices::make(unsigned corners, Simplex& s) const {
  s.corners = corners;
  for (int i = 0; i < static_cast<int>(points_.size()); ++i)
    if (corners >> i & 1) s.point[static_cast<std::size_t>(s.count++)] = i;
  s.origin = points_[static_cast<std::size_t>(s.point[0])];
  const std::size_t edges = static_cast<std::size_t>(s.count) - 1;
  std::array<Vector3, 3> edge{};
  for (std::size_t i = 0; i < edges; ++i) edge[i] = points_[static_cast<std::size_t>(s.point[i + 1])] - s.origin;
  // The rows are the edges' dual basis: each edge less its part along the others, by Gram and Schmidt.
  for (std::size_t i = 0; i < edges; ++i) {
    std::array<Vector3, 3> others{};
    std::size_t count = 0;
    Vector3 rest = edge[i];
    for (std::size_t k = 0; k < edges; ++k) {
      if (k == i) continue;
      Vector3 other = edge[k];
      for (std::size_t o = 0; o < count; ++o)
        other = other - others[o] * (other.dot(others[o]) / others[o].dot(others[o]));
      others[count++] = other;
    }
    for (std::size_t o = 0; o < count; ++o) {
      const double square = others[o].dot(others[o]);
      if (square <= kFlat) return false;
      rest = rest - others[o] * (rest.dot(others[o]) / square);
    }
    if (rest.dot(rest) <= kFlat * edge[i].dot(edge[i])) return false;
    s.row[i] = rest * (1 / rest.dot(edge[i]));
  }
  return true;
}

void Simplices::weigh(const Simplex& s, const Vector3& place, std::array<double, 4>& weight) {
  const Vector3 from = place - s.origin;
  weight[0] = 1;
  for (std::size_t i = 1; i < static_cast<std::size_t>(s.count); ++i) {
    weight[i] = s.row[i - 1].dot(from);
    weight[0] -= weight[i];
  }
}

/// Whether no other point lies inside of the simplex's sphere: lifted onto a paraboloid, none lies below its plane.
bool Simplices::is_delaunay(const Simplex& s) const {
  for (std::size_t k = 0; k < points_.size(); ++k) {
    if (s.corners >> k & 1) continue;
    std::array<double, 4> weight{};
    weigh(s, points_[k], weight);
    double plane = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.count); ++i)
      plane += weight[i] * lifted_[static_cast<std::size_t>(s.point[i])];
    if (lifted_[k] < plane) return false;
  }
  return true;
}

void Simplices::add_faces(unsigned corners, std::vector<bool>& known) {
  for (unsigned face = corners; face != 0; face = (face - 1) & corners) {
    Simplex s;
    if (known[face] || !make(face, s)) continue;
    known[face] = true;
    simplices_.push_back(s);
  }
}

Mixed Simplices::nearest(const Vector3& place) const {
  Mixed best;
  double least = 0;
  for (const Simplex& s : simplices_) {
    std::array<double, 4> weight{};
    weigh(s, place, weight);
    const auto corners = static_cast<std::size_t>(s.count);
    if (std::any_of(weight.begin(), weight.begin() + s.count, [](double w) { return w < -kTiny; })) continue;
    Vector3 mean;
    for (std::size_t i = 0; i < corners; ++i) mean = mean + points_[static_cast<std::size_t>(s.point[i])] * weight[i];
    const double distance = (place - mean).dot(place - mean);
    if (best.count > 0 && distance >= least - kTiny * kTiny) continue;
    least = distance;
    best.count = 0;
    for (std::size_t i = 0; i < corners; ++i) {
      if (weight[i] <= kTiny) continue;
      best.point[static_cast<std::size_t>(best.count)] = s.point[i];
      best.weight[static_cast<std::size_t>(best.count++)] = weight[i];
    }
    if (distance < kTiny * kTiny) break;
  }
  return best;
}

}  // namespace framequality::halftone
