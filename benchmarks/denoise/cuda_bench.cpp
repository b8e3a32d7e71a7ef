// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers on the GPU: kernels alone, and whole frames from host memory and back.
#include "benchmarks/support/gpu_main.h"
#include "benchmarks/support/picture.h"
#include "cuda/denoise/device_filter.h"
#include "cuda/denoise/filter.h"
#include "cuda/denoise/lanes.h"
#include "cuda/device.h"
#include "tests/support/device.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::bench;
using denoise::Settings;

namespace {

constexpr double kNoise = 15;  // as in cpu_bench.cpp

/// Non-local means as OpenCV's defaults have it: search 21x21, patches 7x7.
Settings nlmeans() {
  Settings s;
  s.chroma = denoise::Chroma::kJoint;
  return s;
}
/// The patch-based bilateral filter, patches 3x3, of a window.
Settings patch_bilateral(int radius) {
  Settings s;
  s.patch_radius = 1;
  s.search_radius = radius;
  s.range = s.range_chroma = 2 * 20 * 20;
  s.spatial = 1.0 / (2 * 10 * 10);
  return s;
}

/// The same at strengths that follow the noise, as the elements' defaults are.
Settings following(Settings s) {
  const bool bilateral = s.spatial > 0;
  s.follows = s.follows_chroma = true;
  s.range = s.range_chroma = bilateral ? 2 * 0.85 * 0.85 : 0.49;
  return s;
}

PictureLayout layout_of(const std::string& name) {
  PictureLayout l;
  if (name == "gray10" || name == "gray16") {
    l.depth = name == "gray10" ? 10 : 16;
    l.word_bytes = l.component[0].pixel_stride = 2;
  } else if (name == "NV12" || name == "P010") {
    const std::uint8_t bytes = name == "NV12" ? 1 : 2;
    l.components = 3;
    l.planes = 2;
    l.word_bytes = l.component[0].pixel_stride = bytes;
    if (bytes == 2) l.depth = 10, l.shift = 6;
    for (std::uint8_t c = 0; c < 2; ++c)
      l.component[1 + c] = {1, static_cast<std::uint8_t>(c * bytes), static_cast<std::uint8_t>(2 * bytes), 1, 1};
  } else if (name == "RGB") {
    l.components = 3;
    l.is_rgb = true;
    for (std::uint8_t c = 0; c < 3; ++c) l.component[c] = {0, c, 3, 0, 0};
  }
  return l;
}

/// Weights of a frame.
double pairs_of(const PictureGeometry& g, const Settings& s) {
  const double side = 2 * s.search_radius + 1;
  const denoise::Passes passes = denoise::passes_of(g.layout, s);
  double pixels = 0;
  for (int i = 0; i < passes.count; ++i) {
    const int c = passes.pass[i].component[0];
    pixels += static_cast<double>(g.width_of(c)) * g.height_of(c);
  }
  return pixels * side * side;
}

/// The benchmarks' picture, whose noise filters that follow it take for grain, in any layout, planes one after the
/// other without gaps. noise: the standard deviation of what is added to it, in 8-bit grey levels.
struct Picture {
  explicit Picture(const PictureGeometry& g, double noise = 0) : geometry(g) {
    std::size_t size = 0;
    for (int p = 0; p < g.layout.planes; ++p) {
      offset[p] = size;
      size += g.row_bytes(p) * static_cast<std::size_t>(g.rows(p));
    }
    bytes.resize(size);
    std::vector<std::uint8_t> gray = make_picture(g.width, g.height);
    if (noise > 0) {
      std::mt19937 random(2);
      std::normal_distribution<double> added(0, noise);
      for (auto& code : gray)
        code = static_cast<std::uint8_t>(std::clamp(std::round(code + added(random)), 0.0, 255.0));
    }
    for (int c = 0; c < g.layout.components; ++c) {
      const auto& component = g.layout.component[c];
      for (int y = 0; y < g.height_of(c); ++y)
        for (int x = 0; x < g.width_of(c); ++x) {
          const std::size_t from =
              static_cast<std::size_t>(y << component.y_shift) * static_cast<std::size_t>(g.width) +
              static_cast<std::size_t>(x << component.x_shift);
          const unsigned v = gray[std::min(from, gray.size() - 1)];
          write_sample(
              g.layout,
              bytes.data() + offset[component.plane] + static_cast<std::size_t>(y) * g.row_bytes(component.plane) +
                  static_cast<std::size_t>(component.offset + x * component.pixel_stride),
              static_cast<std::uint32_t>((c == 2 ? 255 - v : v) * static_cast<unsigned>(g.layout.largest()) / 255));
        }
    }
  }
  /// Planes: a Frame or a Canvas.
  template <class Planes, class Byte>
  Planes planes_at(Byte* data, bool on_device) const {
    Planes at;
    at.memory = on_device ? Memory::kCuda : Memory::kHost;
    for (int p = 0; p < geometry.layout.planes; ++p) {
      at.plane[p] = data + offset[p];
      at.stride[p] = static_cast<std::ptrdiff_t>(geometry.row_bytes(p));
    }
    return at;
  }
  Frame frame(const std::uint8_t* data, bool on_device) const { return planes_at<Frame>(data, on_device); }
  Canvas canvas(std::uint8_t* data, bool on_device) const { return planes_at<Canvas>(data, on_device); }
  PictureGeometry geometry;
  std::size_t offset[3] = {};
  std::vector<std::uint8_t> bytes;
};

/// A benchmark of wrong numbers is worth nothing.
void require_same(const PictureLayout& layout, const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b,
                  const std::string& what) {
  std::size_t differing = 0;
  const auto code_at = [&](const std::vector<std::uint8_t>& bytes, std::size_t i) {
    return static_cast<int>(read_sample(layout, bytes.data() + i));
  };
  for (std::size_t i = 0; i < a.size(); i += layout.word_bytes) {
    if (std::abs(code_at(a, i) - code_at(b, i)) > 1)
      throw std::runtime_error(what + ": code at " + std::to_string(i) + " is " + std::to_string(code_at(b, i)) +
                               ", not " + std::to_string(code_at(a, i)));
    differing += code_at(a, i) != code_at(b, i);
  }
  const std::size_t codes = a.size() / layout.word_bytes;
  if (differing > 1 + (codes << (layout.depth - 8)) / 10000)
    throw std::runtime_error(what + ": " + std::to_string(differing) + " of " + std::to_string(codes) +
                             " codes differ by one");
}

class Bench : FilterBench {
 public:
  Bench(const Options& options, const Device& device) : FilterBench("denoise_cuda_bench", options, device) {}

