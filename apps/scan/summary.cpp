// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers and times of a scanned file as text.
#include "apps/scan/summary.h"

#include "apps/common/text.h"
#include "apps/scan/moments.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace framequality::apps::scan {

std::string summary(const Result& result, const MeterOptions& meter) {
  std::vector<double> scores;
  for (const Moment& m : result.moments) scores.push_back(m.score);
  const Statistics s = statistics(std::move(scores));
  const auto at = [&](std::size_t i) {
    const Moment& m = result.moments[i];
    return (result.timed ? clock_time(m.time) + " " : "") + "(frame " + std::to_string(m.frame) + ")";
  };
  if (result.video.picture) return printable(result.name) + ": " + meter.metric + ' ' + rounded(s.max, 6);
  std::string text = printable(result.name) + ": " + std::to_string(result.moments.size()) + " frames";
  if (result.timed) text += ", " + clock_time(result.length);
  text += ", " + std::to_string(std::lround(static_cast<double>(result.decoded) / std::max(result.seconds, 1e-9))) +
          " frames/s\n  " + meter.metric + ": min " + rounded(s.min, 6) + ", median " + rounded(s.median, 6) +
          ", max " + rounded(s.max, 6);
  if (result.moments.size() > 1) text += "\n  highest at " + at(s.max_at) + ", lowest at " + at(s.min_at);
  return text;
}

}  // namespace framequality::apps::scan
