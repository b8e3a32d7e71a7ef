# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-scan and framequality-merge where the system gives few threads: what can be done is done.

usage: few_threads.py FEW_THREADS (the library) SCAN MERGE; skipped with sanitizers, which have to be loaded first
"""
import os
import subprocess
import sys

from harness import LIMIT, launch, run_tests

LIBRARY, SCAN, MERGE = map(os.path.abspath, sys.argv[1:])
CLIPS = [f"clip{i}.mkv" for i in range(12)]


def few(folder, threads, *command):
    limit = folder / "threads"
    limit.write_text(str(threads))
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder,
                          env={**os.environ, "LD_PRELOAD": LIBRARY, "FEW_THREADS": str(limit)})


def prepare(folder):
    launch("videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=160,height=120,framerate=25/1 ! jpegenc ! matroskamux !"
           " filesink location=clip0.mkv", folder)
    for name in CLIPS[1:]:
        (folder / name).write_bytes((folder / CLIPS[0]).read_bytes())
    return folder


def test_files_wait_for_threads_of_others(folder):
    plain = few(folder, 1000, SCAN, "--jobs", "8", *CLIPS)
    assert plain.returncode == 0 and plain.stdout.count("\n") == 121, plain.stderr
    for threads in (40, 30, 24):
        done = few(folder, threads, SCAN, "--jobs", "8", "--output", f"tables{threads}", *CLIPS)
        assert done.returncode == 0, (threads, done.returncode, done.stderr)
        merged = few(folder, threads, MERGE, f"tables{threads}")
        assert merged.returncode == 0 and sorted(merged.stdout.splitlines()) == sorted(plain.stdout.splitlines()), merged.stderr


def test_a_file_without_a_thread_is_reported_and_the_others_go_on(folder):
    # Enough for the program itself, and no pipeline.
    done = few(folder, 4, SCAN, "--device", "cpu", "--stall-timeout", "2", *CLIPS[:3])
    assert done.returncode == 1, (done.returncode, done.stderr)
    for name in CLIPS[:3]:
        assert f"framequality-scan: {name}: " in done.stderr, done.stderr
    assert "terminate" not in done.stderr, done.stderr


def test_the_program_itself_says_what_is_missing(folder):
    done = few(folder, 1, SCAN, CLIPS[0])
    assert done.returncode == 1 and "the system gives no more threads" in done.stderr, (done.returncode, done.stderr)


def test_joining_needs_no_threads(folder):
    few(folder, 1000, SCAN, "--output", "all", *CLIPS)
    assert few(folder, 1, MERGE, "-q", "all").stdout == few(folder, 1000, MERGE, "-q", "all").stdout != ""


if __name__ == "__main__":
    if os.environ.get("SANITIZED") == "1":
        print("SKIPPED: a sanitizer has to be loaded before all others")
        sys.exit(77)
    sys.exit(run_tests(globals(), prepare, needs=("jpegenc", "matroskamux")))
