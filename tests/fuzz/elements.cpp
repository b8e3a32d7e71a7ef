// SPDX-License-Identifier: LGPL-2.1-or-later
// Storms of odd caps, frames, events, queries, settings and state changes on our elements, alone and in chains; after
// each, clean frames give what a fresh element makes of them. A case is repeated from its number.
#include "tests/fuzz/dice.h"
#include "tests/fuzz/frames.h"

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace framequality::fuzz {
namespace {

std::uint64_t current_case = 0;
std::atomic<int> complaints{0};

/// Says which case it was, whatever ends the program.
void tell_case() {
  char text[80];
  const int n = std::snprintf(text, sizeof text, "\nfuzz: case %" PRIu64 "\n", current_case);
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(n)) != n) _exit(3);
}
void on_signal(int number) {
  tell_case();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Criticals are faults; warnings of GObject's too, as they are about types and references.
void on_log(const gchar* domain, GLogLevelFlags level, const gchar* text, gpointer) {
  const bool is_fault = level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR);
  if (!is_fault && !(level & G_LOG_LEVEL_WARNING && g_strcmp0(domain, "GLib-GObject") == 0)) return;
  std::fprintf(stderr, "fuzz: case %" PRIu64 ": %s: %s\n", current_case, domain ? domain : "?", text);
  ++complaints;
  if (std::getenv("FQ_FUZZ_ABORT")) std::abort();
}

constexpr const char* kElements[] = {"sharpnessmeter",  "sharpnessgate",  "sharpnessoverlay",
                                     "focuscontroller", "bliindsmeter",   "camerawatch",
                                     "nlmeans",         "patchbilateral", "halftone"};

// --- Settings -------------------------------------------------------------------------------------------------------

/// Not to be drawn at random: they name files, devices and GPUs, or make a case last.
bool is_left_alone(std::string_view name) {
  for (const std::string_view one : {"name", "parent", "device", "cuda-device-id", "model-location",
                                     "baseline-location", "actuator", "n-threads", "in-flight"})
    if (name == one) return true;
  return false;
}

/// Sets one property to something that its type allows, the ends of its range above all.
void set_something(Dice& dice, GstElement* element) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  GParamSpec* spec = specs[dice.in(0, count - 1)];
  g_free(specs);
  if (!(spec->flags & G_PARAM_WRITABLE) || spec->flags & G_PARAM_CONSTRUCT_ONLY || is_left_alone(spec->name)) return;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  const auto between = [&](auto least, auto most, auto usual) {
    using T = decltype(least);
    switch (dice.small(0, 4)) {
      case 0:
        return least;
      case 1:
        return most;
      case 2:
        return usual;
      default:
        return static_cast<T>(std::clamp(static_cast<double>(usual) + (dice.unit() - 0.3) * 40,
                                         static_cast<double>(least), static_cast<double>(most)));
    }
  };
  if (G_IS_PARAM_SPEC_INT(spec)) {
    const auto* s = G_PARAM_SPEC_INT(spec);
    g_value_set_int(&value, between(s->minimum, s->maximum, s->default_value));
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    const auto* s = G_PARAM_SPEC_UINT(spec);
    g_value_set_uint(&value, dice.one_in(3) ? std::min(s->maximum, s->default_value + static_cast<guint>(dice.in(0, 5)))
                                            : static_cast<guint>(dice.in(
                                                  s->minimum, std::min<guint64>(s->maximum, 60ULL + s->minimum))));
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    const auto* s = G_PARAM_SPEC_UINT64(spec);
    g_value_set_uint64(&value, dice.of({s->minimum, s->maximum, s->default_value, guint64{40} * GST_MSECOND}));
  } else if (G_IS_PARAM_SPEC_INT64(spec)) {
    const auto* s = G_PARAM_SPEC_INT64(spec);
    g_value_set_int64(&value, dice.of({s->minimum, s->maximum, s->default_value}));
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    const auto* s = G_PARAM_SPEC_DOUBLE(spec);
    g_value_set_double(&value, between(s->minimum, s->maximum, s->default_value));
  } else if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_value_set_boolean(&value, dice.one_in(2));
  } else if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* all = G_PARAM_SPEC_ENUM(spec)->enum_class;
    g_value_set_enum(&value, all->values[dice.in(0, all->n_values - 1)].value);
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    g_value_set_flags(&value, static_cast<guint>(dice.word()) & G_PARAM_SPEC_FLAGS(spec)->flags_class->mask);
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    g_value_set_string(&value, dice.of({"", "0,0,8,8", "1,1,3,2;5,5,100,100", "-1,-1,2,2", "9999999999,0,1,1", "a",
                                        "0,0,0,0", "0.5,0.5,0.1,0.1", ";;;", static_cast<const char*>(nullptr)}));
  } else {
    g_value_unset(&value);
    return;
  }
  g_object_set_property(G_OBJECT(element), spec->name, &value);
  g_value_unset(&value);
}

