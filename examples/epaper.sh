#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the bytes that an e-paper panel takes of a photograph:
# usage: epaper.sh PHOTO|test PALETTE[:WIDTHxHEIGHT] FILE [PREVIEW.png]
set -euo pipefail
photo=${1:?usage: epaper.sh PHOTO|test PALETTE[:WIDTHxHEIGHT] FILE [PREVIEW.png]}
panel=${2:?PALETTE of halftone, such as spectra6, and a size: by default 800x480}
file=${3:?name of the file}
palette=${panel%%:*} size=800x480
[ "$palette" = "$panel" ] || size=${panel#*:}
width=${size%x*} height=${size#*x}
if [ "$photo" = test ]; then
  source=(videotestsrc num-buffers=1 ! "video/x-raw,format=RGB,width=640,height=480")
else
  source=(filesrc location="$photo" ! decodebin ! videoconvert ! "video/x-raw,format=RGB")
fi
# The panel is filled: what is too high or too wide of the photograph is cut off. Dots mix as light: linear=true.
fit=(aspectratiocrop aspect-ratio="$width/$height" ! videoscale method=lanczos !
  "video/x-raw,format=RGB,width=$width,height=$height,pixel-aspect-ratio=1/1")
gst-launch-1.0 -q "${source[@]}" ! "${fit[@]}" ! halftone palette="$palette" linear=true packed=true ! \
  filesink location="$file"
if [ $# -gt 3 ]; then
  gst-launch-1.0 -q "${source[@]}" ! "${fit[@]}" ! halftone palette="$palette" linear=true ! pngenc ! \
    filesink location="$4"
fi
