// SPDX-License-Identifier: LGPL-2.1-or-later
// Perceived quality, denoising and halftoning.
#include "algorithms/bliinds/meter.h"
#include "algorithms/denoise/filter.h"
#include "algorithms/denoise/strength.h"
#include "algorithms/halftone/colour_filter.h"
#include "algorithms/halftone/filter.h"
#include "c/internal.h"
#include "engine/bliinds_model.h"
#include "engine/palette_file.h"

#include <cmath>
#include <cstring>
#include <iterator>

using namespace framequality;
using namespace framequality::c;

namespace {

std::unique_ptr<Worker<bliinds::Task, bliinds::Features>> make_bliinds(const Backend& backend, const Geometry& geometry,
                                                                       const Where& where) {
  return backend.bliinds(geometry, where);
}
std::unique_ptr<denoise::Filter> make_denoiser(const Backend& backend, const PictureGeometry& geometry,
                                               const Where& where) {
  return backend.denoise(geometry, where);
}
std::unique_ptr<halftone::Filter> make_halftone(const Backend& backend, const Geometry& geometry, const Where& where) {
  return backend.halftone(geometry, where);
}

std::unique_ptr<halftone::ColourFilter> make_colour_halftone(const Backend& backend, const PictureGeometry& geometry,
                                                             const Where& where) {
  return backend.colour_halftone(geometry, where);
}

Memory memory_of(const fq_target& target) { return target.flags & FQ_ON_DEVICE ? Memory::kCuda : Memory::kHost; }

fq_denoise_options denoise_defaults(int method) {
  fq_denoise_options o{};
  o.size = sizeof o;
  o.method = method;
  o.strength = -1;
  o.sigma_spatial = 10;
  o.patch_radius = method == FQ_NLMEANS ? 3 : 1;
  o.search_radius = method == FQ_NLMEANS ? 10 : 3;
  return o;
}

denoise::Settings settings_of(const fq_denoise_options& o) {
  require_range("options->method", o.method, FQ_NLMEANS, FQ_PATCH_BILATERAL);
  require_range("options->patch_radius", o.patch_radius, 0, denoise::kMaxPatchRadius);
  require_range("options->search_radius", o.search_radius, 0, denoise::kMaxSearchRadius);
  require(std::isfinite(o.strength) && std::isfinite(o.sigma), "options->strength and sigma must be finite");
  require_range("options->reserved", o.reserved, 0, 0);
  require(std::isfinite(o.sigma_spatial) && o.sigma_spatial > 0, "options->sigma_spatial must be larger than 0");
  denoise::Settings s;
  s.patch_radius = o.patch_radius;
  s.search_radius = o.search_radius;
  if (o.method == FQ_NLMEANS) {
    set_nlmeans(s, o.strength, -1, o.sigma);
  } else {
    require(o.sigma == 0, "options->sigma is for nlmeans only: leave it at its default, 0");
    set_bilateral(s, o.strength, o.sigma_spatial);
  }
  return s;
}

fq_halftone_options halftone_defaults() {
  fq_halftone_options o{};
  o.size = sizeof o;
  o.strength = 1;
  o.levels = 2;
  return o;
}

halftone::Settings settings_of(const fq_halftone_options& o) {
  require_range("options->method", o.method, FQ_FLOYD_STEINBERG, FQ_BLUE_NOISE);
  require(o.strength >= 0 && o.strength <= 1, "options->strength must be 0...1");
  require_range("options->reserved", o.reserved, 0, 0);
  for (const auto& [name, value] :
       {std::pair{"options->packed", o.packed}, std::pair{"options->serpentine", o.serpentine},
        std::pair{"options->invert", o.invert}, std::pair{"options->linear", o.linear},
        std::pair{"options->limited", o.limited}})
    require_range(name, value, 0, 1);
  halftone::Settings s;
  s.method = static_cast<halftone::Method>(o.method);
  s.levels = o.palette ? 2 : o.levels;
  s.strength = static_cast<int>(std::lround(o.strength * halftone::kFullStrength));
  s.packed = o.packed;
  s.serpentine = o.serpentine;
  s.tone.invert = o.invert;
  s.tone.limited = o.limited;
  s.tone.light = o.linear ? halftone::Light::kSrgb : halftone::Light::kCode;
  require(halftone::valid(s), "options->levels must be 2, 4 or 16, and 2 if packed is set");
  return s;
}

/// A palette by name, or from a list of colours.
halftone::Palette palette_of(const char* text) {
  require(text != nullptr, "palette is NULL");
  const std::string_view wanted = text;
  std::string names;
  for (const halftone::NamedPalette& named : halftone::named_palettes()) {
    if (wanted == named.name) return named.palette;
    names.append(names.empty() ? "" : ", ").append(named.name);
  }
  if (!wanted.starts_with('#'))
    refuse("options->palette: there is no palette '" + std::string(wanted) + "', only " + names +
           ", or colours such as \"#000000,#ffffff,#ff0000\"");
  try {
    return halftone::parse_palette(wanted);
  } catch (const std::invalid_argument& e) {
    refuse(std::string("options->palette: ") + e.what());
  }
}

/// greys: the options without the palette.
halftone::ColourSettings colours_of(const fq_halftone_options& o, const halftone::Settings& greys) {
  require_range("options->output", o.output, FQ_HALFTONE_RGB, FQ_HALFTONE_RGBX);
  require_range("options->absolute", o.absolute, 0, 1);
  require(greys.method != halftone::Method::kToneDependent,
          "options->method: tone-dependent diffusion makes greys only: a palette needs Floyd-Steinberg or blue noise");
  halftone::ColourSettings s;
  s.palette = palette_of(o.palette);
  s.method = greys.method;
  s.output = greys.packed                   ? halftone::ColourOutput::kCodes
             : o.output == FQ_HALFTONE_RGBX ? halftone::ColourOutput::kRgbx
                                            : halftone::ColourOutput::kRgb;
  s.tone = greys.tone;
  s.linear = o.linear;
  s.relative = !o.absolute;
  s.serpentine = greys.serpentine;
  s.strength = greys.strength;
  return s;
}

}  // namespace

