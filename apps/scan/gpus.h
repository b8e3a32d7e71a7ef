// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPUs that decode here.
#pragma once

#include <gst/gst.h>

#include <vector>

namespace framequality::apps::scan {

/// The GPU that elements of this factory decode video on, by its CUDA id; -1 for all that are no decoders of NVIDIA's.
/// Any thread.
int gpu_of(GstElementFactory* factory);

/// The GPUs that GStreamer has decoders for, ascending.
std::vector<int> decoding_gpus();

/// How many streams a GPU should decode at once: enough to fill its decode engines, as its driver counts them, and as
/// many as its free memory holds. Makes a CUDA context for the question, some tenths of a second. At least 1.
int streams_of(int gpu);

}  // namespace framequality::apps::scan
