// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUs that decode video on this machine.
#include "apps/scan/gpus.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <string_view>

namespace framequality::apps::scan {

namespace {

constexpr char kPlugin[] = "nvcodec";
// An engine idles while a stream's next frames are fetched and parsed: a second stream keeps it busy.
constexpr int kStreamsPerEngine = 2, kMostStreams = 32;
constexpr int kUsualEngines = 2;  // if the driver does not count them
// A 4K stream of ten bits: 25 MB for each of some twenty frames, without contexts and kernels.
constexpr std::size_t kBytesPerStream = 600'000'000;

/// CUDA id in a factory's name: nvh264dec is the first GPU's, nvh265device1dec and nvh264sldevice2dec other GPUs'.
int gpu_in_name(std::string_view name) {
  constexpr std::string_view kMark = "device";
  const auto at = name.rfind(kMark);
  int gpu = 0;
  if (at != std::string_view::npos) std::from_chars(name.data() + at + kMark.size(), name.data() + name.size(), gpu);
  return gpu;
}

// Types of NVIDIA's driver, declared as in its public headers (CUDA driver API; Video Codec SDK, nvcuvid.h).
// Loaded at run time: the program works without it.
struct DecodeCaps {
  int codec, chroma;
  unsigned depth_minus_8, reserved1[3];
  unsigned char is_supported, engines;
  unsigned short output_formats;
  unsigned max_width, max_height, max_macroblocks;
  unsigned short min_width, min_height;
  unsigned char histogram, counter_depth;
  unsigned short max_bins;
  unsigned reserved3[10];
};
constexpr int kH264 = 4, kChroma420 = 1;

class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {}
  // Never closed: drivers leave threads behind.
  template <class F>
  bool find(F*& function, const char* name) const {
    function = handle_ ? reinterpret_cast<F*>(dlsym(handle_, name)) : nullptr;
    return function;
  }

 private:
  void* handle_;
};

/// The number of streams; 0 if it cannot be determined.
int ask_driver(int gpu) {
  const Library cuda("libcuda.so.1"), video("libnvcuvid.so.1");
  int (*init)(unsigned) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*retain)(void**, int) = nullptr;
  int (*release)(int) = nullptr;
  int (*push)(void*) = nullptr;
  int (*pop)(void**) = nullptr;
  int (*memory)(std::size_t*, std::size_t*) = nullptr;
  int (*caps)(DecodeCaps*) = nullptr;
  int device = 0;
  void* context = nullptr;
  if (!cuda.find(init, "cuInit") || !cuda.find(get, "cuDeviceGet") || !cuda.find(retain, "cuDevicePrimaryCtxRetain") ||
      !cuda.find(release, "cuDevicePrimaryCtxRelease_v2") || !cuda.find(push, "cuCtxPushCurrent_v2") ||
      !cuda.find(pop, "cuCtxPopCurrent_v2") || !cuda.find(memory, "cuMemGetInfo_v2") || init(0) != 0 ||
      get(&device, gpu) != 0 || retain(&context, device) != 0)
    return 0;
  int streams = 0;
  if (push(context) == 0) {
    DecodeCaps asked{};
    asked.codec = kH264;
    asked.chroma = kChroma420;
    int engines = 0;
    if (video.find(caps, "cuvidGetDecoderCaps") && caps(&asked) == 0) engines = asked.engines;
    std::size_t free = 0, total = 0;
    if (memory(&free, &total) != 0) free = 0;
    streams = std::clamp(kStreamsPerEngine * (engines > 0 ? engines : kUsualEngines), 1,
                         std::max(1, static_cast<int>(free / kBytesPerStream)));
    pop(&context);
  }
  release(device);
  return streams;
}

}  // namespace

int gpu_of(GstElementFactory* factory) {
  const gchar* plugin = gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory));
  constexpr auto kKind =
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO | GST_ELEMENT_FACTORY_TYPE_MEDIA_IMAGE;
  if (!plugin || std::string_view(plugin) != kPlugin || !gst_element_factory_list_is_type(factory, kKind)) return -1;
  return gpu_in_name(GST_OBJECT_NAME(factory));
}

bool can_processor_decode(GstCaps* caps) {
  GList* all = gst_element_factory_list_get_elements(GST_ELEMENT_FACTORY_TYPE_DECODER, GST_RANK_MARGINAL);
  GList* fit = gst_element_factory_list_filter(all, caps, GST_PAD_SINK, FALSE);
  bool found = false;
  for (const GList* i = fit; i && !found; i = i->next) found = gpu_of(GST_ELEMENT_FACTORY(i->data)) < 0;
  gst_plugin_feature_list_free(fit);
  gst_plugin_feature_list_free(all);
  return found;
}

std::vector<int> decoding_gpus() {
  GList* factories = gst_element_factory_list_get_elements(
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO, GST_RANK_MARGINAL);
  std::vector<int> gpus;
  for (const GList* i = factories; i; i = i->next)
    if (const int gpu = gpu_of(GST_ELEMENT_FACTORY(i->data)); gpu >= 0) gpus.push_back(gpu);
  gst_plugin_feature_list_free(factories);
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  return gpus;
}

int streams_of(int gpu) { return std::clamp(ask_driver(gpu), 1, kMostStreams); }

}  // namespace framequality::apps::scan
