// SPDX-License-Identifier: LGPL-2.1-or-later
// Groups of similar photographs in a set: bursts, and near-duplicates.
#pragma once

#include "apps/common/taken.h"
#include "apps/scan/options.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace framequality::apps::scan {

/// The properties of one input that decide its group.
struct Likeness {
  bool picture = false;  ///< a photograph; a video is a group of its own
  Taken taken = {};
  std::optional<std::uint64_t> look = {};  ///< perceptual_hash()
};

/// The group of each input: numbers from 0 on, in the order of the groups' first inputs. Photographs of one camera are
/// a burst if each was taken at most options.burst_gap after the one before; one without a time belongs to the burst
/// of both its neighbours in the list, if it is the same, else to none. With options.similar a photograph joins the
/// group of the first one, in the list, whose hash differs in at most options.similar_distance bits and which began a
/// group itself, so that a slow pan makes several groups. With both, either is enough.
std::vector<std::size_t> groups_of(const std::vector<Likeness>& inputs, const Options& options);

}  // namespace framequality::apps::scan
