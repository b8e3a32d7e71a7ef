# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan on what GStreamer does not decode itself, HEIC, AVIF and raw files, and on standard input.

usage: scan_formats.py PROGRAM HEIF RAW; 1 or 0: the program was built with libheif, with LibRaw
"""
import csv
import io
import os
import shutil
import struct
import subprocess
import sys

from harness import LIMIT, launch, plain, run, run_tests
from photographs import exif, photograph

TOOL = os.path.abspath(sys.argv[1])
HEIF, RAW = (argument == "1" for argument in sys.argv[2:4])


def scan(*arguments, **how):
    return run(TOOL, *arguments, **how)


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"), newline="")))


def dng(preview, width=64, height=48, flip=1):
    """The smallest raw file with a preview: a mosaic of grey, and this JPEG."""
    def directory(entries, at, following=0):
        head, data = struct.pack("<H", len(entries)), b""
        begin = at + 2 + 12 * len(entries) + 4
        for tag, kind, values in sorted(entries):
            code = {1: "B", 2: "B", 3: "H", 4: "I"}[kind]
            packed = struct.pack(f"<{len(values)}{code}", *values)
            if len(packed) > 4:
                head += struct.pack("<HHII", tag, kind, len(values), begin + len(data))
                data += packed + b"\0" * (len(packed) % 2)
            else:
                head += struct.pack("<HHI4s", tag, kind, len(values), packed)
        return head + struct.pack("<I", following) + data

    mosaic = struct.pack("<H", 2000) * (width * height)

    def first(below, jpeg):
        return [(0xFE, 4, [1]), (0x100, 4, [160]), (0x101, 4, [120]), (0x102, 3, [8, 8, 8]), (0x103, 3, [7]), (0x106, 3, [6]),
                (0x10F, 2, b"Maker\0"), (0x110, 2, b"Model\0"), (0x111, 4, [jpeg]), (0x112, 3, [flip]), (0x115, 3, [3]), (0x116, 4, [120]),
                (0x117, 4, [len(preview)]), (0x14A, 4, [below]), (0x132, 2, b"2024:05:06 07:08:09\0"), (0xC612, 1, [1, 4, 0, 0]),
                (0xC614, 2, b"Maker Model\0")]

    def below(at):
        return [(0xFE, 4, [0]), (0x100, 4, [width]), (0x101, 4, [height]), (0x102, 3, [16]), (0x103, 3, [1]), (0x106, 3, [32803]),
                (0x111, 4, [at]), (0x115, 3, [1]), (0x116, 4, [height]), (0x117, 4, [len(mosaic)]), (0x828D, 3, [2, 2]), (0x828E, 1, [0, 1, 1, 2])]

    second = 8 + len(directory(first(0, 0), 8))
    data = second + len(directory(below(0), second))
    return (b"II*\0" + struct.pack("<I", 8) + directory(first(second, data + len(mosaic)), 8) + directory(below(data), second) + mosaic + preview)


def encoded(folder, name, source="scene.png"):
    """Whether heif-enc makes this file."""
    if not (folder / source).exists():
        launch("videotestsrc num-buffers=1 pattern=smpte100 ! video/x-raw,width=321,height=201 ! pngenc ! filesink location={path}", path=folder / source)
    kind = ["--avif"] if name.endswith(".avif") else []
    return shutil.which("heif-enc") and subprocess.run(["heif-enc", *kind, "-q", "95", "-o", folder / name, folder / source], timeout=LIMIT,
                                                       check=False, capture_output=True).returncode == 0


def test_heif(folder):
    for name in ("a.heic", "a.avif"):
        if not encoded(folder, name):
            print(f"not tested: heif-enc makes no {name}")
            continue
        if not HEIF:
            assert b"heif-convert" in scan("-q", name, cwd=folder, check=1).stderr
            continue
        near = float(rows_of(scan("-q", "scene.png", cwd=folder))[0]["score"])
        rows = rows_of(scan("-q", name, cwd=folder))
        # Other weights of the colours, and a lossy encoder.
        assert len(rows) == 1 and rows[0]["frame"] == "0" and 0.8 < float(rows[0]["score"]) / near < 1.25, (rows, near)
        scan("-q", "--set", "--best", "1", "--export", name + "-out", name, cwd=folder)
        assert (folder / (name + "-out") / name).read_bytes() == (folder / name).read_bytes()
        data = (folder / name).read_bytes()
        (folder / ("cut" + name)).write_bytes(data[: len(data) // 2])
        done = scan("-q", "cut" + name, cwd=folder, check=1)
        assert b"libheif cannot decode it" in done.stderr and not rows_of(done), done.stderr


def test_raw_previews(folder):
    preview = photograph(folder / "preview.jpg", "smpte100", exif("2024:05:06 07:08:09")).read_bytes()
    (folder / "IMG_1.DNG").write_bytes(dng(preview))
    (folder / "broken.nef").write_bytes(b"no raw file" * 100)
    if not RAW:
        assert b"libraw-dev" in scan("-q", "IMG_1.DNG", cwd=folder, check=1).stderr
        return
    like = rows_of(scan("-q", "preview.jpg", cwd=folder))[0]["score"]
    rows = rows_of(scan("-q", "IMG_1.DNG", cwd=folder))
    assert len(rows) == 1 and rows[0]["score"] == like, (rows, like)
    done = scan("-q", "broken.nef", cwd=folder, check=1)
    assert b"broken.nef: LibRaw" in done.stderr, done.stderr
    # The rating goes where Lightroom looks for it.
    scan("-q", "--set", "--best", "1", "--xmp", "IMG_1.DNG", cwd=folder)
    assert (folder / "IMG_1.xmp").exists()


def test_what_is_skipped_is_counted(folder):
    album = folder / "album"
    (album / "below").mkdir(parents=True)
    photograph(album / "a.jpg")
    for name in ("notes.TXT", "a.jpg.xmp", "below/b.txt", "README", ".hidden"):
        (album / name).write_text("no image")
    done = scan("album", cwd=folder)
    assert b"skipped in folders: 4 files that are not images or videos (2 .txt, 1 without extension, 1 .xmp)" in done.stderr, done.stderr
    assert b"skipped" not in scan("-q", "album", cwd=folder).stderr


def piped(folder, muxer, *arguments, check=0, caps="format=I420"):
    """A run whose standard input is a clip of 30 frames as it is made."""
    source = subprocess.Popen(
        ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=30", "pattern=ball", "!", f"video/x-raw,{caps},width=160,height=120,framerate=25/1",
         "!", *muxer.split(), "!", "fdsink"], stdout=subprocess.PIPE, env=plain())
    try:
        return scan("-q", *arguments, "-", cwd=folder, stdin=source.stdout, check=check)
    finally:
        source.stdout.close()
        source.kill()
        source.wait(LIMIT)


def test_standard_input(folder):
    launch("videotestsrc num-buffers=30 pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! y4menc"
           " ! filesink location={path}", path=folder / "clip.y4m")
    as_file = rows_of(scan("-q", "clip.y4m", cwd=folder))
    rows = rows_of(piped(folder, "y4menc"))
    assert [row["score"] for row in rows] == [row["score"] for row in as_file] and len(rows) == 30
    assert {row["file"] for row in rows} == {"-"} and rows[25]["time"] == "1.000000000", rows[25]
    assert len(rows_of(piped(folder, "jpegenc ! matroskamux streamable=true"))) == 30
    # Images of it, and a report without any.
    piped(folder, "y4menc", "--every", "10", "--export", "out", "--report", "r.html")
    assert len(os.listdir(folder / "out")) == 3 and all(name.startswith("stdin_f0000") for name in os.listdir(folder / "out"))
    assert '"name":"-"' in (folder / "r.html").read_text("utf-8")


def test_raw_video_as_ffmpeg_writes_it(folder):
    """FFmpeg's fields for applications make a header longer than the decoder of GStreamer 1.22 reads."""
    launch("videotestsrc num-buffers=30 pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! y4menc"
           " ! filesink location={path}", path=folder / "short.y4m")
    header, frames = (folder / "short.y4m").read_bytes().split(b"\n", 1)
    size = len(b"FRAME\n") + 160 * 120 * 3 // 2
    assert len(frames) == 30 * size
    long = b"YUV4MPEG2 W160 H120 F25:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED XTHE=REST\n"
    assert len(header) < 80 < len(long)
    (folder / "long.y4m").write_bytes(long + frames)
    wanted = [row["score"] for row in rows_of(scan("-q", "short.y4m", cwd=folder))]
    assert len(wanted) == 30
    for arguments in ([], ["--segments", "3"], ["--best", "2", "--export", "out"]):  # the last two seek
        rows = rows_of(scan("-q", *arguments, "long.y4m", cwd=folder))
        assert [row["score"] for row in rows] == wanted, arguments
    assert os.listdir(folder / "out")
    piece = (folder / "long.y4m").read_bytes()
    assert [row["score"] for row in rows_of(run(TOOL, "-q", "-", input=piece))] == wanted
    # Ten bits are decoded or refused, but never taken for something else.
    deep = b"YUV4MPEG2 W160 H120 F25:1 Ip A1:1 C420p10 XYSCSS=420P10\n"
    for at in range(6, 30 * size, size):
        deep += b"FRAME\n" + b"".join((code << 2).to_bytes(2, "little") for code in frames[at:at + size - 6])
    (folder / "deep.y4m").write_bytes(deep)
    done = subprocess.run([TOOL, "-q", "deep.y4m"], cwd=folder, capture_output=True, timeout=LIMIT, check=False)
    if done.returncode == 0:
        assert [float(row["score"]) for row in rows_of(done)] == [float(score) for score in wanted]
    else:
        assert b"8-bit color" in done.stderr and b"420p10" in done.stderr and len(rows_of(done)) == 0, done


def test_standard_input_that_is_no_video(folder):
    done = run(TOOL, "-q", "-", input=b"no video at all " * 1000, check=1)
    assert b"yuv4mpegpipe" in done.stderr, done.stderr
    done = run(TOOL, "-q", "-", input=b"", check=1)
    assert done.stderr, done
    for arguments in (["--set", "--best", "1", "--report", "r.html"], ["--best", "3", "--export", "out"], ["--output", "tables"], ["-"],
                      ["--files-from", "-"]):
        done = run(TOOL, *arguments, "-", input=b"", check=2, cwd=folder)
        assert b"standard input (-) can only be read once" in done.stderr, (arguments, done.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
