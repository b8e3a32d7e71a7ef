// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of luma values from pixels of any layout, in loops that compilers vectorise. Every file that includes it
// gets its own functions, compiled for its instruction set.
#pragma once

#include "algorithms/layout.h"
#include "cpu/simd.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace framequality::cpu {
namespace {

/// Stores value i of a row.
template <class Out>
FQ_HD void put(std::uint8_t* __restrict out, int i, std::uint32_t code) {
  const auto v = static_cast<Out>(code);
  std::memcpy(out + static_cast<std::size_t>(i) * sizeof(Out), &v, sizeof v);
}

/// Position of a component in a pixel loaded as one little-endian word.
struct Field {
  int position;  ///< bits below it
  int shift;
  std::uint32_t mask;
};

template <bool kBigEndian, class Pixel>
FQ_HD std::uint32_t code_of(Pixel pixel, const Field& f) {
  auto v = static_cast<std::uint32_t>(pixel >> f.position);
  if constexpr (kBigEndian) v = (v << 8 & 0xff00) | (v >> 8 & 0xff);
  return v >> f.shift & f.mask;
}

/// Luma of n pixels stored as Pixel words; p: the first.
template <class Pixel, class Out, bool kBigEndian>
FQ_HD void luma_words(const PixelLayout& l, const std::uint8_t* __restrict p, int n, std::uint8_t* __restrict out) {
  const std::uint32_t mask = (1u << l.depth) - 1;
  const Field r{8 * l.offset[0], l.shift, mask}, g{8 * l.offset[1], l.shift, mask}, b{8 * l.offset[2], l.shift, mask};
  const auto pixel = [&](int i) {
    Pixel v;
    std::memcpy(&v, p + static_cast<std::size_t>(i) * sizeof v, sizeof v);
    return v;
  };
  if (l.kind == PixelLayout::Kind::kLuma) {
    for (int i = 0; i < n; ++i) put<Out>(out, i, code_of<kBigEndian>(pixel(i), r));
  } else {
    for (int i = 0; i < n; ++i) {
      const Pixel v = pixel(i);
      put<Out>(out, i, luma_of(code_of<kBigEndian>(v, r), code_of<kBigEndian>(v, g), code_of<kBigEndian>(v, b)));
    }
  }
}

/// Luma of n pixels in three planes of Sample words.
template <class Sample, bool kBigEndian>
FQ_HD void luma_planes(const PixelLayout& l, const std::uint8_t* __restrict r, const std::uint8_t* __restrict g,
                       const std::uint8_t* __restrict b, int n, std::uint8_t* __restrict out) {
  const Field f{0, l.shift, (1u << l.depth) - 1};
  const auto code = [&](const std::uint8_t* p, int i) {
    Sample v;
    std::memcpy(&v, p + static_cast<std::size_t>(i) * sizeof v, sizeof v);
    return code_of<kBigEndian>(v, f);
  };
  for (int i = 0; i < n; ++i) put<Sample>(out, i, luma_of(code(r, i), code(g, i), code(b, i)));
}

/// The same for bytes; n: at least a vector's.
FQ_HD void luma_byte_planes(const std::uint8_t* __restrict r, const std::uint8_t* __restrict g,
                            const std::uint8_t* __restrict b, int n, std::uint8_t* __restrict out) {
  // luma_of() in 16 bits: weights are 256 high + low, so (256 H + L + 16384) >> 15 of their sums H and L is
  // (H + 64 + (L >> 8)) >> 7, as floors nest. H is at most 128 * 255, L within 105 * 255.
  static_assert(38 * 256 + 70 == kRedWeight && 75 * 256 + 35 == kGreenWeight && 15 * 256 - 105 == kBlueWeight);
  const auto code = [](U16v rg, U16v blue) {
    const U16v high = weigh_pairs<38, 75>(reinterpret_cast<U8v>(rg)) + blue * 15,
               low = weigh_pairs<70, 35>(reinterpret_cast<U8v>(rg)) - blue * 105;
    return (high + 64 + reinterpret_cast<U16v>(reinterpret_cast<S16v>(low) >> 8)) >> 7;
  };
  // Even and odd columns separately. The last vector ends with the row.
  for (int i = 0; i < n; i += kVec) {
    const std::ptrdiff_t at = i + kVec <= n ? i : n - kVec;
    const auto red = load<U16v>(r + at), green = load<U16v>(g + at), blue = load<U16v>(b + at);
    const U16v even = code((red & 0xff) | green << 8, blue & 0xff), odd = code(red >> 8 | (green & 0xff00), blue >> 8);
    store(out + at, even | odd << 8);
  }
}

/// Luma of n 24-bit pixels, green in the middle.
template <bool kRedFirst>
FQ_HD void luma_triples(const std::uint8_t* __restrict p, int n, std::uint8_t* __restrict out) {
  for (int i = 0; i < n; ++i)
    out[i] = static_cast<std::uint8_t>(
        luma_of(p[3 * i + (kRedFirst ? 0 : 2)], p[3 * i + 1], p[3 * i + (kRedFirst ? 2 : 0)]));
}

/// A vector of pixels, each in the room of four samples; of three, the fourth may be any.
template <class Sample>
using Pixels = std::conditional_t<sizeof(Sample) == 1, U32v, U64v>;

/// Loads pixels of kSamples samples.
template <class Sample, int kSamples>
FQ_HD Pixels<Sample> load_pixels(const std::uint8_t* p) {
  static_assert(kSamples == 3 || kSamples == 4);
  if constexpr (kSamples == 4) {
    return load<Pixels<Sample>>(p);
  } else {
#ifdef __AVX2__
    const __m128i spread = sizeof(Sample) == 1 ? _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1)
                                               : _mm_setr_epi8(0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, -1, -1);
    // Each 16 bytes use 12; nothing is read past the last.
#ifdef __AVX512BW__
    const __m512i lanes = _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11),
                                                   _mm512_maskz_loadu_epi32(0xfff, p));
    return reinterpret_cast<Pixels<Sample>>(_mm512_shuffle_epi8(lanes, _mm512_broadcast_i32x4(spread)));
