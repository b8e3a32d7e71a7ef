# SPDX-License-Identifier: LGPL-2.1-or-later
"""The images of framequality-scan: upright, in full depth, with EXIF, of the frames asked for.

usage: scan_pictures.py PROGRAM; needs Pillow, else it is skipped.
"""
import base64
import calendar
import csv
import io
import os
import re
import struct
import sys
import zlib
from random import Random

from harness import launch, run, run_tests

try:
    from PIL import Image, ImageChops, ImageOps, ImageStat
except ImportError:
    print("SKIPPED: python3-pil is not installed")
    sys.exit(77)

TOOL = os.path.abspath(sys.argv[1])
# What a track header holds for pictures to be turned clockwise by so many degrees, in 16.16 and 2.30 fixed point.
ONE, MINUS = 0x10000, 0xFFFF0000
MATRICES = {90: (0, ONE, MINUS, 0), 180: (MINUS, 0, 0, MINUS), 270: (0, MINUS, ONE, 0)}
EPOCH = calendar.timegm((1904, 1, 1, 0, 0, 0))
ORIENTATION, DESCRIPTION, MAKE, MODEL, DATE, GPS = 0x112, 0x10E, 0x10F, 0x110, 0x132, 0x8825


def scan(*arguments, check=0):
    return list(csv.DictReader(io.StringIO(run(TOOL, "-q", *arguments, check=check).stdout.decode(), newline="")))


def pictures(folder):
    """By the frame's number."""
    return {int(re.search(r"_f(\d+)_", path.name)[1]): path for path in sorted(folder.iterdir())}


def turned_by(movie, degrees):
    """The movie's bytes with another matrix in its only track header."""
    data = bytearray(movie)
    at = data.index(b"tkhd") + 44
    a, b, c, d = MATRICES[degrees]
    struct.pack_into(">9I", data, at, a, b, 0, c, d, 0, 0, 0, 0x40000000)
    return bytes(data)


def chunks_of(path):
    data, at, found = path.read_bytes(), 8, []
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        found.append((kind.decode(), data[at + 8:at + 8 + size]))
        at += 12 + size
    return found


