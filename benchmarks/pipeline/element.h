// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole pipeline for benchmarks: a source, one of this build's elements, fakesink.
#pragma once

#include "benchmarks/pipeline/frame_source.h"
#include "benchmarks/support/results.h"

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framequality::bench {

struct PipelineOptions {
  SourceOptions source;
  std::string upstream;  ///< launch line of another source; empty: a frame source
  std::string element = "sharpnessmeter";
  std::string device;                   ///< property of the element; empty: no element, the source alone
  int in_flight = 0;                    ///< property in-flight
  std::vector<std::string> properties;  ///< more of them, each name=value
  std::string downstream;               ///< name of an element of this build behind it; empty: none
};

/// Initialises GStreamer and registers what the benchmarks use of this build.
void start_gstreamer();

/// Element messages are made and posted as in any program, and dropped where a program would read them.
class ElementPipeline {
 public:
  /// Throws std::runtime_error if an element or a property is missing, or a launch line is none.
  explicit ElementPipeline(const PipelineOptions& options);
  ~ElementPipeline();
  ElementPipeline(const ElementPipeline&) = delete;
  ElementPipeline& operator=(const ElementPipeline&) = delete;

  /// Goes to PLAYING; returns when the first frame has been asked for. Throws as wait() does.
  void play();
  /// Lets it run for so long; true as soon as the stream has ended. Throws std::runtime_error with the text of an error
  /// message, if one comes.
  bool ends_within(double seconds);
  /// The same for a stream that is not to end: throws if it does.
  void wait(double seconds);
  /// Lets it run until something is so; throws std::runtime_error with this text after a minute.
  void wait_until(const std::function<bool()>& is_so, const char* if_not);
  /// Lets the source make no more frames until resume(); returns when the streaming thread is idle. Throws as wait()
  /// does.
  void hold();
  void resume() noexcept;
  std::uint64_t frames() const { return state_->frames.load(std::memory_order_relaxed); }  ///< made by the source
  double last_score() const;                                                               ///< of a meter
  SourceState& source() { return *state_; }
  GstElement* pipeline() { return pipeline_.get(); }
  GstElement* element() { return element_; }  ///< null without one
  GstElement* sink() { return sink_; }

 private:
  struct Unref {
    void operator()(gpointer object) const { gst_object_unref(object); }
  };
  std::shared_ptr<SourceState> state_ = std::make_shared<SourceState>();
  std::unique_ptr<GstElement, Unref> pipeline_;
  std::unique_ptr<GstBus, Unref> bus_;
  GstElement* element_ = nullptr;
  GstElement* sink_ = nullptr;
};

/// Score of a picture of these luma codes by the default metric, from the CPU twin: what every pipeline must come to.
double expected_score(const SourceOptions& source);

/// Seconds of processor time that this process has used so far.
double processor_seconds();

}  // namespace framequality::bench
