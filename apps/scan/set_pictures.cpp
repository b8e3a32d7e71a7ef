// SPDX-License-Identifier: LGPL-2.1-or-later
// Images of frames that were chosen of a set's videos.
#include "apps/scan/set_pictures.h"

#include "apps/common/text.h"

#include <exception>
#include <utility>

namespace framequality::apps::scan {

SetPictures::SetPictures(const Options& options, const MeterOptions& meter, TaskPool& threads, Machine& machine,
                         Choices& choices, Calls calls)
    : options_(options),
      meter_(meter),
      threads_(threads),
      machine_(machine),
      choices_(choices),
      calls_(std::move(calls)) {}

SetPictures::~SetPictures() = default;

bool SetPictures::next() {
  const auto video = choices_.next_video();
  if (!video) return false;
  input_ = video->input;
  const Input& input = options_.inputs[input_];
  picks_ = std::make_unique<Picks>(options_, input, Windows{}, video->timed, threads_, calls_.failed);
  Fetch::Calls calls;
  calls.frame = [this](const Measured& frame) {
    const Owned<GstSample> sample(gst_sample_new(frame.buffer, frame.caps, nullptr, nullptr));
    picks_->add({frame.row.frame, frame.row.time.value_or(0), frame.row.score}, sample.get(), frame.video);
  };
  calls.warned = [this, &input](const std::string& text) { calls_.warned(input.name, text); };
  calls.ended = [this](const std::string& error) { finish(error); };
  gpu_ = machine_.take_place();
  fetch_ = std::make_unique<Fetch>(input.address, meter_, gpu_, options_.stall_timeout, video->moments, video->timed,
                                   std::move(calls));
  fetch_->start();
  return true;
}

void SetPictures::finish(const std::string& error) {
  fetch_.reset();
  machine_.free_place(gpu_);
  if (!error.empty()) {
    calls_.failed(printable(options_.inputs[input_].name) + ": its images are incomplete: " + error);
    return;
  }
  try {
    choices_.set_pictures(input_, picks_->finish(0).pictures);
  } catch (const std::exception& e) {
    calls_.failed(e.what());
  }
  picks_.reset();
  calls_.ended();
}

}  // namespace framequality::apps::scan
