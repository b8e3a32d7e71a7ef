// SPDX-License-Identifier: LGPL-2.1-or-later
// Losses of an H.264 stream, by the headers of its slices (ITU-T H.264, 7.3).
#include "gst/sharpnessmeter/h264_losses.h"

#include <algorithm>
#include <cstddef>

namespace framequality {

namespace {

using Bytes = std::span<const std::uint8_t>;

// Access units with as many slices as each other after which the next ones must have them too, if these begin where
// those before did, or with a row of macroblocks each. Encoders that divide frames by size make the same number in a
// few frames in a row by chance, but not that.
constexpr int kUsual = 4;
constexpr int kLongest = 8;  // access units in a row that can be short of slices

enum Unit : unsigned { kSlice = 1, kIdrSlice = 5, kSei = 6, kSequence = 7, kPicture = 8 };
constexpr unsigned kRecoveryPoint = 6;
constexpr unsigned kIntraSlice = 2, kSliceKinds = 5;  // slice_type 5 to 9: those of the whole picture

/// The bits of a NAL unit's payload, most significant first, without the bytes that prevent start codes. Zeros follow
/// its end.
class Bits {
 public:
  explicit Bits(Bytes nal) : bytes_(nal) {}

  unsigned bit() {
    if (left_ == 0 && !load()) return 0;
    return byte_ >> --left_ & 1U;
  }
  unsigned bits(int count) {
    unsigned value = 0;
    while (count-- > 0) value = value << 1 | bit();
    return value;
  }
  /// Exp-Golomb.
  unsigned number() {
    int zeros = 0;
    while (zeros < 32 && bit() == 0) ++zeros;
    return zeros < 32 ? (1U << zeros) - 1 + bits(zeros) : 0;
  }
  /// A signed number modulo 2^32: odd streams hold any.
  unsigned signed_number() {
    const unsigned k = number();
    return k % 2 != 0 ? k / 2 + 1 : 0U - k / 2;
  }
  bool at_end() const { return ended_; }

 private:
  bool load() {
    if (zeros_ >= 2 && at_ < bytes_.size() && bytes_[at_] == 3) ++at_, zeros_ = 0;
    if (at_ >= bytes_.size()) {
      ended_ = true;
      return false;
    }
    byte_ = bytes_[at_++];
    zeros_ = byte_ == 0 ? zeros_ + 1 : 0;
    left_ = 8;
    return true;
  }

