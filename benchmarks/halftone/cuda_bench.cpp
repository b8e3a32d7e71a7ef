// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on the GPU: kernels alone, frames in flight, and from host memory and back.
#include "benchmarks/support/gpu_main.h"
#include "benchmarks/support/picture.h"
#include "cpu/halftone/colour.h"
#include "cpu/halftone/filter.h"
#include "cuda/device.h"
#include "cuda/halftone/device_colour.h"
#include "cuda/halftone/device_filter.h"
#include "cuda/halftone/filter.h"
#include "tests/support/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using halftone::ColourOutput;
using halftone::ColourSettings;
using halftone::Method;
using halftone::Settings;
using halftone::Target;

namespace {

using Bytes = std::vector<std::uint8_t>;

Settings swaths(int rows) {
  Settings s;
  s.method = Method::kToneDependent;
  s.swath_rows = rows;
  return s;
}

class Bench : FilterBench {
 public:
  Bench(const Options& options, const Device& device)
      : FilterBench("halftone_cuda_bench", options, device), only_(options.text("only")) {}

  void run(int width, int height) {
    g_ = {width, height, {}};
    picture_ = make_picture(width, height);
    Settings packed, four, masked;
    packed.packed = true;
    four.levels = 4;
    masked.method = Method::kBlueNoise;
    device_frames("floyd-steinberg", {});
    device_frames("floyd-steinberg packed", packed);
    kernel("floyd-steinberg 4 levels", four, 1);
    kernel("tdfed 64 rows", swaths(64), 1);
    kernel("tdfed 16 rows", swaths(16), 1);
    kernel("tdfed 4 rows", swaths(4), 1);
    kernel("blue-noise", masked, 1);
    for (const int bytes : {3, 4}) {
      colours("blue-noise spectra6 packed", bytes, ColourOutput::kCodes);
      colours("blue-noise spectra6", bytes, ColourOutput::kRgb);
      colours("blue-noise spectra6 RGBx", bytes, ColourOutput::kRgbx);
    }
    host_frames("floyd-steinberg", {});
    host_frames("floyd-steinberg packed", packed);
  }

 private:
  std::size_t out_bytes(const Settings& s) const {
    return halftone::target_row_bytes(g_.width, s.packed) * static_cast<std::size_t>(g_.height);
  }
  Frame frame(const std::uint8_t* data, bool on_device) const {
    Frame f;
    f.plane[0] = data;
    f.stride[0] = g_.width;
    f.memory = on_device ? Memory::kCuda : Memory::kHost;
    return f;
  }
  Target target(std::uint8_t* data, const Settings& s, bool on_device) const {
    return {data, static_cast<std::ptrdiff_t>(halftone::target_row_bytes(g_.width, s.packed)),
            on_device ? Memory::kCuda : Memory::kHost};
  }

  /// What the host twin makes of the picture.
  Bytes expected(const Settings& settings) const {
    Bytes out(out_bytes(settings));
    const auto twin = cpu::make_halftone(g_);
    twin->submit({frame(picture_.data(), false), target(out.data(), settings, false), settings, 1});
    twin->collect();
    return out;
  }
  /// A benchmark of wrong bits is worth nothing.
  static void require_same(const Bytes& wanted, const Bytes& got, const std::string& what) {
    if (wanted != got) throw std::runtime_error(what + ": not the bits of the host twin");
  }

  void report(const std::string& method, const std::string& what, double seconds) {
    const std::string size = std::to_string(g_.width) + "x" + std::to_string(g_.height);
    const double pixels = static_cast<double>(g_.width) * g_.height;
    std::printf("%-10s %-26s %-34s %10.4f ms %9.2f Gpx/s\n", size.c_str(), method.c_str(), what.c_str(), seconds * 1e3,
                pixels / seconds * 1e-9);
    std::fflush(stdout);
    results_.add(Fields()
                     .add("size", size)
                     .add("method", method)
                     .add("what", what)
                     .add("ms", seconds * 1e3)
                     .add("pixels_per_second", pixels / seconds));
  }

  void device_frames(const std::string& method, const Settings& settings) {
    for (const int depth : depths_) kernel(method, settings, depth);
  }

  /// Kernels of frames in device memory, some in flight.
  void kernel(const std::string& method, const Settings& settings, int depth) {
    if (!wants(method)) return;
    const std::string what = "kernels, in flight " + std::to_string(depth);
    const cuda::DeviceBytes in(picture_, device_.id);
    cuda::DeviceBytes out(Bytes(out_bytes(settings)), device_.id);
    cuda::DeviceHalftone filter(g_, device_.id, depth);
    const auto time = [&](int count) {
      return filter.time_kernels(frame(in.data(), true), target(out.data(), settings, true), settings, count);
    };
    const double first = time(depth);
    Bytes got(out_bytes(settings));
    out.read(got);
    require_same(expected(settings), got, method + ", " + what);
    const int count = depth * static_cast<int>(std::clamp(0.01 / std::max(first * depth, 1e-6), 1.0, 20.0));
    std::vector<double> times;
    for (const auto start = Clock::now(); times.size() < 3 || since(start) < seconds_;) times.push_back(time(count));
    report(method, what, median(times));
  }

