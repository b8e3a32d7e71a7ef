// SPDX-License-Identifier: LGPL-2.1-or-later
// The plugin's elements between neighbours that do as they like.
#pragma once

#include "tests/fuzz/dice.h"

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace framequality::fuzz {

/// Elements of ours in a row, PLAYING, between a pad that pushes and one that answers as it likes.
class Chain {
 public:
  /// dice: of the answers. Ends the program if there is no such element.
  Chain(const std::vector<const char*>& factories, Dice dice);
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  GstElement* any(Dice& dice) { return dice.of(elements_); }
  const std::vector<GstElement*>& elements() const { return elements_; }
  GstPad* source() { return source_; }
  GstPad* sink() { return sink_; }
  GstPad* first() { return first_; }
  GstElement* pipeline() { return pipeline_; }

  std::atomic<bool> polite{false};  ///< the sink takes and keeps everything
  std::vector<GstBuffer*> taken;    ///< while polite

 private:
  static Chain& of(GstPad* pad);
  static GstFlowReturn take(GstPad* pad, GstObject*, GstBuffer* buffer);
  static gboolean hear(GstPad* pad, GstObject*, GstEvent* event);
  static gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query);

  Dice dice_, rare_{7};  ///< of the sink's two functions, which one thread at a time calls
  std::atomic<std::uint64_t> asked_{1};
  GstElement* pipeline_;
  std::vector<GstElement*> elements_;
  GstPad *source_, *sink_, *first_;
};

}  // namespace framequality::fuzz
