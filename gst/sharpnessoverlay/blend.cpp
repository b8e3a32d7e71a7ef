// SPDX-License-Identifier: LGPL-2.1-or-later
// Blends an overlay composition into a frame.
#include "gst/sharpnessoverlay/blend.h"

#include "gst/buffer/frame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

namespace framequality::overlay {

namespace {

/// Scaling of weights and their sums for samples of this type. Sums for bytes stay within 16 bits, so that eight
/// of them fit into a vector of any machine.
template <class Word>
struct Fixed {
  using Sum = std::conditional_t<sizeof(Word) == 1, std::uint16_t, std::uint32_t>;
  static constexpr int kShift = sizeof(Word) == 1 ? 8 : 12;
};

/// Shares of premultiplied R, G, B and alpha of 0...255 in a component, in its units, by the frame's colorimetry.
std::array<double, 4> weights_of(const GstVideoInfo& info, guint component) {
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gst_video_color_range_offsets(info.colorimetry.range, info.finfo, offset, scale);
  const double zero = offset[component] / 255.0, unit = scale[component] / 255.0;
  if (component == GST_VIDEO_COMP_A) return {0, 0, 0, ((1 << info.finfo->depth[component]) - 1) / 255.0};
  if (GST_VIDEO_INFO_IS_RGB(&info)) {
    std::array<double, 4> weights{0, 0, 0, zero};
    weights[component] = unit;
    return weights;
  }
  double kr = 0, kb = 0;
  if (!gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb(GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  const double kg = 1 - kr - kb;
  switch (component) {
    case GST_VIDEO_COMP_Y:
      return {kr * unit, kg * unit, kb * unit, zero};
    case GST_VIDEO_COMP_U:
      return {-kr / 2 / (1 - kb) * unit, -kg / 2 / (1 - kb) * unit, unit / 2, zero};
    default:
      return {unit / 2, -kg / 2 / (1 - kr) * unit, -kb / 2 / (1 - kr) * unit, zero};
  }
}

/// The overlay's contribution to n samples.
template <class Word>
void weigh(const std::vector<std::uint16_t> (&row)[4], int n, const std::array<double, 4>& weights,
           std::uint16_t* __restrict to) {
  using Sum = typename Fixed<Word>::Sum;
  constexpr int kShift = Fixed<Word>::kShift;
  const auto fixed = [&](std::size_t k) { return std::ldexp(weights[k], kShift); };
  const auto rounded = [&](std::size_t k) { return static_cast<Sum>(std::lround(fixed(k))); };
  // The zero of chroma is rounded down: rounded up, the strongest blue would not fit into 16 bits.
  const Sum wr = rounded(0), wg = rounded(1), wb = rounded(2), wa = static_cast<Sum>(std::floor(fixed(3)));
  const std::uint16_t* __restrict r = row[0].data();
  const std::uint16_t* __restrict g = row[1].data();
  const std::uint16_t* __restrict b = row[2].data();
  const std::uint16_t* __restrict a = row[3].data();
  for (int i = 0; i < n; ++i) {
    const auto sum = static_cast<Sum>(r[i] * wr + g[i] * wg + b[i] * wb + a[i] * wa + (1 << (kShift - 1)));
    to[i] = static_cast<std::uint16_t>(sum >> kShift);
  }
}

/// A sample at any address: GstVideoMeta may put 16-bit words at odd ones.
template <class Word>
Word load(const std::uint8_t* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word>
void store(Word word, std::uint8_t* to) {
  std::memcpy(to, &word, sizeof word);
}

/// Adds `over` to n adjacent samples, which show through by alpha. Exact where alpha is 0.
template <class Word>
void blend_samples(const std::uint16_t* __restrict over, const std::uint16_t* __restrict a, int n, int depth, int shift,
                   std::uint8_t* __restrict to) {
  using Sum = typename Fixed<Word>::Sum;
  const auto most = static_cast<Sum>((1 << depth) - 1);
  for (int i = 0; i < n; ++i) {
    std::uint8_t* at = to + static_cast<std::size_t>(i) * sizeof(Word);
    Sum under = (Sum(load<Word>(at) >> shift) & most) * (255 - a[i]);
    if constexpr (sizeof(Word) == 1) {
      under = static_cast<Sum>(under + 128);
      under = static_cast<Sum>((under + (under >> 8)) >> 8);  // under / 255, rounded, in 16 bits
    } else {
      under = (under + 127) / 255;
    }
    store(static_cast<Word>(std::min(static_cast<Sum>(over[i] + under), most) << shift), at);
  }
}

/// Blends a row of n samples of one component. spare: room for 2 n; to: the first sample.
template <class Word>
void blend_row(const std::vector<std::uint16_t> (&row)[4], int n, const std::array<double, 4>& weights,
               const GstVideoFormatInfo& format, guint component, std::uint16_t* spare, std::uint8_t* to) {
  weigh<Word>(row, n, weights, spare);
  const std::ptrdiff_t step = format.pixel_stride[component];
  const auto depth = static_cast<int>(format.depth[component]), shift = static_cast<int>(format.shift[component]);
  if (step == sizeof(Word)) return blend_samples<Word>(spare, row[3].data(), n, depth, shift, to);
  // Made adjacent and stored back, so that compilers can vectorise.
  auto* together = reinterpret_cast<std::uint8_t*>(spare + n);
  const auto each = [&](auto&& move) {
    for (int i = 0; i < n; ++i) move(to + i * step, together + static_cast<std::size_t>(i) * sizeof(Word));
  };
  each([](const std::uint8_t* from, std::uint8_t* at) { store(load<Word>(from), at); });
  blend_samples<Word>(spare, row[3].data(), n, depth, shift, together);
  each([](std::uint8_t* at, const std::uint8_t* from) { store(load<Word>(from), at); });
}

/// Adds pixels to sums of their channels.
void add_pixels(const std::uint8_t* __restrict from, int n, std::uint16_t* __restrict r, std::uint16_t* __restrict g,
                std::uint16_t* __restrict b, std::uint16_t* __restrict a) {
  for (int x = 0; x < n; ++x) {
    std::uint32_t word;
    std::memcpy(&word, from + 4 * std::ptrdiff_t{x}, sizeof word);
    r[x] = static_cast<std::uint16_t>(r[x] + (word >> 16 & 255));
    g[x] = static_cast<std::uint16_t>(g[x] + (word >> 8 & 255));
    b[x] = static_cast<std::uint16_t>(b[x] + (word & 255));
    a[x] = static_cast<std::uint16_t>(a[x] + (word >> 24));
  }
}

/// Sums of 2^across neighbours, divided by 2^drop.
void add_groups(const std::uint16_t* __restrict from, int n, unsigned across, unsigned drop,
                std::uint16_t* __restrict to) {
  for (int i = 0; i < n; ++i) {
    unsigned sum = 1U << drop >> 1;
    for (int k = 0; k < 1 << across; ++k) sum += from[(i << across) + k];
    to[i] = static_cast<std::uint16_t>(sum >> drop);
  }
}

/// The same for pairs, in words that hold both.
void add_pairs(const std::uint16_t* __restrict from, int n, unsigned drop, std::uint16_t* __restrict to) {
  for (int i = 0; i < n; ++i) {
    std::uint32_t both;
    std::memcpy(&both, from + 2 * std::ptrdiff_t{i}, sizeof both);
    to[i] = static_cast<std::uint16_t>(((both & 0xffff) + (both >> 16) + (1U << drop >> 1)) >> drop);
  }
}

std::uint8_t* component_data(GstVideoFrame* frame, guint component) {
  const GstVideoFormatInfo& f = *frame->info.finfo;
  guint offset = f.poffset[component];
  // GStreamer 1.22 counts words, not bytes, in P010 and similar formats.
  if (f.depth[component] > 8 && offset % 2 != 0) offset *= 2;
  return static_cast<std::uint8_t*>(frame->data[f.plane[component]]) + offset;
}

/// True for formats that match their description, in whole bytes or 16-bit words in host order.
bool is_described(const GstVideoFormatInfo& f) {
  const std::string list = FQ_LUMA_FORMATS, name = std::string(" ") + f.name;
  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(&f) ||
      (list.find(name + ",") == std::string::npos && list.find(name + " ") == std::string::npos))
    return false;
  const bool little =
      f.flags & GST_VIDEO_FORMAT_FLAG_LE || (f.unpack_format == f.format && G_BYTE_ORDER == G_LITTLE_ENDIAN);
  return f.depth[0] <= 8 || little == (G_BYTE_ORDER == G_LITTLE_ENDIAN);
}

}  // namespace

/// Sets row_ to the averages of the overlay's pixels under `count` samples of row y from `pixels` on, which each cover
/// 2^across x 2^down pixels of the frame; outside the overlay is transparent.
void Blender::take_row(const Pixels& pixels, int y, Subsampling sub, int count) {
  const Box& place = pixels.place;
  for (auto& plane : row_) plane.assign(static_cast<std::size_t>(count) << sub.across, 0);
  const int lead = place.x & ((1 << sub.across) - 1);
  std::uint16_t *r = row_[0].data() + lead, *g = row_[1].data() + lead, *b = row_[2].data() + lead,
                *a = row_[3].data() + lead;
  const int first = std::max(y << sub.down, place.y), last = std::min((y + 1) << sub.down, place.y + place.height);
  for (int at = first; at < last; ++at)
    add_pixels(pixels.data + (at - place.y) * pixels.stride, place.width, r, g, b, a);
  spare_.resize(2 * static_cast<std::size_t>(count));
  const unsigned drop = sub.across + sub.down;
  if (drop == 0) return;
  for (std::size_t c = 0; c < 4; ++c) {
    if (sub.across == 1)
      add_pairs(row_[c].data(), count, drop, spare_.data());
    else
      add_groups(row_[c].data(), count, sub.across, drop, spare_.data());
    std::copy_n(spare_.data(), count, row_[c].data());
  }
}

void Blender::blend_pixels(const Pixels& pixels, GstVideoFrame* frame) {
  const Box& place = pixels.place;
  const GstVideoFormatInfo& f = *frame->info.finfo;
  unsigned done = 0;  // a bit for each component
  for (guint c = 0; c < f.n_components; ++c) {
    if (done >> c & 1) continue;
    const Subsampling sub{f.w_sub[c], f.h_sub[c]};
    const int x = place.x >> sub.across, count = ((place.x + place.width - 1) >> sub.across) - x + 1;
    const int last = (place.y + place.height - 1) >> sub.down;
    for (int y = place.y >> sub.down; y <= last; ++y) {
      take_row(pixels, y, sub, count);
      for (guint same = c; same < f.n_components; ++same) {
        if (f.w_sub[same] != sub.across || f.h_sub[same] != sub.down) continue;
        done |= 1U << same;
        auto* to = component_data(frame, same) + std::ptrdiff_t{y} * GST_VIDEO_FRAME_COMP_STRIDE(frame, same) +
                   std::ptrdiff_t{x} * f.pixel_stride[same];
        (f.depth[same] > 8 ? blend_row<std::uint16_t> : blend_row<std::uint8_t>)(row_, count, weights_[same], f, same,
                                                                                 spare_.data(), to);
      }
    }
  }
}

void Blender::blend_rectangle(GstVideoOverlayRectangle* rectangle, GstVideoFrame* frame) {
  gint left = 0, top = 0;
  guint width = 0, height = 0;
  gst_video_overlay_rectangle_get_render_rectangle(rectangle, &left, &top, &width, &height);
  GstBuffer* buffer =
      gst_video_overlay_rectangle_get_pixels_argb(rectangle, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  GstVideoInfo info;
  GstVideoFrame mapped;
  gst_video_info_set_format(&info, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, width, height);
  if (!buffer || !gst_video_frame_map(&mapped, &info, buffer, GST_MAP_READ)) return;
  const Box shown = common({left, top, GST_VIDEO_FRAME_WIDTH(&mapped), GST_VIDEO_FRAME_HEIGHT(&mapped)},
                           {0, 0, GST_VIDEO_FRAME_WIDTH(frame), GST_VIDEO_FRAME_HEIGHT(frame)});
  if (!shown.empty()) {
    const std::ptrdiff_t stride = GST_VIDEO_FRAME_PLANE_STRIDE(&mapped, 0);
    const auto* first = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&mapped, 0));
    blend_pixels(
        {first + (std::ptrdiff_t{shown.y} - top) * stride + 4 * (std::ptrdiff_t{shown.x} - left), stride, shown},
        frame);
  }
  gst_video_frame_unmap(&mapped);
}

bool Blender::blend(GstVideoOverlayComposition* composition, GstVideoFrame* frame) {
  const GstVideoFormatInfo& f = *frame->info.finfo;
  if (f.format != format_) {
    format_ = f.format;
    described_ = is_described(f);
  }
  // A palette would have to change for the whole image.
  if (GST_VIDEO_FORMAT_INFO_HAS_PALETTE(&f)) return false;
  if (!described_) return gst_video_overlay_composition_blend(composition, frame);
  for (guint c = 0; c < f.n_components; ++c) weights_[c] = weights_of(frame->info, c);
  for (guint i = 0; i < gst_video_overlay_composition_n_rectangles(composition); ++i)
    blend_rectangle(gst_video_overlay_composition_get_rectangle(composition, i), frame);
  return true;
}

}  // namespace framequality::overlay
