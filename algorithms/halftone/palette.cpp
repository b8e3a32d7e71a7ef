// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes of colour halftones: those of common panels, and the reader of a user's own.
#include "algorithms/halftone/palette.h"

#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace framequality::halftone {

namespace {

constexpr PaletteColour colour(std::uint32_t rgb, int code) {
  return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8), static_cast<std::uint8_t>(rgb),
          static_cast<std::uint8_t>(code)};
}

constexpr Palette greys(int count) {
  Palette p;
  p.count = count;
  for (int i = 0; i < count; ++i)
    p.colour[static_cast<std::size_t>(i)] = colour(static_cast<std::uint32_t>(255 / (count - 1) * i) * 0x010101u, i);
  return p;
}

// Where the colours come from, and how they were measured: docs/halftoning.md.
constexpr NamedPalette kPalettes[] = {
    {"spectra6",
     "E Ink Spectra 6: black, white, yellow, red, blue, green",
     {6,
      {colour(0x1a0d23, 0), colour(0xb9cacd, 1), colour(0xcab800, 2), colour(0x790900, 3), colour(0x00458b, 5),
       colour(0x285239, 6)}}},
    {"acep7",
     "E Ink ACeP with 7 colours: black, white, green, blue, red, yellow, orange",
     {7,
      {colour(0x393039, 0), colour(0xffffff, 1), colour(0x3a5b46, 2), colour(0x3d3b5e, 3), colour(0x9c484b, 4),
       colour(0xd0be47, 5), colour(0xb16a49, 6)}}},
    {"bwry",
     "black, white, yellow, red",
     {4, {colour(0x0a070e, 0), colour(0xadb2ae, 1), colour(0xac8000, 2), colour(0x55180e, 3)}}},
    {"bwr", "black, white, red", {3, {colour(0x0a070e, 0), colour(0xadb2ae, 1), colour(0x55180e, 2)}}},
    {"bwy", "black, white, yellow", {3, {colour(0x0a070e, 0), colour(0xadb2ae, 1), colour(0xac8000, 2)}}},
    {"grey4", "four equally spaced greys", greys(4)},
    {"grey16", "sixteen equally spaced greys", greys(16)},
};

/// The start of an entry, which may be anything, as text.
std::string quoted(std::string_view entry) {
  constexpr std::size_t kMost = 40;
  std::string text = "'";
  for (const char c : entry.substr(0, kMost)) text += c < ' ' || c > '~' ? '?' : c;
  return text + (entry.size() > kMost ? "...'" : "'");
}

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

/// The whole text as a number in this base.
int number_of(std::string_view text, int base) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

PaletteColour parse_colour(std::string_view entry, int place) {
  const std::size_t equals = entry.find('=');
  const std::string_view name = trimmed(entry.substr(0, equals));
  const int rgb = name.size() == 7 && name[0] == '#' ? number_of(name.substr(1), 16) : -1;
  if (rgb < 0) refuse(quoted(entry) + " is not a colour: write #rrggbb, such as #ff8000");
  const int code = equals == entry.npos ? place : number_of(trimmed(entry.substr(equals + 1)), 10);
  if (code < 0 || code >= kMostColours)
    refuse("the code of " + quoted(entry) + " must be a number from 0 to " + std::to_string(kMostColours - 1));
  return colour(static_cast<std::uint32_t>(rgb), code);
}

void require_distinct(const Palette& palette, const PaletteColour& added, std::string_view entry) {
  for (const PaletteColour& c : palette.colours()) {
    if (c.code == added.code) refuse("the code of " + quoted(entry) + " is already used");
    if (c.red == added.red && c.green == added.green && c.blue == added.blue)
      refuse("the colour " + quoted(entry) + " is there twice");
  }
}

}  // namespace

std::string text_of(const Palette& palette) {
  std::string text;
  for (const PaletteColour& c : palette.colours()) {
    char entry[16];
    std::snprintf(entry, sizeof entry, "#%02x%02x%02x=%d", c.red, c.green, c.blue, c.code);
    text.append(text.empty() ? "" : ",").append(entry);
  }
  return text;
}

std::span<const NamedPalette> named_palettes() { return kPalettes; }

Palette parse_palette(std::string_view text) {
  Palette palette;
  for (bool ends = false; !ends;) {
    const std::size_t comma = text.find(',');
    ends = comma == text.npos;
    const std::string_view entry = trimmed(text.substr(0, comma));
    if (!ends) text.remove_prefix(comma + 1);
    if (palette.count == kMostColours) refuse("a palette has at most " + std::to_string(kMostColours) + " colours");
    const PaletteColour added = parse_colour(entry, palette.count);
    require_distinct(palette, added, entry);
    palette.colour[static_cast<std::size_t>(palette.count++)] = added;
  }
  if (palette.count < 2) refuse("a palette has at least 2 colours");
  return palette;
}

}  // namespace framequality::halftone
