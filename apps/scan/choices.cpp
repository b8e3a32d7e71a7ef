// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of images among all inputs, per input or of the set, and their export.
#include "apps/scan/choices.h"

#include "apps/common/text.h"
#include "apps/scan/originals.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace framequality::apps::scan {

namespace {

/// The moments chosen of a clip, for runs that make no images.
std::vector<Moment> chosen_of(const Options& options, const Result& result) {
  if (result.moments.empty() || !options.picks()) return {};
  const Windows clip = result.timed ? Windows{result.moments.front().time, result.length} : Windows{0, result.decoded};
  std::vector<Moment> chosen;
  for (const std::size_t i : chosen_of_clip(options, result.moments, clip, result.timed))
    chosen.push_back(result.moments[i]);
  return chosen;
}

}  // namespace

Choices::Choices(const Options& options) : options_(options) {
  if (!options.picks() && options.manifest.empty()) return;
  if (options.set && options.picks())
    set_.emplace(options);
  else
    parts_.resize(options.inputs.size());
}

void Choices::add(std::size_t index, Result&& result) {
  if (!result.error.empty()) ++failed_;
  exported_ += result.chosen.pictures.size();
  if (set_)
    set_->add(index, Member(std::move(result)));
  else if (!parts_.empty())
    parts_[index] = part_of(index, result);
}

Choices::Part Choices::part_of(std::size_t index, const Result& result) const {
  const VideoFacts& video = result.video;
  Part part;
  part.candidates = result.moments.size();
  part.damaged = static_cast<std::uint64_t>(std::ranges::count_if(result.moments, &Moment::damaged));
  const auto add = [&](const Moment& m, const std::string& path, int width, int height) {
    // A photograph is a clip of one frame here: not chosen among others, so no original to keep.
    part.chosen.push_back({index, false, path, result.name, m.frame,
                           result.timed && !video.picture ? std::optional(m.time) : std::nullopt, m.score, width,
                           height, m.travel});
  };
  if (options_.exports_clips())
    for (const Picture& p : result.chosen.pictures) add(p.moment, p.path, p.width, p.height);
  else
    for (const Moment& m : chosen_of(options_, result))
      add(m, video.picture ? local_file(result.name) : "", video.width, video.height);
  if (!result.error.empty()) part.rejected = {result.name, {}, {}, {}, result.error};
  return part;
}

Selected Choices::gather() {
  if (set_) return set_->choose();
  Selected selected;
  for (Part& part : parts_) {
    selected.candidates += part.candidates;
    selected.damaged += part.damaged;
    std::move(part.chosen.begin(), part.chosen.end(), std::back_inserter(selected.chosen));
    if (part.rejected) selected.rejected.push_back(std::move(*part.rejected));
  }
  parts_.clear();
  return selected;
}

bool Choices::place_next() {
  if (!selected_) selected_ = gather();
  while (placed_ < selected_->chosen.size()) {
    ChosenFrame& frame = selected_->chosen[placed_++];
    if (!frame.picture || options_.export_dir.empty()) continue;
    if (frame.path.empty())
      throw std::runtime_error("cannot copy " + printable(frame.source) + ": it is not a local file");
    const std::string path = options_.export_dir + '/' + options_.inputs[frame.input].file;
    place_original(frame.path, path, options_.originals);
    frame.path = path;
    ++exported_;
    return true;
  }
  return false;
}

std::optional<Choices::Video> Choices::next_video() {
  if (!set_ || options_.export_dir.empty()) return std::nullopt;
  const std::vector<ChosenFrame>& all = selected_->chosen;
  while (pictured_ < all.size() && all[pictured_].picture) ++pictured_;
  if (pictured_ == all.size()) return std::nullopt;
  // The frames of an input are adjacent, in order.
  Video video{all[pictured_].input, true, {}};
  for (; pictured_ < all.size() && all[pictured_].input == video.input; ++pictured_) {
    const ChosenFrame& frame = all[pictured_];
    if (!frame.time) video.timed = false;
    video.moments.push_back({frame.frame, frame.time.value_or(0), frame.score});
  }
  return video;
}

void Choices::set_pictures(std::size_t input, const std::vector<Picture>& pictures) {
  exported_ += pictures.size();
  // Both in the order of frames; those of an input are adjacent.
  auto frame = std::find_if(selected_->chosen.begin(), selected_->chosen.end(),
                            [input](const ChosenFrame& f) { return f.input == input; });
  for (const Picture& picture : pictures) {
    while (frame != selected_->chosen.end() && frame->input == input && frame->frame != picture.moment.frame) ++frame;
    if (frame == selected_->chosen.end() || frame->input != input) return;
    frame->path = picture.path;
    frame->width = picture.width;
    frame->height = picture.height;
  }
}

}  // namespace framequality::apps::scan
