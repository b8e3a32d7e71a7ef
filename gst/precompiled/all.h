// SPDX-License-Identifier: LGPL-2.1-or-later
// Headers of GStreamer and the standard library, compiled once for all of gst/. Sources include what they use all the
// same: a build with -Db_pch=false must pass.
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
