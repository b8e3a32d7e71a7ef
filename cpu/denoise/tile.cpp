// SPDX-License-Identifier: LGPL-2.1-or-later
// Iteration over the offsets of a search window, rows of a tile at a time.
//
// A distance is used twice, as w(p, t) = w(p + t, -t), so only half of the offsets are visited. For each row ty of
// offsets, some tx at once are weighed row by row down the tile. Weights are kept for ty more rows: then a pixel's +t
// and -t are both available, and it adds all of these tx in the order of weight.h with its sums in registers.
#include "cpu/denoise/tile.h"

#include <algorithm>
#include <cstdlib>

namespace framequality::cpu {
namespace {

using namespace denoise;

// Wide tiles weigh few pixels twice, for each chunk of a row (see DenoiseKernels) needs weights as far around it as a
// search reaches; so do high ones, for the rows above. Small ones keep all threads at work until the end.
constexpr int kTileColumns = 1024, kTileRows = 144, kLeastRows = 24;
constexpr int kKept = 1 << 18;  // weights, about as many as a core's cache holds

int rounded_up(int n, int to) { return (n + to - 1) / to * to; }

/// Vectors of an interleaved row with what searches and patches reach.
int vectors_of(int chunk, int reach, int lanes) { return rounded_up(chunk + 2 * reach, lanes); }

/// Sums that a distance is made of.
int parts_of(Distances distances) { return distances < Distances::kSplit ? 1 : 2; }

void encode(const PictureLayout& layout, const std::uint16_t* codes, int n, std::uint8_t* p, std::ptrdiff_t step) {
  if (layout.word_bytes == 1 && layout.shift == 0 && step == 1) {
    for (int x = 0; x < n; ++x) p[x] = static_cast<std::uint8_t>(codes[x]);
  } else {
    for (int x = 0; x < n; ++x) write_sample(layout, p + x * step, codes[x]);
  }
}

}  // namespace

Tiling::Tiling(int plane_width, int plane_height, int of_threads)
    : width(plane_width),
      height(plane_height),
      columns((plane_width + kTileColumns - 1) / kTileColumns),
      threads(of_threads) {
  for (int y = 0; y < height; y = below(y)) ++rows;
}

int Tiling::below(int y) const {
  const int left = height - y;
  if (left < 2 * kLeastRows) return height;
  return y + std::min(std::clamp(left * columns / (2 * threads), kLeastRows, kTileRows), left);
}

Tile Tiling::tile(int i) const {
  const int column = i % columns;
  const auto edge = [&](int k) { return static_cast<int>(std::int64_t{width} * k / columns); };
  int y = 0;
  for (int row = 0; row < i / columns; ++row) y = below(y);
  return {edge(column), edge(column + 1), y, below(y)};
}

void TileFilter::reserve(const DenoiseKernels& kernels, const DenoiseJob& job, const Tiling& tiling) {
  const auto grow = [](auto& v, int size) {
    if (v.size() < static_cast<std::size_t>(size)) v.resize(static_cast<std::size_t>(size));
  };
  const int search = job.own.plane[0]->shape().search, reach = job.own.plane[0]->shape().reach();
  const int width = (tiling.width + tiling.columns - 1) / tiling.columns;
  const int height = std::min(std::max(tiling.below(0), 2 * kLeastRows), tiling.height);
  const int lanes = kernels.lanes, row = rounded_up(width, lanes), offsets = 2 * search + 1;
  const int pitch = vectors_of(row / lanes, reach, lanes) * lanes;
  for (int c = 0; c < job.planes; ++c)
    for (Rows* frame : {own_, other_}) {
      if (frame == other_ && job.others.empty()) continue;
      grow(frame[c].values, (height + 2 * reach) * pitch);
      grow(frame[c].pairs, (height + 2 * reach) * pitch);
    }
  for (int i = 0; i <= job.planes; ++i) grow(collected_[i], height * row);
  if (job.center == CenterWeight::kMax) grow(collected_[kLargest], height * row);
  grow(columns_, (offsets * pitch + lanes) * parts_of(job.distances));  // a vector more is read
  const int kept = (search + 1) * (row + search * lanes);
  grow(weights_, std::max(kept, std::min(kept * offsets, kKept)));
  grow(terms_, 2 * offsets);
  grow(means_, row);
  grow(codes_, row);
  grow(code_row_, width);
}

/// The state of a tile being filtered. Rows and columns are those of the tile.
struct TileFilter::Walk {
  TileFilter& f;
  const DenoiseKernels& k;
  const DenoiseJob& job;
  const Tile& tile;
  const int search = job.own.plane[0]->shape().search, patch = job.own.plane[0]->shape().patch;
  const int width = tile.x1 - tile.x0, height = tile.y1 - tile.y0;
  const int lanes = k.lanes, chunk = (width + lanes - 1) / lanes;
  const int reach = search + patch, vectors = vectors_of(chunk, reach, lanes), parts = parts_of(job.distances);

