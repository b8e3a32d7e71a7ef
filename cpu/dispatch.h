// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice among the instruction sets that kernels were compiled for. Not for files of kernels: what is inline here must
// not be compiled for one machine alone.
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

/// What a room has for each instruction set: a function that returns its table of kernels.
template <class Kernels>
using KernelTables = std::array<const Kernels& (*)(), kInstructionSets>;

/// Instruction sets that this build carries and this machine runs, best first; the last is "baseline".
std::vector<std::string_view> instruction_sets();

/// Place in KernelTables of one of instruction_sets(), or, if `isa` is empty, of the best. Throws std::invalid_argument
/// if there is none of this name.
std::size_t find_instruction_set(std::string_view isa);

/// A room's kernels for one of instruction_sets() or, if `isa` is empty, for the best. Throws as
/// find_instruction_set().
template <class Kernels>
const Kernels& find_kernels(const KernelTables<Kernels>& tables, std::string_view isa) {
  return tables[find_instruction_set(isa)]();
}

}  // namespace framequality::cpu
