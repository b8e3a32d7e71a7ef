// SPDX-License-Identifier: LGPL-2.1-or-later
// The frame of a GPU benchmark: options, results, exit status.
#pragma once

#include "benchmarks/support/results.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::bench {

using Clock = std::chrono::steady_clock;
inline double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A benchmark of kernels and whole frames, with the options `seconds`, `in-flight` and `out`.
class FilterBench {
 protected:
  FilterBench(const char* program, const Options& options, const Device& device)
      : device_(device),
        seconds_(options.number("seconds")),
        depths_(options.numbers("in-flight")),
        results_(options.text("out"), machine_context(program, device.name, options)) {}

  Device device_;
  double seconds_;           ///< for each row
  std::vector<int> depths_;  ///< frames in flight
  Results results_;
};

/// Makes a Bench(options, device) and calls its run(width, height) for each of the option `sizes`; the program's exit
/// status, 77 without a GPU. Errors go to stderr.
template <class Bench>
int run_on_gpu(const Options& options) {
  const Device device = cuda::find_device();
  if (device.id < 0) {
    std::fprintf(stderr, "no GPU: %s\n", device.reason.c_str());
    return 77;
  }
  try {
    Bench bench(options, device);
    for (const std::string& size : options.list("sizes")) {
      int width = 0, height = 0;
      if (std::sscanf(size.c_str(), "%dx%d", &width, &height) != 2 || width < 1 || height < 1)
        throw std::runtime_error("--sizes takes sizes like 512x512, not '" + size + "'");
      bench.run(width, height);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace framequality::bench