  /// Vector i of an interleaved row; i may be negative.
  template <class T>
  T* vector(T* row, int i) const {
    return row + std::ptrdiff_t{i} * lanes;
  }
  std::ptrdiff_t at(int i, int y) const { return (std::ptrdiff_t{y + reach} * vectors + i + reach) * lanes; }

  void load(const DenoisePlanes& planes, Rows* rows) const {
    for (int c = 0; c < job.planes; ++c) {
      for (int y = -reach; y < height + reach; ++y) {
        float* const values = rows[c].values.data() + at(-reach, y);
        k.interleave(planes.plane[c]->values(tile.x0 - reach, tile.y0 + y), chunk, vectors, values);
        if (keeps(job.weights)) continue;
        // Patches around the first rows only grow: what leaves them is never read.
        const int leaving = std::max(y - 2 * patch - 1, -reach);
        k.pair(values, rows[c].values.data() + at(-reach, leaving), vectors * lanes,
               rows[c].pairs.data() + at(-reach, y));
      }
    }
  }

  Collected collected(int y) const {
    const auto row = [&](int i, bool needed) {
      return needed ? f.collected_[i].data() + std::ptrdiff_t{y} * chunk * lanes : nullptr;
    };
    return {row(0, true),
            {row(1, true), row(2, job.planes > 1), row(3, job.planes > 2)},
            row(kLargest, job.center == CenterWeight::kMax)};
  }

  /// Weights of n vectors from i on of row y; sums over columns are those of row y - 1, or missing if y is the first.
  void weigh(const Rows* other, int i, int y, int n, int tx, int ty, bool first, std::uint32_t* columns,
             float* out) const {
    const int begin = i - patch, count = (n + 2 * patch) * lanes;
    if (first) std::fill_n(columns, count * parts, 0);
    const auto slide = parts == 1 ? k.slide : k.slide_split;
    for (int c = 0; c < job.planes; ++c)
      for (int row = first ? y - patch : y + patch; row <= y + patch; ++row)
        slide(f.own_[c].pairs.data() + at(begin, row), other[c].pairs.data() + at(begin + tx, row + ty), count, first,
              columns);
    k.weigh[static_cast<int>(job.distances)](columns, n * lanes, patch, job.weights,
                                             static_cast<float>(tx * tx + ty * ty) * job.weights.spatial, out);
  }

  /// Not as a value: copying it would wait for what was stored in smaller pieces.
  void set(Term& t, const float* w, const Rows* from, int i, int y) const {
    t.weights = w;
    for (int c = 0; c < job.planes; ++c) t.values[c] = from[c].values.data() + at(i, y);
  }

  void begin() const {
    load(job.own, f.own_);
    const int n = chunk * lanes;
    for (int y = 0; y < height; ++y) {
      const Collected c = collected(y);
      const bool one = job.center == CenterWeight::kOne;
      std::fill_n(c.weights, n, one ? 1.0f : 0.0f);
      for (int p = 0; p < job.planes; ++p) {
        if (one)
          std::copy_n(f.own_[p].values.data() + at(0, y), n, c.values[p]);
        else
          std::fill_n(c.values[p], n, 0.0f);
      }
      if (c.largest) std::fill_n(c.largest, n, kLeastCenter);
    }
  }

  void add(int y, int count) const { k.add[job.planes - 1](f.terms_.data(), count, chunk * lanes, collected(y)); }

  std::uint32_t* columns(int i) const { return f.columns_.data() + std::ptrdiff_t{i} * vectors * lanes * parts; }

