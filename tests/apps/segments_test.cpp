// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of one file from several scans at once: those of one scan, whatever the cuts are like.
#include "apps/scan/segments.h"

#include "tests/support/eventually.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace framequality::apps::scan {
namespace {

constexpr std::uint64_t kFrame = 40'000'000;  // ns

struct Told {
  std::uint64_t frame, time;
  double score, zone;
  bool operator==(const Told&) const = default;
};

/// A file: what a scan from the beginning gives, and what one gives that begins at a keyframe.
struct File {
  std::uint64_t frames = 0, keyframes = 1;
  /// Changes the score of a frame for scans that begin at `key`.
  std::function<double(std::uint64_t frame, std::uint64_t key, double score)> from_key;

  double score(std::uint64_t frame, std::uint64_t key) const {
    const double right = 100 + static_cast<double>(frame * 7919 % 1009);
    return key > 0 && from_key ? from_key(frame, key, right) : right;
  }
  std::uint64_t key_before(std::uint64_t time) const {
    return std::min(time / kFrame, frames - 1) / keyframes * keyframes;
  }
};

/// Scans of a file in threads, as FileScan and Job run them.
class Scans {
 public:
  explicit Scans(const File& file)
      : file_(file),
        segments_(
            [this](const Row& row) {
              ASSERT_EQ(row.zones.size(), 1U);
              told_.push_back({row.frame, row.time.value_or(0), row.score, row.zones[0]});
            },
            [this](std::size_t) { ++done_; },
            [this](std::size_t, const std::string& error) {
              error_ = error;
              over_ = true;
            }) {}

  /// As many scans at once, each of `part` frames.
  void run(std::size_t threads, std::uint64_t part) {
    const std::size_t first = segments_.add(0);
    std::vector<std::thread> all;
    all.emplace_back([this, first, part] { follow(first, 0, part); });
    for (std::size_t i = 1; i < threads; ++i) all.emplace_back([this, part] { next(part); });
    for (std::thread& thread : all) thread.join();
  }

  const std::vector<Told>& told() const { return told_; }
  bool over() const { return over_; }
  const std::string& error() const { return error_; }
  /// What a scan that begins at this keyframe comes to instead of an end, and where.
  std::function<std::string(std::uint64_t key, std::uint64_t frame)> fails;

 private:
  void next(std::uint64_t part) {
    std::size_t id = 0;
    std::uint64_t bound = 0;
    {
      const std::lock_guard lock(mutex_);
      bound = segments_.next_bound(part * kFrame);
      if (over_ || segments_.futile() >= 3 || bound > (file_.frames - part / 2) * kFrame) return;
      id = segments_.add(bound);
    }
    follow(id, file_.key_before(bound), part);
  }

  void follow(std::size_t id, std::uint64_t key, std::uint64_t part) {
    for (std::uint64_t i = key; i < file_.frames; ++i) {
      if (const std::string why = fails ? fails(key, i) : ""; !why.empty()) {
        segments_.end(id, why);
        return;
      }
      const double score = file_.score(i, key);
      const std::array zones{score / 2};
      if (!segments_.take(id, {i - key, i * kFrame, score, zones, kFrame})) {
        next(part);
        return;
      }
      if (i % 64 == id % 7) std::this_thread::yield();
    }
    segments_.end(id, "");
  }

