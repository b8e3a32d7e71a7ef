// SPDX-License-Identifier: LGPL-2.1-or-later
// Losses of an H.264 stream, by the headers of its slices (ITU-T H.264, 7.3).
//
// An access unit is incomplete if no slice begins at macroblock 0, or if it has fewer slices than all those before it.
// A reference frame is missing where `frame_num` skips a value. What refers to an incomplete or missing frame is
// damaged too, until a frame refers to none: an IDR frame, one of intra slices only, or the end of a recovery point's
// count. Slice data is not decoded: of frames that are divided by size, into another number of slices each, only the
// loss of the first one is noticed, and bytes lost inside a slice are not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace framequality {

/// Follows the access units of one stream in decoding order. One thread at a time.
class H264Losses {
 public:
  /// codec_data: AVCDecoderConfigurationRecord of the stream if it is not a byte-stream; else empty. What it does not
  /// contain is learned from the stream. width: of frames, pixels; 0: unknown.
  H264Losses(std::span<const std::uint8_t> codec_data, int width);

  /// True if the frame of this access unit is damaged. data_lost: it is known that data is missing from it or was lost
  /// right before.
  bool take(std::span<const std::uint8_t> unit, bool data_lost);

  /// The next access unit does not follow the last one: after a seek.
  void jump();

 private:
  struct Sequence {
    int frame_num_bits = 0;  ///< 0: no such parameter set was seen
    bool has_gaps = false, separate_planes = false;
  };
  /// How a frame is divided into slices.
  struct Division {
    unsigned count = 0;
    std::uint64_t places = 0;  ///< hash of the macroblocks where they begin
    bool has_first = false;    ///< one begins at macroblock 0
    bool at_rows = true;       ///< all begin with a row of macroblocks
  };
  struct Picture {
    Division slices;
    bool idr = false, intra = true, reference = false;
    std::optional<unsigned> recovery;  ///< frames until the picture is whole, of a recovery point
    unsigned frame_num = 0;
    const Sequence* sequence = nullptr;
  };

  template <class F>
  void for_units(std::span<const std::uint8_t> unit, F read) const;
  void read(std::span<const std::uint8_t> nal);
  void read_sequence(std::span<const std::uint8_t> nal);
  void read_slice(std::span<const std::uint8_t> nal);
  void read_recovery(std::span<const std::uint8_t> nal);
  bool lacks_slices();
  bool skips_a_frame();
  bool is_whole_again();

  unsigned width_;        ///< macroblocks; 0: unknown
  int length_bytes_ = 0;  ///< before each NAL unit; 0: start codes
  std::array<Sequence, 32> sequences_{};
  std::array<std::uint8_t, 256> sequence_of_{};  ///< picture parameter set
  Picture now_;
  Division usual_;   ///< of the last access unit that was not short of slices
  int regular_ = 0;  ///< access units in a row, up to that one, with as many slices, divided alike
  int short_ = 0;    ///< access units in a row, up to now, that were short of some

  std::optional<unsigned> last_frame_num_;  ///< of the last reference frame
  bool spoiled_ = false;                    ///< reference frames are damaged
  std::optional<unsigned> recovers_in_;     ///< access units
};

}  // namespace framequality
