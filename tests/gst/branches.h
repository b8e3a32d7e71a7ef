// SPDX-License-Identifier: LGPL-2.1-or-later
// Pipelines of two branches downstream of a tee: what arrives at the end of each.
#pragma once

#include "tests/gst/rig.h"

#include <array>

namespace framequality::test {

/// The buffers that reach the fakesinks `a` and `b` of a pipeline until it ends.
inline std::array<std::vector<BufferPtr>, 2> frames_at_both_sinks(const std::string& launch) {
  const ElementPtr pipeline = pipeline_of(launch);
  std::array<std::vector<BufferPtr>, 2> seen;
  const auto handoff = +[](GstElement*, GstBuffer* buffer, GstPad*, gpointer to) {
    static_cast<std::vector<BufferPtr>*>(to)->emplace_back(gst_buffer_ref(buffer));
  };
  const char* names[] = {"a", "b"};
  for (std::size_t i = 0; i < 2; ++i) {
    const ElementPtr sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), names[i]));
    g_object_set(sink.get(), "signal-handoffs", TRUE, nullptr);
    g_signal_connect(sink.get(), "handoff", G_CALLBACK(handoff), &seen[i]);
  }
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const MessagePtr end = end_of(bus.get());
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  EXPECT_TRUE(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS);
  return seen;
}

}  // namespace framequality::test