  /// Calls visit(first, last) for all tx of a row of offsets, as many at once as weights of so many rows are kept.
  template <class F>
  void each_group(int from, int rows, const F& visit) const {
    const int some = std::max(kKept / (rows * (chunk + search) * lanes), 1);
    for (int tx = from; tx <= search; tx += some) visit(tx, std::min(tx + some - 1, search));
  }

  /// Offsets +-(tx, ty) for tx = first...last; ty >= 0.
  void add_own(int first, int last, int ty) const {
    const std::ptrdiff_t pitch = std::ptrdiff_t{chunk + search} * lanes, slot_pitch = (last - first + 1) * pitch;
    const int slots = ty + 1;
    for (int y = -ty; y < height; ++y) {
      float* const now = f.weights_.data() + (y + ty) % slots * slot_pitch;
      float* const then = f.weights_.data() + std::max(y, 0) % slots * slot_pitch;  // of row y - ty
      int count = 0;
      for (int tx = first; tx <= last; ++tx) {
        // Pixels that are in the chunk, or that the offset moves there.
        const int left = std::max(tx, 0);
        const std::ptrdiff_t offset = (tx - first) * pitch;
        weigh(f.own_, -left, y, chunk + std::abs(tx), tx, ty, y == -ty, columns(tx - first), now + offset);
        if (y < 0) continue;
        Term* const pair = &f.terms_[static_cast<std::size_t>(count)];
        set(pair[0], vector(now + offset, left), f.own_, tx, y + ty);
        set(pair[1], vector(then + offset, left - tx), f.own_, -tx, y - ty);
        count += 2;
      }
      if (count > 0) add(y, count);
    }
  }

  /// Offsets (tx, ty) for tx = first...last into another frame.
  void add_other(int first, int last, int ty) const {
    for (int y = 0; y < height; ++y) {
      for (int tx = first; tx <= last; ++tx) {
        float* const weights = f.weights_.data() + std::ptrdiff_t{tx - first} * chunk * lanes;
        weigh(f.other_, 0, y, chunk, tx, ty, y == 0, columns(tx - first), weights);
        set(f.terms_[static_cast<std::size_t>(tx - first)], weights, f.other_, tx, y + ty);
      }
      add(y, last - first + 1);
    }
  }

  void add_all() const {
    for (int ty = 0; ty <= search; ++ty)
      each_group(ty ? -search : 1, ty + 1, [&](int first, int last) { add_own(first, last, ty); });
    for (const DenoisePlanes& other : job.others) {
      load(other, f.other_);
      for (int ty = -search; ty <= search; ++ty)
        each_group(-search, 1, [&](int first, int last) { add_other(first, last, ty); });
    }
  }

  /// Calls visit(x, i) for each pixel x of a row and its place i in an interleaved one.
  template <class F>
  void each_pixel(const F& visit) const {
    for (int j = 0, x = 0; j < lanes; ++j)
      for (int i = 0; i < chunk && x < width; ++i, ++x) visit(x, i * lanes + j);
  }

  void finish() const {
    const int n = chunk * lanes;
    for (int y = 0; y < height; ++y) {
      Collected c = collected(y);
      if (c.largest) {
        Term center;
        set(center, c.largest, f.own_, 0, y);
        Collected sums = c;
        sums.largest = nullptr;
        k.add[job.planes - 1](&center, 1, n, sums);
      }
      for (int p = 0; p < job.planes; ++p) {
        const DenoiseJob::Output& out = job.out[p];
        k.finish(c.values[p], c.weights, n, job.layout->depth, f.means_.data(), f.codes_.data());
        std::uint8_t* const row = out.data + (tile.y0 + y) * out.stride + tile.x0 * out.step;
        float* const means = out.means ? out.means + (tile.y0 + y) * out.means_stride + tile.x0 : nullptr;
        each_pixel([&](int x, int i) { f.code_row_[x] = f.codes_[i]; });
        encode(*job.layout, f.code_row_.data(), width, row, out.step);
        if (means) each_pixel([&](int x, int i) { means[x] = f.means_[i]; });
      }
    }
  }
};

void TileFilter::filter(const DenoiseKernels& kernels, const DenoiseJob& job, const Tile& tile) {
  const Walk walk{*this, kernels, job, tile};
  walk.begin();
  if (!keeps(job.weights)) walk.add_all();
  walk.finish();
}

}  // namespace framequality::cpu
