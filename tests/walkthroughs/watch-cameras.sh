# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Camera operators: framequality-watch on two cameras, its page, and an alert when one of them goes out of focus
link README.md docs/watch.md
# The user's cameras: a file that plays as fast as it decodes, and a network camera that goes out of focus after 20 s.
tests/walkthroughs/camera.py 20 >camera.port &
camera=$!
for ((i = 0; i < 300; i++)); do [ -s camera.port ] || sleep 0.2; done
port=$(cat camera.port)
# Times of the page's table of options, shorter than their defaults, and a look at the page instead of a browser.
follow docs/watch.md#start 'framequality-watch gate=' \
  "s|gate=rtsp://[^ ]+|gate=clip.mp4|; s|hall=http://[^ ]+|hall=http://127.0.0.1:$port/video.mjpg --learn-time 8 --hold-time 2 >events.jsonl \\&|" \
  's|^xdg-open|sleep 15; python3 -c "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"|'
watch=$!
grep -qi '<html' "$SAID"
for ((i = 0; i < 300; i++)); do
  if grep -q '"camera":"hall","state":"defocused"' events.jsonl; then break; fi
  sleep 0.2
done
kill -TERM "$watch"
wait "$watch" || true
kill "$camera"
cat events.jsonl
grep -q '"camera":"hall","state":"connected"' events.jsonl
grep -q '"camera":"hall","state":"good"' events.jsonl
grep -q '"camera":"hall","state":"defocused","previous":"good"' events.jsonl
grep -q '"camera":"gate","state":"ended"' events.jsonl
