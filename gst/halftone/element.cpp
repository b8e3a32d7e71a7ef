// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone: pictures of few levels for displays and printers that have no more.
#include "gst/halftone/filter.h"
#include "gst/object/enums.h"

#include <cmath>
#include <mutex>
#include <string>

/**
 * SECTION:element-halftone
 * @title: halftone
 * @short_description: pictures of 2, 4 or 16 levels that look like the original from afar
 *
 * For e-paper, LED matrices, memory LCDs and thermal printers. Reads luma in every format and writes GRAY8 that holds
 * `levels` equally spaced greys, or with `packed=true` one bit per pixel: caps video/x-mono, 1 for white, the highest
 * bit of a byte leftmost, rows padded to whole bytes with 0. Code range (limited or full) and transfer come from the
 * caps; limited-range black has no white dots, nor white black ones.
 *
 * `method` is `floyd-steinberg`, classical and fast; `tdfed`, tone-dependent error diffusion over serpentine swaths of
 * rows (Mao, Abello, Sarkar, Ulichney, Allebach, ICIP 2018), the best looking stills; or `blue-noise`, a mask of
 * thresholds, for moving pictures: a pixel that does not change does not flicker. All is integer: every machine makes
 * the same bits. Interlaced frames are halftoned field by field.
 *
 * Frames in memory:CUDAMemory are read where they lie; what leaves is in system memory. `serpentine=true` works on the
 * CPU only.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=5 ! video/x-raw,format=I420 ! halftone method=blue-noise ! fakesink
 * ]| makes five black and white frames.
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! decodebin ! halftone method=tdfed packed=true invert=true !
 *     filesink location=bits
 * ]| makes bits for a thermal printer: 1 is black.
 */

GST_DEBUG_CATEGORY_STATIC(halftone_debug);
#define GST_CAT_DEFAULT halftone_debug

namespace framequality {

struct HalftoneState {
  std::mutex mutex;
  HalftoneWish wish;
};

}  // namespace framequality

using namespace framequality;

struct GstHalftone {
  FqFilterBase parent;
  HalftoneState* state;
};
struct GstHalftoneClass {
  FqFilterBaseClass parent_class;
};

GType gst_halftone_get_type();
G_DEFINE_TYPE(GstHalftone, gst_halftone, FQ_TYPE_FILTER_BASE)
GST_ELEMENT_REGISTER_DEFINE(halftone, "halftone", GST_RANK_NONE, gst_halftone_get_type())

static HalftoneWish current_wish(gpointer self) {
  HalftoneState& s = *static_cast<GstHalftone*>(self)->state;
  const std::lock_guard lock(s.mutex);
  return s.wish;
}

static std::unique_ptr<PixelFilter> make_filter(FqFilterBase* self, const FilterFormat& format, const Place& place,
                                                int depth, int threads) {
  return make_halftoner(format, place, depth, threads, [self] { return current_wish(self); });
}

static const char* obstacle(FqDeviceBase* self) {
  if (current_wish(self).settings.serpentine)
    return "serpentine=true has nothing to do at once, so it works on the CPU only: use device=cpu or auto";
  return nullptr;
}

static GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
  const bool packed = current_wish(trans).settings.packed;
  // The base takes away what lies in memory that is out of reach.
  const auto in_reach = [&](GstCaps* in) {
    return GST_BASE_TRANSFORM_CLASS(gst_halftone_parent_class)->transform_caps(trans, direction, in, nullptr);
  };
  GstCaps *first, *result;
  if (direction == GST_PAD_SINK) {
    first = in_reach(caps);
    result = halftone_output_caps(first, packed);
  } else {
    first = halftone_input_caps(caps, packed);
    result = in_reach(first);
  }
  gst_caps_unref(first);
  if (!filter) return result;
  GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(result);
  return filtered;
}

// --- Properties -----------------------------------------------------------------------------------------------------

enum {
  PROP_METHOD = 1,
  PROP_LEVELS,
  PROP_STRENGTH,
  PROP_LINEAR,
  PROP_INVERT,
  PROP_SERPENTINE,
  PROP_SWATH_ROWS,
  PROP_DELAY,
  PROP_PACKED
};

