// SPDX-License-Identifier: LGPL-2.1-or-later
// virtuallenssrc: a simulated camera with a movable lens.
#include "algorithms/focus/virtual_lens.h"
#include "gst/memory/allocation.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"
#include "gst/virtuallenssrc/picture_files.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

/**
 * SECTION:element-virtuallenssrc
 * @title: virtuallenssrc
 * @short_description: simulated camera with a movable lens, for tests and demos of autofocus
 *
 * A test element that replaces a camera.
 *
 * Shows the image at the lens `position`: from a folder with the images of a real focus sweep (`location`; file names
 * that are numbers are positions), or by blurring one still image more, the further `position` is from
 * `best-position`. Without `location` the element draws the still image itself, in the size that the caps request.
 *
 * The lens behaves like a real one: a new position takes effect `lag` frames after the next one, the motor moves at
 * most `slew` positions per frame, `backlash` is its play, `exposure` makes frames blend what they see while the lens
 * moves, and with `breathing` the image's size changes with focus. Frames can have `noise` and `flicker`, random but
 * repeatable: the same settings give the same frames.
 *
 * The image is luma: GRAY8 if downstream accepts it, else NV12 or I420 without color. Pixel values have full range
 * (colorimetry 1:4:0:0), the same in all formats, so that scores are the same; if downstream requests a colorimetry of
 * limited range, they are scaled to 16...235.
 *
 * With `is-live` it behaves like a camera: a frame shows the scene at its timestamp, and is output one frame duration
 * later. Frames that a blocked pipeline leaves no time for are skipped: timestamps and offsets have a gap there, and
 * the next frame is marked as discontinuous. `lag` and `slew` count the frames that are output.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 virtuallenssrc position=50 lag=2 noise=3 ! videoconvert ! autovideosink
 * ]| shows a sharp image with noise; another `position` blurs it.
 * |[
 * gst-launch-1.0 -m virtuallenssrc name=lens num-buffers=300 ! sharpnessmeter normalize=mean prefilter=binomial5 !
 *     focuscontroller actuator=lens.position min=0 max=100 ! fakesink
 * ]| focuses it.
 */

GST_DEBUG_CATEGORY_STATIC(virtuallenssrc_debug);
#define GST_CAT_DEFAULT virtuallenssrc_debug

namespace framequality {

namespace {

constexpr int kWidth = 320, kHeight = 240, kRate = 30;  // defaults if caps leave them open
constexpr std::uint64_t kSceneSeed = 1;
constexpr const char* kFullRange = "1:4:0:0";  // BT.601 with full range, as in JPEG

struct LensOptions {
  LensSettings lens;
  double position = 0;
};

struct LensSource {
  Shared<LensOptions> options;
  Shared<std::string> location;

  std::mutex mutex;           ///< of the following, up to the blank line
  int width = 0, height = 0;  ///< of the images at `location`, 0: any
  GstClockTime duration = 0;  ///< of a frame, 0: unknown

  // Used by state changes and the streaming thread, never concurrently.
  GstVideoInfo info{};
  std::optional<VirtualLens> lens;
  std::uint64_t frame = 0;
  std::uint64_t first = 0;  ///< frame of the current caps, and its time, so that time continues when the rate changes
  GstClockTime begin = 0;
};

}  // namespace

}  // namespace framequality

using namespace framequality;

struct GstVirtualLensSrc {
  GstPushSrc parent;
  LensSource* source;
};
struct GstVirtualLensSrcClass {
  GstPushSrcClass parent_class;
};

GType gst_virtual_lens_src_get_type();
G_DEFINE_TYPE(GstVirtualLensSrc, gst_virtual_lens_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(virtuallenssrc, "virtuallenssrc", GST_RANK_NONE, gst_virtual_lens_src_get_type())

static LensSource& source_of(gpointer instance) { return *static_cast<GstVirtualLensSrc*>(instance)->source; }

// --- Stream ---------------------------------------------------------------------------------------------------------

static gboolean start(GstBaseSrc* src) {
  LensSource& s = source_of(src);
  return guard(GST_ELEMENT_CAST(src), FALSE, [&]() -> gboolean {
    const std::string location = s.location.get();
    s.frame = s.first = 0;
    s.begin = 0;
    if (location.empty()) return TRUE;
    PictureSet set = load_pictures(location);
    GST_INFO_OBJECT(src, "%zu images of %dx%d, at %g to %g", set.pictures.size(), set.width, set.height,
                    set.pictures.begin()->first, set.pictures.rbegin()->first);
    if (set.pictures.size() == 1)
      s.lens.emplace(set.width, set.height, std::move(set.pictures.begin()->second));
    else
      s.lens.emplace(set.width, set.height, std::move(set.pictures));
    const std::lock_guard lock(s.mutex);
    s.width = set.width;
    s.height = set.height;
    return TRUE;
  });
}

static gboolean stop(GstBaseSrc* src) {
  LensSource& s = source_of(src);
  s.lens.reset();
  const std::lock_guard lock(s.mutex);
  s.width = s.height = 0;
  s.duration = 0;
  return TRUE;
}

static GstCaps* get_caps(GstBaseSrc* src, GstCaps* filter) {
  LensSource& s = source_of(src);
  GstCaps* caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(src));
  {
    const std::lock_guard lock(s.mutex);
    if (s.width > 0) {
      caps = gst_caps_make_writable(caps);
      gst_caps_set_simple(caps, "width", G_TYPE_INT, s.width, "height", G_TYPE_INT, s.height, nullptr);
    }
  }
  if (!filter) return caps;
  GstCaps* filtered = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return filtered;
}

