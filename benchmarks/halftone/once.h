// SPDX-License-Identifier: LGPL-2.1-or-later
// Repeated steps of the CPU benchmarks of halftones: one frame, its bits, and a row of the results.
#pragma once

#include "algorithms/layout.h"
#include "cpu/dispatch.h"

#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::bench {

using Bytes = std::vector<std::uint8_t>;

/// Halftones a frame of one plane. row: bytes of a row of `out`.
template <class Filter, class Settings>
void halftone_once(Filter& filter, const Bytes& in, int height, const Settings& settings, std::size_t row, Bytes& out) {
  Frame frame;
  frame.plane[0] = in.data();
  frame.stride[0] = static_cast<std::ptrdiff_t>(in.size()) / height;
  out.resize(row * static_cast<std::size_t>(height));
  filter.submit({frame, {out.data(), static_cast<std::ptrdiff_t>(row), Memory::kHost}, settings, 1});
  filter.collect();
}

/// Ends the program unless make(isa) gives these bytes for every instruction set: a benchmark of wrong bits is worth
/// nothing.
template <class Make>
void require_bits(const Bytes& expected, Make&& make) {
  for (const std::string_view isa : cpu::instruction_sets()) {
    if (make(isa) == expected) continue;
    std::fprintf(stderr, "%.*s gives other bits\n", static_cast<int>(isa.size()), isa.data());
    std::exit(1);
  }
}

template <class... Args>
void add(const std::string& name, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), args...)->Unit(benchmark::kMillisecond)->UseRealTime();
}

}  // namespace framequality::bench
