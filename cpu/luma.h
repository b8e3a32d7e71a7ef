// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of luma codes from pixels of any layout, in loops that compilers turn into vectors. Every file that includes it
// has functions of its own, made for its instruction set.
#pragma once

#include "algorithms/layout.h"
#include "cpu/simd.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framequality::cpu {
namespace {

/// Stores code i of a row.
template <class Out>
FQ_HD void put(std::uint8_t* __restrict out, int i, std::uint32_t code) {
  const auto v = static_cast<Out>(code);
  std::memcpy(out + static_cast<std::size_t>(i) * sizeof(Out), &v, sizeof v);
}

/// Where a component lies in a pixel that is loaded as one little-endian word.
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

/// n luma codes of pixels that are Pixel words in memory; p: the first.
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

/// n luma codes of three planes of Sample words.
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

/// n luma codes of 24-bit pixels, green in the middle.
template <bool kRedFirst>
FQ_HD void luma_triples(const std::uint8_t* __restrict p, int n, std::uint8_t* __restrict out) {
  for (int i = 0; i < n; ++i)
    out[i] = static_cast<std::uint8_t>(
        luma_of(p[3 * i + (kRedFirst ? 0 : 2)], p[3 * i + 1], p[3 * i + (kRedFirst ? 2 : 0)]));
}

/// n luma codes of cells of a mosaic of 16-bit samples; red: the row with R, blue: with B.
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

/// The same of bytes, in 16 bits throughout. kBlue: place of B in its row.
template <int kBlue>
FQ_HD void luma_byte_cells(const std::uint8_t* __restrict red, const std::uint8_t* __restrict blue, int n,
                           std::uint8_t* __restrict out) {
  int i = 0;
  // Compilers do not find the instruction that weighs and adds two bytes. The last vector ends with the row.
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
    // Packing puts the middle quarters in each other's place.
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

/// n luma codes of a mosaic from cell x on.
void luma_mosaic(const PixelLayout& l, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out) {
  const std::uint8_t *red = rows[l.plane[0]] + static_cast<std::size_t>(x) * l.pixel_stride,
                     *blue = rows[l.plane[2]] + static_cast<std::size_t>(x) * l.pixel_stride;
  if (l.word_bytes == 2)
    (l.big_endian ? luma_cells<true> : luma_cells<false>)(l, red, blue, n, out);
  else
    (l.offset[2] ? luma_byte_cells<1> : luma_byte_cells<0>)(red, blue, n, out);
}

/// n luma codes from pixel x on of GRAY10_LE32: three to a word.
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

/// Vectorised forms of luma(); false if there is none for the layout. They read whole pixels.
bool luma_fast(const PixelLayout& l, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out) {
  using Kind = PixelLayout::Kind;
  const std::uint8_t* p = rows[0] + static_cast<std::size_t>(x) * l.pixel_stride;
  if (l.kind == Kind::kRgb && l.planes() == 3) {
    const std::uint8_t* c[3];
    for (int i = 0; i < 3; ++i) c[i] = rows[l.plane[i]] + l.offset[i] + static_cast<std::size_t>(x) * l.pixel_stride;
    if (l.pixel_stride != l.word_bytes) return false;
    if (l.word_bytes == 1)
      luma_planes<std::uint8_t, false>(l, c[0], c[1], c[2], n, out);
    else if (l.big_endian)
      luma_planes<std::uint16_t, true>(l, c[0], c[1], c[2], n, out);
    else
      luma_planes<std::uint16_t, false>(l, c[0], c[1], c[2], n, out);
    return true;
  }
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
  // The last pixel of a row may end before the word that holds it.
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
