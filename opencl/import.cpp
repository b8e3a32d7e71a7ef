// SPDX-License-Identifier: LGPL-2.1-or-later
// DMA buffers in contexts: how a device imports them, and the proof that it reads them right.
#include "opencl/import.h"

#include "device/error.h"
#include "host/log.h"
#include "opencl/in_place.h"
#include "opencl/slots.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#endif

namespace framequality::opencl {
namespace {

// Khronos' cl_ext.h has these, but older versions lack some, and versions differ in names.
constexpr cl_device_info kImportTypes = 0x204F;                // CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR
constexpr cl_uint kHandleDmaBuf = 0x2067;                      // CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR
constexpr std::intptr_t kType = 0x40B2, kTypeDmaBuf = 0x40B4;  // CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM
using ImportArm = cl_mem(CL_API_CALL*)(cl_context, cl_mem_flags, const std::intptr_t*, void*, std::size_t, cl_int*);

constexpr int kMostImports = 256;
std::atomic<int> live_imports = 0;

/// Contents of a DMA buffer, mapped for the CPU's reading while this lives.
class Mapping {
 public:
  Mapping(int fd, std::size_t bytes)
      : fd_(fd), bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0)) {
    if (data_ == MAP_FAILED) throw Error(Fault::kDeviceLost, "the CPU cannot map it to compare");
    sync(true);
  }
  ~Mapping() {
    sync(false);
    munmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::string_view contents() const { return {static_cast<const char*>(data_), bytes_}; }

 private:
  /// If it fails, the contents differ at worst. The kernel asks for a repetition after a signal.
  void sync([[maybe_unused]] bool begins) const {
#if defined(__linux__)
    dma_buf_sync request{};
    request.flags = DMA_BUF_SYNC_READ | (begins ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END);
    while (ioctl(fd_, DMA_BUF_IOCTL_SYNC, &request) != 0 && (errno == EINTR || errno == EAGAIN)) {
    }
#endif
  }

  int fd_;
  std::size_t bytes_;
  void* data_;
};

/// Waits until devices that write to a DMA buffer have finished, which their drivers may leave to readers.
bool is_written(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, static_cast<int>(1e3 * patience)) == 1 && (wanted.revents & POLLIN) != 0;
}

