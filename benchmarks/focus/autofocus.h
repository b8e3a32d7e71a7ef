// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of an autofocus algorithm to this benchmark: it sees frame after frame and says where the lens is to go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::bench {

/// What one frame tells.
struct Sight {
  double score = 0;
  double noise = 0;        ///< sigma of the noise as it is estimated from the frame, 8-bit codes
  double mean = 0;         ///< luma, 8-bit codes
  bool normalized = true;  ///< the score does not go with the light
};

/// The lens, as its user would describe it.
struct LensRange {
  double min = 0, max = 100, step = 1;
  int settle_frames = 3;    ///< frames between a command and the first that shows it
  double position = 0;      ///< where the lens is at first
  bool continuous = false;  ///< watch over the focus once it is found

  int last() const;                ///< positions are min + i * step, i = 0...last()
  double on_grid(double x) const;  ///< the nearest of them
};

class Autofocus {
 public:
  Autofocus() = default;
  Autofocus(const Autofocus&) = delete;
  Autofocus& operator=(const Autofocus&) = delete;
  virtual ~Autofocus() = default;

  /// One frame. Returns where the lens is to go now, if anywhere.
  virtual std::optional<double> frame(const Sight& sight) = 0;
  virtual bool done() const = 0;    ///< no search is under way
  virtual bool failed() const = 0;  ///< the last search says that it found nothing
  /// Probability that the search which ended last is in focus, as it says itself; 0: it does not say or saw no peak.
  virtual double certainty() const { return 0; }
  /// What that was computed from.
  virtual std::vector<double> evidence() const { return {}; }
  virtual double position() const = 0;  ///< where the lens was told to go, or was at first
};

/// Settings of an algorithm by name; those that it does not know are errors.
using Settings = std::map<std::string, double>;

struct Algorithm {
  std::string label;
  bool watches = false;  ///< has a continuous mode
  std::function<std::unique_ptr<Autofocus>(const LensRange&)> make;
};

/// "name" or "name:setting=value:setting=value"; `settings` are those of focus::Search where it does not say others.
/// Throws std::invalid_argument.
Algorithm find_algorithm(const std::string& text, const Settings& settings);
/// Each algorithm's name and summary.
std::vector<std::pair<std::string, std::string>> algorithm_names();

/// Takes settings out of a map, each once; finish() throws std::invalid_argument if some are left.
class SettingsReader {
 public:
  explicit SettingsReader(Settings settings) : settings_(std::move(settings)) {}
  template <class T>
  SettingsReader& take(const std::string& name, T& value) {
    const auto found = settings_.find(name);
    if (found != settings_.end()) {
      value = static_cast<T>(found->second);
      settings_.erase(found);
    }
    return *this;
  }
  void finish(const std::string& algorithm) const;

 private:
  Settings settings_;
};

std::unique_ptr<Autofocus> make_focus_search(const LensRange& range, const Settings& settings);
std::unique_ptr<Autofocus> make_libcamera(const LensRange& range, const Settings& settings);
std::unique_ptr<Autofocus> make_golden(const LensRange& range, const Settings& settings);
std::unique_ptr<Autofocus> make_brent(const LensRange& range, const Settings& settings);
std::unique_ptr<Autofocus> make_sweep(const LensRange& range, const Settings& settings);

}  // namespace framequality::bench
