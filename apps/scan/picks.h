// SPDX-License-Identifier: LGPL-2.1-or-later
// The images of one file: chosen while its frames arrive, made in other threads.
#pragma once

#include "apps/common/draft_file.h"
#include "apps/common/task_pool.h"
#include "apps/scan/window_pick.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// A frame with its image.
struct Thumbnail {
  Moment moment;
  std::string jpeg;
};

/// A frame with its file.
struct Picture {
  Moment moment;
  std::string path;
  int width = 0, height = 0;  ///< pixels
};

struct Chosen {
  std::vector<Picture> pictures;       ///< in the order of the clip
  std::vector<Thumbnail> best, worst;  ///< most extreme first; only for a report; of a single frame only `best`
};

/// Threads for the images of all files. They wait for frames, and streams wait for them: at most twice as many frames
/// are kept as they work on.
std::unique_ptr<TaskPool> make_picture_threads();

/// The frames of a clip that --best or --every chooses. `clip`: in ns if the frames are `timed`, else in frames. As
/// indices.
std::vector<std::size_t> chosen_of_clip(const Options& options, const std::vector<Moment>& moments, const Windows& clip,
                                        bool timed);

/// All frames that Picks makes images of, ascending: it chooses the same if it is offered no others.
std::vector<Moment> pictured_of_clip(const Options& options, const std::vector<Moment>& moments, const Windows& clip,
                                     bool timed);

/// Images for --best, --every and --report. offer() and add() are for one thread at a time; frames are copied before
/// they return, because decoders own few. They throw std::runtime_error if a frame cannot be read.
class Picks {
 public:
  /// Chooses by options.every from the first frame on, else options.best of `clip`; the report's of `clip` too.
  /// `clip`: in ns if the frames are `timed`, else in frames. `failed`: any thread; why an image cannot be made or
  /// written. Options and pool outlive this.
  Picks(const Options& options, const Input& input, const Windows& clip, bool timed, TaskPool& pool,
        std::function<void(const std::string&)> failed);
  ~Picks() = default;  ///< unpublished images are removed
  Picks(const Picks&) = delete;
  Picks& operator=(const Picks&) = delete;

  /// Number and place of the clip's first frame, if that may not be offered.
  void begin(std::uint64_t frame, std::uint64_t position);
  /// Offers the next frame, and its place in the clip.
  void offer(const Measured& frame, std::uint64_t position);
  /// Adds a frame that was chosen before: it is exported whatever else is offered.
  void add(const Moment& moment, GstSample* frame, const VideoFacts& video);
  /// Ends the choice. Waits for the images; the files get their names. `length`: of the clip, ns. Nothing is
  /// published or returned after a failure. Throws std::runtime_error if a file cannot get its name.
  Chosen finish(std::uint64_t length);

 private:
  struct Export {
    Picture picture;
    std::optional<DraftFile> draft;
  };
  void export_frame(const Moment& moment, GstSample* frame);
  void keep_photograph(const Moment& moment, GstSample* frame);
  void keep_thumbnail(std::deque<Thumbnail>& in, const Moment& moment, GstSample* frame);
  std::uint64_t every_place(std::uint64_t frame, std::uint64_t position) const;
  void see(const VideoFacts& video);
  std::string path(const Moment& at) const;
  std::string description(const Moment& at) const;

  const Options& options_;
  const Input input_;
  const bool timed_;
  std::optional<WindowPick> every_;  ///< from the first frame on
  std::vector<WindowPick> pickers_;
  std::uint64_t offered_ = 0;
  GstVideoOrientationMethod orientation_ = GST_VIDEO_ORIENTATION_IDENTITY;
  std::shared_ptr<GstTagList> tags_;
  // Tasks write results into these; a deque's entries do not move.
  std::deque<Export> exports_;
  std::deque<Thumbnail> best_, worst_;
  TaskGroup tasks_;  ///< last: it waits for tasks that use the others
};

}  // namespace framequality::apps::scan
