#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Speed of framequality-scan on archives, compared with the same decoders into nothing.

usage: archive_bench.py [--runs N] [--jobs N] [--gpus N] [--only CASE] SCAN DECODE_BENCH CLIP [-- SCAN_OPTION...]

CLIP: an MP4 of H.264 of 2,400 frames or more. Cases: `short`, 64 files of its first 300 frames; `long`, 16 files of it
all; `one`, a single file eight times as long. Decoding (decode_bench, one process, one context for each GPU) and
scanning take turns, in the same number at once; what counts is the ratio of their medians. For `one` also a single
decoder. JSON on stdout. Needs gst-launch-1.0 with isomp4 and h264parse; GST_PLUGIN_PATH as the programs need it.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def measure(command):
    before, begin = os.times(), time.monotonic()
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
    seconds, after = time.monotonic() - begin, os.times()
    if run.returncode != 0:
        sys.exit(f"{command[0]} ended with {run.returncode}: {run.stderr[-2000:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu, run.stdout


def launch(line, **names):
    subprocess.run(["gst-launch-1.0", "-q", *(word.format(**names) for word in line.split())], check=True)


def make_clips(folder, clip):
    short, one = folder / "short.mp4", folder / "one.mp4"
    launch("filesrc location={clip} ! qtdemux ! h264parse ! identity eos-after=301 ! mp4mux ! filesink location={short}",
           clip=clip, short=short)
    parts = " ".join(["filesrc location={clip} ! qtdemux ! h264parse ! c."] * 8)
    launch("concat name=c ! h264parse ! mp4mux ! filesink location={one} " + parts, clip=clip, one=one)
    return {"short": copies(folder, short, 64), "long": copies(folder, clip, 16), "one": [str(one)]}


def copies(folder, clip, count):
    """Files of their own: a page cache has each, as it has different ones."""
    names = [folder / f"{clip.stem}-{i:02}.mp4" for i in range(count)]
    for name in names:
        shutil.copyfile(clip, name)
    return [str(name) for name in names]


def of(frames, runs):
    seconds = statistics.median(s for s, _ in runs)
    cpu = statistics.median(c for _, c in runs)
    return {"frames_per_second": round(frames / seconds, 1), "seconds": round(seconds, 3), "cores": round(cpu / seconds, 2),
            "runs": [round(s, 3) for s, _ in runs]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=16)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--only", action="append", choices=["short", "long", "one"])
    parser.add_argument("--commit", default="")
    parser.add_argument("--machine", default=platform.node())
    parser.add_argument("scan")
    parser.add_argument("decode_bench")
    parser.add_argument("clip", type=pathlib.Path)
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    gpus = ["--gpus", ",".join(str(i) for i in range(given.gpus))]
    cases = {}
    with tempfile.TemporaryDirectory() as name:
        clips = make_clips(pathlib.Path(name), given.clip)
        for case, files in clips.items():
            if given.only and case not in given.only:
                continue
            commands = {"decode": [given.decode_bench, f"--jobs={given.jobs}", f"--gpus={given.gpus}", *files],
                        "scan": [given.scan, "-q", *gpus, *given.options, *files]}
            if case == "one":
                # As many decoders as the scan has, each of files of its own: what the engines give.
                commands["decode"] = [given.decode_bench, f"--jobs={given.jobs}", f"--gpus={given.gpus}",
                                      *copies(pathlib.Path(name), given.clip, 2 * given.jobs)]
                commands["decode alone"] = [given.decode_bench, "--jobs=1", *files]
            times, rows, counts = {what: [] for what in commands}, set(), {}
            for run in range(given.runs + 1):
                for what, command in commands.items():
                    seconds, cpu, text = measure(command)
                    if what == "scan":
                        rows.add(text)
                        counts[what] = text.count("\n") - 1
                    else:
                        counts[what] = int(re.match(r"\d+", text)[0])
                    if run > 0:  # the first one warms up
                        times[what].append((seconds, cpu))
            if len(rows) != 1:
                sys.exit(f"{case}: scans of the same files differ")
            cases[case] = {"files": len(files), **{what: of(counts[what], runs) for what, runs in times.items()}}
            cases[case]["scan_of_decode"] = round(
                cases[case]["scan"]["frames_per_second"] / cases[case]["decode"]["frames_per_second"], 3)
            print(case, cases[case], file=sys.stderr)
    json.dump({"program": "archive_bench", "machine": given.machine, "commit": given.commit, "gpus": given.gpus,
               "jobs": given.jobs, "options": given.options, "cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