/// Whether a value of the field colorimetry means pixel values from 0 to 255.
static bool is_full_range(const GValue* value) {
  GstVideoColorimetry colorimetry{};
  return G_VALUE_HOLDS_STRING(value) && gst_video_colorimetry_from_string(&colorimetry, g_value_get_string(value)) &&
         colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
}

/// Sets full range if caps leave it open: without it, YUV would be assumed to have limited range.
static void fixate_colorimetry(GstStructure* s) {
  const GValue* asked = gst_structure_get_value(s, "colorimetry");
  if (!asked) {
    gst_structure_set(s, "colorimetry", G_TYPE_STRING, kFullRange, nullptr);
    return;
  }
  if (!GST_VALUE_HOLDS_LIST(asked)) return;
  for (guint i = 0; i < gst_value_list_get_size(asked); ++i) {
    const GValue* one = gst_value_list_get_value(asked, i);
    if (!is_full_range(one)) continue;
    gst_structure_set(s, "colorimetry", G_TYPE_STRING, g_value_get_string(one), nullptr);
    return;
  }
}

static GstCaps* fixate(GstBaseSrc* src, GstCaps* caps) {
  // Gray if downstream accepts it, even if it prefers YUV.
  const CapsPtr gray(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", nullptr));
  if (gst_caps_can_intersect(caps, gray.get())) {
    GstCaps* only = gst_caps_intersect_full(caps, gray.get(), GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    caps = only;
  }
  caps = gst_caps_make_writable(caps);
  GstStructure* s = gst_caps_get_structure(caps, 0);
  gst_structure_fixate_field(s, "format");
  if (g_strcmp0(gst_structure_get_string(s, "format"), "GRAY8") != 0 || gst_structure_has_field(s, "colorimetry"))
    fixate_colorimetry(s);
  gst_structure_fixate_field_nearest_int(s, "width", kWidth);
  gst_structure_fixate_field_nearest_int(s, "height", kHeight);
  gst_structure_fixate_field_nearest_fraction(s, "framerate", kRate, 1);
  return GST_BASE_SRC_CLASS(gst_virtual_lens_src_parent_class)->fixate(src, caps);
}

static GstClockTime time_of(const LensSource& s, std::uint64_t frame) {
  return s.begin + gst_util_uint64_scale(frame - s.first, static_cast<guint64>(s.info.fps_d) * GST_SECOND,
                                         static_cast<guint64>(s.info.fps_n));
}

/// Continues with the frame that is due now. Frames missed by a blocked pipeline would show, if made late, a
/// lens that has moved since their timestamps. Returns whether any was skipped.
static bool skip_missed(GstBaseSrc* src, LensSource& s) {
  if (!gst_base_src_is_live(src)) return false;
  const GstClockTime now = gst_element_get_current_running_time(GST_ELEMENT_CAST(src));
  if (!GST_CLOCK_TIME_IS_VALID(now) || now < s.begin) return false;
  const guint64 second = static_cast<guint64>(s.info.fps_d) * GST_SECOND;
  const std::uint64_t due = s.first + gst_util_uint64_scale(now - s.begin, static_cast<guint64>(s.info.fps_n), second);
  if (due <= s.frame) return false;
  s.frame = due;
  return true;
}

static gboolean set_caps(GstBaseSrc* src, GstCaps* caps) {
  LensSource& s = source_of(src);
  return guard(GST_ELEMENT_CAST(src), FALSE, [&]() -> gboolean {
    if (s.info.fps_n > 0) s.begin = time_of(s, s.frame);
    s.first = s.frame;
    if (!gst_video_info_from_caps(&s.info, caps)) return FALSE;
    const int w = s.info.width, h = s.info.height;
    if (!s.lens || s.lens->width() != w || s.lens->height() != h) {
      const std::optional<VirtualLens> before = std::exchange(s.lens, std::nullopt);
      s.lens.emplace(w, h, dead_leaves(w, h, kSceneSeed));
      if (before) s.lens->go_on_from(*before);
    }
    gst_base_src_set_blocksize(src, static_cast<guint>(s.info.size));
    const std::lock_guard lock(s.mutex);
    s.duration = time_of(s, s.first + 1) - s.begin;
    return TRUE;
  });
}

/// Downstream's pool if it offers one, else our own.
static gboolean decide_allocation(GstBaseSrc* src, GstQuery* query) {
  const auto least = static_cast<guint>(source_of(src).info.size);
  GstCaps* caps = nullptr;
  GstBufferPool* pool = nullptr;
  guint size = least, min = 0, max = 0;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
  size = std::max(size, least);
  if (!pool) pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config(pool, config);
  set_first_pool(query, pool, size, min, max);
  gst_object_unref(pool);
  return GST_BASE_SRC_CLASS(gst_virtual_lens_src_parent_class)->decide_allocation(src, query);
}

/// Makes a plane of chroma colorless. In NV12 and I420 a plane's number is that of its first component.
static void clear_chroma(const GstVideoFrame& frame, guint plane) {
  constexpr int kNoColor = 128;
  const auto row = static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, plane)) *
                   static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, plane));
  auto* out = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
  for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, plane);
       ++y, out += GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane))
    std::memset(out, kNoColor, row);
}

