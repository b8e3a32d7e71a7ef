#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A webcam on the screen with its score: usage: webcam.sh [DEVICE]. SOURCE and SINK may name other elements.
set -euo pipefail
source=${SOURCE:-v4l2src device=${1:-/dev/video0}} sink=${SINK:-autovideosink}
read -r -a source <<<"$source"
read -r -a sink <<<"$sink"
# Smoothed against the noise of small sensors; a queue, so that a slow screen does not hold up the camera.
exec gst-launch-1.0 "${source[@]}" ! videoconvert ! sharpnessmeter prefilter=binomial5 ! sharpnessoverlay ! \
  queue leaky=downstream max-size-buffers=2 ! videoconvert ! "${sink[@]}"
