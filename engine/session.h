// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream's worker at its place and, after a fault, at the next one, which works anew on what the device had.
#pragma once

#include "algorithms/worker.h"
#include "device/backend.h"
#include "device/error.h"
#include "host/log.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace framequality {

/// What a session asks of whoever runs it.
class SessionHost {
 public:
  /// Makes the context of frames in a device's memory current until leave(). False if there is none, and nothing to
  /// leave. May throw.
  virtual bool enter() = 0;
  virtual void leave() noexcept = 0;
  /// Where work goes on after a device has failed at `failed`. Throws if it does not go on.
  virtual Place fall_back(const Error& fault, const Place& failed) = 0;

 protected:
  ~SessionHost() = default;
};

/// Whoever submits a task keeps what it points to until it has been collected. Throws what workers and the host throw.
/// Thread-safety: one thread at a time.
template <class Task, class Result>
class Session {
 public:
  /// A worker at this place that takes `depth` tasks before the first is collected.
  using Make = std::function<std::unique_ptr<Worker<Task, Result>>(const Place& place, int depth)>;

  Session(SessionHost& host, const Place& place, int depth, Make make)
      : host_(host), place_(place), depth_(depth), make_(std::move(make)) {
    make_worker();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { release(); }

  /// Begins with a task. On the CPU that is left to collect(), since it would be done in this thread.
  void submit(const Task& task) {
    if (!overlaps_) return;
    const Visit visit(host_);
    with_recovery(
        [&] {
          worker_->submit(task);
          ++pending_;
          tell_route();
        },
        [&](const Error& fault) { fall_back(fault); });
  }

  /// The result of `oldest`, the task submitted first of those not collected.
  Result collect(const Task& oldest) {
    const Visit visit(host_);
    if (!overlaps_) return work(oldest);
    --pending_;  // also if it fails
    return with_recovery([&] { return worker_->collect(); },
                         [&](const Error& fault) {
                           fall_back(fault);
                           return work(oldest);
                         });
  }

  /// True if the task collected last had to be worked on anew.
  bool replayed() const { return replayed_; }
  const Place& place() const { return place_; }

  /// Waits until the worker has let go of all tasks, and forgets them.
  void drop() noexcept {
    if (pending_ > 0) host::log(host::LogLevel::kDebug, "%d tasks are dropped", pending_);
    guard(false, [&] {
      const Visit visit(host_);
      for (; pending_ > 0; --pending_)
        guard(false, [&] {
          worker_->collect();
          return true;
        });
      return true;
    });
    pending_ = replays_ = 0;
  }

  /// Calls change(), which changes the context of frames in a device's memory, between the last use of the old one and
  /// the first of the new one. No task is pending.
  template <class F>
  void rebuild(F&& change) {
    host::log(host::LogLevel::kDebug, "the frames' context is another one: %s begins anew", place_.backend->title);
    release();
    std::forward<F>(change)();
    make_worker();
  }

 private:
  /// The host's context is current while this lives.
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

  void make_worker() {
    const Visit visit(host_);
    overlaps_ = !is_cpu(*place_.backend);
    with_recovery([&] { worker_ = make_(place_, depth_); }, [&](const Error& fault) { move_on(fault, place_); });
    host::log(host::LogLevel::kDebug, "a session begins on %s, %d tasks at a time", place_.backend->title,
              overlaps_ ? depth_ : 1);
  }
  void release() noexcept {
    guard(false, [&] {
      const Visit visit(host_);
      worker_.reset();
      return true;
    });
    worker_.reset();
  }
  /// The tasks pending, and the one in hand, will be worked on at the next place.
  void fall_back(const Error& fault) {
    move_on(fault, place_);
    replays_ += std::exchange(pending_, 0) + 1;
  }
  /// Tasks are no longer begun with before they are collected: those that come are behind those to be replayed. If it
  /// throws, the worker is there still, and drop() waits for it.
  void move_on(const Error& fault, const Place& failed) {
    const Place next = host_.fall_back(fault, failed);
    host::log(host::LogLevel::kInfo, "%s failed (%s): %s goes on, with %d tasks that it had", failed.backend->title,
              fault.what(), next.backend->title, pending_);
    with_recovery(
        [&] {
          worker_ = make_(next, 1);
          place_ = next;
          overlaps_ = false;
        },
        [&](const Error& another) { move_on(another, next); });
  }
  Result work(const Task& task) {
    replayed_ = replays_ > 0;
    if (replayed_) --replays_;
    return with_recovery(
        [&] {
          worker_->submit(task);
          tell_route();
          return worker_->collect();
        },
        [&](const Error& fault) {
          fall_back(fault);
          return work(task);
        });
  }

  /// Logs how the worker goes about its tasks, where that has changed.
  void tell_route() {
    if (!host::is_logged(host::LogLevel::kDebug)) return;
    std::string now = worker_->route();
    if (now.empty() || now == route_) return;
    route_ = std::move(now);
    host::log(host::LogLevel::kDebug, "%s: %s", place_.backend->title, route_.c_str());
  }

  SessionHost& host_;
  Place place_;
  int depth_;
  Make make_;
  std::unique_ptr<Worker<Task, Result>> worker_;
  bool overlaps_ = false;  ///< tasks are submitted before those in front of them are collected
  bool replayed_ = false;
  std::string route_;  ///< as it was logged
  int pending_ = 0;    ///< tasks that the worker has
  int replays_ = 0;    ///< tasks that a device had and that are to be collected
};

}  // namespace framequality
