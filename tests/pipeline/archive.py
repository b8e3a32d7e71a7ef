# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan --output and framequality-merge: nothing is lost, and the whole is what one run would have given.

usage: archive.py SCAN MERGE
"""
import csv
import fcntl
import hashlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from harness import LIMIT, launch, run, run_tests

SCAN, MERGE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
KILLS = 20
HEADER = b"file,frame,time,metric,score,damaged\n"


def scan(*arguments, **how):
    return run(SCAN, *arguments, **how)


def merge(*arguments, **how):
    return run(MERGE, *arguments, **how)


def record_of(folder, name):
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:12]
    found = [path for path in folder.iterdir() if path.name.endswith(f"-{digest}.json")]
    assert len(found) == 1, (name, found)
    return json.loads(found[0].read_text(encoding="utf-8")), found[0]


# Options that leave time to do something meanwhile.
SLOWLY = ["--zones", "40x30"]


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def drafts(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".framequality-")]


def result(folder):
    """What an archive is: all but what a run takes."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".json":
            record = json.loads(path.read_text(encoding="utf-8"))
            assert (folder / record["table"]).stat().st_size == record["bytes"], path
            record.pop("seconds")
            found[path.name] = record
        elif not path.name.startswith(".framequality-"):
            found[path.name] = path.read_bytes()
    return found


def rows_in(table, form="csv"):
    text = table.decode("utf-8")
    return len(list(csv.reader(io.StringIO(text, newline="")))) - 1 if form == "csv" else text.count("\n")


