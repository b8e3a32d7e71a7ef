// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice among the instruction sets that kernels were compiled for.
#include "cpu/dispatch.h"

#include "host/log.h"

#include <stdexcept>
#include <string>

namespace framequality::cpu {

namespace {

struct InstructionSet {
  std::string_view name;
  bool (*runs)();
};

#ifdef __x86_64__
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}
#endif

/// In the order of FQ_KERNEL_TABLES.
constexpr std::array<InstructionSet, kInstructionSets> kSets{{
#ifdef __x86_64__
    {"avx512",
     [] {
       return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512vnni");
     }},
    {"avx2", has_avx2},
#endif
    {"baseline", [] { return true; }},
}};

}  // namespace

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names;
  for (const InstructionSet& set : kSets)
    if (set.runs()) names.push_back(set.name);
  return names;
}

std::size_t find_instruction_set(std::string_view isa) {
  for (std::size_t i = 0; i < kSets.size(); ++i)
    if ((isa.empty() || isa == kSets[i].name) && kSets[i].runs()) {
      host::log(host::LogLevel::kDebug, "CPU: instruction set %s%s", kSets[i].name.data(),
                isa.empty() ? "" : ", as requested");
      return i;
    }
  throw std::invalid_argument("cpu: this CPU does not have the instruction set " + std::string(isa));
}

}  // namespace framequality::cpu
