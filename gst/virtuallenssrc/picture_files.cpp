// SPDX-License-Identifier: LGPL-2.1-or-later
// Image files as 8-bit luma, decoded by GStreamer itself.
#include "gst/virtuallenssrc/picture_files.h"

#include "gst/object/guard.h"
#include "gst/object/owned.h"

#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

namespace framequality {

namespace {

constexpr std::array kExtensions{".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".pgm", ".ppm", ".pnm"};
constexpr GstClockTime kPatience = 20 * GST_SECOND;  // for one image, so that no file blocks forever

[[noreturn]] void fail(int code, const std::string& text) { throw ElementError(GST_RESOURCE_ERROR, code, text); }

GstElement* make(GstElement* pipeline, const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element)
    throw ElementError(GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
                       std::string("Reading images needs the element ") + factory + ", which is not installed");
  gst_bin_add(GST_BIN(pipeline), element);
  return element;
}

/// Sets a pipeline to NULL at the end of its scope.
struct Pipeline {
  GstElement* const it = gst_pipeline_new(nullptr);
  Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    gst_element_set_state(it, GST_STATE_NULL);
    gst_object_unref(it);
  }
};

/// The first frame of a file, as GRAY8.
SamplePtr decode(const std::string& path) {
  GError* error = nullptr;
  const TextPtr uri(gst_filename_to_uri(path.c_str(), &error));
  if (!uri) {
    const ErrorPtr owned(error);
    fail(GST_RESOURCE_ERROR_OPEN_READ, "Cannot read " + path + ": " + owned->message);
  }
  const Pipeline pipeline;
  GstElement* source = make(pipeline.it, "uridecodebin");
  GstElement* convert = make(pipeline.it, "videoconvert");
  GstElement* sink = make(pipeline.it, "fakesink");
  g_object_set(source, "uri", uri.get(), nullptr);
  g_object_set(sink, "sync", FALSE, "enable-last-sample", TRUE, nullptr);
  const CapsPtr gray(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", nullptr));
  gst_element_link_filtered(convert, sink, gray.get());
  g_signal_connect(source, "pad-added", G_CALLBACK(+[](GstElement*, GstPad* pad, GstElement* to) {
                     GstPad* in = gst_element_get_static_pad(to, "sink");
                     gst_pad_link(pad, in);
                     gst_object_unref(in);
                   }),
                   convert);
  const BusPtr bus(gst_element_get_bus(pipeline.it));
  gst_element_set_state(pipeline.it, GST_STATE_PAUSED);
  constexpr auto kEnds = static_cast<GstMessageType>(GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  const MessagePtr end(gst_bus_timed_pop_filtered(bus.get(), kPatience, kEnds));
  if (end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(end.get(), &error, nullptr);
    const ErrorPtr owned(error);
    fail(GST_RESOURCE_ERROR_READ, "Cannot decode " + path + ": " + owned->message);
  }
  GstSample* sample = nullptr;
  g_object_get(sink, "last-sample", &sample, nullptr);
  if (!sample) fail(GST_RESOURCE_ERROR_READ, "Cannot decode " + path + ": it has no image");
  return SamplePtr(sample);
}

void add(PictureSet& set, double position, const std::string& path) {
  const auto sample = decode(path);
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample.get()), GST_MAP_READ))
    fail(GST_RESOURCE_ERROR_READ, "Cannot read the decoded image of " + path);
  const auto* rows = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < info.height; ++y) {
    const std::uint8_t* row = rows + static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    pixels.insert(pixels.end(), row, row + info.width);
  }
  gst_video_frame_unmap(&frame);
  if (set.pictures.empty()) {
    set.width = info.width;
    set.height = info.height;
  } else if (set.width != info.width || set.height != info.height) {
    const auto size = [](int w, int h) { return std::to_string(w) + "x" + std::to_string(h); };
    fail(GST_RESOURCE_ERROR_SETTINGS, "The images of a sweep must have the same size, but " + path + " is " +
                                          size(info.width, info.height) + " and others are " +
                                          size(set.width, set.height));
  }
  set.pictures[position] = std::move(pixels);
}

bool is_picture(const std::string& name) {
  const TextPtr lower(g_ascii_strdown(name.c_str(), -1));
  return name[0] != '.' && std::any_of(kExtensions.begin(), kExtensions.end(),
                                       [&](const char* extension) { return g_str_has_suffix(lower.get(), extension); });
}

/// The name without its extension as a number.
std::optional<double> number_of(const std::string& name) {
  const std::string stem = name.substr(0, name.rfind('.'));
  gchar* end = nullptr;
  const double number = g_ascii_strtod(stem.c_str(), &end);
  if (stem.empty() || *end || !std::isfinite(number)) return {};
  return number;
}

/// File names of the images in a folder, in order.
std::vector<std::string> picture_names(const std::string& folder) {
  GError* error = nullptr;
  const FolderPtr dir(g_dir_open(folder.c_str(), 0, &error));
  if (!dir) {
    const ErrorPtr owned(error);
    fail(GST_RESOURCE_ERROR_OPEN_READ, owned->message);
  }
  std::vector<std::pair<std::string, std::string>> keyed;
  while (const gchar* name = g_dir_read_name(dir.get())) {
    const TextPtr path(g_build_filename(folder.c_str(), name, nullptr));
    // A pipe or a device would block.
    if (!is_picture(name) || !g_file_test(path.get(), G_FILE_TEST_IS_REGULAR)) continue;
    const TextPtr shown(g_filename_display_name(name)), key(g_utf8_collate_key_for_filename(shown.get(), -1));
    keyed.emplace_back(key.get(), name);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::string> names;
  names.reserve(keyed.size());
  for (auto& [key, name] : keyed) names.push_back(std::move(name));
  return names;
}

}  // namespace

PictureSet load_pictures(const std::string& location) {
  PictureSet set;
  if (!g_file_test(location.c_str(), G_FILE_TEST_EXISTS))
    fail(GST_RESOURCE_ERROR_NOT_FOUND, "No such file or folder: " + location);
  if (!g_file_test(location.c_str(), G_FILE_TEST_IS_DIR)) {
    if (!g_file_test(location.c_str(), G_FILE_TEST_IS_REGULAR))
      fail(GST_RESOURCE_ERROR_OPEN_READ, location + " is neither a file nor a folder");
    add(set, 0, location);
    return set;
  }
  const std::vector<std::string> names = picture_names(location);
  if (names.empty()) fail(GST_RESOURCE_ERROR_NOT_FOUND, "There is no image (.png, .jpg, ...) in " + location);
  const bool numbers = std::all_of(names.begin(), names.end(), [](const auto& name) { return number_of(name); });
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double position = numbers ? *number_of(names[i]) : static_cast<double>(i);
    const TextPtr path(g_build_filename(location.c_str(), names[i].c_str(), nullptr));
    if (set.pictures.count(position))
      fail(GST_RESOURCE_ERROR_SETTINGS, std::string("Two images have the same position; one is ") + path.get());
    add(set, position, path.get());
  }
  return set;
}

}  // namespace framequality
