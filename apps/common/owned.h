// SPDX-License-Identifier: LGPL-2.1-or-later
// Owning pointers for objects that GStreamer hands over.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace framequality::apps {

struct Unref {
  void operator()(void* object) const { gst_object_unref(object); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
template <class T>
using Owned = std::unique_ptr<T, Unref>;

}  // namespace framequality::apps