def samples_of(path):
    """Rows of a PNG's samples, as PNG's filters say; width, height, bits and colour type."""
    chunks = chunks_of(path)
    width, height, bits, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    step = bits // 8 * {0: 1, 2: 3}[kind]
    data = zlib.decompress(b"".join(content for name, content in chunks if name == "IDAT"))
    above, rows = bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        how, row = data[start], bytearray(data[start + 1:start + 1 + width * step])
        for x, value in enumerate(row):
            left, corner = (row[x - step], above[x - step]) if x >= step else (0, 0)
            guess = left + above[x] - corner
            paeth = min((left, above[x], corner), key=lambda near: abs(guess - near))  # pylint: disable=cell-var-from-loop
            row[x] = (value + (0, left, above[x], (left + above[x]) // 2, paeth)[how]) & 255
        rows.append(bytes(row))
        above = row
    return (width, height, bits, kind), rows


class Clips:
    def __init__(self, folder):
        self.folder = folder
        # Frames without loss, in a container that says how they are turned.
        launch("videotestsrc num-buffers=12 pattern=ball ! video/x-raw,format=RGB,width=64,height=48,framerate=4/1 ! pngenc"
               " ! qtmux ! filesink location={path}", path=folder / "wide.mov")
        self.movie = (folder / "wide.mov").read_bytes()

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def out(self, name):
        return self.folder / ("out " + name)


def test_turned_as_players_do(clips):
    for degrees in MATRICES:
        path = clips.file(f"turned{degrees}.mov", turned_by(clips.movie, degrees))
        report = clips.folder / "r.html"
        scan(path, "--best", "3", "--export", clips.out(f"{degrees}"), "--report", report)
        launch("filesrc location={path} ! qtdemux ! pngdec ! videoflip video-direction=auto ! videoconvert"
               " ! video/x-raw,format=RGB ! filesink location={raw}", path=path, raw=clips.folder / "raw")
        raw = (clips.folder / "raw").read_bytes()
        size = (64, 48) if degrees == 180 else (48, 64)
        found = pictures(clips.out(f"{degrees}"))
        assert len(found) == 3, found
        for number, picture in found.items():
            image = Image.open(picture)
            assert image.size == size and image.mode == "RGB", (degrees, image)
            frame = 64 * 48 * 3
            assert image.tobytes() == raw[number * frame:(number + 1) * frame], (degrees, number)
            assert image.getexif()[ORIENTATION] == 1
        thumbnails = re.findall(r"data:image/jpeg;base64,([A-Za-z0-9+/=]+)", report.read_text())
        assert thumbnails, "no picture in the report"
        assert {Image.open(io.BytesIO(base64.b64decode(text))).size for text in thumbnails} == {size}
    # The scores are of the stored pixels.
    assert [row["score"] for row in scan(path)] == [row["score"] for row in scan(clips.folder / "wide.mov")]


def test_photographs_in_all_eight_orientations(clips):
    photo = Image.effect_noise((8, 6), 90).resize((160, 120), Image.BICUBIC)
    photo = Image.merge("RGB", (photo, ImageOps.mirror(photo), ImageOps.flip(photo)))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[ORIENTATION], exif[MAKE], exif[MODEL], exif[DATE] = orientation, "Maker", "Model 7", "2019:05:06 07:08:09"
        exif[GPS] = {1: "N", 2: (48.0, 30.0, 0.0), 3: "E", 4: (9.0, 15.0, 0.0)}
        path = clips.folder / f"photo{orientation}.jpg"
        photo.save(path, quality=98, exif=exif)
        launch("filesrc location={path} ! jpegparse ! jpegdec ! videoconvert ! video/x-raw,format=RGB"
               " ! filesink location={raw}", path=path, raw=clips.folder / "raw")
        stored = Image.frombytes("RGB", photo.size, (clips.folder / "raw").read_bytes())
        stored.getexif()[ORIENTATION] = orientation
        expected = ImageOps.exif_transpose(stored)
        for form in ("png", "jpeg"):
            out = clips.out(f"{orientation}{form}")
            scan(path, "--best", "1", "--export", out, "--pictures", form)
            picture, = out.iterdir()
            assert picture.suffix == (".jpg" if form == "jpeg" else ".png")
            image = Image.open(picture)
            assert image.size == expected.size == ((120, 160) if orientation > 4 else (160, 120)), (orientation, form)
            off = max(ImageStat.Stat(ImageChops.difference(image, expected)).mean)
            assert off < 2 if form == "jpeg" else off == 0, (orientation, form, off)
            read = image.getexif()
            assert (read[ORIENTATION], read[MAKE], read[MODEL]) == (1, "Maker", "Model 7"), dict(read)
            assert read[DATE] == "2019:05:06 07:08:09", dict(read)
            place = read.get_ifd(GPS)
            assert place[1] == "N" and float(place[2][0]) == 48 and abs(float(place[2][1]) - 30) < 0.01, place
            assert re.match(rf"photo{orientation}\.jpg, frame 0, .*tenengrad \d", read[DESCRIPTION]), read[DESCRIPTION]
            if form == "jpeg":
                assert image.layer[0][1:3] == (1, 1), image.layer  # chroma in full size


def test_exif_counts_the_clips_time_on(clips):
    data = bytearray(clips.movie)
    struct.pack_into(">I", data, data.index(b"mvhd") + 8, calendar.timegm((2020, 2, 29, 23, 59, 58, 0, 0, 0)) - EPOCH)
    path = clips.file("dated, and turned.mov", turned_by(data, 90))
    scan(path, "--every", "4", "--export", clips.out("dated"), "--pictures", "jpeg")
    found = pictures(clips.out("dated"))
    assert len(found) == 3, found
    for number, picture in found.items():
        exif = Image.open(picture).getexif()
        assert exif[DATE] == ("2020:02:29 23:59:58", "2020:02:29 23:59:59", "2020:03:01 00:00:00")[number // 4], dict(exif)
        score = picture.stem.rsplit("_", 1)[1]
        assert exif[DESCRIPTION] == f"dated, and turned.mov, frame {number}, {number / 4:.3f} s, tenengrad {score}"


def test_ten_bits_stay(clips):
    hlg = "video/x-raw,format=I420_10LE,width=64,height=48,framerate=4/1,colorimetry=bt2100-hlg"
    path, raw = clips.folder / "deep.mkv", clips.folder / "deep.raw"
    launch("videotestsrc num-buffers=4 pattern=smpte ! video/x-raw,format=ARGB64 ! videoconvert ! " + hlg +
           " ! avenc_ffv1 ! matroskamux ! filesink location={path}", path=path)
    # RGB of the same colours: what differs are matrix and range.
    launch("filesrc location={path} ! matroskademux ! avdec_ffv1 ! videoconvert"
           " ! video/x-raw,format=ARGB64_BE,colorimetry=1:1:14:7 ! filesink location={raw}", path=path, raw=raw)
    scan(path, "--every", "1", "--export", clips.out("deep"))
    argb = raw.read_bytes()
    found = pictures(clips.out("deep"))
    assert len(found) == 4
    values = set()
    for number, picture in found.items():
        about, rows = samples_of(picture)
        assert about == (64, 48, 16, 2), about
        frame = argb[number * 64 * 48 * 8:(number + 1) * 64 * 48 * 8]
        expected = b"".join(frame[i + 2:i + 8] for i in range(0, len(frame), 8))
        assert b"".join(rows) == expected, number
        values.update(struct.unpack(f">{len(expected) // 2}H", expected))
        names = [name for name, _ in chunks_of(picture)]
        assert names[0] == "IHDR" and names.index("cICP") < names.index("IDAT") and "eXIf" in names, names
        assert dict(chunks_of(picture))["cICP"] == bytes((9, 18, 0, 1))
    assert any(value % 257 for value in values)  # more than 8 bits of them
    # Ordinary colours need no word.
    scan(clips.folder / "wide.mov", "--best", "1", "--export", clips.out("plain"))
    picture, = clips.out("plain").iterdir()
    assert samples_of(picture)[0] == (64, 48, 8, 2) and "cICP" not in dict(chunks_of(picture))
    # As a JPEG it is of 8 bits, and close.
    scan(path, "--best", "1", "--export", clips.out("shallow"), "--pictures", "jpeg")
    picture, = clips.out("shallow").iterdir()
    number, = pictures(clips.out("shallow"))
    frame = argb[number * 64 * 48 * 8:(number + 1) * 64 * 48 * 8]
    eight = Image.frombytes("RGB", (64, 48), b"".join(frame[i + 2:i + 8:2] for i in range(0, len(frame), 8)))
    assert max(ImageStat.Stat(ImageChops.difference(Image.open(picture), eight)).mean) < 4


def deep_png(width, height, pixels, opaque):
    """A PNG of 16 bits a channel, with an opaque alpha or without. pixels: (red, green, blue), row by row."""
    alpha = (0xFFFF,) if opaque else ()
    rows = b"".join(b"\0" + b"".join(struct.pack(f">{3 + len(alpha)}H", *pixel, *alpha) for pixel in pixels[y * width:][:width])
                    for y in range(height))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 6 if opaque else 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)),
              (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(content)) + name + content +
                                            struct.pack(">I", zlib.crc32(name + content)) for name, content in chunks)


