// SPDX-License-Identifier: LGPL-2.1-or-later
// Plans of the denoisers: kernels shaped for the device, proved against the host twin.
#include "algorithms/split_mix.h"
#include "cpu/denoise/filter.h"
#include "opencl/denoise/device_filter.h"
#include "opencl/denoise/text.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace framequality::opencl {

using namespace denoise;

namespace {

constexpr std::size_t kMostPlans = 8;  // kept for settings that return

bool has_floor(const Settings& s, const Pass& pass, int depth) {
  if (estimates(s, pass)) return true;
  const Weights w = weights_of(rule_of(s, pass, depth), s.sigma * s.sigma);
  return w.floor > 0 || !std::isfinite(w.scale);
}

}  // namespace

DenoiseLimits denoise_limits_of(const DeviceInfo& device) {
  return {device.is_software, device.group_items, device.local_bytes};
}

// Kernels declare their number of work items, and compilers allocate registers for it; the driver's maximal
// group size for a kernel is not queried: rusticl 22.3 always reports 32.
DenoiseShape denoise_shape(const DenoiseLimits& limits, const DenoiseText& text) {
  // Weights of a tile's rim are computed by more than one group: only a large tile makes less work of sharing weights.
  // For several planes its items would need too many registers.
  constexpr DenoiseShape kPairs{.together = Together::kWeights, .across = 256, .columns = 64, .rows = 32};
  // Sums of three numbers are not worth the barriers that sharing them takes.
  constexpr DenoiseShape kSamples{.together = Together::kSamples, .run = 2, .across = 32, .down = 4};
  const auto suits = [&](const DenoiseShape& s) {
    if (s.together == Together::kSums) return true;
    if (text.planes > 1 || text.search == 0 || text.has_others) return false;
    return s.together == Together::kWeights ||
           (text.patch == 1 && text.search < kQuad && !text.takes_largest && has_exact_floats(text));
  };
  if (!limits.is_processor)
    for (const DenoiseShape& s : {kSamples, kPairs, DenoiseShape{.run = 8, .across = 128, .down = 1},
                                  DenoiseShape{.run = 8, .across = 128, .down = 1, .holds_floats = false},
                                  DenoiseShape{.run = 8, .across = 64, .down = 2, .holds_floats = false},
                                  DenoiseShape{.run = 8, .across = 32, .down = 2, .holds_floats = false},
                                  DenoiseShape{.run = 4, .across = 32, .down = 2, .holds_floats = false}})
      if (suits(s) && static_cast<std::size_t>(s.across) * static_cast<std::size_t>(s.down) <= limits.group_items &&
          denoise_local_bytes(s, text) <= limits.local_bytes)
        return s;
  // With more rows, compilers for CPUs take seconds.
  DenoiseShape lone{
      .together = Together::kNothing, .lanes = limits.is_processor ? 16 : 1, .run = 4, .across = 1, .down = 1};
  if (limits.is_processor) return lone;
  while (lone.across < 32 && static_cast<std::size_t>(2 * lone.across) <= limits.group_items) lone.across *= 2;
  while (lone.down < 4 && static_cast<std::size_t>(2 * lone.across * lone.down) <= limits.group_items) lone.down *= 2;
  return lone;
}

/// Parameters of a pass's kernel.
DenoiseText DeviceDenoiser::text_for(const Pass& pass, const Structure& structure, int index) const {
  const PictureLayout& layout = geometry_.layout;
  DenoiseText text;
  text.planes = pass.count;
  text.patch = structure.patch;
  text.search = structure.search;
  text.has_floor = structure.has_floor[index];
  text.has_spatial = structure.has_spatial;
  text.has_others = structure.has_others;
  text.takes_largest = structure.center == CenterWeight::kMax;
  text.divides_exactly = context_->device().divides_exactly;
  text.depth = layout.depth;
  text.word_bytes = layout.word_bytes;
  text.shift = layout.shift;
  text.big_endian = layout.big_endian;
  text.is_dense = !layout.big_endian;
  for (int k = 0; k < pass.count; ++k) {
    const PictureLayout::Component& c = layout.component[pass.component[k]];
    text.is_dense = text.is_dense && c.pixel_stride == layout.word_bytes && c.offset == 0;
  }
  return text;
}

/// The kernels of one pass, in the best shape for the device.
DeviceDenoiser::PassPlan DeviceDenoiser::pass_plan(const Pass& pass, const Structure& structure, int index,
                                                   std::vector<Source>& sources) {
  const DenoiseText text = text_for(pass, structure, index);
  PassPlan plan;
  plan.pass = pass;
  plan.estimates = structure.estimates[index];
  plan.shape = denoise_shape(limits_, text);
  plan.has_float_cells = has_float_cells(plan.shape, text);
  plan.reach = denoise_reach(plan.shape, structure.patch, structure.search);
  plan.width = geometry_.width_of(pass.component[0]);
  for (int field = 0; field < structure.fields; ++field)
    plan.height[field] = (geometry_.height_of(pass.component[0]) - field + structure.fields - 1) / structure.fields;
  for (int k = 0; k < pass.count; ++k) plan.stride[k] = geometry_.layout.component[pass.component[k]].pixel_stride;
  const int across = denoise_columns(plan.shape, structure.patch), down = denoise_rows(plan.shape);
  plan.columns = static_cast<int>(pieces(plan.width, across)) * across + 2 * plan.reach;
  plan.rows = static_cast<int>(pieces(plan.height[0], down)) * down + 2 * plan.reach;

  const std::string version = "-cl-std=CL1.2", exact = " -cl-fp32-correctly-rounded-divide-sqrt";
  // Rough weights may underflow: that takes operations elsewhere.
  const std::string flushed = plan.shape.together == Together::kSamples ? " -cl-denorms-are-zero" : "";
  sources.push_back({filter_text(plan.shape, text), (text.divides_exactly ? version + exact : version) + flushed});
  plan.filter = context_->kernel(sources.back(), "filter");
  sources.push_back({planes_text(geometry_.layout, structure.border, plan.has_float_cells), version});
  plan.fill = context_->kernel(sources.back(), "fill");
  plan.noise = context_->kernel(sources.back(), "noise");
  return plan;
}

