// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames that come to a pipeline's sink: when, and what the first one looks like.
#include "benchmarks/pipeline/arrivals.h"

#include <gst/video/video.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace framequality::bench {

using Seconds = std::chrono::duration<double>;

Arrivals::~Arrivals() {
  gst_clear_buffer(&first_);
  gst_clear_caps(&caps_);
}

void Arrivals::watch(GstElement* sink) {
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, arrive, this, nullptr);
  gst_object_unref(pad);
}

GstPadProbeReturn Arrivals::arrive(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
  auto* a = static_cast<Arrivals*>(self);
  a->at_.push_back(std::chrono::steady_clock::now());
  if (!a->first_) {
    a->first_ = gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info));
    a->caps_ = gst_pad_get_current_caps(pad);
  }
  return GST_PAD_PROBE_OK;
}

double Arrivals::seconds() const { return at_.empty() ? 0 : Seconds(at_.back() - at_.front()).count(); }

double Arrivals::rate(double warm_up) const {
  const auto begin =
      std::find_if(at_.begin(), at_.end(), [&](const auto& t) { return Seconds(t - at_.front()).count() >= warm_up; });
  if (at_.end() - begin < 2) throw std::runtime_error("too few frames: " + std::to_string(at_.size()));
  return static_cast<double>(at_.end() - begin - 1) / Seconds(at_.back() - *begin).count();
}

Arrivals::Picture Arrivals::first() const {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!caps_ || !gst_video_info_from_caps(&info, caps_)) throw std::runtime_error("no frame came");
  if (!gst_video_frame_map(&frame, &info, first_, GST_MAP_READ))
    throw std::runtime_error("cannot read the first frame");
  Picture picture{GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), {}};
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
    const std::ptrdiff_t bytes =
        std::ptrdiff_t{GST_VIDEO_FRAME_COMP_WIDTH(&frame, p)} * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    const auto* row = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); ++y, row += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p))
      picture.bytes.insert(picture.bytes.end(), row, row + bytes);
  }
  gst_video_frame_unmap(&frame);
  return picture;
}

}  // namespace framequality::bench
