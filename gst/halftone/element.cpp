// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone: dithers to few levels, for displays and printers that have no more.
#include "gst/halftone/filter.h"
#include "gst/memory/dma.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

#include <cmath>
#include <string>

/**
 * SECTION:element-halftone
 * @title: halftone
 * @short_description: halftones (dithers) to 2, 4 or 16 levels, optionally one bit per pixel
 *
 * For e-paper, LED matrices, memory LCDs and thermal printers. Reads the luma of any format and writes GRAY8 with
 * `levels` equally spaced greys, or with `packed=true` one bit per pixel: caps video/x-mono, 1 = white, most
 * significant bit first, rows padded to bytes with zero bits. Range (limited or full) and transfer come from the caps:
 * limited-range black has no white dots, and white no black ones.
 *
 * `method` is `floyd-steinberg`, classical and fast; `tdfed`, tone-dependent error diffusion in serpentine swaths of
 * rows (Mao, Abello, Sarkar, Ulichney, Allebach, ICIP 2018), best for stills; or `blue-noise`, a threshold mask, for
 * video: static areas do not flicker. All arithmetic is integer: every machine gives the same bits. Interlaced frames
 * are halftoned field by field.
 *
 * Frames in memory:CUDAMemory are read in place; the output is in system memory. `serpentine=true` works on the CPU
 * only, `method=tdfed` on the CPU and with CUDA.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=5 ! video/x-raw,format=I420 ! halftone method=blue-noise ! fakesink
 * ]| makes five black and white frames.
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! decodebin ! halftone method=tdfed packed=true invert=true !
 *     filesink location=bits
 * ]| writes bits for a thermal printer: 1 is black.
 */

GST_DEBUG_CATEGORY_STATIC(halftone_debug);
#define GST_CAT_DEFAULT halftone_debug

using namespace framequality;

struct GstHalftone {
  FqFilterBase parent;
  Shared<HalftoneRequest>* request;
};
struct GstHalftoneClass {
  FqFilterBaseClass parent_class;
};

GType gst_halftone_get_type();
G_DEFINE_TYPE(GstHalftone, gst_halftone, FQ_TYPE_FILTER_BASE)
GST_ELEMENT_REGISTER_DEFINE(halftone, "halftone", GST_RANK_NONE, gst_halftone_get_type())

static HalftoneRequest current_request(gpointer self) { return static_cast<GstHalftone*>(self)->request->get(); }

static std::unique_ptr<Stream> make_stream(FqFilterBase* self, const FilterFormat& format, int threads) {
  return std::make_unique<FilterStream<Halftoning<GstHalftone>>>(reinterpret_cast<GstHalftone*>(self), format, threads,
                                                                 0);
}

static const char* unsupported_reason(FqDeviceBase* self) {
  if (current_request(self).settings.serpentine)
    return "serpentine=true cannot run in parallel and works on the CPU only: use device=cpu or auto";
  return nullptr;
}

static bool diffuses_by_tone(const Backend& backend) { return backend.halftone && backend.diffuses_by_tone; }
static bool halftones(const Backend& backend) { return backend.halftone != nullptr; }

static bool (*makes_now(FqDeviceBase* self))(const Backend& backend) {
  return current_request(self).settings.method == halftone::Method::kToneDependent ? diffuses_by_tone : halftones;
}

static GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
  const bool packed = current_request(trans).settings.packed;
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
  return direction == GST_PAD_SRC ? prefer_system_memory(filtered) : filtered;
}

// --- Properties -----------------------------------------------------------------------------------------------------

static GType method_get_type() {
  using halftone::Method;
  static const GType type = register_enum<Method>(
      "FqHalftoneMethod",
      {{Method::kFloydSteinberg, "Floyd-Steinberg error diffusion", "floyd-steinberg"},
       {Method::kToneDependent, "tone-dependent error diffusion in swaths of rows: best for stills", "tdfed"},
       {Method::kBlueNoise, "blue-noise mask: static areas do not flicker", "blue-noise"}});
  return type;
}

/// Values: how many levels there are.
static GType levels_get_type() {
  static const GType type = register_enum<int>(
      "FqHalftoneLevels", {{2, "black and white", "2"}, {4, "four greys", "4"}, {16, "sixteen greys", "16"}});
  return type;
}

/// False if a device without the method is in use. In READY and NULL another one can still be chosen.
static bool runs_tone_dependent(GstHalftone* self) {
  DeviceState& d = *device_base(self)->device;
  const std::lock_guard lock(d.mutex);
  return GST_STATE(self) <= GST_STATE_READY || !d.place || d.place->backend->diffuses_by_tone;
}

