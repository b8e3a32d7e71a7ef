#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Decodes and measures H.264 on an NVIDIA GPU; only the scores return to the CPU. usage: cuda.sh VIDEO.mp4
# Needs gstreamer1.0-plugins-bad, and a build with CUDA.
set -euo pipefail
video=${1:?usage: cuda.sh VIDEO.mp4}
exec gst-launch-1.0 -m filesrc location="$video" ! qtdemux ! h264parse ! nvh264dec ! \
  'video/x-raw(memory:CUDAMemory)' ! sharpnessmeter device=cuda in-flight=2 ! fakesink
