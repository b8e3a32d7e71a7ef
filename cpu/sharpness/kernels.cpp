// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the host twin. This file is compiled once for each instruction set, named by FQ_ISA.
//
// A vector of columns moves down a block of rows with the last three rows' features in registers, so each row's
// horizontal work is done once: see algorithms/sharpness/metric.h. Columns at the ends of a range are masked, not
// looped over.
#include "cpu/sharpness/kernels.h"

#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/samples.h"
#include "cpu/luma.h"
#include "cpu/sharpness/histogram.h"
#include "cpu/sharpness/lanes.h"
#include "cpu/sharpness/prefilters.h"

#include <type_traits>

namespace framequality::cpu {

using namespace sharpness;

namespace {

/// Rows that 32-bit lanes can hold before a flush; each lane sums four words of a row, over its chains of accumulators.
template <class M, class L>
FQ_HD int rows_per_flush(int largest) {
  if constexpr (!kIsNarrow<L>) return 1 << 20;
  const std::int64_t room = M::kSigned ? 0x7fffffff : 0xffffffff;
  std::int64_t rows = 1 << 20;
  for (const Peak& p : M::kPeak) {
    std::int64_t worst = 4 / chains(kTotalsOf<M>) * std::int64_t{p.factor};
    for (int e = 0; e < p.power; ++e) worst *= largest;
    const std::int64_t fit = room / (worst > 0 ? worst : 1);
    rows = fit < rows ? fit : rows;
  }
  return rows < 1 ? 1 : static_cast<int>(rows);
}

constexpr int kPrefetch = 128, kLine = 64;

/// The words that end with each sample, where it may have no byte behind it.
FQ_HD WordFormat last_words(WordFormat words) { return words.is_byte ? WordFormat{0xff00, 8, true, 1} : words; }

/// One vector of columns, at byte offset `at`, down all rows of the block.
template <class M, class L, class S>
FQ_HD void walk(const Block& b, std::ptrdiff_t at, int flush_rows, int& room, S& sums) {
  using Row = typename M::template Row<L>;
  const WordFormat words = b.words;
  const auto row = [&](int y) { return M::template row<L>(neighbours<L>(b.rows[y] + at, words)); };
  Row up{}, mid{};
  if constexpr (M::kReach.up) up = row(-1);
  mid = row(0);
  for (int y = 0; y < b.count;) {
    const int end = b.count - y < room ? b.count : y + room;
    room -= end - y;
#ifdef __AVX512BW__
#pragma GCC unroll 2  // lets sums of two rows be shared; with 16 registers it spills instead
#endif
    for (; y < end; ++y) {
      // The next vector of columns comes a whole block later, on lines that no prefetcher of the machine expects.
      for (std::ptrdiff_t line = 0; line < L::offset(L::kCount); line += kLine)
        __builtin_prefetch(b.rows[y + 1] + at + kPrefetch + line);
      const Row down = row(y + 1);
      M::template pixel<L>(up, mid, down, sums);
      up = mid;
      mid = down;
    }
    if (room == 0) {
      sums.flush();
      room = flush_rows;
    }
  }
}

/// Columns x0...x1-1 of a block in whole vectors; returns their end.
template <class M, class L, class S>
FQ_HD int measure_vectors(const Block& b, int x0, int x1, int flush_rows, int& room, S& sums) {
  int x = x0;
  if constexpr (M::kReach.up || M::kReach.down) {
    for (; x + L::kCount <= x1; x += L::kCount) walk<M, L>(b, L::offset(x), flush_rows, room, sums);
  } else {
    // Nothing is shared between rows, so memory is read in its own order. A vector counts as one more row.
    for (int y = 0; y < b.count; ++y)
      for (x = x0; x + L::kCount <= x1;) {
        const int whole = (x1 - x) / L::kCount;
        const int steps = whole < room ? whole : room;
        for (int i = 0; i < steps; ++i, x += L::kCount) {
          const auto mid = M::template row<L>(neighbours<L>(b.rows[y] + L::offset(x), b.words));
          M::template pixel<L>(mid, mid, mid, sums);
        }
        room -= steps;
        if (room == 0) {
          sums.flush();
          room = flush_rows;
        }
      }
  }
  return x;
}

/// Last: of the last vector of a row.
template <class M, class L, class Last = L>
void measure(const Block& b, std::int64_t* totals) {
  const int flush_rows = rows_per_flush<M, L>(b.largest);
  int room = flush_rows;
  Sums<L, kTotalsOf<M>, M::kSigned, false> sums;
  const int whole = std::is_same_v<L, Last> ? b.x1 : b.x1 - b.words.is_byte;
  const int x = measure_vectors<M, L>(b, b.x0, whole, flush_rows, room, sums);
  sums.flush();
  if (x < b.x1) {
    // The last vector may start before x0, as far left as needed to keep its loads inside the row.
    const int limit = b.readable - M::kReach.right - L::kCount;
    const int start = x < limit ? x : limit;
    Sums<Last, kTotalsOf<M>, M::kSigned, true> rest;
    rest.mask = lane_mask<Last>(x - start, b.x1 - start);
    room = flush_rows;
    Block last = b;
    if (start == limit) last.words = last_words(b.words);
    measure_vectors<M, Last>(last, start, start + L::kCount, flush_rows, room, rest);
    rest.flush();
    for (int i = 0; i < kTotalsOf<M>; ++i) sums.wide[i] += rest.wide[i];
  }
  for (int i = 0; i < kTotalsOf<M>; ++i) totals[i] += total(sums.wide[i]);
}

template <class M, Source kSource>
void measure_parts(const Block& b, std::int64_t* totals) {
  measure<M, Words<kSource>, Words<Source::kInner>>(b, totals);
}

/// Sums the samples themselves, with the machinery of a metric.
struct Mean : MetricBase {
  static constexpr Reach kReach{};
  static constexpr Peak kPeak[] = {{1, 1}};
  template <class V>
  struct Row {
    V c;
  };
  template <class V, class N>
  FQ_HD static Row<V> row(const N& n) {
    return {n.c()};
  }
  template <class V, class Sink>
  FQ_HD static void pixel(const Row<V>&, const Row<V>& mid, const Row<V>&, Sink& sums) {
    sums.template add<0>(mid.c);
  }
};

void mean_words(const Block& b, std::int64_t* sum) {
  if (b.largest < 32768)
    measure<Mean, Words<Source::kWords>>(b, sum);
  else
    measure<Mean, Ints>(b, sum);
}

template <class In, class Out, int k>
FQ_HD void box_loop(const std::uint8_t* const* rows, int n, Out* out) {
  for (int i = 0; i < n; ++i) {
    std::uint32_t sum = 0;
    for (int j = 0; j < k; ++j)
      for (int c = 0; c < k; ++c) {
        In v;
        std::memcpy(&v, rows[j] + static_cast<std::size_t>(i * k + c) * sizeof(In), sizeof v);
        sum += v;
      }
    out[i] = static_cast<Out>(sum);
  }
}

template <class In, class Out>
void box(const std::uint8_t* const* rows, int k, int n, std::uint8_t* out) {
  if (k == 2)
    box_loop<In, Out, 2>(rows, n, reinterpret_cast<Out*>(out));
  else
    box_loop<In, Out, 4>(rows, n, reinterpret_cast<Out*>(out));
}

template <class In>
void round(const std::uint8_t* in, int n, int shift, std::uint16_t* out) {
  const In* v = reinterpret_cast<const In*>(in);
  const std::uint32_t half = shift ? 1u << (shift - 1) : 0;
  for (int i = 0; i < n; ++i) out[i] = static_cast<std::uint16_t>((v[i] + half) >> shift);
}

/// Horizontal taps of one row into Sum, which holds every intermediate exactly.
template <class In, class Sum, int kRadius>
FQ_HD void prefilter_row(const std::uint8_t* in, int n, Sum* out) {
  const In* v = reinterpret_cast<const In*>(in);
  for (int i = 0; i < n; ++i) {
    std::uint32_t sum = 0;
    for (int t = 0; t <= 2 * kRadius; ++t) sum += binomial_tap(kRadius, t - kRadius) * v[i + t];
    out[i] = static_cast<Sum>(sum);
  }
}

template <class In, class Sum, int kRadius>
FQ_HD void prefilter_block(const std::uint8_t* const* rows, int count, int n, int shift, std::uint16_t* const* out,
                           Sum* scratch) {
  const int pitch = n + kSlack;
  for (int y = 0; y < count + 2 * kRadius; ++y)
    prefilter_row<In, Sum, kRadius>(rows[y], n, scratch + static_cast<std::ptrdiff_t>(y) * pitch);
  const std::uint32_t half = shift ? 1u << (shift - 1) : 0;
  for (int y = 0; y < count; ++y) {
    const Sum* v = scratch + static_cast<std::ptrdiff_t>(y) * pitch;
    std::uint16_t* o = out[y];
    for (int i = 0; i < n; ++i) {
      std::uint32_t sum = half;
      for (int t = 0; t <= 2 * kRadius; ++t)
        sum += binomial_tap(kRadius, t - kRadius) * v[i + static_cast<std::ptrdiff_t>(t) * pitch];
      o[i] = static_cast<std::uint16_t>(static_cast<Sum>(sum) >> shift);
    }
  }
}

template <class In, class Sum>
void prefilter(const std::uint8_t* const* rows, int radius, int count, int n, int shift, std::uint16_t* const* out,
               std::uint32_t* scratch) {
  if (radius == 1)
    prefilter_block<In, Sum, 1>(rows, count, n, shift, out, reinterpret_cast<Sum*>(scratch));
  else
    prefilter_block<In, Sum, 2>(rows, count, n, shift, out, reinterpret_cast<Sum*>(scratch));
}

/// As prefilter(), for bytes. Rows of samples are split into even and odd columns as they are made. Columns past n are
/// written up to the next multiple of kVec.
template <int kRadius>
FQ_HD void prefilter_bytes_block(const std::uint8_t* const* rows, int count, int n, std::uint16_t* const* out) {
  for (int x = 0; x < n; x += kVec) {
    BytePrefilter<kRadius> filter{PrefilterFormat{}};
    for (int y = 0; y < 2 * kRadius; ++y) filter.next(rows[y] + x);
#pragma GCC unroll 2
    for (int y = 0; y < count; ++y) {
      const auto samples = filter.next(rows[y + 2 * kRadius] + x);
      std::uint8_t* to = reinterpret_cast<std::uint8_t*>(out[y]) + x;
      store(to, samples.a);
      store(to + kSplitBytes, samples.b);
    }
  }
}

void prefilter_bytes(const std::uint8_t* const* rows, int radius, int count, int n, int, std::uint16_t* const* out,
                     std::uint32_t*) {
  if (radius == 1)
    prefilter_bytes_block<1>(rows, count, n, out);
  else
    prefilter_bytes_block<2>(rows, count, n, out);
}

/// One vector of columns, its values at byte offset `at`, down all rows of the block.
template <class M, class Filter, class S>
FQ_HD void walk_prefiltered(const Block& b, std::ptrdiff_t at, Filter filter, int flush_rows, int& room, S& sums) {
  using L = typename Filter::Samples;
  using Row = typename M::template Row<L>;
  constexpr int kTaps = 2 * Filter::kRadius;
  constexpr int kFirst = M::kReach.up ? -1 : 0, kBelow = M::kReach.down ? 1 : 0;
  // Long prefilters run one row ahead of the measurement: neither waits for the
  // other.
  constexpr bool kAhead = M::kReach.down || std::is_same_v<L, SplitInts>;
  constexpr int kStart = kFirst + kTaps + Filter::kLate;
  // For late samples, the last row is prefiltered again.
  const int last = b.count - 1 + kBelow + kTaps;
  const auto values = [&](int y) { return b.rows[y < last ? y : last] + at; };
#pragma GCC unroll 1  // for the size of the code
  for (int y = kFirst; y < kStart; ++y) filter.next(values(y));
  L ahead{};
  if constexpr (kAhead) ahead = filter.next(values(kStart));
  const auto row = [&](int y) {
    const std::uint8_t* p = values(y + kTaps + Filter::kLate + kAhead);
    __builtin_prefetch(p + kPrefetch);
    const L newest = filter.next(p), now = kAhead ? ahead : newest;
    ahead = newest;
    return M::template row<L>(Within<L>{now});
  };
  Row up{}, mid{};
  if constexpr (M::kReach.up) up = row(-1);
  if constexpr (M::kReach.down) mid = row(0);
  for (int y = 0; y < b.count; ++y) {
    const Row down = row(y + kBelow);
    M::template pixel<L>(up, M::kReach.down ? mid : down, down, sums);
    up = mid;
    mid = down;
    if (--room == 0) {
      sums.flush();
      room = flush_rows;
    }
  }
}

/// Prefilters and measures without storing samples. Vectors overlap by the metric's reach: columns whose neighbours
/// are in another vector are masked.
template <class M, class Filter>
FQ_HD void measure_with(const Block& b, const Filter& filter, std::int64_t* totals) {
  using L = typename Filter::Samples;
  constexpr int kLeft = M::kReach.left, kColumns = L::kCount - kLeft - M::kReach.right;
  const int flush_rows = rows_per_flush<M, L>(b.largest);
  int room = flush_rows;
  Sums<L, kTotalsOf<M>, M::kSigned, true> sums;
  sums.mask = lane_mask<L>(kLeft, kLeft + kColumns);
  for (int x = b.x0; x < b.x1; x += kColumns) {
    // The last vector may start before x0, as far left as needed to keep its loads inside the row.
    const int limit = b.readable - 2 * Filter::kRadius - L::kCount;
    const int start = x - kLeft < limit ? x - kLeft : limit;
    if (x + kColumns > b.x1) sums.mask = lane_mask<L>(x - start, b.x1 - start);
    walk_prefiltered<M>(b, std::ptrdiff_t{start} * Filter::kValueBytes, filter, flush_rows, room, sums);
  }
  sums.flush();
  for (int i = 0; i < kTotalsOf<M>; ++i) totals[i] += total(sums.wide[i]);
}

template <class M, template <int> class Filter>
void measure_prefiltered(const Block& b, const PrefilterFormat& s, std::int64_t* totals) {
  if (s.radius == 1)
    measure_with<M>(b, Filter<1>(s), totals);
  else
    measure_with<M>(b, Filter<2>(s), totals);
}

template <template <int> class Filter>
void mean_prefiltered(const Block& b, const PrefilterFormat& s, std::int64_t* sum) {
  measure_prefiltered<Mean, Filter>(b, s, sum);
}

/// True where this is faster than a prefilter to memory. Neighbours move within a vector: narrower ones hold too few
/// 16-bit lanes, or need two instructions. 32-bit ones gain by processing words in pairs, given an instruction for it.
template <class M>
FQ_HD void fill_prefiltered([[maybe_unused]] SharpnessKernels::MeasurePrefiltered (&row)[kLanes]) {
  if constexpr (!M::kHistogram) {
#ifdef __AVX512BW__
    row[static_cast<int>(Lane::kSplit)] = measure_prefiltered<M, BytePrefilter>;
    row[static_cast<int>(Lane::kShort)] = measure_prefiltered<M, WordPrefilter>;
#endif
#ifdef __SSE2__
    row[static_cast<int>(Lane::kInt)] = measure_prefiltered<M, WordPrefilter>;
#endif
  }
}

template <class M>
FQ_HD void fill(SharpnessKernels::Measure (&row)[kLanes]) {
  if constexpr (!M::kHistogram) {
    row[static_cast<int>(Lane::kByte)] = measure<M, std::conditional_t<M::kGain == 0, Bytes, Words<Source::kBytes>>>;
    row[static_cast<int>(Lane::kShort)] = measure<M, Words<Source::kWords>>;
    row[static_cast<int>(Lane::kSplit)] = measure<M, Words<Source::kSplit>>;
    row[static_cast<int>(Lane::kInt)] = measure<M, Ints>;
    row[static_cast<int>(Lane::kLow)] = measure_parts<M, Source::kLow>;
    row[static_cast<int>(Lane::kHigh)] = measure_parts<M, Source::kHigh>;
  }
}

template <class... M>
FQ_HD void fill_all(SharpnessKernels& k, MetricList<M...>) {
  int i = 0;
  ((fill<M>(k.measure[i]), fill_prefiltered<M>(k.measure_prefiltered[i]), ++i), ...);
}

struct Table : SharpnessKernels {
  Table() : SharpnessKernels() {
    vector_bytes = kVec;
    fill_all(*this, Metrics{});
#ifdef __AVX512BW__
    mean_prefiltered[static_cast<int>(Lane::kSplit)] = cpu::mean_prefiltered<BytePrefilter>;
    mean_prefiltered[static_cast<int>(Lane::kShort)] = cpu::mean_prefiltered<WordPrefilter>;
    mean_prefiltered[static_cast<int>(Lane::kInt)] = cpu::mean_prefiltered<WordPrefilter>;
#endif
    mean[static_cast<int>(Lane::kByte)] = cpu::measure<Mean, Bytes>;
    for (const Lane lane : {Lane::kShort, Lane::kInt, Lane::kSplit}) mean[static_cast<int>(lane)] = mean_words;
    mean[static_cast<int>(Lane::kLow)] = measure_parts<Mean, Source::kLow>;
    mean[static_cast<int>(Lane::kHigh)] = measure_parts<Mean, Source::kHigh>;
    count[0] = cpu::count<std::uint8_t>;
    count[1] = cpu::count<std::uint16_t>;
    fold = cpu::fold;
    luma = cpu::luma;
    box[0] = cpu::box<std::uint8_t, std::uint16_t>;
    box[1] = cpu::box<std::uint16_t, std::uint16_t>;
    box[2] = cpu::box<std::uint16_t, std::uint32_t>;
    prefilter[0] = prefilter_bytes;
    prefilter[1] = cpu::prefilter<std::uint16_t, std::uint16_t>;
    prefilter[2] = cpu::prefilter<std::uint16_t, std::uint32_t>;
    prefilter[3] = cpu::prefilter<std::uint32_t, std::uint32_t>;
    round[0] = cpu::round<std::uint16_t>;
    round[1] = cpu::round<std::uint32_t>;
  }
};

}  // namespace

const SharpnessKernels& FQ_ISA::sharpness_kernels() {
  static const Table table;
  return table;
}

}  // namespace framequality::cpu
