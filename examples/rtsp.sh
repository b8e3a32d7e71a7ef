#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the score of a network camera once a second. usage: rtsp.sh rtsp://HOST/PATH
set -euo pipefail
location=${1:?usage: rtsp.sh rtsp://HOST/PATH}
# The score of compressed video pulses with the keyframes: binomial5 and downscale=2 suppress that.
exec gst-launch-1.0 -m rtspsrc location="$location" latency=200 ! decodebin ! \
  sharpnessmeter prefilter=binomial5 downscale=2 interval=1000000000 ! fakesink sync=false
