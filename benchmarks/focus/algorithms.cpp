// SPDX-License-Identifier: LGPL-2.1-or-later
// The algorithms that are compared, by name.
#include "benchmarks/focus/autofocus.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace framequality::bench {
namespace {

struct Entry {
  const char* name;
  bool watches;
  std::unique_ptr<Autofocus> (*make)(const LensRange&, const Settings&);
  const char* summary;
};
constexpr Entry kEntries[] = {
    {"focus", true, make_focus_search, "focus::Search, algorithms/focus/search.h"},
    {"libcamera", true, make_libcamera, "contrast autofocus of libcamera for the Raspberry Pi"},
    {"golden", false, make_golden, "golden section search, Kiefer 1953"},
    {"brent", false, make_brent, "Brent 1973 as Micro-Manager's OughtaFocus uses it"},
    {"sweep", false, make_sweep, "every position once, then the best"},
};

}  // namespace

int LensRange::last() const { return std::max(0, static_cast<int>(std::floor((max - min) / step + 1e-6))); }

double LensRange::on_grid(double x) const {
  return min + step * std::clamp<double>(std::round((x - min) / step), 0, last());
}

void SettingsReader::finish(const std::string& algorithm) const {
  if (settings_.empty()) return;
  throw std::invalid_argument(algorithm + " has no setting '" + settings_.begin()->first + "'");
}

std::vector<std::pair<std::string, std::string>> algorithm_names() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Entry& e : kEntries) names.emplace_back(e.name, e.summary);
  return names;
}

Algorithm find_algorithm(const std::string& text, const Settings& settings) {
  std::istringstream in(text);
  std::string name;
  std::getline(in, name, ':');
  for (const Entry& e : kEntries) {
    if (name != e.name) continue;
    Settings own = e.make == make_focus_search ? settings : Settings{};
    for (std::string part; std::getline(in, part, ':');) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos) throw std::invalid_argument("'" + part + "' is no setting=value");
      own[part.substr(0, equals)] = std::stod(part.substr(equals + 1));
    }
    e.make({}, own);  // refuses unknown settings now
    return {text, e.watches, [make = e.make, own](const LensRange& range) { return make(range, own); }};
  }
  throw std::invalid_argument("there is no algorithm '" + name + "'");
}

}  // namespace framequality::bench
