// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUs that decode video on this machine.
#pragma once

#include <gst/gst.h>

#include <vector>

namespace framequality::apps::scan {

/// The GPU that elements of this factory decode on, by the CUDA id in their name; -1 for everything but
/// NVIDIA's decoders. From GStreamer's registry, because loading their plugin takes two seconds. Any thread.
int gpu_of(GstElementFactory* factory);

/// Whether a decoder other than a GPU's exists for these caps. Also from the registry.
bool can_processor_decode(GstCaps* caps);

/// The GPUs that GStreamer has decoders for, ascending. Also from the registry, so they may no longer exist.
std::vector<int> decoding_gpus();

/// Number of streams that a GPU should decode at once: enough to fill its decode engines, as its driver counts them, if
/// its free memory allows. Makes a CUDA context for this, which takes some tenths of a second. At least 1.
int streams_of(int gpu);

}  // namespace framequality::apps::scan
