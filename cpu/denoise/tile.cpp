// SPDX-License-Identifier: LGPL-2.1-or-later
// Iteration over the offsets of a search window, rows of a tile at a time.
//
// A distance is used twice, as w(p, t) = w(p + t, -t), so only half of the offsets are visited. For each row ty of
// offsets, all its tx are weighed row by row down the tile. Weights are kept for ty more rows: then a pixel's +t and -t
// are both available, and it adds all tx of the row in the order of weight.h with its sums in registers.
#include "cpu/denoise/tile.h"

#include <algorithm>
#include <cstdlib>

namespace framequality::cpu {
namespace {

using namespace denoise;

// Columns for which the weights of a row of offsets are kept. Rows and sums of a tile stay in 1 MiB of cache.
constexpr int kWeighed = 256;
constexpr int kTileRows = 64;
constexpr int kPitch = kWeighed + kDenoiseSlack;
constexpr int kColumnsPitch = kPitch + 16;  // whole cache lines
static_assert(2 * kMaxPatchRadius <= kColumnsPitch - kPitch && kPitch % 16 == 0);

void encode(const PictureLayout& layout, const std::uint16_t* codes, int n, std::uint8_t* p, std::ptrdiff_t step) {
  if (layout.word_bytes == 1 && layout.shift == 0 && step == 1) {
    for (int x = 0; x < n; ++x) p[x] = static_cast<std::uint8_t>(codes[x]);
  } else {
    for (int x = 0; x < n; ++x) write_sample(layout, p + x * step, codes[x]);
  }
}

}  // namespace

Tiling::Tiling(int plane_width, int plane_height, int search_radius)
    : width(plane_width),
      height(plane_height),
      columns((plane_width + kWeighed - search_radius - 1) / (kWeighed - search_radius)),
      rows((plane_height + kTileRows - 1) / kTileRows) {}

Tile Tiling::tile(int i) const {
  const auto edge = [](int size, int n, int k) { return static_cast<int>(std::int64_t{size} * k / n); };
  const int column = i % columns, row = i / columns;
  return {edge(width, columns, column), edge(width, columns, column + 1), edge(height, rows, row),
          edge(height, rows, row + 1)};
}

void TileFilter::reserve(int search_radius) {
  static_assert(2 * kMaxPatchRadius + kMaxSearchRadius <= kDenoiseSlack);
  const std::size_t offsets = static_cast<std::size_t>(2 * search_radius + 1);
  const auto grow = [](auto& v, std::size_t size) {
    if (v.size() < size) v.resize(size);
  };
  for (auto& c : collected_) grow(c, std::size_t{kTileRows} * kPitch);
  grow(columns_, offsets * kColumnsPitch);
  grow(weights_, static_cast<std::size_t>(search_radius + 1) * offsets * kPitch);
  grow(terms_, 2 * offsets);
  grow(means_, kPitch);
  grow(codes_, kPitch);
}

/// The state of a tile being filtered.
struct TileFilter::Walk {
  TileFilter& f;
  const DenoiseKernels& k;
  const DenoiseJob& job;
  const Tile& tile;
  const int search = job.own.plane[0]->shape().search, patch = job.own.plane[0]->shape().patch;
  const int offsets = 2 * search + 1;

  int width() const { return tile.x1 - tile.x0; }
  float* weights(int slot, int tx) const {
    return f.weights_.data() + (std::ptrdiff_t{slot} * offsets + tx + search) * kPitch;
  }
  Collected collected(int y) const {
    const std::ptrdiff_t at = std::ptrdiff_t{y - tile.y0} * kPitch;
    const auto row = [&](int i) { return f.collected_[i].data() + at; };
    return {row(0), {row(1), row(2), row(3)}, job.center == CenterWeight::kMax ? row(4) : nullptr};
  }

  /// Weights of n pixels from x on of row y; sums over columns are those of row y - 1, or missing if y is the first.
  void weigh(const DenoisePlanes& other, int x, int y, int n, int tx, int ty, bool first, float* out) const {
    // 32-bit sums need only half of the room.
    double* const columns = f.columns_.data() + std::ptrdiff_t{tx + search} * kColumnsPitch;
    const int begin = x - patch, count = n + 2 * patch, start = first ? y - 2 * patch : y;
    if (first) std::fill_n(columns, kColumnsPitch, 0.0);
    for (int c = 0; c < job.planes; ++c) {
      const DenoisePlane &a = *job.own.plane[c], &b = *other.plane[c];
      for (int row = start; row <= y; ++row) {
        if (job.distances != Distances::kWide) {
          k.slide(a.pairs(begin, row), b.pairs(begin + tx, row + ty), count, first,
                  reinterpret_cast<std::uint32_t*>(columns));
        } else {
          const int in = row + patch, gone = row - patch - 1;
          k.slide_wide(a.values(begin, in), b.values(begin + tx, in + ty), first ? nullptr : a.values(begin, gone),
                       first ? nullptr : b.values(begin + tx, gone + ty), count, columns);
        }
      }
    }
    k.weigh[static_cast<int>(job.distances)][patch](columns, n, job.weights,
                                                    static_cast<float>(tx * tx + ty * ty) * job.weights.spatial, out);
  }

