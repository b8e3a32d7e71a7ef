// SPDX-License-Identifier: LGPL-2.1-or-later
// Headers that most sources of the programs include, compiled once for each program's library. Sources include what
// they use all the same: a build with -Db_pch=false must pass.
#include <glib.h>
#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>