static GstFlowReturn fill(GstPushSrc* src, GstBuffer* buffer) {
  LensSource& s = source_of(src);
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &s.info, buffer, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR(src, RESOURCE, WRITE, ("Cannot map an output buffer for writing"), (nullptr));
    return GST_FLOW_ERROR;
  }
  if (skip_missed(GST_BASE_SRC_CAST(src), s)) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  const bool drawn = guard(GST_ELEMENT_CAST(src), false, [&] {
    const LensOptions options = s.options.get();
    const bool limited = s.info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
    s.lens->configure(options.lens);
    s.lens->render(options.position, static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)),
                   GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0), limited ? kLimitedRange : LumaRange{});
    // For every frame: an element downstream may have painted on it in place.
    for (guint plane = 1; plane < GST_VIDEO_FRAME_N_PLANES(&frame); ++plane) clear_chroma(frame, plane);
    return true;
  });
  gst_video_frame_unmap(&frame);
  if (!drawn) return GST_FLOW_ERROR;
  GST_BUFFER_PTS(buffer) = time_of(s, s.frame);
  GST_BUFFER_DTS(buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(buffer) = time_of(s, s.frame + 1) - GST_BUFFER_PTS(buffer);
  GST_BUFFER_OFFSET(buffer) = s.frame++;
  GST_BUFFER_OFFSET_END(buffer) = s.frame;
  return GST_FLOW_OK;
}

/// A live frame leaves when it has been exposed, one duration after its timestamp: so it is never older than
/// its timestamp, and shows all commands before that.
static void get_times(GstBaseSrc* src, GstBuffer* buffer, GstClockTime* begin, GstClockTime* end) {
  *begin = *end = GST_CLOCK_TIME_NONE;
  if (!gst_base_src_is_live(src)) return;
  *begin = GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer);
  *end = *begin + GST_BUFFER_DURATION(buffer);
}

static gboolean query(GstBaseSrc* src, GstQuery* query) {
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY || !gst_base_src_is_live(src))
    return GST_BASE_SRC_CLASS(gst_virtual_lens_src_parent_class)->query(src, query);
  LensSource& s = source_of(src);
  const std::lock_guard lock(s.mutex);
  if (s.duration == 0) return FALSE;
  gst_query_set_latency(query, TRUE, s.duration, GST_CLOCK_TIME_NONE);
  return TRUE;
}

// --- Properties -----------------------------------------------------------------------------------------------------

static void get_location(GstVirtualLensSrc* self, GValue* value) {
  PropertyType<std::string>::set(value, self->source->location.get());
}
static void set_location(GstVirtualLensSrc* self, const GValue* value) {
  self->source->location.change([&](std::string& location) { location = PropertyType<std::string>::get(value); });
}
static void get_is_live(GstVirtualLensSrc* self, GValue* value) {
  g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(self)));
}
static void set_is_live(GstVirtualLensSrc* self, const GValue* value) {
  gst_base_src_set_live(GST_BASE_SRC(self), g_value_get_boolean(value));
}

