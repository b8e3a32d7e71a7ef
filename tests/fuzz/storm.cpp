// SPDX-License-Identifier: LGPL-2.1-or-later
// Random disturbances of a chain.
#include "tests/fuzz/storm.h"

#include "tests/fuzz/events.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/metas.h"
#include "tests/fuzz/settings.h"

#include <atomic>
#include <thread>
#include <vector>

namespace framequality::fuzz {
namespace {

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

/// What a source pushes.
class Source {
 public:
  Source(Dice& dice, Chain& chain) : dice_(dice), chain_(chain), is_calm_(dice.one_in(2)) {
    gst_pad_push_event(chain.source(), gst_event_new_stream_start("storm"));
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { gst_caps_replace(&caps_, nullptr); }

  GstCaps* caps() const { return caps_; }
  GstClockTime time() const { return time_; }

  void change_caps() { send(random_caps(dice_, chain_.first())); }

  /// A few frames, then some of another size, the first of which nobody has scored.
  void change_size() {
    for (int i = dice_.small(1, 4); i > 0; --i) push(true);
    send(resized_caps(dice_, caps_));
    for (int i = dice_.small(1, 3); i > 0; --i) push(false);
  }

  /// has_metas: what other elements attach too.
  void push(bool has_metas) {
    const GstVideoInfo* info = has_info_ ? &info_ : nullptr;
    GstBuffer* frame = random_frame(dice_, info, time_, is_calm_);
    if (has_metas) add_metas(dice_, frame, info);
    gst_pad_push(chain_.source(), frame);
  }

 private:
  /// Takes the caps.
  void send(GstCaps* caps) {
    if (!caps) return;
    if (gst_caps_is_fixed(caps)) {
      gst_caps_replace(&caps_, caps);
      has_info_ = info_of(caps, info_);
      gst_pad_push_event(chain_.source(), gst_event_new_caps(caps));
    }
    gst_caps_unref(caps);
  }

  Dice& dice_;
  Chain& chain_;
  bool is_calm_;  ///< frames are whole
  GstCaps* caps_ = nullptr;
  GstVideoInfo info_;
  bool has_info_ = false;
  GstClockTime time_ = 0;
};

}  // namespace

void storm(Dice& dice, Chain& chain) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  if (dice.one_in(2))
    for (int i = dice.small(1, 2); i > 0; --i)
      others.emplace_back([&, own = Dice(dice.word())] { disturb(own, chain, ends); });
  GstPad* pad = chain.source();
  Source source(dice, chain);
  for (int step = dice.small(4, 40); step > 0; --step) {
    const int what = dice.small(0, 99);
    if (!source.caps() || what < 5) {
      source.change_caps();
    } else if (what < 13) {
      source.change_size();
    } else if (what < 18) {
      gst_pad_push_event(pad, random_segment(dice));
    } else if (what < 26) {
      ask(dice, chain, source.caps(), others.empty());
    } else if (what < 37) {
      set_something(dice, chain.any(dice));
    } else if (what < 40) {
      gst_pad_push_event(pad, gst_event_new_flush_start());
      gst_pad_push_event(pad, gst_event_new_flush_stop(dice.one_in(2)));
      if (dice.one_in(2)) gst_pad_push_event(pad, random_segment(dice));
    } else if (what < 43) {
      gst_pad_push_event(pad, random_gap(dice, source.time()));
    } else if (what < 44) {
      gst_pad_push_event(pad, gst_event_new_eos());
    } else if (what < 46) {
      GstElement* element = chain.any(dice);
      gst_element_set_state(element, dice.of({GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_NULL}));
      if (!dice.one_in(4)) gst_element_set_state(element, GST_STATE_PLAYING);
    } else if (what < 48) {
      get_everything(chain.any(dice));
    } else if (what < 52) {
      gst_pad_push_event(pad, random_saying(dice));
    } else {
      if (dice.one_in(60)) gst_pad_push_event(pad, gst_event_new_stream_start("again"));
      source.push(true);
    }
  }
  ends = true;
  for (std::thread& other : others) other.join();
}

}  // namespace framequality::fuzz
