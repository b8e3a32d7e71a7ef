// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of scores: its rows as text, and output to stdout that keeps every file's rows together and in order.
#pragma once

#include "apps/common/json.h"
#include "apps/scan/moments.h"
#include "apps/scan/options.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace framequality::apps::scan {

/// One measured frame.
struct Row {
  std::uint64_t frame;                ///< number in the clip, from 0; unmeasured ones count
  std::optional<std::uint64_t> time;  ///< ns
  double score;
  std::span<const double> zones;  ///< row by row; empty without zones
  std::uint64_t duration = 0;     ///< ns; 0: unknown. Not in the table, like the following
  std::optional<Travel> travel = {};
  std::uint64_t place = 0;  ///< see Moment
  bool damaged = false;     ///< decoded from incomplete data: never chosen; in the table
};

/// Turns rows into text.
class Table {
 public:
  Table(Format format, const MeterOptions& meter);
  /// The header of a CSV table, nothing for JSON lines.
  std::string head() const;
  /// The columns shared by all rows of a file, for append().
  std::string prefix(const std::string& file) const;
  /// Appends one line.
  void append(std::string& text, const std::string& prefix, const Row& row) const;

 private:
  Json json_of(const std::string& file, const Row& row) const;

  Format format_;
  std::string metric_;
  std::size_t columns_, rows_;
};

/// Destination of the rows of files. Thread-safe.
class RowOutput {
 public:
  RowOutput() = default;
  virtual ~RowOutput() = default;
  RowOutput(const RowOutput&) = delete;
  RowOutput& operator=(const RowOutput&) = delete;
  /// Adds text of file `index`.
  virtual void add(std::size_t index, std::string_view text) = 0;
  /// Ends the text of file `index`.
  virtual void finish(std::size_t index) = 0;
};

/// Writes the text of many files to one descriptor, file by file, from a thread of its own.
class OrderedOutput final : public RowOutput {
 public:
  /// `failed` is called once, from that thread, when writing fails; error() then has the reason.
  OrderedOutput(int descriptor, std::size_t files, std::function<void()> failed);
  ~OrderedOutput() override;
  OrderedOutput(const OrderedOutput&) = delete;
  OrderedOutput& operator=(const OrderedOutput&) = delete;

  /// Waits while too much of the file being written is pending.
  void add(std::size_t index, std::string_view text) override;
  void finish(std::size_t index) override;
  /// Ends all waiting in add(), however much has to be kept.
  void release();
  /// Writes everything that was added; do not call add() again. Returns error().
  int close();
  /// errno of the write that failed, else 0.
  int error() const;

 private:
  struct Part {
    std::string text;
    bool finished = false;
  };
  void run();
  bool write(const std::string& text);

  const int descriptor_;
  const std::function<void()> failed_;
  mutable std::mutex mutex_;
  std::condition_variable to_write_, written_;
  std::vector<Part> parts_;
  std::size_t current_ = 0;
  bool closed_ = false, released_ = false;
  int error_ = 0;
  std::thread thread_;
};

}  // namespace framequality::apps::scan
