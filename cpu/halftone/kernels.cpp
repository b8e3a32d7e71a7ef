// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd and Steinberg's error diffusion, many rows in one vector; the blue-noise mask, many columns in one.
#include "cpu/halftone/kernels.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/colour.h"
#include "algorithms/halftone/floyd_steinberg.h"
#include "cpu/halftone/words.h"
#include "cpu/luma.h"
#include "cpu/simd.h"

#include <cstring>

namespace framequality::cpu {
namespace {

using namespace halftone;

/// Top bits of eight values, the first one highest.
FQ_HD std::uint8_t pack_eight(const std::uint8_t* codes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  std::uint64_t v;
  std::memcpy(&v, codes, sizeof v);
  // Each product bit that reaches the top byte comes from one value only.
  return static_cast<std::uint8_t>((v & 0x0101010101010101u) * 0x8040201008040201u >> 56);
#else
  int bits = 0;
  for (int i = 0; i < 8; ++i) bits |= (codes[i] & 1) << (7 - i);
  return static_cast<std::uint8_t>(bits);
#endif
}

void pack_rest(const std::uint8_t* codes, int n, std::uint8_t* out) {
  int i = 0;
  for (; i + 8 <= n; i += 8) out[i / 8] = pack_eight(codes + i);
  if (i == n) return;
  std::uint8_t last[8] = {};
  std::memcpy(last, codes + i, static_cast<std::size_t>(n - i));
  out[i / 8] = pack_eight(last);
}

#ifdef __AVX2__

/// floor(a / step) for 0 <= a < kWhite + step is high_product(a, factor) >> shift.
struct Division {
  int factor, shift;
};
constexpr bool divides(const Division& d, int step) {
  for (int a = 0; a < kWhite + step; ++a)
    if ((static_cast<std::int64_t>(a) * d.factor >> (16 + d.shift)) != a / step) return false;
  return d.factor < 65536;
}
template <int levels>
constexpr Division division() {
  constexpr int kStep = kWhite / (levels - 1), kShift = levels == 2 ? 11 : levels == 4 ? 10 : 8;
  constexpr Division kDivision{((1 << (16 + kShift)) + kStep - 1) / kStep, kShift};
  static_assert(divides(kDivision, kStep));
  return kDivision;
}

/// One band's steps. kClassic: two levels at full strength, the common case.
template <bool kTones, int kLevels, bool kClassic>
class Diffusion {
 public:
  Diffusion(const DiffusionBand& band, DiffusionState& state)
      : band_(band),
        state_(state),
        left_(load_words(state.left)),
        above_(load_words(state.above)),
        above_left_(load_words(state.above_left)) {}

  void run(int t0, int count) {
    if (t0 == 0) above_ = Shift()(above_, band_.above[0]);
    for (int t = t0; t < t0 + count; t += kRows) {
      // Whether every row's columns lie inside the image.
      if (t - 2 * (kRows - 1) >= 0 && t + kRows <= band_.width)
        block<false>(t);
      else
        block<true>(t);
    }
    store_words(state_.left, left_);
    store_words(state_.above, above_);
    store_words(state_.above_left, above_left_);
  }

 private:
  static constexpr Levels kOf{kLevels};
  static constexpr int kStep = kOf.step(), kBias = kOf.bias();

  /// Lane i holds row kRows - 1 - i: so the last row's error is stored last.
  static int row_of(int lane) { return kRows - 1 - lane; }

  /// Columns of row r that block t covers, clipped to the image.
  struct Span {
    int column, skip, count;
  };
  Span span(int t, int r) const {
    const int column = t - 2 * r, begin = column < 0 ? -column : 0;
    const int end = band_.width - column < kRows ? band_.width - column : kRows;
    return {column, begin, end > begin ? end - begin : 0};
  }

