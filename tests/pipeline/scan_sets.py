# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan on folders and sets of images: order, choices, originals, the manifest.

usage: scan_sets.py PROGRAM
"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness import LIMIT, launch, run, run_tests

TOOL = os.path.abspath(sys.argv[1])
HOSTILE = ['with space, and "quotes".png', "two\nlines.png", "<script>alert(1)<script>.png", "100%s %n.png", "-.png", "--report.png",
           b"not \xff utf-8.png", "'; rm -rf $HOME.png", "\u00e4\u20ac\U0001f600.PNG"]
# Written aside from the present, with parts of a second.
MTIME = 1_234_567_890_123_456_789


def scan(*arguments, **how):
    return run(TOOL, *arguments, **how)


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"), newline="")))


class Album:
    """Pictures from sharp to blurred: level 0 is the sharpest."""

    def __init__(self, folder):
        self.folder = folder
        self.levels = []
        for level in range(6):
            path = folder / f"level{level}.png"
            # What a small picture loses when it is made large is what a lens out of focus loses.
            size = 160 // (level + 1)
            launch(f"videotestsrc pattern=smpte100 num-buffers=1 ! video/x-raw,width={size},height={size} ! videoscale"
                   " ! video/x-raw,width=160,height=160 ! pngenc ! filesink location={path}", path=path)
            self.levels.append(path.read_bytes())
        self.video = folder / "clip.mkv"
        launch("videotestsrc pattern=ball num-buffers=50 ! video/x-raw,width=160,height=120,framerate=25/1 ! jpegenc"
               " ! matroskamux ! filesink location={path}", path=self.video)

    def put(self, name, level):
        """A picture of its own: equal levels differ in bytes, behind the end of the picture."""
        path = pathlib.Path(os.fsdecode(os.fsencode(self.folder) + b"/" + os.fsencode(name)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.levels[level] + os.fsencode(name))
        os.utime(path, ns=(MTIME, MTIME))
        return path


def manifest_of(path):
    """Read strictly, and every path that it names must exist."""
    def refuse(name):
        raise AssertionError(name)

    manifest = json.loads(path.read_text("utf-8"), parse_constant=refuse)
    for frame in manifest["frames"]:
        assert frame["file_path"] is None or (path.parent / frame["file_path"]).exists(), frame
        assert not os.path.isabs(frame["file_path"] or ""), frame
    return manifest


def names_in(folder):
    return sorted(os.listdir(folder))


def state_of(folder):
    """All that a program could spoil."""
    return {str(path): (path.read_bytes(), path.lstat().st_mtime_ns, path.lstat().st_mode, path.lstat().st_ino)
            for path in folder.rglob("*") if not path.is_dir()}


def test_folders_stand_for_their_files(album):
    for name in ("trip/IMG_10.png", "trip/IMG_9.png", "trip/day 2/IMG_1.png", "trip/.hidden.png", "trip/.trash/IMG_1.png"):
        album.put(name, 0)
    (album.folder / "trip" / "notes.txt").write_text("no picture")
    shutil.copy(album.video, album.folder / "trip" / "b.mkv")
    (album.folder / "trip" / "again").symlink_to(album.folder / "trip", target_is_directory=True)
    late = album.put("late.png", 1)
    run = scan("-q", "--interval", "100", "late.png", "trip", "IMG_0.png", check=1, cwd=album.folder)
    files = [row["file"] for row in rows_of(run)]
    # Named files where they were named, the folder's in natural order.
    assert files == ["late.png", "trip/IMG_9.png", "trip/IMG_10.png", "trip/b.mkv", "trip/day 2/IMG_1.png"], files
    run = scan("-q", "--interval", "100", "--set", late, album.folder / "trip", late)
    files = [os.path.relpath(row["file"], album.folder) for row in rows_of(run)]
    assert files == ["late.png", "trip/IMG_9.png", "trip/IMG_10.png", "trip/b.mkv", "trip/day 2/IMG_1.png"], files
    (album.folder / "bare" / "below").mkdir(parents=True)
    run = scan("-q", album.folder / "bare", late, check=1)
    assert b"bare: it has no images or videos" in run.stderr and len(rows_of(run)) == 1, run.stderr
    shards = [row["file"] for i in (1, 2) for row in rows_of(scan("-q", "--interval", "100", "--shard", f"{i}/2", album.folder / "trip"))]
    assert len(shards) == 4 and len(set(shards)) == 4, shards


def test_a_gif_does_not_stop_it(album):
    """The smallest there is: its decoder is missing or works, but it comes to an end."""
    gif = album.folder / "one.gif"
    gif.write_bytes(b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
    run = subprocess.run([TOOL, "-q", gif], capture_output=True, timeout=LIMIT, check=False)
    assert run.returncode in (0, 1), run


def test_best_of_a_set_are_its_sharpest(album):
    levels = {"IMG_1.png": 3, "IMG_2.png": 1, "IMG_10.png": 0, "IMG_11.png": 1, "IMG_12.png": 5}
    for name, level in levels.items():
        album.put("set/" + name, level)
    where = album.folder / "made"
    run = scan("--set", "--best", "2", "--export", where / "out", "--manifest", album.folder / "m.json", album.folder / "set")
    assert rows_of(run)[0]["metric"] == "directional-frequency"
    scores = {os.path.basename(row["file"]): float(row["score"]) for row in rows_of(run)}
    assert sorted(scores, key=lambda name: -scores[name])[0] == "IMG_10.png" and scores["IMG_2.png"] == scores["IMG_11.png"], scores
    # Of equal ones the first.
    assert names_in(where / "out") == ["IMG_10.png", "IMG_2.png"]
    for name in names_in(where / "out"):
        copy, original = where / "out" / name, album.folder / "set" / name
        assert copy.read_bytes() == original.read_bytes()
        assert copy.stat().st_mtime_ns == MTIME and copy.stat().st_nlink == 1 and not copy.is_symlink()
    manifest = manifest_of(album.folder / "m.json")
    assert [frame["file_path"] for frame in manifest["frames"]] == ["made/out/IMG_2.png", "made/out/IMG_10.png"]
    for frame in manifest["frames"]:
        assert frame["score"] == scores[os.path.basename(frame["source"])] and (frame["w"], frame["h"]) == (160, 160), frame
        assert frame["frame"] == 0 and frame["time"] is None
    loser = str(album.folder / "set" / "IMG_2.png")
    assert {os.path.basename(r["source"]): r["reason"] for r in manifest["rejected"]} == {
        "IMG_1.png": f"lower score than {loser}", "IMG_11.png": f"same score as {loser}, which comes first",
        "IMG_12.png": f"lower score than {loser}"}
    assert manifest["counts"] == {"candidates": 5, "chosen": 2, "damaged": 0}
    assert manifest["settings"]["metric"] == "directional-frequency" and manifest["settings"]["noise_correction"] is True
    assert manifest["settings"]["downscale"] == 0
    # Said, so that they can be made again; what is asked for counts, wherever it stands.
    run = subprocess.run([TOOL, "--metric", "tenengrad", "--set", album.folder / "set"], capture_output=True, timeout=LIMIT, check=True)
    assert b"scored with --metric tenengrad --prefilter binomial5 --downscale 0 --noise-correction\n" in run.stderr, run.stderr
    assert manifest["settings"]["best"] == 2 and manifest["settings"]["set"] is True
    facts = manifest["run"]
    # Images are measured on the CPU, whatever GPUs could decode video here.
    assert (facts["files"], facts["failed"], facts["frames"], facts["device"]) == (5, 0, 5, "cpu"), facts
    assert facts["seconds"] > 0 and facts["frames_per_second"] > 0 and facts["jobs"] >= 1
    assert time.strptime(facts["started"], "%Y-%m-%dT%H:%M:%S%z")
    # However many at once.
    again = album.folder / "again.json"
    scan("-q", "--jobs", "4", "--set", "--best", "2", "--manifest", again, album.folder / "set")
    assert [frame["source"] for frame in manifest_of(again)["frames"]] == [frame["source"] for frame in manifest["frames"]]
    assert [frame["file_path"] for frame in manifest_of(again)["frames"]] == ["set/IMG_2.png", "set/IMG_10.png"]


def test_best_of_every_few(album):
    for i, level in enumerate([2, 1, 3, 0, 0, 4, 5]):
        album.put(f"bursts/{i}.png", level)
    # Keeps its place: the others stay in their groups.
    (album.folder / "bursts" / "2.png").write_bytes(b"no picture\n" * 20)
    out = album.folder / "few"
    run = scan("-q", "--set", "--every", "3", "--export", out, "--manifest", album.folder / "m.json", album.folder / "bursts", check=1)
    assert names_in(out) == ["1.png", "3.png", "6.png"], names_in(out)
    assert b"2.png: " in run.stderr
    manifest = manifest_of(album.folder / "m.json")
    reason, = [r for r in manifest["rejected"] if r["source"].endswith("/2.png")]
    assert reason["reason"] and "score" not in reason and manifest["run"]["failed"] == 1
    assert len(manifest["rejected"]) == 4 and manifest["settings"]["every_frames"] == 3 and manifest["settings"]["best"] is None
    run = scan("-q", "--set", "--every", "1s", "--manifest", album.folder / "none.json", album.folder / "bursts", check=1)
    assert re.search(rb"needs timestamps, but .*\d\.png has none", run.stderr) and not (album.folder / "none.json").exists()
    run = scan("-q", "--set", "--best", "2", "--shard", "1/2", "--manifest", "x", album.folder / "bursts", check=2)
    assert b"--shard" in run.stderr


def test_links_instead_of_copies(album):
    original = album.put("source/a.png", 0)
    out = album.folder / "links"
    for _ in range(2):
        scan("-q", "--set", "--best", "1", "--originals", "hardlink", "--export", out, album.folder / "source")
        assert (out / "a.png").stat().st_ino == original.stat().st_ino and names_in(out) == ["a.png"]
    for _ in range(2):
        scan("-q", "--set", "--best", "1", "--originals", "symlink", "--export", "links", "source", cwd=album.folder)
        assert os.readlink(out / "a.png") == str(original) and names_in(out) == ["a.png"]
    # The link of that name is replaced, not the picture it leads to.
    album.put("other/a.png", 1)
    before = state_of(album.folder / "source")
    scan("-q", "--set", "--best", "1", "--export", out, album.folder / "other")
    assert state_of(album.folder / "source") == before and not (out / "a.png").is_symlink()
    assert (out / "a.png").read_bytes() == (album.folder / "other" / "a.png").read_bytes()
    if os.stat("/dev/shm").st_dev != os.stat(album.folder).st_dev:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as far:
            run = scan("-q", "--set", "--best", "1", "--originals", "hardlink", "--export", far, album.folder / "source", check=1)
            assert b"different file systems" in run.stderr and names_in(far) == [], run.stderr


def test_equal_names_are_told_apart(album):
    for folder, level in (("a", 0), ("b", 1), ("c", 2)):
        album.put(f"equal/{folder}/IMG_1.png", level)
    out, manifest = album.folder / "apart", album.folder / "m.json"
    scan("-q", "--set", "--best", "3", "--export", out, "--manifest", manifest, album.folder / "equal")
    assert names_in(out) == ["IMG_1.png", "IMG_1~2.png", "IMG_1~3.png"]
    for frame in manifest_of(manifest)["frames"]:
        assert (album.folder / frame["file_path"]).read_bytes() == pathlib.Path(frame["source"]).read_bytes()


def test_originals_survive_an_export_among_them(album):
    for name, level in (("IMG_1.png", 0), ("IMG_2.png", 1)):
        album.put("a/" + name, level)
        album.put("b/" + name, level)
    (album.folder / "a" / "alias.png").symlink_to("IMG_1.png")
    for how in ("copy", "hardlink", "symlink"):
        for inputs in (["a"], ["a/"], ["./a/../a"], ["a", "b"]):
            before = state_of(album.folder / "a") | state_of(album.folder / "b")
            manifest = album.folder / "m.json"
            scan("-q", "--set", "--best", "9", "--originals", how, "--export", "a", "--manifest", manifest, *inputs, cwd=album.folder)
            after = state_of(album.folder / "a") | state_of(album.folder / "b")
            assert {path: after.get(path) for path in before} == before, (how, inputs)
            assert (album.folder / "a" / "alias.png").is_symlink()
            added = sorted(os.path.basename(path) for path in set(after) - set(before))
            assert added == (["IMG_1~2.png", "IMG_2~2.png"] if "b" in inputs else []), (how, inputs, added)
            for frame in manifest_of(manifest)["frames"]:
                assert (album.folder / frame["file_path"]).read_bytes() == (album.folder / frame["source"]).read_bytes()
            for name in added:
                (album.folder / "a" / name).unlink()


def test_hostile_names(album):
    for name in HOSTILE:
        album.put(b"hostile/" + os.fsencode(name), 0)
    folder, out = album.folder / "hostile", album.folder / "harmless"
    run = scan("-q", "--set", "--best", "99", "--export", out, "--manifest", "m.json", ".", cwd=folder)
    assert len(rows_of(run)) == len(HOSTILE)
    manifest = manifest_of(folder / "m.json")
    assert len(manifest["frames"]) == len(HOSTILE) and not manifest["rejected"]
    contents = {(folder / frame["file_path"]).read_bytes() for frame in manifest["frames"]}
    assert contents == {path.read_bytes() for path in folder.iterdir() if path.suffix.lower() == ".png"}
    expected = {os.fsencode(name).decode("utf-8", "replace").replace("\n", "_").replace("\ufffd", "_") for name in HOSTILE}
    assert set(names_in(out)) == expected, names_in(out)


def test_without_a_set_all_are_clips(album):
    for i in range(2):
        album.put(f"single/{i}.png", i)
    inputs = [album.folder / "single" / "1.png", album.video, album.folder / "single" / "0.png"]
    out, manifest = album.folder / "each", album.folder / "m.json"
    scan("-q", "--best", "2", "--export", out, "--manifest", manifest, *inputs)
    frames = manifest_of(manifest)["frames"]
    assert [os.path.basename(frame["source"]) for frame in frames] == ["1.png", "clip.mkv", "clip.mkv", "0.png"]
    made = [os.path.basename(frame["file_path"]) for frame in frames]
    assert sorted(made) == names_in(out) and all("_f0000" in name for name in made), (made, names_in(out))
    # Without an export the same frames.
    scan("-q", "--best", "2", "--manifest", manifest, *inputs)
    listed = manifest_of(manifest)
    assert [(f["source"], f["frame"], f["time"], f["score"]) for f in listed["frames"]] == [
        (f["source"], f["frame"], f["time"], f["score"]) for f in frames]
    assert [frame["file_path"] for frame in listed["frames"]] == ["single/1.png", None, None, "single/0.png"]
    assert [frame["time"] is None for frame in listed["frames"]] == [True, False, False, True]
    assert listed["counts"] == {"candidates": 52, "chosen": 4, "damaged": 0}


def jpeg_taken(second):
    """The shortest EXIF block with a time, to stand behind the first marker of a JPEG file."""
    date = b"2024:05:06 07:08:%02d\0" % second
    tiff = (b"MM\0*\0\0\0\x08" + b"\0\x01" + b"\x87\x69\0\x04\0\0\0\x01\0\0\0\x1a" + b"\0\0\0\0"
            + b"\0\x01" + b"\x90\x03\0\x02\0\0\0\x14\0\0\0\x2c" + b"\0\0\0\0" + date)
    block = b"Exif\0\0" + tiff
    return b"\xff\xe1" + (len(block) + 2).to_bytes(2, "big") + block


def test_best_of_every_second_by_the_cameras_clocks(album):
    folder, out = album.folder / "dated", album.folder / "seconds"
    folder.mkdir()
    for i, (second, size) in enumerate([(1, 40), (1, 160), (1, 80), (2, 40), (5, 20), (5, 40)]):
        path = folder / f"{i}.jpg"
        launch(f"videotestsrc pattern=smpte100 num-buffers=1 ! video/x-raw,width={size},height={size} ! videoscale"
               " ! video/x-raw,width=160,height=160 ! jpegenc quality=100 ! filesink location={path}", path=path)
        plain = path.read_bytes()
        path.write_bytes(plain[:2] + jpeg_taken(second) + plain[2:])
    scan("-q", "--set", "--every", "1s", "--export", out, folder)
    assert names_in(out) == ["1.jpg", "3.jpg", "5.jpg"], names_in(out)
    assert all((out / name).read_bytes() == (folder / name).read_bytes() for name in names_in(out))
    shutil.rmtree(out)
    scan("-q", "--set", "--every", "4s", "--export", out, folder)
    assert names_in(out) == ["1.jpg", "5.jpg"], names_in(out)


def test_videos_in_a_set(album):
    picture = album.put("mixed/a.png", 0)
    shutil.copy(album.video, album.folder / "mixed" / "b.mkv")
    manifest = album.folder / "m.json"
    as_before = ("--metric", "mean-square-frequency", "--downscale", "1")
    scan("-q", "--set", *as_before, "--best", "5", "--manifest", manifest, album.folder / "mixed")
    found = manifest_of(manifest)
    assert len(found["frames"]) == 5 and found["frames"][0]["source"] == str(picture), found["frames"]
    times = [frame["time"] for frame in found["frames"][1:]]
    # Half a fifth of two seconds.
    assert times == sorted(times) and all(b - a > 0.199 for a, b in zip(times, times[1:])), times
    assert found["counts"]["candidates"] == 51
    scan("-q", "--set", "--every", "1s", "--manifest", manifest, album.video)
    assert [int(frame["time"]) for frame in manifest_of(manifest)["frames"]] == [0, 1]
    # Pictures are copied, frames are found again.
    out = album.folder / "both"
    scan("-q", "--set", *as_before, "--best", "5", "--export", out, "--manifest", manifest, album.folder / "mixed")
    found = manifest_of(manifest)["frames"]
    assert [os.path.basename(frame["file_path"]) for frame in found] == ["a.png"] + [
        name for name in names_in(out) if name.startswith("b_f")] and len(names_in(out)) == 5, (found, names_in(out))
    assert (out / "a.png").read_bytes() == picture.read_bytes()
    for frame in found[1:]:
        rows = rows_of(scan("-q", "--set", *as_before, album.folder / frame["file_path"]))
        # Lossless: the picture scores what the frame did, but for the rounding of RGB.
        assert abs(float(rows[0]["score"]) / frame["score"] - 1) < 0.05, (rows, frame)


def test_outputs_are_whole_or_not_there(album):
    picture = album.put("whole/a.png", 0)
    run = scan("-q", "--set", "--best", "1", "--manifest", album.folder / "none" / "m.json", picture, check=1)
    assert b"cannot write " in run.stderr and run.stdout == b""
    many = album.folder / "many"
    many.mkdir()
    for i in range(5000):
        os.link(picture, many / f"{i}.png")
    manifest, out = album.folder / "interrupted.json", album.folder / "interrupted"
    process = subprocess.Popen([TOOL, "-q", "--set", "--best", "9", "--manifest", manifest, "--export", out, many],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    process.stdout.read(100)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 130 and errors == b"", (process.returncode, errors)
    assert not manifest.exists() and names_in(out) == [] and not list(album.folder.glob("interrupted.json*"))
    assert scan("--shard", "9/9", "--best", "1", "--manifest", manifest, picture).stdout.count(b"\n") == 1
    assert manifest_of(manifest)["frames"] == []


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Album, fresh=True))
