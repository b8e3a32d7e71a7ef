# SPDX-License-Identifier: LGPL-2.1-or-later
"""The recipes that docs/elements/sharpnessgate.md gives, on a made clip: what they write is what the scores say it should
be.

Each survivor is told by its number, drawn into the picture, and by its time.
"""
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from harness import LIMIT

WIDTH, HEIGHT, RATE, FRAMES = 160, 120, 25, 90
FRAME = Gst.SECOND // RATE
METER = re.compile(r"(sharpnessmeter[^!]*?)post-messages=false")
CLIP = "filesrc location=walk.mkv ! matroskademux ! avdec_ffv1"


def blurred(rows):
    """Each pixel the mean of 3x3, edges repeated."""
    def across(row):
        return [(row[max(x - 1, 0)] + row[x] + row[min(x + 1, WIDTH - 1)]) / 3 for x in range(WIDTH)]
    rows = [across(row) for row in rows]
    return [[(a + b + c) / 3 for a, b, c in zip(rows[max(y - 1, 0)], rows[y], rows[min(y + 1, HEIGHT - 1)])]
            for y in range(HEIGHT)]


def make_clip(folder):
    """walk.mkv: a hand-held walk, sharp for moments only, each frame with its number in four flat squares."""
    rows, levels, state = [], [], 1
    for _ in range(HEIGHT):
        rows.append([])
        for _ in range(WIDTH):
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            rows[-1].append(60 + (state >> 16) % 128)
    for _ in range(8):
        levels.append([bytes(int(v) for v in row) for row in rows])
        rows = blurred(rows)
    with open(folder / "walk.raw", "wb") as raw:
        for i in range(FRAMES):
            # Four frames much blurred and one sharpest in 17, which lie anywhere in a second.
            picture = list(levels[(7, 7, 7, 7, 3, 3, 2, 2, 1, 0, 1, 1, 2, 2, 3, 3, 3)[i % 17]])
            for y in range(16):
                digits = b"".join(bytes([76 + 32 * (i >> shift & 3)]) * 16 for shift in (6, 4, 2, 0))
                picture[y] = digits + picture[y][64:]
            raw.write(b"".join(picture))
    launch(folder, f"filesrc location=walk.raw ! rawvideoparse format=gray8 width={WIDTH} height={HEIGHT} "
           f"framerate={RATE}/1 ! videoconvert ! video/x-raw,format=I420 ! avenc_ffv1 ! matroskamux ! "
           "filesink location=walk.mkv")


def launch(folder, pipeline):
    run = subprocess.run(["bash", "-c", f"gst-launch-1.0 -e {pipeline}"], cwd=folder, capture_output=True, text=True,
                         timeout=LIMIT, check=False)
    assert run.returncode == 0, f"{pipeline}\n{run.stdout[-1000:]}{run.stderr[-2000:]}"
    return run


