// SPDX-License-Identifier: LGPL-2.1-or-later
// Owning pointers to what GStreamer hands over.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace framequality {

struct Release {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstEvent* event) const { gst_event_unref(event); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
using BufferPtr = std::unique_ptr<GstBuffer, Release>;
using CapsPtr = std::unique_ptr<GstCaps, Release>;
using EventPtr = std::unique_ptr<GstEvent, Release>;
using StructurePtr = std::unique_ptr<GstStructure, Release>;

}  // namespace framequality