/// How one context imports DMA buffers, and whether it may.
class Importer {
 public:
  explicit Importer(const std::shared_ptr<Context>& context) : context_(context) {
    const DeviceInfo& device = context->device();
    const std::vector<char> extensions = list_of<char>(device, CL_DEVICE_EXTENSIONS);
    const auto has = [&](const char* name) {
      return std::string_view(extensions.data(), extensions.size()).find(name) != std::string_view::npos;
    };
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          api().clGetExtensionFunctionAddressForPlatform(device.platform, name));
    };
    // Intel's driver has cl_khr_external_memory_dma_buf, but does not list it.
    if (has("cl_khr_external_memory") &&
        std::ranges::count(list_of<cl_uint>(device, kImportTypes), kHandleDmaBuf) > 0) {
      Way way{"cl_khr_external_memory_dma_buf"};
      find(way.acquire, "clEnqueueAcquireExternalMemObjectsKHR");
      find(way.release, "clEnqueueReleaseExternalMemObjectsKHR");
      if (way.acquire && way.release && api().clCreateBufferWithProperties) ways_.push_back(way);
    }
    if (has("cl_arm_import_memory_dma_buf")) {
      Way way{"cl_arm_import_memory_dma_buf"};
      find(way.import_arm, "clImportMemoryARM");
      if (way.import_arm) ways_.push_back(way);
    }
    if (ways_.empty()) host::log(host::LogLevel::kDebug, "%s cannot import DMA buffers", device.title().c_str());
  }

  bool is_for(const Context& context) const { return context_.lock().get() == &context; }

  /// An import of this buffer that reads right, the known one if possible; null if there is none.
  std::shared_ptr<Import> import(const std::shared_ptr<Context>& context, int fd, std::size_t bytes,
                                 std::shared_ptr<Import> known) {
    if (ways_.empty()) return nullptr;
    try {
      const bool has_returned = known && &known->context() == context.get() && known->bytes() == bytes &&
                                known->way() == ways_.front().name && !known->is_held();
      if (!has_returned) known = make(context, fd, bytes);
      if (!is_proved_) prove(*known, fd, has_returned);
      return known;
    } catch (const Error& e) {
      if (!is_proved_)
        refuse(*context, e.what());
      else if (!std::exchange(has_warned_, true))
        host::log(host::LogLevel::kInfo, "%s does not read a DMA buffer in place, so it is mapped and copied: %s: %s",
                  context->device().title().c_str(), ways_.front().name, e.what());
      return nullptr;
    }
  }

 private:
  /// An extension that imports DMA buffers. Some drivers have two, and only one works.
  struct Way {
    const char* name;
    Import::HandOver acquire = nullptr, release = nullptr;
    ImportArm import_arm = nullptr;
  };

  /// A property that is a list; empty if the driver does not know it.
  template <class T>
  static std::vector<T> list_of(const DeviceInfo& device, cl_device_info what) {
    std::size_t bytes = 0;
    if (api().clGetDeviceInfo(device.device, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
    std::vector<T> list(bytes / sizeof(T));
    if (api().clGetDeviceInfo(device.device, what, list.size() * sizeof(T), list.data(), nullptr) != CL_SUCCESS)
      return {};
    return list;
  }

  std::shared_ptr<Import> make(const std::shared_ptr<Context>& context, int fd, std::size_t bytes) const {
    if (live_imports >= kMostImports) throw Error(Fault::kOutOfMemory, "too many DMA buffers are imported");
    cl_int code = CL_SUCCESS;
    cl_mem made;
    Descriptor descriptor(fd);
    const Way& way = ways_.front();
    if (way.import_arm) {
      const std::intptr_t properties[] = {kType, kTypeDmaBuf, 0};
      int given = descriptor.get();
      made = way.import_arm(context->get(), CL_MEM_READ_ONLY, properties, &given, bytes, &code);
    } else {  // without a list of devices it is for all of the context, which has one
      const cl_ulong properties[] = {kHandleDmaBuf, static_cast<cl_ulong>(descriptor.get()), 0};
      made = api().clCreateBufferWithProperties(context->get(), properties, CL_MEM_READ_ONLY, bytes, nullptr, &code);
    }
    Buffer buffer(made);
    check(code, way.name);
    descriptor.look();
    return std::make_shared<Import>(context, std::move(descriptor), std::move(buffer), bytes, way.name, way.acquire,
                                    way.release);
  }

  /// Compares what the device and the CPU read. Throws Error if they differ. Drivers are known that copy a buffer once,
  /// when they import it: so it goes on until a buffer that has returned, with other contents, has been read right.
  void prove(Import& import, int fd, bool has_returned) {
    constexpr int kMostProofs = kMostImports;  // contents may stay the same for ever, or no buffer returns
    const std::string got = read(import);
    const Mapping mapping(fd, import.bytes());
    const std::string_view expected = mapping.contents();
    if (got != expected) throw Error(Fault::kDeviceLost, "it reads other bytes than the CPU");
    const std::size_t hash = std::hash<std::string>()(got) | 1;  // DMA buffers may be slow to read
    if (proofs_++ == 0)
      host::log(host::LogLevel::kInfo, "%s reads DMA buffers in place (%s)", import.context().device().title().c_str(),
                ways_.front().name);
    is_proved_ = (has_returned && import.seen != hash) || proofs_ == kMostProofs;
    import.seen = hash;
  }

  /// A buffer's bytes as a kernel reads them.
  static std::string read(const Import& import) {
    constexpr std::size_t kItems = 64;
    Context& context = import.context();
    const std::size_t bytes = import.bytes();
    const Kernel kernel =
        context.kernel({"__kernel void copy(__global const uchar* from, __global uchar* to, ulong bytes) {\n"
                        "  const size_t i = get_global_id(0);\n"
                        "  if (i < bytes) to[i] = from[i];\n"
                        "}\n",
                        "-cl-std=CL1.2"},
                       "copy");
    struct Reading {
      Buffer copy;
      std::string bytes;
    };
    const auto end = [&](Reading* reading) {
      if (!context.is_hung()) delete reading;  // else the device may still write to it
    };
    const std::unique_ptr<Reading, decltype(end)> reading(new Reading{context.buffer(bytes), std::string(bytes, '\0')},
                                                          end);
    const Queue queue = context.queue();
    const DrainOnThrow drained(context, queue.get());
    import.acquire(queue.get());
    set_arguments(kernel, import.get(), reading->copy.get(), cl_ulong{bytes});
    start(queue.get(), kernel, {{(bytes + kItems - 1) / kItems * kItems, 1, 1}, {kItems, 1, 1}});
    import.release(queue.get());
    cl_event done = nullptr;
    check(api().clEnqueueReadBuffer(queue.get(), reading->copy.get(), CL_FALSE, 0, bytes, reading->bytes.data(), 0,
                                    nullptr, &done),
          "clEnqueueReadBuffer");
    const Event event(done);
    check(api().clFlush(queue.get()), "clFlush");
    wait(context, event);
    return std::move(reading->bytes);
  }

  /// Ends the use of the first way, for all buffers.
  void refuse(const Context& context, const char* why) {
    const char* const name = ways_.front().name;
    ways_.erase(ways_.begin());
    proofs_ = 0;
    host::log(host::LogLevel::kInfo, "%s does not read DMA buffers in place, so %s: %s: %s",
              context.device().title().c_str(),
              ways_.empty() ? "they are mapped and copied" : "another extension is tried", name, why);
  }

  std::weak_ptr<Context> context_;
  std::vector<Way> ways_;  ///< the first is in use
  bool is_proved_ = false, has_warned_ = false;
  int proofs_ = 0;
};

struct Importers {
  std::mutex mutex;
  std::map<int, Importer> of_device;
};
Importers& importers() {
  static auto& all = *new Importers;  // never destroyed, as contexts
  return all;
}

}  // namespace

