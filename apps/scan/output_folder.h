// SPDX-License-Identifier: LGPL-2.1-or-later
// --output: a table and a record of each file in one folder, safe against crashes, so that finished files need not be
// scanned again.
#pragma once

#include "apps/common/draft_file.h"
#include "apps/common/record.h"
#include "apps/scan/job.h"
#include "apps/scan/options.h"
#include "apps/scan/table.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace framequality::apps::scan {

/// All options that affect the rows of a file, as in records.
std::map<std::string, std::string> record_options(const Options& options);

/// Rows go to drafts; a thread of its own publishes tables and records, because the disk is slow. Several
/// programs on several machines may use one folder. Files are identified by their index in the list.
class OutputFolder final : public RowOutput {
 public:
  /// Makes the folder, removes drafts of killed runs, and with options.resume looks for finished files. `failed` is
  /// called from any thread when writing fails: no later file would succeed. Throws
  /// std::runtime_error.
  OutputFolder(const Options& options, std::function<void(const std::string& text)> failed);
  ~OutputFolder() override;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// True if nothing is left to do: it is in the folder, or earlier in the list.
  bool is_done(std::size_t index) const { return done_[index] != 0; }

  /// Main thread: the file's scan begins.
  void begin(std::size_t index);
  void add(std::size_t index, std::string_view text) override;
  void finish(std::size_t) override {}
  /// Main thread: the file's scan is over, with or without an error. False if the file changed since the
  /// beginning.
  bool keep(std::size_t index, const Result& result);
  /// Waits for the tables that were kept; the others are discarded. If `complete`, writes the list of errors
  /// then. Throws std::runtime_error.
  void close(bool complete);

 private:
  /// Identifies an unchanged file; empty for one that is missing or not local.
  struct State {
    std::optional<std::uint64_t> size;
    std::optional<std::int64_t> modified;
    bool operator==(const State&) const = default;
  };
  struct Draft {
    DraftFile table;
    State state;
    std::uint64_t bytes = 0;
    std::mutex mutex;
  };
  struct Kept {
    DraftFile table;
    Record record;
    std::string stem;
  };
  static State state_of(const std::string& name);
  std::unordered_set<std::string> clear() const;
  void leave_out_copies();
  void find_done(const std::unordered_set<std::string>& there);
  void look_at(std::size_t index, const std::string& stem);
  void run();
  void publish(std::deque<Kept>& batch) const;

  const Options& options_;
  const std::function<void(const std::string& text)> failed_;
  const std::map<std::string, std::string> record_options_;
  const std::string head_, ending_;
  std::vector<char> done_;  ///< not bits: threads set them
  std::vector<char> held_;  ///< the folder has its table, but the file is missing
  std::map<std::size_t, std::string> errors_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, std::unique_ptr<Draft>> drafts_;
  std::deque<Kept> kept_;
  bool closed_ = false, broken_ = false;
  std::thread thread_;
};

}  // namespace framequality::apps::scan
