// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoising kernel of work items that share sums over columns.
#include "opencl/denoise/text.h"

namespace framequality::opencl {
namespace {

/// Reads of `count` adjacent numbers, the first one at a multiple of four.
std::string loads_text(const std::string& type, const std::string& to, const std::string& from, int count) {
  std::string all;
  for (int i = 0; i < count; i += 4) {
    if (i + 4 <= count) {
      const std::string quad = to + "_" + str(i);
      all += "            const " + type + "4 " + quad + " = *(const __local " + type + "4*)(" + from + " + " + str(i) +
             ");\n           ";
      for (int c = 0; c < 4; ++c) all += " " + to + "[" + str(i + c) + "] = " + quad + ".s" + str(c) + ";";
      all += "\n";
    } else {
      for (int c = i; c < count; ++c)
        all += "            " + to + "[" + str(c) + "] = (" + from + ")[" + str(c) + "];\n";
    }
  }
  return all;
}

/// The sums of an item's column, from `mine` and `other` to `to`.
std::string column_text() {
  return R"(
            N e[SUMS][PLANES];
            D sum = (D)0;
#pragma unroll
            for (int j = 0; j < SUMS; ++j) {
#pragma unroll
              for (int k = 0; k < PLANES; ++k) {
                e[j][k] = mine[k][j] - NUMBER(other[(k * TILE_ROWS + j) * TILE_PITCH]);
                sum = SQUARE_ADDED(e[j][k], sum);
              }
              if (j < 2 * PATCH) continue;
              to[(j - 2 * PATCH) * SUM_PITCH] = sum;
#pragma unroll
              for (int k = 0; k < PLANES; ++k) sum = SQUARE_TAKEN(e[j - 2 * PATCH][k], sum);
            }
)";
}

/// distance[]: sums over a patch's width of `count` + 2 * PATCH columns.
std::string distances_text(const std::string& type, const std::string& from, int count, int patch) {
  const int columns = count + 2 * patch;
  return "            D column[" + str(columns) + "];\n" + loads_text(type, "column", from, columns) +
         "            D from[" + str(columns) + "], until[" + str(columns) + "], distance[" + str(count) + R"(];
            // Blocks as wide as a patch, which is the end of one and the beginning of the next: no sum needs another's.
#pragma unroll
            for (int i = 0; i < )" +
         str(columns) + R"(; ++i) until[i] = i % SIDE == 0 ? column[i] : until[i - 1] + column[i];
#pragma unroll
            for (int i = )" +
         str(columns - 1) + R"(; i >= 0; --i)
              from[i] = i == )" +
         str(columns - 1) + R"( || i % SIDE == SIDE - 1 ? column[i] : column[i] + from[i + 1];
#pragma unroll
            for (int i = 0; i < )" +
         str(count) + R"(; ++i)
              distance[i] = i == 0 ? from[0] : i % SIDE == 0 ? until[i + 2 * PATCH] : from[i] + until[i + 2 * PATCH];
)";
}

/// An item's pixels add what weighs at `offset`; kept: their weights go to `kept`, for -t.
std::string additions_text(const std::string& type, int patch, bool kept) {
  return R"(#pragma unroll
          for (int u = 0; u < UNITS; ++u) {
            const __local HELD* there = own[u] + offset;
)" + distances_text(type, "along[u] + turned", kSegment, patch) +
         (kept ? "            __local F* to = kept + (ROW_OF(u) + ty) * WEIGHT_PITCH + COLUMN_OF(u) + shift;\n" : "") +
         R"(#pragma unroll
            for (int i = 0; i < SEGMENT; ++i) {
              const F w = weight_of(FLOAT(distance[i]), scale, least, away);
)" + (kept ? "              to[i] = w;\n" : "") +
         R"(              ADD_WEIGHT(w, weights[u][i], largest[u][i]);
#pragma unroll
              for (int k = 0; k < PLANES; ++k) values[u][k][i] += w * VALUE(there[k * TILE_ROWS * TILE_PITCH + i]);
            }
          }
)";
}

