// SPDX-License-Identifier: LGPL-2.1-or-later
// A sharpnessgate fed with frames of known scores, and in one line of text what came out of it in which order.
#pragma once

#include "gst/object/structure.h"
#include "tests/gst/rig.h"

#include <array>
#include <functional>
#include <optional>

namespace framequality::test {

inline constexpr GstClockTime ms = GST_MSECOND;
inline const std::string kGateCaps = "video/x-raw,format=GRAY8,width=8,height=8,framerate=25/1";

/// mode=relative that judges each frame at once.
inline constexpr std::pair<const char*, const char*> kRelative{"mode", "relative"}, kAtOnce{"look-ahead", "0"};

/// Gives a buffer a score as a meter does.
inline void set_score(GstBuffer* buffer, double score, const char* metric = "tenengrad", const char* blur = nullptr) {
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, "GstSharpnessMeta");
  GstStructure* fields = gst_custom_meta_get_structure(meta);
  gst_structure_set(fields, "score", G_TYPE_DOUBLE, score, "metric", G_TYPE_STRING, metric, nullptr);
  if (blur) gst_structure_set(fields, "blur", G_TYPE_STRING, blur, nullptr);
}

/// A frame of 25 fps at so many ms; without a score it has no meta.
inline BufferPtr shot(GstClockTime at_ms, std::optional<double> score, GstClockTime duration = 40 * ms) {
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, 64, nullptr));
  GST_BUFFER_PTS(buffer.get()) = GST_CLOCK_TIME_IS_VALID(at_ms) ? at_ms * ms : at_ms;
  GST_BUFFER_DURATION(buffer.get()) = duration;
  if (score) set_score(buffer.get(), *score);
  return buffer;
}

/// Adds how far the image has moved, as a meter with displacement=true does.
inline BufferPtr moved(BufferPtr buffer, double x, double y = 0, guint shot = 0) {
  GstStructure* fields = gst_custom_meta_get_structure(gst_buffer_get_custom_meta(buffer.get(), "GstSharpnessMeta"));
  set_array(fields, "displacement", G_TYPE_DOUBLE, g_value_set_double, std::array{x, y});
  gst_structure_set(fields, "shot", G_TYPE_UINT, shot, nullptr);
  return buffer;
}

/// Adds that the frame is damaged, as a meter does.
inline BufferPtr damaged(BufferPtr buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer.get(), "GstSharpnessMeta");
  gst_structure_set(gst_custom_meta_get_structure(meta), "damaged", G_TYPE_BOOLEAN, TRUE, nullptr);
  return buffer;
}

inline GstEvent* tag(const char* title) { return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, title, nullptr)); }

inline GstEvent* segment_at(GstClockTime start) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = start;
  return gst_event_new_segment(&segment);
}

inline GstEvent* caps_event(const std::string& caps) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  return gst_event_new_caps(c.get());
}

/// `passed` in a buffer's meta: + or -, nothing if it does not say.
inline std::string passed_of(GstBuffer* buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "GstSharpnessMeta");
  gboolean passed;
  if (!meta || !gst_structure_get_boolean(gst_custom_meta_get_structure(meta), "passed", &passed)) return "";
  return passed ? "+" : "-";
}

