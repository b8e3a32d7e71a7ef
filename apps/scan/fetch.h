// SPDX-License-Identifier: LGPL-2.1-or-later
// A second reading of a scanned file, for the images of its frames.
#pragma once

#include "apps/common/later.h"
#include "apps/scan/moments.h"
#include "apps/scan/scanner.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// Construct, start and destroy it in the main thread; it needs the default main context to run.
class Fetch {
 public:
  struct Calls {
    /// A requested frame, with its number in the file; in their order, by one thread at a time. May throw,
    /// which ends it with that error.
    std::function<void(const Measured&)> frame;
    /// Called in the main thread.
    std::function<void(const std::string& text)> warned;
    /// Called once, in the main thread, unless this is destroyed first; it may destroy this. `error`: why not all
    /// frames were found, or empty.
    std::function<void(const std::string& error)> ended;
  };
  /// `wanted`: ascending, at least one. If they are `timed`, several scans seek from one to the next by keyframes and
  /// times; if that does not find exactly the same frame, with its score, they seek further back; if that does not
  /// help either, or without times, the file is read from its beginning and frames are counted.
  /// stall_timeout: of FileScan.
  Fetch(std::string name, const MeterOptions& meter, int gpu, int stall_timeout, std::vector<Moment> wanted, bool timed,
        Calls calls);
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  void start();
  /// The share of the frames that have been found, 0...1.
  double done() const;

 private:
  struct Reader {
    std::size_t target = 0;  ///< index of the frame that it looks for
    std::unique_ptr<FileScan> scan;
  };
  struct Kept {
    Row row;
    Owned<GstSample> sample;
    VideoFacts video;
  };
  void add_reader();
  std::uint64_t place_for(std::size_t target) const;
  void start_again();
  bool take(Reader& reader, const Measured& frame);
  void keep(std::size_t target, const Measured& frame);
  void fail(const std::string& why);

  const std::string name_;
  MeterOptions meter_;
  const int gpu_, stall_timeout_;
  const std::vector<Moment> wanted_;
  const Calls calls_;
  bool seeks_;              ///< changed while there is no reader
  std::uint64_t lead_ = 0;  ///< ns to seek before a frame; likewise

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, told_ = 0;   ///< first one that no reader looks for; first one not yet reported
  std::map<std::size_t, Kept> kept_;  ///< found before their turn
  bool is_over_ = false;
  LaterCalls later_;
  /// Last: they use the rest. old_: those whose scans are gone, because calls may still refer to them.
  std::vector<std::unique_ptr<Reader>> old_, readers_;
};

}  // namespace framequality::apps::scan
