// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the frames of a scan come from: a file or URI, standard input, or a photograph that GStreamer does not decode.
#pragma once

#include "apps/common/still.h"

#include <gst/gst.h>

#include <optional>
#include <string>

namespace framequality::apps::scan {

/// The name that stands for standard input, as Input::address.
inline constexpr char kStandardInput[] = "-";

/// The element that decodes what is in `name`, in the pipeline already, with what feeds it: a uridecodebin, or a
/// decodebin, which has the same signals. `still`: what read_still() made of the file; its data are given away. Throws
/// std::runtime_error with the reason.
GstElement* add_source(GstBin* pipeline, const std::string& name, std::optional<Still>& still);

}  // namespace framequality::apps::scan
