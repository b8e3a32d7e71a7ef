// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for element tests: an element in a harness with a bus, frames with known luma values, and pipelines that cannot
// wait forever.
#pragma once

#include "gst/object/owned.h"
#include "tests/support/random.h"

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Designated initialisers name what differs from the default.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace framequality::test {

/// Deleter of what owned.h has no pointer for. The function must have external linkage where the pointer is passed
/// between sources.
template <auto free>
struct Free {
  template <class T>
  void operator()(T* p) const {
    free(p);
  }
};
using ElementPtr = std::unique_ptr<GstElement, Free<gst_object_unref>>;

/// What a bus heard.
struct Heard {
  struct Fault {
    GQuark domain;
    int code;
    std::string text;
    bool is(GQuark d, int c) const { return domain == d && code == c; }
  };
  const char* of = "sharpnessmeter";  ///< whose results
  std::vector<StructurePtr> results;  ///< structures of that name
  std::vector<Fault> errors, warnings;
  int latencies = 0;  ///< messages that say that the latency is another one
  bool eos = false;

  void add(GstMessage* message);
};

double number(const GstStructure* s, const char* field);
std::uint64_t count(const GstStructure* s, const char* field);
std::string text(const GstStructure* s, const char* field);
/// Score in a buffer's GstSharpnessMeta; NaN if it has none.
double meta_score(GstBuffer* buffer);

/// Property and value that rigs of sharpnessmeter begin with: how suites name a device that works from the first frame
/// on, where device=auto would first find out whether it pays. Null: none.
struct Setting {
  const char *name, *value;
};
inline Setting named_device{};

/// An element between two test pads, its bus in our hands.
class Rig {
 public:
  Rig(std::initializer_list<std::pair<const char*, const char*>> properties = {},
      const char* factory = "sharpnessmeter");
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { gst_element_set_bus(element_, nullptr); }

  GstElement* element() { return element_; }
  GstHarness* harness() { return harness_.get(); }
  void set(const char* name, const char* value) { gst_util_set_object_arg(G_OBJECT(element_), name, value); }
  void caps(const std::string& caps) { gst_harness_set_src_caps_str(harness_.get(), caps.c_str()); }
  /// Caps in mid-stream, where no segment follows them.
  void change_caps(const std::string& caps);
  GstFlowReturn push(BufferPtr buffer) { return gst_harness_push(harness_.get(), buffer.release()); }
  BufferPtr pull() { return BufferPtr(gst_harness_try_pull(harness_.get())); }
  /// Pushes a frame that must come out; returns it.
  BufferPtr pass(BufferPtr buffer);
  /// Score of a frame that must come out.
  double score(BufferPtr buffer);
  /// Messages since the last call.
  Heard heard();
  std::uint64_t stat(const char* field);
  std::string string(const char* property);

 private:
  const char* factory_;
  BusPtr bus_;
  GstElement* element_;
  std::unique_ptr<GstHarness, Free<gst_harness_teardown>> harness_;
};

/// A pipeline from its description; throws if anything of it is missing.
ElementPtr pipeline_of(const std::string& launch);

/// How many seconds a pipeline may be silent, on a machine however busy.
inline constexpr unsigned kPatience = 60;

/// The next end of stream or error, or nothing if neither comes.
MessagePtr end_of(GstBus* bus);

/// Runs a pipeline to EOS or the first error, but no longer than `seconds`.
Heard run(const std::string& launch, const char* of = "sharpnessmeter", unsigned seconds = kPatience);

/// What the sorted `a` has and the sorted `b` has not, one after the other.
std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b);

/// Formats in the sink template of an element.
std::vector<std::string> listed_formats(const char* factory);

/// Caps of progressive 30 fps video.
std::string video_caps(const char* format, int width, int height, const char* more = "");

GstVideoInfo video_info(const std::string& caps);

/// A buffer with the default layout of these caps; bytes are random.
BufferPtr random_buffer(const std::string& caps, std::uint64_t seed, GstClockTime pts = 0);

/// The luma codes of a buffer, as GStreamer's own unpacker sees them; depth: bits of a code.
std::vector<std::uint16_t> codes_of(const std::string& caps, GstBuffer* buffer, int* depth);

}  // namespace framequality::test
