// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes files, several at once in one process, into fakesinks: what any program that scans them could reach. Each has
// the decoder that GStreamer takes; those on a GPU share one context. Prints the frames, and those of a second.
//
// usage: decode_bench [--jobs=N] [--gpus=N] FILE...   (gpus: by turns on the first N)
#include "apps/common/contexts.h"
#include "apps/common/owned.h"
#include "apps/common/uri.h"
#include "apps/scan/gpus.h"

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace framequality::apps;

namespace {

std::atomic<std::uint64_t> frames = 0;

struct Place {
  int gpu;
};

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer) {
  ++frames;
  return GST_PAD_PROBE_OK;
}

void link(GstElement*, GstPad* pad, gpointer sink) {
  const Owned<GstPad> into(gst_element_get_static_pad(GST_ELEMENT(sink), "sink"));
  if (!gst_pad_is_linked(into.get())) gst_pad_link(pad, into.get());
}

gint select(GstElement*, GstPad*, GstCaps*, GstElementFactory* factory, gpointer place) {
  const int gpu = scan::gpu_of(factory);
  return gpu < 0 || gpu == static_cast<Place*>(place)->gpu ? 0 : 2;  // try it, or the next one
}

GstBusSyncReply share(GstBus*, GstMessage* message, gpointer place) {
  share_context(message, static_cast<Place*>(place)->gpu);
  return GST_BUS_PASS;
}

void decode(const std::string& name, Place place) {
  const Owned<GstElement> pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  GstElement* source = gst_element_factory_make("uridecodebin", nullptr);
  GstElement* sink = gst_element_factory_make("fakesink", nullptr);
  if (!source || !sink) throw std::runtime_error("uridecodebin and fakesink are needed");
  gst_bin_add_many(GST_BIN(pipeline.get()), source, sink, nullptr);
  const Owned<GstCaps> video(gst_caps_from_string("video/x-raw(ANY)"));
  g_object_set(source, "uri", uri_of(name).c_str(), "caps", video.get(), "expose-all-streams", FALSE, nullptr);
  g_object_set(sink, "sync", FALSE, "enable-last-sample", FALSE, nullptr);
  g_signal_connect(source, "pad-added", G_CALLBACK(link), sink);
  if (place.gpu >= 0) g_signal_connect(source, "autoplug-select", G_CALLBACK(select), &place);
  const Owned<GstPad> end(gst_element_get_static_pad(sink, "sink"));
  gst_pad_add_probe(end.get(), GST_PAD_PROBE_TYPE_BUFFER, count, nullptr, nullptr);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
  gst_bus_set_sync_handler(bus.get(), share, &place, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const Owned<GstMessage> last(gst_bus_timed_pop_filtered(
      bus.get(), GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  if (GST_MESSAGE_TYPE(last.get()) != GST_MESSAGE_EOS) throw std::runtime_error(name + " cannot be decoded");
}

int run(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  std::size_t jobs = 1;
  int gpus = 1;
  for (const std::string& word : words) {
    if (word.starts_with("--jobs="))
      jobs = static_cast<std::size_t>(std::max(1, std::atoi(word.c_str() + 7)));
    else if (word.starts_with("--gpus="))
      gpus = std::max(1, std::atoi(word.c_str() + 7));
    else
      files.push_back(word);
  }
  const std::vector<int> there = scan::decoding_gpus();
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < std::min(jobs, files.size()); ++t)
    threads.emplace_back([&, t] {
      const int gpu = there.empty() ? -1 : there[t % std::min<std::size_t>(gpus, there.size())];
      for (std::size_t i = next++; i < files.size(); i = next++) decode(files[i], {gpu});
    });
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu frames, %.3f s, %.0f frames/s\n", static_cast<unsigned long long>(frames), seconds,
              static_cast<double>(frames) / seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  int status = 1;
  try {
    status = run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "decode_bench: %s\n", e.what());
  }
  std::fflush(nullptr);
  // Threads of the GPU's driver must not see the program taken down.
  _exit(status);
}
