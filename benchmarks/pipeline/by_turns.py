# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs timed by turns, so that whatever else the machine does falls on all of them alike."""
import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time


def launch(line, **names):
    """gst-launch-1.0 with each word of the line as one argument, whatever the names hold."""
    return ["gst-launch-1.0", "-q", *(word.format(**names) for word in line.split())]


def measure(command):
    """Seconds and CPU seconds of a run."""
    before, begin = os.times(), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.monotonic() - begin, os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def medians(commands, runs):
    """Name -> median seconds and CPU seconds of so many runs of each command, after one to warm up."""
    for command in commands.values():
        measure(command)
    times = {name: [] for name in commands}
    for run in range(runs):
        # By turns, and each first as often.
        for name in sorted(commands, reverse=run % 2 == 1):
            times[name].append(measure(commands[name]))
    return {name: {"seconds": round(statistics.median(s for s, _ in seen), 3),
                   "cpu_seconds": round(statistics.median(c for _, c in seen), 3)} for name, seen in times.items()}


def parser_of(doc):
    """A command line with a build folder and a commit."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve(), help="build folder, whose plugin and programs are used")
    parser.add_argument("--commit", default="", help="what was built; by default what git says")
    return parser


def use_build(build):
    """Lets GStreamer find the plugin of a build folder."""
    os.environ["GST_PLUGIN_PATH"] = str(build / "gst")
    os.environ["GST_REGISTRY"] = str(build / "registry.bin")


def conditions(commit):
    """Machine, commit and command, for a result."""
    commit = commit or subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                                      cwd=pathlib.Path(__file__).parent, check=False).stdout.strip()
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "commit": commit, "command": " ".join(sys.argv)}


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
