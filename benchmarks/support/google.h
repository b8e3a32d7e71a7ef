// SPDX-License-Identifier: LGPL-2.1-or-later
// Common main() of the Google Benchmark programs: the options and the context of all others.
#pragma once

#include "benchmarks/support/results.h"

#include <benchmark/benchmark.h>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

namespace framequality::bench {

/// The options that all programs take; --benchmark_... goes to Google Benchmark, which writes its results to
/// the option `out`, with the context of machine_context() beside its own. gpu: empty for none.
inline Options initialize_google(const std::string& program, const std::string& gpu, int argc, char** argv) {
  std::vector<char*> own{argv[0]}, google{argv[0]};
  for (int i = 1; i < argc; ++i) (std::strncmp(argv[i], "--benchmark_", 12) == 0 ? google : own).push_back(argv[i]);
  const Options options(static_cast<int>(own.size()), own.data(), {});
  std::string command = options.command();
  for (std::size_t i = 1; i < google.size(); ++i) {
    const std::string quote = std::strpbrk(google[i], "|()[]{}*?$^&;<> ") ? "'" : "";
    command.append(" ").append(quote).append(google[i]).append(quote);
  }
  std::string out = "--benchmark_out=" + options.text("out"), format = "--benchmark_out_format=json";
  if (!options.text("out").empty()) google.insert(google.end(), {out.data(), format.data()});
  int count = static_cast<int>(google.size());
  benchmark::Initialize(&count, google.data());
  const Fields context = machine_context(program, gpu, options);
  for (const auto& [name, value] : context.items())
    if (const auto* text = std::get_if<std::string>(&value); text && name != "date")
      benchmark::AddCustomContext(name, name == "command" ? command : *text);
  return options;
}

}  // namespace framequality::bench
