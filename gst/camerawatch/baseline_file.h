// SPDX-License-Identifier: LGPL-2.1-or-later
// The baseline of a camera as a small text file: GLib's key file format, closed by a checksum.
#pragma once

#include "algorithms/watch/baseline.h"

#include <stdexcept>
#include <string>

namespace framequality {

/// The properties that scores must share to be comparable.
struct ScoreKind {
  std::string metric, normalize;
  unsigned width = 0, height = 0, zone_columns = 1, zone_rows = 1;
  bool operator==(const ScoreKind&) const = default;
};

/// An invalid or damaged baseline file: what() describes the fault in one line, without its path.
class BadBaseline : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The text of a file, and back. from_text() accepts any bytes; it throws BadBaseline.
std::string to_text(const Baseline& baseline, const ScoreKind& kind);
void from_text(const std::string& text, Baseline& baseline, ScoreKind& kind);

/// False if there is no such file. Throws BadBaseline, also if it cannot be read.
bool load_baseline(const std::string& path, Baseline& baseline, ScoreKind& kind);

/// Writes it whole or not at all. Returns the error, empty if there was none.
std::string save_baseline(const std::string& path, const std::string& text);

}  // namespace framequality
