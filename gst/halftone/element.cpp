// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone: dithers to few levels, for displays and printers that have no more.
#include "engine/palette_file.h"
#include "gst/halftone/filter.h"
#include "gst/memory/dma.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

#include <cmath>
#include <stdexcept>
#include <string>

/**
 * SECTION:element-halftone
 * @title: halftone
 * @short_description: halftones (dithers) to 2, 4 or 16 levels, optionally one bit per pixel
 *
 * For e-paper, LED matrices, memory LCDs and thermal printers. Reads the luma of any format and writes GRAY8 with
 * `levels` equally spaced grey levels, or with `packed=true` one bit per pixel: caps video/x-mono, 1 = white, most
 * significant bit first, rows padded to bytes with zero bits. Range (limited or full) and transfer come from the caps:
 * limited-range black has no white dots, and white no black ones.
 *
 * `method` is `floyd-steinberg`, classical and fast; `tdfed`, tone-dependent error diffusion in serpentine swaths of
 * rows (Mao, Abello, Sarkar, Ulichney, Allebach, ICIP 2018), best for still images; or `blue-noise`, a threshold mask,
 * for video: static areas do not flicker. All arithmetic is integer: every machine gives the same bits. Interlaced
 * frames are halftoned field by field.
 *
 * `palette` halftones to the colours of a display instead, such as colour e-paper: to RGB or RGBx as it will look, or
 * with `packed=true` to the display's numbers of the colours: caps video/x-indexed, 1, 2 or 4 bits per pixel, most
 * significant bits first, rows padded to bytes with zero bits.
 *
 * Frames in memory:CUDAMemory are read in place; the output is in system memory. `serpentine=true`, and `palette` with
 * `method=floyd-steinberg`, work on the CPU only, `method=tdfed` on the CPU and with CUDA.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=5 ! video/x-raw,format=I420 ! halftone method=blue-noise ! fakesink
 * ]| makes five black and white frames.
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! decodebin ! halftone method=tdfed packed=true invert=true !
 *     filesink location=bits
 * ]| writes bits for a thermal printer: 1 is black.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=800,height=480 !
 *     halftone palette=spectra6 linear=true packed=true ! filesink location=frame
 * ]| writes the 192000 bytes that a Spectra 6 panel takes.
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
  auto* element = reinterpret_cast<GstHalftone*>(self);
  if (is_colour(format))
    return std::make_unique<FilterStream<ColourHalftoning<GstHalftone>>>(element, format, threads, 0);
  return std::make_unique<FilterStream<Halftoning<GstHalftone>>>(element, format, threads, 0);
}

static bool asks_for_diffused_colours(const HalftoneRequest& request) {
  return request.is_colour() && request.settings.method == halftone::Method::kFloydSteinberg;
}

static const char* unsupported_reason(FqDeviceBase* self) {
  const HalftoneRequest request = current_request(self);
  if (asks_for_diffused_colours(request))
    return "palette with method=floyd-steinberg works on the CPU only: use method=blue-noise, or device=cpu or auto";
  if (request.settings.serpentine)
    return "serpentine=true cannot run in parallel and works on the CPU only: use device=cpu or auto";
  return nullptr;
}

static bool diffuses_by_tone(const Backend& backend) { return backend.halftone && backend.diffuses_by_tone; }
static bool halftones(const Backend& backend) { return backend.halftone != nullptr; }
static bool masks_colours(const Backend& backend) { return backend.colour_halftone != nullptr; }
static bool diffuses_colours(const Backend& backend) { return backend.colour_halftone && backend.diffuses_colours; }

/// Whether a device makes what is asked for.
static bool (*maker_of(const HalftoneRequest& request))(const Backend& backend) {
  if (request.is_colour()) return asks_for_diffused_colours(request) ? diffuses_colours : masks_colours;
  return request.settings.method == halftone::Method::kToneDependent ? diffuses_by_tone : halftones;
}

static bool (*makes_now(FqDeviceBase* self))(const Backend& backend) { return maker_of(current_request(self)); }

static GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps, GstCaps* filter) {
  const HalftoneRequest request = current_request(trans);
  // The base removes unreachable memory.
  const auto in_reach = [&](GstCaps* in) {
    return GST_BASE_TRANSFORM_CLASS(gst_halftone_parent_class)->transform_caps(trans, direction, in, nullptr);
  };
  GstCaps *first, *result;
  if (direction == GST_PAD_SINK) {
    first = in_reach(caps);
    result = halftone_output_caps(first, request);
  } else {
    first = halftone_input_caps(caps, request);
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
       {Method::kToneDependent, "tone-dependent error diffusion in swaths of rows: best for still images", "tdfed"},
       {Method::kBlueNoise, "blue-noise mask: static areas do not flicker", "blue-noise"}});
  return type;
}

/// Values: the number of levels.
static GType levels_get_type() {
  static const GType type = register_enum<int>(
      "FqHalftoneLevels", {{2, "black and white", "2"}, {4, "four greys", "4"}, {16, "sixteen greys", "16"}});
  return type;
}

/// Values: PaletteChoice.
static GType palette_get_type() {
  static const GType type = [] {
    const auto named = halftone::named_palettes();
    auto* list = new GEnumValue[named.size() + 3]();  // GLib keeps it forever
    list[0] = {0, "greys, as many as levels says", "none"};
    list[1] = {1, "the colours of palette-colors or palette-file", "custom"};
    for (std::size_t i = 0; i < named.size(); ++i)
      list[i + 2] = {static_cast<int>(i + 2), named[i].summary, named[i].name};
    return g_enum_register_static("FqHalftonePalette", list);
  }();
  return type;
}

/// False if the device in use does not make this. In READY and NULL another one can still be chosen.
static bool runs(GstHalftone* self, bool (*makes)(const Backend&)) {
  DeviceState& d = *device_base(self)->device;
  const std::lock_guard lock(d.mutex);
  return GST_STATE(self) <= GST_STATE_READY || !d.place || makes(*d.place->backend);
}

/// Whether there is a table for the rows of a swath; otherwise posts why the value is kept.
static bool accepts_swath_rows(const char* name, int rows) {
  if (halftone::find_table(rows)) return true;
  std::string trained;
  for (const halftone::ToneTable* t : halftone::kToneTables) trained.append(" ").append(std::to_string(t->swath_rows));
  g_warning("%s: there are no weights for swath-rows=%d, only for%s; value kept", name, rows, trained.c_str());
  return false;
}

/// True if the request can be fulfilled; otherwise posts why the value is kept.
static bool accepts(GstHalftone* self, const HalftoneRequest& request) {
  const halftone::Settings& wanted = request.settings;
  const char* name = GST_OBJECT_NAME(self);
  if (wanted.packed && wanted.levels != 2 && !request.is_colour()) {
    g_warning("%s: packed=true requires levels=2; value kept", name);
    return false;
  }
  if (request.is_colour() && wanted.method == halftone::Method::kToneDependent) {
    g_warning("%s: method=tdfed makes greys only: a palette needs floyd-steinberg or blue-noise; value kept", name);
    return false;
  }
  if (!runs(self, maker_of(request))) {
    g_warning(
        "%s: the device in use does not support %s; keeping the old value. Set it before the start, with device=auto",
        name, request.is_colour() ? "palette with method=floyd-steinberg" : "method=tdfed");
    return false;
  }
  return accepts_swath_rows(name, wanted.swath_rows);
}

static void when_changed(GstHalftone* self, const HalftoneRequest& before, const HalftoneRequest& now) {
  if (now.settings.packed != before.settings.packed || !(now.colours() == before.colours()))
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
}

static void get_strength(const HalftoneRequest& request, GValue* value) {
  g_value_set_double(value, static_cast<double>(request.settings.strength) / halftone::kFullStrength);
}

static bool set_strength(GstHalftone*, HalftoneRequest& request, const GValue* value) {
  request.settings.strength = static_cast<int>(std::lround(g_value_get_double(value) * halftone::kFullStrength));
  return true;
}

/// The property of a custom palette that is a string, as text or as a file. The one that was set last counts.
template <std::string HalftoneRequest::*kMine>
static void get_custom(const HalftoneRequest& request, GValue* value) {
  g_value_set_string(value, (request.*kMine).empty() ? nullptr : (request.*kMine).c_str());
}

template <std::string HalftoneRequest::*kMine, std::string HalftoneRequest::*kOther>
static bool set_custom(GstHalftone* self, HalftoneRequest& request, const GValue* value) {
  constexpr bool kIsFile = kMine == &HalftoneRequest::palette_file;
  const char* given = g_value_get_string(value);
  const std::string text = given ? given : "";
  try {
    if (!text.empty()) {
      request.custom = kIsFile ? load_palette(text) : halftone::parse_palette(text);
      (request.*kOther).clear();
    } else if ((request.*kOther).empty()) {
      request.custom = {};
    }
    request.*kMine = text;
    return true;
  } catch (const std::invalid_argument& e) {
    if (kIsFile)
      g_warning("%s: palette-file: %s: %s; value kept", GST_OBJECT_NAME(self), text.c_str(), e.what());
    else
      g_warning("%s: palette-colors: %s; value kept", GST_OBJECT_NAME(self), e.what());
    return false;
  }
}

static void install_properties(GstHalftoneClass* klass) {
  const In part{&HalftoneRequest::settings};
  using S = halftone::Settings;
  Properties<GstHalftone, HalftoneRequest>::install(
      klass, [](GstHalftone * self) -> auto& { return *self->request; })
      .add(part(&S::method), method_get_type(), "method", "Method",
           "Halftone (dither) by this method: tdfed for still images, blue-noise for video")
      .add(part(&S::levels), levels_get_type(), "levels", "Levels",
           "Output this many equally spaced grey levels, black and white included")
      .add(Mutable::kPlaying,
           g_param_spec_double(
               "strength", "Strength",
               "Diffuse this fraction of the error, or scale the mask by it, in steps of 1/256; 0 = no dithering", 0, 1,
               1, flags_of(Mutable::kPlaying)),
           get_strength, set_strength)
      .add(&HalftoneRequest::linear, "linear", "Linear light",
           "Dither in linear light, for displays whose dots mix additively; false = in pixel values")
      .add(
          [](auto& request) -> auto& { return request.settings.tone.invert; }, "invert", "Invert",
          "Invert the output: black becomes white")
      .add(Mutable::kReady, part(&S::serpentine), "serpentine", "Serpentine",
           "Alternate the direction of rows with method=floyd-steinberg, which breaks up worm artefacts. "
           "Single-threaded, on the CPU only")
      .add(part(&S::swath_rows), "swath-rows", "Swath rows",
           "Process this many rows in parallel with method=tdfed: 1, 4, 16 or 64. Swaths are processed one after "
           "another, which limits the parallelism on CPU and GPU",
           1, halftone::kMaxSwathRows)
      .add(part(&S::packed), "packed", "Packed",
           "One bit per pixel, 1 = white, most significant bit first, rows padded to bytes: video/x-mono, format=MSB. "
           "Requires levels=2")
      .add(&HalftoneRequest::palette, palette_get_type(), "palette", "Palette",
           "Colours of the display: halftone to these instead of to greys. The output is RGB or RGBx, or with "
           "packed=true the display's numbers of the colours, in 1, 2 or 4 bits: video/x-indexed")
      .add(
          Mutable::kPlaying,
          g_param_spec_string("palette-colors", "Palette colours",
                              "palette=custom: 2 to 16 colours as \"#rrggbb,#rrggbb,...\", as the eye sees them on the "
                              "display. \"#rrggbb=5\" gives a colour the number 5 in packed frames, else numbers count "
                              "from 0",
                              nullptr, flags_of(Mutable::kPlaying)),
          get_custom<&HalftoneRequest::palette_colors>,
          set_custom<&HalftoneRequest::palette_colors, &HalftoneRequest::palette_file>)
      .add(Mutable::kPlaying,
           g_param_spec_string("palette-file", "Palette file",
                               "palette=custom: read the colours from this text file when the property is set, one "
                               "on each line, as in palette-colors. Of the two properties, the one set last counts",
                               nullptr, flags_of(Mutable::kPlaying)),
           get_custom<&HalftoneRequest::palette_file>,
           set_custom<&HalftoneRequest::palette_file, &HalftoneRequest::palette_colors>)
      .add(
          &HalftoneRequest::absolute, "absolute", "Absolute colours",
          "palette: keep the colours of the image. Else its black and white become the darkest and the lightest colour "
          "of the palette, and colours that cannot be mixed the nearest that can")
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
  // In system memory only: the allocator of GstCuda 1.22 does not support GRAY8.
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ GRAY8, RGB, RGBx }") ";" FQ_PACKED_CAPS ";" FQ_INDEXED_CAPS));
  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(
      element, "Halftone", "Filter/Effect/Video",
      "Halftones (dithers) to 2, 4 or 16 grey levels, optionally to one bit per pixel: error diffusion, blue noise",
      "The framequality authors");
  GST_BASE_TRANSFORM_CLASS(klass)->transform_caps = transform_caps;
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = halftone_debug;
  base->parent_class.makes_now = makes_now;
  base->parent_class.unsupported_reason = unsupported_reason;
  base->parse_caps = parse_halftone_caps;
  base->make_stream = make_stream;
}
