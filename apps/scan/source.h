// SPDX-License-Identifier: LGPL-2.1-or-later
// The source of a scan's frames: a file or URI, standard input, or a photograph that GStreamer does not decode.
#pragma once

#include "apps/common/still.h"

#include <gst/gst.h>

#include <optional>
#include <string>

namespace framequality::apps::scan {

/// The name that stands for standard input, as Input::address.
inline constexpr char kStandardInput[] = "-";

/// The decoding element for `name`, already in the pipeline, with its source: a uridecodebin, or a
/// decodebin, which has the same signals. `still`: from read_still(); its data are moved out. Throws
/// std::runtime_error with the reason.
GstElement* add_source(GstBin* pipeline, const std::string& name, std::optional<Still>& still);

}  // namespace framequality::apps::scan
