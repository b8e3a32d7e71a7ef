#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Publishes the events of framequality-watch to an MQTT broker; the last event of each camera is retained as its state.
# usage: framequality-watch ... | mqtt.sh [OPTION OF mosquitto_pub]...    or    tail -n 0 -F events.jsonl | mqtt.sh ...
# Topics are PREFIX/CAMERA (PREFIX is framequality by default). Keep passwords out of the options: put them into
# ~/.config/mosquitto_pub. Needs the packages mosquitto-clients and jq.
set -euo pipefail
prefix=${PREFIX:-framequality}

# Replaces characters that a level of a topic may not contain, because a camera can have any name.
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