def test_deep_images_with_and_without_alpha_score_alike(clips):
    """GStreamer 1.22 decodes those without one sample too far."""
    width, height, random = 96, 64, Random(7)
    pixels = [tuple(random.randrange(0xFFFF) for _ in range(3)) for _ in range(width * height)]
    scores = [float(row["score"]) for row in scan(*(clips.file(f"deep{opaque}.png", deep_png(width, height, pixels, opaque))
                                                    for opaque in (0, 1)))]
    # The last pixel's blue is lost there: one sample of 6,144.
    assert abs(scores[0] / scores[1] - 1) < 1e-3, scores


def test_pixels_become_square(clips):
    path = clips.folder / "anamorphic.mkv"
    launch("videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=64,height=48,framerate=4/1,pixel-aspect-ratio=3/2"
           " ! avenc_ffv1 ! matroskamux ! filesink location={path}", path=path)
    for form in ("png", "jpeg"):
        scan(path, "--best", "1", "--export", clips.out("square " + form), "--pictures", form)
        picture, = clips.out("square " + form).iterdir()
        assert Image.open(picture).size == (96, 48), picture


def first_best(rows, window, place, apart):
    """Numbers of the frames that the rule of --every asks for."""
    chosen, least, begin = [], 0, place(rows[0])
    for part in range(int((place(rows[-1]) - begin) // window) + 1):
        fit = [row for row in rows if (place(row) - begin) // window == part and (not chosen or place(row) >= least)]
        if fit:
            best = max(fit, key=lambda row: float(row["score"]))
            chosen.append(int(best["frame"]))
            least = place(best) + apart
    return chosen


def test_every_so_often(clips):
    clip = clips.folder / "long.mkv"
    launch("videotestsrc num-buffers=103 pattern=ball ! video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
           " ! avenc_ffv1 ! matroskamux ! filesink location={path}", path=clip)
    rows = scan(clip, "--every", "10", "--export", clips.out("frames"))
    found = sorted(pictures(clips.out("frames")))
    assert found == first_best(rows, 10, lambda row: int(row["frame"]), 5), found
    assert len(found) >= 9
    ns = lambda row: round(float(row["time"]) * 1e9)
    rows = scan(clip, "--every", "0.5s", "--export", clips.out("seconds"))
    found = sorted(pictures(clips.out("seconds")))
    assert found == first_best(rows, 500_000_000, ns, 250_000_000), found
    times = [ns(rows[number]) for number in found]
    assert len(found) >= 8 and all(b - a >= 250_000_000 for a, b in zip(times, times[1:])), times
    # No container, so neither length nor times: frames can be counted all the same.
    bare = clips.folder / "bare.mjpeg"
    launch("videotestsrc num-buffers=30 pattern=ball ! video/x-raw,width=64,height=48 ! jpegenc ! filesink location={path}",
           path=bare)
    rows = scan(bare, "--every", "7", "--export", clips.out("bare"))
    assert sorted(pictures(clips.out("bare"))) == first_best(rows, 7, lambda row: int(row["frame"]), 3)
    scan(bare, "--every", "1s", "--export", clips.out("timeless"))
    assert len(pictures(clips.out("timeless"))) == 1
    # All frames of several files at once: nothing is lost on the way through the threads.
    many = clips.out("many")
    scan(clip, clip, clip, clips.folder / "wide.mov", "--every", "1", "--export", many, "--jobs", "4")
    assert len(list(many.iterdir())) == 3 * 103 + 12 and not [path for path in many.iterdir() if path.suffix != ".png"]


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Clips, needs=("pngenc", "avenc_ffv1", "jpegenc", "qtmux", "matroskamux")))