class Clips:
    """Clips that are called as people number them, one that is cut off and one that is none."""

    def __init__(self, folder):
        self.folder = folder
        for name, frames in (("clip 1", 30), ("clip 2", 60), ("clip 10", 90), ("clip 11", 45), ("long", 3000)):
            launch(f"videotestsrc pattern=ball num-buffers={frames} ! video/x-raw,format=I420,width=320,height=240,framerate=25/1"
                   " ! jpegenc ! matroskamux ! filesink location={path}", path=folder / f"{name}.mkv")
        whole = (folder / "clip 10.mkv").read_bytes()
        (folder / "cut.mkv").write_bytes(whole[: len(whole) * 6 // 10])
        (folder / "text.mp4").write_text("this is no video\n" * 20)
        (folder / "z\udcff,\n1.mkv").write_bytes((folder / "clip 1.mkv").read_bytes())
        self.good = ["clip 1.mkv", "clip 2.mkv", "clip 10.mkv", "clip 11.mkv", "z\udcff,\n1.mkv"]
        self.bad = ["cut.mkv", "text.mp4"]
        self.all = self.good[:4] + self.bad + self.good[4:]  # in natural order

    def out(self, name):
        return self.folder / name


def test_a_table_is_what_a_scan_of_the_file_alone_gives(clips):
    for form, options in (("csv", []), ("jsonl", ["--format", "jsonl", "--zones", "3x2", "--interval", "0.2"])):
        out = clips.out(form)
        done = scan(*options, "--output", out, "--jobs", "3", *clips.all, check=1, cwd=clips.folder)
        assert done.stdout == b""
        for name in clips.all:
            record, path = record_of(out, name)
            alone = scan("-q", *options, name, check=1 if name in clips.bad else 0, cwd=clips.folder)
            assert (out / record["table"]).read_bytes() == alone.stdout, name
            assert record["table"] == path.stem + "." + form and record["bytes"] == len(alone.stdout)
            assert record["rows"] == rows_in(alone.stdout, form)
            assert record["file"].encode() == os.fsencode(name).decode("utf-8", "replace").encode()
            about = (clips.folder / name).stat()
            assert (record["size"], record["modified"]) == (about.st_size, about.st_mtime_ns)
            assert bool(record["error"]) == (name in clips.bad)
        assert len(list(out.iterdir())) == 2 * len(clips.all) + 1 and not drafts(out)
        errors = list(csv.DictReader((out / "errors.csv").open(encoding="utf-8", newline="")))
        assert [row["file"] for row in errors] == clips.bad and "cut off" in errors[0]["error"], errors
    record, _ = record_of(clips.out("jsonl"), "clip 10.mkv")
    assert record["options"]["interval_ns"] == 200_000_000 and record["options"]["zone_columns"] == 3
    assert (record["rows"], record["frames"], record["width"], record["rate"]) == (18, 90, 320, 25)
    scores = [json.loads(line)["score"] for line in (clips.out("jsonl") / record["table"]).read_text().splitlines()]
    assert (record["min"]["score"], record["max"]["score"]) == (min(scores), max(scores))
    assert len(record["curve"]) == 18 and abs(record["curve"][3][0] / scores[3] - 1) < 1e-4


def test_resume_does_what_is_not_done(clips):
    out = clips.out("resumed")
    shutil.copytree(clips.out("csv"), out)
    (out / "errors.csv").unlink()
    before = result(out)

    def resumed(*arguments, check=1):
        """The files that are scanned again."""
        old = {path.name: path.stat().st_ctime_ns for path in out.iterdir() if path.suffix == ".json"}
        scan("--output", out, "--resume", *arguments, *clips.all, check=check, cwd=clips.folder)
        new = {path: path.stat().st_ctime_ns for path in out.iterdir() if path.suffix == ".json"}
        return {json.loads(path.read_text(encoding="utf-8"))["file"] for path, changed in new.items() if old.get(path.name) != changed}

    assert resumed() == set(clips.bad)
    assert {**result(out), "errors.csv": 0} == {**before, "errors.csv": 0}
    assert resumed("--keep-going", check=0) == set(clips.bad)
    record, path = record_of(out, "clip 2.mkv")
    path.write_bytes(path.read_bytes()[:-30])
    table = out / record_of(out, "clip 10.mkv")[0]["table"]
    table.write_bytes(table.read_bytes()[:-1])
    (out / record_of(out, "clip 11.mkv")[0]["table"]).unlink()
    os.utime(clips.folder / "clip 1.mkv")
    assert resumed() == {"clip 1.mkv", "clip 2.mkv", "clip 10.mkv", "clip 11.mkv", *clips.bad}
    # Other options: all of them, and what was in the other format goes.
    assert len(resumed("--format", "jsonl")) == len(clips.all)
    assert not [path for path in out.glob("*.csv") if path.name != "errors.csv"]
    assert len(resumed("--metric", "brenner")) == len(clips.all)
    # A file that is gone fails, but what was known of it stays.
    os.rename(clips.folder / "clip 11.mkv", clips.folder / "away")
    assert resumed("--metric", "brenner") == set(clips.bad)
    assert "clip 11.mkv,No such file" in (out / "errors.csv").read_text(encoding="utf-8")
    os.rename(clips.folder / "away", clips.folder / "clip 11.mkv")
    assert resumed("--metric", "brenner") == set(clips.bad)


def test_a_file_that_grows_is_done_again(clips):
    out, grows = clips.out("grown"), clips.folder / "grows.mkv"
    shutil.copy(clips.folder / "long.mkv", grows)
    with subprocess.Popen([SCAN, "-q", *SLOWLY, "--output", out, grows], stderr=subprocess.PIPE) as process:
        # Not that of whether anything can be written there, which is empty.
        while not out.exists() or not any(size_of(draft) for draft in drafts(out)):
            time.sleep(0.001)
        with grows.open("ab") as file:
            file.write(b"more")
        said = process.communicate(timeout=LIMIT)[1]
    assert b"the file changed during the scan" in said, said
    record, _ = record_of(out, grows)
    assert record["size"] == grows.stat().st_size - 4
    scan("-q", *SLOWLY, "--output", out, "--resume", grows)
    assert record_of(out, grows)[0]["size"] == grows.stat().st_size
    grows.unlink()


def test_a_name_that_stands_twice_is_done_once(clips):
    out = clips.out("twice")
    done = scan("--output", out, "clip 1.mkv", "clip 1.mkv", cwd=clips.folder)
    assert done.stderr.count(b"frames/s") == 1 and len(list(out.iterdir())) == 3


def test_killed_at_any_moment(clips):
    """kill -9 leaves whole tables only, and what a run leaves undone the next one does."""
    names = [str(clips.folder / name) for name in clips.all]
    for i in range(8):
        shutil.copy(clips.folder / "clip 10.mkv", clips.folder / f"more {i}.mkv")
        names.append(str(clips.folder / f"more {i}.mkv"))
    single, out = clips.out("single"), clips.out("killed")
    begun = time.monotonic()
    scan("-q", "--jobs", "2", "--output", single, "--keep-going", *names)
    took = time.monotonic() - begun
    expected, dice, killed = result(single), random.Random(18), 0
    for attempt in range(10 * KILLS):
        command = [SCAN, "-q", "--jobs", "2", "--output", out, "--keep-going", *(["--resume"] if attempt else []), *names]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            begun = time.monotonic()
            try:
                process.wait(timeout=dice.uniform(0.2, 1.1) * took)
                took = time.monotonic() - begun  # the machine may have less to do by now
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
        if not out.exists():
            continue
        now = result(out)
        for name, content in now.items():
            assert content == expected[name], name
        # A kill between two files leaves none.
        if killed >= KILLS and drafts(out):
            break
        if len(now) == len(expected):
            shutil.rmtree(out)
    assert killed >= KILLS, killed
    scan("-q", "--resume", "--output", out, "--keep-going", *names)
    assert result(out) == expected
    assert merge("-q", out).stdout == merge("-q", single).stdout
    # What is left is of nobody, but a new one could be of somebody.
    left = drafts(out)
    assert left, f"{killed} kills left no draft"
    for path in left:
        os.utime(path, (time.time() - 3600,) * 2)
    held = left[0].open("rb+")
    fcntl.flock(held, fcntl.LOCK_EX)
    (out / ".framequality-00000000-abcdef").touch()  # another machine's
    (out / ".framequality-mine").touch()
    scan("-q", "--resume", "--output", out, "--keep-going", *names)
    assert sorted(path.name for path in drafts(out)) == sorted([left[0].name, ".framequality-00000000-abcdef", ".framequality-mine"])
    held.close()
    for path in drafts(out):
        os.utime(path, (time.time() - 2 * 86400,) * 2)
    scan("-q", "--resume", "--output", out, "--keep-going", *names)
    assert [path.name for path in drafts(out)] == [".framequality-mine"]


def test_terminated(clips):
    """A scheduler's SIGTERM: what is under way is given up, what is done stays, nothing else is left."""
    out = clips.out("terminated")
    with subprocess.Popen([SCAN, "-q", *SLOWLY, "--output", out, "--jobs", "1", "clip 1.mkv", "long.mkv"], cwd=clips.folder) as process:
        while not out.exists() or not list(out.glob("*.json")):
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=LIMIT)
        assert process.returncode == 143, process.returncode
    assert sorted(path.suffix for path in out.iterdir()) == [".csv", ".json"], list(out.iterdir())


def test_a_full_disk_ends_it(clips):
    out = clips.out("full")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    names = ["clip 1.mkv", "clip 10.mkv"] + ["clip 1.mkv", "clip 11.mkv"] * 10
    done = scan("--output", out, "--keep-going", "--jobs", "1", *names, check=1, cwd=clips.folder, preexec_fn=limit)
    said = done.stderr.decode()
    assert re.search(r"framequality-scan: cannot write .*/clip 10-[0-9a-f]{12}\.csv: File too large", said), said
    assert not drafts(out) and "clip 11" not in said, said
    assert set(result(out)) == {record_of(out, "clip 1.mkv")[1].name, record_of(out, "clip 1.mkv")[0]["table"]}
    for folder in (clips.folder / "clip 1.mkv", clips.folder / "clip 1.mkv" / "x"):
        assert b"cannot make the folder" in scan("--output", folder, "clip 1.mkv", check=1, cwd=clips.folder).stderr


def test_shards_joined_are_a_single_run(clips):
    single = scan("-q", *clips.all, check=1, cwd=clips.folder).stdout
    folders = [clips.out(f"node{i}") for i in (1, 2)]
    for i in (1, 2, 3, 4):
        scan("-q", "--keep-going", "--shard", f"{i}/4", "--output", folders[i % 2], *clips.all, cwd=clips.folder)
    assert {path.name for folder in folders for path in folder.glob("errors*")} == {f"errors-{i}-of-4.csv" for i in (1, 2, 3, 4)}
    done = merge(*folders)
    assert done.stdout == single
    assert done.stderr.decode().strip() == f"7 files, {rows_in(single)} rows, 2 failed", done.stderr
    joined, errors, page = (clips.out(name) for name in ("joined.csv", "failed.csv", "report.html"))
    # The same folder and overlapping ones: each file once.
    again = clips.out("again")
    scan("-q", "--output", again, *clips.good, cwd=clips.folder)
    done = merge("-q", "-o", joined, "--errors", errors, "--report", page, *folders, folders[0], again)
    assert (done.stdout, done.stderr, joined.read_bytes()) == (b"", b"", single)
    rows = list(csv.DictReader(io.StringIO(errors.read_text(encoding="utf-8"), newline="")))
    assert [row["file"] for row in rows] == clips.bad
    lines = [scan("-q", "-f", "jsonl", "--zones", "3x2", "--interval", "0.2", name, check=int(name in clips.bad), cwd=clips.folder).stdout
             for name in clips.all]
    assert merge("-q", clips.out("jsonl")).stdout == b"".join(lines)


def refused(*arguments, reason):
    done = merge(*arguments, check=1)
    assert done.stdout == b"" and reason in done.stderr.decode(), (reason, done.stderr)


def test_what_does_not_belong_together_is_refused(clips):
    out = clips.out("csv")
    refused(out, clips.out("jsonl"), reason="the options differ: format is \"")
    refused(clips.folder / "none", reason="No such file or directory")
    empty = clips.out("empty")
    empty.mkdir()
    refused(empty, reason="no records of framequality-scan --output found")
    other = clips.out("other")
    scan("-q", "--metric", "brenner", "--output", other, "clip 1.mkv", cwd=clips.folder)
    done = merge(out, other, check=1).stderr.decode()
    assert re.search(r'metric is "(tenengrad|brenner)" in .*\.json and "(tenengrad|brenner)" in ', done), done
    shutil.rmtree(other)
    os.utime(clips.folder / "clip 1.mkv", (1e9, 1e9))
    scan("-q", "--output", other, "clip 1.mkv", cwd=clips.folder)
    done = merge(out, other, check=1).stderr.decode()
    assert "changed between the scans of clip 1.mkv" in done and done.count("/clip 1-") == 2, done

    def broken(change, reason):
        copy = clips.out("broken")
        shutil.copytree(out, copy)
        record, path = record_of(copy, "clip 2.mkv")
        change(copy / record["table"], path)
        target = clips.out("broken.csv")
        refused("-o", target, "--report", clips.out("broken.html"), copy, reason=reason)
        assert not target.exists() and not clips.out("broken.html").exists()
        shutil.rmtree(copy)

    broken(lambda table, _: table.unlink(), "/clip 2-")
    broken(lambda table, _: table.write_bytes(table.read_bytes()[:-1]), "its record says")
    broken(lambda table, _: table.write_bytes(table.read_bytes().replace(b"score,", b"scope,")), "its header differs")
    broken(lambda _, record: record.write_bytes(record.read_bytes()[:-3]), "cannot read the record")
    broken(lambda _, record: record.write_text(record.read_text().replace('"table":"clip', '"table":"../csv/clip')), "the table of another file")


def test_links_are_not_followed(clips):
    """In a folder that another user may write to; the folder itself may be reached by one, and outputs replace them."""
    out, joined = clips.folder / "linked", clips.folder / "joined.csv"
    scan("-q", "--output", out, *clips.all[:2], cwd=clips.folder)
    whole = merge("-q", out).stdout
    (clips.folder / "by link").symlink_to(out)
    assert merge("-q", clips.folder / "by link").stdout == whole
    secret = clips.folder / "secret"
    secret.write_bytes(b"of somebody else")
    for path in (joined, clips.folder / "r.html", clips.folder / "e.csv"):
        path.unlink(missing_ok=True)
        path.symlink_to(secret)
    merge("-q", "-o", joined, "--report", clips.folder / "r.html", "--errors", clips.folder / "e.csv", out)
    assert secret.read_bytes() == b"of somebody else" and not joined.is_symlink() and joined.read_bytes() == whole
    record, path = record_of(out, clips.all[0])
    table = out / record["table"]
    for link in (table, path):
        content = link.read_bytes()
        elsewhere = clips.folder / "elsewhere"
        elsewhere.write_bytes(content)
        for make, why in ((lambda: link.symlink_to(elsewhere), "it is a symbolic link, and those are not followed"),
                          (lambda: os.mkfifo(link), "it is not a regular file"), (link.mkdir, "it is not a regular file")):
            link.unlink()
            make()
            refused = merge(out, "--report", clips.folder / "no.html", check=1)
            assert refused.stdout == b"" and f"{link.name}: {why}".encode() in refused.stderr, refused.stderr
            link.rmdir() if link.is_dir() and not link.is_symlink() else link.unlink()
            link.write_bytes(content)
        # Nor is one taken for a table that is done.
        link.unlink()
        link.symlink_to(elsewhere)
        again = scan("--resume", "--output", out, *clips.all[:2], cwd=clips.folder)
        assert b"1 of 2 files were already done" in again.stderr and not link.is_symlink(), again.stderr
        assert elsewhere.read_bytes() == content and merge("-q", out).stdout == whole


def test_usage(clips):
    for arguments in ((), ("--details", "3", "x"), ("--detail", "a", "x"), ("--report", "r", "--details", "51", "x"), ("--nothing", "x")):
        done = merge(*arguments, check=2)
        assert done.stdout == b"" and b"usage: framequality-merge" in done.stderr, (arguments, done.stderr)
    assert re.match(rb"framequality-merge \d+\.\d+\.\d+\n", merge("--version").stdout)
    assert "no record" in merge("--report", clips.out("no.html"), "--detail", "none.mkv", clips.out("csv"), check=1).stderr.decode()
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([MERGE, "-q", clips.out("csv")], stdout=writer, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])