  void run(int width, int height) {
    width_ = width;
    height_ = height;
    kernels("gray8", "nlmeans 21x21/7x7", nlmeans());
    kernels("gray8", "patch-bilateral 7x7/3x3", patch_bilateral(3));
    kernels("gray8", "patch-bilateral 5x5/3x3", patch_bilateral(2));
    for (const char* const layout : {"gray10", "gray16", "NV12", "P010", "RGB"})
      kernels(layout, "nlmeans 21x21/7x7", nlmeans());
    kernels("gray16", "patch-bilateral 7x7/3x3", patch_bilateral(3));
    kernels("RGB", "patch-bilateral 7x7/3x3", patch_bilateral(3));
    for (const char* const layout : {"gray8", "NV12"})
      for (const double noise : {kNoise, 0.0})
        kernels(layout, noise > 0 ? "nlmeans, default" : "nlmeans, default, clean", following(nlmeans()), noise);
    kernels("gray8", "patch-bilateral, default", following(patch_bilateral(3)), kNoise);
    frames("gray8", "nlmeans 21x21/7x7", nlmeans());
    frames("NV12", "nlmeans 21x21/7x7", nlmeans());
    frames("gray8", "patch-bilateral 7x7/3x3", patch_bilateral(3));
  }

 private:
  PictureGeometry geometry_of(const std::string& layout) const { return {width_, height_, layout_of(layout)}; }

