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

/// A record is written after its table: where there is one, the table was complete.
struct Record {
  std::string file;                      ///< as it was given, UTF-8
  std::optional<std::uint64_t> size;     ///< bytes; none if it was no local file, or not there
  std::optional<std::int64_t> modified;  ///< ns since 1970, when the scan began
  std::string program;                   ///< version of the one that wrote it
  /// Everything that decides what the rows say, by name; values are JSON.
  std::map<std::string, std::string> options;
  std::string unit;                               ///< of the scores, for people
  std::string table;                              ///< its name in the folder
  std::uint64_t bytes = 0, rows = 0, frames = 0;  ///< of the table; in the table; decoded
  std::string error;                              ///< empty, or why the file is not in the table to its end
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

/// What table and record of a file are called before their endings: different for every name of a file, the same for a
/// name in whatever list it stands.
std::string record_stem(std::string_view file);

/// True for what a record may be called.
bool is_record_name(std::string_view name);

/// The record as it is written.
std::string record_json(const Record& record);

/// Reads one; without `curve` faster, for many of them. Throws std::runtime_error with path and reason if there is
/// none, or it is none, whatever it holds instead.
Record read_record(const std::string& path, bool curve = true);

}  // namespace framequality::apps
