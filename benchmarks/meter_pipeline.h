// SPDX-License-Identifier: LGPL-2.1-or-later
// A whole pipeline for benchmarks: frame source, sharpnessmeter, fakesink.
#pragma once

#include "benchmarks/frame_source.h"
#include "benchmarks/results.h"

#include <gst/gst.h>

#include <memory>
#include <string>
#include <vector>

namespace framequality::bench {

struct PipelineOptions {
  SourceOptions source;
  std::string device;                   ///< of the meter, cpu or cuda; empty: no meter, the source alone
  int in_flight = 0;                    ///< property in-flight
  std::vector<std::string> properties;  ///< more of them, each name=value
};

/// Initialises GStreamer and registers what the benchmarks use of this build.
void start_gstreamer();

/// Element messages are made and posted as in any program, and dropped where a program would read them.
class MeterPipeline {
 public:
  /// Throws std::runtime_error if an element or a property is missing.
  explicit MeterPipeline(const PipelineOptions& options);
  ~MeterPipeline();
  MeterPipeline(const MeterPipeline&) = delete;
  MeterPipeline& operator=(const MeterPipeline&) = delete;

  /// Goes to PLAYING; returns when the first frame has been asked for. Throws as wait() does.
  void play();
  /// Lets it run for so long. Throws std::runtime_error with the text of an error message, if one comes.
  void wait(double seconds);
  std::uint64_t frames() const { return state_->frames.load(std::memory_order_relaxed); }  ///< made by the source
  double last_score() const;
  GstElement* pipeline() { return pipeline_.get(); }
  GstElement* meter() { return meter_; }  ///< null without one

 private:
  struct Unref {
    void operator()(gpointer object) const { gst_object_unref(object); }
  };
  std::shared_ptr<SourceState> state_ = std::make_shared<SourceState>();
  std::unique_ptr<GstElement, Unref> pipeline_;
  std::unique_ptr<GstBus, Unref> bus_;
  GstElement* meter_ = nullptr;
};

/// Score of a picture of these luma codes by the default metric, from the CPU twin: what every pipeline must come to.
double expected_score(const SourceOptions& source);

/// Seconds of processor time that this process has used so far.
double processor_seconds();

}  // namespace framequality::bench
