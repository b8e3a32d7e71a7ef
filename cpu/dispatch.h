// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice among the instruction sets that kernels were compiled for. Not for kernel files: inline code here must
// not be compiled for one instruction set alone.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

// The functions `name` of all instruction sets that the build carries, best first: a KernelTables.
#ifdef __x86_64__
#define FQ_KERNEL_TABLES(name) \
  { &avx512::name, &avx2::name, &baseline::name }
#else
#define FQ_KERNEL_TABLES(name) \
  { &baseline::name }
#endif

namespace framequality::cpu {

#ifdef __x86_64__
inline constexpr std::size_t kInstructionSets = 3;
#else
inline constexpr std::size_t kInstructionSets = 1;
#endif

/// A room's functions that return its table of kernels, one for each instruction set.
template <class Kernels>
using KernelTables = std::array<const Kernels& (*)(), kInstructionSets>;

/// Instruction sets in this build that this machine supports, best first; the last is "baseline".
std::vector<std::string_view> instruction_sets();

/// Index in KernelTables of one of instruction_sets(), or, if `isa` is empty, of the best. Throws std::invalid_argument
/// for an unknown one.
std::size_t find_instruction_set(std::string_view isa);

/// A room's kernels for one of instruction_sets() or, if `isa` is empty, for the best. Throws as
/// find_instruction_set().
template <class Kernels>
const Kernels& find_kernels(const KernelTables<Kernels>& tables, std::string_view isa) {
  return tables[find_instruction_set(isa)]();
}

}  // namespace framequality::cpu
