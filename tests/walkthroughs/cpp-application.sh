# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# C++ programmers: an application that reads scores from the pipeline through GStreamer's API
link README.md examples/README.md
link examples/README.md examples/score_app.cpp
cd examples || exit
follow examples/score_app.cpp 'Build it alone: '
./score_app >scores.txt
[ "$(wc -l <scores.txt)" = 30 ]
# frame, time in nanoseconds, metric, score
grep -qE '^0 0 tenengrad [0-9.]+$' scores.txt
grep -qE '^29 966666666 tenengrad [0-9.]+$' scores.txt
