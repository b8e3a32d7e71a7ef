// SPDX-License-Identifier: LGPL-2.1-or-later
// Destruction of scans without waiting for them.
#include "apps/common/program.h"
#include "apps/common/threads.h"
#include "apps/scan/scanner.h"

#include <utility>

namespace framequality::apps::scan {

namespace {

/// Scans that are being destroyed.
struct Retired {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};

Retired& retired() {
  static Retired all;
  return all;
}

}  // namespace

void FileScan::retire(std::unique_ptr<FileScan> scan, std::function<void()> gone) {
  if (!scan) return;
  scan->silence();
  const bool stuck = scan->stalled_;
  const int counts = stuck ? 0 : 1;
  if (stuck) {
    expect_stuck_threads();
    if (gone) call_later(std::exchange(gone, nullptr));
  }
  {
    const std::lock_guard lock(retired().mutex);
    retired().count += counts;
  }
  const auto held = std::make_shared<std::unique_ptr<FileScan>>(std::move(scan));
  const auto destroy = [held, gone, counts] {
    held->reset();
    if (gone) call_later(gone);
    const std::lock_guard lock(retired().mutex);
    retired().count -= counts;
    retired().changed.notify_all();
  };
  if (try_detached(destroy)) return;
  // Waiting for one is better than stopping all; but a stuck scan would make all wait forever.
  static auto* const left_alone = new std::vector<std::shared_ptr<std::unique_ptr<FileScan>>>;
  if (stuck)
    left_alone->push_back(held);
  else
    destroy();
}

void FileScan::wait_for_retired() {
  std::unique_lock lock(retired().mutex);
  retired().changed.wait(lock, [] { return retired().count == 0; });
}

}  // namespace framequality::apps::scan
