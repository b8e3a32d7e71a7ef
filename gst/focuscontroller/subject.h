// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of the image that a search looks at: zones of sharpnessmeter, named, or under boxes that a detector found.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framequality {

class Subject {
 public:
  /// text: the property `subject`. Throws ElementError if it is not understood.
  explicit Subject(const std::string& text = "");

  /// Its zones in a frame, as indices row by row; empty: the whole frame. fields: of the frame's meta. Throws
  /// ElementError if the meter does not measure zones.
  std::vector<guint> zones_in(GstBuffer* buffer, const GstStructure* fields) const;

 private:
  enum class Kind { kFrame, kZone, kBoxes };

  std::string text_;
  Kind kind_ = Kind::kFrame;
  guint column_ = 0, row_ = 0;
  std::string label_;  ///< of boxes; empty: all
};

/// Mean score of these zones; empty if the frame has not all of them.
std::optional<double> score_of_zones(const GstStructure* fields, std::span<const guint> zones);

}  // namespace framequality
