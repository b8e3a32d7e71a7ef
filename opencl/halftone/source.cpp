// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the halftoning kernels, around the methods' recorded functions. All numbers are integers.
#include "opencl/halftone/source.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/floyd_steinberg.h"
#include "algorithms/text/recorder.h"
#include "opencl/words.h"

namespace framequality::opencl {
namespace {

using text::Bytes;
using Int = text::Expression<text::Signed>;

/// put_levels(): writes a block's levels in the result's format.
std::string put_text(int levels) {
  const halftone::Levels of{levels};
  return define("GREY", of.code(1)) + R"(
// Rows have room for whole blocks.
static void put_levels(__global uchar* row, const int x, const int width, const int packed, const int* level) {
  if (packed) {
    int bits = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) bits |= (x + i < width ? level[i] : 0) << (7 - i);
    row[x / 8] = (uchar)bits;
  } else {
    *(__global uchar8*)(row + x) =
        (uchar8)((uchar)(GREY * level[0]), (uchar)(GREY * level[1]), (uchar)(GREY * level[2]), (uchar)(GREY * level[3]),
                 (uchar)(GREY * level[4]), (uchar)(GREY * level[5]), (uchar)(GREY * level[6]), (uchar)(GREY * level[7]));
  }
}
)";
}

/// get_tones(): the tones of a block.
std::string get_text(const PixelLayout& layout) {
  if (layout.is_plain() && layout.depth == 8)
    return R"(
static void get_tones(const __global uchar* row0, const __global uchar* row1, const __global uchar* row2,
                      const __global short* tones, const int x, const int width, int* tone) {
  const uchar8 code = *(const __global uchar8*)(row0 + x);
  tone[0] = tones[code.s0], tone[1] = tones[code.s1], tone[2] = tones[code.s2], tone[3] = tones[code.s3];
  tone[4] = tones[code.s4], tone[5] = tones[code.s5], tone[6] = tones[code.s6], tone[7] = tones[code.s7];
}
)";
  return text::function_text<Bytes, Bytes, Bytes, Int>("luma_code", {"row0", "row1", "row2", "x"},
                                                       [&](Bytes row0, Bytes row1, Bytes row2, Int x) {
                                                         return generic::luma_code(layout, row0, row1, row2, x);
                                                       }) +
         R"(
static void get_tones(const __global uchar* row0, const __global uchar* row1, const __global uchar* row2,
                      const __global short* tones, const int x, const int width, int* tone) {
  for (int i = 0; i < 8; ++i) tone[i] = x + i < width ? tones[luma_code(row0, row1, row2, x + i)] : 0;
}
)";
}

}  // namespace

std::string pixels_text(const PixelLayout& layout, int levels) {
  const halftone::Levels of{levels};
  std::string all = get_text(layout) + put_text(levels);
  all += text::function_text<Int, Int>("threshold_of", {"rank", "strength"},
                                       [](Int rank, Int strength) { return halftone::threshold_of(rank, strength); });
  all += text::function_text<Int, Int>("masked_level", {"tone", "threshold"}, [&](Int tone, Int threshold) {
    return halftone::masked_level(tone, threshold, of);
  });
  all += define("MASK_SIDE", halftone::kMaskSide);
  static_assert(halftone::kMaskSide % kHalftoneBlock == 0);
  return all + R"(
#define ROW(p) (frame + origin##p + (long)y * pitch##p)

__kernel void tones(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                    const long pitch0, const long pitch1, const long pitch2, const __global short* tones,
                    const int fields, __global short* plane, const int plane_pitch, const int field_step,
                    const int width, const int height) {
  const int x = (int)get_global_id(0) * 8, y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  int tone[8];
  get_tones(ROW(0), ROW(1), ROW(2), tones, x, width, tone);
  __global short* to = plane + (long)(y % fields) * field_step + (long)(y / fields) * plane_pitch + x;
  *(__global short8*)to = (short8)((short)tone[0], (short)tone[1], (short)tone[2], (short)tone[3], (short)tone[4],
                                   (short)tone[5], (short)tone[6], (short)tone[7]);
}

// Each field has the mask from its own row 0 on.
__kernel void blue_noise(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                         const long pitch0, const long pitch1, const long pitch2, const __global short* tones,
                         const int fields, const __global ushort* mask, const int strength, const int packed,
                         __global uchar* out, const long out_origin, const long out_pitch, const int width,
                         const int height) {
  const int x = (int)get_global_id(0) * 8, y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  int tone[8], level[8];
  get_tones(ROW(0), ROW(1), ROW(2), tones, x, width, tone);
  const __global ushort* ranks = mask + y / fields % MASK_SIDE * MASK_SIDE + x % MASK_SIDE;
#pragma unroll
  for (int i = 0; i < 8; ++i) level[i] = masked_level(tone[i], threshold_of((int)ranks[i], strength));
  put_levels(out + out_origin + (long)y * out_pitch, x, width, packed, level);
}
)";
}

