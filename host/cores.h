// SPDX-License-Identifier: LGPL-2.1-or-later
// Number of cores that this process may use: fewer than the machine has, in a container or under taskset.
#pragma once

#include <filesystem>

namespace framequality::host {

/// The least of the calling thread's CPU affinity (sched_getaffinity) and the CPU quotas, rounded up, of the process's
/// control group and those above it. At least 1. Reads a few small files each time.
int usable_cores();

/// The quota part of it, for tests: cores that the control groups of `membership` (a file like /proc/self/cgroup, v1
/// and v2) under `mount` (like /sys/fs/cgroup) grant; 0 where they set no limit or cannot be read.
int quota_cores(const std::filesystem::path& membership, const std::filesystem::path& mount);

}  // namespace framequality::host