  void report(const std::string& layout, const std::string& filter, const std::string& what, double seconds,
              double pairs) {
    const std::string size = std::to_string(width_) + "x" + std::to_string(height_);
    std::printf("%-10s %-7s %-24s %-28s %10.4f ms %8.1f Gpairs/s\n", size.c_str(), layout.c_str(), filter.c_str(),
                what.c_str(), seconds * 1e3, pairs / seconds * 1e-9);
    std::fflush(stdout);
    results_.add(Fields()
                     .add("size", size)
                     .add("layout", layout)
                     .add("filter", filter)
                     .add("what", what)
                     .add("ms", seconds * 1e3)
                     .add("pairs_per_second", pairs / seconds));
  }

  /// Kernels back to back, with and without the tensor cores, results compared.
  void kernels(const std::string& layout, const std::string& filter, const Settings& settings, double noise = 0) {
    const PictureGeometry g = geometry_of(layout);
    const Picture picture(g, noise);
    const cuda::DeviceBytes in(picture.bytes, device_.id);
    const denoise::Source source{picture.frame(in.data(), true), 0};
    std::vector<std::uint8_t> first;
    for (const bool tensor : {false, true}) {
      cuda::DeviceBytes out(picture.bytes, device_.id);
      cuda::DeviceDenoiser denoiser(g, device_.id, 1, tensor);
      const Canvas canvas = picture.canvas(out.data(), true);
      const auto time = [&] { return denoiser.time_kernels({&source, 1}, 0, canvas, settings, 5); };
      time();
      std::vector<double> times;
      for (const auto start = Clock::now(); times.size() < 5 || since(start) < seconds_;) times.push_back(time());
      std::vector<std::uint8_t> bytes(picture.bytes.size());
      out.read(bytes);
      report(layout, filter, tensor ? "kernel as chosen" : "general kernel", median(times), pairs_of(g, settings));
      if (tensor)
        require_same(g.layout, first, bytes, "kernel as chosen, " + layout + ", " + filter);
      else
        first = bytes;
      if (g.layout.depth > cuda::tile::Halves::kMostBits) return;
    }
  }

  /// Whole frames from host memory to host memory, some in flight.
  void frames(const std::string& layout, const std::string& name, const Settings& settings) {
    const PictureGeometry g = geometry_of(layout);
    const Picture picture(g);
    for (const bool pinned : {true, false})
      for (const int depth : depths_) {
        const auto filter = cuda::make_denoiser(g, device_.id, depth);
        const std::size_t size = picture.bytes.size();
        std::vector<cuda::PinnedMemory<std::uint8_t>> memory(static_cast<std::size_t>(depth) + 1);
        std::vector<std::vector<std::uint8_t>> pageable(memory.size(), std::vector<std::uint8_t>(size));
        std::vector<std::uint8_t*> at;
        for (std::size_t i = 0; i < memory.size(); ++i) {
          memory[i].reserve(size);
          at.push_back(pinned ? memory[i].get() : pageable[i].data());
        }
        std::memcpy(at[0], picture.bytes.data(), size);
        const denoise::Source source{picture.frame(at[0], false), 0};
        std::size_t turn = 0;
        const auto submit = [&] {
          filter->submit(
              {{&source, 1}, 0, picture.canvas(at[1 + turn++ % static_cast<std::size_t>(depth)], false), settings, 1});
        };
        for (int i = 0; i < depth; ++i) submit();
        const auto one = [&] {
          filter->collect();
          submit();
        };
        for (int i = 0; i < 5 * depth; ++i) one();
        int count = 0;
        const auto start = Clock::now();
        double taken = 0;
        for (; taken < seconds_; taken = since(start), ++count) one();
        for (int i = 0; i < depth; ++i) filter->collect();
        report(layout, name, (pinned ? "pinned, in flight " : "pageable, in flight ") + std::to_string(depth),
               taken / count, pairs_of(g, settings));
      }
  }

  int width_ = 0, height_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv,
                        {{"sizes", "1920x1080,496x472", "of the pictures"},
                         {"in-flight", "1,2,3,4", "frames pending at a time"},
                         {"seconds", "0.1", "for each row"}});
  return run_on_gpu<Bench>(options);
}
