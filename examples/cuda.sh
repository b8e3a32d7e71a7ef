#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# H.264 decoded and measured on the GPU, nothing but the scores comes back: usage: cuda.sh VIDEO.mp4
set -euo pipefail
video=${1:?usage: cuda.sh VIDEO.mp4}
exec gst-launch-1.0 -m filesrc location="$video" ! qtdemux ! h264parse ! nvh264dec ! \
  'video/x-raw(memory:CUDAMemory)' ! sharpnessmeter device=cuda in-flight=2 ! fakesink
