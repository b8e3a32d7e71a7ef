// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes JPEGs of frames in a thread of its own.
#include "apps/watch/encoder.h"

#include "apps/common/pictures.h"

#include <stdexcept>
#include <utility>

namespace framequality::apps::watch {

namespace {

// Each holds a frame: decoders own few, and memory is limited.
constexpr std::size_t kMostTasks = 16;
constexpr int kQuality = 85;

}  // namespace

Encoder::Encoder() : pool_(1, kMostTasks) {}

bool Encoder::submit(Owned<GstSample> frame, int longest, OnDone done) {
  auto encode = [longest, done = std::move(done), frame = std::move(frame)]() mutable {
    std::string jpeg, error;
    try {
      View view;
      view.longest = longest;
      jpeg = jpeg_of(frame.get(), view, kQuality);
    } catch (const std::runtime_error& e) {
      error = e.what();
    }
    frame.reset();
    done(jpeg, error);
  };
  return pool_.try_submit(TaskPool::Task(std::move(encode)));
}

}  // namespace framequality::apps::watch
