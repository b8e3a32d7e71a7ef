# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of programs that end with a GPU's driver in the process: with their own status, and all that they wrote.

usage: leave.py DRIVER PROGRAM...; DRIVER: a library called libcuda.so.1 that aborts when it is taken down.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import LIMIT

DRIVER, *TOOLS = map(os.path.abspath, sys.argv[1:])
# Where the build put the library; CUDA's runtime would find it there, and take it down when it turns out to be none.
os.environ.pop("LD_LIBRARY_PATH", None)


def run(*words, **environment):
    return subprocess.run(words, capture_output=True, timeout=LIMIT, check=False, env={**os.environ, **environment})


def check(tool, *words, status=0):
    alone, driven = run(tool, *words), run(tool, *words, LD_PRELOAD=DRIVER)
    assert alone.returncode == driven.returncode == status, (tool, words, alone, driven)
    assert alone.stdout == driven.stdout and bool(alone.stdout) == (status == 0), (tool, words, alone, driven)
    print("ok", pathlib.Path(tool).name, *words, flush=True)


def main():
    if os.environ.get("SANITIZED") == "1":
        print("SKIPPED: a sanitizer wants to be loaded first")
        return 77
    died = run(sys.executable, "-c", "", LD_PRELOAD=DRIVER)
    assert died.returncode == -6, died  # or the driver shows nothing
    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.y4m")
        subprocess.run("gst-launch-1.0 -q videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=64,height=48 ! y4menc !"
                       f" filesink location={clip}".split(), check=True, timeout=LIMIT)
        for tool in TOOLS:
            check(tool, "--version")
            check(tool, "--nonsense", status=2)
            if not tool.endswith("-watch"):
                # Of the CPU: with the library there is no GPU, without it there may be one, whose scores are not the same bits.
                words = ["score", "--device", "cpu"] if tool.endswith("-bliinds") else ["-q", "--device", "cpu"]
                check(tool, *words, clip)
    return 0


sys.exit(main())