def frames_of(folder, source):
    """(number, stream time) of each picture that source gives."""
    pipeline = Gst.parse_launch(f"{source} ! videoconvert ! video/x-raw,format=GRAY8 ! fakesink name=s sync=false"
                                .replace("location=", f"location={folder}/"))
    found, segment = [], Gst.Segment()

    def probe(pad, info):
        if info.type & Gst.PadProbeType.EVENT_DOWNSTREAM:
            event = info.get_event()
            if event.type == Gst.EventType.SEGMENT:
                event.copy_segment(segment)
        else:
            buffer = info.get_buffer()
            data = buffer.extract_dup(0, buffer.get_size())
            number = 0
            for x in (8, 24, 40, 56):
                number = number * 4 + (data[8 * WIDTH + x] - 60) // 32
            found.append((number, segment.to_stream_time(Gst.Format.TIME, buffer.pts)))
        return Gst.PadProbeReturn.OK

    pad = pipeline.get_by_name("s").get_static_pad("sink")
    pad.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, probe)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(LIMIT * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message is not None and message.type == Gst.MessageType.EOS, f"{source}: {message and message.parse_error()}"
    return found


def scores_of(folder, meter):
    out = launch(folder, f"-m {CLIP} ! videoconvert ! {meter} ! fakesink").stdout
    scores = [float(v) for v in re.findall(r"sharpnessmeter, .*score=\(double\)([-+.e0-9]+)", out)]
    assert len(scores) == FRAMES, len(scores)
    return scores


def best_of(scores, length):
    """Numbers of the sharpest frames, the first of equals, of windows of so many frames."""
    return [max(range(k, min(k + length, FRAMES)), key=lambda i: (scores[i], -i)) for k in range(0, FRAMES, length)]


def recipes(page):
    """The gst-launch lines of the gate's page, those too that need a camera."""
    text = "".join(re.findall(r"^```sh[^\n]*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    return [re.sub(r"\s+", " ", line).removeprefix("gst-launch-1.0 ").removeprefix("-e ")
            for line in text.splitlines() if line.startswith("gst-launch-1.0")]


def by_level(scores, ratio, ahead=6):
    """Numbers of the frames that pass mode=relative with the default window of a second."""
    def level(i):
        windows = [scores[max(k, 0):k + ahead + 1] for k in range(i - ahead, i + 1) if k + ahead < FRAMES]
        filled = min(max(window) for window in windows)
        before, after = scores[max(0, i - RATE + 1):i + 1], scores[i:i + ahead + 1]
        return min(filled, max(statistics.median(before), statistics.median(after)))
    return [i for i in range(FRAMES) if scores[i] >= ratio * level(i)]


def by_threshold(scores, least, resume):
    """Numbers of the frames that pass mode=threshold."""
    passed, blocking = [], False
    for i, score in enumerate(scores):
        blocking = score < (resume if blocking else least)
        if not blocking:
            passed.append(i)
    return passed


def check_recording(folder, recipe):
    """What passes is in the file, each frame at its time after the first. A file of a fixed rate shows the nearest."""
    scores = scores_of(folder, METER.search(recipe)[1])
    if "min-score" in recipe:
        # The page's numbers are for some camera; these drop the start of the clip and make the two differ.
        least, resume = sorted(scores)[FRAMES // 2], sorted(scores)[FRAMES * 2 // 3]
        recipe = re.sub(r"min-score=\S+ resume-score=\S+", f"min-score={least!r} resume-score={resume!r}", recipe)
        want = by_threshold(scores, least, resume)
        assert want[0] > 0 and want != by_threshold(scores, least, least), want
    else:
        want = by_level(scores, 0.8)
    assert 10 < len(want) < FRAMES - 10, want
    launch(folder, recipe)
    got = frames_of(folder, f"filesrc location={re.search(r'filesink location=(.*)', recipe)[1]} ! decodebin")
    numbers = [number for number, _ in got]
    if "videorate" in recipe:
        # videorate does not fill up to the end.
        assert len(got) > want[-1] - RATE and set(numbers) == set(want), f"{recipe}\ngot  {numbers}\nwant {want}"
        far = [(k, n) for k, n in enumerate(numbers) if abs(k - n) > min(abs(k - i) for i in want)]
        assert not far, f"{recipe}: {far}"
        return len(got)
    assert numbers == want, f"{recipe}\ngot  {got}\nwant {want}"
    # These muxers begin a file with its first frame.
    late = [(number, time) for number, time in got if abs(time - (number - want[0]) * FRAME) > Gst.MSECOND]
    assert not late, f"{recipe}: {late}"
    return len(want)


def check_pictures(folder, recipe):
    """One picture of each second, and it is the sharpest."""
    launch(folder, recipe)
    pictures = sorted(folder.glob("picture-*.jpg"))
    numbers = [frames_of(folder, f"filesrc location={picture.name} ! jpegdec")[0][0] for picture in pictures]
    scores = scores_of(folder, METER.search(recipe)[1])
    want = best_of(scores, RATE)
    assert numbers == want, f"{recipe}\ngot  {numbers}\nwant {want}"
    return len(numbers)


def check_sweep(folder, pictures):
    """Of a microscope's focus sweep, the picture that the gate picks is one of those in focus."""
    for i, picture in enumerate(pictures):
        (folder / f"sweep-{i:03}.png").symlink_to(picture.resolve())
    out = launch(folder, "-m multifilesrc location=sweep-%03d.png caps=image/png,framerate=10/1 ! pngdec ! "
                 f"videoconvert ! sharpnessmeter ! sharpnessgate mode=best-of window-frames={len(pictures)} ! "
                 "fakesink").stdout
    picked = re.findall(r"sharpnessgate, timestamp=\(guint64\)(\d+)", out)
    assert len(picked) == 1, out
    at = float(pictures[int(picked[0]) // (Gst.SECOND // 10)].stem)
    assert 1.36 <= at <= 1.50, at
    return at


def main():
    Gst.init(None)
    needed = ["avenc_ffv1", "matroskamux", "x264enc", "mp4mux", "avdec_h264", "jpegenc", "avimux", "multifilesink"]
    missing = [name for name in needed if Gst.ElementFactory.find(name) is None]
    if missing:
        print("SKIPPED: not installed:", *missing)
        return 77
    written = {"filesink": 0, "multifilesink": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_clip(folder)
        for recipe in recipes(pathlib.Path(sys.argv[1]) / "docs" / "elements" / "sharpnessgate.md"):
            here = recipe.replace("v4l2src", CLIP).replace("filesrc location=walk.mp4 ! decodebin", CLIP)
            if "window-displacement" in here:
                continue  # displacement.py runs it
            if "multifilesink" in here:
                print(check_pictures(folder, here), "pictures:", recipe)
                written["multifilesink"] += 1
            elif "filesink" in here:
                print(check_recording(folder, here), "frames:", recipe)
                written["filesink"] += 1
        sweep = sorted((pathlib.Path(sys.argv[1]) / ".." / "shared" / "media" / "sweep-mesh").glob("*.png"),
                       key=lambda picture: float(picture.stem))
        print("focus sweep:", f"{check_sweep(folder, sweep)} mm" if sweep else "not here, left out")
    assert written["filesink"] >= 3 and written["multifilesink"] >= 1, written
    return 0


sys.exit(main())