// Colours with their codes, commas and the end.
static_assert(halftone::kMostColours * std::size("#rrggbb=15") + 1 <= FQ_PALETTE_TEXT);

struct fq_bliinds : OneShot<Geometry, bliinds::Task, bliinds::Features> {
  fq_bliinds(const char* device, ModelPtr model)
      : OneShot(Runner(device, [](const Backend& b) { return b.bliinds != nullptr; }), 1, make_bliinds),
        model(std::move(model)) {}
  ModelPtr model;
};
struct fq_denoiser : OneShot<PictureGeometry, denoise::Task, void> {
  fq_denoiser(const char* device, int threads)
      : OneShot(Runner(device, [](const Backend& b) { return b.denoise != nullptr; }), threads, make_denoiser) {}
  std::uint64_t serial = 0;  ///< of images: each counts as new
};
struct fq_halftoner : OneShot<Geometry, halftone::Task, void> {
  using Colours = OneShot<PictureGeometry, halftone::ColourTask, void>;

  fq_halftoner(const char* device, int threads)
      : OneShot(Runner(device, is_auto(device) ? any_method : some_method), threads, make_halftone),
        is_named_(device != nullptr),
        device_(device ? device : ""),
        threads_(threads) {}

  /// The filter for palettes. Throws Error if the handle's device has none.
  Colours& colours() {
    if (!colours_) {
      const char* device = is_named_ ? device_.c_str() : nullptr;
      colours_.emplace(Runner(device, is_auto(device) ? any_colours : some_colours), threads_, make_colour_halftone);
    }
    return *colours_;
  }

