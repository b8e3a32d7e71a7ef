// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores as metadata on buffers, without touching or copying pixels.
#pragma once

#include <gst/video/gstvideometa.h>

namespace framequality {

/// The meta that sharpnessmeter attaches. Field `score`: double, finite.
inline constexpr char kSharpnessMeta[] = "GstSharpnessMeta";
/// The meta that bliindsmeter attaches. Field `score`: double, 0 best ... 99 worst.
inline constexpr char kBliindsMeta[] = "GstBliindsMeta";

/// Fields of a buffer's meta `name`, owned by the buffer; null if it has none.
const GstStructure* score_fields(GstBuffer* buffer, const char* name);

/// Registers a custom meta with empty tags: it survives copies, scaling, cropping and plain transforms. For class_init:
/// every reader or writer of the meta calls it, the first call counts.
void register_score_meta(const char* name);

/// The buffer itself if its metadata can be written, else a new header around the same memories that keeps the old
/// one alive. Takes the buffer, returns an owned one. gst_buffer_make_writable would copy memory flagged NO_SHARE.
GstBuffer* make_header_writable(GstBuffer* buffer);

/// The fields, none yet, of a writable buffer's meta `name`, owned by the buffer. A meta that is there already is
/// emptied: readers see the oldest.
GstStructure* start_score_meta(GstBuffer* buffer, const char* name);

/// Gives a region of a writable buffer this param structure (taken), in place of one of the same name.
void set_roi_param(GstVideoRegionOfInterestMeta* roi, GstStructure* param);

}  // namespace framequality