def test_report(clips):
    page = clips.out("report.html")
    data = data_of(page)
    text = page.read_text(encoding="utf-8")
    assert not any(mark in text for mark in ("@DATA@", "/*STYLE*/", "/*WORDS*/"))
    assert data["totals"]["files"] == 7 and data["totals"]["failed"] == 2 and data["all"]
    assert [name for name, _ in data["failed"]] == clips.bad and sum(data["histogram"]["counts"]) == 6
    medians = [file["median"] for file in data["lowest"]]
    assert len(medians) == 6 and medians == sorted(medians) and len(data["details"]) == 6
    merge("-q", "--report", page, "--detail", "clip 2.mkv", "--detail", "text.mp4", clips.out("csv"))
    assert [file["name"] for file in data_of(page)["details"]] == ["clip 2.mkv", "text.mp4"]
    merge("-q", "--report", page, "--details", "1", clips.out("csv"))
    assert len(data_of(page)["details"]) == 2


def test_report_of_a_large_archive_is_small(clips):
    out, page = clips.out("large"), clips.out("large.html")
    out.mkdir()
    record = record_of(clips.out("csv"), "clip 10.mkv")[0]
    record["curve"] = [[-123.45e-20, -123.45e-20, 123.45e200]] * 200
    for i in range(1500):
        stem = f"x-{i:012x}"
        record |= {"file": f"<\\\"{i}" + "<" * 3000, "table": stem + ".csv", "bytes": len(HEADER), "rows": 0, "median": i * 1.1,
                   "codec": "<" * 1000, "error": "<" * 3000 if i % 2 else ""}
        (out / record["table"]).write_bytes(HEADER)
        (out / f"{stem}.json").write_text(json.dumps(record))
    done = merge("--report", page, "--details", "50", out)
    assert done.stdout == HEADER and b"1500 files, 0 rows, 750 failed" in done.stderr
    assert page.stat().st_size < 3e6, page.stat().st_size
    data = data_of(page)
    assert (len(data["lowest"]), len(data["highest"]), len(data["details"]), len(data["failed"])) == (200, 200, 100, 200)
    assert data["lowest"][0]["median"] == 0 and data["highest"][0]["median"] == 1499 * 1.1
    assert "</script" not in page.read_text().split('id="data">')[1].split("</script>")[0]


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Clips, needs=("jpegenc", "matroskamux")))
