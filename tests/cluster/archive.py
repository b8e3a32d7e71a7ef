# SPDX-License-Identifier: LGPL-2.1-or-later
"""A folder of clips with names of all kinds, what a single run says of them, and whether a joined table says the same."""
import csv
import os
import pathlib
import shutil
import subprocess

OPTIONS = ("--device", "cpu", "--metric", "brenner", "--jobs", "1")
HOSTILE = ("with space.mkv", "two\nlines.mkv", "it's \"quoted\".MKV", "100%s %j.mkv", "-q.mkv", "*.mkv", b"not \xff utf-8.mkv")
EMPTY, TEXT = "k empty.mp4", "l text.mp4"  # neither can be read


def make_clip(path, pattern, frames):
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", f"pattern={pattern}", f"num-buffers={frames}", "!",
                    "video/x-raw,format=I420,width=1280,height=720,framerate=25/1", "!", "jpegenc", "!", "matroskamux", "!",
                    "filesink", f"location={path}"], check=True, timeout=60, stdin=subprocess.DEVNULL)


def rows_of(table):
    """Rows by file; each file's stand together, and once."""
    found, last = {}, None
    with open(table, encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            if row["file"] != last:
                assert row["file"] not in found, f"{row['file']!r} is there twice"
                found[row["file"]] = []
            last = row["file"]
            found[last].append(tuple(row.values()))
    return found


class Archive:
    """`rows`: what a single run of the program says; `good` clips among `files`."""

    def __init__(self, folder, scan, frames=300):
        self.folder, self.videos = pathlib.Path(folder), pathlib.Path(folder) / "all videos"
        (self.videos / "deep er").mkdir(parents=True)
        originals = []
        for i, pattern in enumerate(("ball", "smpte", "circular")):
            originals.append(self.folder / f"{i}.mkv")
            make_clip(originals[-1], pattern, frames + 20 * i)
        names = [*(b"deep er/%02d.mkv" % i for i in range(13)), *map(os.fsencode, HOSTILE)]
        for i, name in enumerate(names):
            shutil.copy(originals[i % 3], os.fsencode(self.videos) + b"/" + name)
        self.original = originals[0]
        (self.videos / EMPTY).touch()
        (self.videos / TEXT).write_text("this is no video\n" * 20)
        (self.videos / "no video.txt").touch()
        self.good, self.files = len(names), len(names) + 2
        self.rows = self.single_run(scan)

    def single_run(self, scan):
        paths = sorted(os.fsencode(path) for path in self.videos.rglob("*") if path.suffix.lower() in (".mkv", ".mp4"))
        with open(self.folder / "single.csv", "wb") as table:
            run = subprocess.run([scan, "-q", *OPTIONS, "--", *paths], stdout=table, stderr=subprocess.PIPE, timeout=120, check=False)
        assert run.returncode == 1 and run.stderr.count(b"\n") == 2, run.stderr
        rows = rows_of(self.folder / "single.csv")
        assert len(rows) == self.good and len(paths) == self.files, (len(rows), len(paths))
        return rows

    def compare(self, results):
        """Asserts that what was joined there is what the single run says, each file once."""
        rows, expected = rows_of(results / "scores.csv"), self.rows
        assert rows == expected, {name: (len(rows.get(name, ())), len(expected.get(name, ())))
                                  for name in {*rows, *expected} if rows.get(name) != expected.get(name)}
        with open(results / "errors.csv", encoding="utf-8", newline="") as text:
            bad = [row["file"] for row in csv.DictReader(text)]
        assert sorted(bad) == sorted(str(self.videos / name) for name in (EMPTY, TEXT)), bad
        assert (results / "report.html").stat().st_size > 0


def programs(folder, scan, merge, options=()):
    """Value of PATH with both programs first, under their names; every scan with these options. Scans wait before they
    begin while there is a file `closed` in the folder."""
    folder.mkdir()
    program = folder / "framequality-scan"
    program.write_text(f'#!/bin/sh\nwhile [ -e "{folder}/closed" ]; do sleep 0.02; done\nexec "{scan}" {" ".join(options)} "$@"\n')
    program.chmod(0o755)
    (folder / "framequality-merge").symlink_to(merge)
    return f"{folder}:{os.environ['PATH']}"
