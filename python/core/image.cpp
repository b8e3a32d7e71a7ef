// SPDX-License-Identifier: LGPL-2.1-or-later
#include "python/core/image.h"

#include "python/core/errors.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace core {

namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20U;
struct Kept {
  std::unique_ptr<char[]> memory;
  std::size_t bytes = 0;
};
thread_local Kept kept;

}  // namespace

Scratch::~Scratch() {
  if (bytes_ > kept.bytes && bytes_ <= kMostKept) {
    kept.memory = std::move(memory_);
    kept.bytes = bytes_;
  }
}

char* Scratch::resize(std::size_t bytes) {
  if (bytes > bytes_ && kept.bytes >= bytes) {
    memory_ = std::move(kept.memory);
    bytes_ = std::exchange(kept.bytes, 0);
  }
  if (bytes > bytes_) {
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<char[]>(bytes);
    bytes_ = bytes;
  }
  return memory_.get();
}

bool Image::open(PyObject* object, const Reading& reading, Use use) {
  return array_.open(object) && read(reading, use);
}

bool Image::open_item(const Array& batch, Py_ssize_t index, const Reading& reading) {
  array_.open_item(batch, index);
  return read(reading, Use::kMeasure);
}

bool Image::read(const Reading& reading, Use use) {
  reading_ = &reading;
  use_ = use;
  if (!read_axes() || !read_type()) return false;
  if (is_float(source_.sample)) {
    work_ = Work::kConvert;
  } else if (!has_target_layout() || !describe(source_, picture)) {
    work_ = Work::kCopy;
  } else if (source_.sample == Sample::kUint16 && reading.bits != 0 && reading.bits < 16 && !is_on_device()) {
    work_ = Work::kCheck;
  }
  if (!is_on_device()) return true;
  if (work_ != Work::kNone) {
    PyErr_SetString(PyExc_ValueError,
                    "the array's strides in GPU memory are not supported: make a contiguous copy, such as "
                    "tensor.contiguous()");
    return false;
  }
  picture.flags |= FQ_ON_DEVICE;
  picture.stream = array_.stream;
  return true;
}

bool Image::read_axes() {
  char text[128];
  const char* shape = shape_text(text, array_.shape, array_.ndim);
  if (array_.ndim != 2 && array_.ndim != 3) {
    PyErr_Format(
        PyExc_ValueError,
        "an image has the shape (height, width), (height, width, channels) or, with channel_axis=0, (channels, "
        "height, width); this array has the shape %s%s",
        shape, array_.ndim == 4 ? ": use scores() for a batch" : "");
    return false;
  }
  if (array_.ndim == 3) {
    const long given = reading_->channel_axis;
    axes_[2] = static_cast<int>(given < 0 ? given + 3 : given);
    axes_[0] = axes_[2] == 0 ? 1 : 0;
    axes_[1] = axes_[2] == 2 ? 1 : 2;
  }
  const auto channels = axes_[2] < 0 ? 1 : array_.shape[axes_[2]];
  if (channels != 1 && channels != 3 && channels != 4) {
    const auto first = array_.shape[0], last = array_.shape[2];
    const bool is_first = axes_[2] != 0 && (first == 1 || first == 3 || first == 4);
    const bool is_last = axes_[2] != 2 && (last == 1 || last == 3 || last == 4);
    PyErr_Format(PyExc_ValueError,
                 "an image has 1, 3 or 4 channels; an array of shape %s has %zd along channel_axis=%ld%s", shape,
                 channels, reading_->channel_axis,
                 is_first  ? ": use channel_axis=0"
                 : is_last ? ": use channel_axis=-1"
                           : ", or is it a batch for scores()?");
    return false;
  }
  const auto height = array_.shape[axes_[0]], width = array_.shape[axes_[1]];
  constexpr Py_ssize_t kMost = Py_ssize_t{1} << 20;
  if (height < 1 || width < 1 || height > kMost || width > kMost) {
    PyErr_Format(PyExc_ValueError, "an image is 1 to 1048576 pixels wide and high; this array has the shape %s", shape);
    return false;
  }
  if (reading_->bayer >= 0 && channels != 1) {
    PyErr_Format(PyExc_ValueError,
                 "with bayer, an image is the sensor's samples (height, width); this array has the shape %s", shape);
    return false;
  }
  source_.data = array_.data;
  source_.rows = height;
  source_.columns = width;
  source_.channels = channels;
  source_.row_stride = array_.strides[axes_[0]];
  source_.column_stride = array_.strides[axes_[1]];
  source_.channel_stride = axes_[2] < 0 ? 0 : array_.strides[axes_[2]];
  source_.big_endian = array_.dtype.big_endian;
  return true;
}