/// Each weight by itself: first t, then -t.
std::string offsets_text(const std::string& type, int patch) {
  return R"(    for (int ty = turn ? -search : 0; ty <= search; ++ty)
      for (int tx = turn || ty ? -search : 1; tx <= search; ++tx) {
        const float away = (float)(tx * tx + ty * ty) * spatial;
#pragma unroll
        for (int sign = 1; sign >= -1; sign -= 2) {
          if (turn && sign < 0) {
            barrier(CLK_LOCAL_MEM_FENCE);
            break;
          }
          const int turned = sign < 0 ? HEIGHT * SUM_PITCH : 0;
          const int offset = sign * (ty * TILE_PITCH + tx);
          {
            const __local HELD* other = strip + offset;
            __local D* to = below + turned;)" +
         column_text() + R"(          }
          barrier(CLK_LOCAL_MEM_FENCE);
)" + additions_text(type, patch, false) +
         R"(        }
      }
)";
}

/// Reads the samples of an item's column that are compared with others.
std::string mine_text(const std::string& strip) {
  return R"(#pragma unroll
      for (int k = 0; k < PLANES; ++k)
#pragma unroll
        for (int j = 0; j < SUMS; ++j) mine[k][j] = NUMBER(()" +
         strip + R"()[(k * TILE_ROWS + j) * TILE_PITCH]);
)";
}

/// The weights of t, which are those of -t at the pixels that t leads to. They are computed for the tile, whose items
/// add what t leads to at once, and for its rim: pixels above it, and left of it (tx >= 0) or right of it, that t leads
/// into it. Sums and weights have `shift` columns left of the tile.
std::string pairs_text(const std::string& type, int patch) {
  return R"(    for (int ty = 0; ty <= search; ++ty) {
      const int inverse = ty ? 65536 / ty + 1 : 0;
      for (int leftward = ty ? 0 : 1; leftward < 2; ++leftward) {
        const int shift = leftward ? ALIGNED : 0, last = leftward ? search : -1, turned = ty * SUM_PITCH + shift;
        const __local HELD* strip = tile + (ly * RUN + SEARCH) * TILE_PITCH + lx + (leftward ? 0 : SEARCH);
        __local D* to = sums + ly * RUN * SUM_PITCH + lx + (leftward ? ALIGNED - SEARCH : 0);
        if (ly < RUNS) {
)" + mine_text("strip - ty * TILE_PITCH") +
         R"(        }
#ifdef __NV_CL_C_VERSION
#pragma unroll 2
#endif
        for (int tx = leftward ? (ty ? 0 : 1) : -search; tx <= last; ++tx) {
          const float away = (float)(tx * tx + ty * ty) * spatial;
          const int offset = ty * TILE_PITCH + tx;
          if (ly < RUNS) {
            const __local HELD* other = strip + tx;)" +
         column_text() + R"(          }
          barrier(CLK_LOCAL_MEM_FENCE);
)" + additions_text(type, patch, true) +
         R"(          const int size = tx < 0 ? -tx : tx, strips = (size + RIM - 1) / RIM, above = ty * (WIDTH / RIM + 1);
          const int count = above + strips * HEIGHT, begin = leftward ? ALIGNED - RIM * strips : size / RIM * RIM;
#pragma unroll 1
          for (int n = item; n < count; n += ITEMS) {
            // Adjacent items have rows below each other here, too.
            const int nth = n < above ? (n * inverse) >> 16 : (n - above) / HEIGHT;
            const int row = n < above ? n - nth * ty : ty + (n - above) % HEIGHT;
            const int x = (n < above || leftward ? begin : WIDTH) + RIM * nth;
            __local F* at_rim = kept + row * WEIGHT_PITCH + x;
)" + distances_text(type, "sums + row * SUM_PITCH + x", kRim, patch) +
         R"(#pragma unroll
            for (int i = 0; i < RIM; ++i) at_rim[i] = weight_of(FLOAT(distance[i]), scale, least, away);
          }
          barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
          for (int u = 0; u < UNITS; ++u) {
            const __local F* before = kept + ROW_OF(u) * WEIGHT_PITCH + COLUMN_OF(u) + shift - tx;
            const __local HELD* there = own[u] - offset;
#pragma unroll
            for (int i = 0; i < SEGMENT; ++i) {
              const F w = before[i];
              ADD_WEIGHT(w, weights[u][i], largest[u][i]);
#pragma unroll
              for (int k = 0; k < PLANES; ++k) values[u][k][i] += w * VALUE(there[k * TILE_ROWS * TILE_PITCH + i]);
            }
          }
        }
      }
    }
)";
}

}  // namespace

