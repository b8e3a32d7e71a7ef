# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Camera operators: an alert from a pipeline whose camera goes out of focus, and its recovery
link README.md docs/elements/camerawatch.md
follow docs/elements/camerawatch.md 'concat name=c'
states=$(sed -nE 's/.*camerawatch, .*state=\(string\)([a-z]+),.*previous.*repeated=\(boolean\)false.*/\1/p' "$SAID" | uniq | xargs)
[ "$states" = 'good defocused recovered' ]