Descriptor::Descriptor(int fd) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 0)) {
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) throw Error(Fault::kOutOfMemory, "no descriptor is left");
  device_ = status.st_dev;
  inode_ = status.st_ino;
}
Descriptor::Descriptor(Descriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), device_(other.device_), inode_(other.inode_) {}
Descriptor::~Descriptor() {
  if (is_open()) close(fd_);
}
void Descriptor::look() {
  if (!is_open()) fd_ = -1;
}
bool Descriptor::is_open() const {
  struct stat status {};
  return fd_ >= 0 && fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

Import::Import(std::shared_ptr<Context> context, Descriptor descriptor, Buffer buffer, std::size_t bytes,
               const char* way, HandOver acquire, HandOver release)
    : context_(std::move(context)),
      descriptor_(std::move(descriptor)),
      buffer_(std::move(buffer)),
      bytes_(bytes),
      way_(way),
      acquire_(acquire),
      release_(release) {
  ++live_imports;
}
Import::~Import() { --live_imports; }

const Import& Import::of(const void* import, const Context& context) {
  const auto& known = *static_cast<const Import*>(import);
  if (known.context_.get() != &context) throw Error(Fault::kDeviceLost, "OpenCL: a DMA buffer of a lost context");
  return known;
}

void Import::acquire(cl_command_queue queue) const {
  const cl_mem memory = get();
  is_held_ = true;
  if (acquire_) check(acquire_(queue, 1, &memory, 0, nullptr, nullptr), "clEnqueueAcquireExternalMemObjectsKHR");
}
void Import::release(cl_command_queue queue) const {
  const cl_mem memory = get();
  if (release_) check(release_(queue, 1, &memory, 0, nullptr, nullptr), "clEnqueueReleaseExternalMemObjectsKHR");
  is_held_ = false;
}

std::shared_ptr<void> import_dma_buffer(int fd, std::size_t bytes, const std::shared_ptr<void>& known,
                                        int id) noexcept {
  return guard(std::shared_ptr<void>(), [&]() -> std::shared_ptr<void> {
    const std::shared_ptr<Context> context = Context::of(id);
    if (!is_written(fd)) return nullptr;
    Importers& all = importers();
    const std::lock_guard lock(all.mutex);
    auto at = all.of_device.find(id);
    if (at == all.of_device.end() || !at->second.is_for(*context))
      at = all.of_device.insert_or_assign(id, Importer(context)).first;
    return at->second.import(context, fd, bytes, std::static_pointer_cast<Import>(known));
  });
}

}  // namespace framequality::opencl