/// True if the request can be fulfilled; else says why the value is kept.
static bool accepts(GstHalftone* self, const HalftoneRequest& request) {
  const halftone::Settings& wanted = request.settings;
  const char* name = GST_OBJECT_NAME(self);
  if (wanted.packed && wanted.levels != 2) {
    g_warning("%s: packed=true requires levels=2; value kept", name);
    return false;
  }
  if (wanted.method == halftone::Method::kToneDependent && !runs_tone_dependent(self)) {
    g_warning(
        "%s: method=tdfed does not run on the device in use: set it before the start, with device=auto; value kept",
        name);
    return false;
  }
  if (halftone::find_table(wanted.swath_rows)) return true;
  std::string trained;
  for (const halftone::ToneTable* t : halftone::kToneTables) trained.append(" ").append(std::to_string(t->swath_rows));
  g_warning("%s: there are no weights for swath-rows=%d, only for%s; value kept", name, wanted.swath_rows,
            trained.c_str());
  return false;
}

static void when_changed(GstHalftone* self, const HalftoneRequest& before, const HalftoneRequest& now) {
  if (now.settings.packed != before.settings.packed) gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

static void get_strength(const HalftoneRequest& request, GValue* value) {
  g_value_set_double(value, static_cast<double>(request.settings.strength) / halftone::kFullStrength);
}

static bool set_strength(GstHalftone*, HalftoneRequest& request, const GValue* value) {
  request.settings.strength = static_cast<int>(std::lround(g_value_get_double(value) * halftone::kFullStrength));
  return true;
}

static void install_properties(GstHalftoneClass* klass) {
  const In part{&HalftoneRequest::settings};
  using S = halftone::Settings;
  Properties<GstHalftone, HalftoneRequest>::install(
      klass, [](GstHalftone * self) -> auto& { return *self->request; })
      .add(part(&S::method), method_get_type(), "method", "Method",
           "Halftoning (dithering) method: tdfed for stills, blue-noise for video")
      .add(part(&S::levels), levels_get_type(), "levels", "Levels",
           "Number of equally spaced grey levels, black and white included")
      .add(Mutable::kPlaying,
           g_param_spec_double(
               "strength", "Strength",
               "Fraction of the error that is diffused, or amplitude of the mask, in steps of 1/256; 0 = no dithering",
               0, 1, 1, flags_of(Mutable::kPlaying)),
           get_strength, set_strength)
      .add(&HalftoneRequest::linear, "linear", "Linear light",
           "Dither in linear light, for displays whose dots mix additively; else in code values")
      .add(
          [](auto& request) -> auto& { return request.settings.tone.invert; }, "invert", "Invert",
          "Invert the output: black becomes white")
      .add(
          Mutable::kReady, part(&S::serpentine), "serpentine", "Serpentine",
          "floyd-steinberg: alternate the direction of rows, which breaks up worm artefacts. Single-threaded, CPU only")
      .add(part(&S::swath_rows), "swath-rows", "Swath rows",
           "tdfed: rows processed in parallel: 1, 4, 16 or 64. Swaths are processed one after another, which limits "
           "the parallelism on CPU and GPU",
           1, halftone::kMaxSwathRows)
      .add(part(&S::packed), "packed", "Packed",
           "One bit per pixel, 1 = white, most significant bit first, rows padded to bytes: video/x-mono, format=MSB. "
           "Requires levels=2")
      .accept_if(accepts)
      .when_changed(when_changed);
}

static void gst_halftone_init(GstHalftone* self) { self->request = new Shared<HalftoneRequest>; }

static void gst_halftone_class_init(GstHalftoneClass* klass) {
  halftone_debug = debug_category("halftone", "halftoning");
  delete_with_instance<&GstHalftone::request>(klass);
  install_properties(klass);
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_LUMA_CAPS FQ_DMA_CAPS));
  // In system memory only: the allocator of GstCuda 1.22 knows no GRAY8.
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("GRAY8") ";" FQ_PACKED_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(
      element, "Halftone", "Filter/Effect/Video",
      "Halftones (dithers) to 2, 4 or 16 levels, optionally one bit per pixel: error diffusion, blue noise",
      "The framequality authors");
  GST_BASE_TRANSFORM_CLASS(klass)->transform_caps = transform_caps;
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = halftone_debug;
  base->parent_class.makes_now = makes_now;
  base->parent_class.unsupported_reason = unsupported_reason;
  base->parse_caps = parse_halftone_caps;
  base->make_stream = make_stream;
}
