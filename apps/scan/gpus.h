// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPUs that decode here.
#pragma once

#include <gst/gst.h>

#include <vector>

namespace framequality::apps::scan {

/// The GPU that elements of this factory decode on, by its CUDA id as their name says it; -1 for all that are not
/// decoders of NVIDIA's. From GStreamer's registry: to load their plugin takes two seconds. Any thread.
int gpu_of(GstElementFactory* factory);

/// Whether there is a decoder for this that is not a GPU's. From the registry, too.
bool can_processor_decode(GstCaps* caps);

/// The GPUs that GStreamer has decoders for, ascending. From the registry, too: they may be gone since it was made.
std::vector<int> decoding_gpus();

/// How many streams a GPU should decode at once: enough to fill its decode engines, as its driver counts them, and as
/// many as its free memory holds. Makes a CUDA context for the question, some tenths of a second. At least 1.
int streams_of(int gpu);

}  // namespace framequality::apps::scan
