// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of framequality-watch.
#pragma once

#include "apps/watch/settings.h"

namespace framequality::apps::watch {

/// Reads the command line and the configuration that it names; initialises GStreamer. --help prints and exits. Throws
/// UsageError, and std::runtime_error if a file cannot be read. Texts hold no passwords.
Settings parse_options(int argc, char** argv);

}  // namespace framequality::apps::watch
