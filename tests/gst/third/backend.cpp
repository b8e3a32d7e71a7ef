// SPDX-License-Identifier: LGPL-2.1-or-later
// A third backend: it keeps tasks as a device does, and forwards them to the CPU's workers when they are collected.
#include "tests/gst/third/backend.h"

#include "algorithms/bliinds/meter.h"
#include "algorithms/denoise/filter.h"
#include "algorithms/halftone/colour_filter.h"
#include "algorithms/halftone/filter.h"
#include "algorithms/sharpness/meter.h"
#include "cuda/device.h"

#include <deque>
#include <stdexcept>
#include <utility>

namespace framequality::test::third {

using namespace sharpness;

namespace {

const Backend& processor() { return *backends().back(); }

/// W: a Worker or a class of them.
template <class W>
class Forwarding : public W {
 public:
  using Task = typename W::TaskType;
  using Result = typename W::ResultType;

  Forwarding(std::unique_ptr<W> cpu, const Where& where)
      : cpu_(std::move(cpu)), depth_(static_cast<std::size_t>(where.depth)) {}

  void submit(const Task& task) override {
    if (tasks_.size() == depth_) throw std::logic_error("no slot is free");
    tasks_.push_back(task);
  }
  Result collect() override {
    if (tasks_.empty()) throw std::logic_error("no task is pending");
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++forwarded;
    cpu_->submit(task);
    return cpu_->collect();
  }

 protected:
  W& cpu() { return *cpu_; }

 private:
  std::unique_ptr<W> cpu_;
  std::size_t depth_;
  std::deque<Task> tasks_;
};

class ForwardingBliinds final : public Forwarding<bliinds::Meter> {
 public:
  using Forwarding::Forwarding;
  bliinds::BlockValues blocks(int scale) override { return cpu().blocks(scale); }
};

}  // namespace

const Backend kBackend{
    .name = "third",
    .title = "the third",
    .number = 33,
    .memory = Memory::kHost,
    .find =
        [](const Wanted&) {
          return Device{0, "the CPU in disguise", ""};
        },
    .pin = nullptr,
    .unpin = nullptr,
    .sharpness = [](const Geometry& g, const Where& where) -> std::unique_ptr<sharpness::Meter> {
      return std::make_unique<Forwarding<sharpness::Meter>>(processor().sharpness(g, where), where);
    },
    .bliinds = [](const bliinds::Input& input, const Where& where) -> std::unique_ptr<bliinds::Meter> {
      return std::make_unique<ForwardingBliinds>(processor().bliinds(input, where), where);
    },
    .denoise = [](const PictureGeometry& g, const Where& where) -> std::unique_ptr<denoise::Filter> {
      return std::make_unique<Forwarding<denoise::Filter>>(processor().denoise(g, where), where);
    },
    .halftone = [](const Geometry& g, const Where& where) -> std::unique_ptr<halftone::Filter> {
      return std::make_unique<Forwarding<halftone::Filter>>(processor().halftone(g, where), where);
    },
    .colour_halftone = [](const PictureGeometry& g, const Where& where) -> std::unique_ptr<halftone::ColourFilter> {
      return std::make_unique<Forwarding<halftone::ColourFilter>>(processor().colour_halftone(g, where), where);
    },
    .diffuses_colours = false,
};

}  // namespace framequality::test::third
