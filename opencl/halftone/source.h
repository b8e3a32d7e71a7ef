// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the halftoning kernels. No OpenCL headers: it can be printed where there is no device.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/picture.h"

#include <cstddef>
#include <string>

namespace framequality::opencl {

/// Adjacent pixels per work item: those of a byte, if pixels are bits.
inline constexpr int kHalftoneBlock = 8;

/// Kernels that read frames of a layout. tones: of all pixel values.
///   tones(frame, origin0, origin1, origin2, pitch0, pitch1, pitch2, tones, fields, plane, plane_pitch, field_step,
///         width, height): the tones of field f, from number f * field_step of `plane` on, rows plane_pitch apart;
///         whole
///     blocks
///   blue_noise(frame, origin0, origin1, origin2, pitch0, pitch1, pitch2, tones, fields, mask, strength, packed, out,
///              out_origin, out_pitch, width, height)
std::string pixels_text(const PixelLayout& layout, int levels);

/// Kernel for palettes. pixel_bits: as halftone::pixel_bits(). table: halftone::make_device_table(). mixed: halves of
/// Mixtures by node.
///   blue_noise(frame, origin0, origin1, origin2, pitch0, pitch1, pitch2, table, fields, mask, mixed, strength, out,
///              out_origin, out_pitch, width, height)
std::string colour_text(const PictureLayout& layout, int pixel_bits);

/// Local memory for each work item of a group of floyd_steinberg().
inline constexpr std::size_t kDiffusionBytes = std::size_t{4} * kHalftoneBlock * 2;

/// Kernel floyd_steinberg(plane, plane_pitch, field_step, strength, span, packed, lines, line_step, out, out_origin,
/// out_pitch, fields, width, height, ring): a group for each field. span: steps after which an item begins its next
/// row. lines: from number f * line_step on, whole blocks of a row. weakens: strength is less than kFullStrength.
std::string diffusion_text(int levels, bool weakens);

}  // namespace framequality::opencl
