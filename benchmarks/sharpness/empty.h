// SPDX-License-Identifier: LGPL-2.1-or-later
// A launch that computes nothing, to know the cost of launching; no CUDA headers.
#pragma once

namespace framequality::bench {

/// Time from one empty kernel of one block to the next, queued back to back on device `id`: the best of several runs.
/// Unit: seconds. Throws Error.
double empty_kernel_seconds(int id);

}  // namespace framequality::bench
