#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The events of framequality-watch to an MQTT broker, the last one of each camera retained as its state.
# usage: framequality-watch ... | mqtt.sh [OPTION OF mosquitto_pub]...    or    tail -n 0 -F events.jsonl | mqtt.sh ...
# PREFIX (default: framequality) is what topics begin with: PREFIX/CAMERA. A password is best kept out of the options:
# in ~/.config/mosquitto_pub. Needs mosquitto-clients and jq.
set -euo pipefail
prefix=${PREFIX:-framequality}

# What a topic may not have in a level, and what would begin another one: a camera may have any name.
# shellcheck disable=SC2016  # $prefix is jq's
program='fromjson? | select(.camera? | type == "string") | $prefix + "/" + (.camera | gsub("[+#/\\p{Cc}]"; "_")), tojson'
jq --unbuffered -R -r --arg prefix "$prefix" "$program" |
  while IFS= read -r topic && IFS= read -r event; do
    for pause in 1 5 30 0; do
      if mosquitto_pub -q 1 -r "$@" -t "$topic" -m "$event"; then break; fi
      if ((pause == 0)); then echo "mqtt.sh: not sent: $topic $event" >&2; fi
      sleep "$pause"
    done
  done
