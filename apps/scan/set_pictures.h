// SPDX-License-Identifier: LGPL-2.1-or-later
// Images of frames that were chosen of a set's videos.
#pragma once

#include "apps/scan/choices.h"
#include "apps/scan/fetch.h"
#include "apps/scan/machine.h"
#include "apps/scan/picks.h"

#include <functional>
#include <memory>
#include <string>

namespace framequality::apps::scan {

/// Reads videos one by one. Main thread only; needs the default main context to run.
class SetPictures {
 public:
  struct Calls {
    std::function<void(const std::string& name, const std::string& text)> warned;
    std::function<void(const std::string& why)> failed;  ///< any thread: a fatal error
    std::function<void()> ended;                         ///< one video is done: next() can be called
  };
  /// All references must outlive it.
  SetPictures(const Options& options, const MeterOptions& meter, TaskPool& threads, Machine& machine, Choices& choices,
              Calls calls);
  ~SetPictures();
  SetPictures(const SetPictures&) = delete;
  SetPictures& operator=(const SetPictures&) = delete;

  /// Starts the next video; false if all are done.
  bool next();

 private:
  void finish(const std::string& error);

  const Options& options_;
  const MeterOptions& meter_;
  TaskPool& threads_;
  Machine& machine_;
  Choices& choices_;
  const Calls calls_;
  std::size_t input_ = 0;
  int gpu_ = -1;
  std::unique_ptr<Picks> picks_;
  std::unique_ptr<Fetch> fetch_;  ///< uses picks_
};

}  // namespace framequality::apps::scan
