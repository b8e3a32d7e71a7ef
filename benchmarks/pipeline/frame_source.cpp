// SPDX-License-Identifier: LGPL-2.1-or-later
// A video source that costs next to nothing: each buffer is painted when it is first seen, then goes round and round.
#include "benchmarks/pipeline/frame_source.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#if FQ_HAVE_GSTCUDA
#define GST_USE_UNSTABLE_API  // what every user of GstCuda says
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <utility>

namespace framequality::bench {
namespace {

/// What an element keeps beside GObject's part.
struct Source {
  SourceOptions options;
  std::shared_ptr<SourceState> state;
  GstVideoInfo info;
  std::vector<GstMemory*> painted;
  std::chrono::steady_clock::time_point last{};  ///< when the last frame was due, of those that are paced
  int core = -1;                                 ///< the streaming thread's; -1: any
  std::vector<std::uint8_t> picture{};           ///< the bytes of a fresh frame, once it has been painted
};

/// Moves the calling thread to this core, -1: to any that it began with. Where that is not allowed, it stays.
void run_on(int core) {
  static const auto all = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  cpu_set_t set = all;
  if (core >= 0) {
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace
}  // namespace framequality::bench

using namespace framequality::bench;

struct FqBenchSource {
  GstPushSrc parent;
  Source* source;
};
struct FqBenchSourceClass {
  GstPushSrcClass parent_class;
};

GType fq_bench_source_get_type();
G_DEFINE_TYPE(FqBenchSource, fq_bench_source, GST_TYPE_PUSH_SRC)

static Source& source_of(gpointer element) { return *static_cast<FqBenchSource*>(element)->source; }

static GstCaps* caps_of(const Source& source) {
  GstCaps* caps = gst_video_info_to_caps(&source.info);
  if (source.options.memory == SourceMemory::kCuda)
    gst_caps_set_features(caps, 0, gst_caps_features_new("memory:CUDAMemory", nullptr));
  return caps;
}

static GstCaps* get_caps(GstBaseSrc* element, GstCaps* filter) {
  GstCaps* caps = caps_of(source_of(element));
  if (!filter) return caps;
  GstCaps* both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return both;
}

/// The pool of our own that the source is to use; null for none.
static GstBufferPool* make_pool(const Source& source) {
  if (source.options.memory == SourceMemory::kRecycled || source.options.memory == SourceMemory::kWilling)
    return gst_video_buffer_pool_new();
#if FQ_HAVE_GSTCUDA
  if (source.options.memory == SourceMemory::kCuda) {
    if (!gst_cuda_load_library()) return nullptr;
    gst_cuda_memory_init_once();
    GstCudaContext* context = gst_cuda_context_new(static_cast<guint>(source.options.cuda_device));
    if (!context) return nullptr;
    GstBufferPool* pool = gst_cuda_buffer_pool_new(context);
    gst_object_unref(context);
    return pool;
  }
#endif
  return nullptr;
}

static gboolean decide_allocation(GstBaseSrc* element, GstQuery* query) {
  Source& source = source_of(element);
  const auto least = static_cast<guint>(source.options.buffers);
  source.painted.clear();  // other memory may come to lie where the last pool's was
  const bool offered = source.options.memory == SourceMemory::kOffered ||
                       (source.options.memory == SourceMemory::kWilling && gst_query_get_n_allocation_pools(query) > 0);
  if (offered) {
    GstBufferPool* pool = nullptr;
    guint size = 0, min = 0, max = 0;
    if (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    if (!pool) {
      GST_ELEMENT_ERROR(element, RESOURCE, SETTINGS, ("downstream offers no pool"), (nullptr));
      return FALSE;
    }
    min = std::max(min, least);
    gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max == 0 ? 0 : std::max(min, max));
    gst_object_unref(pool);
    source.state->took_pool = true;
  } else {
    while (gst_query_get_n_allocation_pools(query) > 0) gst_query_remove_nth_allocation_pool(query, 0);
    while (gst_query_get_n_allocation_params(query) > 0) gst_query_remove_nth_allocation_param(query, 0);
    if (GstBufferPool* pool = make_pool(source)) {
      gst_query_add_allocation_pool(query, pool, static_cast<guint>(source.info.size), least, 0);
      gst_object_unref(pool);
    } else if (source.options.memory == SourceMemory::kCuda) {
      GST_ELEMENT_ERROR(element, RESOURCE, NOT_FOUND, ("no pool of CUDA memory"), (nullptr));
      return FALSE;
    }
  }
  return GST_BASE_SRC_CLASS(fq_bench_source_parent_class)->decide_allocation(element, query);
}

/// A row of luma codes as the format's first plane has it: bytes, words with the codes in the high byte, or pixels
/// whose colours are all the same.
static void paint_row(std::uint8_t* row, const std::uint8_t* luma, std::size_t width, int pixel_bytes) {
  if (pixel_bytes == 1) {
    std::memcpy(row, luma, width);
    return;
  }
  for (std::size_t x = 0; x < width; ++x, row += pixel_bytes) {
    std::memset(row, luma[x], static_cast<std::size_t>(pixel_bytes));
    if (pixel_bytes == 2) row[0] = 0;
  }
}

static bool paint(const Source& source, GstBuffer* buffer) {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &source.info, buffer, GST_MAP_WRITE)) return false;
  const auto width = static_cast<std::size_t>(source.info.width);
  const std::uint8_t* luma = source.options.luma->data();
  for (int y = 0; y < source.info.height; ++y)
    paint_row(static_cast<std::uint8_t*>(frame.data[0]) + std::ptrdiff_t{y} * frame.info.stride[0],
              luma + static_cast<std::size_t>(y) * width, width, GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0));
  if (GST_VIDEO_INFO_N_PLANES(&source.info) > 1)
    std::memset(
        frame.data[1], 128,
        static_cast<std::size_t>(frame.info.stride[1]) * static_cast<std::size_t>((source.info.height + 1) / 2));
  gst_video_frame_unmap(&frame);
  return true;
}

