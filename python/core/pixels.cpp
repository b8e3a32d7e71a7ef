// SPDX-License-Identifier: LGPL-2.1-or-later
#include "python/core/pixels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace core {

namespace {

template <class T>
T swapped(T v) {
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(v));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(v));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(v));
  return v;
}

template <class Word>
void copy_words(const Pixels& from, char* data, std::ptrdiff_t row_stride, std::ptrdiff_t column_stride,
                std::ptrdiff_t channel_stride) {
  const auto copy = [](char* to, const char* source) { std::memcpy(to, source, sizeof(Word)); };
  const auto word = static_cast<std::ptrdiff_t>(sizeof(Word));
  const std::ptrdiff_t row_bytes = from.columns * from.channels * word;
  const bool whole_rows = from.channel_stride == channel_stride && from.column_stride == column_stride &&
                          column_stride == from.channels * word && (from.channels == 1 || channel_stride == word);
  // For transposed images, copy rows in groups, so that each cache line of the source is read once.
  const std::ptrdiff_t group = std::abs(from.column_stride) > std::abs(from.row_stride) ? 32 : 1;
  for (std::ptrdiff_t top = 0; top < from.rows; top += group) {
    const std::ptrdiff_t rows = std::min(group, from.rows - top);
    const char* source = from.data + top * from.row_stride;
    char* to = data + top * row_stride;
    if (whole_rows && group == 1) {
      std::memcpy(to, source, static_cast<std::size_t>(row_bytes));
      continue;
    }
    for (std::ptrdiff_t c = 0; c < from.channels; ++c) {
      const char* s = source + c * from.channel_stride;
      char* t = to + c * channel_stride;
      if (group == 1) {
        for (std::ptrdiff_t x = 0; x < from.columns; ++x) copy(t + x * column_stride, s + x * from.column_stride);
        continue;
      }
      for (std::ptrdiff_t x = 0; x < from.columns; ++x)
        for (std::ptrdiff_t y = 0; y < rows; ++y)
          copy(t + x * column_stride + y * row_stride, s + x * from.column_stride + y * from.row_stride);
    }
  }
}

float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16U;
  // The exponent's bias differs by 112. A multiplication also normalizes the smallest numbers.
  const float magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(h & 0x7fffU) << 13U) * 0x1p112F;
  const std::uint32_t special = (h & 0x7c00U) == 0x7c00U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | special | sign);
}

std::uint16_t float_to_half(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const float magnitude = std::bit_cast<float>(bits & 0x7fffffffU);
  if (magnitude >= 65520) return sign | 0x7c00U;  // rounds to infinity
  if (magnitude < 0x1p-14F) {                     // in steps of the smallest number
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::lrint(magnitude * 0x1p24F)));
  }
  const std::uint32_t m = bits & 0x7fffffffU;
  const std::uint32_t rounded = m + 0xfffU + (m >> 13U & 1U);  // to nearest, ties to even
  return static_cast<std::uint16_t>(sign | ((rounded >> 13U) - (112U << 10U)));
}

/// One sample in memory, in the byte order of this machine.
template <class Word>
Word load(const char* data, bool swap) {
  Word word;
  std::memcpy(&word, data, sizeof word);
  return swap ? swapped(word) : word;
}

struct HalfSample {
  using Word = std::uint16_t;
  using Number = float;
  static float number(Word w) { return half_to_float(w); }
};
struct FloatSample {
  using Word = std::uint32_t;
  using Number = float;
  static float number(Word w) { return std::bit_cast<float>(w); }
};
struct DoubleSample {
  using Word = std::uint64_t;
  using Number = double;
  static double number(Word w) { return std::bit_cast<double>(w); }
};

/// Adding this and reading the low bits of the sum rounds a number to the nearest integer, ties to even, in any
/// instruction set.
template <class Number>
constexpr Number kRound = std::is_same_v<Number, float> ? 12582912.0F : 6755399441055744.0;

