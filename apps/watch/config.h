// SPDX-License-Identifier: LGPL-2.1-or-later
// The configuration file, TOML.
#pragma once

#include "apps/watch/settings.h"

#include <memory>
#include <string>

namespace framequality::apps::watch {

/// An error in one camera excludes that camera; other errors throw UsageError. Texts name file,
/// line and key, and accepted values. Paths in it are relative to its folder.
class Config {
 public:
  /// Reads the file. Throws UsageError if it is not TOML, std::runtime_error if it cannot be read.
  explicit Config(const std::string& path);
  ~Config();
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  /// Applies its settings for the whole program.
  void read_program(Settings& settings) const;
  void read_defaults(CameraSettings& defaults) const;
  /// Adds its cameras to the existing ones, or to the rejected ones.
  void read_cameras(Settings& settings, const CameraSettings& defaults) const;

 private:
  struct Document;
  std::unique_ptr<Document> document_;
};

/// Adds a camera whose address is known, under a unique name: its own or, if that is empty, one made from its
/// address, both without passwords of URLs. Throws std::runtime_error with the reason, which may hold passwords.
void add_camera(Settings& settings, CameraSettings camera);

}  // namespace framequality::apps::watch
