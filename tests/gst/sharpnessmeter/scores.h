// SPDX-License-Identifier: LGPL-2.1-or-later
// The scores that frames should get, straight from the CPU's meter.
#pragma once

#include "algorithms/sharpness/score.h"

#include <gst/gst.h>

#include <cstdint>
#include <string>
#include <vector>

namespace framequality::test {

/// Scores of luma codes, straight from the host twin.
sharpness::Scores expected(const std::vector<std::uint16_t>& codes, int width, int height, int depth,
                           const sharpness::Request& request = {});

/// The score that a buffer of these caps should get.
sharpness::Scores expected(const std::string& caps, GstBuffer* buffer, const sharpness::Request& request = {});

int metric_index(const std::string& name);

}  // namespace framequality::test