 private:
  // The handle is for all methods; a named device has only those that its backend supports.
  static bool is_auto(const char* device) { return device && std::string_view(device) == "auto"; }
  static bool some_method(const Backend& b) { return b.halftone != nullptr; }
  static bool any_method(const Backend& b) { return b.halftone != nullptr && b.diffuses_by_tone; }
  static bool some_colours(const Backend& b) { return b.colour_halftone != nullptr; }
  static bool any_colours(const Backend& b) { return b.colour_halftone != nullptr && b.diffuses_colours; }

  bool is_named_;
  std::string device_;
  int threads_;
  std::optional<Colours> colours_;
};

namespace {

/// The model in a file, or the published one.
ModelPtr model_of(const char* file) {
  try {
    return load_model(file ? file : "");
  } catch (const std::invalid_argument& e) {
    refuse("model " + std::string(file ? file : "") + ": " + e.what());
  }
}

/// Opens a filter's handle.
template <class Handle>
int open(const char* device, int threads, Handle** handle) {
  return guarded([&] {
    require(handle != nullptr, "the handle's address is NULL");
    *handle = nullptr;
    require_range("threads", threads, 0, 1 << 12);
    *handle = new Handle(device, threads);
  });
}

/// Halftones to a palette.
void filter_colours(fq_halftoner* halftoner, const Image& in, const halftone::ColourSettings& settings,
                    const fq_target* out) {
  require(!in.is_on_device(), "options->palette: the image must be in host memory");
  const fq_target to = known_target(out, 1, halftone::target_row_bytes(in.width(), settings), in.height());
  require(memory_of(to) == Memory::kHost, "options->palette: out must be in host memory");
  require(settings.method != halftone::Method::kFloydSteinberg ||
              halftoner->colours().runner().place().backend->diffuses_colours,
          "options->palette: Floyd-Steinberg in colour is the CPU's alone: choose blue noise, or open the handle with "
          "the device cpu");
  halftoner->colours().work(
      in.colour_geometry(),
      {in.frame(), {static_cast<std::uint8_t*>(to.plane[0]), to.stride[0], Memory::kHost}, settings, 1}, false);
}

/// An image that the handle's device can read.
template <class Handle>
Image readable(Handle* handle, const fq_image* given) {
  require(handle != nullptr, "the handle is NULL");
  Image image(given);
  handle->runner().require_readable(image);
  return image;
}

}  // namespace

