// SPDX-License-Identifier: LGPL-2.1-or-later
// Storms of odd caps, frames, events, queries, settings and state changes on our elements, alone and in chains; after
// each, clean frames give what a fresh element makes of them. A case is repeated from its number.
#include "tests/fuzz/chain.h"
#include "tests/fuzz/dice.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/metas.h"
#include "tests/fuzz/settings.h"
#include "tests/fuzz/storm.h"

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
#include <unistd.h>
#include <utility>
#include <vector>

namespace framequality::fuzz {
namespace {

std::uint64_t current_case = 0;
std::atomic<int> complaints{0};

/// Says which case it was, whatever ends the program; SIGALRM: it hangs.
void on_signal(int number) {
  char text[80];
  const int n = std::snprintf(text, sizeof text, "\nfuzz: case %" PRIu64 ", signal %d\n", current_case, number);
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(n)) != n) _exit(3);
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

/// Sets, by chance, what an element needs to have more to do in a few frames than by default.
void put_to_work(Dice& dice, GstElement* element) {
  constexpr std::pair<const char*, const char*> kWork[] = {
      {"min", "0"},          {"max", "100"},     {"learn-time", "200000000"}, {"hold-time", "200000000"},
      {"zone-columns", "4"}, {"zone-rows", "4"}, {"interval", "1000000000"},  {"temporal-radius", "1"}};
  for (const auto& [name, value] : kWork)
    if (dice.one_in(2) && g_object_class_find_property(G_OBJECT_GET_CLASS(element), name))
      gst_util_set_object_arg(G_OBJECT(element), name, value);
}

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
  gst_element_set_state(chain.pipeline(), GST_STATE_READY);  // some settings are taken between streams only
  for (GstElement* element : chain.elements()) put_to_work(dice, element);
  gst_element_set_state(chain.pipeline(), GST_STATE_PLAYING);
  storm(dice, chain);
  bool right = true;
  if (factories.size() == 1 && forgets(factories[0])) {
    // What times and deadlines decide is not the same twice.
    for (const char* name : {"interval", "qos"})
      if (g_object_class_find_property(G_OBJECT_GET_CLASS(chain.elements()[0]), name))
        gst_util_set_object_arg(G_OBJECT(chain.elements()[0]), name, "0");
    Chain fresh(factories, Dice(1));
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
  register_metas();
  g_log_set_default_handler(on_log, nullptr);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) std::signal(number, on_signal);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t done = 0, wrong = 0;
  for (; done < cases; ++done) {
    if (cases == UINT64_MAX &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds)
      break;
    alarm(240);  // only a fault takes as long, however busy the machine is and whatever looks for leaks
    if (!run_case(first + done, only)) ++wrong;
    if (wrong >= 20) break;
  }
  alarm(0);
  std::printf("%" PRIu64 " cases from number %" PRIu64 " on, %" PRIu64 " wrong\n", done, first, wrong);
  return wrong ? 1 : 0;
}