/// Contiguous native floats to integers. Returns false if one is not a number in lo...hi; its result is undefined.
template <class S>
bool convert(const char* from, std::ptrdiff_t count, Range range, std::uint16_t* codes) {
  using Number = typename S::Number;
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  const auto lo = static_cast<Number>(range.lo), hi = static_cast<Number>(range.hi);
  const auto scale = static_cast<Number>(Range::kWhite / (range.hi - range.lo));
  Bits bad = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    typename S::Word word;
    std::memcpy(&word, from + i * static_cast<std::ptrdiff_t>(sizeof word), sizeof word);
    const Number v = S::number(word);
    bad |= Bits{v >= lo} ^ Bits { 1 };  // NaN fails both
    bad |= Bits{v <= hi} ^ Bits { 1 };
    codes[i] = static_cast<std::uint16_t>(std::bit_cast<Bits>((v - lo) * scale + kRound<Number>));
  }
  return bad == 0;
}

template <class S>
Fault describe_fault(const Pixels& p, Range range) {
  const bool swap = p.big_endian != (std::endian::native == std::endian::big);
  Fault fault;
  fault.least = std::numeric_limits<double>::infinity();
  fault.most = -fault.least;
  bool has_nan = false;
  for (std::ptrdiff_t y = 0; y < p.rows; ++y)
    for (std::ptrdiff_t x = 0; x < p.columns; ++x)
      for (std::ptrdiff_t c = 0; c < p.channels; ++c) {
        const char* at = p.data + y * p.row_stride + x * p.column_stride + c * p.channel_stride;
        const double v = S::number(load<typename S::Word>(at, swap));
        has_nan = has_nan || std::isnan(v);
        if (v < fault.least) fault.least = v;
        if (v > fault.most) fault.most = v;
      }
  const bool outside = fault.least < range.lo || fault.most > range.hi;
  fault.kind = has_nan ? Fault::Kind::kNan : outside ? Fault::Kind::kRange : Fault::Kind::kNone;
  return fault;
}

template <class S>
Fault floats_to_codes_of(const Pixels& p, Range range, char* data, std::ptrdiff_t row_stride,
                         std::ptrdiff_t column_stride, std::ptrdiff_t channel_stride) {
  using Word = typename S::Word;
  const auto word = static_cast<std::ptrdiff_t>(sizeof(Word));
  const bool swap = p.big_endian != (std::endian::native == std::endian::big);
  const std::ptrdiff_t count = p.columns * p.channels;
  const bool interleaved = p.column_stride == p.channels * word && (p.channels == 1 || p.channel_stride == word) &&
                           column_stride == p.channels * 2 && (p.channels == 1 || channel_stride == 2);
  if (interleaved && !swap) {
    bool fine = true;
    for (std::ptrdiff_t y = 0; y < p.rows; ++y)
      fine &=
          convert<S>(p.data + y * p.row_stride, count, range, reinterpret_cast<std::uint16_t*>(data + y * row_stride));
    return fine ? Fault{} : describe_fault<S>(p, range);
  }
  // Rows are gathered, converted, and scattered; in groups where the image is transposed, as in copy_words().
  const std::ptrdiff_t group = std::abs(p.column_stride) > std::abs(p.row_stride) ? 32 : 1;
  std::vector<Word> words(static_cast<std::size_t>(group * count));
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(group * count));
  bool fine = true;
  for (std::ptrdiff_t top = 0; top < p.rows; top += group) {
    Pixels part = p;
    part.data = p.data + top * p.row_stride;
    part.rows = std::min(group, p.rows - top);
    copy_pixels(part, reinterpret_cast<char*>(words.data()), count * word, p.channels * word, word);
    if (swap) std::transform(words.begin(), words.end(), words.begin(), swapped<Word>);
    fine &= convert<S>(reinterpret_cast<const char*>(words.data()), part.rows * count, range, codes.data());
    Pixels out{reinterpret_cast<const char*>(codes.data()),
               part.rows,
               p.columns,
               p.channels,
               count * 2,
               p.channels * 2,
               2,
               Sample::kUint16};
    copy_pixels(out, data + top * row_stride, row_stride, column_stride, channel_stride);
  }
  return fine ? Fault{} : describe_fault<S>(p, range);
}

}  // namespace