void get_everything(GstElement* element) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  for (guint i = 0; i < count; ++i) {
    if (!(specs[i]->flags & G_PARAM_READABLE)) continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
    g_value_unset(&value);
  }
  g_free(specs);
}

void copy_settings(GstElement* from, GstElement* to) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(from), &count);
  for (guint i = 0; i < count; ++i) {
    if (!(specs[i]->flags & G_PARAM_READABLE) || !(specs[i]->flags & G_PARAM_WRITABLE) || is_left_alone(specs[i]->name))
      continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(from), specs[i]->name, &value);
    g_object_set_property(G_OBJECT(to), specs[i]->name, &value);
    g_value_unset(&value);
  }
  g_free(specs);
}

// --- The neighbours -------------------------------------------------------------------------------------------------

/// Elements of ours in a row, between a pad that pushes and one that answers as it likes.
class Chain {
 public:
  Chain(const std::vector<const char*>& factories, Dice dice) : dice_(dice), pipeline_(gst_pipeline_new(nullptr)) {
    for (const char* factory : factories) {
      GstElement* element = gst_element_factory_make(factory, nullptr);
      if (!element) {
        std::fprintf(stderr, "fuzz: no element %s\n", factory);
        std::exit(2);
      }
      gst_bin_add(GST_BIN(pipeline_), element);
      if (!elements_.empty()) gst_element_link(elements_.back(), element);
      elements_.push_back(element);
    }
    source_ = gst_pad_new("source", GST_PAD_SRC);
    sink_ = gst_pad_new("sink", GST_PAD_SINK);
    for (GstPad* pad : {source_, sink_}) {
      gst_object_ref_sink(pad);
      g_object_set_data(G_OBJECT(pad), "chain", this);
    }
    gst_pad_set_chain_function(sink_, take);
    gst_pad_set_event_function(sink_, hear);
    gst_pad_set_query_function(sink_, answer);
    gst_pad_set_event_function(source_, hear);
    first_ = gst_element_get_static_pad(elements_.front(), "sink");
    GstPad* last = gst_element_get_static_pad(elements_.back(), "src");
    gst_pad_link_full(source_, first_, GST_PAD_LINK_CHECK_NOTHING);
    gst_pad_link_full(last, sink_, GST_PAD_LINK_CHECK_NOTHING);
    gst_object_unref(last);
    gst_pad_set_active(sink_, TRUE);
    gst_element_set_state(pipeline_, GST_STATE_PLAYING);
    gst_pad_set_active(source_, TRUE);
  }
  ~Chain() {
    gst_pad_set_active(source_, FALSE);
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_pad_set_active(sink_, FALSE);
    for (GstPad* pad : {source_, sink_, first_}) gst_object_unref(pad);
    gst_object_unref(pipeline_);
    for (GstBuffer* buffer : taken) gst_buffer_unref(buffer);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  GstElement* any(Dice& dice) { return dice.of(elements_); }
  const std::vector<GstElement*>& elements() const { return elements_; }
  GstPad* source() { return source_; }
  GstPad* sink() { return sink_; }
  GstPad* first() { return first_; }
  GstElement* pipeline() { return pipeline_; }

  std::atomic<bool> polite{false};  ///< the sink takes and keeps everything
  std::vector<GstBuffer*> taken;    ///< while polite

 private:
  static Chain& of(GstPad* pad) { return *static_cast<Chain*>(g_object_get_data(G_OBJECT(pad), "chain")); }

  static GstFlowReturn take(GstPad* pad, GstObject*, GstBuffer* buffer) {
    Chain& chain = of(pad);
    if (chain.polite) {
      chain.taken.push_back(buffer);
      return GST_FLOW_OK;
    }
    // What was pushed must be whole: every byte is looked at.
    GstMapInfo map;
    if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
      volatile unsigned sum = 0;
      for (gsize i = 0; i < map.size; ++i) sum = sum + map.data[i];
      gst_buffer_unmap(buffer, &map);
    }
    gst_buffer_unref(buffer);
    Dice& dice = chain.dice_;
    return dice.one_in(25) ? dice.of({GST_FLOW_EOS, GST_FLOW_FLUSHING, GST_FLOW_ERROR, GST_FLOW_NOT_NEGOTIATED,
                                      GST_FLOW_NOT_LINKED, GST_FLOW_CUSTOM_ERROR})
                           : GST_FLOW_OK;
  }
  static gboolean hear(GstPad* pad, GstObject*, GstEvent* event) {
    Chain& chain = of(pad);
    const bool refuses =
        !chain.polite && pad == chain.sink_ && GST_EVENT_TYPE(event) == GST_EVENT_CAPS && chain.rare_.one_in(20);
    gst_event_unref(event);
    return !refuses;
  }
  static gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query) {
    Chain& chain = of(pad);
    if (!chain.polite && GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
      const std::uint64_t how = chain.asked_.fetch_add(0x9e3779b97f4a7c15u);
      if (how & 1U << 20) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
      if (how & 1U << 21) gst_query_add_allocation_meta(query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
      if (how & 1U << 22) gst_query_add_allocation_pool(query, nullptr, static_cast<guint>(how >> 40), how >> 60, 0);
      // As an application that ends the stream from within.
      if ((how >> 23 & 63) == 0) gst_pad_push_event(chain.source_, gst_event_new_eos());
      return (how >> 30 & 3) != 0;
    }
    if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
      gst_query_set_caps_result(query, GST_CAPS_ANY);
      return TRUE;
    }
    if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
      gst_query_set_accept_caps_result(query, TRUE);
      return TRUE;
    }
    return gst_pad_query_default(pad, parent, query);
  }

  Dice dice_, rare_{7};  ///< of the sink's two functions, which one thread at a time calls
  std::atomic<std::uint64_t> asked_{1};
  GstElement* pipeline_;
  std::vector<GstElement*> elements_;
  GstPad *source_, *sink_, *first_;
};

