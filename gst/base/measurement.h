// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's measurement as pipelines see it: when one is due, its fields, its message and its metadata.
#pragma once

#include "gst/base/meter_base.h"
#include "gst/object/owned.h"

#include <string>

namespace framequality {

/// Warning messages that are posted once for each caps: a member of what is made for them.
class Warnings {
 public:
  /// which: 0...31, of this text.
  void once(FqMeterBase* self, unsigned which, const std::string& text);

 private:
  unsigned said_ = 0;
};

/// True if a frame of this time is to be measured: the first since start, caps, flush or segment, and those `interval`
/// after the last. Time that runs backwards starts anew.
bool is_due(FqMeterBase* self, GstClockTime interval, GstClockTime pts);
/// The fields that all results share, but for those that finish_result() sets: frame number, and the device that the
/// frame was measured on.
StructurePtr start_result(FqMeterBase* self, const StreamFormat& format, GstBuffer* buffer);
void finish_result(FqMeterBase* self, GstStructure* result, double score, const Place& place);
/// The buffer, its header writable, with the result as its meta.
BufferPtr attach_result(FqMeterBase* self, BufferPtr buffer, const GstStructure* result);
void post_result(FqMeterBase* self, StructurePtr result);

}  // namespace framequality
