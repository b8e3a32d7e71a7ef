#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small clips and images, damaged by number, through framequality-scan and framequality-bliinds: each ends, in time,
with its own words. Encoders that are not installed are left out.

usage: files.py [--first N] [--cases N | --seconds S] [--keep DIR] SCAN BLIINDS

What kills plain gst-launch-1.0 too, or is a critical there too, is counted beside: it is the decoder's. A hang is ours.
"""
import argparse
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

CLIP = "videotestsrc num-buffers=12 pattern={pattern} ! video/x-raw,width=96,height=64,framerate=12/1 ! videoconvert ! "
PICTURE = "videotestsrc num-buffers=1 pattern={pattern} ! video/x-raw,width=96,height=64 ! videoconvert ! "
KINDS = {
    "h264.mp4": CLIP + "x264enc key-int-max=6 ! h264parse ! mp4mux",
    "h264.ts": CLIP + "x264enc key-int-max=6 ! h264parse ! mpegtsmux",
    "mpeg4.mov": CLIP + "avenc_mpeg4 ! qtmux",
    "mjpeg.avi": CLIP + "jpegenc ! avimux",
    "mpeg4.avi": CLIP + "avenc_mpeg4 ! avimux",
    "ffv1.mkv": CLIP + "avenc_ffv1 ! matroskamux",
    "vp8.webm": CLIP + "vp8enc deadline=1 ! webmmux",
    "theora.ogg": CLIP + "theoraenc ! oggmux",
    "raw.y4m": CLIP + "video/x-raw,format=I420 ! y4menc",
    "still.jpg": PICTURE + "jpegenc",
    "still.png": PICTURE + "pngenc",
    "still.webp": PICTURE + "webpenc",
    "still.tiff": PICTURE + "avenc_tiff",
}
BATCH = 24
STALL, LIMIT, LIMIT_ALONE = 1, 150, 40  # s
REPORT = re.compile(rb"AddressSanitizer|runtime error:|UndefinedBehaviorSanitizer|-CRITICAL \*\*|GLib-GObject-WARNING")


def plain_environment(folder):
    """Without our plugin: gst-launch-1.0 could not load it where it is instrumented."""
    ours = ("GST_PLUGIN_PATH", "GST_REGISTRY_FORK", "LD_PRELOAD")
    return {**{k: v for k, v in os.environ.items() if k not in ours}, "GST_REGISTRY_1_0": str(folder / "plain.bin")}


def animation():
    """A GIF of three frames, for which there is no encoder."""
    side = 64
    colours = bytes(v for i in range(128) for v in (i, 2 * i, 255 - i))
    bytes_ = b"GIF89a" + struct.pack("<HHBBB", side, side, 0xf6, 0, 0) + colours
    for frame in range(3):
        pixels = bytes((x * y + 9 * frame) % 128 for y in range(side) for x in range(side))
        # Codes stay 8 bits wide if the dictionary is cleared (0x80) in time; 0x81 is the end.
        codes = b"".join(b"\x80" + pixels[i:i + 120] for i in range(0, len(pixels), 120)) + b"\x81"
        blocks = b"".join(bytes([len(codes[i:i + 255])]) + codes[i:i + 255] for i in range(0, len(codes), 255))
        bytes_ += b"\x21\xf9\x04\0\x0a\0\0\0" + b"," + struct.pack("<HHHHBB", 0, 0, side, side, 0, 7) + blocks + b"\0"
    return bytes_ + b";"


def make_examples(folder):
    """What is damaged, by name."""
    examples = {"moving.gif": animation()}
    for name, line in KINDS.items():
        path = folder / name
        words = line.format(pattern="ball" if "still" not in name else "smpte").split()
        done = subprocess.run(["gst-launch-1.0", "-q", *words, "!", "filesink", f"location={path}"], timeout=60,
                              capture_output=True, check=False, env=plain_environment(folder))
        if done.returncode == 0 and path.stat().st_size > 0:
            examples[name] = path.read_bytes()
    return examples


def damaged(dice, data, other):
    """data, changed in one to some places; other: whose bytes may come into it."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 4, 30))):
        if not data:
            break
        # Headers are at the ends.
        at = dice.randrange(len(data)) if dice.random() < 0.5 else dice.randrange(min(len(data), 256))
        if dice.random() < 0.1:
            at = len(data) - 1 - at
        length = dice.choice((1, 2, 4, 16, 256, 4096))
        how = dice.randrange(9)
        if how == 0:
            data[at] ^= 1 << dice.randrange(8)
        elif how == 1:
            data[at:at + length] = dice.randbytes(min(length, len(data) - at))
        elif how == 2:  # a size or a count
            data[at:at + 4] = dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\1"))
        elif how == 3:
            del data[at:]
        elif how == 4:
            del data[at:at + length]
        elif how == 5:
            data[at:at] = data[at:at + length]
        elif how == 6:
            data[at:at + length] = bytes(min(length, len(data) - at))
        elif how == 7:
            to = dice.randrange(len(data))
            data[at:at + length], data[to:to + length] = data[to:to + length], data[at:at + length]
        else:
            start = dice.randrange(len(other))
            data[at:at + length] = other[start:start + length]
    return bytes(data)


