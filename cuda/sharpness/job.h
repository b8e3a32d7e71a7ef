// SPDX-License-Identifier: LGPL-2.1-or-later
// The parameters of kernels that measure one frame, and the table of kernels. No CUDA headers.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/sharpness/grid.h"
#include "algorithms/sharpness/samples.h"
#include "algorithms/sharpness/statistics.h"

#include <cstddef>
#include <cstdint>

namespace framequality::cuda {

/// A grid with every cell cut into tiles_x x tiles_y tiles, one block each; some may be empty.
struct TiledGrid {
  sharpness::Grid grid;
  int tiles_x = 0, tiles_y = 0;
  int first_block = 0;
  int rows = 0;    ///< stream kernels: of one warp's strip
  int across = 1;  ///< of its chunks, the adjacent ones; the others lie below
};

/// One frame's work. Pointers are device pointers; passed to kernels by value.
struct Job {
  Frame frame;
  PixelLayout layout;
  sharpness::SampleFormat samples;
  int fields = 1;
  int width[2] = {}, height[2] = {};  ///< of each field, in working samples
  int readable = 0;                   ///< stream kernels: bytes of a row that may be read
  TiledGrid first;                    ///< grids[0], so that a block need not wait for memory to find its tile
  const TiledGrid* grids = nullptr;
  int grid_count = 0;
  unsigned long long* totals = nullptr;      ///< total_count sums, zero before and after
  unsigned* ticket = nullptr;                ///< count of finished blocks, zero before and after
  volatile std::int64_t* results = nullptr;  ///< pinned host memory, mapped; the host may poll each word
  int total_count = 0;                       ///< plan.cells * plan.words
  int words = 0;                             ///< of a cell
  bool mean = false;
  bool is_made = false;  ///< a kernel of this frame writes what is measured
  bool exposes = false;  ///< Measure::kQuadratic: the exposure is summed too, to the words behind those of the cells
  sharpness::ClipCodes clip{};  ///< where it exposes
};

/// Extraction of luma into a separate plane, one byte each, or two for more than 8 bits.
struct LumaJob {
  Frame frame;
  PixelLayout layout;
  std::uint8_t* luma = nullptr;
  std::ptrdiff_t pitch = 0;         ///< of luma, bytes, a multiple of 8
  int width = 0;                    ///< pixels
  int first_row = 0, last_row = 0;  ///< of the frame, last_row past the end
};

/// Samples of a field to compute, and their number.
struct SampleArea {
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  int width = 0, height = 0;
};

/// Computation of working samples into a separate plane, two bytes each, from luma stored as adjacent words,
/// unchanged or shifted and masked, in rows at multiples of 16 bytes.
struct SamplesJob {
  Frame frame;
  sharpness::SampleFormat samples;
  int plane = 0;
  unsigned shift = 0, bits = 0;  ///< luma: word >> shift & bits
  int readable = 0;              ///< bytes of a row that may be read
  int fields = 1;
  SampleArea area[2];
  int tile_rows = 0;            ///< per warp's strip
  std::uint8_t* out = nullptr;  ///< its rows alternate between the fields
  std::ptrdiff_t pitch = 0;     ///< of out, bytes, a multiple of 16
};

/// Statistics of one frame, whose luma is stored as adjacent words, unchanged or shifted and masked.
struct StatisticsJob {
  Frame frame;
  PixelLayout layout;
  int fields = 1;
  sharpness::StatisticsGrid grid[2];
  int grids = 0;
  int step = 1;                 ///< of groups of noise blocks
  int sum_count = 0, rank = 0;  ///< of noise blocks of all grids, and the place of the one that counts
  int tiles = 0;                ///< blocks of threads that sum residuals; the others, if there are any, expose
  int first_tile[2] = {};       ///< of each grid
  sharpness::ClipCodes clip{};
  int first_word = 0;                        ///< of the kStatisticsWords: kExposureWords where another kernel exposes
  bool is_made = false;                      ///< as of Job
  unsigned* sums = nullptr;                  ///< of noise blocks
  unsigned* chosen = nullptr;                ///< `tiles` that have finished, zero before and after
  unsigned long long* totals = nullptr;      ///< kStatisticsWords, zero before and after
  unsigned* ticket = nullptr;                ///< count of finished blocks, zero before and after
  volatile std::int64_t* results = nullptr;  ///< as of Job
};

/// Groups of noise blocks that a block of threads sums.
inline constexpr int kStatisticsTileGroups = 4;

/// Rows and bytes of a row that one thread exposes at a time.
inline constexpr int kExposedRows = 4, kExposedBytes = 16;

/// Most rows of a strip for which a stream kernel's 32-bit sums are proven wide enough.
inline constexpr int kMaxStripRows = 96;

/// A kernel's tiling of cells. Its grid is one-dimensional.
struct Kernel {
  const void* function = nullptr;
  int threads = 0;
  int tile_width = 0;   ///< in working samples
  int tile_height = 0;  ///< 0: `strips` times TiledGrid::rows, times the chunks that lie below each other
  int strips = 0;
  int x_align = 1;   ///< tiles begin at multiples of this, left of their cell's edge if necessary
  int row_step = 1;  ///< TiledGrid::rows is a multiple of this
  int max_rows = kMaxStripRows;
  int lead_rows = 3;     ///< overhead of a strip, in rows
  int edge_percent = 0;  ///< time of a strip at a cell's side, relative to others; 0: the same
  int chunks = 1;        ///< a strip's parts, which may be adjacent or, for narrow cells, one below the other
};

/// The kernels that measure. route.h chooses.
enum class Measure : std::uint8_t {
  kNothing,
  kTile,            ///< any layout, any size; samples are luma, or words in a separate plane
  kStreamBytes,     ///< 8-bit samples, of metrics that are not sums of products
  kStreamShorts,    ///< words whose samples have at most kMostShortBits; no histograms
  kStreamWords,     ///< words
  kQuadratic,       ///< 8-bit samples, of metrics that are sums of products
  kPrefilter,       ///< 8-bit samples behind a prefilter of radius 1 or 2
  kPrefilterWords,  ///< words behind such a prefilter; no histograms
};

/// Samples of at most this many bits are processed in pairs.
inline constexpr int kMostShortBits = 12;

/// Extraction of luma by a kernel.
enum class LumaRoute : std::uint8_t {
  kInPlace,  ///< none: luma is read in place
  kAny,      ///< pixel by pixel, from any layout and any address
  kPacked,   ///< from one plane, 2, 3 or 4 bytes a pixel, or 4 or 8 of them in words
  kPlanar,   ///< from three planes without gaps
  kMosaic,
};

/// The kernel for Measure::kTile.
Kernel tile_kernel(int metric);

/// Measure::kStreamBytes, kStreamShorts or kStreamWords: adjacent samples in rows at multiples of 16 bytes,
/// unchanged or shifted and masked; images of at least 3 x 3. The function is null for metrics without such a kernel.
Kernel stream_kernel(int metric, Measure measure);

/// Measure::kQuadratic, layout as for stream_kernel(); the function is null for metrics that are not sums of products.
Kernel quadratic_kernel(int metric);

/// The kernel that fills a plane with working samples; its grid: tile_width samples across from a multiple of x_align
/// on, strips times SamplesJob::tile_rows down, fields. Not for the identity. word_bytes: 1 or 2.
Kernel samples_kernel(const sharpness::SampleFormat& samples, int word_bytes);

/// Measure::kPrefilter, laid out as for stream_kernel(); pictures of at least 3 x 3. Compiled for architectures from
/// 800 on.
Kernel prefilter_kernel(int metric, int radius);

/// Measure::kPrefilterWords, layout and pictures as for prefilter_kernel(); SampleFormat::shift is not 1. The function
/// is null for histograms.
Kernel prefilter_words_kernel(int metric, int radius);

/// The kernel of the statistics; its grid: StatisticsJob::tiles, then any number of blocks, at least 1. word_bytes: 1
/// or 2.
Kernel statistics_kernel(int word_bytes);

/// The kernel that fills a plane with luma; its grid: tile_width pixels across, any number of rows down.
/// Except for kAny, every row of every plane begins at a multiple of 4 bytes; in planes of words, of 8.
Kernel luma_kernel(LumaRoute route, const PixelLayout& layout);

}  // namespace framequality::cuda
