// SPDX-License-Identifier: LGPL-2.1-or-later
// Perceived quality, denoising and halftoning.
#include "python/core/errors.h"
#include "python/core/handles.h"
#include "python/core/image.h"
#include "python/core/module.h"

#include <vector>

namespace core {

namespace {

int open_bliinds(const char* device, int, fq_bliinds** handle) { return fq_bliinds_open(device, nullptr, handle); }

// The number is that of threads.
using Bliinds = Handles<fq_bliinds, open_bliinds, fq_bliinds_close>;
using Denoisers = Handles<fq_denoiser, fq_denoiser_open, fq_denoiser_close>;
using Halftoners = Handles<fq_halftoner, fq_halftoner_open, fq_halftoner_close>;

/// This thread's handles of a kind.
template <class Kind>
Kind& mine() {
  static thread_local Kind handles;
  return handles;
}

/// Runs work(handle) with this thread's handle, without the GIL. False with an exception if that fails.
template <class Kind, class Handle, class Work>
bool run(Image& image, const char* device, int threads, Handle* handle, Work work) {
  int status = FQ_OK;
  without_gil([&]() noexcept {
    image.prepare();
    if (image.is_faulty()) return;
    status = mine<Kind>().get(device, threads, handle);
    if (status == FQ_OK) status = work(handle);
  });
  if (image.is_faulty()) return image.raise_fault();
  if (status == FQ_OK) return true;
  raise_status(status);
  mine<Kind>().settle(handle, status);
  return false;
}

/// Opens the image of a filter, which writes host memory.
bool open_source(Image& image, PyObject* object, const Options& options, const char* function) {
  if (!image.open(object, options.reading, Image::Use::kFilter)) return false;
  if (!image.is_on_device()) return true;
  PyErr_Format(
      PyExc_ValueError,
      "%s() needs an image in host memory: copy it, for example with tensor.cpu(); device='cuda' then filters it "
      "on the GPU",
      function);
  return false;
}

Object shape_of(const Array& array, int axes) {
  Object shape(PyTuple_New(axes));
  for (int i = 0; shape && i < axes; ++i) {
    PyObject* size = PyLong_FromSsize_t(array.shape[i]);
    if (!size) return nullptr;
    PyTuple_SetItem(shape.get(), i, size);
  }
  return shape;
}

fq_target target_of(const fq_image& image) {
  auto target = sized<fq_target>();
  for (int i = 0; i < 3; ++i) {
    target.plane[i] = const_cast<void*>(image.plane[i]);
    target.stride[i] = image.stride[i];
  }
  return target;
}

/// Sample type as a format of the struct module.
const char* format_of(Sample sample) {
  switch (sample) {
    case Sample::kUint8:
      return "B";
    case Sample::kUint16:
      return "H";
    case Sample::kHalf:
      return "e";
    case Sample::kFloat:
      return "f";
    case Sample::kDouble:
      return "d";
  }
  return "";
}

bool read_denoise_options(PyObject* tuple, fq_denoise_options& o, int& threads) {
  PyObject *method, *sigma, *patch_radius, *search_radius;
  double strength = 0, sigma_spatial = 0;
  if (!PyArg_ParseTuple(tuple, "OdOdOOi;invalid option of denoise()", &method, &strength, &sigma, &sigma_spatial,
                        &patch_radius, &search_radius, &threads))
    return false;
  const int number = choose("method", method, "nlmeans, patch-bilateral");
  if (number < 0) return false;
  o = sized<fq_denoise_options>();
  (void)fq_denoise_options_init(&o, number);
  o.strength = strength;
  o.sigma_spatial = sigma_spatial;
  if (sigma != Py_None) o.sigma = PyFloat_AsDouble(sigma);
  for (const auto& [value, to] :
       {std::pair{patch_radius, &o.patch_radius}, std::pair{search_radius, &o.search_radius}}) {
    if (value == Py_None) continue;
    const long radius = PyErr_Occurred() ? 0 : PyLong_AsLong(value);
    *to = radius < 0 || radius > 1000 ? -1 : static_cast<std::int32_t>(radius);  // the library's error names the range
  }
  return !PyErr_Occurred();
}

/// Copies the alpha channel, which no filter changes and the library's planes do not have.
void copy_alpha(const Image& image, const Pixels& out) {
  Pixels from = image.source();
  from.data += 3 * from.channel_stride;
  from.channels = 1;
  copy_pixels(from, const_cast<char*>(out.data) + 3 * out.channel_stride, out.row_stride, out.column_stride, 0);
}

}  // namespace

PyObject* quality(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    Options options;
    if (!parse(options, Keywords::kRead, "quality", 2, args, count, names, ", channel")) return nullptr;
    const int channel = choose("channel", args[1], "red, luma");
    Image image;
    if (channel < 0 || !image.open(args[0], options.reading, Image::Use::kMeasure)) return nullptr;
    const char* device = image.device(options.reading);
    if (!device) return nullptr;
    auto result = sized<fq_bliinds_result>();
    const bool done = run<Bliinds>(image, device, 0, static_cast<fq_bliinds*>(nullptr), [&](fq_bliinds* handle) {
      return fq_bliinds_measure(handle, &image.picture, channel, &result);
    });
    return done ? PyFloat_FromDouble(result.score) : nullptr;
  });
}