/// True if the wish can be fulfilled; else says why the value is kept.
static bool can_be(const char* name, const halftone::Settings& wish) {
  if (wish.packed && wish.levels != 2) {
    g_warning("%s: packed=true has one bit per pixel, which takes levels=2; value kept", name);
    return false;
  }
  if (halftone::has_table(wish.swath_rows, wish.delay)) return true;
  std::string trained;
  for (const halftone::ToneTable* t : halftone::kToneTables)
    trained.append(" ").append(std::to_string(t->swath_rows)).append("/").append(std::to_string(t->delay));
  g_warning("%s: no weights have been trained for swath-rows=%d with delay=%d, but for%s; value kept", name,
            wish.swath_rows, wish.delay, trained.c_str());
  return false;
}

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  HalftoneState& state = *reinterpret_cast<GstHalftone*>(object)->state;
  if (id == PROP_SERPENTINE && is_too_late(object, pspec)) return;
  bool other_caps = false;
  {
    const std::lock_guard lock(state.mutex);
    HalftoneWish wish = state.wish;
    halftone::Settings& s = wish.settings;
    switch (id) {
      case PROP_METHOD:
        s.method = static_cast<halftone::Method>(g_value_get_enum(value));
        break;
      case PROP_LEVELS:
        s.levels = g_value_get_enum(value);
        break;
      case PROP_STRENGTH:
        s.strength = static_cast<int>(std::lround(g_value_get_double(value) * halftone::kFullStrength));
        break;
      case PROP_LINEAR:
        wish.linear = g_value_get_boolean(value);
        break;
      case PROP_INVERT:
        s.tone.invert = g_value_get_boolean(value);
        break;
      case PROP_SERPENTINE:
        s.serpentine = g_value_get_boolean(value);
        break;
      case PROP_SWATH_ROWS:
        s.swath_rows = g_value_get_int(value);
        break;
      case PROP_DELAY:
        s.delay = g_value_get_int(value);
        break;
      case PROP_PACKED:
        s.packed = g_value_get_boolean(value);
        break;
      default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    }
    if (!can_be(GST_OBJECT_NAME(object), s)) return;
    other_caps = s.packed != state.wish.settings.packed;
    state.wish = wish;
  }
  if (other_caps) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  const HalftoneWish wish = current_wish(object);
  const halftone::Settings& s = wish.settings;
  switch (id) {
    case PROP_METHOD:
      g_value_set_enum(value, static_cast<int>(s.method));
      break;
    case PROP_LEVELS:
      g_value_set_enum(value, s.levels);
      break;
    case PROP_STRENGTH:
      g_value_set_double(value, static_cast<double>(s.strength) / halftone::kFullStrength);
      break;
    case PROP_LINEAR:
      g_value_set_boolean(value, wish.linear);
      break;
    case PROP_INVERT:
      g_value_set_boolean(value, s.tone.invert);
      break;
    case PROP_SERPENTINE:
      g_value_set_boolean(value, s.serpentine);
      break;
    case PROP_SWATH_ROWS:
      g_value_set_int(value, s.swath_rows);
      break;
    case PROP_DELAY:
      g_value_set_int(value, s.delay);
      break;
    case PROP_PACKED:
      g_value_set_boolean(value, s.packed);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_halftone_init(GstHalftone* self) { self->state = new HalftoneState; }

static void finalize(GObject* object) {
  delete reinterpret_cast<GstHalftone*>(object)->state;
  G_OBJECT_CLASS(gst_halftone_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  constexpr auto kReady =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  const halftone::Settings s;
  const auto flag = [&](guint id, const char* name, const char* nick, const char* blurb, GParamFlags flags) {
    g_object_class_install_property(object, id, g_param_spec_boolean(name, nick, blurb, FALSE, flags));
  };
  g_object_class_install_property(
      object, PROP_METHOD,
      g_param_spec_enum("method", "Method", "How levels are chosen: tdfed for stills, blue-noise for moving pictures",
                        halftone_method_get_type(), static_cast<int>(s.method), kFlags));
  g_object_class_install_property(
      object, PROP_LEVELS,
      g_param_spec_enum("levels", "Levels", "Equally spaced greys, black and white included",
                        halftone_levels_get_type(), s.levels, kFlags));
  g_object_class_install_property(
      object, PROP_STRENGTH,
      g_param_spec_double("strength", "Strength",
                          "Share of the errors that is passed on, or of the mask that is added, in steps of 1/256; 0 = "
                          "each pixel is rounded by itself",
                          0, 1, 1, kFlags));
  flag(PROP_LINEAR, "linear", "Linear light",
       "Work in linear light: for displays whose dots mix as light does. Else codes are what is averaged", kFlags);
  flag(PROP_INVERT, "invert", "Invert", "Black becomes white", kFlags);
  flag(PROP_SERPENTINE, "serpentine", "Serpentine",
       "floyd-steinberg: every other row from the right, which breaks up worms. On one core of the CPU only", kReady);
  g_object_class_install_property(
      object, PROP_SWATH_ROWS,
      g_param_spec_int("swath-rows", "Rows of a swath",
                       "tdfed: rows that are done together, 1, 4, 16 or 64; swaths follow one another, so their "
                       "rows are all there is to do at once, on CPU or GPU",
                       1, halftone::kMaxSwathRows, s.swath_rows, kFlags));
  g_object_class_install_property(
      object, PROP_DELAY,
      g_param_spec_int("delay", "Delay",
                       "tdfed: pixels by which a row of a swath follows the one above; 1, 2 and 6, with "
                       "swath-rows=4, are for comparison",
                       1, halftone::kMaxDelay, s.delay, kFlags));
  flag(PROP_PACKED, "packed", "Packed",
       "One bit per pixel, 1 for white, the highest bit of a byte leftmost, rows padded to whole bytes with 0: caps "
       "video/x-mono, format=MSB. Takes levels=2",
       kFlags);
}

static void gst_halftone_class_init(GstHalftoneClass* klass) {
  GST_DEBUG_CATEGORY_INIT(halftone_debug, "halftone", 0, "halftoning");
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_LUMA_CAPS));
  // In system memory only: the allocator of GstCuda 1.22 knows no GRAY8.
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("GRAY8") ";" FQ_PACKED_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(
      element, "Halftone", "Filter/Effect/Video",
      "Makes pictures of 2, 4 or 16 levels, also one bit per pixel: exact error diffusion, blue noise",
      "The framequality authors");
  GST_BASE_TRANSFORM_CLASS(klass)->transform_caps = transform_caps;
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = halftone_debug;
  base->parent_class.obstacle = obstacle;
  base->parse_caps = parse_halftone_caps;
  base->make_filter = make_filter;
  gst_type_mark_as_plugin_api(halftone_method_get_type(), static_cast<GstPluginAPIFlags>(0));
  gst_type_mark_as_plugin_api(halftone_levels_get_type(), static_cast<GstPluginAPIFlags>(0));
}
