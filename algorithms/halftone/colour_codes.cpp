// SPDX-License-Identifier: LGPL-2.1-or-later
// Tones of a frame's samples for colour halftoning: the table that the host makes of all codes.
#include "algorithms/halftone/colour_codes.h"

#include "algorithms/halftone/tone.h"

#include <algorithm>
#include <cmath>

namespace framequality::halftone {

namespace {

struct Weights {
  double red, blue;
};
Weights weights_of(Matrix matrix) {
  switch (matrix) {
    case Matrix::kBt601:
      return {0.299, 0.114};
    case Matrix::kBt2020:
      return {0.2627, 0.0593};
    case Matrix::kBt709:
      break;
  }
  return {0.2126, 0.0722};
}

std::int32_t rounded(double v) { return static_cast<std::int32_t>(std::floor(v + 0.5)); }

/// Tone of a code, rounded once.
std::int32_t tone_of_code(int code, int depth, const ToneSettings& s) {
  const int unit = 1 << (depth - 8), black = s.limited ? 16 * unit : 0,
            range = s.limited ? 219 * unit : (1 << depth) - 1;
  const int d = std::clamp(code - black, 0, range);
  // In integers where that is exact: machines whose libraries differ must agree.
  const int tone = s.light == Light::kCode ? (2 * d * kFull + range) / (2 * range)
                                           : rounded(kFull * light_of(static_cast<double>(d) / range, s.light));
  return s.invert ? kFull - tone : tone;
}

void add_yuv(std::vector<std::int32_t>& table, int depth, const ToneSettings& tone, Matrix matrix) {
  const int codes = 1 << depth, unit = 1 << (depth - 8), middle = 128 * unit, black = tone.limited ? 16 * unit : 0;
  const double luma = kFull * kPart / (tone.limited ? 219.0 * unit : codes - 1.0),
               chroma = kFull * kPart / (tone.limited ? 224.0 * unit : codes - 1.0);
  const auto [red, blue] = weights_of(matrix);
  const double green = 1 - red - blue;
  for (int code = 0; code < codes; ++code) table.push_back(rounded(luma * (code - black)) + kPart / 2);
  for (const double other : {blue, red})
    for (int code = 0; code < codes; ++code) {
      const double c = chroma * (code - middle);
      table.push_back(rounded(-2 * (1 - other) * other / green * c));
      table.push_back(rounded(2 * (1 - other) * c));
    }
  for (int t = 0; t <= kFull; ++t) {
    const std::int32_t light = rounded(kFull * light_of(static_cast<double>(t) / kFull, tone.light));
    table.push_back(tone.invert ? kFull - light : light);
  }
}

}  // namespace

std::vector<std::int32_t> make_code_table(const PictureLayout& layout, const ToneSettings& tone, Matrix matrix) {
  const int depth = code_depth(layout);
  std::vector<std::int32_t> table;
  table.reserve(code_table_size(layout));
  if (is_yuv(layout))
    add_yuv(table, depth, tone, matrix);
  else
    for (int code = 0; code < 1 << depth; ++code) table.push_back(tone_of_code(code, depth, tone));
  return table;
}

std::array<std::uint32_t, kMostColours> output_words(const ColourSettings& settings) {
  std::array<std::uint32_t, kMostColours> words{};
  for (std::size_t i = 0; i < settings.palette.colours().size(); ++i) {
    const PaletteColour& c = settings.palette.colour[i];
    words[i] = settings.output == ColourOutput::kCodes
                   ? c.code
                   : 0xff000000u | std::uint32_t{c.blue} << 16 | std::uint32_t{c.green} << 8 | c.red;
  }
  return words;
}

std::vector<std::int32_t> make_device_table(const PictureLayout& layout, const ColourSettings& settings) {
  std::vector<std::int32_t> all;
  for (const std::uint32_t word : output_words(settings)) all.push_back(static_cast<std::int32_t>(word));
  const std::vector<std::int32_t> codes = make_code_table(layout, settings.tone, settings.matrix);
  all.insert(all.end(), codes.begin(), codes.end());
  return all;
}

}  // namespace framequality::halftone
