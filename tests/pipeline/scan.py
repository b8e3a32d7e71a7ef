# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan on real files: scores, order, names, errors, signals, images.

usage: scan.py PROGRAM; with SANITIZED=1 in the environment without what needs another program to load the plugin.
"""
import base64
import csv
import http.server
import io
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading

from harness import LIMIT, endless, launch, run, run_tests

try:
    from PIL import Image
except ImportError:
    print("SKIPPED: python3-pil is not installed")
    sys.exit(77)

TOOL = os.path.abspath(sys.argv[1])
SANITIZED = os.environ.get("SANITIZED") == "1"
HOSTILE = ['with space, and "quotes".mkv', "two\nlines.mkv", "<script>alert(1)<script>.mkv", "100%s %n.mkv", "--report",
           "-.mkv", b"not \xff utf-8.mkv", "'; rm -rf $HOME.mkv"]


def scan(*arguments, **how):
    return run(TOOL, *arguments, **how)


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8"), newline="")))


def source(frames, form="I420", pattern="ball"):
    return f"videotestsrc pattern={pattern} num-buffers={frames} ! video/x-raw,format={form},width=160,height=120,framerate=25/1 ! "


class Clips:
    def __init__(self, folder):
        self.folder = folder
        self.mkv = self.make("clip.mkv", source(50) + "jpegenc ! matroskamux")
        self.gray = self.make("gray.mkv", source(50, "GRAY8") + "avenc_ffv1 ! matroskamux")
        self.still = self.make("still.mkv", source(50, "GRAY8", "circular") + "avenc_ffv1 ! matroskamux")
        self.mp4 = self.make("clip.mp4", source(50) + "x264enc key-int-max=10 ! h264parse ! mux. mp4mux name=mux"
                             " audiotestsrc num-buffers=40 ! avenc_aac ! mux. mux.")
        self.bare = self.make("bare.mjpeg", source(40) + "jpegenc")
        self.sound = self.make("sound.ogg", "audiotestsrc num-buffers=40 ! vorbisenc ! oggmux")
        whole = self.make("long.mkv", source(200) + "jpegenc ! matroskamux").read_bytes()
        self.cut = folder / "cut.mkv"
        self.cut.write_bytes(whole[: len(whole) * 6 // 10])
        self.text = folder / "text.mp4"
        self.text.write_text("this is no video\n" * 20)
        self.empty = folder / "empty.mp4"
        self.empty.write_bytes(b"")

    def make(self, name, line):
        path = self.folder / name
        launch(line + " ! filesink location={path}", path=path)
        return path


def element_scores(path, properties):
    """What the element says of the file's frames: score, and zones."""
    line = f"uridecodebin uri={path.as_uri()} caps=video/x-raw(ANY) expose-all-streams=false ! videoconvert ! sharpnessmeter"
    text = run("gst-launch-1.0", "-m", *line.split(), *properties.split(), "!", "fakesink").stdout.decode()
    found = []
    for line in re.findall(r"sharpnessmeter, .*", text):
        zones = re.search(r"zones=\(double\)< (.*?) >", line)
        found.append((float(re.search(r" score=\(double\)([^,;]+)", line)[1]),
                      [float(zone) for zone in zones[1].split(", ")] if zones else []))
    return found