/// The plan of settings, made once and kept while they return.
std::shared_ptr<const DeviceDenoiser::Plan> DeviceDenoiser::plan_for(const Settings& settings, int fields,
                                                                     bool has_others) {
  const Passes passes = passes_of(geometry_.layout, settings);
  Structure structure{settings.patch_radius, settings.search_radius, fields,          has_others,
                      settings.border,       settings.center,        settings.chroma, settings.spatial > 0};
  for (int i = 0; i < passes.count; ++i) {
    structure.has_floor[i] = has_floor(settings, passes.pass[i], geometry_.layout.depth);
    structure.estimates[i] = estimates(settings, passes.pass[i]);
  }
  const auto known = std::ranges::find_if(plans_, [&](const auto& p) { return p->structure == structure; });
  if (known != plans_.end()) {
    std::rotate(plans_.begin(), known, known + 1);
    return plans_.front();
  }
  auto plan = std::make_shared<Plan>();
  plan->structure = structure;
  std::size_t written[3] = {};
  for (int i = 0; i < passes.count; ++i) {
    const Pass& pass = passes.pass[i];
    PassPlan made = pass_plan(pass, structure, i, plan->sources);
    for (int field = 0; field < fields; ++field) {
      made.first_block[field] = plan->blocks;
      if (made.estimates) plan->blocks += pass.count * made.grid(field).count();
    }
    plan->passes.push_back(std::move(made));
    for (int k = 0; k < pass.count; ++k)
      written[geometry_.layout.component[pass.component[k]].plane] +=
          static_cast<std::size_t>(geometry_.width_of(pass.component[k])) * geometry_.layout.word_bytes;
  }
  for (int p = 0; p < geometry_.layout.planes; ++p) {
    plan->filtered |= (written[p] > 0 ? 1u : 0u) << p;
    plan->whole |= (written[p] == planes_[static_cast<std::size_t>(p)].row_bytes ? 1u : 0u) << p;
  }
  plan->copy = context_->kernel(plan->sources.back(), "copy");
  if (proves_ && !std::ranges::all_of(plan->sources, [&](const Source& s) { return context_->is_proved(s); })) {
    prove(settings, fields, has_others);
    context_->set_proved(plan->sources);
  }
  plans_.insert(plans_.begin(), plan);
  if (plans_.size() > kMostPlans) plans_.pop_back();
  return plan;
}

/// Filters a small window with the programs of these settings and the host twin. Throws Error if the results differ.
void DeviceDenoiser::prove(const Settings& settings, int fields, bool has_others) {
  PictureGeometry small = geometry_;
  small.width = 45;
  small.height = 38;
  Settings wide = settings;  // with noise from black to white, few weights would differ from 0
  for (double* range : {&wide.range, &wide.range_chroma}) *range = std::max(*range, 2e4);
  if (settings.follows) wide.range = settings.range;
  if (settings.follows_chroma) wide.range_chroma = settings.range_chroma;
  SplitMix random(20261125);
  std::vector<std::uint8_t> bytes[4][3];  // two frames, then the results of the two filters
  NumberedFrame window[2];
  Canvas canvas[2];
  for (std::size_t f = 0; f < 4; ++f)
    for (int p = 0; p < small.layout.planes; ++p) {
      const std::size_t stride = small.row_bytes(p) + 3;
      bytes[f][p].resize(stride * static_cast<std::size_t>(small.rows(p)));
      for (std::size_t i = 0; f < 2 && i < bytes[f][p].size(); ++i)
        bytes[f][p][i] = static_cast<std::uint8_t>(random.next() >> (i / 301 % 3 == 0 ? 60 : 56));
      if (f < 2) window[f].frame.plane[p] = bytes[f][p].data();
      if (f < 2) window[f].frame.stride[p] = static_cast<std::ptrdiff_t>(stride);
      if (f >= 2) canvas[f - 2].plane[p] = bytes[f][p].data();
      if (f >= 2) canvas[f - 2].stride[p] = static_cast<std::ptrdiff_t>(stride);
    }
  window[1].serial = 1;
  DeviceDenoiser device(small, context_, 1, limits_, false);
  const std::unique_ptr<Filter> host = cpu::make_denoiser(small, 1);
  for (Filter* const filter : {static_cast<Filter*>(&device), host.get()}) {
    const Canvas& out = canvas[filter == host.get() ? 1 : 0];
    filter->submit(has_others ? Task{window, 1, out, wide, fields} : Task{{window, 1}, 0, out, wide, fields});
    filter->collect();
  }
  for (int p = 0; p < small.layout.planes; ++p)
    if (bytes[2][p] != bytes[3][p]) context_->refuse("denoises to other pixels than the CPU");
}

}  // namespace framequality::opencl
