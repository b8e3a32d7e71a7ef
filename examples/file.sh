#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Saves the sharpest frame of each second of a video as JPEG. usage: file.sh VIDEO [FOLDER]
set -euo pipefail
video=${1:?usage: file.sh VIDEO [FOLDER]} folder=${2:-.}
# filesrc accepts any file name; %05d is the image's number.
exec gst-launch-1.0 filesrc location="$video" ! decodebin ! sharpnessmeter prefilter=binomial3 ! \
  sharpnessgate mode=best-of window-time=1000000000 ! videoconvert ! jpegenc quality=95 ! \
  multifilesink location="$folder/sharpest-%05d.jpg"
