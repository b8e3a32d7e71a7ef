// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints the OpenCL C of a metric: for developers of metrics, and for the tests.
#include "algorithms/sharpness/metrics.h"
#include "opencl/sharpness/source.h"

#include <cstdio>
#include <string>
#include <string_view>

using namespace framequality;
using namespace framequality::sharpness;

namespace {

constexpr const char* kUsage =
    "usage: print-kernel METRIC [--cpu | --dot] [--bits=8|12|16]\n"
    "       print-kernel --samples | --statistics | --list\n"
    "Prints the OpenCL text that is compiled for a GPU; --cpu: for a CPU; --dot: for a GPU with byte dot products.\n";

int index_of(std::string_view name) {
  for (int i = 0; i < kMetricCount; ++i)
    if (name == metric_info(i).name) return i;
  return -1;
}

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  opencl::Shape shape;
  opencl::MeasureText text{.metric = -1, .largest = 255, .mean = true};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--list") {
      for (int metric = 0; metric < kMetricCount; ++metric) std::puts(metric_info(metric).name);
      return 0;
    }
    if (word == "--statistics") return print(opencl::statistics_text(1, 0, 8));
    if (word == "--samples") {
      PixelLayout layout;
      layout.kind = PixelLayout::Kind::kRgb;
      layout.pixel_stride = 4;
      for (std::uint8_t c = 0; c < 3; ++c) layout.offset[c] = c;
      return print(opencl::samples_text(layout, sample_format(8, Prefilter::kBinomial5, 2), 2));
    }
    if (word == "--cpu") {
      shape = {.lanes = 16, .across = 1, .down = 1, .has_fast_floats = false};
    } else if (word == "--dot") {
      shape.dot = opencl::Dot::kNvidia;
    } else if (word.starts_with("--bits=")) {
      text.bits = std::stoi(std::string(word.substr(7)));
      text.word_bytes = text.bits > 8 ? 2 : 1;
      text.largest = (1u << text.bits) - 1;
    } else if (text.metric = index_of(word); text.metric < 0) {
      std::fputs(kUsage, stderr);
      return 2;
    }
  }
  if (text.metric < 0) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return print(opencl::measure_text(shape, text));
}
