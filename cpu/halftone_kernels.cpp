// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd and Steinberg's error diffusion, many rows in one vector.
#include "cpu/halftone_kernels.h"

#include "algorithms/halftone/floyd_steinberg.h"

#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace framequality::cpu {
namespace {

using namespace halftone;

/// Bits of eight codes, the first one highest.
FQ_HD std::uint8_t pack_eight(const std::uint8_t* codes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  std::uint64_t v;
  std::memcpy(&v, codes, sizeof v);
  // Each product bit that reaches the top byte comes from one code only.
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

#ifdef __AVX512BW__
constexpr int kRows = 32;
using Words = __m512i;
using Bytes = __m256i;
FQ_HD Words splat(int v) { return _mm512_set1_epi16(static_cast<short>(v)); }
FQ_HD Words plus(Words a, Words b) { return _mm512_add_epi16(a, b); }
FQ_HD Words minus(Words a, Words b) { return _mm512_sub_epi16(a, b); }
FQ_HD Words minus_clamped(Words a, Words b) { return _mm512_subs_epu16(a, b); }
FQ_HD Words less(Words a, Words b) { return _mm512_min_epu16(a, b); }
FQ_HD Words exclusive(Words a, Words b) { return _mm512_xor_si512(a, b); }
template <int n>
FQ_HD Words left(Words a) {
  return _mm512_slli_epi16(a, n);
}
template <int n>
FQ_HD Words right(Words a) {
  return _mm512_srli_epi16(a, n);
}
FQ_HD Words high_product(Words a, Words b) { return _mm512_mulhi_epu16(a, b); }
FQ_HD Words product(Words a, Words b) { return _mm512_mullo_epi16(a, b); }
FQ_HD Words rounded_product(Words a, Words b) { return _mm512_mulhrs_epi16(a, b); }
FQ_HD Words halved(Words a) { return _mm512_avg_epu16(a, _mm512_setzero_si512()); }
FQ_HD Words load_words(const void* p) { return _mm512_loadu_si512(p); }
FQ_HD void store_words(void* p, Words v) { _mm512_storeu_si512(p, v); }
FQ_HD Bytes load_bytes(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
FQ_HD void store_bytes(void* p, Bytes v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
FQ_HD Words widen(Bytes v) { return _mm512_cvtepu8_epi16(v); }
FQ_HD Bytes narrow(Words v) { return _mm512_cvtepi16_epi8(v); }
/// Bytes of all ones where a != b.
FQ_HD Bytes differ(Words a, Words b) { return _mm256_movm_epi8(_mm512_cmpneq_epi16_mask(a, b)); }
/// a where mask is all ones, b where it is 0.
FQ_HD Words select(Words mask, Words a, Words b) { return _mm512_ternarylogic_epi32(mask, a, b, 0xca); }
FQ_HD Words greater(Words a, Words b) { return _mm512_movm_epi16(_mm512_cmpgt_epi16_mask(a, b)); }
FQ_HD Words lane_numbers() {
  alignas(64) std::int16_t n[kRows];
  for (int i = 0; i < kRows; ++i) n[i] = static_cast<std::int16_t>(i);
  return load_words(n);
}
/// Every lane from the next one, the last from `last`.
struct Shift {
  Words next = plus(lane_numbers(), splat(1));
  Words operator()(Words v, std::uint16_t last) const {
    return _mm512_mask_permutexvar_epi16(splat(last), 0x7fffffff, next, v);
  }
};
#else
constexpr int kRows = 16;
using Words = __m256i;
using Bytes = __m128i;
FQ_HD Words splat(int v) { return _mm256_set1_epi16(static_cast<short>(v)); }
FQ_HD Words plus(Words a, Words b) { return _mm256_add_epi16(a, b); }
FQ_HD Words minus(Words a, Words b) { return _mm256_sub_epi16(a, b); }
FQ_HD Words minus_clamped(Words a, Words b) { return _mm256_subs_epu16(a, b); }
FQ_HD Words less(Words a, Words b) { return _mm256_min_epu16(a, b); }
FQ_HD Words exclusive(Words a, Words b) { return _mm256_xor_si256(a, b); }
template <int n>
FQ_HD Words left(Words a) {
  return _mm256_slli_epi16(a, n);
}
template <int n>
FQ_HD Words right(Words a) {
  return _mm256_srli_epi16(a, n);
}
FQ_HD Words high_product(Words a, Words b) { return _mm256_mulhi_epu16(a, b); }
FQ_HD Words product(Words a, Words b) { return _mm256_mullo_epi16(a, b); }
FQ_HD Words rounded_product(Words a, Words b) { return _mm256_mulhrs_epi16(a, b); }
FQ_HD Words halved(Words a) { return _mm256_avg_epu16(a, _mm256_setzero_si256()); }
FQ_HD Words load_words(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
FQ_HD void store_words(void* p, Words v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
FQ_HD Bytes load_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
FQ_HD void store_bytes(void* p, Bytes v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); }
FQ_HD Words widen(Bytes v) { return _mm256_cvtepu8_epi16(v); }
FQ_HD Bytes narrow(Words v) {
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0x08));
}
FQ_HD Bytes differ(Words a, Words b) {
  const Words same = _mm256_cmpeq_epi16(a, b);
  const Words bytes = _mm256_packs_epi16(same, same);
  return _mm_xor_si128(_mm256_castsi256_si128(_mm256_permute4x64_epi64(bytes, 0x08)), _mm_set1_epi8(-1));
}
FQ_HD Words select(Words mask, Words a, Words b) { return _mm256_blendv_epi8(b, a, mask); }
FQ_HD Words greater(Words a, Words b) { return _mm256_cmpgt_epi16(a, b); }
FQ_HD Words lane_numbers() { return _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
struct Shift {
  Words operator()(Words v, std::uint16_t last) const {
    return _mm256_alignr_epi8(_mm256_permute2x128_si256(v, splat(last), 0x21), v, 2);
  }
};
#endif

/// Transposes 16 x 16 bytes in each 128 bits: four times, vectors i and i + 8 are interleaved, which turns the digits
/// of (row, column) round by one.
template <class V>
FQ_HD void transpose_16(V (&v)[16]) {
  for (int round = 0; round < 4; ++round) {
    V w[16];
    for (int i = 0; i < 8; ++i) {
#ifdef __AVX512BW__
      w[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + 8]);
      w[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + 8]);
#else
      w[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
      w[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
#endif
    }
    for (int i = 0; i < 16; ++i) v[i] = w[i];
  }
}

FQ_HD void transpose(Bytes (&v)[kRows]) {
#ifdef __AVX512BW__
  // Rows i and i + 16 share a vector: columns 0...15 of both, then 16...31.
  Bytes first[16], second[16];
  for (int i = 0; i < 16; ++i) {
    first[i] = _mm256_permute2x128_si256(v[i], v[i + 16], 0x20);
    second[i] = _mm256_permute2x128_si256(v[i], v[i + 16], 0x31);
  }
  transpose_16(first);
  transpose_16(second);
  for (int i = 0; i < 16; ++i) v[i] = first[i], v[i + 16] = second[i];
#else
  transpose_16(v);
#endif
}

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
      // Whether every row's columns lie inside the picture.
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

  /// Columns of row r that block t covers, as far as they are in the picture.
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
  /// The low bytes of words, which narrow() would not cut off but saturate.
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
    // Columns are counted from the last row's first, for words to hold them whatever the width.
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
        const Words d = less(minus_clamped(widen(low[j]), black), range);
        const Words v = plus(product(d, whole), halved(high_product(plus(d, d), fraction)));
        tone = plus(exclusive(v, flip), base);
      }
      Words sum = plus(plus(above_left, plus(above, left<2>(above))), plus(above_right, left<1>(above_right)));
      sum = plus(left<3>(kept_left), minus(plus(sum, splat(8)), kept_left));
      const Words share = right<4>(sum), a = plus(tone, share);
      Words kept;
      if constexpr (kClassic) {
        // Of a and a - step, the one that is not negative or too large.
        kept = less(a, plus(minus(tone, splat(kStep)), share));
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
      // Lane 0 is the last row; what the other lanes write is overwritten by the next steps.
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
  // Bytes are turned round in groups of eight, for the lowest bit of a byte is its last pixel.
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

}  // namespace

#define FQ_PASTE(a, b) a##b
#define FQ_NAME(isa) FQ_PASTE(isa, _halftone_kernels)
const HalftoneKernels& FQ_NAME(FQ_ISA)() {
  static const HalftoneKernels table = {kRows, diffuse, pack};
  return table;
}

}  // namespace framequality::cpu
