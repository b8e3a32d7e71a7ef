# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pipeline builders: the scores of a first pipeline, equal to those that the README prints
follow README.md 'sharpnessmeter ! fakesink'
[ "$(wc -l <"$SAID")" = 3 ]
scores() { sed -nE 's/.*score=\(double\)([0-9.]+).*/\1/p' "$1"; }
save printed.txt README.md 'device=(string)cpu'
diff <(scores "$SAID") <(scores printed.txt)
# The element's own page is one link away, and the element explains itself.
link README.md docs/elements/sharpnessmeter.md
gst-inspect-1.0 sharpnessmeter | grep '^  metric ' >/dev/null
