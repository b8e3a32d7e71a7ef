// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the statistics. This file is compiled once for each instruction set, named by FQ_ISA.
//
// A vector of columns moves down the 18 rows of a band of blocks. Differences l - 2c + r, "bends", come first; the
// last row's bend and the step to it stay in registers: the residual is a step less the step before it. Nothing right
// of the last block is read.
#include "cpu/sharpness/statistics_kernels.h"

#include "cpu/simd.h"

#include <cstddef>
#include <cstring>

namespace framequality::cpu {

using namespace sharpness;

namespace {

/// Lanes first...last-1 of a vector are all ones.
template <class V>
FQ_HD V lanes(int first, int last) {
  V m{};
  for (int i = 0; i < static_cast<int>(sizeof(V) / sizeof(m[0])); ++i) {
    using Element = std::remove_reference_t<decltype(m[0])>;
    m[i] = static_cast<Element>(i >= first && i < last ? -1 : 0);
  }
  return m;
}

// Each has kColumns residuals at once: bend() of a row, the residual from two steps, and sums of |r| and r^2.

/// Bytes: even and odd residuals in separate words.
struct ByteColumns {
  static constexpr int kColumns = kVec, kBytes = 1;
  struct Bend {
    S16v even, odd;
  };
  using Mask = Bend;
  U16v sums{};  ///< |r| of both: at most 16 * 2 * 2040
  S32v squares{};

  FQ_HD static Bend bend(const std::uint8_t* p) {
    const U16v a = load<U16v>(p), b = load<U16v>(p + 2);
    const S16v a0 = reinterpret_cast<S16v>(a & 0xff), a1 = reinterpret_cast<S16v>(a >> 8),
               b0 = reinterpret_cast<S16v>(b & 0xff), b1 = reinterpret_cast<S16v>(b >> 8);
    const S16v step = a1 - b0;
    return {(a0 - a1) - step, step - (b0 - b1)};
  }
  FQ_HD static Bend minus(const Bend& a, const Bend& b) { return {a.even - b.even, a.odd - b.odd}; }
  FQ_HD static Bend masked(const Bend& a, const Mask& m) { return {a.even & m.even, a.odd & m.odd}; }
  FQ_HD static Mask mask(int first, int last) {
    return {lanes<S16v>((first + 1) / 2, (last + 1) / 2), lanes<S16v>(first / 2, last / 2)};
  }
  FQ_HD void add(const Bend& r) {
    sums += reinterpret_cast<U16v>(abs_shorts(r.even)) + reinterpret_cast<U16v>(abs_shorts(r.odd));
    squares = dot(dot(squares, r.even, r.even), r.odd, r.odd);  // at most 16 * 4 * 2040^2 in a lane
  }
  FQ_HD void finish(std::uint32_t* out, S64v& all_squares) {
    // A block's eight words are two 64-bit lanes.
    const U64v s = sum_bytes(reinterpret_cast<U8v>(sums & 0xff)) + (sum_bytes(reinterpret_cast<U8v>(sums >> 8)) << 8);
    for (int j = 0; j < kColumns / kNoiseBlock; ++j) out[j] += static_cast<std::uint32_t>(s[2 * j] + s[2 * j + 1]);
    all_squares += wide_sums(squares);
  }
};

/// Words of at most 12 bits: |r| fits a signed word.
struct ShortColumns {
  static constexpr int kColumns = kVec / 2, kBytes = 2;
  using Bend = S16v;
  using Mask = S16v;
  S32v sums{};  ///< of pairs
  S64v squares{};

  FQ_HD static S16v bend(const std::uint8_t* p) {
    const S16v c = load<S16v>(p + 2);
    return (load<S16v>(p) - c) + (load<S16v>(p + 4) - c);
  }
  FQ_HD static S16v minus(S16v a, S16v b) { return a - b; }
  FQ_HD static S16v masked(S16v a, S16v m) { return a & m; }
  FQ_HD static S16v mask(int first, int last) { return lanes<S16v>(first, last); }
  FQ_HD void add(S16v r) {
    sums = dot(sums, abs_shorts(r), S16v{} + 1);
    squares += wide_sums(dot(S32v{}, r, r));
  }
  FQ_HD void finish(std::uint32_t* out, S64v& all_squares) {
    for (int j = 0; j < kColumns / kNoiseBlock; ++j)
      for (int i = 0; i < kNoiseBlock / 2; ++i) out[j] += static_cast<std::uint32_t>(sums[j * kNoiseBlock / 2 + i]);
    if constexpr (kColumns < kNoiseBlock)
      for (int i = 0; i < kColumns / 2; ++i) out[0] += static_cast<std::uint32_t>(sums[i]);
    all_squares += squares;
  }
};

/// Words of up to 16 bits.
struct WordColumns {
  static constexpr int kColumns = kVec / 4, kBytes = 2;
  using Bend = S32v;
  using Mask = S32v;
  S32v sums{};
  S64v squares{};