// --- A storm --------------------------------------------------------------------------------------------------------

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

void ask(Dice& dice, Chain& chain, GstCaps* caps) {
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
  if (dice.one_in(4) && !(gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED))
    gst_pad_peer_query(chain.sink(), query);
  else
    gst_pad_peer_query(chain.source(), query);
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
      ask(dice, chain, caps);
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

// --- After it -------------------------------------------------------------------------------------------------------

/// Scores and pixels of a few clean frames.
struct Outcome {
  std::vector<double> scores;
  std::vector<std::vector<std::uint8_t>> pixels;
};

Outcome measure(Chain& chain, bool anew) {
  chain.polite = true;
  GstPad* source = chain.source();
  if (anew) {
    gst_element_set_state(chain.pipeline(), GST_STATE_READY);
    gst_element_set_state(chain.pipeline(), GST_STATE_PLAYING);
  } else {
    for (GstElement* element : chain.elements()) gst_element_set_state(element, GST_STATE_PLAYING);
  }
  gst_pad_push_event(source, gst_event_new_flush_start());
  gst_pad_push_event(source, gst_event_new_flush_stop(TRUE));
  GstCaps* caps = gst_caps_from_string("video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1");
  GstVideoInfo info;
  gst_video_info_from_caps(&info, caps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(source, gst_event_new_stream_start("clean"));
  gst_pad_push_event(source, gst_event_new_caps(caps));
  gst_pad_push_event(source, gst_event_new_segment(&segment));
  gst_caps_unref(caps);
  for (int i = 0; i < 3; ++i) gst_pad_push(source, clean_frame(info, i));
  gst_pad_push_event(source, gst_event_new_eos());
  Outcome outcome;
  for (GstBuffer* buffer : chain.taken) {
    GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "GstSharpnessMeta");
    double score = std::nan("");
    if (meta) gst_structure_get_double(gst_custom_meta_get_structure(meta), "score", &score);
    outcome.scores.push_back(score);
    GstMapInfo map;
    if (gst_buffer_map(buffer, &map, GST_MAP_READ)) {
      outcome.pixels.emplace_back(map.data, map.data + map.size);
      gst_buffer_unmap(buffer, &map);
    }
    gst_buffer_unref(buffer);
  }
  chain.taken.clear();
  return outcome;
}

/// Elements whose answer depends on nothing but the settings and the frames since the last flush.
bool forgets(const char* factory) {
  for (const std::string_view one : {"sharpnessmeter", "bliindsmeter", "halftone"})
    if (factory == one) return true;
  return false;
}

bool same(const Outcome& a, const Outcome& b) {
  const auto equal = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.scores.size() == b.scores.size() && std::equal(a.scores.begin(), a.scores.end(), b.scores.begin(), equal) &&
         a.pixels == b.pixels;
}

/// Returns whether the case went well.
bool run_case(std::uint64_t number, const char* only) {
  current_case = number;
  const int before = complaints;
  Dice dice(number * 0x9e3779b97f4a7c15u + 1);
  std::vector<const char*> factories;
  for (int i = dice.one_in(3) ? dice.small(2, 3) : 1; i > 0; --i)
    factories.push_back(only ? only : kElements[dice.in(0, std::size(kElements) - 1)]);
  Chain chain(factories, Dice(dice.word()));
  storm(dice, chain);
  bool right = true;
  if (factories.size() == 1 && forgets(factories[0])) {
    // What times and deadlines decide is not the same twice.
    for (const char* name : {"interval", "qos"})
      if (g_object_class_find_property(G_OBJECT_GET_CLASS(chain.elements()[0]), name))
        gst_util_set_object_arg(G_OBJECT(chain.elements()[0]), name, "0");
    Chain fresh(factories, Dice(1));
    // Some settings are taken between streams only.
    gst_element_set_state(fresh.pipeline(), GST_STATE_READY);
    copy_settings(chain.elements()[0], fresh.elements()[0]);
    gst_element_set_state(fresh.pipeline(), GST_STATE_PLAYING);
    const bool anew = dice.one_in(2);
    const Outcome now = measure(chain, anew), wanted = measure(fresh, anew);
    right = same(now, wanted);
    if (!right) {
      std::fprintf(stderr, "fuzz: case %" PRIu64 ": %s makes other results than a fresh one\n", number, factories[0]);
      for (const Outcome* o : {&now, &wanted}) {
        for (const double score : o->scores) std::fprintf(stderr, " %.17g", score);
        std::fprintf(stderr, " (%zu frames)\n", o->pixels.size());
      }
    }
  }
  return right && complaints == before;
}

}  // namespace
}  // namespace framequality::fuzz

