// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the denoisers' kernels, around the recorded functions of weight.h.
//
// Pixels equal those of the host twin, so every float is computed by the operations of weight.h in their order, and
// nothing is contracted. Distances are integers, and exact in their type: floats up to 2^24, 32 bits, or 64. OpenCL
// C 1.2, limited to features that every device has.
#include "opencl/denoise/source.h"

#include "opencl/denoise/text.h"

#include <array>
#include <string>

namespace framequality::opencl {
namespace {

using text::Bytes;
using Int = text::Expression<text::Signed>;
using Uint = text::Expression<text::Unsigned>;
using Float = text::Expression<text::Real>;

/// The largest possible distance.
double most_of(const DenoiseText& t) {
  const double side = 2 * t.patch + 1, largest = (1 << t.depth) - 1;
  return t.planes * side * side * largest * largest;
}
/// weight_of(), for the parts that the weights have, and for kSamples rough_exponent().
std::string weight_text(const DenoiseShape& s, const DenoiseText& t) {
  struct Weights {
    Float scale, floor;
  };
  const std::array<const char*, 4> names = {"distance", "scale", "least", "spatial"};
  std::string all = text::function_text<Float, Float, Float, Float>(
      "weight_of", names, [&](Float distance, Float scale, Float least, Float away) {
        const Float x = t.has_floor ? denoise::unclamped_exponent(Weights{scale, least}, distance, away)
                                    : denoise::unclamped_plain_exponent(scale, distance, away, t.has_spatial);
        return lifts_weights(s) ? denoise::lifted_exp2_minus(saturated(x)) : denoise::exp2_minus(denoise::clamped(x));
      });
  if (s.together == Together::kSamples)
    all += text::function_text<Float, Float, Float, Float>(
        "rough_exponent", names, [&](Float distance, Float scale, Float least, Float away) {
          return denoise::rough_exponent(Weights{scale, least}, distance, away, t.has_floor);
        });
  return all;
}

/// Division rounded to nearest, whatever the device's is: corrected twice by the remainder, which is rounded once.
constexpr char kExactDivision[] = R"(
static F divided(const F a, const F b) {
  const F inverse = 1.0f / b;
  F q = a * inverse;
  q = fma(fma(-q, b, a), inverse, q);
  return fma(fma(-q, b, a), inverse, q);
}
)";

/// A number whose quotient is a call of divided().
std::string code_text(const DenoiseText& t) {
  std::string all = text::function_text<Float, Float>(
      "mean_of", {"values", "weights"},
      [&](Float values, Float weights) { return denoise::mean_of(values, weights, t.depth); });
  if (!t.divides_exactly) {
    const std::string quotient = "values / weights";
    all.replace(all.find(quotient), quotient.size(), "divided(values, weights)");
    all = kExactDivision + all;
  }
  return all +
         text::function_text<Float>("code_of", {"mean"}, [&](Float mean) { return denoise::code_of(mean, t.depth); });
}

PictureLayout layout_of(const DenoiseText& t) {
  PictureLayout l;
  l.depth = static_cast<std::uint8_t>(t.depth);
  l.word_bytes = static_cast<std::uint8_t>(t.word_bytes);
  l.shift = static_cast<std::uint8_t>(t.shift);
  l.big_endian = t.big_endian;
  return l;
}

/// put_sample(): writes one sample.
std::string put_text(const DenoiseText& t) {
  const PictureLayout layout = layout_of(t);
  std::string all, body;
  for (int i = 0; i < t.word_bytes; ++i) {
    const std::string name = "sample_byte" + str(i);
    all += text::function_text<Uint>(name, {"code"}, [&](Uint code) { return generic::sample_byte(layout, code, i); });
    body += "  to[" + str(i) + "] = (uchar)" + name + "(code);\n";
  }
  return all + "static void put_sample(__global uchar* to, const uint code) {\n" + body + "}\n";
}

std::string frames_text() {
  return joined(kMostFrames, ", ", [](int i) { return "const __global CELL* frame" + str(i); });
}
}  // namespace

bool has_exact_floats(const DenoiseText& t) { return most_of(t) < 0x1p24; }
std::string distance_type(const DenoiseText& t) {
  return has_exact_floats(t) ? "float" : most_of(t) < 0x1p32 ? "uint" : "ulong";
}

