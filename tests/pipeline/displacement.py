# SPDX-License-Identifier: LGPL-2.1-or-later
"""Choosing by displacement: framequality-scan --every N%, and the recipe of sharpnessgate, on a walk whose way is known.

usage: displacement.py SOURCE_ROOT SCAN
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

from harness import LIMIT, launch, run, run_tests

ROOT, TOOL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
WIDTH, HEIGHT, RATE = 320, 180, 25
DIAGONAL = float(np.hypot(WIDTH, HEIGHT))
CLIP = "walk.mkv"


def world(seed):
    """Noise of all scales, as photographs have it."""
    random, total = np.random.default_rng(seed), np.zeros((512, 1024))
    for size in (4, 8, 16, 32, 64, 128):
        coarse = random.normal(size=(512 // size + 1, 1024 // size + 1))
        total += np.kron(coarse, np.ones((size, size)))[:512, :1024] * size ** 0.7
    return np.clip(128 + total * 40 / total.std(), 0, 255)


def way():
    """(world, x, y, is sharp) of each frame: a second at rest, three of walking, half a second at rest, a cut, a walk."""
    frames = [(0, 100, 100, True)] * 25
    frames += [(0, 100 + 6 * i, 100 + 2 * i, i % 5 == 0) for i in range(75)]
    frames += [(0, 544, 248, True)] * 12
    frames += [(1, 300 - 4 * i, 200, i % 5 == 0) for i in range(50)]
    return frames


def view(worlds, number, x, y, is_sharp):
    rows = worlds[number][y:y + HEIGHT + 4, x:x + WIDTH + 4]
    if is_sharp:
        return rows[2:-2, 2:-2]
    return sum(rows[j:j + HEIGHT, i:i + WIDTH] for j in range(5) for i in range(5)) / 25


def make_clip(folder):
    worlds = [world(1), world(2)]
    (folder / "walk.raw").write_bytes(b"".join(view(worlds, *frame).astype(np.uint8).tobytes() for frame in way()))
    launch("filesrc location={raw} ! rawvideoparse format=gray8 width={width} height={height} framerate={rate}/1 ! "
           "videoconvert ! video/x-raw,format=I420 ! avenc_ffv1 ! matroskamux ! filesink location={clip}",
           raw=folder / "walk.raw", clip=folder / CLIP, width=WIDTH, height=HEIGHT, rate=RATE)
    return folder


def chosen(folder, *options):
    """What the manifest says, and (frame, x, y, shot) of each chosen one."""
    manifest = folder / "manifest.json"
    run(TOOL, "-q", "--prefilter", "none", *options, "--manifest", manifest, folder / CLIP)
    whole = json.loads(manifest.read_bytes())
    return whole, [(f["frame"], *f["displacement"], f["shot"]) for f in whole["frames"]]


def test_manifest_says_where_each_frame_is(folder):
    whole, frames = chosen(folder, "--every", "8%")
    assert whole["settings"]["every_percent"] == 8 and whole["settings"]["every_seconds"] is None, whole["settings"]
    for frame, x, y, shot in frames:
        number, at_x, at_y, _ = way()[frame]
        begin = next(f for f in way() if f[0] == number)
        want = ((begin[1] - at_x) / DIAGONAL, (begin[2] - at_y) / DIAGONAL)
        assert shot == number and np.hypot(x - want[0], y - want[1]) < 0.01, (frame, x, y, shot, want)


def test_one_sharp_frame_of_each_stretch(folder):
    """The way is 1.28 diagonals, then 0.53 after the cut: stretches of 8% begin 16 and 7 times."""
    _, frames = chosen(folder, "--every", "8%")
    first, second = [f for f in frames if f[3] == 0], [f for f in frames if f[3] == 1]
    assert 13 <= len(first) <= 17 and 5 <= len(second) <= 7, frames
    assert sum(way()[f[0]][3] for f in frames) >= len(frames) - 2, "sharp ones"
    assert sum(f[0] < 25 for f in frames) == 1, "one of the second at rest"
    apart = [np.hypot(b[1] - a[1], b[2] - a[2]) for a, b in zip(first, first[1:])]
    assert min(apart) > 0.03, apart


def test_max_gap_keeps_slow_parts(folder):
    _, frames = chosen(folder, "--every", "8%", "--max-gap", "0.2")
    assert sum(f[0] < 25 for f in frames) in (4, 5, 6), frames


def test_exported_frames_are_those_of_the_manifest(folder):
    whole, frames = chosen(folder, "--every", "15%", "--export", folder / "sharp", "--report", folder / "report.html")
    files = sorted(path.name for path in (folder / "sharp").iterdir())
    assert [int(re.search(r"_f(\d+)_", name)[1]) for name in files] == [f[0] for f in frames], files
    assert [pathlib.Path(f["file_path"]).name for f in whole["frames"]] == files


def test_wrong_options_say_what_is_right(folder):
    for options, words in ((("--every", "0%"), "0.1% to 100%"), (("--every", "101%"), "0.1% to 100%"),
                           (("--every", "2", "--max-gap", "1"), "--max-gap needs --every N%"),
                           (("--every", "8%", "--set"), "cannot be used with --set")):
        done = run(TOOL, *options, "--manifest", folder / "none.json", folder / CLIP, check=2)
        assert words in done.stderr.decode(), done.stderr
        assert not (folder / "none.json").exists()


def test_recipe_of_the_gate(folder):
    page = (ROOT / "docs" / "elements" / "sharpnessgate.md").read_text(encoding="utf-8").replace("\\\n", " ")
    recipe = next(line for line in page.splitlines() if line.startswith("gst-launch-1.0") and "window-displacement" in line)
    here = recipe.replace("v4l2src", f"filesrc location={CLIP} ! matroskademux ! avdec_ffv1")
    subprocess.run(["bash", "-c", here], cwd=folder, timeout=LIMIT, check=True, stdout=subprocess.DEVNULL)
    views = sorted(folder.glob("view-*.jpg"))
    assert 19 <= len(views) <= 25, views


sys.exit(run_tests(globals(), make_clip, needs=("avenc_ffv1", "matroskamux", "jpegenc")))
