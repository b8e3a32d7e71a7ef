// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream's worker at its place, which moves if another place turns out to be cheaper and, after a fault, to the
// next one, which repeats the failed device's pending tasks.
#pragma once

#include "algorithms/ring.h"
#include "algorithms/worker.h"
#include "device/backend.h"
#include "device/error.h"
#include "engine/choose.h"
#include "engine/weighing.h"
#include "host/log.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace framequality {

/// Callbacks of a session to its owner.
class SessionHost {
 public:
  /// Makes the context of frames in a device's memory current until leave(). False if there is none, and nothing to
  /// leave. May throw.
  virtual bool enter() = 0;
  virtual void leave() noexcept = 0;
  /// Next place after a device has failed at `failed`. Throws if work cannot continue.
  virtual Place fall_back(const Error& fault, const Place& failed) = 0;
  /// Tasks go there from now on; it may move again. Tasks of another place are collected first. In no context.
  virtual void moved(const Place& /*to*/) {}
  /// Reports that the task being collected goes to a worker that reads host memory alone, whatever it was prepared for.
  /// May throw.
  virtual void needs_host_memory() {}
  /// Reports that no device can be used: work stays on the CPU for good.
  virtual void stays(const std::string& /*reason*/) {}

 protected:
  ~SessionHost() = default;
};

/// A device that may be cheaper than the CPU, on which a session begins.
struct Prospect {
  std::function<Choice()> look;  ///< finds it; called once, in a thread of its own
  Weighing::Time opening = Weighing::kOpening;
};

/// Callers keep a task's data alive until it has been collected. Throws what workers and the host throw.
/// Thread-safety: one thread at a time.
template <class Task, class Result>
class Session {
 public:
  /// A worker at this place that accepts `depth` tasks before the first is collected. With a prospect, also called in
  /// another thread.
  using Make = std::function<std::unique_ptr<Worker<Task, Result>>(const Place& place, int depth)>;

