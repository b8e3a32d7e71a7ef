// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads are for the cores that this process may use, which affinity and control groups limit.
#include "host/cores.h"

#include "cpu/workers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <thread>

namespace framequality::host {
namespace {

namespace fs = std::filesystem;

/// A tree of control groups in a folder of its own.
class Groups {
 public:
  Groups() {
    std::string name = (fs::temp_directory_path() / "cores-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  ~Groups() { fs::remove_all(root_); }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  int cores(const std::string& membership) {
    write("self", membership);
    return quota_cores(root_ / "self", root_ / "cgroup");
  }

 private:
  fs::path root_;
};

TEST(Cores, V2QuotaIsRoundedUp) {
  Groups groups;
  for (const auto& [text, want] : {std::pair{"max 100000", 0},
                                   {"100000 100000", 1},
                                   {"150000 100000", 2},
                                   {"200000 100000", 2},
                                   {"5000 100000", 1},
                                   {"1600000 100000", 16},
                                   {"", 0},
                                   {"nonsense", 0},
                                   {"100000 0", 0},
                                   {"-1 100000", 0}}) {
    groups.write("cgroup/a/cpu.max", text);
    EXPECT_EQ(groups.cores("0::/a"), want) << text;
  }
}

TEST(Cores, TightestGroupAboveCounts) {
  Groups groups;
  groups.write("cgroup/cpu.max", "max 100000");
  groups.write("cgroup/pod/cpu.max", "300000 100000");
  groups.write("cgroup/pod/box/cpu.max", "800000 100000");
  groups.write("cgroup/pod/box/job/cpu.max", "max 100000");
  EXPECT_EQ(groups.cores("0::/pod/box/job"), 3);
  EXPECT_EQ(groups.cores("0::/"), 0);
}

TEST(Cores, V1QuotaIsThatOfTheCpuController) {
  Groups groups;
  groups.write("cgroup/cpu/a/cpu.cfs_quota_us", "250000");
  groups.write("cgroup/cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(groups.cores("5:cpuset:/b\n4:cpu,cpuacct:/a\n0::/"), 3);
  EXPECT_EQ(groups.cores("5:cpuset:/a\n4:cpuacct:/a"), 0);
  groups.write("cgroup/cpu/a/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(groups.cores("4:cpu,cpuacct:/a"), 0);
}

TEST(Cores, ContainerWithTheHostsPathIsFoundAtTheRoot) {
  Groups groups;
  groups.write("cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000");
  groups.write("cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(groups.cores("4:cpu,cpuacct:/docker/0123456789ab"), 4);
}

TEST(Cores, NothingReadableIsNoLimit) {
  Groups groups;
  EXPECT_EQ(quota_cores("/nonexistent", "/nonexistent"), 0);
  EXPECT_EQ(groups.cores("no colons\n:\n0::"), 0);
}

TEST(Cores, AffinityCounts) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int all = usable_cores();
  EXPECT_GE(all, 1);
  EXPECT_LE(all, CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  // In a thread of its own: this one's affinity stays what it is.
  std::thread([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cores(), 1);
    EXPECT_EQ(cpu::Workers(0).count(), 1);
  }).join();
  EXPECT_EQ(usable_cores(), all);
}

}  // namespace
}  // namespace framequality::host
