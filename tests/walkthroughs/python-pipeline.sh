# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Python: a pipeline of GStreamer whose scores a program reads, from messages and from metadata
link README.md docs/install.md#python
follow docs/install.md#python 'scripts/deps demo'
follow docs/install.md#python 'venv --system-site-packages'
grep -q '^GStreamer 1\.' "$SAID"
link README.md examples/README.md
link examples/README.md examples/score_from_message.py
venv/bin/python examples/score_from_message.py >messages.txt
[ "$(wc -l <messages.txt)" = 30 ]
link examples/README.md examples/score_from_meta.py
venv/bin/python examples/score_from_meta.py >metadata.txt
[ "$(wc -l <metadata.txt)" = 30 ]
