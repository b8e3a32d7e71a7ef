// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/gst/dma_buffers.h"

#include <cstdarg>
#include <mutex>
#include <sys/syscall.h>

namespace framequality::test {
namespace {

std::mutex sync_mutex;
std::vector<Sync> sync_log;

}  // namespace

std::vector<Sync> syncs() {
  const std::lock_guard lock(sync_mutex);
  return std::exchange(sync_log, {});
}

/// For the function below, which no namespace holds.
void note(const Sync& sync) {
  const std::lock_guard lock(sync_mutex);
  sync_log.push_back(sync);
}

}  // namespace framequality::test

// Notes the calls; a memfd takes them too.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  const auto result = static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
  if (request != DMA_BUF_IOCTL_SYNC) return result;
  framequality::test::note({framequality::test::inode_of(fd), static_cast<const dma_buf_sync*>(argument)->flags});
  return 0;
}