  const File& file_;
  std::mutex mutex_;
  std::vector<Told> told_;
  std::atomic<bool> over_ = false;
  std::atomic<int> done_ = 0;
  std::string error_;
  Segments segments_;
};

std::vector<Told> rows_of(const File& file, std::uint64_t frames) {
  std::vector<Told> rows;
  for (std::uint64_t i = 0; i < frames; ++i) rows.push_back({i, i * kFrame, file.score(i, 0), file.score(i, 0) / 2});
  return rows;
}

TEST(Segments, GiveTheRowsOfOneScan) {
  for (const std::uint64_t keyframes : {1U, 12U, 50U, 333U})
    for (const std::size_t threads : {1U, 2U, 5U, 16U}) {
      const File file{2000, keyframes, nullptr};
      Scans scans(file);
      scans.run(threads, 100);
      EXPECT_TRUE(scans.over());
      EXPECT_EQ(scans.error(), "");
      EXPECT_EQ(scans.told(), rows_of(file, 2000)) << keyframes << ' ' << threads;
    }
}

TEST(Segments, KeyframesThatAreNoneCostTimeOnly) {
  // The first frames after some keyframes come out differently, or only one, a few frames later.
  for (const std::uint64_t late : {0U, 1U, 5U, 7U}) {
    const File file{3000, 50, [&](std::uint64_t frame, std::uint64_t key, double score) {
                      return key % 100 == 0 && frame - key >= late && frame - key < late + 3 ? score + 1e-9 : score;
                    }};
    Scans scans(file);
    scans.run(6, 100);
    EXPECT_TRUE(scans.over());
    EXPECT_EQ(scans.told(), rows_of(file, 3000)) << late;
  }
}

TEST(Segments, OneKeyframeIsNoticed) {
  const File file{2000, 100'000, nullptr};
  Scans scans(file);
  scans.run(4, 100);
  EXPECT_EQ(scans.told(), rows_of(file, 2000));
  // By the second one each: in threads the first scan may be at the end before others begin.
  Segments all([](const Row&) {}, [](std::size_t) {}, [](std::size_t, const std::string&) {});
  const std::array zones{1.0};
  EXPECT_TRUE(all.take(all.add(0), {0, 0, 5, zones, kFrame}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(all.futile(), i);
    EXPECT_FALSE(all.take(all.add(100 * kFrame), {0, 0, 5, zones, kFrame}));
  }
  EXPECT_EQ(all.futile(), 3);
}

TEST(Segments, AScanThatFailsIsReplacedByTheOneBefore) {
  const File file{2000, 50, nullptr};
  for (const std::uint64_t after : {0U, 3U, 20U}) {
    Scans scans(file);
    // No memory for a decoder, say, or it is lost; the first scan is well.
    scans.fails = [&](std::uint64_t key, std::uint64_t frame) {
      return key >= 1000 && key % 150 == 0 && frame - key == after ? "no memory" : "";
    };
    scans.run(3, 100);
    if (scans.error().empty()) {
      EXPECT_EQ(scans.told(), rows_of(file, 2000)) << after;
    } else {
      // One that others had been handed over to: as an error in the file.
      EXPECT_EQ(scans.told(), rows_of(file, scans.told().size())) << after;
    }
    EXPECT_TRUE(scans.over());
  }
}

TEST(Segments, ErrorsOfTheFileAreThoseOfOneScan) {
  const File file{2000, 50, nullptr};
  for (const std::size_t threads : {1U, 2U, 8U}) {
    Scans scans(file);
    scans.fails = [](std::uint64_t, std::uint64_t frame) { return frame == 1234 ? "damaged" : ""; };
    scans.run(threads, 100);
    EXPECT_TRUE(scans.over());
    EXPECT_EQ(scans.error(), "damaged");
    EXPECT_EQ(scans.told(), rows_of(file, 1234)) << threads;
  }
}

TEST(Segments, AnEarlierEndCounts) {
  // Read from the beginning it ends where an index would lead further.
  const File file{2000, 50, nullptr};
  Segments* segments = nullptr;
  std::uint64_t told = 0;
  bool over = false;
  Segments all([&](const Row&) { ++told; }, [](std::size_t) {},
               [&](std::size_t id, const std::string& error) {
                 EXPECT_EQ(id, 0U);
                 EXPECT_EQ(error, "cut off");
                 over = true;
               });
  segments = &all;
  const std::size_t first = all.add(0), second = all.add(50 * kFrame);
  const std::array zones{1.0};
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(segments->take(second, {i, (50 + i) * kFrame, 5, zones, kFrame}));
  for (std::uint64_t i = 0; i < 30; ++i) EXPECT_TRUE(segments->take(first, {i, i * kFrame, 5, zones, kFrame}));
  all.end(first, "cut off");
  EXPECT_TRUE(over);
  EXPECT_EQ(told, 30U);
  EXPECT_FALSE(segments->take(second, {20, 70 * kFrame, 5, zones, kFrame}));
}

TEST(Segments, CancellingWakesWhoWaits) {
  Segments all([](const Row&) {}, [](std::size_t) {}, [](std::size_t, const std::string&) { FAIL(); });
  const std::size_t first = all.add(0);
  all.add(10 * kFrame);  // which never begins
  const std::array zones{1.0};
  std::atomic<std::uint64_t> taken = 0;
  std::thread waiting([&] {
    while (all.take(first, {taken, taken * kFrame, 1, zones, kFrame})) ++taken;
  });
  eventually([&] { return taken == 10; });
  all.cancel();
  waiting.join();
  EXPECT_EQ(taken, 10U);
}

}  // namespace
}  // namespace framequality::apps::scan
