# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Photographers: the best of a folder of photographs, copied bit for bit, then the best of every four
link README.md docs/scan.md#sets
# The user's own photographs: here 48 frames of the clip, the last 8 of them blurred.
mkdir photographs
gst-launch-1.0 -q filesrc location=clip.mp4 ! decodebin ! videoconvert ! videorate ! video/x-raw,framerate=4/1 ! \
  jpegenc quality=95 ! multifilesink location=photographs/IMG_%d.jpg
count=$(find photographs -name '*.jpg' | wc -l)
((count >= 48))
for ((i = 48; i < count; i++)); do rm "photographs/IMG_$i.jpg"; done
for ((i = 40; i < 48; i++)); do
  gst-launch-1.0 -q filesrc location=photographs/IMG_$i.jpg ! jpegdec ! videoconvert ! gaussianblur sigma=4 ! \
    videoconvert ! jpegenc quality=95 ! filesink location=blurred.jpg
  mv blurred.jpg "photographs/IMG_$i.jpg"
done
follow docs/scan.md#sets '--set --best 40' 2>words.txt
cat words.txt
[ "$(wc -l <scores.csv)" = 49 ]
# The block's second command adds its own choice to the folder, one for every four.
for name in chosen/*; do cmp "$name" "photographs/$(basename "$name")"; done
chosen=$(find chosen -name 'IMG_*.jpg' | wc -l)
((chosen >= 40 && chosen <= 48))
python3 - <<'PYTHON'
import json
manifest = json.load(open("chosen.json"))
names = [frame["source"].split("/")[-1] for frame in manifest["frames"]]
assert manifest["counts"]["candidates"] == 48 and manifest["counts"]["chosen"] == 40, manifest["counts"]
blurred = {f"IMG_{i}.jpg" for i in range(40, 48)}
assert not blurred & set(names), blurred & set(names)
PYTHON
