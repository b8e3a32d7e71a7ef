// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers, as v4l2src io-mode=dmabuf delivers them, and what is done to those: where they are mapped, and
// how they are synchronised. dma_buffers.cpp takes ioctl()'s place in the program.
#pragma once

#include "tests/gst/rig.h"

#include <gst/allocators/gstdmabuf.h>

#include <fcntl.h>
#include <fstream>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace framequality::test {

/// A call of DMA_BUF_IOCTL_SYNC.
struct Sync {
  ino_t buffer;  ///< whose
  std::uint64_t flags;
};

/// The calls since the last time.
std::vector<Sync> syncs();

inline ino_t inode_of(int fd) {
  struct stat status {};
  fstat(fd, &status);
  return status.st_ino;
}

/// A DMA buffer of the kernel's, where it has /dev/udmabuf; else a memfd in its place, which is mapped alike. There is
/// nothing to synchronise with then, so that only the calls are seen to.
class DmaBuffer {
 public:
  explicit DmaBuffer(gsize size) : size_((size + 4095) / 4096 * 4096) {
    pages_ = memfd_create("frames", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(pages_, static_cast<off_t>(size_)), 0);
    fcntl(pages_, F_ADD_SEALS, F_SEAL_SHRINK);
    const int maker = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (maker >= 0) {
      udmabuf_create wanted{};
      wanted.memfd = static_cast<std::uint32_t>(pages_);
      wanted.flags = UDMABUF_FLAGS_CLOEXEC;
      wanted.size = size_;
      fd_ = ioctl(maker, UDMABUF_CREATE, &wanted);
      close(maker);
    }
    is_kernels_ = fd_ >= 0;
    if (!is_kernels_) fd_ = dup(pages_);
  }
  ~DmaBuffer() {
    close(fd_);
    close(pages_);
  }
  DmaBuffer(const DmaBuffer&) = delete;
  DmaBuffer& operator=(const DmaBuffer&) = delete;

  bool is_kernels() const { return is_kernels_; }
  ino_t inode() const { return inode_of(fd_); }
  void write(const std::vector<std::uint8_t>& bytes) {
    EXPECT_EQ(pwrite(pages_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  std::vector<std::uint8_t> read(gsize count) const {
    std::vector<std::uint8_t> bytes(count);
    EXPECT_EQ(pread(pages_, bytes.data(), count, 0), static_cast<ssize_t>(count));
    return bytes;
  }
  /// A buffer over it, whole pages as drivers make them, which may go before this.
  BufferPtr buffer() const {
    GstAllocator* allocator = gst_dmabuf_allocator_new();
    BufferPtr buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), gst_dmabuf_allocator_alloc(allocator, dup(fd_), size_));
    gst_object_unref(allocator);
    GST_BUFFER_PTS(buffer.get()) = 0;
    return buffer;
  }
  /// True if the address lies in a mapping of it now; null: if there is any mapping.
  bool is_mapped(const void* address = nullptr) const {
    struct stat own {};
    EXPECT_EQ(fstat(fd_, &own), 0);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      std::uintptr_t first = 0, last = 0;
      std::string rights, offset;
      unsigned major_number = 0, minor_number = 0;
      ino_t inode = 0;
      char dash = 0, colon = 0;
      words >> std::hex >> first >> dash >> last >> rights >> offset >> major_number >> colon >> minor_number >>
          std::dec >> inode;
      // Libraries on other devices can have an inode of the same number.
      if (inode != own.st_ino || makedev(major_number, minor_number) != own.st_dev) continue;
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      if (!address || (at >= first && at < last)) return true;
    }
    return false;
  }

 private:
  gsize size_;
  int pages_ = -1, fd_ = -1;
  bool is_kernels_ = false;
};

/// The bytes of a buffer.
inline std::vector<std::uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<std::uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

/// Expects what an element did: each START of reading, or also of writing, has its END, and there was one.
inline void expect_balanced(const std::vector<Sync>& calls, const DmaBuffer& dma, bool writes = false) {
  int open = 0, written = 0, read = 0;
  for (const auto& [buffer, flags] : calls) {
    if (buffer != dma.inode()) continue;
    open += flags & DMA_BUF_SYNC_END ? -1 : 1;
    EXPECT_GE(open, 0);
    read += (flags & DMA_BUF_SYNC_READ) != 0;
    written += (flags & DMA_BUF_SYNC_WRITE) != 0;
  }
  EXPECT_EQ(open, 0);
  EXPECT_GE(read, 2);
  EXPECT_EQ(written > 0, writes);
}

}  // namespace framequality::test
