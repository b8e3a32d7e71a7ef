// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/gst/rig.h"

#include "algorithms/layout.h"
#include "gst/register.h"
#include "tests/support/sanitizers.h"

#if FQ_ASAN
// GLib leaks its table of quarks on purpose whenever it grows. What elements hold is watched by leaks_test.cpp.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libglib-2.0.so\n"; }
#endif

namespace framequality::test {
namespace {

/// GStreamer runs from before the first test to after the last, so that leak checkers see it go. The elements are those
/// linked into this program, not the plugin's: only their table of backends can be written.
class GStreamer : public ::testing::Environment {
 public:
  void SetUp() override {
    gst_init(nullptr, nullptr);
    ASSERT_TRUE(register_elements(nullptr));
  }
  void TearDown() override { gst_deinit(); }
};
[[maybe_unused]] ::testing::Environment* const gstreamer = ::testing::AddGlobalTestEnvironment(new GStreamer);

}  // namespace

void Heard::add(GstMessage* message) {
  GError* error = nullptr;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_message_has_name(message, of))
        results.emplace_back(gst_structure_copy(gst_message_get_structure(message)));
      return;
    case GST_MESSAGE_EOS:
      eos = true;
      return;
    case GST_MESSAGE_LATENCY:
      ++latencies;
      return;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error(message, &error, nullptr);
      errors.push_back({error->domain, error->code, error->message});
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning(message, &error, nullptr);
      warnings.push_back({error->domain, error->code, error->message});
      break;
    default:
      return;
  }
  g_error_free(error);
}

double number(const GstStructure* s, const char* field) {
  double v = -1e300;
  EXPECT_TRUE(gst_structure_get_double(s, field, &v)) << field;
  return v;
}

std::uint64_t count(const GstStructure* s, const char* field) {
  guint64 v = 0;
  EXPECT_TRUE(gst_structure_get_uint64(s, field, &v)) << field;
  return v;
}

std::string text(const GstStructure* s, const char* field) {
  const char* v = gst_structure_get_string(s, field);
  return v ? v : "(none)";
}

double meta_score(GstBuffer* buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "GstSharpnessMeta");
  return meta ? number(gst_custom_meta_get_structure(meta), "score") : std::nan("");
}

ElementPtr pipeline_of(const std::string& launch) {
  GError* error = nullptr;
  ElementPtr pipeline(gst_parse_launch(launch.c_str(), &error));
  const std::string text = error ? error->message : "";
  g_clear_error(&error);
  if (!pipeline || !text.empty()) throw std::runtime_error(launch + ": " + text);
  return pipeline;
}

MessagePtr end_of(GstBus* bus) {
  return MessagePtr(gst_bus_timed_pop_filtered(bus, kPatience * GST_SECOND,
                                               static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
}

Heard run(const std::string& launch, const char* of, unsigned seconds) {
  const ElementPtr pipeline = pipeline_of(launch);
  Heard all{.of = of};
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const gint64 end = g_get_monotonic_time() + gint64{seconds} * G_USEC_PER_SEC;
  while (!all.eos && all.errors.empty()) {
    const gint64 left = end - g_get_monotonic_time();
    if (left <= 0) {
      ADD_FAILURE() << "no EOS after " << seconds << " s: " << launch;
      break;
    }
    if (const MessagePtr message{gst_bus_timed_pop(bus.get(), static_cast<GstClockTime>(left) * 1000)})
      all.add(message.get());
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return all;
}

std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> names;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(names));
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

std::vector<std::string> listed_formats(const char* factory) {
  const ElementPtr element(gst_element_factory_make(factory, nullptr));
  gst_object_ref_sink(element.get());
  const CapsPtr caps(gst_pad_template_get_caps(gst_element_get_pad_template(element.get(), "sink")));
  const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), "format");
  std::vector<std::string> names;
  for (guint i = 0; i < gst_value_list_get_size(list); ++i)
    names.emplace_back(g_value_get_string(gst_value_list_get_value(list, i)));
  return names;
}