#else
    const __m256i lanes = _mm256_set_m128i(load<__m128i>(p + 8), load<__m128i>(p));
    const __m256i places = _mm256_set_m128i(_mm_add_epi8(spread, _mm_set1_epi8(4)), spread);
    return reinterpret_cast<Pixels<Sample>>(_mm256_shuffle_epi8(lanes, places));
#endif
#else
    Pixels<Sample> v{};
    for (int i = 0; i < kVec / static_cast<int>(sizeof v[0]); ++i) {
      std::remove_reference_t<decltype(v[0])> pixel;
      std::memcpy(&pixel, p + std::ptrdiff_t{i} * kSamples * static_cast<int>(sizeof(Sample)), sizeof pixel);
      v[i] = pixel;
    }
    return v;
#endif
  }
}

/// Weights of the four samples of a pixel, 16 bits each, the first one's lowest.
template <class Sample>
FQ_HD std::uint64_t luma_weights(const PixelLayout& l) {
  constexpr int kBits = 16 / sizeof(Sample);
  return std::uint64_t{kRedWeight} << kBits * l.offset[0] | std::uint64_t{kGreenWeight} << kBits * l.offset[1] |
         std::uint64_t{kBlueWeight} << kBits * l.offset[2];
}

/// Luma of pixels of bytes, in their lanes.
template <bool kRgb>
class ByteCodes {
 public:
  using Sample = std::uint8_t;
  explicit ByteCodes(const PixelLayout& l) : position_(U32v{} + 8 * l.offset[0]) {
    if constexpr (kRgb) {
      const auto weights = luma_weights<Sample>(l);
      const auto pair = [&](int low, int high) {
        const auto v = (weights >> 16 * low & 0xffff) | (weights >> 16 * high & 0xffff) << 16;
        return reinterpret_cast<S16v>(U32v{} + static_cast<std::uint32_t>(v));
      };
      even_ = pair(0, 2);
      odd_ = pair(1, 3);
    }
  }
  U32v operator()(U32v pixels) const {
    if constexpr (!kRgb) return pixels >> position_ & 0xff;
    const auto v = reinterpret_cast<U16v>(pixels);
    const S32v evens = dot(S32v{} + 16384, reinterpret_cast<S16v>(v & 0xff), even_);
    return reinterpret_cast<U32v>(dot(evens, reinterpret_cast<S16v>(v >> 8), odd_)) >> 15;
  }

 private:
  U32v position_;
  S16v even_{}, odd_{};  // weights
};

