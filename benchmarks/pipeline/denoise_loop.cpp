// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers' bare loop: NV12 frames in, the project's filter, frames out, and nothing around it.
#include "benchmarks/pipeline/denoise_loop.h"

#include "cpu/denoise/filter.h"
#include "cuda/denoise/device_filter.h"
#include "cuda/denoise/filter.h"

#include <chrono>
#include <cstring>
#include <utility>

namespace framequality::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPitch = 512;  // what rows in GPU memory are rounded up to, as decoders' are

PictureLayout nv12() {
  PictureLayout l;
  l.components = 3;
  l.planes = 2;
  l.component[1] = {1, 0, 2, 1, 1};
  l.component[2] = {1, 1, 2, 1, 1};
  return l;
}

}  // namespace

DenoiseLoop::DenoiseLoop(const DenoiseWork& work, Lie lie, int depth, int id)
    : work_(work), lie_(lie), depth_(depth), id_(id), geometry_{work.width, work.height, nv12()} {
  const std::size_t row = geometry_.row_bytes(1);  // UV: even also where the width is odd
  stride_ = static_cast<std::ptrdiff_t>(lie == Lie::kDevice ? (row + kPitch - 1) / kPitch * kPitch : row);
  std::vector<std::uint8_t> picture(bytes(), 128);
  for (int y = 0; y < work.height; ++y)
    std::memcpy(picture.data() + y * stride_, work.luma->data() + std::ptrdiff_t{y} * work.width,
                static_cast<std::size_t>(work.width));
  for (int i = 0; i < work.frames; ++i) in_.push_back(take(picture, lie == Lie::kPinned));
  for (int i = 0; i < depth; ++i)
    out_.push_back(take(std::vector<std::uint8_t>(bytes()), lie == Lie::kPinned || lie == Lie::kPageable));
  filter_ = lie == Lie::kHost ? cpu::make_denoiser(geometry_) : cuda::make_denoiser(geometry_, id, depth);
}

std::size_t DenoiseLoop::bytes() const {
  return static_cast<std::size_t>(stride_) * static_cast<std::size_t>(geometry_.rows(0) + geometry_.rows(1));
}

/// Memory with these contents that lives as long as the loop.
std::uint8_t* DenoiseLoop::take(std::vector<std::uint8_t> contents, bool pinned) {
  if (lie_ == Lie::kDevice) {
    auto& memory = device_.emplace_back();
    memory.reserve(bytes());
    cuda::check(cudaMemcpy(memory.get(), contents.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    return memory.get();
  }
  if (!pinned) return pageable_.emplace_back(std::move(contents)).data();
  auto& memory = pinned_.emplace_back();
  memory.reserve(bytes());
  std::memcpy(memory.get(), contents.data(), bytes());
  return memory.get();
}

denoise::Source DenoiseLoop::source(std::size_t turn) const {
  const std::uint8_t* data = in_[turn % in_.size()];
  denoise::Source source;
  source.frame.plane[0] = data;
  source.frame.plane[1] = data + stride_ * geometry_.rows(0);
  source.frame.stride[0] = source.frame.stride[1] = stride_;
  source.frame.memory = lie_ == Lie::kDevice ? Memory::kCuda : Memory::kHost;
  source.serial = turn;
  return source;
}

Canvas DenoiseLoop::canvas(std::size_t turn) const {
  std::uint8_t* data = out_[turn % out_.size()];
  Canvas canvas;
  canvas.plane[0] = data;
  canvas.plane[1] = data + stride_ * geometry_.rows(0);
  canvas.stride[0] = canvas.stride[1] = stride_;
  canvas.memory = lie_ == Lie::kDevice ? Memory::kCuda : Memory::kHost;
  return canvas;
}

void DenoiseLoop::submit() {
  const denoise::Source from = source(turn_);
  filter_->submit({{&from, 1}, 0, canvas(turn_), work_.settings, 1});
  ++turn_;
}

double DenoiseLoop::frames_per_second(double seconds) {
  for (int i = 0; i < depth_; ++i) submit();
  const auto next = [&] {
    filter_->collect();
    submit();
  };
  constexpr double kWarmUp = 0.1;
  const auto run = [&](double least) {
    const auto begin = Clock::now();
    for (int frames = 1;; ++frames) {
      next();
      const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
      if (passed >= least) return frames / passed;
    }
  };
  run(kWarmUp);
  const double rate = run(seconds);
  for (int i = 0; i < depth_; ++i) filter_->collect();
  return rate;
}

double DenoiseLoop::kernels_per_second() {
  constexpr int kCount = 50;
  cuda::DeviceDenoiser denoiser(geometry_, id_, 1);
  const denoise::Source from = source(0);
  const auto time = [&] { return denoiser.time_kernels({&from, 1}, 0, canvas(0), work_.settings, kCount); };
  time();
  return 1 / time();
}

std::vector<std::uint8_t> DenoiseLoop::result() const {
  const Canvas from = canvas(0);
  std::vector<std::uint8_t> picture(bytes());
  if (from.memory == Memory::kCuda)
    cuda::check(cudaMemcpy(picture.data(), from.plane[0], bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  else
    std::memcpy(picture.data(), from.plane[0], bytes());
  std::vector<std::uint8_t> packed;
  for (int p = 0, y = 0; p < 2; ++p)
    for (int i = 0; i < geometry_.rows(p); ++i, ++y)
      packed.insert(packed.end(), picture.begin() + y * stride_,
                    picture.begin() + y * stride_ + static_cast<std::ptrdiff_t>(geometry_.row_bytes(p)));
  return packed;
}

}  // namespace framequality::bench
