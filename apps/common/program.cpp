// SPDX-License-Identifier: LGPL-2.1-or-later
// Process-wide setup shared by the command-line programs.
#include "apps/common/program.h"

#include "apps/common/contexts.h"
#include "apps/common/keys.h"
#include "apps/common/nearest.h"
#include "apps/common/text.h"

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace framequality::apps {

std::size_t choice(const std::string& option, const std::string& text, const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  throw UsageError(option + " must be " + listed(words) + ", not '" + printable(text) + "'" + suggestion(text, words));
}

void keep_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0) (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void allow_many_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

namespace {

std::atomic<bool> has_stuck_threads = false;
constexpr unsigned kPatience = 10;  // s
volatile std::sig_atomic_t leaving_with = 0;

}  // namespace

void expect_stuck_threads() { has_stuck_threads = true; }

void end_soon(int status) {
  std::fflush(nullptr);
  leaving_with = status;
  std::signal(SIGALRM, [](int) { _exit(leaving_with); });
  alarm(kPatience);
}

int leave(int status) {
  // The driver's threads crash when gst_deinit() or exit() destroys their data. Decoders leave such threads
  // behind.
  if (has_stuck_threads || dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY)) {
    std::fflush(nullptr);
    _exit(status);
  }
  drop_contexts();
  end_soon(status);
  // For tracers: leaks reports at this point.
  if (gst_is_initialized()) gst_deinit();
  return status;
}

}  // namespace framequality::apps
