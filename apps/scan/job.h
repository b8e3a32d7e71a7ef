// SPDX-License-Identifier: LGPL-2.1-or-later
// All work on one file: its rows, its summary, its images, its part of the report.
#pragma once

#include "apps/common/later.h"
#include "apps/scan/fetch.h"
#include "apps/scan/picks.h"
#include "apps/scan/scanner.h"
#include "apps/scan/segments.h"
#include "apps/scan/table.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framequality::apps::scan {

/// The result of a file.
struct Result {
  std::string name, error;      ///< error: why it is incomplete, or empty
  std::vector<Moment> moments;  ///< every measured frame
  bool timed = true;            ///< the frames have times
  std::uint64_t decoded = 0;    ///< frames, measured or not
  VideoFacts video;
  std::uint64_t length = 0;  ///< ns from the first frame to the end of the last
  double seconds = 0;        ///< spent on it
  ZoneHistory zones{512};
  Chosen chosen;
  std::optional<std::uint64_t> look;  ///< perceptual_hash() of the first frame, with --similar
};

class Job {
 public:
  struct Outlet {
    const Table& table;
    RowOutput& output;
    TaskPool& picture_threads;
    std::function<void(const std::string& text)> warned;  ///< main thread
    std::function<void(const std::string& text)> failed;  ///< any thread: a fatal error
    std::function<void(bool on_gpu)> decoded;             ///< main thread: the first frame has arrived
    std::function<void()> cuttable;                       ///< main thread: add_scan() can be called
    std::function<void(int gpu)> freed;  ///< main thread: a scan on that GPU is gone. Perhaps after this
    std::function<void()> ended;         ///< main thread
  };
  /// `index`: of the file in the output. `gpu`: where its first scan runs, -1 for no particular one. `options` and
  /// everything that the outlet refers to outlive the job.
  Job(Input input, std::size_t index, const Options& options, const MeterOptions& meter, int gpu, Outlet outlet);
  /// Stops. Measured rows are written, incomplete images are removed.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Starts; needs the default main context to run.
  void start();
  /// Scans a further part of the file at the same time, on this GPU; false if no part is worth it.
  bool add_scan(int gpu);
  std::size_t scans() const { return scans_.size(); }
  bool is_on_gpu() const { return on_gpu_; }

  /// Frames decoded so far, and the share of the work that is done, 0...1.
  std::uint64_t frames() const;
  double done() const;
  /// The result; valid once ended.
  Result& result() { return result_; }

 private:
  /// A scan, and its current segment of the file.
  struct Running {
    int gpu;
    std::atomic<std::size_t> segment;
    bool is_broken = false;
    bool is_done = false;  ///< the segment needs no more frames
    bool stands = false;   ///< no more frames come
    std::unique_ptr<FileScan> scan;
  };
  Running& run(int gpu, std::size_t segment);
  bool take(Running& running, const Measured& frame);
  void tell(const Row& row);
  void write_row(const Row& row);
  void opened(const Running& running);
  void failed(Running& running, const std::string& why);
  std::optional<std::uint64_t> next_bound() const;
  Running* scan_of(std::size_t segment);
  void segment_done(std::size_t segment);
  void scan_stands(std::size_t segment);
  void use_again(Running& running);
  void free_scan(const Running& over);
  void scans_ended(std::size_t segment, const std::string& error);
  void fetch_pictures();
  void make_picks(const Windows& clip, bool timed);
  bool windows_were_right(std::uint64_t length) const;
  void finish();

  const Input input_;
  const std::size_t index_;
  const Options& options_;
  const MeterOptions& meter_;
  const int gpu_;
  const Outlet outlet_;
  const std::string prefix_;
  const bool once_;                           ///< the input cannot be read again
  const bool wants_pictures_, needs_length_;  ///< needs_length_: of the clip, to choose images
  Result result_;
  std::string text_;  ///< rows on their way out
  gint64 begun_ = 0, flushed_ = 0;
  std::uint64_t end_ = 0;                ///< ns: end of the last frame
  std::uint64_t assumed_ = 0;            ///< ns: length assumed for the windows
  std::uint64_t latest_ = 0;             ///< ns: of the first scan
  std::atomic<std::uint64_t> told_ = 0;  ///< rows
  std::atomic<bool> is_cut_ = false;
  bool may_cut_ = false, on_gpu_ = false;
  std::uint64_t duration_ = 0;                                         ///< ns
  double rate_ = 0;                                                    ///< frames per second; 0: unknown
  std::optional<Stretches> stretches_;                                 ///< with --every N%: frames must come in order
  std::vector<std::pair<std::optional<Travel>, std::uint64_t>> ways_;  ///< of the rows; Moment::travel and place
  std::unique_ptr<Picks> picks_;
  std::unique_ptr<Fetch> fetch_;

  LaterCalls later_;
  Segments segments_;
  std::vector<std::unique_ptr<Running>> scans_;
};

}  // namespace framequality::apps::scan
