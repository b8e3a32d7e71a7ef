// SPDX-License-Identifier: LGPL-2.1-or-later
// Record of a file that was scanned into a folder of tables: the JSON file next to its table.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {

/// A measured frame.
struct Extreme {
  double score = 0;
  std::uint64_t frame = 0, time = 0;  ///< number in the clip; ns, 0 if unknown
};

struct ScoreFacts {
  Extreme min, max;
  double median = 0;
};

/// A record is written after its table: if it exists, the table was complete.
struct Record {
  std::string file;                      ///< as given, UTF-8
  std::optional<std::uint64_t> size;     ///< bytes; none if it was not a local file, or missing
  std::optional<std::int64_t> modified;  ///< ns since 1970, when the scan began
  std::string program;                   ///< version of the program that wrote it
  /// All options that affect the rows, by name; values are JSON.
  std::map<std::string, std::string> options;
  std::string unit;                               ///< of the scores, for people
  std::string table;                              ///< its file name in the folder
  std::uint64_t bytes = 0, rows = 0, frames = 0;  ///< of the table; in the table; decoded
  std::string error;                              ///< why the table does not have the whole file; empty if it does
  double seconds = 0;                             ///< spent on it
  int width = 0, height = 0;                      ///< pixels
  double rate = 0;                                ///< frames/s, 0 if unknown or variable
  std::string format, codec;                      ///< GStreamer's name; a description; may be empty
  std::uint64_t length = 0;                       ///< ns from the first frame to the end of the last
  bool timed = true;                              ///< the frames have times
  std::optional<ScoreFacts> scores;               ///< none without rows
  std::vector<std::array<double, 3>> curve;       ///< mean, min, max of equally many rows each
};

inline constexpr std::size_t kCurveSteps = 200;  ///< at most
inline constexpr char kRecordEnding[] = ".json";

/// File name, without extension, of a file's table and record: different for every name of a file, the same for a
/// name in any list.
std::string record_stem(std::string_view file);

/// True if a record may have this name.
bool is_record_name(std::string_view name);

/// The record as a JSON document.
std::string record_json(const Record& record);

/// Reads a record; without `curve` faster, for many of them. Throws std::runtime_error with path and reason if it is
/// missing or not a record, whatever it holds instead.
Record read_record(const std::string& path, bool curve = true);

}  // namespace framequality::apps
