#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes a black and white PBM image of a given size. usage: halftone.sh IMAGE|test WIDTH HEIGHT FILE.pbm [METHOD]
set -euo pipefail
picture=${1:?usage: halftone.sh IMAGE|test WIDTH HEIGHT FILE.pbm [METHOD]}
width=${2:?WIDTH in pixels} height=${3:?HEIGHT in pixels} file=${4:?name of the PBM file} method=${5:-tdfed}
if [ "$picture" = test ]; then
  source=(videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8)
else
  source=(filesrc location="$picture" ! decodebin)
fi
# packed=true has the rows of binary PBM (P4), except that 1 is black in PBM: hence invert=true.
printf 'P4\n%d %d\n' "$width" "$height" >"$file"
gst-launch-1.0 -q "${source[@]}" ! videoconvert ! videoscale add-borders=true ! \
  "video/x-raw,width=$width,height=$height,pixel-aspect-ratio=1/1" ! \
  halftone method="$method" packed=true invert=true ! fdsink >>"$file"
