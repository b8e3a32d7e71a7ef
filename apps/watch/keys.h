// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of keys of framequality-watch: options of its command line and keys of its configuration file.
#pragma once

#include "apps/common/keys.h"
#include "apps/watch/settings.h"

#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::watch {

/// The source keys of a [[camera]], before they are checked.
struct AddressSettings {
  std::optional<std::string> name, url, pipeline, user, password_file;
};

/// Keys that set these settings, which must outlive them.
std::vector<Key> program_keys(Settings& settings);
std::vector<Key> camera_keys(CameraSettings& camera);  ///< of [defaults], every [[camera]] and the command line
std::vector<Key> address_keys(AddressSettings& address);

}  // namespace framequality::apps::watch