extern "C" {

int fq_bliinds_open(const char* device, const char* model, fq_bliinds** bliinds) {
  return guarded([&] {
    require(bliinds != nullptr, "bliinds is NULL");
    *bliinds = nullptr;
    *bliinds = new fq_bliinds(device, model_of(model));
  });
}
void fq_bliinds_close(fq_bliinds* bliinds) { delete bliinds; }
int fq_bliinds_measure(fq_bliinds* bliinds, const fq_image* image, int channel, fq_bliinds_result* result) {
  return guarded([&] {
    const Image in = readable(bliinds, image);
    require_range("channel", channel, 0, 1);
    if (!bliinds::measurable(in.geometry()))
      refuse("the image is " + std::to_string(in.geometry().width) + "x" + std::to_string(in.geometry().height) +
             (in.is_mosaic() ? " cells" : " pixels") + ": BLIINDS-II needs at least " +
             std::to_string(bliinds::kLeastSide) + "x" + std::to_string(bliinds::kLeastSide));
    const auto wanted = channel == 0 ? bliinds::Channel::kRed : bliinds::Channel::kLuma;
    const bliinds::Features features = bliinds->work(in.geometry(), {in.frame(), wanted, false}, in.is_on_device());
    const bliinds::Score score = bliinds::score_of(*bliinds->model, features);
    fq_bliinds_result r{};
    r.score = score.score;
    r.raw = score.raw;
    static_assert(std::size(decltype(r.features){}) == bliinds::kFeatures);
    std::ranges::copy(features, r.features);
    give(result, r, "result");
  });
}

int fq_denoise_options_init(fq_denoise_options* options, int method) {
  return guarded([&] {
    require_range("method", method, FQ_NLMEANS, FQ_PATCH_BILATERAL);
    give(options, denoise_defaults(method), "options");
  });
}
int fq_denoiser_open(const char* device, int threads, fq_denoiser** denoiser) {
  return open(device, threads, denoiser);
}
void fq_denoiser_close(fq_denoiser* denoiser) { delete denoiser; }
int fq_denoiser_filter(fq_denoiser* denoiser, const fq_image* image, const fq_denoise_options* options,
                       const fq_target* out) {
  return guarded([&] {
    const Image in = readable(denoiser, image);
    const PictureGeometry geometry = in.picture_geometry();
    const fq_target to = known_target(out, geometry.layout.planes, geometry.row_bytes(0), geometry.height);
    require(memory_of(to) == in.frame().memory, "out->flags: image and out must be in the same memory");
    denoise::Task task;
    const denoise::Source source{in.frame(), ++denoiser->serial};
    task.window = {&source, 1};
    for (int p = 0; p < geometry.layout.planes; ++p) {
      task.out.plane[p] = static_cast<std::uint8_t*>(to.plane[p]);
      task.out.stride[p] = to.stride[p];
    }
    task.out.memory = memory_of(to);
    task.settings = settings_of(known(options, denoise_defaults(FQ_NLMEANS), "options"));
    denoiser->work(geometry, task, in.is_on_device());
  });
}

int fq_halftone_options_init(fq_halftone_options* options) {
  return guarded([&] { give(options, halftone_defaults(), "options"); });
}
int fq_palette_bits(const char* palette) {
  return guarded([&] { return palette_of(palette).bits(); });
}
int fq_palette_read(const char* file, char text[FQ_PALETTE_TEXT]) {
  return guarded([&] {
    require(file != nullptr && text != nullptr, "file or text is NULL");
    try {
      const std::string all = halftone::text_of(load_palette(file));
      std::memcpy(text, all.c_str(), all.size() + 1);
    } catch (const std::invalid_argument& e) {
      refuse("palette " + std::string(file) + ": " + e.what());
    }
  });
}
int fq_halftoner_open(const char* device, int threads, fq_halftoner** halftoner) {
  return open(device, threads, halftoner);
}
void fq_halftoner_close(fq_halftoner* halftoner) { delete halftoner; }
int fq_halftoner_filter(fq_halftoner* halftoner, const fq_image* image, const fq_halftone_options* options,
                        const fq_target* out) {
  return guarded([&] {
    const Image in = readable(halftoner, image);
    const fq_halftone_options given = known(options, halftone_defaults(), "options");
    const halftone::Settings settings = settings_of(given);
    require(!in.is_mosaic(), "a mosaic cannot be halftoned: demosaic it first");
    if (given.palette) return filter_colours(halftoner, in, colours_of(given, settings), out);
    const fq_target to = known_target(out, 1, halftone::target_row_bytes(in.width(), settings.packed), in.height());
    require(!settings.serpentine || settings.method != halftone::Method::kFloydSteinberg ||
                is_cpu(*halftoner->runner().place().backend),
            "options->serpentine cannot run in parallel: open the handle with the device cpu");
    require(
        settings.method != halftone::Method::kToneDependent || halftoner->runner().place().backend->diffuses_by_tone,
        "options->method: OpenCL has no tone-dependent diffusion: open the handle with the device cpu");
    require(memory_of(to) == Memory::kHost || in.is_on_device(), "out is in GPU memory, the image is not");
    halftoner->work(in.geometry(),
                    {in.frame(), {static_cast<std::uint8_t*>(to.plane[0]), to.stride[0], memory_of(to)}, settings, 1},
                    in.is_on_device());
  });
}

}  // extern "C"