bool Image::read_type() {
  const Dtype type = array_.dtype;
  char text[32];
  const char* name = dtype_text(text, type);
  const bool is_float_type = type.kind == 'f' && (type.bits == 16 || type.bits == 32 || type.bits == 64);
  if (type.kind == 'u' && (type.bits == 8 || type.bits == 16)) {
    source_.sample = type.bits == 8 ? Sample::kUint8 : Sample::kUint16;
  } else if (is_float_type && !is_on_device()) {
    source_.sample = type.bits == 16 ? Sample::kHalf : type.bits == 32 ? Sample::kFloat : Sample::kDouble;
  } else if (is_on_device()) {
    PyErr_Format(PyExc_TypeError,
                 "pixels in GPU memory are uint8 or uint16, not %s: convert floats from 0 to 1 with (t * "
                 "255).round().to(torch.uint8)",
                 name);
    return false;
  } else if (type.kind == 'b') {
    PyErr_SetString(PyExc_TypeError, "pixels are not of dtype bool: use image.astype(numpy.uint8) * 255");
    return false;
  } else if (type.kind == 'i' || type.kind == 'u') {
    PyErr_Format(PyExc_TypeError,
                 "pixels of dtype %s have no known range: use image.astype(numpy.uint8) for values 0 to 255, or "
                 "image.astype(numpy.uint16) with bits= for more",
                 name);
    return false;
  } else {
    PyErr_Format(PyExc_TypeError,
                 "pixels of dtype %s cannot be read: convert them to uint8, uint16, float16, float32 or float64", name);
    return false;
  }
  if (reading_->bits != 0 && source_.sample != Sample::kUint16 &&
      (source_.sample != Sample::kUint8 || reading_->bits != 8)) {
    PyErr_Format(PyExc_ValueError, "bits=%d is for uint16 arrays; this one is %s", reading_->bits, name);
    return false;
  }
  if (reading_->has_range && !is_float(source_.sample)) {
    PyErr_Format(PyExc_ValueError, "data_range is for float arrays; this one is %s%s", name,
                 source_.sample == Sample::kUint16 ? ": use bits" : "");
    return false;
  }
  return true;
}

bool Image::describe(const Pixels& p, fq_image& image) const {
  const std::ptrdiff_t word = bytes_of(p.sample);
  const bool is_filter = use_ == Use::kFilter;
  const std::ptrdiff_t column = p.columns > 1 ? p.column_stride : 0;  // any, if there is one
  const std::ptrdiff_t row = p.rows > 1 ? p.row_stride : 0;
  const std::ptrdiff_t channel = p.channels > 1 ? p.channel_stride : word;
  if (word == 2 &&
      ((reinterpret_cast<std::uintptr_t>(p.data) | static_cast<std::uintptr_t>(column | row | channel)) & 1U))
    return false;
  const bool is_colour = p.channels >= 3;
  const bool is_reversed = is_colour && p.channels == 3 && channel == -word && !is_filter;
  const bool is_interleaved = is_colour && (channel == word || is_reversed);
  const std::ptrdiff_t pixel = is_interleaved ? p.channels * word : word;
  const std::ptrdiff_t most = is_filter || reading_->bayer >= 0 ? pixel : 255;
  if (p.columns > 1 && (column < pixel || column > most)) return false;
  const std::ptrdiff_t row_bytes = (p.columns > 1 ? (p.columns - 1) * column : 0) + pixel;
  if (p.rows > 1 && std::abs(row) < row_bytes) return false;

  const bool is_bgr = reading_->bgr != is_reversed;
  image = sized<fq_image>();
  image.format = !is_colour                          ? (reading_->bayer >= 0 ? reading_->bayer : FQ_GRAY)
                 : p.channels == 4 && is_interleaved ? (is_bgr ? FQ_BGRA : FQ_RGBA)
                                                     : (is_bgr ? FQ_BGR : FQ_RGB);
  image.width = static_cast<std::int32_t>(p.columns);
  image.height = static_cast<std::int32_t>(p.rows);
  image.word_bytes = static_cast<std::int32_t>(word);
  image.bits = p.sample == Sample::kUint16 ? reading_->bits : 0;
  image.flags = word == 2 && p.big_endian ? FQ_BIG_ENDIAN : 0;
  image.pixel_stride = column == pixel || p.columns == 1 ? 0 : static_cast<std::int32_t>(column);
  const char* first = is_reversed ? p.data + 2 * channel : p.data;
  const int planes = is_colour && !is_interleaved ? 3 : 1;
  for (int i = 0; i < planes; ++i) {
    image.plane[i] = first + i * channel;
    image.stride[i] = p.rows > 1 ? row : row_bytes;
  }
  return true;
}

