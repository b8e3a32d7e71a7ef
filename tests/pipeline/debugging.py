# SPDX-License-Identifier: LGPL-2.1-or-later
"""GST_DEBUG answers the questions of docs/debugging.md: why this device, why these frames were dropped, why the lens moved.

usage: debugging.py
"""
import glob
import os
import re
import shlex
import subprocess
import sys

from harness import LIMIT, run_tests


def log_of(levels, line):
    """[(level, category, text)] of what our elements log in this pipeline."""
    done = subprocess.run(["gst-launch-1.0", "-q", *shlex.split(line)], capture_output=True, text=True, timeout=LIMIT, check=False,
                          env={**os.environ, "GST_DEBUG": levels, "GST_DEBUG_NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
    return [re.match(r"\S+ +\d+ +\S+ +(\w+) +(\S+) +[^:]+:\d+:[^:]*:(?:<[^>]*>)? (.*)", text).groups()
            for text in done.stderr.splitlines() if re.match(r"\d+:\d\d:", text)]


def answers(log, category, pattern):
    return [text for _, name, text in log if name == category and re.search(pattern, text)]


BALL = "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1 ! "


def test_one_level_answers_for_all_elements(_):
    log = log_of("framequality:5", BALL + "sharpnessmeter device=cpu ! sharpnessgate min-score=1e9 ! camerawatch !"
                 " nlmeans device=cpu strength=4 ! fakesink")
    log += log_of("framequality:5", "virtuallenssrc name=camera num-buffers=120 ! sharpnessmeter ! focuscontroller"
                  " actuator=camera.position min=0 max=100 settle-frames=0 ! fakesink")
    for category, pattern in ASKED:
        assert answers(log, category, pattern), (category, pattern, log)
    assert {level for level, _, _ in log} <= {"INFO", "DEBUG"}, log


def test_no_driver_of_opencl_is_loaded_without_a_gpu(_):
    if any(glob.glob(f"/dev/{node}") for node in ("dri/renderD*", "kfd", "nvidia[0-9]*", "dxg", "mali*", "nvhost-gpu")):
        print("SKIPPED: there is a GPU")
        return
    log = log_of("framequality:5", BALL + "patchbilateral ! fakesink")
    assert any("there is no GPU in /dev" in text for _, _, text in log), log
    assert not any("OpenCL device 0" in text for _, _, text in log), log


def test_nothing_of_every_frame_below_log(_):
    """Twice as many frames say as much, and at level 6 more."""
    # With device=auto, enough frames on a busy CPU open a GPU, which is said.
    chain = ("sharpnessmeter device=cpu ! nlmeans device=cpu strength=3 ! halftone device=cpu levels=2 ! sharpnessgate min-score=0 !"
             " camerawatch ! fakesink")
    few, many = (log_of("framequality:5", BALL.replace("num-buffers=20", f"num-buffers={count}") + chain) for count in ("20", "40"))
    # Each thread's lines come in order, and threads among each other as they like.
    assert sorted(few) == sorted(many), set(few) ^ set(many)
    assert len(log_of("framequality:6", BALL + chain)) > len(few) + 20


def test_a_level_of_its_own_comes_first(_):
    log = log_of("framequality:5,sharpnessgate:6,camerawatch:1", BALL + "sharpnessmeter ! sharpnessgate min-score=1e9 ! camerawatch ! fakesink")
    assert len(answers(log, "sharpnessgate", r"^frame .* is dropped: score .* is below-min-score")) == 20, log
    assert not answers(log, "camerawatch", "") and answers(log, "sharpnessmeter", ""), log


# What docs/debugging.md promises.
ASKED = [
    ("sharpnessmeter", r"^using the CPU: device=cpu"),
    ("nlmeans", r"^using the CPU: ."),
    ("sharpnessmeter", r"^new stream: video/x-raw, .*, 0 frames in flight"),
    ("framequality", r"^a session starts on the CPU"),
    ("framequality", r"^CPU: instruction set \w+$"),
    ("framequality", r"^CPU: \d+ threads?"),
    ("framequality", r"^the CPU: \w+, samples .*, lanes"),
    ("sharpnessgate", r"^frames are (dropped|marked), starting at 0:00:00.0+: score .* is below-min-score"),
    ("sharpnessgate", r"^caps: frames of 0:00:00.1"),
    ("camerawatch", r"^caps: luma from 0, over a range of 255"),
    ("focuscontroller", r": .* \(search began: .*\)"),
    ("focuscontroller", r"^moved to "),
    ("focuscontroller", r"^focused at "),
]


if __name__ == "__main__":
    if os.environ.get("SANITIZED") == "1":
        print("SKIPPED: a sanitizer has to be loaded before all others")
        sys.exit(77)
    sys.exit(run_tests(globals()))
