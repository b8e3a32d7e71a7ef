// SPDX-License-Identifier: LGPL-2.1-or-later
// What befalls a chain, by chance.
#include "tests/fuzz/storm.h"

#include "tests/fuzz/frames.h"
#include "tests/fuzz/settings.h"

#include <atomic>
#include <thread>
#include <vector>

namespace framequality::fuzz {
namespace {

void send_segment(Dice& dice, GstPad* source) {
  GstSegment segment;
  gst_segment_init(
      &segment, dice.one_in(8) ? dice.of({GST_FORMAT_BYTES, GST_FORMAT_DEFAULT, GST_FORMAT_BUFFERS}) : GST_FORMAT_TIME);
  if (dice.one_in(3)) {
    segment.start = static_cast<guint64>(dice.in(0, 5)) * GST_SECOND;
    segment.time = static_cast<guint64>(dice.in(0, 5)) * GST_SECOND;
    segment.base = static_cast<guint64>(dice.in(0, 5)) * GST_SECOND;
    if (dice.one_in(2)) segment.stop = segment.start + static_cast<guint64>(dice.in(0, 9000)) * GST_MSECOND;
    if (dice.one_in(3)) segment.rate = dice.of({-1.0, 2.0, 0.25, -8.0});
    // GstBaseTransform itself calls it a critical fault if a segment that is played backwards has no end.
    if (segment.rate < 0 && segment.stop == GST_CLOCK_TIME_NONE) segment.stop = segment.start + GST_SECOND;
    if (dice.one_in(3)) segment.applied_rate = dice.of({-1.0, 2.0});
    if (segment.rate > 0 && dice.one_in(4)) segment.offset = static_cast<guint64>(dice.in(0, 20)) * GST_SECOND;
    if (dice.one_in(4)) segment.duration = static_cast<guint64>(dice.in(0, 9)) * GST_SECOND;
  }
  gst_pad_push_event(source, gst_event_new_segment(&segment));
}

void ask(Dice& dice, Chain& chain, GstCaps* caps, bool is_alone) {
  GstQuery* query = nullptr;
  switch (dice.small(0, 7)) {
    case 0:
      query = gst_query_new_caps(dice.one_in(2) ? caps : nullptr);
      break;
    case 1:
      query = gst_query_new_accept_caps(caps ? caps : GST_CAPS_ANY);
      break;
    case 2:
      query = gst_query_new_allocation(dice.one_in(3) ? nullptr : caps, dice.one_in(2));
      break;
    case 3:
      query = gst_query_new_drain();
      break;
    case 4:
      query = gst_query_new_latency();
      break;
    case 5:
      query = gst_query_new_position(GST_FORMAT_TIME);
      break;
    case 6:
      query = gst_query_new_context("gst.cuda.context");
      break;
    default:
      query = gst_query_new_seeking(GST_FORMAT_TIME);
  }
  const bool at_sink = dice.one_in(4) && !(gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED);
  // GstBaseTransform answers for a position from its segment, which a flush in another thread undoes meanwhile: a
  // critical fault of identity too.
  if (is_alone || GST_QUERY_TYPE(query) != GST_QUERY_POSITION)
    gst_pad_peer_query(at_sink ? chain.sink() : chain.source(), query);
  gst_query_unref(query);
}

/// What threads besides the streaming one do meanwhile.
void disturb(Dice dice, Chain& chain, const std::atomic<bool>& ends) {
  while (!ends) {
    switch (dice.small(0, 9)) {
      case 0:
        get_everything(chain.any(dice));
        break;
      case 1: {
        GstQuery* query = gst_query_new_latency();
        gst_pad_peer_query(chain.sink(), query);
        gst_query_unref(query);
        break;
      }
      case 2:
        gst_pad_push_event(chain.sink(), dice.one_in(2) ? gst_event_new_reconfigure()
                                                        : gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, dice.unit() * 9,
                                                                            dice.in(-9, 9), GST_SECOND));
        break;
      case 3:
        if (dice.one_in(6)) {
          gst_pad_push_event(chain.source(), gst_event_new_flush_start());
          gst_pad_push_event(chain.source(), gst_event_new_flush_stop(TRUE));
        }
        break;
      case 4:
        if (dice.one_in(20)) {
          GstElement* element = chain.any(dice);
          gst_element_set_state(element, dice.of({GST_STATE_READY, GST_STATE_NULL, GST_STATE_PAUSED}));
          gst_element_set_state(element, GST_STATE_PLAYING);
        }
        break;
      default:
        set_something(dice, chain.any(dice));
    }
    g_usleep(static_cast<gulong>(dice.in(0, 300)));
  }
}

}  // namespace

void storm(Dice& dice, Chain& chain) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  if (dice.one_in(2))
    for (int i = dice.small(1, 2); i > 0; --i)
      others.emplace_back([&, own = Dice(dice.word())] { disturb(own, chain, ends); });
  GstPad* source = chain.source();
  GstCaps* caps = nullptr;
  GstVideoInfo info;
  bool has_info = false;
  GstClockTime time = 0;
  gst_pad_push_event(source, gst_event_new_stream_start("storm"));
  for (int step = dice.small(4, 40); step > 0; --step) {
    const int what = dice.small(0, 99);
    if (!caps || what < 10) {
      GstCaps* next = random_caps(dice, chain.first());
      if (next && gst_caps_is_fixed(next)) {
        gst_caps_replace(&caps, next);
        has_info = info_of(caps, info);
        gst_pad_push_event(source, gst_event_new_caps(caps));
      }
      if (next) gst_caps_unref(next);
    } else if (what < 16) {
      send_segment(dice, source);
    } else if (what < 26) {
      ask(dice, chain, caps, others.empty());
    } else if (what < 38) {
      set_something(dice, chain.any(dice));
    } else if (what < 41) {
      gst_pad_push_event(source, gst_event_new_flush_start());
      gst_pad_push_event(source, gst_event_new_flush_stop(dice.one_in(2)));
      if (dice.one_in(2)) send_segment(dice, source);
    } else if (what < 44) {
      gst_pad_push_event(
          source, gst_event_new_gap(dice.one_in(5) ? 0 : time, dice.one_in(2) ? GST_CLOCK_TIME_NONE : GST_SECOND));
    } else if (what < 46) {
      gst_pad_push_event(source, gst_event_new_eos());
    } else if (what < 48) {
      GstElement* element = chain.any(dice);
      gst_element_set_state(element, dice.of({GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_NULL}));
      if (!dice.one_in(4)) gst_element_set_state(element, GST_STATE_PLAYING);
    } else if (what < 50) {
      get_everything(chain.any(dice));
    } else if (what < 52) {
      gst_pad_push_event(source, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                                      gst_structure_new_empty(dice.of({"focuscontroller", "a"}))));
    } else {
      if (dice.one_in(3) && what < 55) gst_pad_push_event(source, gst_event_new_stream_start("again"));
      gst_pad_push(source, random_frame(dice, has_info ? &info : nullptr, time));
    }
  }
  ends = true;
  for (std::thread& other : others) other.join();
  gst_caps_replace(&caps, nullptr);
}

}  // namespace framequality::fuzz