void copy_pixels(const Pixels& from, char* data, std::ptrdiff_t row_stride, std::ptrdiff_t column_stride,
                 std::ptrdiff_t channel_stride) {
  const auto copy = [&](auto word) {
    copy_words<decltype(word)>(from, data, row_stride, column_stride, channel_stride);
  };
  switch (bytes_of(from.sample)) {
    case 1:
      return copy(std::uint8_t{});
    case 2:
      return copy(std::uint16_t{});
    case 4:
      return copy(std::uint32_t{});
    default:
      return copy(std::uint64_t{});
  }
}

Fault floats_to_codes(const Pixels& from, Range range, char* data, std::ptrdiff_t row_stride,
                      std::ptrdiff_t column_stride, std::ptrdiff_t channel_stride) {
  switch (from.sample) {
    case Sample::kHalf:
      return floats_to_codes_of<HalfSample>(from, range, data, row_stride, column_stride, channel_stride);
    case Sample::kFloat:
      return floats_to_codes_of<FloatSample>(from, range, data, row_stride, column_stride, channel_stride);
    default:
      return floats_to_codes_of<DoubleSample>(from, range, data, row_stride, column_stride, channel_stride);
  }
}

void codes_to_floats(const std::uint16_t* codes, std::ptrdiff_t count, Range range, Sample sample, bool big_endian,
                     char* data) {
  const bool swap = big_endian != (std::endian::native == std::endian::big);
  const auto write = [&](auto encode) {
    using Word = decltype(encode(0.0));
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const double v = range.lo + codes[i] / Range::kWhite * (range.hi - range.lo);
      const Word word = encode(std::min(v, range.hi));
      const Word ordered = swap ? swapped(word) : word;
      std::memcpy(data + i * static_cast<std::ptrdiff_t>(sizeof word), &ordered, sizeof word);
    }
  };
  switch (sample) {
    case Sample::kHalf:
      return write([](double v) { return float_to_half(static_cast<float>(v)); });
    case Sample::kFloat:
      return write([](double v) { return std::bit_cast<std::uint32_t>(static_cast<float>(v)); });
    default:
      return write([](double v) { return std::bit_cast<std::uint64_t>(v); });
  }
}

Fault check_bits(const Pixels& p, int bits) {
  const bool swap = p.big_endian != (std::endian::native == std::endian::big);
  const auto too_high = static_cast<std::uint16_t>(0xffffU << static_cast<unsigned>(bits));
  const std::uint16_t mask = swap ? swapped(too_high) : too_high;
  const bool interleaved = p.column_stride == p.channels * 2 && (p.channels == 1 || p.channel_stride == 2);
  for (std::ptrdiff_t y = 0; y < p.rows; ++y) {
    const char* row = p.data + y * p.row_stride;
    std::uint16_t all = 0;
    if (interleaved) {
      for (std::ptrdiff_t i = 0; i < p.columns * p.channels; ++i) all |= load<std::uint16_t>(row + 2 * i, false);
    } else {
      for (std::ptrdiff_t c = 0; c < p.channels; ++c)
        for (std::ptrdiff_t x = 0; x < p.columns; ++x)
          all |= load<std::uint16_t>(row + c * p.channel_stride + x * p.column_stride, false);
    }
    if ((all & mask) == 0) continue;
    Fault fault{Fault::Kind::kBits};
    for (std::ptrdiff_t x = 0; x < p.columns; ++x)
      for (std::ptrdiff_t c = 0; c < p.channels; ++c)
        fault.value =
            std::max<int>(fault.value, load<std::uint16_t>(row + c * p.channel_stride + x * p.column_stride, swap));
    return fault;
  }
  return {};
}

}  // namespace core
