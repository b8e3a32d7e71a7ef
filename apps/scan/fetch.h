// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of a file that was scanned before, read once more for their images.
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

/// Made, started and ended in the main thread; it needs the default main context to run.
class Fetch {
 public:
  struct Calls {
    /// A frame that was wanted, with the number it has in the file; in their order, by one thread at a time. May throw,
    /// which ends it with that error.
    std::function<void(const Measured&)> frame;
    /// Main thread.
    std::function<void(const std::string& text)> warned;
    /// Once, in the main thread, unless this is destroyed first; it may destroy this. `error`: empty, or why not all
    /// frames were found.
    std::function<void(const std::string& error)> ended;
  };
  /// `wanted`: ascending, at least one. If they are `timed`, several scans go from one to the next by keyframes and
  /// times; where that does not find the very frame again, with its score, they seek further back; if that does not
  /// help either, or without times, the file is read from its beginning and frames are counted.
  /// stall_timeout: of FileScan.
  Fetch(std::string name, const MeterOptions& meter, int gpu, int stall_timeout, std::vector<Moment> wanted, bool timed,
        Calls calls);
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  void start();
  /// The part of the frames that are found, 0...1.
  double done() const;

 private:
  struct Reader {
    std::size_t target = 0;  ///< the frame that it looks for
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
  std::uint64_t lead_ = 0;  ///< ns before a frame; likewise

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, told_ = 0;   ///< first one that nobody looks for; first one that was not told
  std::map<std::size_t, Kept> kept_;  ///< found before their turn
  bool is_over_ = false;
  LaterCalls later_;
  /// The last: they use the rest. old_: whose scans are gone, as calls may still refer to them.
  std::vector<std::unique_ptr<Reader>> old_, readers_;
};

}  // namespace framequality::apps::scan
