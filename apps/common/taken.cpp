// SPDX-License-Identifier: LGPL-2.1-or-later
// Time and camera of a photograph, from its EXIF block.
#include "apps/common/taken.h"

#include <glib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace framequality::apps {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint16_t kText = 2;             // type of an entry: ASCII
constexpr std::size_t kMostEntries = 1000;     // of a directory; real ones have some 60
constexpr std::size_t kLongestText = 1 << 10;  // bytes

enum Tag : std::uint16_t {
  kMaker = 0x010f,
  kModel = 0x0110,
  kChanged = 0x0132,
  kExif = 0x8769,  // a directory
  kTaken = 0x9003,
  kDigitized = 0x9004,
  kSerial = 0xa431,
};
// Dates, and their fractions of a second; the best first.
constexpr std::array<std::array<std::uint16_t, 2>, 3> kDates{
    {{kTaken, 0x9291}, {kDigitized, 0x9292}, {kChanged, 0x9290}}};

/// Numbers and directories of a TIFF file. Nothing is read past its end.
class Tiff {
 public:
  explicit Tiff(std::string_view bytes) : bytes_(bytes), big_(bytes.starts_with("MM")) {
    if (bytes.starts_with("MM") || bytes.starts_with("II")) read_directory(number(4, 4));
    if (const auto exif = pointers_.find(kExif); exif != pointers_.end()) read_directory(exif->second);
  }
  /// Empty if there is none.
  std::string text(std::uint16_t tag) const {
    const auto at = texts_.find(tag);
    return at == texts_.end() ? "" : at->second;
  }

 private:
  std::size_t number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return 0;
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<unsigned char>(bytes_[at + (big_ ? i : size - 1 - i)]);
    return value;
  }

  void read_directory(std::size_t at) {
    const std::size_t entries = std::min(number(at, 2), kMostEntries);
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t entry = at + 2 + 12 * i, count = number(entry + 4, 4);
      const auto tag = static_cast<std::uint16_t>(number(entry, 2));
      if (number(entry + 2, 2) == kText && count <= kLongestText) {
        const std::size_t from = count <= 4 ? entry + 8 : number(entry + 8, 4);
        if (from > bytes_.size() || count > bytes_.size() - from) continue;
        std::string_view text = bytes_.substr(from, count);
        text = text.substr(0, text.find('\0'));
        while (text.ends_with(' ')) text.remove_suffix(1);
        texts_.emplace(tag, text);
      } else {
        pointers_.emplace(tag, number(entry + 8, 4));
      }
    }
  }

  const std::string_view bytes_;
  const bool big_;
  std::map<std::uint16_t, std::string> texts_;
  std::map<std::uint16_t, std::size_t> pointers_;
};

/// "2024:05:06 07:08:09", some with other separators; ns since 1970. None if it is not a valid time.
std::optional<std::uint64_t> time_of(const std::string& date) {
  std::array<int, 6> parts{};
  auto& [year, month, day, hour, minute, second] = parts;
  if (std::sscanf(date.c_str(), "%4d%*1[:-/]%2d%*1[:-/]%2d%*1[ T]%2d:%2d:%2d", &year, &month, &day, &hour, &minute,
                  &second) != 6)
    return std::nullopt;
  GDateTime* time = g_date_time_new_utc(year, month, day, hour, minute, second);
  if (!time) return std::nullopt;
  const gint64 seconds = g_date_time_to_unix(time);
  g_date_time_unref(time);
  // A clock that was never set shows 1970-01-01.
  if (seconds < gint64{24} * 60 * 60) return std::nullopt;
  return static_cast<std::uint64_t>(seconds) * kSecond;
}

/// ns of the digits after the decimal point: "05" is 50 ms.
std::uint64_t part_of_second(const std::string& digits) {
  std::uint64_t part = 0, unit = kSecond;
  for (const char c : digits) {
    if (!g_ascii_isdigit(c) || unit == 1) break;
    unit /= 10;
    part += unit * static_cast<std::uint64_t>(c - '0');
  }
  return part;
}

}  // namespace

Taken taken_of(std::string_view exif, std::uint64_t latest) {
  const Tiff tiff(exif);
  Taken taken;
  taken.camera = tiff.text(kMaker) + '/' + tiff.text(kModel) + '/' + tiff.text(kSerial);
  taken.fault = "no EXIF time";
  for (const auto& [date, part] : kDates) {
    const std::string text = tiff.text(date);
    if (text.empty()) continue;
    const auto time = time_of(text);
    if (!time) {
      taken.fault = "an EXIF time of zero, or none that there is";
    } else if (*time > latest) {
      taken.fault = "an EXIF time in the future";
    } else {
      taken.time = *time + part_of_second(tiff.text(part));
      taken.fault.clear();
      return taken;
    }
  }
  return taken;
}

Taken taken_of(std::string_view exif) {
  constexpr std::uint64_t kDay = std::uint64_t{24} * 60 * 60 * kSecond;
  return taken_of(exif, static_cast<std::uint64_t>(g_get_real_time()) * 1000 + kDay);
}

}  // namespace framequality::apps