def case(number, examples):
    """The name and bytes of a damaged file."""
    dice = random.Random(number)
    name = dice.choice(list(examples))
    return f"{number}-{name}", damaged(dice, examples[name], examples[dice.choice(list(examples))])


def run(command, limit, env=None):
    """Why it went wrong, or nothing. Status 1 says that a file cannot be read."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False, env=env)
    except subprocess.TimeoutExpired:
        return f"hangs: not done after {limit} s"
    if found := REPORT.search(done.stdout + done.stderr):
        begin = (done.stdout + done.stderr)[found.start():]
        return begin[:1500].decode(errors="replace")
    return "" if done.returncode in (0, 1) else f"exit status {done.returncode}"


def commands(tools, files):
    scan, bliinds = tools
    files = [str(f) for f in files]
    return [[scan, "-q", "--keep-going", "--jobs=4", "--zones=2x2", f"--stall-timeout={STALL}", *files],
            [bliinds, "features", "--stall-timeout", str(STALL), *files]]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("tools", nargs=2)
    options = parser.parse_args()
    begin, number, wrong, theirs = time.monotonic(), options.first, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        examples = make_examples(folder)
        if len(examples) == 1:
            print("SKIPPED: no gst-launch-1.0, or no encoder")
            return 77
        end = options.first + options.cases if options.cases else None
        while number < end if end else time.monotonic() - begin < options.seconds:
            files = []
            for n in range(number, min(number + BATCH, end or number + BATCH)):
                file, data = case(n, examples)
                files.append(folder / file)
                files[-1].write_bytes(data)
            number += len(files)
            for which, command in enumerate(commands(options.tools, files)):
                if not run(command, LIMIT):
                    continue
                for file in files:
                    why = run(commands(options.tools, [file])[which], LIMIT_ALONE)
                    if not why:
                        continue
                    plain = ["gst-launch-1.0", "-q", "filesrc", f"location={file}", "!", "decodebin", "!", "fakesink"]
                    if not why.startswith("hangs") and run(plain, LIMIT_ALONE, plain_environment(folder)):
                        theirs += 1
                        continue
                    wrong += 1
                    print(f"fuzz: {pathlib.Path(command[0]).name}, file {file.name}: {why}", flush=True)
                    if options.keep:
                        options.keep.mkdir(parents=True, exist_ok=True)
                        (options.keep / file.name).write_bytes(file.read_bytes())
            for file in files:
                file.unlink()
    print(f"{number - options.first} files of {len(examples)} kinds from number {options.first} on, {wrong} wrong, "
          f"{theirs} as with gst-launch-1.0")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