  Session(SessionHost& host, const Place& place, int depth, Make make, std::optional<Prospect> prospect = std::nullopt)
      : host_(host),
        depth_(depth),
        make_(std::move(make)),
        prospect_(std::move(prospect)),
        worked_at_(place),
        tasks_(static_cast<std::size_t>(depth)) {
    make_worker(place);
    if (prospect_) weighing_.emplace(prospect_->opening);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { release(); }

  /// Starts a task. On the CPU the work is left to collect(), since it would be done in this thread anyway.
  void submit(const Task& task) {
    if (weighing_) weigh();
    if (tasks_.full()) tasks_.reserve(2 * tasks_.capacity());
    if (!overlaps_) return tasks_.push({Way::kPostponed, {}});
    const Visit visit(host_);
    with_recovery(
        [&] {
          const Weighing::Time begin = time();
          device_.worker->submit(task);
          tasks_.push({Way::kBegun, time() - begin});
          tell_route(device_);
        },
        [&](const Error& fault) {
          fall_back(fault, device_.place);
          tasks_.push({Way::kReplayed, {}});
        });
  }

  /// The result of `oldest`, the earliest submitted task that has not been collected.
  Result collect(const Task& oldest) {
    const Visit visit(host_);
    const Begun begun = tasks_.pop();  // also if it fails
    const Charge charge(*this, begun);
    replayed_ = begun.way == Way::kReplayed;
    if (begun.way != Way::kBegun) return work(oldest);
    worked_at_ = device_.place;
    return with_recovery([&] { return device_.worker->collect(); },
                         [&](const Error& fault) {
                           fall_back(fault, device_.place);
                           return work_anew(oldest);
                         });
  }

  /// True if the last collected task had to be repeated.
  bool replayed() const { return replayed_; }
  /// Place of that task's work.
  const Place& place() const { return worked_at_; }
  /// True if tasks start before earlier ones are collected, so that it pays to submit several.
  bool overlaps() const { return overlaps_; }
  /// The device that tasks go to; null: the CPU. It may change when the next one is submitted.
  const Place* device() const { return overlaps_ ? &device_.place : nullptr; }

  /// Announces different work, which may be cheaper at another place.
  void renew() {
    if (weighing_) weighing_->renew();
  }

  /// Waits until the worker has released all tasks, and forgets them.
  void drop() noexcept {
    if (!tasks_.empty()) host::log(host::LogLevel::kDebug, "dropping %d tasks", static_cast<int>(tasks_.size()));
    guard(false, [&] {
      const Visit visit(host_);
      while (!tasks_.empty())
        guard(false, [&] {
          if (tasks_.pop().way == Way::kBegun) device_.worker->collect();
          return true;
        });
      return true;
    });
    tasks_.clear();
  }

  /// Calls change(), which changes the context of frames in a device's memory, between the last use of the old one and
  /// the first of the new one. No task is pending.
  template <class F>
  void rebuild(F&& change) {
    const Place place = overlaps_ ? device_.place : late_.place;
    host::log(host::LogLevel::kDebug, "the frames' context changed: %s starts again", place.backend->title);
    release();
    weighing_.reset();
    std::forward<F>(change)();
    make_worker(place);
  }

 private:
  /// Keeps the host's context current while this lives.
  class Visit {
   public:
    explicit Visit(SessionHost& host) : host_(host), entered_(host.enter()) {}
    ~Visit() {
      if (entered_) host_.leave();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    SessionHost& host_;
    bool entered_;
  };

  /// Progress of a task.
  enum class Way : std::uint8_t {
    kBegun,      ///< the device has it
    kPostponed,  ///< processed when it is collected
    kReplayed,   ///< the same, after a device that failed had it
  };
  struct Begun {
    Way way;
    Weighing::Time spent;
  };

  /// A worker, and where it is.
  struct Post {
    Place place{};
    std::unique_ptr<Worker<Task, Result>> worker;
  };

  /// The result of looking for a device.
  struct Opened {
    Choice choice;
    Post post;
    std::optional<Error> fault;
  };

  /// Adds its lifetime to a task's cost.
  class Charge {
   public:
    Charge(Session& session, const Begun& begun) : session_(session), begun_(begun), begin_(session.time()) {}
    ~Charge() {
      if (session_.weighing_)
        session_.weighing_->add(begun_.way == Way::kBegun ? Weighing::Side::kDevice : Weighing::Side::kCpu,
                                begun_.spent + session_.time() - begin_);
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

   private:
    Session& session_;
    Begun begun_;
    Weighing::Time begin_;
  };
  Weighing::Time time() const { return weighing_ ? weighing_time() : Weighing::Time{}; }

  void make_worker(const Place& place) {
    const Visit visit(host_);
    overlaps_ = !is_cpu(*place.backend);
    with_recovery(
        [&] {
          (overlaps_ ? device_ : late_) = Post{place, make_(place, depth_)};
        },
        [&](const Error& fault) { move_on(fault, place); });
    host::log(host::LogLevel::kDebug, "a session starts on %s, %d tasks at a time", place.backend->title,
              overlaps_ ? depth_ : 1);
  }
  void release() noexcept {
    // A device being opened is awaited and closed in another thread, so that this one's context stays unchanged.
    if (opening_.valid())
      guard(false, [&] {
        std::async(std::launch::async, [this] { opening_.get(); }).get();
        return true;
      });
    guard(false, [&] {
      const Visit visit(host_);
      device_.worker.reset();
      late_.worker.reset();
      return true;
    });
    device_.worker.reset();
    late_.worker.reset();
  }

  // --- The cheaper place

  /// Moves if the next task belongs to the other place.
  void weigh() {
    if (opening_.valid())
      finish_opening();
    else if (weighing_->wants_device())
      begin_opening();
    if (!weighing_ || overlaps_ == (weighing_->side() == Weighing::Side::kDevice)) return;
    overlaps_ = !overlaps_;
    const auto us = [&](Weighing::Side side) {
      return static_cast<double>(std::chrono::nanoseconds(weighing_->cost(side)).count()) / 1e3;
    };
    host::log(host::LogLevel::kInfo, "moving to %s: a task took %.1f us on %s, %.1f us on %s (0: not yet tried)",
              (overlaps_ ? device_ : late_).place.backend->title, us(Weighing::Side::kCpu), late_.place.backend->title,
              us(Weighing::Side::kDevice), device_.place.backend->title);
    host_.moved((overlaps_ ? device_ : late_).place);
  }

  /// The CPU continues while a thread looks for a device and makes a worker there: a live stream does not wait.
  void begin_opening() {
    const auto open = [this] {
      Opened opened;
      try {
        opened.choice = prospect_->look();
        const auto& place = opened.choice.place;
        if (!place || is_cpu(*place->backend)) return opened;
        opened.post.place = *place;
        opened.post.worker = make_(*place, depth_);
      } catch (const Error& fault) {
        opened.fault = fault;
      } catch (const std::exception& e) {
        opened.choice.reason = e.what();  // whatever the host lacks for a device, the CPU can still work
      }
      return opened;
    };
    host::log(host::LogLevel::kDebug, "enough work for a device: looking for one");
    const bool begun = guard(false, [&] {
      opening_ = std::async(std::launch::async, open);
      return true;
    });
    if (!begun) weighing_.reset();  // no thread could be started
  }
  void finish_opening() {
    if (opening_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    Opened opened = opening_.get();
    if (opened.post.worker) {
      device_ = std::move(opened.post);
      return weighing_->open();
    }
    if (opened.fault && opened.post.place.backend) {
      const Visit visit(host_);
      return move_on(*opened.fault, opened.post.place);
    }
    weighing_.reset();
    host_.stays(opened.fault ? opened.fault->what() : opened.choice.reason);
  }

  // --- Faults

  /// Moves the device's pending tasks to the next place.
  void fall_back(const Error& fault, const Place& failed) {
    move_on(fault, failed);
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].way == Way::kBegun) tasks_[i].way = Way::kReplayed;
  }
  /// From now on tasks start only when collected: new ones are behind those to be replayed. If it
  /// throws, the worker is kept, and drop() waits for it.
  void move_on(const Error& fault, const Place& failed) {
    const Place next = host_.fall_back(fault, failed);
    host::log(host::LogLevel::kInfo, "%s failed (%s): %s continues, with the %d tasks in flight", failed.backend->title,
              fault.what(), next.backend->title, static_cast<int>(tasks_.size()));
    weighing_.reset();
    with_recovery(
        [&] {
          if (!late_.worker || late_.place.backend != next.backend) late_ = Post{next, make_(next, 1)};
          device_.worker.reset();
          overlaps_ = false;
        },
        [&](const Error& another) { move_on(another, next); });
  }
  Result work(const Task& task) {
    worked_at_ = late_.place;
    host_.needs_host_memory();
    return with_recovery(
        [&] {
          late_.worker->submit(task);
          tell_route(late_);
          return late_.worker->collect();
        },
        [&](const Error& fault) {
          fall_back(fault, late_.place);
          return work_anew(task);
        });
  }
  Result work_anew(const Task& task) {
    replayed_ = true;
    return work(task);
  }

  /// Logs a worker's route when it has changed.
  void tell_route(const Post& post) {
    if (!host::is_logged(host::LogLevel::kDebug)) return;
    std::string now = post.worker->route();
    if (now.empty() || now == route_) return;
    route_ = std::move(now);
    host::log(host::LogLevel::kDebug, "%s: %s", post.place.backend->title, route_.c_str());
  }

  SessionHost& host_;
  int depth_;
  Make make_;
  std::optional<Prospect> prospect_;
  Post device_;            ///< starts tasks when they are submitted
  Post late_;              ///< processes tasks when they are collected: the CPU, or another device after a fault
  bool overlaps_ = false;  ///< the next task goes to device_
  bool replayed_ = false;
  Place worked_at_;
  std::string route_;                 ///< the last one logged
  Ring<Begun> tasks_;                 ///< submitted and not collected
  std::optional<Weighing> weighing_;  ///< none: it moves only after a fault
  std::future<Opened> opening_;       ///< valid: a device is being opened
};

}  // namespace framequality