/// The kernel's text.
///
/// For each offset of the search an item moves down RUN rows of one column with the sum of squared differences over the
/// patch's height, which it stores in local memory; then, after a barrier, it moves along the sums of SEGMENT pixels of
/// one row and adds them up over the patch's width. Its pixels' sums of weights and values stay in registers until the
/// last offset. Adjacent items have adjacent columns first, and then rows below each other.
///
/// kSums: sums of t and of -t have separate memory, so that in its own frame one barrier for each is enough. kWeights:
/// the weights of t are stored, too, and after another barrier items add those of -t.
std::string sums_text(const DenoiseShape& s, const DenoiseText& t) {
  const SumsTile tile(s, t);
  const bool has_pairs = s.together == Together::kWeights;
  const bool is_exact = has_exact_floats(t), holds_floats = s.holds_floats && is_exact;
  const int segments = tile.width / kSegment, items = s.across * s.down;
  const int spread = rounded_up(segments, 4);  // including unused ones: see below
  const std::string type = distance_type(t), word = t.word_bytes == 1 ? "uchar" : "ushort";
  std::string all = head_text(s, t);
  all += define("SEARCH", t.search) + define("ITEMS", items) + define("ACROSS", s.across) +
         define("WIDTH", tile.width) + define("HEIGHT", tile.height) + define("TILE_COLUMNS", tile.columns) +
         define("TILE_ROWS", tile.rows) + define("TILE_PITCH", tile.pitch) + define("SUM_PITCH", tile.sum_pitch) +
         define("SEGMENT", kSegment) + define("SIDE", 2 * t.patch + 1) +
         define("LOADED_ROWS", tile.height + 2 * (t.patch + t.search)) +
         define("UNITS", (spread * tile.height + items - 1) / items) + define("IS_DENSE", t.is_dense);
  // The two inner ones of four segments are swapped: with rows of half a warp, lanes use different banks. Items without
  // pixels repeat the last ones' neighbours.
  all += define("ROW_OF(u)", "((item + (u) * ITEMS) % HEIGHT)") +
         define("NUMBER_OF(u)", "((item + (u) * ITEMS) / HEIGHT)") +
         define("COLUMN_OF(u)",
                "min(((NUMBER_OF(u) & ~3) | (NUMBER_OF(u) & 1) << 1 | (NUMBER_OF(u) >> 1 & 1)) * SEGMENT, WIDTH)");
  if (holds_floats) {
    all += define("HELD", "float") + define("TO_HELD(cell)", "((float)(cell) - (float)MIDDLE)") +
           define("NUMBER(held)", "(held)") + define("VALUE(held)", "(held)");
  } else if (is_exact) {
    // The bits of 2^23 + sample: differences are those of the samples.
    all += define("HELD", "ushort") + define("TO_HELD(cell)", "(cell)") +
           define("NUMBER(held)", "as_float(0x4b000000 | (int)(held))") +
           define("VALUE(held)", "(NUMBER(held) - (8388608.0f + (float)MIDDLE))");
  } else {
    all += define("HELD", "ushort") + define("TO_HELD(cell)", "(cell)") + define("NUMBER(held)", "((int)(held))") +
           define("VALUE(held)", "((float)((int)(held) - MIDDLE))");
  }
  const std::string group = "__attribute__((reqd_work_group_size(" + str(s.across) + ", " + str(s.down) + ", 1)))";
  if (has_pairs) {
    all += define("SUM_COLUMNS", tile.sum_columns) + define("RUNS", tile.runs) + define("SUM_ROWS", tile.sum_rows()) +
           define("WEIGHT_PITCH", tile.weight_pitch) + define("WEIGHTS", tile.weight_cells(t.search)) +
           define("RIM", kRim) + define("ALIGNED", rounded_up(t.search, kRim));
    // If NVIDIA's compiler is not told the number of items it assumes 1024, and 64 registers are left for each: then
    // four groups run at a time, not three, and nlmeans takes 2% less time. More numbers than these would not fit.
    constexpr int kFitting = 40;
    if ((t.planes + 1) * kSegment + t.planes * (tile.run + 2 * t.patch) <= kFitting)
      all += "#ifdef __NV_CL_C_VERSION\n#define GROUP\n#else\n#define GROUP " + group + "\n#endif\n";
    else
      all += define("GROUP", group);
  } else {
    all += define("SUM_ROWS", 2 * tile.height) + define("GROUP", group);
  }
  all += "__kernel GROUP\n";
  all += signature_text() + R"(
  __local HELD tile[PLANES * TILE_ROWS * TILE_PITCH + SEGMENT];
  __local D sums[SUM_ROWS * SUM_PITCH] __attribute__((aligned(32)));
  const int left = (int)get_group_id(0) * WIDTH, top = (int)get_group_id(1) * HEIGHT;
)" +
         (has_pairs ? R"(  __local F kept[WEIGHTS];
  const int item = (int)get_local_id(0), lx = item % SUM_COLUMNS, ly = item / SUM_COLUMNS;
  // Few columns at the end are read, but not written.
  for (int i = item; i < SUM_ROWS * SUM_PITCH; i += ITEMS) sums[i] = (D)0;
)"
                    : R"(  const int lx = (int)get_local_id(0), ly = (int)get_local_id(1), item = ly * ACROSS + lx;
  const __local HELD* strip = tile + (ly * RUN + SEARCH) * TILE_PITCH + lx + SEARCH;
  __local D* below = sums + ly * RUN * SUM_PITCH + lx;
)") + R"(  const __local D* along[UNITS];
  const __local HELD* own[UNITS];
  N mine[PLANES][SUMS];
  F weights[UNITS][SEGMENT], values[UNITS][PLANES][SEGMENT], largest[UNITS][SEGMENT];
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    along[u] = sums + ROW_OF(u) * SUM_PITCH + COLUMN_OF(u);
    own[u] = tile + (ROW_OF(u) + SEARCH + PATCH) * TILE_PITCH + COLUMN_OF(u) + SEARCH + PATCH;
  }
  for (int turn = 0; turn <= others; ++turn) {
    const __global CELL* frame = )" +
         frame_text() + R"(;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < PLANES; ++k) {
      const __global CELL* from = frame + at[k] + (long)(top - SEARCH - PATCH) * pitch + left - SEARCH - PATCH;