def test_scores_are_the_elements(clips):
    for path in (clips.mkv, clips.mp4, clips.gray):
        rows, expected = rows_of(scan(path)), element_scores(path, "prefilter=binomial3")
        assert len(rows) == 50 and [float(row["score"]) for row in rows] == [score for score, _ in expected], path
        assert [int(row["frame"]) for row in rows] == list(range(50))
        assert all(abs(float(row["time"]) - i * 0.04) < 0.002 for i, row in enumerate(rows)), rows[:3]
    options = ["--metric", "brenner", "--prefilter", "none", "--downscale", "2", "--normalize", "mean",
               "--noise-correction", "--zones", "3x2", "--roi", "10,10,100,80", "--device", "cpu"]
    expected = element_scores(clips.mkv, "metric=brenner downscale=2 normalize=mean noise-correction=true"
                              " zone-columns=3 zone-rows=2 roi=<10,10,100,80> device=cpu")
    rows = rows_of(scan(*options, clips.mkv))
    names = [f"zone_{r}_{c}" for r in range(2) for c in range(3)]
    assert [(float(row["score"]), [float(row[name]) for name in names]) for row in rows] == expected
    lines = scan(*options, "--format", "jsonl", clips.mkv).stdout.decode().splitlines()
    objects = [json.loads(line) for line in lines]
    assert [(o["score"], sum(o["zones"], [])) for o in objects] == expected
    assert objects[0]["metric"] == "brenner" and [len(row) for row in objects[0]["zones"]] == [3, 3]
    deep = clips.make("deep.mkv", source(3, "GRAY16_LE") + "avenc_ffv1 ! matroskamux")
    expected = [score for score, _ in element_scores(deep, "prefilter=binomial3 significant-bits=12")]
    assert expected != [score for score, _ in element_scores(deep, "prefilter=binomial3")]
    run = scan("--significant-bits", "12", deep)
    assert [float(row["score"]) for row in rows_of(run)] == expected
    assert b"set significant-bits=16" in run.stderr, run.stderr
    # The report's own zones change nothing in the table.
    assert scan(clips.mkv, "--report", clips.folder / "zones.html").stdout == scan(clips.mkv).stdout


def test_interval_keeps_the_clips_numbers(clips):
    rows = rows_of(scan("--interval", "0.4", clips.mkv))
    assert [int(row["frame"]) for row in rows] == [0, 10, 20, 30, 40], rows


def test_rows_stay_together_in_the_order_of_the_files(clips):
    files = [clips.mkv, clips.gray, clips.bare, clips.mp4, clips.mkv]
    alone = [scan("-q", path).stdout.split(b"\n", 1)[1] for path in files]
    for jobs in ("1", "3"):
        assert scan("-q", "--jobs", jobs, *files).stdout.split(b"\n", 1)[1] == b"".join(alone), jobs
    shards = [scan("-q", "--shard", f"{i}/3", *files).stdout.split(b"\n", 1)[1] for i in (1, 2, 3)]
    assert shards == [alone[0] + alone[3], alone[1] + alone[4], alone[2]]
    assert scan("--shard", "9/9", clips.mkv).stdout == b"file,frame,time,metric,score,damaged\n"
    listed = scan("-q", "--files-from", "-", "--null", input=b"\0".join(bytes(path) for path in files)).stdout
    assert listed.split(b"\n", 1)[1] == b"".join(alone)
    assert all(row["time"] == "" for row in rows_of(scan(clips.bare))[1:])  # no container, no times
    assert json.loads(scan("--format", "jsonl", clips.bare).stdout.splitlines()[1])["time"] is None


def test_names_come_back(clips):
    folder = clips.folder / "names"
    folder.mkdir()
    for name in HOSTILE:
        shutil.copy(clips.mkv, os.fsencode(folder) + b"/" + os.fsencode(name))
    expected = [os.fsencode(name).decode("utf-8", "replace") for name in HOSTILE]
    run = scan("--interval", "100", "--best", "1", "--export", "out", "--", *HOSTILE, cwd=folder)
    assert [row["file"] for row in rows_of(run)] == expected
    summary = [line for line in run.stderr.decode("utf-8").splitlines() if not line.startswith("  ")]
    assert len(summary) == len(HOSTILE), run.stderr
    lines = scan("--interval", "100", "--format", "jsonl", "--", *HOSTILE, cwd=folder).stdout.decode("utf-8").splitlines()
    assert [json.loads(line)["file"] for line in lines] == expected
    pictures = os.listdir(os.fsencode(folder) + b"/out")
    assert len(pictures) == len(HOSTILE) and all(name.endswith(b".png") and name[:1] not in b".-" for name in pictures), pictures
    shutil.rmtree(folder)


