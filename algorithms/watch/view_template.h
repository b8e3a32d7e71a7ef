// SPDX-License-Identifier: LGPL-2.1-or-later
// A coarse template of the view of a fixed camera: how much detail each zone usually holds, and how much that varies.
//
// The current view is the median, zone by zone, of some seconds, which what passes by does not change. The template
// holds the median of such views over time, and how far from it views usually lie: large where cars drive and queue,
// small where nothing happens. A view is compared with the template in its shape: what light changes in all zones is
// taken out. A camera that has moved shows the template elsewhere, shifted, turned or scaled, or does not show it at
// all; what parks in front of it, or a shadow, changes zones and leaves the others where they are.
#pragma once

#include "algorithms/ring.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace framequality {

/// How zones lie in the image: row by row.
struct ZoneGrid {
  int columns = 0;    ///< 0: not known
  double aspect = 1;  ///< a zone's width over its height
  bool operator==(const ZoneGrid&) const = default;
};

/// Levels of the zones of one view: binary logarithms of their energy, at least `floor`, up to a constant.
struct View {
  std::vector<double> levels;
  double floor = 0;
  double seconds = 0;  ///< since the view before
};

/// A place at which a template is tried.
struct ViewPlace {
  double right = 0, down = 0;  ///< shift of the content, zones
  double degrees = 0;          ///< clockwise
  double scale = 1;
};

/// How a view compares with a template, in its place. Calm zones are those whose views usually differ little.
struct ViewFit {
  int calm = 0;       ///< number of these; 0 if there is no template
  double misfit = 0;  ///< mean square of the differences in octaves^2, the more a zone varies the less it counts
  double stays = 1;   ///< share of the calm zones that are as usual
  double softer = 0;  ///< share that has lost most of its detail, once the common part of the sharper half is taken out
  double sharper = 0;  ///< share that has more detail, likewise
};

/// The place where a view fits a template best.
struct ViewFound {
  double gain = 0;  ///< share of the misfit that is not there; 0: it fits nowhere better
  ViewPlace place;
};

/// The usual view in one light. Memory is constant once it is learned.
class ViewTemplate {
 public:
  void learn(const View& view);
  bool learned() const { return !usual.empty(); }

  std::vector<double> usual;   ///< levels, less their median; empty until it is learned
  std::vector<double> spread;  ///< octaves from it within which kWithin of the views lie
  double floor = 0;            ///< of the levels
  double seconds = 0;          ///< learned from

 private:
  void start(const View& view);
  void follow(const View& view);

  std::vector<View> first_;  ///< that it is going to be learned from
  double since_ = 0;         ///< s since the last of them
};

/// The current view, from readings.
class ViewWindow {
 public:
  /// Adds the levels of a reading; true if there is a new view, about once a second.
  bool add(std::span<const double> levels, double floor, double seconds);
  /// Valid if the last add() was true.
  const View& view() const { return view_; }
  void forget();

 private:
  struct Sample {
    std::vector<double> levels;
    double floor = 0, time = 0;
  };
  static constexpr std::size_t kMost = 18;

  Ring<Sample, std::array<Sample, kMost>> samples_;
  double time_ = 0, viewed_ = 0;
  std::vector<double> over_time_;
  View view_;
};

/// Compares views with templates, and searches for the place where they fit.
class ViewMatcher {
 public:
  /// Sizes may differ: then nothing is known.
  ViewFit fit(std::span<const double> levels, double floor, const ViewTemplate& usual);
  /// Where the view of the last fit() shows the template.
  ViewFound search(const ZoneGrid& grid);

 private:
  void align(std::span<const double> levels, double floor, const ViewTemplate& to);
  double weight(double spread, double level) const;
  /// The share of the misfit that this place takes away. What is not in the template counts as a constant misfit, so
  /// that places that show little of it are not preferred.
  double gain(const ViewPlace& place);

  std::vector<double> levels_, usual_, spread_, differences_, weights_;  ///< of the last fit, by zone
  double floor_ = 0, misfit_ = 0;                                        ///< likewise
  ZoneGrid grid_;
  int rows_ = 0;
  std::vector<double> calm_, elsewhere_, elsewhere_weights_;
  std::vector<std::size_t> order_;
};

}  // namespace framequality
