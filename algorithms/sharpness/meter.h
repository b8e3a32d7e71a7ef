// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface of the CPU and CUDA twins: frames in, exact integer totals out.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "algorithms/worker.h"

#include <cstdint>
#include <memory>
#include <span>

namespace framequality::sharpness {

/// A frame of the plan's geometry; plan->refusal is empty.
struct Task {
  Frame frame;
  std::shared_ptr<const Plan> plan;
};

/// Collects plan.cells * plan.words integers, cell by cell: the metric's totals followed by the sum of
/// samples, or the histogram's bins.
using Meter = Worker<Task, std::span<const std::int64_t>>;

}  // namespace framequality::sharpness