  /// Not as a value: copying it would wait for what was stored in smaller pieces.
  void set(Term& t, const float* w, const DenoisePlanes& from, int x, int y) const {
    t.weights = w;
    for (int c = 0; c < job.planes; ++c) t.values[c] = from.plane[c]->values(x, y);
  }

  void begin() const {
    for (int y = tile.y0; y < tile.y1; ++y) {
      const Collected c = collected(y);
      const bool one = job.center == CenterWeight::kOne;
      std::fill_n(c.weights, kPitch, one ? 1.0f : 0.0f);
      for (int p = 0; p < job.planes; ++p) {
        if (one)
          std::copy_n(job.own.plane[p]->values(tile.x0, y), width(), c.values[p]);
        else
          std::fill_n(c.values[p], width(), 0.0f);
      }
      if (c.largest) std::fill_n(c.largest, kPitch, kLeastCenter);
    }
  }

  /// Offsets +-(tx, ty) for all tx; ty >= 0.
  void add_own(int ty) const {
    const int slots = ty + 1, above = tile.y0 - ty;
    for (int y = above; y < tile.y1; ++y) {
      const int slot = (y - above) % slots, old = (y - ty - above + slots) % slots;
      int count = 0;
      for (int tx = ty ? -search : 1; tx <= search; ++tx) {
        // Pixels that are in the tile, or that the offset moves there.
        const int left = std::max(tx, 0);
        weigh(job.own, tile.x0 - left, y, width() + std::abs(tx), tx, ty, y == above, weights(slot, tx));
        if (y < tile.y0) continue;
        Term* const pair = &f.terms_[static_cast<std::size_t>(count)];
        set(pair[0], weights(slot, tx) + left, job.own, tile.x0 + tx, y + ty);
        set(pair[1], weights(old, tx) + left - tx, job.own, tile.x0 - tx, y - ty);
        count += 2;
      }
      if (count > 0) k.add[job.planes - 1](f.terms_.data(), count, width(), collected(y));
    }
  }

  /// Offsets (tx, ty) for all tx, into another frame.
  void add_other(const DenoisePlanes& other, int ty) const {
    for (int y = tile.y0; y < tile.y1; ++y) {
      for (int tx = -search; tx <= search; ++tx) {
        weigh(other, tile.x0, y, width(), tx, ty, y == tile.y0, weights(0, tx));
        set(f.terms_[static_cast<std::size_t>(tx + search)], weights(0, tx), other, tile.x0 + tx, y + ty);
      }
      k.add[job.planes - 1](f.terms_.data(), offsets, width(), collected(y));
    }
  }

  void finish() const {
    for (int y = tile.y0; y < tile.y1; ++y) {
      Collected c = collected(y);
      if (c.largest) {
        Term center;
        set(center, c.largest, job.own, tile.x0, y);
        Collected sums = c;
        sums.largest = nullptr;
        k.add[job.planes - 1](&center, 1, width(), sums);
      }
      for (int p = 0; p < job.planes; ++p) {
        const DenoiseJob::Output& out = job.out[p];
        k.finish(c.values[p], c.weights, width(), job.layout->depth, f.means_.data(), f.codes_.data());
        encode(*job.layout, f.codes_.data(), width(), out.data + y * out.stride + tile.x0 * out.step, out.step);
        if (out.means) std::copy_n(f.means_.data(), width(), out.means + y * out.means_stride + tile.x0);
      }
    }
  }
};

void TileFilter::filter(const DenoiseKernels& kernels, const DenoiseJob& job, const Tile& tile) {
  const Walk walk{*this, kernels, job, tile};
  walk.begin();
  if (!keeps(job.weights)) {
    for (int ty = 0; ty <= walk.search; ++ty) walk.add_own(ty);
    for (const DenoisePlanes& other : job.others)
      for (int ty = -walk.search; ty <= walk.search; ++ty) walk.add_other(other, ty);
  }
  walk.finish();
}

}  // namespace framequality::cpu