#ifdef __AVX2__
/// The same of words, at even offsets.
template <bool kRgb, bool kBigEndian>
class WordCodes {
 public:
  using Sample = std::uint16_t;
  explicit WordCodes(const PixelLayout& l)
      : position_(U64v{} + (8 * l.offset[0] + l.shift)), shift_(l.shift), mask_((1 << l.depth) - 1) {
    if constexpr (kRgb) weights_ = reinterpret_cast<S16v>(U64v{} + luma_weights<Sample>(l));
  }
  U64v operator()(U64v pixels) const {
    auto v = reinterpret_cast<U16v>(pixels);
    if constexpr (kBigEndian) v = v << 8 | v >> 8;
    if constexpr (!kRgb) return reinterpret_cast<U64v>(v) >> position_ & mask_;
    v = v >> shift_ & static_cast<std::uint16_t>(mask_);
    // Products are of signed words: 2^15 less in each sample is 2^30 less in their sum, for the weights add up to 2^15.
    const S32v sums =
        dot(reinterpret_cast<S32v>(U64v{} + ((1 << 30) + 16384)), reinterpret_cast<S16v>(v ^ 0x8000), weights_);
    const auto halves = reinterpret_cast<U64v>(sums);
    return (halves + (halves >> 32)) << 32 >> 47;
  }

 private:
  U64v position_;
  int shift_;
  std::uint32_t mask_;
  S16v weights_{};
};
#endif

/// Luma of n pixels of kSamples samples; n: at least a vector's. The last vector ends with the row.
template <int kSamples, class Codes>
FQ_HD void luma_pixels(const Codes& codes, const std::uint8_t* __restrict p, int n, std::uint8_t* __restrict out) {
  using Sample = typename Codes::Sample;
  constexpr int kBytes = sizeof(Sample), kCount = kVec / kBytes;
  constexpr int kAhead = 1024;  // prefetch distance, because hardware prefetchers stop at the end of a page
  for (int i = 0; i < n; i += kCount) {
    const std::ptrdiff_t at = i + kCount <= n ? i : n - kCount;
    const std::uint8_t* from = p + at * kSamples * kBytes;
    for (int b = 0; b < kSamples * kVec; b += 64) __builtin_prefetch(from + kAhead + b);
    const auto quarter = [&](int q) {
      return codes(load_pixels<Sample, kSamples>(from + std::ptrdiff_t{q} * (kSamples * kVec / 4)));
    };
    store(out + at * kBytes, packed(quarter(0), quarter(1), quarter(2), quarter(3)));
  }
}

template <class Codes>
FQ_HD bool luma_pixels(const PixelLayout& l, const std::uint8_t* p, int n, std::uint8_t* out) {
  const Codes codes(l);
  if (l.pixel_stride == 3 * l.word_bytes)
    luma_pixels<3>(codes, p, n, out);
  else
    luma_pixels<4>(codes, p, n, out);
  return true;
}

/// luma_fast() for pixels of three or four samples, in parts of whole vectors.
bool luma_vectors(const PixelLayout& l, const std::uint8_t* p, int n, std::uint8_t* out) {
  const bool is_rgb = l.kind == PixelLayout::Kind::kRgb;
  if (n < kVec / l.word_bytes || (l.pixel_stride != 3 * l.word_bytes && l.pixel_stride != 4 * l.word_bytes))
    return false;
  if (l.word_bytes == 1) return (is_rgb ? luma_pixels<ByteCodes<true>> : luma_pixels<ByteCodes<false>>)(l, p, n, out);
#ifdef __AVX2__
  if ((l.offset[0] | l.offset[1] | l.offset[2]) % 2) return false;
  if (l.big_endian)
    return (is_rgb ? luma_pixels<WordCodes<true, true>> : luma_pixels<WordCodes<false, true>>)(l, p, n, out);
  return (is_rgb ? luma_pixels<WordCodes<true, false>> : luma_pixels<WordCodes<false, false>>)(l, p, n, out);
#else
  return false;
#endif
}

/// n luma codes that are parts of 16-bit words; n: at least as many as a vector of them has. The last vector ends with
/// the row.
void luma_parts(const PixelLayout& l, const std::uint8_t* __restrict p, int n, std::uint8_t* __restrict out) {
  const int shift = l.word_bytes == 1 ? 8 * l.offset[0] : l.shift;
  const auto mask = static_cast<std::uint16_t>((1 << l.depth) - 1);
  const auto codes = [&](std::ptrdiff_t at) {
    auto v = load<U16v>(p + 2 * at);
    if (l.big_endian) v = v << 8 | v >> 8;
    return v >> shift & mask;
  };
  const int count = l.word_bytes == 1 ? kVec : kVec / 2;
  for (int i = 0; i < n; i += count) {
    const std::ptrdiff_t at = i + count <= n ? i : n - count;
    if (l.word_bytes == 1)
      store(out + at, packed(codes(at), codes(at + kVec / 2)));
    else
      store(out + 2 * at, codes(at));
  }
}