  template <bool kEdge>
  void load(int t, Bytes (&low)[kRows], Bytes (&high)[kRows]) const {
    constexpr int kSize = kTones ? 2 : 1;
    for (int i = 0; i < kRows; ++i) {
      const int r = row_of(i);
      std::uint8_t copy[kRows * kSize];
      const std::uint8_t* p;
      if constexpr (kEdge) {
        std::memset(copy, 0, sizeof copy);
        const Span s = span(t, r);
        if (s.count > 0)
          std::memcpy(copy + s.skip * kSize, band_.rows[r] + std::ptrdiff_t{s.column + s.skip} * kSize,
                      static_cast<std::size_t>(s.count * kSize));
        p = copy;
      } else {
        p = band_.rows[r] + std::ptrdiff_t{t - 2 * r} * kSize;
      }
      if constexpr (kTones) {
        const Words v = load_words(p);
        low[i] = narrow(low_bytes(v));
        high[i] = narrow(right<8>(v));
      } else {
        low[i] = load_bytes(p);
      }
    }
    transpose(low);
    if constexpr (kTones) transpose(high);
  }
  /// The low bytes of words; narrow() would saturate instead.
  static Words low_bytes(Words v) { return right<8>(left<8>(v)); }

  template <bool kEdge>
  void store(int t, Bytes (&codes)[kRows]) const {
    transpose(codes);
    for (int i = 0; i < kRows; ++i) {
      const int r = row_of(i);
      if constexpr (kEdge) {
        std::uint8_t copy[kRows];
        store_bytes(copy, codes[i]);
        const Span s = span(t, r);
        if (s.count > 0)
          std::memcpy(band_.out[r] + s.column + s.skip, copy + s.skip, static_cast<std::size_t>(s.count));
      } else {
        store_bytes(band_.out[r] + (t - 2 * r), codes[i]);
      }
    }
  }

  template <bool kEdge>
  void block(int t0) {
    Bytes low[kRows], high[kRows];
    load<kEdge>(t0, low, high);
    const Shift shift;
    const ToneFormula& f = band_.formula;
    const Words black = splat(f.black), range = splat(f.range), whole = splat(f.whole), fraction = splat(f.fraction);
    const Words flip = splat(f.invert ? -1 : 0), base = splat(f.invert ? kWhite + 1 : 0);
    const Words bias = splat(kBias);
    // Columns are relative to the last row's first, so that words hold them at any width.
    const int first = t0 - 2 * (kRows - 1), most = 4 * kRows;
    const Words begin = splat(first > 0 ? 0 : -first),
                end = splat(band_.width - first > most ? most : band_.width - first);
    Words column = left<1>(lane_numbers());
    Words kept_left = left_, above = above_, above_left = above_left_;
    for (int j = 0; j < kRows; ++j) {
      const int t = t0 + j;
      const Words above_right = shift(kept_left, band_.above[kEdge && t + 1 > band_.width ? band_.width : t + 1]);
      Words tone;
      if constexpr (kTones) {
        tone = plus(widen(low[j]), left<8>(widen(high[j])));
      } else {
        const Words d = minimum(minus_clamped(widen(low[j]), black), range);
        const Words v = plus(product(d, whole), halved(high_product(plus(d, d), fraction)));
        tone = plus(exclusive(v, flip), base);
      }
      Words sum = plus(plus(above_left, plus(above, left<2>(above))), plus(above_right, left<1>(above_right)));
      sum = plus(left<3>(kept_left), minus(plus(sum, splat(8)), kept_left));
      const Words share = right<4>(sum), a = plus(tone, share);
      Words kept;
      if constexpr (kClassic) {
        // Of a and a - step, the one in range.
        kept = minimum(a, plus(minus(tone, splat(kStep)), share));
        low[j] = differ(a, kept);
      } else {
        constexpr Division kBy = division<kLevels>();
        const Words level = right<kBy.shift>(high_product(a, splat(kBy.factor)));
        kept = minus(a, product(level, splat(kStep)));
        if (band_.strength < kFullStrength)
          kept = plus(rounded_product(minus(kept, bias), splat(band_.strength << 7)), bias);
        low[j] = narrow(product(level, splat(kOf.code(1))));
      }
      if constexpr (kEdge) {
        kept = select(greater(begin, column), bias, kept);
        kept = select(greater(end, column), kept, bias);
        column = plus(column, splat(1));
      }
      // Lane 0 is the last row; values of the other lanes are overwritten by the next steps.
      if (!kEdge || t >= 2 * (kRows - 1)) store_words(band_.below + (t - 2 * (kRows - 1)), kept);
      above_left = above;
      above = above_right;
      kept_left = kept;
    }
    left_ = kept_left, above_ = above, above_left_ = above_left;
    store<kEdge>(t0, low);
  }

