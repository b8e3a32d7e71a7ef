// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencl/pinned.h"

#include "device/error.h"
#include "opencl/context.h"
#include "opencl/in_place.h"
#include "opencl/slots.h"

#include <map>
#include <mutex>
#include <utility>

namespace framequality::opencl {
namespace {

constexpr std::uintptr_t kPage = 4096;

struct Region {
  std::shared_ptr<Context> context;
  Buffer buffer;
  std::size_t bytes = 0;
};

std::mutex mutex;  ///< of the following
std::map<std::pair<int, std::uintptr_t>, Region>& regions() {
  // Never destroyed: memory may be freed after all static objects.
  static auto& all = *new std::map<std::pair<int, std::uintptr_t>, Region>;
  return all;
}

/// Mapped memory of a device.
class Mapped {
 public:
  Mapped(std::shared_ptr<Context> context, std::size_t bytes)
      : context_(std::move(context)),
        buffer_(context_->buffer(bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)),
        queue_(context_->queue()) {
    cl_int code;
    data_ = api().clEnqueueMapBuffer(queue_.get(), buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                     nullptr, nullptr, &code);
    check(code, "clEnqueueMapBuffer");
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    (void)api().clEnqueueUnmapMemObject(queue_.get(), buffer_.get(), data_, 0, nullptr, nullptr);
    drain(*context_, queue_.get());
  }
  void* data() const { return data_; }

 private:
  std::shared_ptr<Context> context_;
  Buffer buffer_;
  Queue queue_;
  void* data_ = nullptr;
};

}  // namespace

std::shared_ptr<void> allocate(std::size_t bytes, int id) noexcept {
  return guard(std::shared_ptr<void>(), [&] {
    const std::shared_ptr<Context> context = Context::of(id);
    if (context->device().shares_memory) return std::shared_ptr<void>();
    auto mapped = std::make_shared<Mapped>(context, bytes);
    void* const data = mapped->data();
    return std::shared_ptr<void>(std::move(mapped), data);
  });
}

bool pin(void* data, std::size_t bytes, int id) noexcept {
  return guard(false, [&] {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    // Drivers copy partial cache lines.
    constexpr std::size_t kLine = 64;
    if (address % kPage != 0 || bytes % kLine != 0) return false;
    Region region{Context::of(id), {}, bytes};
    if (!region.context->device().shares_memory) return false;
    region.buffer = region.context->buffer(bytes, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, data);
    const std::lock_guard lock(mutex);
    return regions().emplace(std::pair(id, address), std::move(region)).second;
  });
}

void unpin(void* data, int id) noexcept {
  guard(false, [&] {
    Region region;
    {
      const std::lock_guard lock(mutex);
      const auto at = regions().find({id, reinterpret_cast<std::uintptr_t>(data)});
      if (at == regions().end()) return false;
      region = std::move(at->second);
      regions().erase(at);
    }
    return true;
  });
}

InPlace find_pinned(const std::uint8_t* data, const Context& context) {
  const int id = context.id();
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::lock_guard lock(mutex);
  auto at = regions().upper_bound({id, address});
  if (at == regions().begin()) return {};
  --at;
  const std::size_t offset = address - at->first.second;
  // Memory that outlived a failed context cannot be used by the next one.
  if (at->first.first != id || offset >= at->second.bytes || at->second.context.get() != &context) return {};
  return {at->second.buffer.get(), offset, at->second.bytes};
}

}  // namespace framequality::opencl
