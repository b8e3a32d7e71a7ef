// SPDX-License-Identifier: LGPL-2.1-or-later
// Time and camera of a photograph, from its EXIF block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace framequality::apps {

struct Taken {
  std::optional<std::uint64_t> time;  ///< ns since 1970 on the camera's clock, with fractions of a second if present
  std::string camera;                 ///< maker, model and serial number; the same for photographs of one camera
  std::string fault;                  ///< why there is no time
};

/// `exif`: a TIFF header and what follows it, also a whole TIFF or raw file; it may be cut or damaged. A time that is
/// zero, impossible, or later than `latest` (ns since 1970) is none. Source: EXIF 2.32, tags 0x9003, 0x9004, 0x0132
/// and their parts of a second.
Taken taken_of(std::string_view exif, std::uint64_t latest);

/// The same with `latest` a day from now: clocks of cameras know no time zone.
Taken taken_of(std::string_view exif);

}  // namespace framequality::apps
