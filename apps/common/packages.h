// SPDX-License-Identifier: LGPL-2.1-or-later
// The packages of Debian and Ubuntu with the parts that GStreamer misses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {

/// The package with an element, a reader of URLs or a decoder, named as GStreamer names it for installers:
/// "element-uridecodebin", "urisource-rtsp", "decoder-video/x-h264". Empty if there is none, or none is known.
std::string package_of(std::string_view missing);

/// "; on Debian and Ubuntu: sudo apt install PACKAGE..." for all that are missing; empty if no package is known, or if
/// gstreamer1.0-libav is installed and has no such decoder. After gst_init().
std::string install_hint(const std::vector<std::string>& missing);

}  // namespace framequality::apps
