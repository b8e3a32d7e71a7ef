// SPDX-License-Identifier: LGPL-2.1-or-later
// The event log: a file, or stdout.
#include "apps/watch/log.h"

#include "apps/common/text.h"
#include "apps/common/threads.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr std::size_t kMostBytes = 4 << 20;
constexpr std::chrono::milliseconds kPause{1000}, kPatience{500};
constexpr int kPoll = 100;  // ms
constexpr mode_t kForAll = 0666;

int opened(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe without a reader would block.
  return open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kForAll);
}

}  // namespace

Log::Log(std::string path, OnTrouble on_trouble) : path_(std::move(path)), on_trouble_(std::move(on_trouble)) {
  descriptor_ = path_.empty() ? STDOUT_FILENO : opened(path_);
  if (descriptor_ < 0) throw std::runtime_error("cannot write " + printable(path_) + ": " + std::strerror(errno));
  thread_ = make_thread([this] { work(); });
}

Log::~Log() {
  close(kPatience);
  thread_.join();
  if (!path_.empty() && descriptor_ >= 0) ::close(descriptor_);
}

void Log::write(std::string line) {
  const std::lock_guard lock(mutex_);
  if (bytes_ + line.size() > kMostBytes) {
    ++lost_;
    return;
  }
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  more_.notify_one();
}

void Log::reopen() {
  const std::lock_guard lock(mutex_);
  reopen_ = true;
  more_.notify_one();
}

void Log::close(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  less_.wait_for(lock, patience, [this] { return lines_.empty(); });
  ending_ = true;
  more_.notify_one();
}

void Log::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    more_.wait(lock, [this] { return ending_ || reopen_ || !lines_.empty(); });
    if (std::exchange(reopen_, false) && !path_.empty()) {
      lock.unlock();
      open_file();
      lock.lock();
    }
    if (lines_.empty() || ending_) continue;
    // Unlocked, the first line stays in place: only this thread removes lines.
    const std::string& line = lines_.front();
    lock.unlock();
    const Outcome outcome = write_some(line);
    lock.lock();
    if (outcome == Outcome::kFailed) more_.wait_for(lock, kPause, [this] { return ending_ || reopen_; });
    if (outcome != Outcome::kWhole) continue;
    bytes_ -= line.size();
    lines_.pop_front();
    written_ = 0;
    if (lines_.empty()) less_.notify_all();
    if (const auto lost = std::exchange(lost_, 0); lost > 0) {
      lock.unlock();
      on_trouble_(std::to_string(lost) + " events were lost: they could not be written", false);
      lock.lock();
    }
  }
}

void Log::open_file() {
  const int fresh = opened(path_);
  // The old file is better than none.
  if (fresh < 0) return complain("cannot write " + printable(path_) + ": " + std::strerror(errno));
  ::close(std::exchange(descriptor_, fresh));
  // The rest of a line must not start another file.
  written_ = 0;
}

Log::Outcome Log::write_some(const std::string& line) {
  // A pipe that is ready takes this much: a reader that stops reading must not block the thread.
  pollfd ready{descriptor_, POLLOUT, 0};
  if (poll(&ready, 1, kPoll) == 0) return Outcome::kPart;
  const ssize_t count =
      ::write(descriptor_, line.data() + written_, std::min<std::size_t>(line.size() - written_, PIPE_BUF));
  if (count >= 0) {
    written_ += static_cast<std::size_t>(count);
    troubled_ = false;
    return written_ == line.size() ? Outcome::kWhole : Outcome::kPart;
  }
  const int reason = errno;
  if (reason == EAGAIN || reason == EINTR) return Outcome::kPart;
  const std::string name = path_.empty() ? "the events" : printable(path_);
  complain("cannot write " + name + ": " + std::strerror(reason), path_.empty() && reason == EPIPE);
  return Outcome::kFailed;
}

void Log::complain(const std::string& text, bool reader_left) {
  if (!std::exchange(troubled_, true) || reader_left) on_trouble_(text, reader_left);
}

}  // namespace framequality::apps::watch
