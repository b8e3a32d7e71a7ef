// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/sharpness/route.h"

#include "algorithms/sharpness/metrics/all.h"

#include <bit>

namespace framequality::cpu {

using namespace sharpness;

namespace {

/// Bits that values have in addition to those of luma.
int scale_bits(const SampleFormat& s) { return s.downscale == 4 ? 4 : s.downscale == 2 ? 2 : 0; }

/// True if luma is the frame's bytes or words, except for unused bits.
bool is_bare(const PixelLayout& l, int code_bytes) {
  return l.kind == PixelLayout::Kind::kLuma && l.offset[0] == 0 && l.pixel_stride == l.word_bytes &&
         l.word_bytes == code_bytes && !l.big_endian;
}

/// Where codes lie in the frame's words, where these are read as they stand.
WordFormat words_of(const PixelLayout& l) {
  if (l.word_bytes == 1) return l.offset[0] ? WordFormat{0xff00, 8} : WordFormat{0xff, 0, true};
  return {static_cast<std::uint16_t>(((1 << l.depth) - 1) << l.shift), l.shift};
}

/// True if samples are codes that are the low or the high bits of words.
bool has_parts(const Plan& plan, const Route& r) {
  const PixelLayout& l = plan.geometry.layout;
  const bool is_word =
      l.word_bytes == 2 && l.offset[0] == 0 && !l.big_endian && (l.shift == 0 || l.shift + l.depth == 16);
  return std::endian::native == std::endian::little && l.kind == PixelLayout::Kind::kLuma && !l.is_plain() &&
         l.pixel_stride == 2 && (is_word || l.word_bytes == 1) && plan.samples.is_identity() && r.lane != Lane::kInt;
}

Lane lane_of(const Plan& plan, const Route& r) {
  if (plan.samples.radius > 0 && r.value_bytes == 1) return Lane::kSplit;
  if (r.sample_bytes == 1) return Lane::kByte;
  return with_metric(plan.request.metric,
                     [&](auto m) { return word_lane<decltype(m)>(static_cast<int>(plan.samples.largest())); });
}

/// True if there are kernels that prefilter while measuring, and they are faster.
bool has_kernels(const Plan& plan, const Route& r, const SharpnessKernels& kernels) {
  const auto lane = static_cast<int>(r.lane);
  return r.value_bytes <= 2 && kernels.measure_prefiltered[plan.request.metric][lane] != nullptr &&
         (!plan.request.mean || kernels.mean_prefiltered[lane] != nullptr);
}

SamplePath path_of(const Plan& plan, const Route& r, const SharpnessKernels& kernels) {
  const SampleFormat& samples = plan.samples;
  if (samples.radius > 0) return has_kernels(plan, r, kernels) ? SamplePath::kAsMeasured : SamplePath::kPrefiltered;
  if (samples.downscale > 1) return SamplePath::kRounded;
  const bool in_place = plan.geometry.layout.is_plain() || has_parts(plan, r);
  return in_place && plan.geometry.width >= kSlack ? SamplePath::kInPlace : SamplePath::kCodes;
}

/// Index in SharpnessKernels::prefilter[] for values of this width whose sums fit.
int prefilter_kernel(const SampleFormat& s, int value_bytes) {
  if (value_bytes == 4) return 3;
  if (value_bytes == 1) return 0;
  return s.bits() + s.shift <= 16 ? 1 : 2;
}

/// Words are read as stored, with unused bits.
PrefilterFormat prefilter_format(const SampleFormat& s, const PixelLayout& layout, bool reads_frame) {
  const int below = reads_frame ? layout.shift : 0, bits = reads_frame ? layout.depth : 16;
  return {s.radius, s.shift + below, s.shift ? 1 << (s.shift - 1 + below) : 0,
          static_cast<std::uint16_t>(((1 << bits) - 1) << below)};
}

}  // namespace

Route route(const Plan& plan, const SharpnessKernels& kernels) {
  const PixelLayout& layout = plan.geometry.layout;
  const SampleFormat& samples = plan.samples;
  Route r;
  r.code_bytes = layout.depth == 8 ? 1 : 2;
  r.value_bytes = samples.downscale == 1 ? r.code_bytes : layout.depth + scale_bits(samples) <= 16 ? 2 : 4;
  r.sample_bytes = samples.is_identity() ? r.code_bytes : 2;
  r.lane = lane_of(plan, r);
  r.path = path_of(plan, r, kernels);
  if (r.path == SamplePath::kInPlace && !layout.is_plain()) {
    r.words = words_of(layout);
    r.lane = r.words.shift ? Lane::kHigh : Lane::kLow;
    r.sample_bytes = 2;
  }
  r.reads_frame = r.path == SamplePath::kInPlace || (samples.downscale == 1 && is_bare(layout, r.code_bytes) &&
                                                     (r.path == SamplePath::kAsMeasured || r.is_split()));
  r.exposes = r.path == SamplePath::kInPlace && layout.is_plain() && plan.request.measures_statistics() &&
              plan.request.mask.empty();
  r.prefilter_kernel = prefilter_kernel(samples, r.value_bytes);
  r.prefilter = prefilter_format(samples, layout, r.reads_frame);
  return r;
}

std::string to_string(const Route& route) {
  constexpr const char* kPaths[] = {"in place", "codes", "rounded", "prefiltered", "as measured"};
  constexpr const char* kLaneNames[] = {"bytes", "shorts", "ints", "split", "low bits", "high bits"};
  return std::string("samples ") + kPaths[static_cast<int>(route.path)] + ", values " +
         (route.reads_frame ? "in place" : "made") + ", lanes " + kLaneNames[static_cast<int>(route.lane)];
}

}  // namespace framequality::cpu