bool Image::has_target_layout() const {
  if (use_ == Use::kMeasure) return true;
  const Pixels p = contiguous(source_.data, source_.sample);
  return source_.column_stride == p.column_stride && source_.channel_stride == p.channel_stride;
}

Pixels Image::contiguous(const char* data, Sample sample) const {
  Pixels p = source_;
  p.data = data;
  p.sample = sample;
  std::ptrdiff_t* const strides[] = {&p.row_stride, &p.column_stride, &p.channel_stride};
  std::ptrdiff_t next = bytes_of(sample);
  for (int axis = array_.ndim; axis-- > 0;)
    for (int i = 0; i < 3; ++i)
      if (axes_[i] == axis) {
        *strides[i] = next;
        next *= array_.shape[axis];
      }
  return p;
}

void Image::prepare() noexcept {
  if (work_ == Work::kNone) return;
  try {
    if (work_ == Work::kConvert || work_ == Work::kCopy) {
      const Sample sample = work_ == Work::kConvert ? Sample::kUint16 : source_.sample;
      const auto samples = static_cast<std::size_t>(source_.rows * source_.columns * source_.channels);
      char* data = scratch_.resize(samples * static_cast<std::size_t>(bytes_of(sample)));
      Pixels p = contiguous(data, sample);
      if (work_ == Work::kConvert) {
        p.big_endian = false;
        fault_ = floats_to_codes(source_, reading_->range, data, p.row_stride, p.column_stride, p.channel_stride);
      } else {
        copy_pixels(source_, data, p.row_stride, p.column_stride, p.channel_stride);
      }
      (void)describe(p, picture);  // always succeeds for contiguous memory
    }
    if (source_.sample == Sample::kUint16 && reading_->bits != 0 && reading_->bits < 16)
      fault_ = check_bits(source_, reading_->bits);
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
  }
}

bool Image::raise_fault() const {
  if (out_of_memory_) {
    PyErr_NoMemory();
    return false;
  }
  char text[256] = "";
  switch (fault_.kind) {
    case Fault::Kind::kNone:
      break;
    case Fault::Kind::kNan:
      std::snprintf(text, sizeof text,
                    "the image has NaN pixels: replace them, for example with numpy.nan_to_num(image)");
      break;
    case Fault::Kind::kRange:
      std::snprintf(
          text, sizeof text,
          "the image's values, from %.9g to %.9g, are not within %s=(%.9g, %.9g): use data_range=(lo, hi) with "
          "the values of black and white",
          fault_.least, fault_.most, reading_->has_range ? "data_range" : "the default data_range", reading_->range.lo,
          reading_->range.hi);
      break;
    case Fault::Kind::kBits:
      std::snprintf(
          text, sizeof text,
          "the image has the value %d, which needs more than bits=%d: use the number of bits of your camera's "
          "values",
          fault_.value, reading_->bits);
      break;
  }
  PyErr_SetString(PyExc_ValueError, text);
  return false;
}

const char* Image::device(const Reading& reading) {
  const char* given = reading.device;
  if (!is_on_device()) return *given ? given : "cpu";
  const bool is_any = *given == '\0' || std::strcmp(given, "auto") == 0 || std::strcmp(given, "cuda") == 0;
  if (array_.place == Array::Place::kCurrentDevice) {
    std::snprintf(device_, sizeof device_, "%s", is_any ? "cuda:current" : given);
    if (std::strcmp(given, "cpu") != 0) return device_;
  } else {
    std::snprintf(device_, sizeof device_, "cuda:%d", array_.device);
    if (is_any || std::strcmp(given, device_) == 0) return device_;
  }
  PyErr_Format(PyExc_ValueError,
               "the image is in the memory of %s: leave device out, or copy the image for device='%s'", device_, given);
  return nullptr;
}

}  // namespace core
