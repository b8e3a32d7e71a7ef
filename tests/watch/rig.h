// SPDX-License-Identifier: LGPL-2.1-or-later
// A watch fed with the measurements of a made-up camera, and its reports as one line of text.
#pragma once

#include "algorithms/split_mix.h"
#include "algorithms/watch/camera_watch.h"
#include "tests/watch/zone_field.h"

#include <array>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace framequality::test {

inline const char* name_of(CameraState state) {
  static constexpr const char* kNames[kCameraStates] = {"learning",    "good",   "defocused", "covered",    "dark",
                                                        "overexposed", "frozen", "moved",     "flickering", "noisy"};
  return kNames[static_cast<int>(state)];
}

inline constexpr std::int64_t kSecond = 1'000'000'000;

/// What a camera's frames look like to the meter, but for the random part.
struct Scene {
  double score = 1.2, noise = 2, mean = 100, white = 0, black = 0;
  double fine = 1;          ///< factor of the score, as focus is
  double contrast = 1;      ///< factor of the gradient's energy
  std::uint64_t view = 1;   ///< of the zones: what the camera looks at
  bool still = false;       ///< frames repeat exactly,
  std::uint64_t group = 1;  ///< those of one group
  int clock = 0;            ///< what it shows
  bool zones = true, statistics = true;
  double smeared = 0;                   ///< share of the zones that have lost nearly all detail
  double passing = 0;                   ///< share of the time that each zone shows what passes, for a second at a time
  std::optional<ViewPlace> place = {};  ///< of a view of a ZoneField
};

class WatchRig {
 public:
  explicit WatchRig(const CameraWatchSettings& settings = {}, double rate = 25) : settings(settings), rate_(rate) {}

  /// So many seconds of it; what was told meanwhile: "12.3 defocused, 20.0 good", in seconds since the call, with a +
  /// behind what is repeated.
  std::string see(double seconds, const std::function<Scene(double)>& scene_at) {
    std::ostringstream told;
    const double begin = now;
    while (now < begin + seconds) {
      const auto news = frame(scene_at(now - begin));
      if (news)
        told << (told.tellp() > 0 ? ", " : "") << std::round((now - begin) * 10) / 10 << ' ' << name_of(news->state)
             << (news->repeated ? "+" : "");
      now += 1 / rate_;
    }
    return told.str();
  }
  std::string see(double seconds, const Scene& scene = {}) {
    return see(seconds, [&](double) { return scene; });
  }

  std::optional<CameraNews> frame(const Scene& s) {
    const SplitMix before = random_;
    if (s.still) random_ = SplitMix(s.group);
    expose(s);
    if (s.still) random_ = before;
    last_.time = static_cast<std::int64_t>(now * 1e9);
    last_.zones = zones_;
    return watch.frame(last_, settings);
  }

  CameraWatchSettings settings;
  CameraWatch watch;
  double now = 0;

 private:
  void expose(const Scene& s) {
    const double light = s.mean * s.mean / 1e4;
    last_.score = (s.score + 1e-3 * s.clock) * s.fine * (1 + 0.005 * gaussian());
    last_.noise = s.statistics ? s.noise * (1 + 0.01 * gaussian()) : kUnknown;
    last_.mean = s.statistics ? s.mean + 0.05 * gaussian() : kUnknown;
    last_.clipped_white = s.statistics ? s.white : kUnknown;
    last_.clipped_black = s.statistics ? s.black : kUnknown;
    last_.energy = s.statistics ? 400 * s.contrast * light : kUnknown;
    last_.energy_noise = s.statistics ? s.noise * s.noise * 0.1 : kUnknown;
    zones_.clear();
    if (s.place) {
      zones_ = ZoneField(s.view).zones(*s.place);
      last_.grid = ZoneField(s.view).grid();
      for (double& z : zones_) z *= 100 * light * (1 + 0.01 * gaussian());
    } else {
      expose_zones(s, light);
    }
    for (std::size_t i = 0; i < zones_.size(); ++i)
      if (SplitMix car(static_cast<std::uint64_t>(now) * 1000 + i); car.next(), car.uniform() < s.passing)
        zones_[i] *= 8;
  }
  void expose_zones(const Scene& s, double light) {
    SplitMix place(s.view);
    for (int i = 0; s.zones && i < 48; ++i)
      zones_.push_back((i == 3 ? 1 + 0.1 * s.clock : 1) * 400 * s.contrast * light *
                       std::exp2(8 * place.uniform() - 4) * (1 + 0.01 * gaussian()) * (i < 48 * s.smeared ? 0.1 : 1));
  }
  double gaussian() {
    return std::sqrt(-2 * std::log(1 - random_.uniform())) * std::cos(2 * std::numbers::pi * random_.uniform());
  }

  double rate_;
  SplitMix random_{7};
  WatchedFrame last_;
  std::vector<double> zones_;
};

}  // namespace framequality::test