std::string head_text(const DenoiseShape& s, const DenoiseText& t) {
  const bool is_exact = has_exact_floats(t), is_centred = has_float_cells(s, t);
  const std::string n = s.lanes == 1 ? "" : str(s.lanes);
  const int run = s.together == Together::kWeights ? SumsTile(s, t).run : s.run;
  std::string all = "#pragma OPENCL FP_CONTRACT OFF\n";
  all += "typedef float" + n + " F;\ntypedef int" + n + " I;\ntypedef " + std::string(is_exact ? "float" : "int") + n +
         " N;\ntypedef " + distance_type(t) + n + " D;\n";
  all += define("CELL", is_centred ? "float" : "ushort");
  all += define("BITS(v)", "as_int" + n + "(v)") + define("REAL(v)", "as_float" + n + "(v)");
  all += define("MIDDLE", 1 << (t.depth - 1)) + define("PLANES", t.planes) + define("PATCH", t.patch) +
         define("RUN", run) + define("SUMS", run + 2 * t.patch) + define("LANES", s.lanes) + define("SHIFT", t.shift) +
         define("TAKES_LARGEST", t.takes_largest);
  all += define("FLOAT(d)", distance_type(t) == "float" ? "(d)" : "convert_float" + n + "(d)");
  if (is_exact) {
    // A fused sum rounds once, here not at all. NVIDIA's compiler does not report it as fast.
    all +=
        "#if defined(FP_FAST_FMAF) || defined(__NV_CL_C_VERSION)\n#define SQUARE_ADDED(e, sum) fma(e, e, sum)\n"
        "#define SQUARE_TAKEN(e, sum) fma(-(e), e, sum)\n#else\n#define SQUARE_ADDED(e, sum) ((e) * (e) + (sum))\n"
        "#define SQUARE_TAKEN(e, sum) ((sum) - (e) * (e))\n#endif\n";
  } else if (distance_type(t) == "uint") {
    all += define("SQUARE_ADDED(e, sum)", "(as_uint" + n + "(e) * as_uint" + n + "(e) + (sum))") +
           define("SQUARE_TAKEN(e, sum)", "((sum) - as_uint" + n + "(e) * as_uint" + n + "(e))");
  } else {
    // The square of a difference of 16-bit samples takes 32 unsigned bits.
    all +=
        define("SQUARE_ADDED(e, sum)", "(convert_ulong" + n + "(as_uint" + n + "(e) * as_uint" + n + "(e)) + (sum))") +
        define("SQUARE_TAKEN(e, sum)", "((sum) - convert_ulong" + n + "(as_uint" + n + "(e) * as_uint" + n + "(e)))");
  }
  all +=
      "#if defined(FP_FAST_FMAF) || defined(__NV_CL_C_VERSION)\n#define PRODUCT_ADDED(a, b, c) fma(a, b, c)\n"
      "#else\n#define PRODUCT_ADDED(a, b, c) ((a) * (b) + (c))\n#endif\n";
  const float one = lifts_weights(s) ? denoise::kLift : 1;
  all += define("UNIT", text::Real::constant(lifts_weights(s) ? 1 / denoise::kExponents : 1)) +
         define("ONE", text::Real::constant(one)) +
         define("LEAST_CENTER", text::Real::constant(one * denoise::kLeastCenter));
  all += weight_text(s, t) + code_text(t) + put_text(t);
  all += define("ADD_WEIGHT(w, weight, largest)",
                t.takes_largest ? "weight += w; largest = w > largest ? w : largest" : "weight += w");
  return all;
}

std::string frame_text() {
  return joined(kMostFrames - 1, "", [](int i) { return "turn == " + str(i) + " ? frame" + str(i) + " : "; }) +
         "frame" + str(kMostFrames - 1);
}

std::string signature_text() {
  return "void filter(" + frames_text() +
         ",\n            const int others, const long at0, const long at1, const long at2, const int pitch, const int "
         "search,\n            const float scale_1, const float least_1, const float spatial_1, __global uchar* out, "
         "const "
         "long origin0,\n            const long origin1, const long origin2, const long pitch0, const long pitch1, "
         "const "
         "long pitch2,\n            const int stride0, const int stride1, const int stride2, const int width, const "
         "int "
         "height) {\n  const long at[3] = {at0, at1, at2}, origins[3] = {origin0, origin1, origin2};\n"
         "  const long pitches[3] = {pitch0, pitch1, pitch2};\n  const int strides[3] = {stride0, stride1, stride2};\n"
         "  // Numbers of their own: with operands in a parameter's place NVIDIA's compiler makes slower loops.\n"
         "  const float scale = scale_1 * UNIT, least = least_1 * UNIT, spatial = spatial_1 * UNIT;\n";
}

bool has_float_cells(const DenoiseShape& shape, const DenoiseText& text) {
  return shape.together == Together::kNothing && shape.lanes > 1 && has_exact_floats(text);
}

int denoise_columns(const DenoiseShape& s, int patch) {
  if (s.together == Together::kWeights) return s.columns;
  if (s.together == Together::kSamples) return s.across * kQuad;
  if (s.together == Together::kNothing) return s.across * s.lanes;
  return (s.across - 2 * patch) / kSegment * kSegment;
}
int denoise_rows(const DenoiseShape& s) { return s.together == Together::kWeights ? s.rows : s.down * s.run; }
int denoise_reach(const DenoiseShape& s, int patch, int search) {
  return s.together == Together::kSamples ? kQuad : patch + search;
}

