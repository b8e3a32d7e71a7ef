// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the sharpness meter's kernels. No OpenCL headers: it can be printed where there is no device.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/sharpness/samples.h"

#include <string>

namespace framequality::opencl {

/// How the sum of products of four bytes is written.
enum class Dot {
  kNone,    ///< not at all: the device has no instruction for it
  kBytes,   ///< byte by byte, for tests
  kNvidia,  ///< in NVIDIA's assembly language, which its compiler takes
};

/// How kernels are cut for a device.
struct Shape {
  int lanes = 8;                ///< samples side by side that one work item walks down: 4, 8 or 16
  int across = 32, down = 4;    ///< work items of a group
  bool has_fast_floats = true;  ///< false: small integers side by side are faster, as on CPUs
  int strips = 2048;            ///< work items that fill a compute unit
  Dot dot = Dot::kNone;
};

/// A measuring kernel: all that its text depends on.
struct MeasureText {
  int metric = 0;
  int word_bytes = 1;         ///< of the samples in memory, 1 or 2
  int shift = 0;              ///< unused low bits of a word
  int bits = 8;               ///< of a sample; words may have others above
  std::uint32_t largest = 0;  ///< sample
  bool mean = false;          ///< also sums the samples
};

/// How the work is cut for this kernel: columns of a work item, and items that fill a compute unit.
struct Cut {
  int lanes, strips;
};
Cut cut_of(const Shape& shape, const MeasureText& measure);

/// Most rows of a cell that a work item may be given.
inline constexpr int kMostStripRows = 96;

/// Numbers of a cell in the buffer `cells`: x0, x1, y0, y1, number of its first total, field, width and height of that.
inline constexpr int kCellNumbers = 8;

/// Kernel `measure` of samples that lie side by side as bytes or words:
///   (frame, origin, field_step, pitch, cells, totals, rows)
/// Rows of a field are `pitch` bytes apart, fields begin field_step bytes apart. A work item has N columns and `rows`
/// rows of a cell. totals: two words each, the low one first.
std::string measure_text(const Shape& shape, const MeasureText& measure);

/// Kernel `make_samples`, which brings a frame of any layout into a plane of working samples of `out_bytes` each:
///   (frame, origin0, origin1, origin2, pitch0, pitch1, pitch2, fields, out, out_pitch, w0, h0, w1, h1)
/// Field f's row y is row y * fields + f of both. w, h: sizes of the fields.
std::string samples_text(const PixelLayout& layout, const SampleFormat& samples, int out_bytes);

/// Kernels of the statistics, of codes as bytes or words:
///   expose(frame, origin, pitch, grid..., totals): sums luma, black and white codes
///   noise_blocks(...), noise_all(...), noise_rank(...): see statistics.h
std::string statistics_text(int word_bytes, int shift, int depth);

}  // namespace framequality::opencl
