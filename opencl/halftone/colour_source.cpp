// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the kernel that halftones to palettes, around what the method's own functions write down.
#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/colour.h"
#include "algorithms/halftone/colour_codes.h"
#include "algorithms/text/recorder.h"
#include "opencl/halftone/source.h"
#include "opencl/words.h"

namespace framequality::opencl {
namespace {

using text::Bytes;
using Int = text::Expression<text::Signed>;
using Uint = text::Expression<text::Unsigned>;

/// row#() and code#() of each component: the row that a frame's row y looks for it in, and pixel x's code there.
std::string samples_text(const PictureLayout& l) {
  std::string all;
  for (int c = 0; c < l.components; ++c) {
    const PictureLayout::Component& at = l.component[c];
    all += text::function_text<Int, Int, Int>(
        "row" + str(c), {"y", "height", "fields"},
        [&](Int y, Int height, Int fields) { return halftone::component_row(y, height, fields, at.y_shift); });
    all += text::function_text<Bytes, Int>("code" + str(c), {"row", "x"}, [&](Bytes row, Int x) {
      return halftone::colour_code(l, row + int{at.offset} + (x >> int{at.x_shift}) * int{at.pixel_stride});
    });
  }
  return all;
}

/// get_tones(): of one pixel. codes: the device's table without its output words.
std::string tones_text(const PictureLayout& l) {
  std::string body;
  if (halftone::is_yuv(l))
    body = R"(  const int luma = codes[code0(row[0], x)];
  const __global int* u = codes + CODES + 2 * code1(row[1], x);
  const __global int* v = codes + 3 * CODES + 2 * code2(row[2], x);
  const __global int* light = codes + 5 * CODES;
  tone[0] = light[tone_of_parts(luma + v[1])];
  tone[1] = light[tone_of_parts(luma + u[0] + v[0])];
  tone[2] = light[tone_of_parts(luma + u[1])];
)";
  else if (l.components == 1)
    body = "  tone[0] = tone[1] = tone[2] = codes[code0(row[0], x)];\n";
  else
    body = joined(
        3, "", [](int c) { return "  tone[" + str(c) + "] = codes[code" + str(c) + "(row[" + str(c) + "], x)];\n"; });
  return define("CODES", 1 << halftone::code_depth(l)) +
         text::function_text<Int>("tone_of_parts", {"sum"}, [](Int sum) { return halftone::tone_of_parts(sum); }) +
         "static void get_tones(const __global uchar** row, const __global int* codes, const int x, int* tone) {\n" +
         body + "}\n";
}

/// put(): writes a block's output words. Rows have room for whole blocks, but for those of three bytes a pixel.
std::string put_text(int pixel_bits) {
  std::string body;
  if (pixel_bits == 32)
    body = "  *(__global uint8*)(to + 4 * x) = (uint8)(" +
           joined(8, ", ", [](int i) { return "word[" + str(i) + "]"; }) + ");\n";
  else if (pixel_bits == 24)
    body = R"(  to += 3 * x;
  if (x + 8 > width) {
    for (int i = 0; x + i < width; ++i)
      to[3 * i] = (uchar)word[i], to[3 * i + 1] = (uchar)(word[i] >> 8), to[3 * i + 2] = (uchar)(word[i] >> 16);
    return;
  }
  uint packed[6];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint* w = word + 4 * i;
    packed[3 * i] = (w[0] & 0xffffffu) | w[1] << 24;
    packed[3 * i + 1] = (w[1] >> 8 & 0xffffu) | w[2] << 16;
    packed[3 * i + 2] = (w[2] >> 16 & 0xffu) | w[3] << 8;
  }
#pragma unroll
  for (int i = 0; i < 3; ++i) *(__global uint2*)(to + 8 * i) = (uint2)(packed[2 * i], packed[2 * i + 1]);
)";
  else  // word: a code in its lowest bits
    body = define("BITS", pixel_bits) + R"(  to += x * BITS / 8;
#pragma unroll
  for (int byte = 0; byte < BITS; ++byte) {
    uint all = 0;
#pragma unroll
    for (int i = 0; i < 8 / BITS; ++i) all = all << BITS | word[byte * (8 / BITS) + i];
    to[byte] = (uchar)all;
  }
)";
  return "static void put(__global uchar* to, const int x, const int width, const uint* word) {\n" + body + "}\n";
}

std::string method_text() {
  using halftone::mixed_colour, halftone::node_of, halftone::rounding_of, halftone::threshold_of;
  std::string all = define("MASK_SIDE", halftone::kMaskSide) + define("COLOURS", halftone::kMostColours);
  all += text::function_text<Int, Int>("threshold_of", {"rank", "strength"},
                                       [](Int rank, Int strength) { return threshold_of(rank, strength); });
  all += text::function_text<Int, Int>("rounding_of", {"rank", "strength"},
                                       [](Int rank, Int strength) { return rounding_of(rank, strength); });
  all += text::function_text<Int, Int, Int>("node_of", {"red", "green", "blue"},
                                            [](Int red, Int green, Int blue) { return node_of(red, green, blue); });
  all += text::function_text<Uint, Uint, Uint>(
      "mixed_colour", {"low", "high", "threshold"},
      [](Uint low, Uint high, Uint threshold) { return mixed_colour(low, high, threshold); });
  return all;
}

}  // namespace

std::string colour_text(const PictureLayout& layout, int pixel_bits) {
  const std::string rows = joined(layout.components, "\n", [&](int c) {
    const std::string plane = str(layout.component[c].plane);
    return "  row[" + str(c) + "] = frame + origin" + plane + " + (long)row" + str(c) + "(y, height, fields) * pitch" +
           plane + ";";
  });
  return samples_text(layout) + tones_text(layout) + method_text() + put_text(pixel_bits) + R"(
// Each field has the mask from its own row 0 on.
__kernel void blue_noise(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                         const long pitch0, const long pitch1, const long pitch2, const __global int* table,
                         const int fields, const __global ushort* mask, const __global uint2* mixed,
                         const int strength, __global uchar* out, const long out_origin, const long out_pitch,
                         const int width, const int height) {
  const int x = (int)get_global_id(0) * 8, y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const int masked = y / fields;
  const __global ushort* ranks = mask + masked % MASK_SIDE * MASK_SIDE + x % MASK_SIDE;
  const __global ushort* away =
      mask + (masked + MASK_SIDE / 2) % MASK_SIDE * MASK_SIDE + (x + MASK_SIDE / 2) % MASK_SIDE;
  const __global uchar* row[3];
)" + rows +
         R"(
  uint word[8];
  for (int i = 0; i < 8; ++i) {
    word[i] = 0;
    if (x + i >= width) continue;
    int tone[3];
    get_tones(row, table + COLOURS, x + i, tone);
    const int rounding = rounding_of((int)away[i], strength);
    const uint2 mixture = mixed[node_of(tone[0] + rounding, tone[1] + rounding, tone[2] + rounding)];
    const uint threshold = (uint)threshold_of((int)ranks[i], strength);
    word[i] = (uint)table[mixed_colour(mixture.x, mixture.y, threshold)];
  }
  put(out + out_origin + (long)y * out_pitch, x, width, word);
}
)";
}

}  // namespace framequality::opencl
