# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pipeline builders: the sharpest frame of every second of a video as JPEG
link README.md docs/elements/sharpnessgate.md
follow docs/elements/sharpnessgate.md#recipes 'filesrc location=walk.mp4' 's/walk\.mp4/clip.mp4/'
[ "$(find . -maxdepth 1 -name '*-0*.jpg' | wc -l)" = 14 ] # the clip's seconds
for image in *-0*.jpg; do [ "$(head -c 2 "$image" | od -An -tx1 | tr -d ' ')" = ffd8 ]; done