std::size_t denoise_local_bytes(const DenoiseShape& s, const DenoiseText& t) {
  if (s.together == Together::kNothing) return 0;
  if (s.together == Together::kSamples) {
    const int width = denoise_columns(s, t.patch), height = denoise_rows(s), side = 2 * t.search + 1;
    return 4 * static_cast<std::size_t>((width + 2 * kQuad) * (height + 2 * (1 + t.search)) +
                                        2 * kBatch * side * side) +
           2 * static_cast<std::size_t>(width * height) + 64;
  }
  const SumsTile tile(s, t);
  const auto size = [](int a, int b, int c) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
  };
  return size(t.planes, tile.rows, tile.pitch) * (s.holds_floats && has_exact_floats(t) ? 4 : 2) +
         size(s.together == Together::kWeights ? 1 : 2, tile.sum_rows(), tile.sum_pitch) *
             (distance_type(t) == "ulong" ? 8 : 4) +
         size(1, tile.weight_cells(t.search), 4) + 64;
}

std::string filter_text(const DenoiseShape& shape, const DenoiseText& text) {
  if (shape.together == Together::kNothing) return lone_text(shape, text);
  return shape.together == Together::kSamples ? samples_text(shape, text) : sums_text(shape, text);
}

std::string planes_text(const PictureLayout& layout, denoise::Border border, bool has_float_cells) {
  std::string all = text::function_text<Int, Int>("bordered", {"i", "n"},
                                                  [&](Int i, Int n) { return denoise::bordered(i, n, border); });
  all += text::function_text<Bytes>("read_sample", {"p"}, [&](Bytes p) { return generic::read_sample(layout, p); });
  all += text::function_text<Int, Int, Int, Int, Int, Int, Int, Int, Int>(
      "noise_residual", {"a", "b", "c", "d", "e", "f", "g", "h", "i"},
      [](Int a, Int b, Int c, Int d, Int e, Int f, Int g, Int h, Int i) {
        return denoise::noise_residual(a, b, c, d, e, f, g, h, i);
      });
  all +=
      define("MIDDLE", 1 << (layout.depth - 1)) + define("LARGEST", layout.largest()) + define("FILL_ROWS", kFillRows);
  all += has_float_cells ? define("CELL", "float") + define("TO_CELL(code)", "(float)((int)(code) - MIDDLE)") +
                               define("CODE(cell)", "((int)(cell) + MIDDLE)")
                         : define("CELL", "ushort") + define("TO_CELL(code)", "(ushort)(code)") +
                               define("CODE(cell)", "((int)(cell))");
  return all + R"(
static int place_of(const int i, const int n) { return (uint)i < (uint)n ? i : bordered(i, n); }

// An item has a few rows of a column.
__kernel void fill(const __global uchar* in, const long origin, const long pitch, const int stride, const int width,
                   const int height, __global CELL* cells, const long at, const int columns, const int rows,
                   const int reach) {
  const int x = (int)get_global_id(0), top = FILL_ROWS * (int)get_global_id(1);
  if (x >= columns) return;
  const __global uchar* column = in + origin + (long)place_of(x - reach, width) * stride;
#pragma unroll
  for (int r = 0; r < FILL_ROWS; ++r) {
    const int y = top + r;
    if (y < rows) cells[at + (long)y * columns + x] = TO_CELL(read_sample(column + place_of(y - reach, height) * pitch));
  }
}

// Sixteen bytes of an item.
__kernel void copy(const __global uchar* in, const long origin, const long pitch, __global uchar* out,
                   const long out_origin, const long out_pitch, const int bytes, const int rows) {
  const int x = 16 * (int)get_global_id(0), y = (int)get_global_id(1);
  if (x >= bytes || y >= rows) return;
  *(__global uint4*)(out + out_origin + y * out_pitch + x) = *(const __global uint4*)(in + origin + y * pitch + x);
}

// An item has a column of a row of blocks.
__kernel void noise(const __global CELL* cells, const long at, const int columns, const int reach,
                    const int blocks_across, const int block_width, const int block_height,
                    volatile __global uint* sums, const int first) {
  const int x = (int)get_global_id(0), block_row = (int)get_global_id(1);
  if (x >= blocks_across * block_width) return;
  const __global CELL* p = cells + at + (long)(reach + block_row * block_height) * columns + reach + x;
  uint fine = 0, coarse = 0, clipped = 0;
  for (int y = 0; y < block_height; ++y, p += columns) {
#define AT(row, column) CODE(p[(row) * columns + (column)])
    const int own = AT(2, 2);
    const int near = noise_residual(AT(1, 1), AT(1, 2), AT(1, 3), AT(2, 1), own, AT(2, 3), AT(3, 1), AT(3, 2), AT(3, 3));
    const int far = noise_residual(AT(0, 0), AT(0, 2), AT(0, 4), AT(2, 0), own, AT(2, 4), AT(4, 0), AT(4, 2), AT(4, 4));
    fine += abs(near);
    coarse += abs(far);
    clipped += own == 0 || own == LARGEST;
  }
  volatile __global uint* of_block = sums + 3 * (first + block_row * blocks_across + x / block_width);
  atomic_add(of_block, fine);
  atomic_add(of_block + 1, coarse);
  atomic_add(of_block + 2, clipped);
}
)";
}

}  // namespace framequality::opencl
