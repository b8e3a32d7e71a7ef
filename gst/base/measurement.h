// SPDX-License-Identifier: LGPL-2.1-or-later
// The measurement of a frame for pipelines: when it is due, its fields, its message and its metadata.
#pragma once

#include "gst/base/meter_base.h"
#include "gst/object/owned.h"

#include <string>

namespace framequality {

/// Warning messages that are posted once per caps: a member of objects made for them.
class Warnings {
 public:
  /// which: number of this text, 0...31.
  void once(FqMeterBase* self, unsigned which, const std::string& text);

 private:
  unsigned said_ = 0;
};

/// True if a frame of this time must be measured: the first since start, caps, flush or segment, and those `interval`
/// after the last. Time that runs backwards starts over.
bool is_due(FqMeterBase* self, GstClockTime interval, GstClockTime pts);

// A result's fields are written once, where they are to stay: into the buffer's meta, which a message copies, or into
// the message if there is no meta.

/// The fields, none yet, of the meta of a buffer whose header is writable; the buffer owns them.
GstStructure* start_meta(FqMeterBase* self, GstBuffer* buffer);
StructurePtr start_message(FqMeterBase* self);
/// A message with the fields of a meta.
StructurePtr message_of(FqMeterBase* self, const GstStructure* meta);
/// The fields that all results share: those before an element's own, and the device that the frame was measured on.
void set_frame(FqMeterBase* self, GstStructure* result, const StreamFormat& format, GstBuffer* buffer);
void set_device(GstStructure* result, const Place& place);
/// The frame has been measured, and what is known of it written.
void count_result(FqMeterBase* self, double score);
void post_result(FqMeterBase* self, StructurePtr result);

}  // namespace framequality
