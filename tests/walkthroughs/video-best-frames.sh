# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Video files: the three sharpest frames of a clip, a table of scores, and a report to open in a browser
follow README.md 'framequality-scan --best 3'
[ "$(wc -l <scores.csv)" = 281 ] # a heading, and the clip's 280 frames
[ "$(head -n 1 scores.csv)" = file,frame,time,metric,score,damaged ]
[ "$(find sharp -name '*.png' | wc -l)" = 3 ]
grep -q '</html>' report.html
# Each image is named after its frame and its score, which the table has too.
for image in sharp/*.png; do
  frame=$(sed -nE 's/.*_f0*([0-9]+)_.*/\1/p' <<<"$image")
  score=$(sed -nE 's/.*_([0-9.]+)\.png/\1/p' <<<"$image")
  awk -F, -v frame="$frame" -v score="$score" \
    '$2 == frame && ($5 - score) ^ 2 < 0.01 { found = 1 } END { exit !found }' scores.csv
done