  /// Kernels of frames of RGB in device memory. bytes: of a pixel.
  void colours(const std::string& method, int bytes, ColourOutput output) {
    if (!wants(method)) return;
    PictureGeometry g{g_.width, g_.height, {}};
    g.layout.components = 3;
    g.layout.is_rgb = true;
    for (std::uint8_t c = 0; c < 3; ++c) g.layout.component[c] = {0, c, static_cast<std::uint8_t>(bytes), 0, 0};
    ColourSettings settings;
    settings.palette = halftone::named_palettes()[0].palette;
    settings.method = Method::kBlueNoise;
    settings.output = output;
    settings.linear = true;
    settings.tone.light = halftone::Light::kSrgb;
    // The picture of the other rows, its channels far from each other.
    Bytes rgb(picture_.size() * static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < rgb.size(); ++i) {
      const auto pixel = i / static_cast<std::size_t>(bytes), channel = i % static_cast<std::size_t>(bytes);
      rgb[i] = picture_[(pixel + channel * (picture_.size() / 3)) % picture_.size()];
    }
    const auto row = target_row_bytes(g.width, settings);
    Bytes wanted(row * static_cast<std::size_t>(g.height)), got(wanted.size());
    const auto task = [&](const std::uint8_t* from, std::uint8_t* to, Memory memory) {
      Frame f;
      f.plane[0] = from;
      f.stride[0] = std::ptrdiff_t{bytes} * g.width;
      f.memory = memory;
      return halftone::ColourTask{f, {to, static_cast<std::ptrdiff_t>(row), memory}, settings, 1};
    };
    const auto twin = cpu::make_colour_halftone(g);
    twin->submit(task(rgb.data(), wanted.data(), Memory::kHost));
    twin->collect();
    const cuda::DeviceBytes in(rgb, device_.id);
    cuda::DeviceBytes out(got, device_.id);
    cuda::DeviceColourHalftone filter(g, device_.id, 1);
    const auto time = [&](int count) { return filter.time_kernels(task(in.data(), out.data(), Memory::kCuda), count); };
    const double first = time(1);
    out.read(got);
    const std::string what = "kernels, from " + std::to_string(bytes) + " bytes";
    require_same(wanted, got, method + ", " + what);
    const int count = static_cast<int>(std::clamp(0.01 / std::max(first, 1e-6), 1.0, 20.0));
    std::vector<double> times;
    for (const auto start = Clock::now(); times.size() < 3 || since(start) < seconds_;) times.push_back(time(count));
    report(method, what, median(times));
  }

  /// Whole frames from pinned host memory to pinned host memory, some in flight.
  void host_frames(const std::string& method, const Settings& settings) {
    if (!wants(method)) return;
    const Bytes wanted = expected(settings);
    for (const int depth : depths_) {
      const auto filter = cuda::make_halftone(g_, device_.id, depth);
      cuda::PinnedMemory<std::uint8_t> in;
      std::vector<cuda::PinnedMemory<std::uint8_t>> out(static_cast<std::size_t>(depth));
      in.reserve(picture_.size());
      std::memcpy(in.get(), picture_.data(), picture_.size());
      for (auto& o : out) o.reserve(wanted.size());
      std::size_t turn = 0;
      const auto submit = [&] {
        filter->submit({frame(in.get(), false), target(out[turn++ % out.size()].get(), settings, false), settings, 1});
      };
      for (int i = 0; i < depth; ++i) submit();
      const auto one = [&] {
        filter->collect();
        submit();
      };
      for (int i = 0; i < 3 * depth; ++i) one();
      int count = 0;
      double taken = 0;
      for (const auto start = Clock::now(); taken < seconds_ || count < depth; taken = since(start), ++count) one();
      for (int i = 0; i < depth; ++i) filter->collect();
      const std::string what = "pinned to pinned, in flight " + std::to_string(depth);
      for (const auto& o : out) require_same(wanted, {o.get(), o.get() + wanted.size()}, method + ", " + what);
      report(method, what, taken / count);
    }
  }

  bool wants(const std::string& method) const { return method.find(only_) != std::string::npos; }

  std::string only_;
  Geometry g_;
  Bytes picture_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"sizes", "1024x1024,1920x1080,2048x2048,4096x4096,8192x8192", "of the pictures"},
                         {"in-flight", "1,2,4,8,16", "frames pending at a time"},
                         {"only", "", "methods whose names contain this"},
                         {"seconds", "0.1", "for each row"}});
  return run_on_gpu<Bench>(options);
}