std::string video_caps(const char* format, int width, int height, const char* more) {
  return "video/x-raw,format=" + std::string(format) + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=30/1" + more;
}

GstVideoInfo video_info(const std::string& caps) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, c.get())) << caps;
  return info;
}

BufferPtr random_buffer(const std::string& caps, std::uint64_t seed, GstClockTime pts) {
  const GstVideoInfo info = video_info(caps);
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstMapInfo map;
  gst_buffer_map(buffer.get(), &map, GST_MAP_WRITE);
  Random random(seed);
  for (gsize i = 0; i < map.size; ++i) map.data[i] = static_cast<guint8>(random.next());
  gst_buffer_unmap(buffer.get(), &map);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 30;
  return buffer;
}

std::vector<std::uint16_t> codes_of(const std::string& caps, GstBuffer* buffer, int* depth) {
  const GstVideoInfo info = video_info(caps);
  GstVideoFrame frame;
  std::vector<std::uint16_t> codes;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    ADD_FAILURE() << caps;
    return codes;
  }
  const GstVideoFormatInfo* f = info.finfo;
  const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
  *depth = static_cast<int>(f->depth[0]);
  const int drop = (wide ? 16 : 8) - *depth;
  std::vector<std::uint16_t> line(static_cast<std::size_t>(info.width) * 4 + 64);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  for (int y = 0; y < info.height; ++y) {
    f->unpack_func(f, GST_VIDEO_PACK_FLAG_NONE, line.data(), frame.data, info.stride, 0, y, info.width);
    for (std::size_t x = 0; x < static_cast<std::size_t>(info.width); ++x) {
      const auto at = [&](std::size_t k) {
        return static_cast<std::uint32_t>(wide ? line[4 * x + k] : bytes[4 * x + k]) >> drop;
      };
      codes.push_back(static_cast<std::uint16_t>(GST_VIDEO_INFO_IS_RGB(&info) ? luma_of(at(1), at(2), at(3)) : at(1)));
    }
  }
  gst_video_frame_unmap(&frame);
  return codes;
}

Rig::Rig(std::initializer_list<std::pair<const char*, const char*>> properties, const char* factory)
    : factory_(factory), bus_(gst_bus_new()) {
  element_ = gst_element_factory_make(factory, nullptr);
  if (!element_) throw std::runtime_error(std::string("no element ") + factory);
  if (named_device.name && std::string_view(factory) == "sharpnessmeter") set(named_device.name, named_device.value);
  for (const auto& [name, value] : properties) set(name, value);
  gst_element_set_bus(element_, bus_.get());
  harness_.reset(gst_harness_new_with_element(element_, "sink", "src"));
  // The harness holds a reference of its own.
  gst_object_unref(element_);
}

void Rig::change_caps(const std::string& caps) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  EXPECT_TRUE(gst_harness_push_event(harness_.get(), gst_event_new_caps(c.get()))) << caps;
}

BufferPtr Rig::pass(BufferPtr buffer) {
  EXPECT_EQ(push(std::move(buffer)), GST_FLOW_OK);
  BufferPtr out = pull();
  EXPECT_TRUE(out);
  return out;
}

double Rig::score(BufferPtr buffer) {
  const BufferPtr out = pass(std::move(buffer));
  return out ? meta_score(out.get()) : std::nan("");
}

Heard Rig::heard() {
  Heard all{.of = factory_};
  while (MessagePtr message{gst_bus_pop(bus_.get())}) all.add(message.get());
  return all;
}

std::uint64_t Rig::stat(const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(element_, "stats", &stats, nullptr);
  const StructurePtr owned(stats);
  return count(stats, field);
}

std::string Rig::string(const char* property) {
  gchar* value = nullptr;
  g_object_get(element_, property, &value, nullptr);
  const std::string s = value ? value : "(null)";
  g_free(value);
  return s;
}

}  // namespace framequality::test
