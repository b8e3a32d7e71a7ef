// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the sharpness meter's kernels. No OpenCL headers: it can be printed where there is no device.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/sharpness/samples.h"

#include <string>

namespace framequality::opencl {

/// Form of the sum of products of four bytes.
enum class Dot {
  kNone,    ///< none: the device has no instruction for it
  kBytes,   ///< byte by byte, for tests
  kNvidia,  ///< in NVIDIA's assembly language, which its compiler accepts
};

/// Shape of kernels for a device.
struct Shape {
  int lanes = 8;                ///< adjacent samples of one work item: 4, 8 or 16
  int across = 32, down = 4;    ///< work items per group
  bool has_fast_floats = true;  ///< false: vectors of small integers are faster, as on CPUs
  int strips = 2048;            ///< work items that fill a compute unit
  Dot dot = Dot::kNone;
};

/// The parameters of a measuring kernel's text.
struct MeasureText {
  int metric = 0;
  int word_bytes = 1;         ///< of the samples in memory, 1 or 2
  int shift = 0;              ///< unused low bits of a word
  int bits = 8;               ///< of a sample; the higher bits of words are undefined
  std::uint32_t largest = 0;  ///< largest sample
  bool mean = false;          ///< also sums the samples
};

/// Division of the work of this kernel: columns per work item, and items that fill a compute unit.
struct Cut {
  int lanes, strips;
};
Cut cut_of(const Shape& shape, const MeasureText& measure);

/// Most rows of a cell per work item.
inline constexpr int kMostStripRows = 96;

/// Numbers per cell in the buffer `cells`: x0, x1, y0, y1, index of its first total, field, width and height of that.
inline constexpr int kCellNumbers = 8;

/// Kernel `measure` for adjacent samples as bytes or words:
///   (frame, origin, field_step, pitch, cells, totals, rows)
/// Rows of a field are `pitch` bytes apart, fields begin field_step bytes apart. A work item has N columns and `rows`
/// rows of a cell. totals: two words each, the low one first.
std::string measure_text(const Shape& shape, const MeasureText& measure);

/// True if working samples of identity are the frame's own words.
bool is_direct(const PixelLayout& layout);

/// Columns of a work item of make_samples, and items of a group.
inline constexpr int kMadeColumns = 4, kMadeAcross = 32, kMadeDown = 2;

/// Kernel `make_samples`, which converts a frame of any layout to a plane of working samples of `out_bytes` each:
///   (frame, origin0, origin1, origin2, pitch0, pitch1, pitch2, fields, out, out_pitch, w0, h0, w1, h1, rows)
/// Row y of field f is row y * fields + f in both. w, h: sizes of the fields. A work item makes kMadeColumns columns of
/// `rows` rows, and also writes behind the last column up to the next multiple of kMadeColumns.
std::string samples_text(const PixelLayout& layout, const sharpness::SampleFormat& samples, int out_bytes);

/// Kernels of the statistics, for luma as bytes or words:
///   expose(frame, origin, pitch, grid..., totals): sums luma, counts black and white pixels
///   noise_blocks(...), noise_all(...), noise_rank(...): see statistics.h
std::string statistics_text(int word_bytes, int shift, int depth);

}  // namespace framequality::opencl
