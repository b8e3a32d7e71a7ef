// SPDX-License-Identifier: LGPL-2.1-or-later
// The end of JPEG files, which decoders do without.
#pragma once

#include <string>

namespace framequality::apps {

/// True for a JPEG file that ends before its image does (ITU-T T.81, annex B: without EOI): a download or a write that
/// was cut off. Decoders fill what is missing with gray or smears. False for other files, and those that cannot be
/// read.
bool is_cut_jpeg(const std::string& path);

}  // namespace framequality::apps
