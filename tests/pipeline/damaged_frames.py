# SPDX-License-Identifier: LGPL-2.1-or-later
"""Damaged frames: H.264 streams of our own make lose slices and packets, and every frame that shows it is called damaged.

usage: damaged_frames.py SOURCE_ROOT SCAN
"""
import csv
import io
import json
import os
import pathlib
import random
import sys

import numpy as np

from harness import launch, missing, run, run_tests

ROOT, TOOL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, str(ROOT / "benchmarks" / "python"))
import damaged  # noqa: E402
from damaged import Gst  # noqa: E402

WIDTH, HEIGHT, FRAMES = 320, 176, 90
WHOLE = 6  # frames before the first loss: how frames are divided is learned from the first ones
FIXED, BY_SIZE, ONE = (f"x264enc speed-preset=ultrafast key-int-max=30 bitrate=800 option-string={slices}:bframes=0"
                       for slices in ("slices=4", "slice-max-size=600", "slices=1"))


def world():
    """Noise of all scales, as photographs have it."""
    dice, total = np.random.default_rng(1), np.zeros((512, 1024))
    for size in (4, 8, 16, 32, 64, 128):
        coarse = dice.normal(size=(512 // size + 1, 1024 // size + 1))
        total += np.kron(coarse, np.ones((size, size)))[:512, :1024] * size ** 0.7
    return np.clip(128 + total * 40 / total.std(), 16, 235).astype(np.uint8)


def walk():
    return [world()[100 + i:100 + HEIGHT + i, 60 + 3 * i:60 + WIDTH + 3 * i] for i in range(FRAMES)]


def odd_but_sound():
    """A still, slides, a mosaic that moves, a letterbox that comes and goes, gray below, lines as of a text."""
    place, frames = world(), []
    for i in range(FRAMES):
        view = place[100:100 + HEIGHT, 100 + 2 * i:100 + 2 * i + WIDTH].copy()
        if i < 15:
            view = place[:HEIGHT, :WIDTH].copy()
        elif i < 30:
            view = place[200 * (i // 5 % 2):][:HEIGHT, 40 * (i // 5):][:, :WIDTH].copy()
        elif i < 50:
            view[32:96, 64:192] = np.kron(view[32:96:16, 64:192:16], np.ones((16, 16)))
        elif i < 65:
            view[:24], view[-24:] = 16, 16
        elif i < 75:
            view[96:] = 128
        else:
            view[:] = 235
            view[8 + i % 3::12, 16:304:2] = 16
        frames.append(view)
    return frames


def write_clip(path, frames):
    chroma = bytes([128]) * (WIDTH * HEIGHT // 2)
    path.write_bytes(b"YUV4MPEG2 W%d H%d F25:1 C420\n" % (WIDTH, HEIGHT) +
                     b"".join(b"FRAME\n" + frame.tobytes() + chroma for frame in frames))


def make_clips(folder):
    write_clip(folder / "walk.y4m", walk())
    write_clip(folder / "odd.y4m", odd_but_sound())
    return folder


def decoders():
    return [name for name in damaged.DECODERS if name not in ABSENT]


def found(units, encoder, decoder, loss):
    """Share of the visibly damaged frames that are called so, of streams that lose slices or packets."""
    clean, _ = damaged.decode(units, decoder)
    assert len(clean) == FRAMES and not any(called for _, called, _ in clean), (encoder, decoder)
    called = np.zeros(0, bool)
    for seed in range(3):
        dice = random.Random(seed)
        if loss == "slices":
            frames, _ = damaged.decode(damaged.without_slices(units, 0.02, dice, WHOLE)[0], decoder)
        else:
            frames, _ = damaged.decode(units, decoder, 0.02, dice, WHOLE)
        marks = damaged.visible(frames, clean, decoder != "avdec_h264")
        called = np.append(called, np.array([c for _, c, _ in frames], bool)[marks])
    assert decoder != "avdec_h264" or len(called) > 20, "nothing to find"
    return called.mean() if len(called) else 1.0


def test_damage_is_found(folder):
    for encoder, losses in ((FIXED, ("slices", "packets")), (BY_SIZE, ("packets",)), (ONE, ("packets",))):
        units = damaged.encode(folder / "walk.y4m", encoder, 0, FRAMES)
        for decoder in decoders():
            for loss in losses:
                share = found(units, encoder, decoder, loss)
                assert share >= 0.9, (encoder, decoder, loss, share)


def test_odd_frames_are_sound(folder):
    for encoder in (FIXED, BY_SIZE, ONE):
        units = damaged.encode(folder / "odd.y4m", encoder, 0, FRAMES)
        for decoder in decoders():
            frames, _ = damaged.decode(units, decoder)
            called = [i for i, (_, called, _) in enumerate(frames) if called]
            assert len(frames) == FRAMES and not called, (encoder, decoder, called)


def record(units, path):
    """The stream as a Matroska file."""
    pipeline = Gst.parse_launch(f"appsrc name=in format=time caps=\"{damaged.STREAM}\" ! h264parse ! matroskamux ! "
                                f"filesink location=\"{path}\"")
    pipeline.set_state(Gst.State.PLAYING)
    for pts, unit, key in units:
        buffer = Gst.Buffer.new_wrapped(unit)
        buffer.pts = buffer.dts = pts
        buffer.duration = Gst.SECOND // 25
        if not key:
            buffer.set_flags(Gst.BufferFlags.DELTA_UNIT)
        pipeline.get_by_name("in").emit("push-buffer", buffer)
    pipeline.get_by_name("in").emit("end-of-stream")
    pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)


def scanned(path, *options):
    done = run(TOOL, "-q", "--segments", "1", "--prefilter", "none", *options, path)
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def test_scan_does_not_choose_damaged_frames(folder):
    units = damaged.encode(folder / "walk.y4m", FIXED, 0, FRAMES)
    whole, holed = folder / "whole.mkv", folder / "holed.mkv"
    record(units, whole)
    assert {row["damaged"] for row in scanned(whole)} == {"0"}
    # The third slice of frame 40, whose damage lasts until the keyframe at 60.
    pts, unit, key = units[40]
    nals = [n for n in unit.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1") if n]
    slices = [n for n in nals if n[0] & 31 in (1, 5)]
    assert len(slices) == 4 and units[60][2], "as encoded"
    units[40] = (pts, b"".join(b"\0\0\0\1" + n for n in nals if n is not slices[2]), key)
    record(units, holed)
    manifest = folder / "manifest.json"
    rows = scanned(holed, "--every", "5", "--manifest", manifest)
    assert [int(r["frame"]) for r in rows if r["damaged"] == "1"] == list(range(40, 60)), rows
    said = json.loads(manifest.read_bytes())
    chosen = [f["frame"] for f in said["frames"]]
    assert chosen and not set(chosen) & set(range(40, 60)) and max(chosen) > 60, chosen
    assert said["counts"]["damaged"] == 20, said["counts"]
    picks = json.loads(run(TOOL, "-q", "--set", "--best", "90", "--manifest", manifest, holed) and manifest.read_bytes())
    assert not {f["frame"] for f in picks["frames"]} & set(range(40, 60)), picks["frames"]


def parses_jpeg():
    """Whether decodebin puts a parser before decoders of JPEG, as since GStreamer 1.28: it drops what is not whole."""
    parser = Gst.ElementFactory.find("jpegparse")
    return parser is not None and parser.get_rank() > Gst.Rank.NONE


def test_photograph_without_its_end_is_not_chosen(folder):
    launch("filesrc location={clip} ! y4mdec ! videoconvert ! jpegenc quality=95 ! multifilesink location={photo}",
           clip=folder / "walk.y4m", photo=folder / "photo-%02d.jpg")
    whole = [folder / f"photo-{i:02d}.jpg" for i in range(4)]
    cut = folder / "cut.jpg"
    for part in (0.3, 0.9, 1):
        data = whole[0].read_bytes()
        cut.write_bytes(data[:int(part * len(data)) - 1])
        done = run(TOOL, "-q", "--set", "--best", "9", "--manifest", folder / "set.json", *whole, cut, check=int(parses_jpeg()))
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        said = json.loads((folder / "set.json").read_bytes())
        assert sorted(frame["source"] for frame in said["frames"]) == sorted(map(str, whole)), said
        assert [r["source"] for r in said["rejected"]] == [str(cut)], said
        if parses_jpeg():
            assert [row["damaged"] for row in rows] == ["0"] * 4 and b"cut.jpg" in done.stderr, (rows, done.stderr)
            continue
        assert [row["damaged"] for row in rows] == ["1"] + ["0"] * 4, rows  # in the order of their names
        if part < 1:
            assert float(rows[0]["score"]) > float(rows[1]["score"]), "it would have won"
        assert said["rejected"][0]["reason"] == "damaged", said
    cut.write_bytes(whole[0].read_bytes() + b"what cameras add")
    assert scanned(cut)[0]["damaged"] == "0"


Gst.init(None)
ABSENT = missing(*damaged.DECODERS)
sys.exit(run_tests(globals(), make_clips, needs=("x264enc", "rtph264pay", "matroskamux", "y4mdec", "jpegenc",
                                                  *(damaged.DECODERS[:1] if len(ABSENT) == len(damaged.DECODERS) else ()))))