// A group makes a field: item r has row r, and then every row as many further down as there are items. It takes a block
// of pixels at a time, two blocks behind the item above, whose errors it reads from local memory; those of the last
// item go through `lines` to the first one, which begins its next row when they are ready. Barriers keep all items in
// step, since OpenCL does not promise that a group continues while another one waits for it: so a field has one
// compute unit, and 1080 rows of 1920 pixels take some 2400 steps of eight pixels.
std::string diffusion_text(int levels, bool weakens) {
  const halftone::Levels of{levels};
  const auto diffused = [&](const char* name, auto part) {
    return text::function_text<Int, Int, Int, Int, Int, Int>(
        name, {"tone", "left", "above_left", "above", "above_right", "strength"},
        [&](Int tone, Int left, Int above_left, Int above, Int above_right, Int strength) {
          return part(halftone::floyd_steinberg(tone, left, above_left, above, above_right, of, strength, weakens));
        });
  };
  std::string all = put_text(levels) + define("BIAS", of.bias());
  all += diffused("level_of", [](const halftone::Diffused<Int>& d) { return d.level; });
  all += diffused("kept_of", [](const halftone::Diffused<Int>& d) { return d.kept; });
  return all + R"(
__kernel void floyd_steinberg(const __global short* plane, const int plane_pitch, const int field_step,
                              const int strength, const int span, const int packed, __global ushort8* lines,
                              const int line_step, __global uchar* out, const long out_origin, const long out_pitch,
                              const int fields, const int width, const int height, __local ushort8* ring) {
  const int items = (int)get_local_size(0), lane = (int)get_local_id(0), field = (int)get_group_id(0);
  const int rows = (height - field + fields - 1) / fields, blocks = (width + 7) / 8;
  const int steps = (rows + items - 1) / items * span + 2 * items;
  __global ushort8* line = lines + field * line_step;
  int row = lane, block = -2 * lane, left = BIAS, corner = BIAS;
  short8 ahead = (short8)(0);
  for (int step = 0; step < steps; ++step) {
    if (block >= 0 && block < blocks && row < rows) {
      const __global short8* tones =
          (const __global short8*)(plane + (long)field * field_step + (long)row * plane_pitch);
      if (block == 0) {
        left = corner = BIAS;
        ahead = tones[0];
      }
      const short8 tone = ahead;
      if (block + 1 < blocks) ahead = tones[block + 1];
      // Places in the ring go by the steps that a row is along, and on over the row's end.
      const int here = (step - 2 * lane) & 3, next = (here + 1) & 3, has_next = block + 1 < blocks;
      ushort8 above = (ushort8)(BIAS);
      int beyond = BIAS;
      if (row > 0) {
        if (lane == 0) {
          above = line[block];
          if (has_next) beyond = line[block + 1].s0;
        } else {
          above = ring[here * items + lane - 1];
          if (has_next) beyond = ring[next * items + lane - 1].s0;
        }
      }
      const int over[10] = {corner,         (int)above.s0, (int)above.s1, (int)above.s2, (int)above.s3,
                            (int)above.s4,  (int)above.s5, (int)above.s6, (int)above.s7, beyond};
      const int mine[8] = {tone.s0, tone.s1, tone.s2, tone.s3, tone.s4, tone.s5, tone.s6, tone.s7};
      const int x = 8 * block;
      int kept[8], level[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        level[i] = level_of(mine[i], left, over[i], over[i + 1], over[i + 2], strength);
        left = kept_of(mine[i], left, over[i], over[i + 1], over[i + 2], strength);
        if (x + i >= width) left = BIAS;
        kept[i] = left;
      }
      corner = over[8];
      const ushort8 errors = (ushort8)((ushort)kept[0], (ushort)kept[1], (ushort)kept[2], (ushort)kept[3],
                                       (ushort)kept[4], (ushort)kept[5], (ushort)kept[6], (ushort)kept[7]);
      ring[here * items + lane] = errors;
      if (lane == items - 1) line[block] = errors;
      put_levels(out + out_origin + ((long)row * fields + field) * out_pitch, x, width, packed, level);
    }
    if (++block == span) {
      block = 0;
      row += items;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
)";
}

}  // namespace framequality::opencl