  const DiffusionBand& band_;
  DiffusionState& state_;
  Words left_, above_, above_left_;
};

template <bool kTones>
void diffuse_levels(const DiffusionBand& band, DiffusionState& state, int t0, int count) {
  if (band.levels == 2 && band.strength == kFullStrength)
    Diffusion<kTones, 2, true>(band, state).run(t0, count);
  else if (band.levels == 2)
    Diffusion<kTones, 2, false>(band, state).run(t0, count);
  else if (band.levels == 4)
    Diffusion<kTones, 4, false>(band, state).run(t0, count);
  else
    Diffusion<kTones, 16, false>(band, state).run(t0, count);
}

void diffuse(const DiffusionBand& band, DiffusionState& state, int t0, int count) {
  if (band.tones)
    diffuse_levels<true>(band, state, t0, count);
  else
    diffuse_levels<false>(band, state, t0, count);
}

void pack(const std::uint8_t* codes, int n, std::uint8_t* out) {
  int i = 0;
  // Bytes are reversed in groups of eight, because the lowest bit of a byte is its last pixel.
  const __m256i turn = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
                                        15, 14, 13, 12, 11, 10, 9, 8);
  for (; i + 32 <= n; i += 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i));
    const int bits = _mm256_movemask_epi8(_mm256_shuffle_epi8(v, turn));
    std::memcpy(out + i / 8, &bits, sizeof bits);
  }
  pack_rest(codes + i, n - i, out + i / 8);
}

#else

constexpr int kRows = 0;
void diffuse(const DiffusionBand&, DiffusionState&, int, int) {}
void pack(const std::uint8_t* codes, int n, std::uint8_t* out) { pack_rest(codes, n, out); }

#endif

FQ_HD std::uint8_t masked_colour(const MaskedColours& row, int x) {
  const int at = x % kMaskSide;
  const std::uint32_t node = node_of(row.tones[x] + row.rounding[at]);
  const Mixture m = row.mixed[node];
  return static_cast<std::uint8_t>(mixed_colour(static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(m >> 32),
                                                static_cast<std::uint32_t>(row.threshold[at] >> 48)));
}

#ifdef __AVX2__
/// Palette indices of four pixels, a 64-bit lane each.
FQ_HD __m256i four_masked_colours(const MaskedColours& row, int x) {
  const auto lanes = [](const std::uint64_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
  const auto each = [](std::int64_t v) { return _mm256_set1_epi64x(v); };
  const int at = x % kMaskSide;
  const __m256i tone = _mm256_add_epi64(lanes(row.tones + x), lanes(row.rounding + at));
  const __m256i red = _mm256_and_si256(_mm256_srli_epi64(tone, kNodeBits), each(63)),
                green = _mm256_and_si256(_mm256_srli_epi64(tone, kFieldBits + kNodeBits - 6), each(63 << 6)),
                blue = _mm256_and_si256(_mm256_srli_epi64(tone, 2 * kFieldBits + kNodeBits - 12), each(63 << 12));
  const __m256i node = _mm256_or_si256(red, _mm256_or_si256(green, blue));
  const __m256i mixture = _mm256_i64gather_epi64(reinterpret_cast<const long long*>(row.mixed), node, 8);
  // Each threshold below the mask's advances by the 4 bits of a colour.
  const __m256i beyond = _mm256_cmpgt_epi16(lanes(row.threshold + at), mixture);
  const __m256i bits = _mm256_sad_epu8(_mm256_and_si256(beyond, each(0x0004000400040000)), _mm256_setzero_si256());
  return _mm256_and_si256(_mm256_srlv_epi64(mixture, bits), each(15));
}
#endif

void mask_colours(const MaskedColours& row, std::uint8_t* out) {
  int x = 0;
#ifdef __AVX2__
  const __m256i in_order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  const __m128i low_bytes = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  for (; x + 8 <= row.width; x += 8) {
    const __m256i first = four_masked_colours(row, x), second = four_masked_colours(row, x + 4);
    const __m256i all = _mm256_permutevar8x32_epi32(_mm256_or_si256(first, _mm256_slli_epi64(second, 32)), in_order);
    const __m128i low = _mm_shuffle_epi8(_mm256_castsi256_si128(all), low_bytes),
                  high = _mm_shuffle_epi8(_mm256_extracti128_si256(all, 1), low_bytes);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + x), _mm_unpacklo_epi32(low, high));
  }