/// Bytes from which malloc() maps new pages, but only where the thread's arena has no room: one stream would get the
/// same block again and again, and another one new pages for each frame.
constexpr guint kMapped = 128 * 1024;

static GstFlowReturn allocate(GstBaseSrc* element, guint64 offset, guint size, GstBuffer** buffer) {
  if (source_of(element).options.memory != SourceMemory::kFresh || size < kMapped)
    return GST_BASE_SRC_CLASS(fq_bench_source_parent_class)->alloc(element, offset, size, buffer);
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages == MAP_FAILED) {
    GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("no memory for a frame"), (nullptr));
    return GST_FLOW_ERROR;
  }
  auto* mapping = new std::pair<void*, std::size_t>(pages, size);
  const auto unmap = [](gpointer p) {
    const auto* m = static_cast<std::pair<void*, std::size_t>*>(p);
    munmap(m->first, m->second);
    delete m;
  };
  *buffer = gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), pages, size, 0, size, mapping, unmap);
  return GST_FLOW_OK;
}

/// Paints as paint() did the first time, faster.
static bool repeat(Source& source, GstBuffer* buffer) {
  GstMapInfo map;
  if (source.picture.empty()) {
    if (!paint(source, buffer) || !gst_buffer_map(buffer, &map, GST_MAP_READ)) return false;
    source.picture.assign(map.data, map.data + map.size);
  } else {
    if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) return false;
    constexpr std::size_t kPiece = 65536;  // in pieces, memcpy() does not bypass the caches
    const std::size_t size = std::min(map.size, source.picture.size());
    for (std::size_t i = 0; i < size; i += kPiece)
      std::memcpy(map.data + i, source.picture.data() + i, std::min(kPiece, size - i));
  }
  gst_buffer_unmap(buffer, &map);
  return true;
}

static GstFlowReturn fill(GstPushSrc* element, GstBuffer* buffer) {
  Source& source = source_of(element);
  if (source.state->is_held) {
    source.state->is_idle = true;
    source.state->is_held.wait(true);
    source.state->is_idle = false;
  }
  if (const int core = source.state->core; core != source.core) run_on(source.core = core);
  const bool fresh = source.options.memory == SourceMemory::kFresh;
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  if (fresh || std::find(source.painted.begin(), source.painted.end(), memory) == source.painted.end()) {
    if (!(fresh ? repeat(source, buffer) : paint(source, buffer))) {
      GST_ELEMENT_ERROR(element, RESOURCE, WRITE, ("cannot map a buffer"), (nullptr));
      return GST_FLOW_ERROR;
    }
    if (!fresh) source.painted.push_back(memory);
  }
  if (source.state->paced) {
    using std::chrono::steady_clock;
    // After a pause, from now on.
    source.last = std::max(source.last + std::chrono::nanoseconds(1000000000 / kSourceRate), steady_clock::now());
    std::this_thread::sleep_until(source.last);
  }
  const std::uint64_t n = source.state->frames.fetch_add(1, std::memory_order_relaxed);
  GST_BUFFER_PTS(buffer) = gst_util_uint64_scale_int(n, GST_SECOND, kSourceRate);
  GST_BUFFER_DURATION(buffer) = gst_util_uint64_scale_int(n + 1, GST_SECOND, kSourceRate) - GST_BUFFER_PTS(buffer);
  return GST_FLOW_OK;
}

static void get_times(GstBaseSrc* element, GstBuffer* buffer, GstClockTime* start, GstClockTime* end) {
  const bool live = source_of(element).options.live;
  *start = live ? GST_BUFFER_PTS(buffer) : GST_CLOCK_TIME_NONE;
  *end = live ? GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer) : GST_CLOCK_TIME_NONE;
}

static void finalize(GObject* object) {
  delete reinterpret_cast<FqBenchSource*>(object)->source;
  G_OBJECT_CLASS(fq_bench_source_parent_class)->finalize(object);
}

static void fq_bench_source_init(FqBenchSource* self) {
  self->source = new Source;
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void fq_bench_source_class_init(FqBenchSourceClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &src);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Benchmark source", "Source/Video",
                                        "The same picture over and over", "The framequality authors");
  GST_BASE_SRC_CLASS(klass)->get_caps = get_caps;
  GST_BASE_SRC_CLASS(klass)->decide_allocation = decide_allocation;
  GST_BASE_SRC_CLASS(klass)->alloc = allocate;
  GST_BASE_SRC_CLASS(klass)->get_times = get_times;
  GST_PUSH_SRC_CLASS(klass)->fill = fill;
}

namespace framequality::bench {

bool has_cuda_memory() { return FQ_HAVE_GSTCUDA; }

GstElement* make_frame_source(const SourceOptions& options, std::shared_ptr<SourceState> state) {
  auto* element = GST_ELEMENT(g_object_new(fq_bench_source_get_type(), nullptr));
  Source& source = source_of(element);
  source.options = options;
  source.state = std::move(state);
  gst_video_info_set_format(&source.info, gst_video_format_from_string(options.format.c_str()),
                            static_cast<guint>(options.width), static_cast<guint>(options.height));
  source.info.fps_n = kSourceRate;
  source.info.fps_d = 1;
  gst_base_src_set_live(GST_BASE_SRC(element), options.live);
  gst_base_src_set_blocksize(GST_BASE_SRC(element), static_cast<guint>(source.info.size));
  return element;
}

}  // namespace framequality::bench
