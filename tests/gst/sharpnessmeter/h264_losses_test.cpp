// SPDX-License-Identifier: LGPL-2.1-or-later
// Losses of H.264 streams: headers of our own make, complete and not.
#include "gst/sharpnessmeter/h264_losses.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Bits as they are written into a NAL unit.
class Writer {
 public:
  explicit Writer(unsigned header) { bits(header, 8); }
  Writer& bits(unsigned value, int count) {
    while (count-- > 0) put(value >> count & 1);
    return *this;
  }
  /// Exp-Golomb.
  Writer& number(unsigned value) {
    int length = 0;
    while ((value + 1) >> (length + 1) != 0) ++length;
    return bits(0, length).bits(value + 1, length + 1);
  }
  Bytes done() {
    put(1);
    while (left_ != 8) put(0);
    return bytes_;
  }

 private:
  void put(unsigned bit) {
    if (left_ == 8) bytes_.push_back(0);
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | bit << --left_);
    if (left_ == 0) left_ = 8;
  }
  Bytes bytes_;
  int left_ = 8;
};

constexpr int kFrameNumBits = 4, kWidth = 640;

Bytes sequence(bool has_gaps = false) {
  Writer nal(0x67);
  nal.bits(66, 8).bits(0, 8).bits(30, 8);                            // baseline
  nal.number(0).number(kFrameNumBits - 4).number(2);                 // id, frame_num, order of pictures
  nal.number(1).bits(has_gaps, 1).number(39).number(29).bits(1, 1);  // reference frames, gaps, size in macroblocks
  return nal.bits(1, 1).bits(0, 1).bits(0, 1).done();
}
Bytes picture() { return Writer(0x68).number(0).number(0).bits(0, 8).done(); }
Bytes recovery_point(unsigned frames) {
  const Bytes payload = Writer(6).number(frames).bits(1, 1).bits(0, 3).done();
  Writer nal(0x06);
  nal.bits(6, 8).bits(static_cast<unsigned>(payload.size()) - 1, 8);
  for (std::size_t i = 1; i < payload.size(); ++i) nal.bits(payload[i], 8);
  return nal.done();
}

/// A frame of the stream.
struct Frame {
  std::vector<unsigned> starts{0, 300, 600, 900};
  unsigned number = 0;  ///< frame_num
  enum Kind { kInter, kIntra, kIdr } kind = kInter;
  bool reference = true;
};

void add(Bytes& to, const Bytes& nal, int length_bytes = 0) {
  if (length_bytes == 0) to.insert(to.end(), {0, 0, 0, 1});
  for (int i = length_bytes; i-- > 0;) to.push_back(static_cast<std::uint8_t>(nal.size() >> (8 * i)));
  to.insert(to.end(), nal.begin(), nal.end());
}

Bytes unit(const Frame& frame, int length_bytes = 0) {
  Bytes bytes;
  for (const unsigned start : frame.starts) {
    Writer nal((frame.reference ? 0x60U : 0U) | (frame.kind == Frame::kIdr ? 5U : 1U));
    nal.number(start).number(frame.kind == Frame::kInter ? 5 : 7).number(0).bits(frame.number, kFrameNumBits);
    add(bytes, nal.bits(0x5a, 8).done(), length_bytes);
  }
  return bytes;
}

/// A stream, and what is said of each frame: x damaged, . not.
class Stream {
 public:
  explicit Stream(const Bytes& parameters = sequence()) : losses_({}, kWidth) {
    Bytes bytes;
    add(bytes, parameters);
    add(bytes, picture());
    losses_.take(bytes, false);
  }
  std::string take(const Frame& frame, bool lost = false) { return losses_.take(unit(frame), lost) ? "x" : "."; }
  void jump() { losses_.jump(); }
  std::string take(const Bytes& before, const Frame& frame) {
    Bytes bytes;
    add(bytes, before);
    const Bytes rest = unit(frame);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return losses_.take(bytes, false) ? "x" : ".";
  }
  /// An IDR frame and `count` frames that refer to each other. The next is numbered count + 1.
  std::string take_group(unsigned count, const Frame& like = {}) {
    std::string said;
    for (unsigned i = 0; i <= count; ++i) {
      Frame frame = like;
      frame.number = i & ((1U << kFrameNumBits) - 1);
      frame.kind = i == 0 ? Frame::kIdr : Frame::kInter;
      said += take(frame);
    }
    return said;
  }

 private:
  H264Losses losses_;
};

TEST(H264Losses, NothingIsMissingFromWholeStreams) {
  Stream stream;
  EXPECT_EQ(stream.take_group(40), std::string(41, '.')) << "frame_num begins anew after 15";
  EXPECT_EQ(stream.take_group(3), "....");
}

TEST(H264Losses, LostSliceDamagesFramesUntilTheNextIdr) {
  Stream stream;
  EXPECT_EQ(stream.take_group(9), "..........");
  EXPECT_EQ(stream.take({.starts = {0, 300, 900}, .number = 10}), "x");
  EXPECT_EQ(stream.take({.number = 11}), "x");
  EXPECT_EQ(stream.take_group(2), "...");
}

TEST(H264Losses, FrameWithoutItsBeginningIsDamagedAtOnce) {
  Stream stream;
  EXPECT_EQ(stream.take({.starts = {300, 600}, .kind = Frame::kIdr}), "x");
  EXPECT_EQ(stream.take({.number = 1}), "x");
  EXPECT_EQ(stream.take({.number = 2, .kind = Frame::kIntra}), ".") << "refers to no other";
}