#endif
  for (; x < row.width; ++x) out[x] = masked_colour(row, x);
}

typedef std::int8_t S8v __attribute__((vector_size(kVec)));
typedef std::uint8_t U8half __attribute__((vector_size(kVec / 2)));

/// V: with lanes as wide as samples.
template <class V, int kLevels>
FQ_HD void mask_vector(const std::uint8_t* samples, V bits, V flip, const std::uint8_t* last_below, std::uint8_t* out) {
  constexpr std::ptrdiff_t kLane = sizeof(V{}[0]), kPitch = kMaskSide * kLane;
  const V v = (load<V>(samples) & bits) ^ flip;
  V level{};
  for (int i = 0; i < kLevels - 1; ++i) level -= reinterpret_cast<V>(v > load<V>(last_below + i * kPitch));
  // White is all ones, like the result of a comparison. A byte's product stays within it, so a word holds two.
  const U16v grey = kLevels == 2 ? reinterpret_cast<U16v>(-level)
                                 : reinterpret_cast<U16v>(level) * static_cast<std::uint16_t>(Levels{kLevels}.code(1));
  if constexpr (kLane == 1)
    store(out, grey);
  else
    store(out, __builtin_convertvector(grey, U8half));
}

template <class V, int kLevels>
void mask_row(const MaskedRow& row, V bits, V flip, std::uint8_t* out) {
  constexpr std::ptrdiff_t kLane = sizeof(V{}[0]);
  constexpr int kCount = kVec / kLane;
  static_assert(kMaskSide % kCount == 0);
  const std::uint8_t *samples = row.samples, *last_below = row.last_below;
  const int rest = row.width % kCount, whole = row.width - rest;
  for (int x = 0; x < whole; x += kCount)
    mask_vector<V, kLevels>(samples + x * kLane, bits, flip, last_below + x % kMaskSide * kLane, out + x);
  if (rest == 0) return;
  std::uint8_t last[kVec] = {}, greys[kCount];
  std::memcpy(last, samples + whole * kLane, static_cast<std::size_t>(rest * kLane));
  mask_vector<V, kLevels>(last, bits, flip, last_below + whole % kMaskSide * kLane, greys);
  std::memcpy(out + whole, greys, static_cast<std::size_t>(rest));
}

template <class V, class Lane>
void mask_levels(const MaskedRow& row, std::uint8_t* out) {
  const V bits = V{} + static_cast<Lane>(row.bits), flip = V{} + static_cast<Lane>(row.flip);
  if (row.levels == 2)
    mask_row<V, 2>(row, bits, flip, out);
  else if (row.levels == 4)
    mask_row<V, 4>(row, bits, flip, out);
  else
    mask_row<V, 16>(row, bits, flip, out);
}

void mask(const MaskedRow& row, std::uint8_t* out) {
  if (row.words)
    mask_levels<S16v, std::int16_t>(row, out);
  else
    mask_levels<S8v, std::int8_t>(row, out);
}

}  // namespace

const HalftoneKernels& FQ_ISA::halftone_kernels() {
  static const HalftoneKernels table = {luma, kRows, diffuse, mask, mask_colours, pack};
  return table;
}

}  // namespace framequality::cpu