def test_bad_files_do_not_stop_the_others(clips):
    bare = clips.folder / "no media"
    bare.mkdir()
    bad = {clips.text: "", clips.empty: "the file is empty", clips.sound: "it has no video",
           clips.folder / "none.mp4": "No such file or directory", bare: "it has no images or videos"}
    run = scan("-q", *bad, clips.mkv, check=1)
    assert len(rows_of(run)) == 50
    lines = run.stderr.decode().splitlines()
    assert len(lines) == len(bad), lines
    for line, (path, reason) in zip(lines, bad.items()):
        assert line.startswith(f"framequality-scan: {path}: ") and reason in line, line
    run = scan(clips.cut, check=1)
    rows = rows_of(run)
    assert 100 < len(rows) < 130 and b"cut off or damaged" in run.stderr, (len(rows), run.stderr)


def test_passwords_of_urls_stay_inside(clips):
    """A clip behind a password, and one that is not there: whatever is shown or written names neither password."""
    content, asked = clips.mkv.read_bytes(), []

    class Files(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.headers.get("Authorization"))
            good = asked[-1] == "Basic " + base64.b64encode(b"user:hush").decode()
            self.send_response(200 if good else 401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.send_header("Content-Length", str(len(content) if good else 0))
            self.end_headers()
            if good:
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = clips.folder / "urls"
    place = f"127.0.0.1:{server.server_port}"
    urls = [f"http://user:hush@{place}/a.mkv", f"http://user:hush@{place}", "http://us/er:hush@127.0.0.1:1/b.mkv", "rtsp://user:hush/@c"]
    options = ["--keep-going", "--stall-timeout", "20", "--best", "1"]
    done = scan(*options, "--export", folder / "pictures", "--manifest", folder / "m.json", "--report", folder / "r.html",
                "--progress", "json", *urls)
    scan(*options, "--manifest", folder / "m2.json", "--output", folder / "tables", *urls)
    again = scan("--keep-going", "--resume", "--output", folder / "tables", *urls[:1])
    assert b"1 of 1 files were already done" in again.stderr, again.stderr
    usage = scan("--jobs", urls[0], "x", check=2)
    server.shutdown()
    server.server_close()
    assert {row["file"] for row in rows_of(done)} >= {f"http://user:***@{place}/a.mkv"}, done.stderr
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 6, files
    for text in (done.stdout, done.stderr, again.stderr, usage.stderr, *(path.read_bytes() for path in files), *map(os.fsencode, files)):
        assert b"hush" not in text, [line for line in text.splitlines() if b"hush" in line]
    shutil.rmtree(folder)


def test_pictures_that_no_parser_puts_together(clips):
    """Larger than a block of the file, and scored as the PNG of the same frame."""
    line = "-q videotestsrc pattern=ball num-buffers=1 ! video/x-raw,width=160,height=120 ! videoconvert ! video/x-raw,format=RGB ! "
    wanted, = rows_of(scan("-q", clips.make("same.png", line + "pngenc")))
    for name, encoder in (("x.bmp", "videoconvert ! avenc_bmp"), ("x.tiff", "avenc_tiff")):
        found, = rows_of(scan("-q", clips.make(name, line + encoder)))
        assert found["score"] == wanted["score"], (name, found, wanted)
    # Compressed as JPEG: libav's decoder would make one gray of it, and is not let; gdk-pixbuf's knows how.
    jpeg = clips.folder / "jpeg.tiff"
    Image.open(clips.folder / "x.tiff").save(jpeg, compression="jpeg", quality=95)
    done = subprocess.run([TOOL, "-q", jpeg], capture_output=True, timeout=LIMIT, check=False)
    if done.returncode:
        assert done.returncode == 1 and b"cannot decode TIFF images with JPEG compression" in done.stderr, done
    else:
        ratio = float(rows_of(done)[0]["score"]) / float(wanted["score"])
        assert 0.9 < ratio < 1.1, (ratio, done)


def test_gif_does_not_stand_still(clips):
    path = clips.folder / "x.gif"
    path.write_bytes(b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;" + bytes(100))
    run = scan("-q", path, clips.mkv, check=1)
    assert len(rows_of(run)) == 50 and b"GStreamer has no GIF" in run.stderr, run.stderr


def test_a_file_of_which_nothing_comes_is_given_up(clips):
    with endless(clips.folder / "endless.mp4", clips.mp4.read_bytes()[:3000]) as path:
        # Long enough for the other one on a busy machine.
        done = scan("-q", "--stall-timeout", "8", "--jobs", "1", path, clips.mkv, check=1)
        assert done.stdout == scan("-q", clips.mkv).stdout
        assert done.stderr.decode().startswith(f"framequality-scan: {path}: no data for 8 s"), done.stderr
        assert scan("-q", "--stall-timeout", "1", "--keep-going", path).stdout == done.stdout.splitlines(True)[0]
    for wrong in ("-1", "1.5", "a", ""):
        assert b"--stall-timeout must be whole seconds" in scan("--stall-timeout", wrong, clips.mkv, check=2).stderr


def test_usage(clips):
    for arguments in ([], ["--nonsense", clips.mkv], ["--metric", "sharp", clips.mkv], ["--zones", "0x3", clips.mkv],
                      ["--zones", "3x", clips.mkv], ["--interval", "nan", clips.mkv], ["--interval", "1,5", clips.mkv],
                      ["--best", "3", clips.mkv], ["--export", "x", clips.mkv], ["--shard", "3/2", clips.mkv],
                      ["--jobs", "0", clips.mkv], ["--downscale", "3", clips.mkv],
                      ["--significant-bits", "8", clips.mkv], ["--significant-bits", "17", clips.mkv], ["--format", "xml", clips.mkv],
                      ["--every", "0", clips.mkv], ["--every", "1.5", clips.mkv], ["--every", "x", clips.mkv],
                      ["--best", "3", "--every", "3", "--export", "x", clips.mkv], ["--segments", "0", clips.mkv],
                      ["--gpus", "0,0", clips.mkv], ["--gpus", "", clips.mkv], ["--resume", clips.mkv],
                      ["--originals", "copy", clips.mkv], ["--progress", "xml", clips.mkv], ["--pictures", "gif", clips.mkv],
                      ["--set", "--best", "2", "--export", "x", "--output", "y", "--resume", clips.mkv],
                      ["--roi", "1,2,3", clips.mkv], ["--null", clips.mkv], ["--device", "tpu", clips.mkv]):
        run = scan(*arguments, check=2)
        assert run.stdout == b"" and b"usage: framequality-scan" in run.stderr, (arguments, run.stderr)
    assert b"tenengrad, laplacian," in scan("--metric", "sharp", clips.mkv, check=2).stderr
    assert re.match(rb"framequality-scan \d+\.\d+\.\d+\n", scan("--version").stdout)
    assert b"--shard" in scan("--help").stdout
    quiet = scan("--quiet", clips.mkv)
    assert quiet.stderr == b"" and len(rows_of(quiet)) == 50
    assert re.search(rb"\n  tenengrad: min .*\n  highest at 0:0\d\.\d{3} \(frame \d+\), lowest at 0:0", scan(clips.mkv).stderr)


def test_a_device_that_was_named_is_missed_once(clips):
    done = run(TOOL, "-q", "--opencl-device", "no such device", clips.mkv, clips.mp4,
               env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert done.stderr.count(b"opencl-device=no such device cannot be used: ") == 1, done.stderr
    assert done.stderr.count(b"\n") == 1 and len(rows_of(done)) == 100, done.stderr


def test_a_list_of_random_bytes_is_refused(clips):
    """Names with a NUL in them would be read up to there: as '/' or '.', and so all that is below."""
    (clips.folder / "random").write_bytes(random.Random(1).randbytes(3_000_000))
    done = scan("--files-from", clips.folder / "random", check=2)
    assert b"of the list of --files-from contains a NUL byte" in done.stderr and not done.stdout, done.stderr
    for path, more in (("/dev/zero", []), ("/dev/zero", ["--null"]), (clips.mp4, [])):
        assert b"of --files-from" in scan("--files-from", path, *more, check=2).stderr
    assert b"Is a directory" in scan("--files-from", clips.folder, check=1).stderr
    (clips.folder / "random").unlink()


def test_missing_element(clips):
    environment = {**os.environ, "GST_PLUGIN_PATH": "", "GST_REGISTRY": str(clips.folder / "registry.bin")}
    run = subprocess.run([TOOL, clips.mkv], capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
    if run.returncode == 0:
        print("the plugin is installed: not tried without it")
        return
    assert run.returncode == 1 and run.stdout == "" and "GST_PLUGIN_PATH" in run.stderr, run


def test_outputs_that_fail(clips):
    with open("/dev/full", "wb") as full:
        run = subprocess.run([TOOL, clips.mkv], stdout=full, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    assert run.returncode == 1 and b"cannot write the table: No space left on device" in run.stderr, run
    scan(clips.mkv, "--report", clips.folder / "none" / "r.html", check=1)

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    environment = {**os.environ, "GST_REGISTRY_UPDATE": "no"}
    for output in (["--report", "r.html"], ["--best", "2", "--export", "full"]):
        folder = clips.folder / "outputs"
        (folder / "full").mkdir(parents=True)
        run = scan(*output, clips.mkv, check=1, cwd=folder, preexec_fn=small_files, env=environment)
        assert b"cannot write " in run.stderr and b"File too large" in run.stderr, run.stderr
        assert [str(path) for path in folder.rglob("*") if path.is_file()] == []
        shutil.rmtree(folder)


def heed_signals():
    """In a program to be: a shell that started us in the background has these ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(clips, *options, **how):
    """The tool with hours of work, once its first rows are there."""
    listing = clips.folder / "list"
    listing.write_text(f"{clips.mkv}\n" * 5000)
    process = subprocess.Popen([TOOL, "--files-from", listing, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               bufsize=0, preexec_fn=heed_signals, **how)
    first = b""
    while len(first) < 2000:  # unbuffered: communicate() must find the rest
        block = process.stdout.read(2000)
        assert block, process.stderr.read()
        first += block
    return process, first


def test_signals_leave_finished_rows_and_nothing_else(clips):
    out = clips.folder / "interrupted"
    for number in (signal.SIGINT, signal.SIGTERM):
        process, first = start(clips, "--quiet", "--jobs", "2", "--report", clips.folder / "r.html", "--best", "2", "--export", out)
        process.send_signal(number)
        rest, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 128 + number and errors == b"", (process.returncode, errors)
        text = (first + rest).decode()
        assert text.endswith("\n"), text[-200:]
        broken = [row for row in csv.reader(io.StringIO(text)) if len(row) != 6]
        assert not broken, broken[:3]
        assert not (clips.folder / "r.html").exists() and not list(clips.folder.glob("r.html*"))
        assert all(path.suffix == ".png" for path in out.iterdir()), list(out.iterdir())
        shutil.rmtree(out)


def test_ignored_signals_stay_ignored(clips):
    run = subprocess.Popen([TOOL, "-q", *[clips.mkv] * 40], stdout=subprocess.PIPE, bufsize=0,
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    first = run.stdout.read(10)
    run.send_signal(signal.SIGHUP)
    rest = run.communicate(timeout=LIMIT)[0]
    assert run.returncode == 0 and (first + rest).count(b"\n") == 1 + 40 * 50, run.returncode


def test_reader_that_leaves(clips):
    process, _ = start(clips)
    process.stdout.close()
    assert process.wait(timeout=LIMIT) == 141
    assert b"framequality-scan:" not in process.stderr.read()
    process.stderr.close()


def test_nothing_is_left_over(clips):
    environment = {**os.environ, "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"}
    # Not clips.sound: once in some hundreds of times decodebin leaves oggdemux running when it is stopped while it still
    # looks at the file, and then gst_deinit(), which this tracer needs and nobody else calls, waits for ever.
    run = scan("-q", "--best", "3", "--export", clips.folder / "left", "--report", clips.folder / "left.html", clips.mp4,
               clips.bare, clips.cut, clips.text, check=1, env=environment)
    assert b"GST_TRACER" in run.stderr
    alive = re.findall(rb"TRACE .*:: object-alive, .*", run.stderr)
    assert not alive, alive[:3]


def best_of_windows(rows, count, place, length):
    """Frame numbers that --best should choose: of each window the first of the highest scores that is at least half a
    window behind the choice before."""
    best, least = {}, 0
    for window in range(count):
        fit = [row for row in rows if min(int(place(row) * count / length), count - 1) == window and place(row) >= least]
        if fit:
            first = max(fit, key=lambda row: float(row["score"]))
            best[int(first["frame"])] = float(first["score"])
            least = place(first) + length / count / 2
    return best


def test_pictures_are_the_frames_scored(clips):
    out = clips.folder / "best"
    rows = rows_of(scan("--best", "7", "--export", out, clips.gray))
    expected = best_of_windows(rows, 7, lambda row: float(row["time"]), 2.0)
    found = {}
    for path in out.iterdir():
        name = re.fullmatch(r"gray_f(\d{6})_(\d+\.\d{3})s_(\S+)\.png", path.name)
        assert name, path
        # Lossless all the way: the picture scores what the frame did.
        again, = rows_of(scan("-q", path))
        found[int(name[1])] = float(again["score"])
        assert abs(float(rows[int(name[1])]["time"]) - float(name[2])) < 0.0006
    assert found == expected, (found, expected)
    shutil.rmtree(out)
    # Of equal frames the first.
    scan("--best", "2", "--export", out, clips.still)
    assert sorted(path.name[:13] for path in out.iterdir()) == ["still_f000000", "still_f000025"], list(out.iterdir())
    shutil.rmtree(out)
    # Colour, and a second pass because nothing says how long it is.
    rows = rows_of(scan("--best", "4", "--export", out, "--jobs", "2", clips.bare, clips.mp4))
    bare = [row for row in rows if row["file"] == str(clips.bare)]
    expected = best_of_windows(bare, 4, lambda row: int(row["frame"]), 40)
    assert {int(re.search(r"_f(\d+)_", path.name)[1]) for path in out.glob("bare_*")} == set(expected)
    assert len(list(out.glob("clip_*"))) == 4 and all(path.read_bytes()[25] == 2 for path in out.iterdir())  # RGB
    shutil.rmtree(out)
    # A container that promises more than there is: windows of what there is.
    rows = rows_of(scan("--best", "4", "--export", out, clips.cut, check=1))
    length = float(rows[-1]["time"]) + 0.04
    expected = best_of_windows(rows, 4, lambda row: float(row["time"]), length)
    assert {int(re.search(r"_f(\d+)_", path.name)[1]) for path in out.iterdir()} == set(expected)


def test_bar_only_on_a_terminal(clips):
    assert b"\r" not in scan(clips.mkv).stderr
    mine, theirs = pty.openpty()
    process = subprocess.Popen([TOOL, *[clips.mkv] * 60], stdout=subprocess.DEVNULL, stderr=theirs,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(theirs)
    shown = b""
    while select.select([mine], [], [], LIMIT)[0]:
        try:
            block = os.read(mine, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(mine)
    assert process.wait(timeout=LIMIT) == 0
    bars = re.findall(r"\r([^\r\n]*?frames/s[^\r\n]*?)\x1b\[K", shown.decode())
    assert bars and all(len(bar) < 80 for bar in bars) and "/60 " in bars[0], shown[:300]


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Clips, needs=("x264enc", "avenc_ffv1", "jpegenc"),
                       leave_out=[test_scores_are_the_elements] if SANITIZED else []))
