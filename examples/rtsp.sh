#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Scores of a network camera, one a second, as messages: usage: rtsp.sh rtsp://HOST/PATH
set -euo pipefail
location=${1:?usage: rtsp.sh rtsp://HOST/PATH}
# What the camera compressed pulses with its keyframes: binomial5 and downscale=2 keep that out of the score.
exec gst-launch-1.0 -m rtspsrc location="$location" latency=200 ! decodebin ! \
  sharpnessmeter prefilter=binomial5 downscale=2 interval=1000000000 ! fakesink sync=false