#pragma unroll 4
      for (int i = item; i < LOADED_ROWS * TILE_COLUMNS; i += ITEMS) {
        const int row = i / TILE_COLUMNS, column = i % TILE_COLUMNS;
        tile[(k * TILE_ROWS + row) * TILE_PITCH + column] = TO_HELD(from[row * pitch + column]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (turn == 0) {
)" + (has_pairs ? "" : mine_text("strip")) +
         R"(#pragma unroll
      for (int u = 0; u < UNITS; ++u)
#pragma unroll
        for (int i = 0; i < SEGMENT; ++i) {
          weights[u][i] = TAKES_LARGEST ? 0.0f : ONE;
          largest[u][i] = LEAST_CENTER;
#pragma unroll
          for (int k = 0; k < PLANES; ++k)
            values[u][k][i] = TAKES_LARGEST ? 0.0f : ONE * VALUE(own[u][k * TILE_ROWS * TILE_PITCH + i]);
        }
    }
)" + (has_pairs ? pairs_text(type, t.patch) : offsets_text(type, t.patch)) +
         "  }\n";
  if (t.takes_largest)
    all += R"(
#pragma unroll
  for (int u = 0; u < UNITS; ++u)
#pragma unroll
    for (int i = 0; i < SEGMENT; ++i) {
      weights[u][i] += largest[u][i];
#pragma unroll
      for (int k = 0; k < PLANES; ++k) {
        const int column = min(COLUMN_OF(u), WIDTH - SEGMENT) + i;
        const float cell = (float)frame0[at[k] + (long)(top + ROW_OF(u)) * pitch + left + column];
        values[u][k][i] += largest[u][i] * (cell - (float)MIDDLE);
      }
    }
)";
  all += R"(
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    const int x = left + COLUMN_OF(u), y = top + ROW_OF(u);
    if (COLUMN_OF(u) >= WIDTH || x >= width || y >= height) continue;
#pragma unroll
    for (int k = 0; k < PLANES; ++k) {
      uint code[SEGMENT];
#pragma unroll
      for (int i = 0; i < SEGMENT; ++i) code[i] = (uint)code_of(mean_of(values[u][k][i], weights[u][i]));
      __global uchar* to = out + origins[k] + y * pitches[k] + (long)x * strides[k];
)";
  if (t.is_dense)
    all += "      *(__global " + word + str(kSegment) + "*)to = (" + word + str(kSegment) + ")(" +
           joined(kSegment, ", ", [&](int i) { return "(" + word + ")(code[" + str(i) + "] << SHIFT)"; }) + ");\n";
  else
    all +=
        "#pragma unroll\n      for (int i = 0; i < SEGMENT; ++i)\n        if (x + i < width) put_sample(to + i * "
        "strides[k], code[i]);\n";
  return all + "    }\n  }\n}\n";
}

}  // namespace framequality::opencl
