#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows a webcam's image with its score. usage: webcam.sh [DEVICE]. Set SOURCE and SINK to use other elements.
set -euo pipefail
source=${SOURCE:-v4l2src device=${1:-/dev/video0}} sink=${SINK:-autovideosink}
read -r -a source <<<"$source"
read -r -a sink <<<"$sink"
# binomial5 suppresses the noise of small sensors; the leaky queue keeps a slow screen from blocking the camera.
exec gst-launch-1.0 "${source[@]}" ! videoconvert ! sharpnessmeter prefilter=binomial5 ! sharpnessoverlay ! \
  queue leaky=downstream max-size-buffers=2 ! videoconvert ! "${sink[@]}"
