#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How framequality-scan scales with cores: frames per second, efficiency and memory on 1, 2, 4, ... of them.

usage: scan_cores.py [--clips N] [--frames N] [--runs N] SCAN

Makes N clips of 1280x720 with vp8enc, or x264enc if that is installed, and scans them all with --device cpu, pinned to the
first cores of the machine; each number of cores in turn, RUNS times, medians. Efficiency is frames/s per core compared with
one core. Memory is the peak of the process, from its own rusage.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SOURCE = "videotestsrc pattern={pattern} num-buffers={frames} ! video/x-raw,format=I420,width=1280,height=720,framerate=30/1 ! "
PATTERNS = ("ball", "smpte", "zone-plate kx2=20 ky2=20 kt=1", "circular")


def encoder():
    has = subprocess.run(["gst-inspect-1.0", "x264enc"], capture_output=True, check=False).returncode == 0
    return "x264enc speed-preset=veryfast ! h264parse ! matroskamux" if has else "vp8enc deadline=1 cpu-used=8 threads=2 ! matroskamux"


def make_clips(folder, count, frames, encode):
    """Different contents; beyond those, copies under other names."""
    made = []
    for i, pattern in enumerate(PATTERNS):
        made.append(folder / f"made{i}.mkv")
        line = SOURCE.format(pattern=pattern, frames=frames) + encode
        subprocess.run(["gst-launch-1.0", "-q", *line.split(), "!", "filesink", f"location={made[-1]}"], check=True, timeout=300)
    clips = [folder / f"clip{i:03}.mkv" for i in range(count)]
    for i, clip in enumerate(clips):
        shutil.copyfile(made[i % len(made)], clip)
    return clips


def scan(tool, clips, cores):
    """(seconds, CPU seconds, peak MiB) of one scan."""
    begin = time.monotonic()
    child = subprocess.Popen([tool, "-q", "--device=cpu", f"--jobs={cores}", *map(str, clips)], stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores]))
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, status
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--clips", type=int, default=32)
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("scan")
    options = parser.parse_args()
    most = len(os.sched_getaffinity(0))
    steps = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= most]
    seen = {n: [] for n in steps}
    with tempfile.TemporaryDirectory() as name:
        encode = encoder()
        clips = make_clips(pathlib.Path(name), options.clips, options.frames, encode)
        scan(options.scan, clips[:4], most)  # fills caches
        for _ in range(options.runs):
            for n in steps:
                seen[n].append(scan(options.scan, clips, n))
    total = options.clips * options.frames
    rows = []
    for n in steps:
        seconds, cpu, memory = (statistics.median(column) for column in zip(*seen[n]))
        rows.append({"cores": n, "frames_per_second": total / seconds, "cpu_ms_per_frame": 1000 * cpu / total, "memory_mib": memory})
    print(f"{options.clips} clips of {options.frames} frames, 1280x720, {encode.split()[0]}; load {os.getloadavg()[0]:.1f} on {most} cores")
    print("| cores | frames/s | efficiency | CPU ms per frame | peak memory, MiB |\n|--:|--:|--:|--:|--:|")
    for row in rows:
        share = row["frames_per_second"] / row["cores"] / rows[0]["frames_per_second"]
        print(f"| {row['cores']} | {row['frames_per_second']:.0f} | {share:.2f} | {row['cpu_ms_per_frame']:.2f} | {row['memory_mib']:.0f} |")


if __name__ == "__main__":
    main()
