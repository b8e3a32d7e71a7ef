// SPDX-License-Identifier: LGPL-2.1-or-later
// Events as elements of others may send them.
#include "tests/fuzz/events.h"

#include "tests/fuzz/metas.h"

#include <limits>

namespace framequality::fuzz {
namespace {

/// What `focuscontroller` says when a search has ended, or something like it.
GstStructure* search_result(Dice& dice) {
  GstStructure* s = gst_structure_new("focuscontroller", "event", G_TYPE_STRING, "state", "state", G_TYPE_STRING,
                                      dice.of({"focused", "failed", "coarse", "", "idle"}), nullptr);
  const int samples = dice.one_in(6) ? dice.small(0, 2000) : dice.small(0, 20);
  set_numbers(dice, s, "positions", samples);
  set_numbers(dice, s, "scores", dice.one_in(8) ? dice.small(0, 20) : samples);
  for (const char* field : {"top", "width", "error", "certainty"})
    gst_structure_set(s, field, G_TYPE_DOUBLE, number(dice), nullptr);
  while (dice.one_in(3)) set_odd(dice, s, dice.of({"state", "positions", "scores", "top", "error", "certainty"}));
  return s;
}

}  // namespace

GstEvent* random_segment(Dice& dice) {
  GstSegment segment;
  gst_segment_init(
      &segment, dice.one_in(8) ? dice.of({GST_FORMAT_BYTES, GST_FORMAT_DEFAULT, GST_FORMAT_BUFFERS}) : GST_FORMAT_TIME);
  if (dice.one_in(3)) {
    const auto seconds = [&](int most) {
      return dice.one_in(12) ? dice.of({guint64{G_MAXINT64}, guint64{G_MAXUINT64 - 1}, guint64{dice.word()}})
                             : static_cast<guint64>(dice.in(0, most)) * GST_SECOND;
    };
    segment.start = seconds(5);
    segment.time = seconds(5);
    segment.base = seconds(5);
    if (dice.one_in(2)) segment.stop = segment.start + static_cast<guint64>(dice.in(0, 9000)) * GST_MSECOND;
    using Limits = std::numeric_limits<double>;
    // Nothing below min(): some plugin's library lets the processor take such for 0, which is no rate.
    const auto rate = [&] {
      return dice.of({-1.0, 2.0, 0.25, -8.0, 1e-9, -1e-9, 1e-300, -1e-300, Limits::min(), 1e300, -1e300, Limits::max(),
                      Limits::infinity(), -Limits::infinity()});
    };
    if (dice.one_in(2)) segment.rate = rate();
    // GstBaseTransform itself calls it a critical fault if a segment that is played backwards has no end.
    if (segment.rate < 0 && segment.stop == GST_CLOCK_TIME_NONE) segment.stop = segment.start + GST_SECOND;
    if (dice.one_in(3)) segment.applied_rate = rate();
    if (segment.rate > 0 && dice.one_in(4)) segment.offset = static_cast<guint64>(dice.in(0, 20)) * GST_SECOND;
    if (dice.one_in(4)) segment.duration = static_cast<guint64>(dice.in(0, 9)) * GST_SECOND;
  }
  return gst_event_new_segment(&segment);
}

GstEvent* random_gap(Dice& dice, GstClockTime time) {
  if (dice.one_in(5)) time = dice.of({GstClockTime{0}, GstClockTime{G_MAXINT64}, GST_CLOCK_TIME_NONE - 1});
  const GstClockTime duration = dice.one_in(2) ? GST_CLOCK_TIME_NONE
                                : dice.one_in(4)
                                    ? dice.of({GstClockTime{0}, GstClockTime{G_MAXINT64}, GST_CLOCK_TIME_NONE - 1})
                                    : GST_SECOND;
  return gst_event_new_gap(time, duration);
}

GstEvent* random_saying(Dice& dice) {
  if (dice.one_in(4))
    return gst_event_new_tag(dice.one_in(2) ? gst_tag_list_new_empty()
                                            : gst_tag_list_new(GST_TAG_TITLE, "a", GST_TAG_IMAGE_ORIENTATION,
                                                               "rotate-90", GST_TAG_BITRATE, 1U, nullptr));
  GstStructure* s = dice.one_in(2) ? search_result(dice)
                                   : gst_structure_new_empty(dice.of({"focuscontroller", "sharpnessmeter", "a"}));
  return gst_event_new_custom(dice.one_in(3) ? GST_EVENT_CUSTOM_DOWNSTREAM : GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
}

}  // namespace framequality::fuzz