/// Luma of n cells of a mosaic of 16-bit samples; red: the row with R, blue: with B.
template <bool kBigEndian>
FQ_HD void luma_cells(const PixelLayout& l, const std::uint8_t* __restrict red, const std::uint8_t* __restrict blue,
                      int n, std::uint8_t* __restrict out) {
  const std::uint32_t mask = (1u << l.depth) - 1;
  const Field left{0, l.shift, mask}, right{16, l.shift, mask}, at_red{8 * l.offset[0], l.shift, mask},
      at_blue{8 * l.offset[2], l.shift, mask};
  const auto pair = [](const std::uint8_t* p, int i) {
    std::uint32_t v;
    std::memcpy(&v, p + static_cast<std::size_t>(i) * sizeof v, sizeof v);
    return v;
  };
  for (int i = 0; i < n; ++i) {
    const std::uint32_t rg = pair(red, i), gb = pair(blue, i);
    put<std::uint16_t>(
        out, i,
        luma_of_cell(code_of<kBigEndian>(rg, left) + code_of<kBigEndian>(rg, right) + code_of<kBigEndian>(gb, at_red),
                     code_of<kBigEndian>(gb, at_blue)));
  }
}

/// The same for bytes, in 16 bits throughout. kBlue: position of B in its row.
template <int kBlue>
FQ_HD void luma_byte_cells(const std::uint8_t* __restrict red, const std::uint8_t* __restrict blue, int n,
                           std::uint8_t* __restrict out) {
  int i = 0;
  // Compilers do not find the instruction that multiplies and adds two bytes. The last vector ends with the row.
#if defined(__AVX512BW__)
  const __m512i of_red = _mm512_set1_epi16(38 << 8 | 38),
                of_blue = _mm512_set1_epi16(kBlue ? 14 << 8 | 38 : 38 << 8 | 14);
  for (; i < n && n >= 32; i += 32) {
    const std::ptrdiff_t at = i + 32 <= n ? i : n - 32;
    const __m512i sum = _mm512_add_epi16(_mm512_maddubs_epi16(_mm512_loadu_si512(red + 2 * at), of_red),
                                         _mm512_maddubs_epi16(_mm512_loadu_si512(blue + 2 * at), of_blue));
    store(out + at, _mm512_cvtepi16_epi8(_mm512_srli_epi16(_mm512_add_epi16(sum, _mm512_set1_epi16(64)), 7)));
  }
#elif defined(__AVX2__)
  const __m256i of_red = _mm256_set1_epi16(38 << 8 | 38),
                of_blue = _mm256_set1_epi16(kBlue ? 14 << 8 | 38 : 38 << 8 | 14);
  const auto codes = [&](std::ptrdiff_t at) {
    const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(load<__m256i>(red + 2 * at), of_red),
                                         _mm256_maddubs_epi16(load<__m256i>(blue + 2 * at), of_blue));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(64)), 7);
  };
  for (; i < n && n >= 32; i += 32) {
    const std::ptrdiff_t at = i + 32 <= n ? i : n - 32;
    // Packing swaps the middle quarters.
    store(out + at, _mm256_permute4x64_epi64(_mm256_packus_epi16(codes(at), codes(at + 16)), 0xd8));
  }
#endif
  for (; i < n; ++i) {
    std::uint16_t rg, gb;
    std::memcpy(&rg, red + static_cast<std::size_t>(i) * sizeof rg, sizeof rg);
    std::memcpy(&gb, blue + static_cast<std::size_t>(i) * sizeof gb, sizeof gb);
    const auto left = static_cast<std::uint16_t>(gb & 0xff), right = static_cast<std::uint16_t>(gb >> 8);
    const auto three = static_cast<std::uint16_t>((rg & 0xff) + (rg >> 8) + (kBlue ? left : right));
    const auto sum = static_cast<std::uint16_t>(38 * three + 14 * (kBlue ? right : left) + 64);
    out[i] = static_cast<std::uint8_t>(sum >> 7);
  }
}

/// Luma of n cells of a mosaic from cell x on.
void luma_mosaic(const PixelLayout& l, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out) {
  const std::uint8_t *red = rows[l.plane[0]] + static_cast<std::size_t>(x) * l.pixel_stride,
                     *blue = rows[l.plane[2]] + static_cast<std::size_t>(x) * l.pixel_stride;
  if (l.word_bytes == 2)
    (l.big_endian ? luma_cells<true> : luma_cells<false>)(l, red, blue, n, out);
  else
    (l.offset[2] ? luma_byte_cells<1> : luma_byte_cells<0>)(red, blue, n, out);
}

