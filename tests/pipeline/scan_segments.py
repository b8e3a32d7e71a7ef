# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan --segments: whatever a file is like, cut into parts it gives what it gives in one piece.

usage: scan_segments.py PROGRAM; with SANITIZED=1 in the environment on fewer files.
"""
import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from harness import LIMIT, heed_signals, launch, missing, run, run_tests

TOOL = os.path.abspath(sys.argv[1])
SANITIZED = os.environ.get("SANITIZED") == "1"
RATE, FRAMES = 15, 600  # 40 s: parts have 8 s at least
SOURCE = (f"videotestsrc pattern=zone-plate kx2=4 ky2=3 kt=3 num-buffers={FRAMES} {{more}}"
          f" ! video/x-raw,format=I420,width=192,height=144,framerate={RATE}/1 ! ")
X264 = "x264enc speed-preset=superfast bitrate=1500 threads=1 "
CLOSED = X264 + "key-int-max=30 bframes=2 option-string=scenecut=0 ! h264parse ! "
OPEN = X264 + "key-int-max=30 bframes=3 b-adapt=false option-string=open-gop=1:scenecut=0 ! h264parse ! "
SOUND = f" audiotestsrc num-buffers={FRAMES} samplesperbuffer=2940 ! avenc_aac ! mux. "


class Clips:
    """Each with the number of cuts at least that its scan is joined at."""

    def __init__(self, folder):
        self.folder = folder
        self.cuts = {}
        self.lines = []
        self.clip("closed.mp4", 3, CLOSED + "mp4mux")
        self.clip("open.mp4", 3, OPEN + "mp4mux")
        # More than a part from keyframe to keyframe, and none at all: rows of some scans are for nothing.
        self.clip("long-gop.mkv", 1, X264 + f"key-int-max={RATE * 15} ! h264parse ! matroskamux")
        self.clip("refresh.mp4", 0, X264 + "intra-refresh=true key-int-max=30 ! h264parse ! mp4mux")
        # Nothing at the times of the frames of another rate, begun elsewhere; sound.
        self.clip("late.mp4", 3, CLOSED + "mux. mp4mux name=mux" + SOUND, "timestamp-offset=3000000000")
        if not SANITIZED:
            self.clip("jpeg.mkv", 3, "jpegenc ! matroskamux")
            self.clip("vp8.mkv", 1, "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=30 target-bitrate=1000000 ! matroskamux")
            self.clip("uneven.mp4", 3, "videorate drop-only=true ! video/x-raw,framerate=11/1 ! " + CLOSED + "mp4mux")
            self.clip("fragments.mp4", 0, CLOSED + "mp4mux fragment-duration=1000 streamable=false")
            self.clip("sound.mkv", 3, OPEN + "mux. matroskamux name=mux" + SOUND)
            if not missing("x265enc"):
                self.clip("hevc.mp4", 1, "x265enc speed-preset=ultrafast key-int-max=30 ! h265parse ! mp4mux")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda line: launch(line, folder=folder), self.lines))
        for name in ["closed", "open"] + ["hevc"] * ("hevc.mp4" in self.cuts):
            codec = "h265" if name == "hevc" else "h264"
            self.cuts[name + ".mkv"] = self.cuts[name + ".mp4"]
            launch(f"filesrc location={{folder}}/{name}.mp4 ! qtdemux ! {codec}parse ! matroskamux ! filesink location={{folder}}/{name}.mkv",
                   folder=folder)
        for name in self.cuts:
            assert (folder / name).stat().st_size > 20_000, name
        whole = (folder / "open.mkv").read_bytes()
        (folder / "cut.mkv").write_bytes(whole[: len(whole) * 6 // 10])
        for kind in ("closed.mp4", "closed.mkv"):
            damaged = bytearray((folder / kind).read_bytes())
            middle = len(damaged) * 47 // 100
            damaged[middle : middle + 3000] = random.Random(7).randbytes(3000)
            (folder / ("damaged-" + kind)).write_bytes(damaged)

    def clip(self, name, cuts, line, more=""):
        self.cuts[name] = cuts
        self.lines.append(f"{SOURCE.format(more=more)}{line} ! filesink location={{folder}}/{name}"
                          if "mux." not in line else
                          SOURCE.format(more=more) + line.replace("name=mux", f"name=mux ! filesink location={{folder}}/{name}"))


def scan(clips, *arguments, check=0, **environment):
    return run(TOOL, *arguments, check=check, cwd=clips.folder, env={**os.environ, **environment})


def rows_of(run):
    return [row.split(",") for row in run.stdout.decode().splitlines()[1:]]


def cuts_of(run):
    """Where parts begin, in s, and how many of them were joined."""
    text = run.stderr.decode()
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    begins = [60 * int(m) + float(s) for m, s in re.findall(r"segment \d+ begins at 0:(\d\d):(\d\d\.\d+)", text)]
    return begins, len(re.findall(r"segment \d+ ends where \d+ continues", text))


def same(clips, *arguments, segments=4, check=0):
    """The scan in segments, which is the one of the whole: its table, status and, less the time it took, its words."""
    def words(run):
        return [line for line in run.stderr.decode().splitlines() if "DEBUG" not in line]
    whole = scan(clips, "-q", "--segments", "1", *arguments, check=check)
    cut = scan(clips, "-q", "--segments", str(segments), *arguments, check=check, GST_DEBUG="framequality-scan:5")
    if whole.stdout != cut.stdout:
        one, other = whole.stdout.splitlines(), cut.stdout.splitlines()
        place = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        raise AssertionError((arguments, len(one), len(other), one[place:place + 2], other[place:place + 2],
                              cut.stderr.decode()[-4000:]))
    assert words(whole) == words(cut), (arguments, whole.stderr, cut.stderr)
    return whole, cut


def same_and_cut(clips, *arguments, cuts, **how):
    """As same(), joined at this many places at least. A machine that is busy elsewhere may leave nothing to cut now and
    then: the first scan is at the end before others begin."""
    for _ in range(20):
        whole, cut = same(clips, *arguments, **how)
        begins, joined = cuts_of(cut)
        if joined >= cuts:
            print("  ", *arguments[-1:], begins, joined, flush=True)
            return whole
    raise AssertionError((arguments, begins, joined))


def test_tables_are_those_of_one_piece(clips):
    for name, cuts in clips.cuts.items():
        whole = same_and_cut(clips, name, cuts=cuts)
        assert whole.stdout.count(b"\n") > 400, (name, whole.stdout.count(b"\n"))


def test_options(clips):
    same_and_cut(clips, "--zones", "4x3", "--format", "jsonl", "--device", "cpu", "open.mp4", segments=3, cuts=2)
    if not SANITIZED:
        same_and_cut(clips, "--metric", "brenner", "--prefilter", "none", "--roi", "10,10,120,100", "--downscale", "2",
                     "open.mp4", segments=3, cuts=2)
    # Which frames are measured depends on where one begins.
    assert cuts_of(same(clips, "--interval", "0.3", "open.mp4")[1])[0] == [0]


def test_files_that_are_damaged(clips):
    for name in ("cut.mkv", "damaged-closed.mkv"):
        whole, _ = same(clips, name, check=1)
        assert b"cut off or damaged" in whole.stderr and 200 < whole.stdout.count(b"\n") < 500, whole.stderr
    # What decoders make of damaged frames differs from time to time, in one piece too, and newer ones leave frames out:
    # the damage stays within the frames up to the next keyframe, and all others are those of the whole file.
    name, tables = "damaged-closed.mp4", []
    whole = {row[2]: row[3:] for row in rows_of(scan(clips, "-q", "--segments", "1", "closed.mp4"))}
    assert len(whole) == FRAMES
    for segments in ("1", "4", "4"):
        tables.append(rows_of(scan(clips, "-q", "--segments", segments, name)))
        assert [int(row[1]) for row in tables[-1]] == list(range(len(tables[-1]))), segments
        found = {row[2]: row[3:] for row in tables[-1]}
        assert len(found) == len(tables[-1]) and not found.keys() - whole.keys(), found.keys() - whole.keys()
        differing = {round(float(time) * RATE) // 30 for time, row in whole.items() if found.get(time) != row}
        assert len(differing) == 1, differing
    for table in tables[1:]:
        assert [row[:3] for row in table] == [row[:3] for row in tables[0]]


def test_several_files_at_once(clips):
    names = ["open.mp4", "closed.mkv", "long-gop.mkv", "cut.mkv", "late.mp4", "refresh.mp4", "open.mp4"]
    for jobs in ("3",) if SANITIZED else ("1", "3"):
        same_and_cut(clips, "--jobs", jobs, *names, segments=3, check=1, cuts=6)


def files_in(folder):
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    return found


def test_pictures_are_the_same(clips):
    out = clips.folder / "out"
    for choice in (["--best", "5"], ["--every", "4s"], ["--every", "100", "--pictures", "jpeg"])[:1 if SANITIZED else None]:
        for name in ("late.mp4", "open.mp4", "refresh.mp4"):
            wanted, found = ([scan(clips, "-q", "--segments", segments, *choice, "--export", "out", name).stdout, files_in(out)]
                             for segments in ("1", "4"))
            assert wanted == found and len(found[1]) >= 5, (choice, name, sorted(wanted[1]), sorted(found[1]))
    pages = []
    for segments in ("1", "4"):
        scan(clips, "-q", "--segments", segments, "--report", "r.html", "closed.mp4")
        # But for what the run itself was like.
        pages.append(re.sub(r'"(command|seconds|frames_per_second|fps|made|date|when)":[^,}]*', "", (clips.folder / "r.html").read_text()))
    assert pages[0] == pages[1]


def start(clips, *arguments):
    """The program with much to do, once it says something."""
    process = subprocess.Popen([TOOL, "-q", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                               preexec_fn=heed_signals, cwd=clips.folder)
    return process, process.stdout.read(10)


def is_stuck(process):
    """Whether it waits for the reader of its output: the pipe is full, and no thread has anything to do."""
    # By its writing end: how many bytes fit depends on how long the texts were that were written.
    with open(f"/proc/{process.pid}/fd/1", "wb", buffering=0) as output:
        if select.select([], [output], [], 0)[1]:
            return False
    tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
    try:
        return all((task / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] == "S" for task in tasks)
    except (FileNotFoundError, ProcessLookupError):
        return False  # a thread has just ended


def until(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.1)


def is_beginning(part, wanted):
    """Whether these are whole rows, of each file the first ones, in the order of the files."""
    def by_file(text):
        return {name: list(rows) for name, rows in itertools.groupby(text.splitlines(), lambda row: row.partition(b",")[0])}
    files, all_files = by_file(part), by_file(wanted)
    return (part.endswith(b"\n") and len(part.splitlines()) == sum(map(len, files.values()))
            and list(files) == [name for name in all_files if name in files]
            and all(rows == all_files[name][:len(rows)] for name, rows in files.items()))


def test_signals_at_any_moment(clips):
    names = ["open.mp4", "closed.mp4", "refresh.mp4", "late.mp4"]
    lines = set(scan(clips, "-q", *names).stdout.splitlines())
    at = random.Random(os.getpid())
    for i in range(4 if SANITIZED else 20):
        number, wait = (signal.SIGINT, signal.SIGTERM)[i % 2], at.random() * (2 if SANITIZED else 0.7)
        process, first = start(clips, "--jobs", "2", "--segments", "4", "--best", "3", "--export", "out", "--report", "stopped.html", *names * 5)
        time.sleep(wait)
        process.send_signal(number)
        # Nobody reads as much as all of it at once: it was told before the end.
        rest, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 128 + number and errors == b"", (wait, process.returncode, errors)
        assert (first + rest).endswith(b"\n") and set((first + rest).splitlines()) <= lines, (wait, (first + rest)[-300:])
        left = files_in(clips.folder / "out")
        assert all(name.endswith(".png") for name in left) and not list(clips.folder.glob("*stopped*")), (wait, list(left))


def test_readers_that_stop(clips):
    # More than pipes and buffers hold.
    arguments = ["--zones", "16x16", "--segments", "3", "open.mp4", "closed.mp4", "late.mp4", "open.mkv"]
    wanted = scan(clips, "-q", *arguments).stdout
    assert len(wanted) > 5_000_000
    # One file after the other, and all at once, whatever this machine would choose.
    for jobs in ("1", "4"):
        (slow, slow_first), (late, late_first), *others = [start(clips, "--jobs", jobs, *arguments) for _ in range(4)]
        # One that never reads on: a second signal of a kind ends the program, whatever waits for the reader.
        for process, _ in others:
            until("stuck", lambda process=process: is_stuck(process))
            signals = 0
            while process.poll() is None:
                assert signals < LIMIT, "it does not end"
                process.send_signal(signal.SIGTERM)
                signals += 1
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=1)
            assert process.returncode == -signal.SIGTERM and signals > 1, (process.returncode, signals)
            process.stdout.close()
            process.stderr.close()
        # One that reads on when the program was told to end: what is in the way of later files is left out.
        until("stuck", lambda: is_stuck(late))
        late.send_signal(signal.SIGTERM)
        # Until it has taken the signal, on a machine that is busy elsewhere too: stuck as it is it does nothing else.
        time.sleep(2)
        rest, errors = late.communicate(timeout=LIMIT)
        assert late.returncode == 128 + signal.SIGTERM and errors == b"", (late.returncode, errors)
        part = late_first + rest
        assert is_beginning(part, wanted), (len(part), part[-300:])
        # All at once, each may have been at its end.
        assert jobs != "1" or (len(part) < len(wanted) and wanted.startswith(part)), (len(part), part[-300:])
        rest, errors = slow.communicate(timeout=LIMIT)
        assert (slow.returncode, errors, slow_first + rest == wanted) == (0, b"", True)
    process, _ = start(clips, *arguments)
    process.stdout.close()
    assert process.wait(timeout=LIMIT) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_nothing_is_left_over(clips):
    run = scan(clips, "-q", "--segments", "4", "--jobs", "2", "--best", "3", "--export", "out", "--report", "left.html", "open.mp4",
               "cut.mkv", "refresh.mp4", check=1, GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7,framequality-scan:5",
               GST_DEBUG_NO_COLOR="1")
    assert b"GST_TRACER" in run.stderr and len(cuts_of(run)[0]) > 3
    alive = re.findall(rb"TRACE .*:: object-alive, .*", run.stderr)
    assert not alive, alive[:3]
    shutil.rmtree(clips.folder / "out")


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Clips, needs=("x264enc", "avenc_aac", "mp4mux")))
