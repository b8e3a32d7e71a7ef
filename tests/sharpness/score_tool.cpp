// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints the scores of one raw image: the test tool through which oracle_test.py sees the meters.
#include "algorithms/sharpness/score.h"
#include "cpu/dispatch.h"
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "tests/sharpness/measure.h"
#include "tests/sharpness/reference.h"
#include "tests/support/layouts.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace framequality;
using namespace framequality::sharpness;

constexpr const char* kUsage =
    "usage: score_tool FILE width=N height=N [depth=8] [isa=NAME|reference|cuda] [prefilter=0|1|2] [downscale=1|2|4]\n"
    "                  [normalize=1] [limited=1] [interlaced=1] [corrected=1] [statistics=1] [roi=x,y,w,h] [columns=N] "
    "[rows=N]\n"
    "       [bayer=bggr|gbrg|grbg|rggb]\n"
    "FILE: luma codes or, of a mosaic, samples, row by row, bytes at depth 8, else little-endian 16-bit words. "
    "isa=list names the choices.\n"
    "Prints a line for each metric: its nick, the score, the zones' scores; and one with noise, mean, clipped black "
    "and\n"
    "white, and the root mean square noise.\n";

/// codes: the frame's, for the reference.
std::vector<std::int64_t> measure(const std::string& isa, const Frame& frame, std::span<const std::uint16_t> codes,
                                  const Plan& plan) {
  const Geometry& g = plan.geometry;
  if (isa == "reference") return test::Reference(codes, g.width, g.height, g.layout.depth).totals(plan.request).values;
  const auto meter = isa == "cuda" ? cuda::make_meter(g, cuda::find_device().id) : cpu::make_meter(g, isa);
  return test::totals_of(*meter, frame, plan);
}

int run(int argc, char** argv) {
  std::string file;
  std::map<std::string, std::string> options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals != word.npos)
      options[word.substr(0, equals)] = word.substr(equals + 1);
    else
      file = word;
  }
  if (options["isa"] == "list") {
    for (const std::string_view isa : cpu::instruction_sets())
      std::printf("%.*s\n", static_cast<int>(isa.size()), isa.data());
    if (cuda::find_device().id >= 0) std::puts("cuda");
    return 0;
  }
  const auto number = [&](const char* name, int otherwise) {
    return options.contains(name) ? std::stoi(options[name]) : otherwise;
  };
  const int depth = number("depth", 8);
  Geometry geometry{number("width", 0), number("height", 0), test::luma_layout(depth, depth > 8 ? 2 : 1)};
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const std::size_t word = depth > 8 ? 2 : 1;
  if (geometry.width < 1 || geometry.height < 1 ||
      bytes.size() != static_cast<std::size_t>(geometry.width) * static_cast<std::size_t>(geometry.height) * word)
    throw std::invalid_argument("the file does not hold width x height codes");
  std::vector<std::uint16_t> codes;
  for (std::size_t i = 0; i < bytes.size(); i += word) {
    unsigned v = static_cast<std::uint8_t>(bytes[i]);
    if (word == 2) v |= static_cast<unsigned>(static_cast<std::uint8_t>(bytes[i + 1])) << 8;
    codes.push_back(static_cast<std::uint16_t>(v));
  }
  const test::Picture picture(geometry, codes);
  Frame frame = picture.frame();
  if (const std::string order = options["bayer"]; !order.empty()) {
    if (options["isa"] == "reference") throw std::invalid_argument("the reference knows luma codes alone");
    const auto red = static_cast<int>(order.find('r'));
    geometry = {geometry.width / 2, geometry.height / 2, test::bayer(depth, red / 2, red % 2)};
    frame.plane[1] = frame.plane[0] + frame.stride[0];
    frame.stride[0] = frame.stride[1] = 2 * frame.stride[0];
  }

  Request request;
  request.prefilter = static_cast<Prefilter>(number("prefilter", 0));
  request.downscale = number("downscale", 1);
  request.mean = number("normalize", 0);
  request.limited = number("limited", 0);
  request.noise_correction = number("corrected", 0);
  request.statistics = number("statistics", 0);
  request.interlaced = number("interlaced", 0);
  request.zone_columns = number("columns", 1);
  request.zone_rows = number("rows", 1);
  if (options.contains("roi")) {
    long long x, y, w, h;
    if (std::sscanf(options["roi"].c_str(), "%lld,%lld,%lld,%lld", &x, &y, &w, &h) != 4)
      throw std::invalid_argument("roi");
    request.roi = Rect{x, y, w, h};
  }
  for (int m = 0; m < kMetricCount; ++m) {
    request.metric = m;
    const Plan plan = make_plan(geometry, request);
    const Scores s = finish(plan, measure(options["isa"], frame, picture.codes(), plan));
    std::printf("%s %.17g", metric_info(m).name, s.score);
    for (const double v : s.zones) std::printf(" %.17g", v);
    std::puts("");
    const Statistics& t = s.statistics;
    if (request.measures_statistics() && m == 0)
      std::printf("statistics %.17g %.17g %.17g %.17g %.17g\n", t.noise, t.mean, t.clipped_black, t.clipped_white,
                  t.rms_noise);
    // Measured beside another metric, and of the totals that the metric has itself.
    if (s.blur && (m == 0 || m == kDirectionalMetric))
      std::printf("%s %d %.17g %.17g %.17g\n", m == 0 ? "blur" : "own-blur", static_cast<int>(s.blur->kind),
                  s.blur->anisotropy, s.blur->angle, sharpest_zones(s.zones, 3));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "score_tool: %s\n", e.what());
  }
  std::fputs(kUsage, stderr);
  return 2;
}