  FQ_HD static S32v at(const std::uint8_t* p) { return __builtin_convertvector(load<U16half>(p), S32v); }
  FQ_HD static S32v bend(const std::uint8_t* p) {
    const S32v c = at(p + 2);
    return (at(p) - c) + (at(p + 4) - c);
  }
  FQ_HD static S32v minus(S32v a, S32v b) { return a - b; }
  FQ_HD static S32v masked(S32v a, S32v m) { return a & m; }
  FQ_HD static S32v mask(int first, int last) { return lanes<S32v>(first, last); }
  FQ_HD void add(S32v r) {
    sums += r < 0 ? -r : r;
    squares += wide_products(r, r);
  }
  FQ_HD void finish(std::uint32_t* out, S64v& all_squares) {
    for (int i = 0; i < kColumns; ++i) out[i / kNoiseBlock] += static_cast<std::uint32_t>(sums[i]);
    all_squares += squares;
  }
};

/// kColumns residuals of a band from column x on; the mask, if there is one, selects those that count.
template <class C, bool kMasked>
FQ_HD void walk(const std::uint8_t* const* rows, int x, const typename C::Mask& mask, std::uint32_t* sums,
                S64v& squares) {
  const std::ptrdiff_t at = std::ptrdiff_t{x} * C::kBytes;
  C columns;
  auto last = C::bend(rows[1] + at);
  auto step = C::minus(last, C::bend(rows[0] + at));
#pragma GCC unroll 4
  for (int y = 2; y < kBandRows; ++y) {
    const auto bend = C::bend(rows[y] + at);
    const auto next = C::minus(bend, last);
    auto r = C::minus(next, step);
    if constexpr (kMasked) r = C::masked(r, mask);
    columns.add(r);
    last = bend;
    step = next;
  }
  columns.finish(sums, squares);
}

/// The run of blocks from column x on.
template <class C>
FQ_HD void sum_run(const std::uint8_t* const* rows, int x, int blocks, std::uint32_t* sums, S64v& all) {
  const int width = blocks * kNoiseBlock;
  for (int j = 0; j < blocks; ++j) sums[j] = 0;
  int i = 0;
  for (; i + C::kColumns <= width; i += C::kColumns)
    walk<C, false>(rows, x + i, typename C::Mask{}, sums + i / kNoiseBlock, all);
  if (i < width && width >= C::kColumns) {  // repeats columns already counted, masked
    const int start = width - C::kColumns;
    walk<C, true>(rows, x + start, C::mask(i - start, C::kColumns), sums + start / kNoiseBlock, all);
  } else if (i < width) {
    constexpr int kPitch = (C::kColumns + 2) * C::kBytes;
    std::uint8_t codes[kBandRows][kPitch] = {};
    const std::uint8_t* copies[kBandRows];
    std::uint32_t of_vector[C::kColumns / kNoiseBlock + 1] = {};
    for (int y = 0; y < kBandRows; ++y) {
      std::memcpy(codes[y], rows[y] + std::ptrdiff_t{x} * C::kBytes, static_cast<std::size_t>(width + 2) * C::kBytes);
      copies[y] = codes[y];
    }
    walk<C, true>(copies, 0, C::mask(0, width), of_vector, all);
    for (int j = 0; j < blocks; ++j) sums[j] = of_vector[j];
  }
}

template <class C>
void residuals(const std::uint8_t* const* rows, int first, int step, int run, int columns, std::uint32_t* sums,
               std::uint64_t& squares) {
  S64v all{};
  for (int column = first; column < columns; column += step) {
    const int blocks = columns - column < run ? columns - column : run;
    sum_run<C>(rows, column * kNoiseBlock, blocks, sums, all);
    sums += run;
  }
  squares += static_cast<std::uint64_t>(total(all));
}

/// True if a byte of v is at least `least`.
FQ_HD bool any_from(U8v v, std::uint8_t least) {
  const U64v hits = reinterpret_cast<U64v>(v >= least);
  std::uint64_t any = 0;
  for (int i = 0; i < kVec / 8; ++i) any |= hits[i];
  return any != 0;
}

template <class T>
FQ_HD void expose_codes(const std::uint8_t* p, int n, ClipCodes clip, std::uint64_t* words) {
  std::uint32_t sum = 0, black = 0, white = 0;
  for (int i = 0; i < n; ++i) {
    T v;
    std::memcpy(&v, p + static_cast<std::size_t>(i) * sizeof v, sizeof v);
    sum += v;
    black += v <= clip.black;
    white += v >= clip.white;
  }
  words[kLumaSum] += sum;
  words[kBlackCount] += black;
  words[kWhiteCount] += white;
}

/// Most images clip in few places: luma is only summed and checked for clipped pixels, which, shifted down by
/// the black level, are the largest; if there are some, all are counted.
void expose_bytes(const std::uint8_t* const* rows, int count, int x, int n, ClipCodes clip, std::uint64_t* words) {
  const auto above_black = static_cast<std::uint8_t>(clip.black + 1),
             clipped = static_cast<std::uint8_t>(clip.white - clip.black - 1);
  const int whole = n / kVec * kVec;
  S64v sums{};
  U64v black{}, white{};
  U8v most{};
  for (int y = 0; y < count; ++y) {
    const std::uint8_t* p = rows[y] + x;
    U32v sum{};
#pragma GCC unroll 4
    for (int i = 0; i < whole; i += kVec) {
      const U8v v = load<U8v>(p + i);
      sum = add_bytes(sum, v);
      most = max_bytes(most, v - above_black);
    }
    sums += wide_sums(reinterpret_cast<S32v>(sum));
    if (whole < n) expose_codes<std::uint8_t>(p + whole, n - whole, clip, words);
  }
  if (any_from(most, clipped)) {
    constexpr int kMost = 255 * kVec;  // counts of this many vectors fit a byte
    for (int y = 0; y < count; ++y)
      for (int from = 0; from < whole; from += kMost) {
        U8v blacks{}, whites{};
        for (int i = from; i < whole && i < from + kMost; i += kVec) {
          const U8v v = load<U8v>(rows[y] + x + i);
          blacks -= reinterpret_cast<U8v>(v <= static_cast<std::uint8_t>(clip.black));
          whites -= reinterpret_cast<U8v>(v >= static_cast<std::uint8_t>(clip.white));
        }
        black += sum_bytes(blacks);
        white += sum_bytes(whites);
      }
  }
  words[kLumaSum] += static_cast<std::uint64_t>(total(sums));
  words[kBlackCount] += static_cast<std::uint64_t>(total(reinterpret_cast<S64v>(black)));
  words[kWhiteCount] += static_cast<std::uint64_t>(total(reinterpret_cast<S64v>(white)));
}

void expose_words(const std::uint8_t* const* rows, int count, int x, int n, ClipCodes clip, std::uint64_t* words) {
  constexpr int kRun = 1 << 15;  // sums of this many words fit 32 bits
  for (int y = 0; y < count; ++y)
    for (int i = 0; i < n; i += kRun)
      expose_codes<std::uint16_t>(rows[y] + (std::ptrdiff_t{x} + i) * 2, n - i < kRun ? n - i : kRun, clip, words);
}

struct Table : StatisticsKernels {
  Table() : StatisticsKernels() {
    residuals[static_cast<int>(Code::kByte)] = cpu::residuals<ByteColumns>;
    residuals[static_cast<int>(Code::kShort)] = cpu::residuals<ShortColumns>;
    residuals[static_cast<int>(Code::kWord)] = cpu::residuals<WordColumns>;
    expose[static_cast<int>(Code::kByte)] = expose_bytes;
    expose[static_cast<int>(Code::kShort)] = expose_words;
    expose[static_cast<int>(Code::kWord)] = expose_words;
  }
};

}  // namespace

const StatisticsKernels& FQ_ISA::statistics_kernels() {
  static const Table table;
  return table;
}

}  // namespace framequality::cpu