  Bytes bytes_;
  std::size_t at_ = 0;
  int zeros_ = 0, left_ = 0;
  unsigned byte_ = 0;
  bool ended_ = false;
};

bool has_chroma_fields(unsigned profile) {
  constexpr std::array<unsigned, 13> kHigh{100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135};
  return std::ranges::find(kHigh, profile) != kHigh.end();
}

void skip_scaling_list(Bits& bits, int size) {
  unsigned last = 8, next = 8;
  for (int i = 0; i < size && !bits.at_end(); ++i) {
    if (next != 0) next = (last + bits.signed_number()) & 255U;
    if (next != 0) last = next;
  }
}

/// Up to log2_max_frame_num_minus4. Returns chroma_format_idc's separate_colour_plane_flag.
bool skip_chroma_fields(Bits& bits) {
  const unsigned chroma = bits.number();
  const bool separate = chroma == 3 && bits.bit() != 0;
  bits.number();  // bit depths
  bits.number();
  bits.bit();  // lossless
  if (bits.bit() != 0)
    for (int i = 0; i < (chroma == 3 ? 12 : 8); ++i)
      if (bits.bit() != 0) skip_scaling_list(bits, i < 6 ? 16 : 64);
  return separate;
}

void skip_picture_order(Bits& bits) {
  const unsigned type = bits.number();
  if (type == 0) bits.number();
  if (type != 1) return;
  bits.bit();
  bits.number();
  bits.number();
  for (unsigned cycle = std::min(bits.number(), 255U); cycle > 0; --cycle) bits.number();
}

}  // namespace

H264Losses::H264Losses(Bytes record, int width) : width_((static_cast<unsigned>(width) + 15) / 16) {
  constexpr std::size_t kHead = 6;
  if (record.size() < kHead || record[0] != 1) return;
  length_bytes_ = (record[4] & 3) + 1;
  std::size_t at = kHead - 1;
  for (const unsigned mask : {31U, 255U}) {  // sequence parameter sets, picture parameter sets
    if (at >= record.size()) return;
    for (unsigned count = record[at++] & mask; count > 0 && at + 2 <= record.size(); --count) {
      const std::size_t length = static_cast<std::size_t>(record[at]) << 8 | record[at + 1];
      at += 2;
      if (length > record.size() - at) return;
      read(record.subspan(at, length));
      at += length;
    }
  }
}

/// Calls read(NAL unit) for each of an access unit.
template <class F>
void H264Losses::for_units(Bytes unit, F read) const {
  if (length_bytes_ > 0) {
    const auto bytes = static_cast<std::size_t>(length_bytes_);
    while (unit.size() > bytes) {
      std::size_t length = 0;
      for (const std::uint8_t byte : unit.first(bytes)) length = length << 8 | byte;
      unit = unit.subspan(bytes);
      length = std::min(length, unit.size());
      read(unit.first(length));
      unit = unit.subspan(length);
    }
    return;
  }
  constexpr std::array<std::uint8_t, 3> kStart{0, 0, 1};
  auto at = std::search(unit.begin(), unit.end(), kStart.begin(), kStart.end());
  while (at != unit.end()) {
    const auto begin = at + kStart.size();
    at = std::search(begin, unit.end(), kStart.begin(), kStart.end());
    read(Bytes(begin, at));
  }
}

void H264Losses::read(Bytes nal) {
  if (nal.size() < 2) return;
  switch (nal[0] & 31U) {
    case kSlice:
    case kIdrSlice:
      return read_slice(nal);
    case kSei:
      return read_recovery(nal);
    case kSequence:
      return read_sequence(nal);
    case kPicture: {
      Bits bits(nal.subspan(1));
      const unsigned picture = bits.number(), sequence = bits.number();
      if (picture < sequence_of_.size() && sequence < sequences_.size())
        sequence_of_[picture] = static_cast<std::uint8_t>(sequence);
      return;
    }
    default:
      return;
  }
}

void H264Losses::read_sequence(Bytes nal) {
  constexpr std::size_t kHead = 4;  // header, profile, constraints, level
  constexpr unsigned kMostBits = 16;
  if (nal.size() <= kHead) return;
  Bits bits(nal.subspan(kHead));
  const unsigned id = bits.number();
  Sequence sequence;
  if (has_chroma_fields(nal[1])) sequence.separate_planes = skip_chroma_fields(bits);
  const unsigned frame_num_bits = bits.number() + 4;
  skip_picture_order(bits);
  bits.number();  // max_num_ref_frames
  sequence.has_gaps = bits.bit() != 0;
  if (bits.at_end() || id >= sequences_.size() || frame_num_bits > kMostBits) return;
  sequence.frame_num_bits = static_cast<int>(frame_num_bits);
  sequences_[id] = sequence;
}

void H264Losses::read_recovery(Bytes nal) {
  std::size_t at = 1;
  const auto number = [&] {
    unsigned value = 0;
    while (at < nal.size() && nal[at] == 255) value += nal[at++];
    return at < nal.size() ? value + nal[at++] : value;
  };
  // The last byte holds the stop bit.
  while (at + 2 < nal.size()) {
    const unsigned type = number(), size = number();
    if (type == kRecoveryPoint && at < nal.size()) now_.recovery = Bits(nal.subspan(at)).number();
    at += std::min<std::size_t>(size, nal.size() - at);
  }
}

void H264Losses::read_slice(Bytes nal) {
  Bits bits(nal.subspan(1));
  const unsigned start = bits.number(), type = bits.number(), picture = bits.number();
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a's
  Division& slices = now_.slices;
  ++slices.count;
  slices.places = (slices.places ^ (start + 1)) * kPrime;
  slices.has_first |= start == 0;
  slices.at_rows &= width_ > 0 && start % width_ == 0;
  now_.idr |= (nal[0] & 31U) == kIdrSlice;
  now_.intra &= type % kSliceKinds == kIntraSlice;
  now_.reference |= (nal[0] >> 5 & 3U) != 0;
  const Sequence& sequence = sequences_[picture < sequence_of_.size() ? sequence_of_[picture] : 0];
  if (sequence.frame_num_bits == 0) return;
  if (sequence.separate_planes) bits.bits(2);
  now_.frame_num = bits.bits(sequence.frame_num_bits);
  now_.sequence = &sequence;
}

bool H264Losses::lacks_slices() {
  if (!now_.slices.has_first) return true;
  // Slices that this many frames in a row lack are not lost: the encoder has changed how it divides frames.
  if (regular_ >= kUsual && now_.slices.count < usual_.count && short_ < kLongest) {
    ++short_;
    return true;
  }
  const bool is_alike = now_.slices.places == usual_.places || now_.slices.at_rows;
  if (now_.slices.count != usual_.count) regular_ = 0;
  regular_ = is_alike ? regular_ + 1 : 0;
  short_ = 0;
  usual_ = now_.slices;
  return false;
}

bool H264Losses::skips_a_frame() {
  if (!now_.sequence) {
    last_frame_num_.reset();
    return false;
  }
  const unsigned mask = (1U << now_.sequence->frame_num_bits) - 1;
  const unsigned step = last_frame_num_ ? (now_.frame_num - *last_frame_num_) & mask : 0;
  const bool skips = !now_.idr && !now_.sequence->has_gaps && step > 1;
  if (now_.reference || skips) last_frame_num_ = now_.frame_num;
  return skips;
}

/// True for a frame from which on no frame refers to an earlier one.
bool H264Losses::is_whole_again() {
  if (now_.recovery && (!recovers_in_ || *now_.recovery < *recovers_in_)) recovers_in_ = now_.recovery;
  if (now_.idr || now_.intra || recovers_in_ == 0U) return true;
  if (recovers_in_) --*recovers_in_;
  return false;
}

void H264Losses::jump() {
  last_frame_num_.reset();
  spoiled_ = false;
  recovers_in_.reset();
}

bool H264Losses::take(Bytes unit, bool data_lost) {
  now_ = {};
  for_units(unit, [this](Bytes nal) { read(nal); });
  if (now_.slices.count == 0) return false;  // no frame
  const bool skips = skips_a_frame(), incomplete = lacks_slices() || data_lost;
  if (is_whole_again()) {
    spoiled_ = false;
    recovers_in_.reset();
  } else if (skips) {
    spoiled_ = true;
  }
  if (incomplete && now_.reference) {
    spoiled_ = true;
    recovers_in_.reset();
  }
  return incomplete || spoiled_;
}

}  // namespace framequality