int main(int argc, char** argv) {
  using namespace framequality::fuzz;
  std::uint64_t first = static_cast<std::uint64_t>(std::time(nullptr)) / 86400 * 1000000000, cases = UINT64_MAX;
  double seconds = 10;
  const char* only = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--case")
      first = std::strtoull(argv[i + 1], nullptr, 10), cases = 1;
    else if (option == "--first")
      first = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--cases")
      cases = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--seconds")
      seconds = std::strtod(argv[i + 1], nullptr);
    else if (option == "--element")
      only = argv[i + 1];
    else
      argc = 0;
  }
  if (argc == 0 || argc % 2 == 0) {
    std::fprintf(stderr, "usage: fuzz-elements [--first N] [--cases N] [--seconds S] [--element NAME] [--case N]\n");
    return 2;
  }
  gst_init(nullptr, nullptr);
  if (const char* path = g_getenv("FQ_PLUGIN"); path && *path) {
    GError* error = nullptr;
    GstPlugin* plugin = gst_plugin_load_file(path, &error);
    if (!plugin) {
      std::fprintf(stderr, "fuzz: %s\n", error->message);
      return 2;
    }
    gst_object_unref(plugin);
  }
  g_log_set_default_handler(on_log, nullptr);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) std::signal(number, on_signal);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0, wrong = 0;
  for (; done < cases; ++done) {
    if (cases == UINT64_MAX &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds)
      break;
    alarm(60);
    if (!run_case(first + done, only)) ++wrong;
    if (wrong >= 20) break;
  }
  alarm(0);
  std::printf("%" PRIu64 " cases from number %" PRIu64 " on, %" PRIu64 " wrong\n", done, first, wrong);
  return wrong ? 1 : 0;
}
