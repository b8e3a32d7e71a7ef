// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface that the CPU and CUDA twins of halftoning share: frames in, pictures of few levels out, in order.
#pragma once

#include "algorithms/halftone/tables.h"
#include "algorithms/halftone/tone.h"
#include "algorithms/layout.h"

#include <cstddef>
#include <cstdint>

namespace framequality::halftone {

/// The list is append-only: its index is the value of the element's property.
enum class Method : std::uint8_t {
  kFloydSteinberg,  ///< algorithms/halftone/floyd_steinberg.h
  kToneDependent,   ///< algorithms/halftone/tone_dependent.h
  kBlueNoise        ///< algorithms/halftone/blue_noise.h
};

inline constexpr int kMaxSwathRows = 64, kMaxDelay = 6;

/// May change from frame to frame.
struct Settings {
  Method method = Method::kFloydSteinberg;
  ToneSettings tone;
  int levels = 2;                 ///< 2, 4 or 16
  int strength = kFullStrength;   ///< 0...kFullStrength: share of the errors that is passed on
  bool packed = false;            ///< with 2 levels only
  bool serpentine = false;        ///< of Floyd-Steinberg: rows of odd y from the right; it has no wavefront, so the
                                  ///< CPU alone does it, on one core
  int swath_rows = 4, delay = 3;  ///< of the tone-dependent method: has_table() of tables.h
  bool operator==(const Settings&) const = default;
};

/// Whether frames can be halftoned so.
inline bool valid(const Settings& s) {
  return Levels::valid(s.levels) && s.strength >= 0 && s.strength <= kFullStrength && (!s.packed || s.levels == 2) &&
         (s.method != Method::kToneDependent || has_table(s.swath_rows, s.delay));
}

/// A picture to be written, not owned: Levels::code() of every pixel, one byte each; or, packed, one bit each, 1 for
/// white, the highest bit of a byte leftmost, rows padded to whole bytes with 0.
struct Target {
  std::uint8_t* row0 = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes, may be negative
  bool on_device = false;     ///< CUDA device memory
};

/// Bytes of a row of a Target.
FQ_HD std::size_t target_row_bytes(int width, bool packed) {
  return packed ? (static_cast<std::size_t>(width) + 7) / 8 : static_cast<std::size_t>(width);
}

/// Halftones frames of one Geometry on one device. Everything a frame needs is allocated when the filter is made, or
/// when settings want more than any before, never per frame. Every twin and every number of threads gives the same
/// bits. Thread-safety: one thread at a time.
class Filter {
 public:
  Filter() = default;
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  /// Waits until the device has let go of every submitted frame.
  virtual ~Filter() = default;

  /// Starts halftoning the luma of a frame. fields: 2 if it is two interleaved fields, rows y of field y mod 2, which
  /// are halftoned as pictures of their own; else 1. `out` may not overlap the frame; the memory of both must stay
  /// valid, and the frame unchanged, until it has been collected. Throws std::invalid_argument unless valid(settings),
  /// and what its device throws (cuda::Error).
  virtual void submit(const Frame& frame, const Target& out, const Settings& settings, int fields) = 0;

  /// Waits until the oldest frame submitted is complete. One submit, one collect; how many may be pending is said where
  /// filters are made.
  virtual void collect() = 0;
};

}  // namespace framequality::halftone