/// Luma of n pixels from x on of GRAY10_LE32: three to a word.
void luma_tens(const std::uint8_t* row, int x, int n, std::uint8_t* __restrict out) {
  const std::uint8_t* p = row + static_cast<std::size_t>(x / 3) * 4;
  int i = -(x % 3);
  for (; i < n; p += 4) {
    std::uint32_t w;
    std::memcpy(&w, p, sizeof w);
    for (int j = 0; j < 3; ++j, ++i, w >>= 10)
      if (i >= 0 && i < n) put<std::uint16_t>(out, i, w & 1023);
  }
}

/// Vectorised forms of luma(); false if the layout has none. They read whole pixels.
bool luma_fast(const PixelLayout& l, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out) {
  using Kind = PixelLayout::Kind;
  const std::uint8_t* p = rows[0] + static_cast<std::size_t>(x) * l.pixel_stride;
  if (l.kind == Kind::kRgb && l.planes() == 3) {
    const std::uint8_t* c[3];
    for (int i = 0; i < 3; ++i) c[i] = rows[l.plane[i]] + l.offset[i] + static_cast<std::size_t>(x) * l.pixel_stride;
    if (l.pixel_stride != l.word_bytes) return false;
    if (l.word_bytes == 1 && n >= kVec)
      luma_byte_planes(c[0], c[1], c[2], n, out);
    else if (l.word_bytes == 1)
      luma_planes<std::uint8_t, false>(l, c[0], c[1], c[2], n, out);
    else if (l.big_endian)
      luma_planes<std::uint16_t, true>(l, c[0], c[1], c[2], n, out);
    else
      luma_planes<std::uint16_t, false>(l, c[0], c[1], c[2], n, out);
    return true;
  }
  if (luma_vectors(l, p, n, out)) return true;
  if (l.kind == Kind::kLuma && l.pixel_stride == 2 && n >= kVec / l.word_bytes) return luma_parts(l, p, n, out), true;
  if (l.word_bytes == 1) {
    if (l.pixel_stride == 2) luma_words<std::uint16_t, std::uint8_t, false>(l, p, n, out);
    if (l.pixel_stride == 4) luma_words<std::uint32_t, std::uint8_t, false>(l, p, n, out);
    if (l.pixel_stride == 3 && l.kind == Kind::kRgb && l.offset[1] == 1) {
      if (l.offset[0] == 0)
        luma_triples<true>(p, n, out);
      else
        luma_triples<false>(p, n, out);
      return true;
    }
    return l.pixel_stride == 2 || l.pixel_stride == 4;
  }
  if (l.pixel_stride == 2 && l.big_endian) luma_words<std::uint16_t, std::uint16_t, true>(l, p, n, out);
  if (l.pixel_stride == 2 && !l.big_endian) luma_words<std::uint16_t, std::uint16_t, false>(l, p, n, out);
  if (l.pixel_stride == 4 && l.big_endian) luma_words<std::uint32_t, std::uint16_t, true>(l, p, n, out);
  if (l.pixel_stride == 4 && !l.big_endian) luma_words<std::uint32_t, std::uint16_t, false>(l, p, n, out);
  if (l.pixel_stride == 8 && l.big_endian) luma_words<std::uint64_t, std::uint16_t, true>(l, p, n, out);
  if (l.pixel_stride == 8 && !l.big_endian) luma_words<std::uint64_t, std::uint16_t, false>(l, p, n, out);
  return l.pixel_stride == 2 || l.pixel_stride == 4 || l.pixel_stride == 8;
}

void luma(const PixelLayout& l, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out) {
  if (l.is_plain()) {
    std::memcpy(out, rows[0] + static_cast<std::size_t>(x) * l.word_bytes, static_cast<std::size_t>(n) * l.word_bytes);
    return;
  }
  int i = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (l.kind == PixelLayout::Kind::kGray10x3) return luma_tens(rows[0], x, n, out);
  if (l.kind == PixelLayout::Kind::kBayer) return luma_mosaic(l, rows, x, n, out);
  // The last pixel of a row may end before its word does.
  if (luma_fast(l, rows, x, n - 1, out)) i = n - 1;
#endif
  for (; i < n; ++i) {
    const std::uint32_t code = luma_code(l, rows[0], rows[1], rows[2], x + i);
    if (l.depth == 8)
      put<std::uint8_t>(out, i, code);
    else
      put<std::uint16_t>(out, i, code);
  }
}

}  // namespace
}  // namespace framequality::cpu