static void install_properties(GstVirtualLensSrcClass* klass) {
  const In part{&LensOptions::lens};
  const In drive{&LensSettings::drive};
  using S = LensSettings;
  using D = DriveSettings;
  Properties<GstVirtualLensSrc, LensOptions>::install(
      klass, [](GstVirtualLensSrc * self) -> auto& { return self->source->options; })
      .add(g_param_spec_string(
               "location", "Location",
               "Show the images of a focus sweep in this folder, all of the same size: positions are the file names if "
               "all are numbers (1.4489.png), else 0, 1, 2... in their order; the nearest image is shown. Or blur this "
               "image file. Empty = blur a built-in scene of any size",
               nullptr, flags_of(Mutable::kNextStart)),
           get_location, set_location)
      .add(&LensOptions::position, "position", "Position", "Move the lens to this position, in arbitrary units",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add(part(&S::best_position), "best-position", "Best position",
           "Make a still image sharp at this position; the images of a folder have their own best position, see shift",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add(part(&S::blur_per_unit), "blur-per-unit", "Blur per unit",
           "Blur a still image with a disk of this radius, in pixels (at most 128), per unit of distance between "
           "position and best-position",
           0, G_MAXDOUBLE)
      .add(part(&S::shift), "shift", "Shift",
           "Move the scene: position p shows what p - shift would show. With a folder of images this moves the best "
           "position",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add(part(drive(&D::lag)), "lag", "Lag",
           "Show the old position for this many frames after a new one was set; 0 = the next frame shows the new one",
           0, LensDrive::kMaxLag)
      .add(part(drive(&D::slew)), "slew", "Slew",
           "Move the motor by at most this many positions per frame, after lag; 0 = any number at once", 0, G_MAXDOUBLE)
      .add(part(drive(&D::backlash)), "backlash", "Backlash",
           "Simulate this play between motor and lens, in positions: moving up, the lens is at the commanded position; "
           "moving down, this much above it; while the motor reverses within the play, the lens stays. 0 = none",
           0, G_MAXDOUBLE)
      .add(part(drive(&D::exposure)), "exposure", "Exposure",
           "Expose a frame for this share of its duration, up to its end: while slew moves the lens, a frame is the "
           "mean of 8 images along the way; 0 = the image at the end, 1 = the whole duration",
           0, 1)
      .add(part(&S::breathing), "breathing", "Breathing",
           "Change the magnification with focus: position p shows the image scaled about its centre by 1 + breathing * "
           "(p - shift - best-position), limited to 1/4 to 4, with edge pixels repeated. With a folder, best-position "
           "has no other effect. 0 = none",
           -G_MAXDOUBLE, G_MAXDOUBLE)
      .add(part(&S::noise), "noise", "Noise", "Add Gaussian noise of this standard deviation, in 8-bit grey levels", 0,
           255)
      .add(part(&S::flicker), "flicker", "Flicker",
           "Vary the exposure at random from frame to frame: 0.1 = luma times 0.9 to 1.1, clipped", 0, 1)
      .add(part(&S::seed), "seed", "Seed", "Seed noise and flicker: the same seed gives the same frames", 0,
           G_MAXUINT64)
      .add(g_param_spec_boolean("is-live", "Is live",
                                "Deliver frames as a camera does: each frame shows the scene at its timestamp and is "
                                "output one frame duration later",
                                FALSE, flags_of(Mutable::kNextStart)),
           get_is_live, set_is_live);
}

static void gst_virtual_lens_src_init(GstVirtualLensSrc* self) {
  self->source = new LensSource;
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void gst_virtual_lens_src_class_init(GstVirtualLensSrcClass* klass) {
  virtuallenssrc_debug = debug_category("virtuallenssrc", "simulated camera with a movable lens");
  delete_with_instance<&GstVirtualLensSrc::source>(klass);
  install_properties(klass);
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Virtual lens", "Source/Video",
      "Test element: simulated camera with a movable lens, with lag, backlash, noise and flicker, for autofocus",
      "The framequality authors");
  static GstStaticPadTemplate pad = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS("video/x-raw, format={GRAY8,NV12,I420}, width=[1,32767], height=[1,32767], "
                      "framerate=[1/2147483647,2147483647/1]"));
  gst_element_class_add_static_pad_template(element, &pad);
  auto* src = GST_BASE_SRC_CLASS(klass);
  src->start = start;
  src->stop = stop;
  src->get_caps = get_caps;
  src->fixate = fixate;
  src->set_caps = set_caps;
  src->decide_allocation = decide_allocation;
  src->get_times = get_times;
  src->query = query;
  GST_PUSH_SRC_CLASS(klass)->fill = fill;
}