TEST(H264Losses, SlicesOfWholeRowsThatMoveAreCounted) {
  Stream stream;
  EXPECT_EQ(stream.take_group(0), ".");
  const auto moved = [](unsigned rows) { return std::vector<unsigned>{0, 40 * rows, 600, 920 - 40 * rows}; };
  for (unsigned i = 1; i < 5; ++i) EXPECT_EQ(stream.take({.starts = moved(i), .number = i}), ".");
  EXPECT_EQ(stream.take({.starts = {0, 280, 880}, .number = 5}), "x");
}

TEST(H264Losses, FramesDividedBySizeHaveAnyNumberOfSlices) {
  Stream stream;
  EXPECT_EQ(stream.take({.starts = {0, 100, 200, 300, 400}, .kind = Frame::kIdr}), ".");
  for (unsigned i = 1; i < 15; ++i) EXPECT_EQ(stream.take({.starts = {0, 290 + i}, .number = i}), ".");
  EXPECT_EQ(stream.take({.starts = {0}, .number = 15}), ".");
}

TEST(H264Losses, AnotherDivisionOfFramesIsLearned) {
  Stream stream;
  stream.take_group(9);
  std::string said;
  for (unsigned i = 0; i < 3; ++i) said += stream.take_group(4, {.starts = {0, 600}});
  EXPECT_EQ(said, "xxxxxxxxxx.....") << "eight are short, and two more before the next IDR";
}

TEST(H264Losses, MissingReferenceFrameIsSkippedInTheCount) {
  Stream stream;
  EXPECT_EQ(stream.take_group(4), ".....");
  EXPECT_EQ(stream.take({.number = 6}), "x");
  EXPECT_EQ(stream.take({.number = 7}), "x");
  EXPECT_EQ(stream.take_group(4), ".....");
  Stream with_gaps(sequence(true));
  with_gaps.take_group(4);
  EXPECT_EQ(with_gaps.take({.number = 8}), ".") << "the stream may leave frames out";
}

TEST(H264Losses, FrameThatNoneRefersToSpoilsNone) {
  Stream stream;
  stream.take_group(9);
  EXPECT_EQ(stream.take({.starts = {0, 300}, .number = 10, .reference = false}), "x");
  EXPECT_EQ(stream.take({.number = 10, .reference = false}), ".");
  EXPECT_EQ(stream.take({.number = 10}), ".");
}

TEST(H264Losses, DamageEndsWithTheCountOfARecoveryPoint) {
  Stream stream;
  stream.take_group(9);
  EXPECT_EQ(stream.take({.number = 10}, true), "x") << "known to be lost";
  EXPECT_EQ(stream.take(recovery_point(2), {.number = 11}), "x");
  EXPECT_EQ(stream.take({.number = 12}), "x");
  EXPECT_EQ(stream.take({.number = 13}), ".");
}

TEST(H264Losses, NothingIsLostInASeek) {
  Stream stream;
  stream.take_group(9);
  stream.take({.number = 12});
  stream.jump();
  EXPECT_EQ(stream.take({.number = 5}), ".");
  EXPECT_EQ(stream.take({.starts = {0, 300, 900}, .number = 6}), "x") << "how frames are divided is known";
}

TEST(H264Losses, ParameterSetsOfARecord) {
  Bytes record{1, 66, 0, 30, 0xff, 0xe1};
  const auto append = [&record](const Bytes& nal) {
    record.insert(record.end(), {0, static_cast<std::uint8_t>(nal.size())});
    record.insert(record.end(), nal.begin(), nal.end());
  };
  append(sequence());
  record.push_back(1);
  append(picture());
  for (std::size_t size = 0; size <= record.size(); ++size) {
    H264Losses losses(Bytes(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size)), kWidth);
    if (size < record.size()) continue;  // cut anywhere: nothing is read behind the end
    EXPECT_FALSE(losses.take(unit({.kind = Frame::kIdr}, 4), false));
    EXPECT_FALSE(losses.take(unit({.number = 1}, 4), false));
    EXPECT_TRUE(losses.take(unit({.number = 3}, 4), false));
  }
}

TEST(H264Losses, LargestNumbersOverflowNothing) {
  Writer nal(0x67);
  nal.bits(100, 8).bits(0, 8).bits(30, 8).number(0);            // high profile, id
  nal.number(1).number(0).number(0).bits(0, 1);                 // chroma, depths, not lossless
  nal.bits(1, 1).bits(1, 1).bits(0, 31).bits(0xfffffffeU, 32);  // a scaling list that begins with 2^31 - 1
  for (int i = 1; i < 16; ++i) nal.bits(1, 1);                  // and goes on without a change
  nal.bits(0, 7).number(kFrameNumBits - 4).number(2).number(1).bits(0, 1).bits(0, 32);
  Stream stream(nal.done());
  EXPECT_EQ(stream.take_group(3), "....");
}

TEST(H264Losses, UnitWithoutAFrameIsNotDamaged) {
  H264Losses losses({}, 0);
  EXPECT_FALSE(losses.take({}, true));
  EXPECT_FALSE(losses.take(Bytes{0, 0, 1}, true));
  EXPECT_FALSE(losses.take(Bytes{0, 0, 1, 9, 16}, true));
}

}  // namespace
}  // namespace framequality::test