PyObject* denoise(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    constexpr const char* kAlso = ", method, strength, sigma, sigma_spatial, patch_radius, search_radius, threads";
    Options options;
    fq_denoise_options how{};
    int threads = 0;
    Image image;
    if (!parse(options, Keywords::kRead, "denoise", 2, args, count, names, kAlso) ||
        !read_denoise_options(args[1], how, threads) || !open_source(image, args[0], options, "denoise"))
      return nullptr;
    const char* device = image.device(options.reading);
    if (!device) return nullptr;
    const Pixels& source = image.source();
    const auto samples = source.rows * source.columns * source.channels;
    Object bytes(PyByteArray_FromStringAndSize(nullptr, samples * bytes_of(source.sample)));
    Object shape = shape_of(image.array(), image.array().ndim);
    if (!bytes || !shape) return nullptr;
    char* data = PyByteArray_AsString(bytes.get());
    std::unique_ptr<std::uint16_t[]> codes;
    if (is_float(source.sample))
      codes = std::make_unique_for_overwrite<std::uint16_t[]>(static_cast<std::size_t>(samples));
    const bool done =
        run<Denoisers>(image, device, threads, static_cast<fq_denoiser*>(nullptr), [&](fq_denoiser* handle) {
          fq_image layout;
          Pixels out = codes ? image.contiguous(reinterpret_cast<const char*>(codes.get()), Sample::kUint16)
                             : image.contiguous(data, source.sample);
          (void)image.describe(out, layout);
          const fq_target target = target_of(layout);
          if (const int status = fq_denoiser_filter(handle, &image.picture, &how, &target)) return status;
          if (codes)
            codes_to_floats(codes.get(), samples, options.reading.range, source.sample, source.big_endian, data);
          if (source.channels == 4) copy_alpha(image, image.contiguous(data, source.sample));
          return static_cast<int>(FQ_OK);
        });
    if (!done) return nullptr;
    return Py_BuildValue("(NNsi)", bytes.release(), shape.release(), format_of(source.sample),
                         source.big_endian ? 1 : 0);
  });
}

PyObject* halftone(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    constexpr const char* kAlso =
        ", method, levels, packed, serpentine, invert, linear, limited, strength, threads, palette, absolute";
    Options options;
    PyObject* method = nullptr;
    auto how = sized<fq_halftone_options>();
    (void)fq_halftone_options_init(&how);
    int threads = 0;
    Image image;
    if (!parse(options, Keywords::kRead, "halftone", 2, args, count, names, kAlso) ||
        !PyArg_ParseTuple(args[1], "Oipppppdizp;invalid option of halftone()", &method, &how.levels, &how.packed,
                          &how.serpentine, &how.invert, &how.linear, &how.limited, &how.strength, &threads,
                          &how.palette, &how.absolute) ||
        (how.method = choose("method", method, "floyd-steinberg, tone-dependent, blue-noise")) < 0 ||
        !open_source(image, args[0], options, "halftone"))
      return nullptr;
    const char* device = image.device(options.reading);
    if (!device) return nullptr;
    const Pixels& source = image.source();
    const int bits = !how.packed ? 8 * (how.palette ? 3 : 1) : how.palette ? fq_palette_bits(how.palette) : 1;
    if (bits < 0) {
      raise_status(bits);
      return nullptr;
    }
    const std::ptrdiff_t row = (source.columns * bits + 7) / 8;
    Object bytes(PyByteArray_FromStringAndSize(nullptr, source.rows * row));
    if (!bytes) return nullptr;
    auto target = sized<fq_target>();
    target.plane[0] = PyByteArray_AsString(bytes.get());
    target.stride[0] = row;
    const bool done = run<Halftoners>(
        image, device, threads, static_cast<fq_halftoner*>(nullptr),
        [&](fq_halftoner* handle) { return fq_halftoner_filter(handle, &image.picture, &how, &target); });
    if (!done) return nullptr;
    if (how.palette && !how.packed) return Py_BuildValue("(N(nni))", bytes.release(), source.rows, source.columns, 3);
    return Py_BuildValue("(N(nn))", bytes.release(), source.rows, row);
  });
}

PyObject* read_palette(PyObject*, PyObject* path) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject* bytes = nullptr;
    if (!PyUnicode_FSConverter(path, &bytes)) return nullptr;
    const Object file(bytes);
    char text[FQ_PALETTE_TEXT];
    if (const int status = fq_palette_read(PyBytes_AsString(file.get()), text); status != FQ_OK)
      return raise_status(status);
    return PyUnicode_FromString(text);
  });
}

}  // namespace core
