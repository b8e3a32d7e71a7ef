// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of the CPU and CUDA halftoning filters: frames in, images of few levels out.
#pragma once

#include "algorithms/halftone/tables.h"
#include "algorithms/halftone/tone.h"
#include "algorithms/layout.h"
#include "algorithms/picture.h"
#include "algorithms/worker.h"

#include <cstddef>
#include <cstdint>

namespace framequality::halftone {

/// The list is append-only: its index is the value of the element's property.
enum class Method : std::uint8_t {
  kFloydSteinberg,  ///< algorithms/halftone/floyd_steinberg.h
  kToneDependent,   ///< algorithms/halftone/tone_dependent.h
  kBlueNoise        ///< algorithms/halftone/blue_noise.h
};

inline constexpr int kMaxSwathRows = 64;

/// Settings for one frame; they may differ between frames.
struct Settings {
  Method method = Method::kFloydSteinberg;
  ToneSettings tone;
  int levels = 2;                ///< 2, 4 or 16
  int strength = kFullStrength;  ///< 0...kFullStrength: share of the errors that is passed on
  bool packed = false;           ///< with 2 levels only
  bool serpentine = false;       ///< of Floyd-Steinberg: rows of odd y from the right; it has no wavefront, so the
                                 ///< CPU alone does it, on one core
  int swath_rows = 4;            ///< of the tone-dependent method: those of a ToneTable
  bool operator==(const Settings&) const = default;
};

/// Whether these settings are supported.
inline bool valid(const Settings& s) {
  return Levels::valid(s.levels) && s.strength >= 0 && s.strength <= kFullStrength && (!s.packed || s.levels == 2) &&
         (s.method != Method::kToneDependent || find_table(s.swath_rows));
}

/// An image to be written, not owned: Levels::code() of every pixel, one byte each; or, packed, one bit each, 1 for
/// white, the highest bit of a byte leftmost, rows padded to whole bytes with 0.
struct Target {
  std::uint8_t* row0 = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes, may be negative
  Memory memory = Memory::kHost;
};

/// The same as the only plane of a canvas.
inline Canvas canvas_of(const Target& target) {
  Canvas canvas;
  canvas.plane[0] = target.row0;
  canvas.stride[0] = target.stride;
  canvas.memory = target.memory;
  return canvas;
}

/// Bytes of a row of a Target.
FQ_HD std::size_t target_row_bytes(int width, bool packed) {
  return packed ? (static_cast<std::size_t>(width) + 7) / 8 : static_cast<std::size_t>(width);
}

/// Halftones the luma of a frame into `out`, which may not overlap it. valid(settings) holds.
struct Task {
  Frame frame;
  Target out;
  Settings settings;
  int fields = 1;  ///< 2: two interleaved fields, rows y of field y mod 2, halftoned as separate images
};

/// Bit-identical on every twin, with any number of threads.
using Filter = Worker<Task, void>;

}  // namespace framequality::halftone