class GateRig : public Rig {
 public:
  /// log: what leaves is written there from the first frame on.
  GateRig(std::initializer_list<std::pair<const char*, const char*>> properties, const std::string& caps = kGateCaps)
      : Rig(properties, "sharpnessgate") {
    gst_pad_add_probe(
        harness()->sinkpad,
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                     GST_PAD_PROBE_TYPE_EVENT_FLUSH),
        [](GstPad*, GstPadProbeInfo* info, gpointer rig) {
          auto& self = *static_cast<GateRig*>(rig);
          self.note(info);
          if (self.on_next) std::exchange(self.on_next, nullptr)();
          return self.answer(info);
        },
        this, nullptr);
    this->caps(caps);
    came();
  }

  /// What came out since the last call, in order: frames by their time in ms, with ! if DISCONT and with + or - for
  /// `passed`; gaps as [begin,end); other events by name.
  std::string came() { return std::exchange(log_, ""); }

  /// Pushes frames 40 ms apart with these scores; returns what came out.
  std::string feed(GstClockTime at_ms, std::initializer_list<double> scores) {
    for (const double score : scores) {
      EXPECT_EQ(push(shot(at_ms, score)), GST_FLOW_OK);
      at_ms += 40;
    }
    return came();
  }
  std::string send(GstEvent* event) {
    EXPECT_TRUE(gst_harness_push_event(harness(), event));
    return came();
  }
  /// "state reason score@timestamp" of each message since the last call.
  std::string said() {
    std::string all;
    for (const StructurePtr& s : heard().results)
      all += (all.empty() ? "" : ", ") + text(s.get(), "state") + " " + text(s.get(), "reason") + " " +
             std::to_string(static_cast<int>(number(s.get(), "score"))) + "@" +
             std::to_string(count(s.get(), "timestamp") / ms);
    return all;
  }
  /// "passed dropped marked unscored"
  std::string stats() {
    std::string all;
    for (const char* field : {"passed", "dropped", "marked", "unscored"})
      all += (all.empty() ? "" : " ") + std::to_string(stat(field));
    return all;
  }

  /// Least and most buffers that upstream is told to have where downstream asks for 2 and 4.
  std::pair<guint, guint> least_buffers() {
    const gulong probe = gst_pad_add_probe(
        harness()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer) {
          GstQuery* query = gst_pad_probe_info_get_query(info);
          if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
          gst_query_add_allocation_pool(query, nullptr, 64, 2, 4);
          return GST_PAD_PROBE_HANDLED;
        },
        nullptr, nullptr);
    const CapsPtr caps(gst_caps_from_string(kGateCaps.c_str()));
    GstQuery* query = gst_query_new_allocation(caps.get(), TRUE);
    EXPECT_TRUE(gst_pad_peer_query(harness()->srcpad, query));
    guint size, min = 0, max = 0;
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &size, &min, &max);
    gst_query_unref(query);
    gst_pad_remove_probe(harness()->sinkpad, probe);
    return std::pair(min, max);
  }

  std::optional<GstFlowReturn> flow;  ///< what downstream answers to frames instead of taking them
  std::function<void()> on_next;      ///< what downstream does, once, with the next frame or event before it takes it

 private:
  void note(GstPadProbeInfo* info) {
    std::string what;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
      GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
      what = GST_BUFFER_PTS_IS_VALID(buffer) ? std::to_string(GST_BUFFER_PTS(buffer) / ms) : "?";
      if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT)) what += "!";
      what += passed_of(buffer);
    } else {
      GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
      what = GST_EVENT_TYPE_NAME(event);
      if (GST_EVENT_TYPE(event) == GST_EVENT_GAP) {
        GstClockTime begin, duration;
        gst_event_parse_gap(event, &begin, &duration);
        what = "[" + std::to_string(begin / ms) + "," +
               (GST_CLOCK_TIME_IS_VALID(duration) ? std::to_string((begin + duration) / ms) : "?") + ")";
      }
    }
    log_ += (log_.empty() ? "" : " ") + what;
  }
  GstPadProbeReturn answer(GstPadProbeInfo* info) {
    if (!flow || !(info->type & GST_PAD_PROBE_TYPE_BUFFER)) return GST_PAD_PROBE_OK;
    gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
    info->data = nullptr;
    GST_PAD_PROBE_INFO_FLOW_RETURN(info) = *flow;
    return GST_PAD_PROBE_HANDLED;
  }

  std::string log_;
};

/// Tells when a buffer is gone.
class WatchedBuffers {
 public:
  /// The buffer itself, watched.
  BufferPtr watch(BufferPtr buffer) {
    gst_mini_object_weak_ref(
        GST_MINI_OBJECT(buffer.get()),
        [](gpointer self, GstMiniObject*) { ++static_cast<WatchedBuffers*>(self)->gone_; }, this);
    return buffer;
  }
  int gone() const { return gone_; }

 private:
  int gone_ = 0;
};

}  // namespace framequality::test
