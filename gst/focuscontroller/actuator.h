// SPDX-License-Identifier: LGPL-2.1-or-later
// Actuator of a lens: a property of another element, a field of that property, or a control of a V4L2 device.
#pragma once

#include <gst/gst.h>

#include <limits>
#include <memory>
#include <string>

namespace framequality {

/// Positions that a lens can take, in its own unit.
struct Travel {
  double min = -std::numeric_limits<double>::infinity();  ///< infinite: unknown
  double max = std::numeric_limits<double>::infinity();
  double step = 0;  ///< distance of neighbouring positions; 0: any position
};

/// Thread-safety: one thread at a time, with no lock held: its calls may take any time and call back.
class Actuator {
 public:
  Actuator() = default;
  Actuator(const Actuator&) = delete;
  Actuator& operator=(const Actuator&) = delete;
  virtual ~Actuator() = default;

  virtual Travel travel() const = 0;
  /// Position of the lens, NaN if unknown.
  virtual double position() = 0;
  /// Sends the lens to the nearest position it can take; returns when the command has been sent. Throws ElementError.
  virtual void move(double position) = 0;
};

/// The actuator that a user named, seen from an element of the same pipeline: `element.property`,
/// `element.property.field` of a property that is a structure, `/dev/videoN` or `/dev/videoN:control`. Throws
/// ElementError that says what is missing or cannot be moved.
std::unique_ptr<Actuator> find_actuator(GstElement* from, const std::string& name);

}  // namespace framequality
