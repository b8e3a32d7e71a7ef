// SPDX-License-Identifier: LGPL-2.1-or-later
// All that is done with one file: its rows, its summary, its pictures, its part of the report.
#pragma once

#include "apps/common/draft_file.h"
#include "apps/scan/scanner.h"
#include "apps/scan/table.h"
#include "apps/scan/window_pick.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// A frame with its picture.
struct Thumbnail {
  Moment moment;
  std::string jpeg;
};

/// What is known of a file when it is done.
struct Result {
  std::string name, error;      ///< error: empty, or why it is not complete
  std::vector<Moment> moments;  ///< every measured frame
  bool timed = true;            ///< the frames have times
  std::uint64_t decoded = 0;    ///< frames, measured or not
  VideoFacts video;
  std::uint64_t length = 0;  ///< ns from the first frame to the end of the last
  double seconds = 0;        ///< spent on it
  ZoneHistory zones{512};
  std::vector<Thumbnail> best, worst;  ///< most extreme first; only for a report
};

class Job {
 public:
  struct Outlet {
    const Table& table;
    OrderedOutput& output;
    std::function<void(const std::string& text)> warned;  ///< main thread
    std::function<void(const std::string& text)> failed;  ///< any thread: nothing can go on
    std::function<void()> ended;                          ///< main thread
  };
  /// `index`: of the file in the output. `options` and what the outlet refers to outlive the job.
  Job(Input input, std::size_t index, const Options& options, const MeterOptions& meter, Outlet outlet);
  /// Stops. Rows that were measured go out, pictures that are not complete go.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Needs the default main context to run.
  void start();

  /// Frames decoded so far, and the part of the work that is done, 0...1.
  std::uint64_t frames() const;
  double done() const;
  /// Once ended.
  Result& result() { return result_; }

 private:
  class Picks;
  void start_scan(const FileScan::OnFrame& on_frame, FileScan::OnEnd on_end);
  void take(const Measured& frame);
  void write_row(const Row& row);
  void first_ended(const std::string& error);
  bool windows_were_right(std::uint64_t length) const;
  void finish();

  const Input input_;
  const std::size_t index_;
  const Options& options_;
  const MeterOptions& meter_;
  const Outlet outlet_;
  const std::string prefix_;
  const bool wants_pictures_;
  Result result_;
  std::string text_;  ///< rows on their way out
  gint64 begun_ = 0, flushed_ = 0;
  std::uint64_t end_ = 0;      ///< ns: of the last frame
  std::uint64_t assumed_ = 0;  ///< ns: length that the windows were made for
  std::unique_ptr<Picks> picks_;
  std::unique_ptr<FileScan> scan_;
  std::uint64_t frames_before_ = 0;  ///< of a first pass
};

}  // namespace framequality::apps::scan
