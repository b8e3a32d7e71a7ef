#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many damaged frames sharpnessmeter's `damaged` finds, on H.264 streams that lose slices or packets.

Encodes clips, drops slices or RTP packets at random, decodes what is left, and compares each frame with the same frame
of the undamaged stream. A frame counts as visibly damaged if at least 0.5% of its macroblocks (16x16 pixels) differ by
more than 8 grey levels on average.
"""
import argparse
import pathlib
import random
import zlib

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402  GstApp gives appsink its methods

ENCODERS = {
    "x264enc, 4 slices": "x264enc speed-preset=veryfast bitrate=1500 key-int-max=30 option-string=slices=4:bframes=0",
    "x264enc, 4 slices, B": "x264enc speed-preset=veryfast bitrate=1500 key-int-max=30 option-string=slices=4:bframes=2",
    "x264enc, 1 slice": "x264enc speed-preset=veryfast bitrate=1500 key-int-max=30 bframes=0",
    "x264enc, by size": "x264enc speed-preset=veryfast bitrate=1500 key-int-max=30 "
                        "option-string=slice-max-size=1200:bframes=0",
    "openh264enc, 4 slices": "openh264enc bitrate=1500000 gop-size=30 slice-mode=n-slices num-slices=4",
}
DECODERS = ("avdec_h264", "openh264dec")
MTU = 1200
LOSS = 0.01  # of slices, and of packets
STREAM = "video/x-h264,stream-format=byte-stream,alignment=au"
DIFFERS, SHARE = 8, 0.005
NEAR = 12  # frames before and after: decoders that drop frames give their times to others


def pull(pipeline):
    """All samples of the appsink `out`, of a pipeline that is set to play."""
    samples, sink = [], pipeline.get_by_name("out")
    pipeline.set_state(Gst.State.PLAYING)
    while sample := sink.try_pull_sample(60 * Gst.SECOND):
        samples.append(sample)
    pipeline.set_state(Gst.State.NULL)
    return samples


def bytes_of(buffer):
    _, mapped = buffer.map(Gst.MapFlags.READ)
    data = bytes(mapped.data)
    buffer.unmap(mapped)
    return data


def encode(clip, encoder, first, frames):
    """[(pts, access unit, is a keyframe)]"""
    # Not decodebin: with GStreamer 1.28, it sometimes links y4mdec too late for the first frame, and nothing follows.
    pipeline = Gst.parse_launch(
        f"filesrc location=\"{clip}\" ! decodebin3 ! videoconvert ! videorate ! identity name=count ! "
        f"video/x-raw,format=I420,framerate=25/1 ! {encoder} ! h264parse config-interval=-1 ! {STREAM} ! "
        "appsink name=out sync=false")
    seen = 0

    def on_frame(_pad, _info):
        nonlocal seen
        seen += 1
        return Gst.PadProbeReturn.OK if first < seen <= first + frames else Gst.PadProbeReturn.DROP
    pipeline.get_by_name("count").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_frame)
    units = [s.get_buffer() for s in pull(pipeline)]
    return [(b.pts, bytes_of(b), not b.has_flags(Gst.BufferFlags.DELTA_UNIT)) for b in units]


def without_slices(units, loss, dice, whole=1):
    """The stream without some slices, and the times of frames that lack some. The first frames are whole."""
    left, short = [], set()
    for pts, unit, key in units:
        nals = [n for n in unit.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1") if n]
        kept = [n for n in nals if n[0] & 31 not in (1, 5) or len(left) < whole or dice.random() >= loss]
        if len(kept) < len(nals):
            short.add(pts)
        if any(n[0] & 31 in (1, 5) for n in kept):
            left.append((pts, b"".join(b"\0\0\0\1" + n for n in kept), key))
    return left, short


def decode(units, decoder, packet_loss=0.0, dice=None, whole=1):
    """[(pts, is called damaged, luma)], and the times of frames that lost packets. The first frames are whole."""
    network = f"rtph264pay mtu={MTU} name=pay ! rtph264depay ! h264parse ! {STREAM} ! " if packet_loss else ""
    # As for live streams. GStreamer 1.26 loses more frames than lack data if threads decode several at a time.
    threads = " thread-type=slice" if decoder.startswith("avdec_") else ""
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time caps=\"{STREAM}\" ! h264parse ! {network}{decoder}{threads} ! videoconvert ! "
        "video/x-raw,format=GRAY8 ! sharpnessmeter device=cpu post-messages=false ! appsink name=out sync=false")
    short = set()

    def on_packet(_pad, info):
        buffers = info.get_buffer_list() if info.type & Gst.PadProbeType.BUFFER_LIST else None
        pts = (buffers.get(0) if buffers else info.get_buffer()).pts
        if pts <= units[whole - 1][0]:
            return Gst.PadProbeReturn.OK
        packets = [buffers.get(i) for i in range(buffers.length())] if buffers else [info.get_buffer()]
        kept = [p for p in packets if dice.random() >= packet_loss]
        if len(kept) == len(packets):
            return Gst.PadProbeReturn.OK
        short.add(pts)
        if buffers:
            peer = _pad.get_peer()
            for packet in kept:
                peer.chain(packet)
        return Gst.PadProbeReturn.DROP
    if packet_loss:
        pipeline.get_by_name("pay").get_static_pad("src").add_probe(
            Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST, on_packet)
    source = pipeline.get_by_name("in")
    for pts, unit, key in units:
        buffer = Gst.Buffer.new_wrapped(unit)
        buffer.pts, buffer.duration = pts, Gst.SECOND // 25
        if not key:
            buffer.set_flags(Gst.BufferFlags.DELTA_UNIT)
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    frames = []
    for sample in pull(pipeline):
        info, buffer = GstVideo.VideoInfo.new_from_caps(sample.get_caps()), sample.get_buffer()
        width, height = info.width, info.height
        luma = np.frombuffer(bytes_of(buffer), np.uint8).reshape(height, -1)[:, :width]
        fields = buffer.get_custom_meta("GstSharpnessMeta").get_structure()
        frames.append((buffer.pts, fields.get_boolean("damaged")[1], luma))
    return frames, short


def difference(a, b):
    """Share of the macroblocks that differ."""
    height, width = (side // 16 * 16 for side in a.shape)
    steps = np.abs(a[:height, :width].astype(np.int16) - b[:height, :width])
    return np.mean(steps.reshape(height // 16, 16, width // 16, 16).mean((1, 3)) > DIFFERS)


def visible(frames, clean, shifts):
    """Whether each frame differs from the one of the same time (or, if times shift, from all near it)."""
    at = {pts: i for i, (pts, _, _) in enumerate(clean)}
    marks = []
    for pts, _, luma in frames:
        i = at.get(pts, 0)
        near = range(max(0, i - NEAR), min(len(clean), i + NEAR + 1)) if shifts else (i,)
        near = sorted(near, key=lambda k, i=i: abs(k - i))
        marks.append(all(difference(luma, clean[k][2]) >= SHARE for k in near))
    return np.array(marks, bool)


class Counts:
    def __init__(self):
        self.short = self.short_found = self.seen = self.seen_found = self.sound = self.sound_called = 0

    def add(self, frames, short, marks):
        called = np.array([c for _, c, _ in frames], bool)
        lacks = np.array([pts in short for pts, _, _ in frames], bool)
        self.short += lacks.sum()
        self.short_found += (lacks & called).sum()
        self.seen += marks.sum()
        self.seen_found += (marks & called).sum()

    def add_sound(self, frames):
        self.sound += len(frames)
        self.sound_called += sum(c for _, c, _ in frames)

    def row(self, *names):
        def share(part, whole):
            return f"{100 * part / whole:.1f}% of {whole}" if whole else "-"
        return "| " + " | ".join([*names, share(self.short_found, self.short), share(self.seen_found, self.seen),
                                  f"{self.sound_called} of {self.sound}"]) + " |"


def measure(args, name, encoder, decoder):
    """A line for lost slices and one for lost packets, over all clips."""
    lines = {"slices": Counts(), "packets": Counts()}
    for clip in args.clips:
        units = encode(clip, encoder, args.first, args.frames)
        clean, _ = decode(units, decoder)
        for kind, counts in lines.items():
            dice = random.Random(zlib.crc32(f"{clip.name} {name} {kind} {args.seed}".encode()))
            if kind == "slices":
                units_left, short = without_slices(units, LOSS, dice)
                frames, _ = decode(units_left, decoder)
            else:
                frames, short = decode(units, decoder, LOSS, dice)
            shifts = decoder != "avdec_h264"
            counts.add(frames, set() if shifts else short, visible(frames, clean, shifts))
            counts.add_sound(clean)
    for kind, counts in lines.items():
        print(counts.row(name, kind, decoder), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=pathlib.Path, nargs="+", help="videos that GStreamer decodes")
    parser.add_argument("--first", type=int, default=20, help="frames of each clip to skip (default: %(default)s)")
    parser.add_argument("--frames", type=int, default=150, help="frames of each clip to use (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is lost (default: %(default)s)")
    args = parser.parse_args()
    Gst.init(None)
    print("| encoder | lost | decoder | found of frames that lack data | found of frames visibly damaged | sound "
          "frames called damaged |\n|---|---|---|---|---|---|")
    for name, encoder in ENCODERS.items():
        for decoder in DECODERS:
            if not all(Gst.ElementFactory.find(e) for e in (encoder.split()[0], decoder)):
                print(f"| {name} | - | {decoder} | not installed | | |")
            elif not (name.endswith("B") and decoder == "openh264dec"):  # it decodes no B frames
                measure(args, name, encoder, decoder)


if __name__ == "__main__":
    main()
