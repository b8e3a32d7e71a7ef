// SPDX-License-Identifier: LGPL-2.1-or-later
// Number of cores that this process may use.
#include "host/cores.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace framequality::host {
namespace {

namespace fs = std::filesystem;

/// Cores of one group: `quota` us of CPU time in each `period` us, rounded up; 0 without a limit.
int rounded_up(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<long long>((quota - 1) / period + 1, 1 << 20));
}

/// Control groups v2: one file, "max 100000" or "150000 100000".
int v2_cores(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  std::string quota;
  long long period = 0;
  if (!(file >> quota >> period) || quota == "max") return 0;
  return rounded_up(std::atoll(quota.c_str()), period);
}

/// Control groups v1: two files; a quota of -1 is none.
int v1_cores(const fs::path& group) {
  long long quota = 0, period = 0;
  if (!(std::ifstream(group / "cpu.cfs_quota_us") >> quota) || !(std::ifstream(group / "cpu.cfs_period_us") >> period))
    return 0;
  return rounded_up(quota, period);
}

/// The tightest limit of a group and all above it, up to `root`. In a container the path may be the host's, which does
/// not exist here: then `root` itself is the container's group.
int least_cores(const fs::path& root, fs::path path, int (*cores)(const fs::path&)) {
  int least = 0;
  for (path = path.relative_path();; path = path.parent_path()) {
    const int here = cores(root / path);
    if (here > 0 && (least == 0 || here < least)) least = here;
    if (path.empty()) return least;
  }
}

/// True if "cpu" is in a comma-separated list.
bool has_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == "cpu") return true;
  return false;
}

/// CPUs that the affinity of this thread allows; 0 if the system does not say.
int affine_cores() {
  // sched_getaffinity() fails with EINVAL if there are more CPUs than the set holds.
  for (std::size_t cpus = CPU_SETSIZE; cpus <= std::size_t{1} << 20; cpus *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    std::vector<unsigned long> words((bytes + sizeof(unsigned long) - 1) / sizeof(unsigned long));
    auto* set = reinterpret_cast<cpu_set_t*>(words.data());
    if (sched_getaffinity(0, bytes, set) == 0) return CPU_COUNT_S(bytes, set);
  }
  return 0;
}

}  // namespace

int quota_cores(const fs::path& membership, const fs::path& mount) {
  std::ifstream file(membership);
  int least = 0;
  const auto limit = [&](int cores) {
    if (cores > 0 && (least == 0 || cores < least)) least = cores;
  };
  for (std::string line; std::getline(file, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = line.substr(second + 1);
    if (controllers.empty()) {
      limit(least_cores(mount, path, v2_cores));
      limit(least_cores(mount / "unified", path, v2_cores));  // if v1 and v2 are mounted side by side
    } else if (has_cpu(controllers)) {
      limit(least_cores(mount / controllers, path, v1_cores));
      limit(least_cores(mount / "cpu", path, v1_cores));
    }
  }
  return least;
}

int usable_cores() {
  int cores = affine_cores();
  if (cores <= 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  const int quota = quota_cores("/proc/self/cgroup", "/sys/fs/cgroup");
  if (quota > 0) cores = std::min(cores, quota);
  return std::max(cores, 1);
}

}  // namespace framequality::host
