// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd-Steinberg on a GPU as it was published: a launch for each wave of strips.
#include "algorithms/halftone/floyd_steinberg.h"
#include "benchmarks/halftone/published.h"
#include "cuda/runtime.h"

#include <cstring>

namespace framequality::published {
namespace {

using namespace halftone;
using cuda::check;

constexpr int kTile = 128;  // columns; strips are twice their height and a tile apart
constexpr int kMostRows = 512;

struct Job {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::uint16_t* last;  ///< errors of each strip's last row, columns -1...width, a line for what is above the first
  std::uint16_t* side;  ///< of each row: the errors of the last two columns that it has done
  int width, height, rows, wave;
};

// A block has a strip, a thread a row of it; the tile's rows lean left by two columns each.
__global__ void __launch_bounds__(kMostRows) diffuse_tile(Job job) {
  constexpr Levels kLevels{2};
  __shared__ std::uint16_t kept[2][kMostRows + 1];
  const int strip = static_cast<int>(blockIdx.x), r = static_cast<int>(threadIdx.x), y = strip * job.rows + r;
  const int lean = 2 * (job.rows - 1), behind = (lean + kTile) / kTile + 1;
  const int tile = job.wave - strip * behind;
  if (tile < 0 || tile * kTile >= job.width + lean) return;
  const std::uint16_t* const above_line = job.last + strip * (job.width + 2) + 1;
  std::uint16_t* const own_line = job.last + (strip + 1) * (job.width + 2) + 1;
  const std::uint16_t bias = kLevels.bias();
  int x = tile * kTile - 2 * r;
  // Of the row above: the errors left of, above and right of x. Of this one: the one left of x.
  int left = bias, above_left = bias, above = bias;
  if (tile > 0 && y < job.height) left = job.side[3 * y], above_left = job.side[3 * y + 1], above = job.side[3 * y + 2];
  if (r == 0 && tile == 0) above = above_line[0];
  // What the row above found last, in the tile before, one column right of this row's x.
  kept[1][r + 1] = static_cast<std::uint16_t>(left);
  __syncthreads();
  for (int j = 0; j < kTile; ++j, ++x) {
    const int right = r == 0 ? (x + 1 <= job.width ? above_line[x + 1] : bias) : kept[(j + 1) & 1][r];
    int e = bias;
    if (x >= 0 && x < job.width && y < job.height) {
      const std::int64_t at = static_cast<std::int64_t>(y) * job.width + x;
      const halftone::Diffused d =
          halftone::floyd_steinberg(16 * job.in[at], left, above_left, above, right, kLevels, kFullStrength);
      job.out[at] = d.level ? 255 : 0;
      e = d.kept;
      if (r == job.rows - 1) own_line[x] = static_cast<std::uint16_t>(e);
    }
    above_left = above;
    above = right;
    left = e;
    kept[j & 1][r + 1] = static_cast<std::uint16_t>(e);
    __syncthreads();
  }
  if (y < job.height) {
    job.side[3 * y] = static_cast<std::uint16_t>(left);
    job.side[3 * y + 1] = static_cast<std::uint16_t>(above_left);
    job.side[3 * y + 2] = static_cast<std::uint16_t>(above);
  }
}

}  // namespace

Diffused floyd_steinberg(const std::vector<std::uint8_t>& pixels, int width, int height, int strip_rows, int repeats) {
  const int strips = (height + strip_rows - 1) / strip_rows;
  const std::size_t line = static_cast<std::size_t>(width) + 2, lines = line * static_cast<std::size_t>(strips + 1);
  cuda::DeviceMemory<std::uint8_t> in, out;
  cuda::DeviceMemory<std::uint16_t> last, side;
  cuda::PinnedMemory<std::uint8_t> host_in, host_out;
  in.reserve(pixels.size());
  out.reserve(pixels.size());
  host_in.reserve(pixels.size());
  host_out.reserve(pixels.size());
  last.reserve(lines);
  side.reserve(static_cast<std::size_t>(height) * 3);
  std::memcpy(host_in.get(), pixels.data(), pixels.size());
  const std::vector<std::uint16_t> bias(lines, static_cast<std::uint16_t>(Levels{2}.bias()));
  check(cudaMemcpy(last.get(), bias.data(), lines * sizeof bias[0], cudaMemcpyHostToDevice), "cudaMemcpy");

  const cuda::Stream stream = cuda::make_stream();
  const cuda::Event start = cuda::make_event(cudaEventDefault), stop = cuda::make_event(cudaEventDefault);
  const int lean = 2 * (strip_rows - 1), behind = (lean + kTile) / kTile + 1;
  const int tiles = (width + lean + kTile - 1) / kTile, waves = tiles + (strips - 1) * behind;
  const auto launch = [&] {
    for (int wave = 0; wave < waves; ++wave) {
      diffuse_tile<<<static_cast<unsigned>(strips), static_cast<unsigned>(strip_rows), 0, stream.get()>>>(
          {in.get(), out.get(), last.get(), side.get(), width, height, strip_rows, wave});
      check(cudaGetLastError(), "diffuse_tile");
    }
  };
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, pixels.size(), kind, stream.get()), "cudaMemcpyAsync");
  };
  const auto time = [&](bool with_copies) {
    for (int i = -1; i < repeats; ++i) {
      if (i == 0) check(cudaEventRecord(start.get(), stream.get()), "cudaEventRecord");
      if (with_copies) copy(in.get(), host_in.get(), cudaMemcpyHostToDevice);
      launch();
      if (with_copies) copy(host_out.get(), out.get(), cudaMemcpyDeviceToHost);
    }
    check(cudaEventRecord(stop.get(), stream.get()), "cudaEventRecord");
    check(cudaEventSynchronize(stop.get()), "cudaEventSynchronize");
    float ms;
    check(cudaEventElapsedTime(&ms, start.get(), stop.get()), "cudaEventElapsedTime");
    return ms * 1e-3 / repeats;
  };
  Diffused result;
  result.seconds = time(true);
  result.kernel_seconds = time(false);
  result.pixels.assign(host_out.get(), host_out.get() + pixels.size());
  return result;
}

}  // namespace framequality::published
