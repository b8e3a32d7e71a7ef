#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""COLMAP's reconstructions from frames chosen by displacement, and from as many frames chosen in other ways.

For each clip and number, framequality-scan --every N% chooses about that many frames; N is searched for. The other sets
have exactly as many: evenly spaced frames, the sharpest of each of as many equal parts, and the sharpest of all. With
--rests, each clip is also tried with rests: the camera stops at a quarter, half and three quarters of the clip, which
becomes twice as long; frames are repeated for this. COLMAP runs on the CPU, on JPEG images at most 640 pixels wide,
once for each of --seeds random seeds.
Prints a Markdown table: images registered in the largest model, and its points, each as the median over the seeds.
"""
import argparse
import csv
import io
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

WIDEST = 640
ROUNDS = 8  # of the search for N
WAYS = ("displacement", "uniform", "time", "sharpness")


def gst(pipeline):
    subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True)


def decode(clip, folder):
    """All frames as 00000.jpg and so on; a clip with % in its name is a sequence of images."""
    source = "imagesequencesrc framerate=25/1" if "%" in clip.name else "filesrc"
    folder.mkdir()
    gst(f"{source} location={clip} ! decodebin ! videoconvert ! videoscale ! "
        f"video/x-raw,width=[16,{WIDEST}],pixel-aspect-ratio=1/1 ! jpegenc quality=95 ! "
        f"multifilesink location={folder}/%05d.jpg")
    return sorted(folder.iterdir())


def rested(frames):
    """Frames with each of three repeated until the whole is twice as long."""
    count = len(frames)
    stops = {count * quarter // 4 for quarter in (1, 2, 3)}
    return [copy for i, frame in enumerate(frames) for copy in [frame] * (1 + (i in stops) * (count // 3))]


def join(frames, clip):
    """A video with the pixels of these JPEG images."""
    with tempfile.TemporaryDirectory(prefix="fq-join-", dir=clip.parent) as folder:
        for i, frame in enumerate(frames):
            (pathlib.Path(folder) / f"{i:05d}.jpg").symlink_to(frame)
        gst(f"multifilesrc location={folder}/%05d.jpg caps=image/jpeg,framerate=25/1 ! jpegdec ! avenc_ffv1 ! "
            f"matroskamux ! filesink location={clip}")


def scan(tool, clip, *options):
    """The scores of all frames, and the chosen ones."""
    with tempfile.TemporaryDirectory(prefix="fq-scan-") as folder:
        manifest = pathlib.Path(folder) / "manifest.json"
        done = subprocess.run([tool, "-q", *options, "--manifest", manifest, clip], check=True, stdout=subprocess.PIPE)
        rows = csv.DictReader(io.StringIO(done.stdout.decode()))
        return [float(row["score"]) for row in rows], [f["frame"] for f in json.loads(manifest.read_bytes())["frames"]]


def by_displacement(tool, clip, count):
    """(N, scores, chosen frames) for the N whose number of chosen frames is closest to count."""
    least, most, best = 0.1, 60.0, None
    for _ in range(ROUNDS):
        percent = round((least * most) ** 0.5, 2)
        scores, chosen = scan(tool, clip, "--every", f"{percent}%")
        if best is None or abs(len(chosen) - count) < abs(len(best[2]) - count):
            best = percent, scores, chosen
        least, most = (percent, most) if len(chosen) > count else (least, percent)
    return best


def sets_of(scores, chosen):
    """The frames of each way of choosing."""
    count, length = len(chosen), len(scores)
    parts = [range(i * length // count, (i + 1) * length // count) for i in range(count)]
    return dict(zip(WAYS, (
        chosen,
        [part[len(part) // 2] for part in parts],
        [max(part, key=scores.__getitem__) for part in parts],
        sorted(sorted(range(length), key=scores.__getitem__)[-count:]),
    )))


class Colmap:
    """Reconstructions from one folder of images, each at most `limit` seconds."""

    def __init__(self, program, images, folder, limit):
        self.program, self.images, self.folder, self.limit = program, images, folder, limit
        self.end = time.monotonic() + limit
        self.features = folder / "features.db"
        self.run("feature_extractor", "--database_path", self.features, "--image_path", images,
                 "--ImageReader.single_camera", "1", "--SiftExtraction.use_gpu", "0", "--SiftExtraction.num_threads", "2",
                 "--SiftExtraction.max_num_features", "1024")

    def run(self, command, *options):
        # The threads of OpenMP would wait in loops, on cores that others need.
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1"}
        return subprocess.run([self.program, command, *options], check=True, capture_output=True, env=environment,
                              timeout=max(1, self.end - time.monotonic())).stdout.decode()

    def reconstruct(self, seed):
        """(registered images, points) of the largest model; (0, 0) if there is none."""
        self.end = time.monotonic() + self.limit
        database, models = self.folder / f"{seed}.db", self.folder / f"models-{seed}"
        shutil.copy(self.features, database)
        models.mkdir()
        self.run("exhaustive_matcher", "--random_seed", str(seed), "--database_path", database,
                 "--SiftMatching.use_gpu", "0", "--SiftMatching.num_threads", "2")
        try:
            self.run("mapper", "--random_seed", str(seed), "--database_path", database, "--image_path", self.images,
                     "--output_path", models, "--Mapper.num_threads", "2")
        except subprocess.CalledProcessError:  # no two images that a model could begin with
            return 0, 0
        sizes = [(0, 0)]
        for model in models.iterdir():
            said = self.run("model_analyzer", "--path", model)
            sizes.append(tuple(int(re.search(name + r": (\d+)", said)[1]) for name in ("Registered images", "Points")))
        return max(sizes)


def reconstructions(args, frames, numbers, folder):
    """(registered images, points), each the median over the seeds; None if one took longer than the limit."""
    images = folder / "images"
    images.mkdir(parents=True)
    for number in numbers:
        shutil.copy(frames[number], images / f"{number:05d}.jpg")
    try:
        colmap = Colmap(args.colmap, images, folder, args.limit)
        each = [colmap.reconstruct(seed) for seed in range(args.seeds)]
    except subprocess.TimeoutExpired:
        return None
    print(f"{folder}: {each}", file=sys.stderr, flush=True)
    return tuple(round(statistics.median(values)) for values in zip(*each))


def measure(args, name, frames, folder):
    """Prints the rows of one clip; returns (row's name, results of each way) for each."""
    clip = folder / "clip.mkv"
    folder.mkdir()
    join(frames, clip)
    rows = []
    for count in args.counts:
        percent, scores, chosen = by_displacement(args.scan, clip, count)
        results = {way: reconstructions(args, frames, numbers, folder / f"{count}" / way)
                   for way, numbers in sets_of(scores, chosen).items()}
        cells = [f"{r[0]} / {r[1]}" if r else f"not within {args.limit} s" for r in results.values()]
        print(f"| {name} | {percent}% | {len(chosen)} | " + " | ".join(cells) + " |", flush=True)
        rows.append((f"{name}, {len(chosen)} images", results))
    return rows


def ratio(ours, theirs):
    return ours / theirs if theirs else math.inf


def verdict(title, rows):
    """Prints how the sets chosen by displacement compare with each other way; rows without any model are named."""
    empty = [name for name, results in rows if not any(r and r[1] for r in results.values())]
    if empty:
        print(f"{title}: no set gives a model, left out: {'; '.join(empty)}")
    for way in WAYS[1:]:
        both = [(r["displacement"], r[way]) for name, r in rows if name not in empty and r["displacement"] and r[way]]
        both = [(ours, theirs) for ours, theirs in both if ours[1] or theirs[1]]
        if not both:
            continue
        registered = sum(a[0] >= b[0] for a, b in both)
        points = statistics.median(ratio(a[1], b[1]) for a, b in both)
        said = f"{way} gives no model" if points == math.inf else f"{points:.2f} times the points"
        print(f"{title}, compared with {way}: at least as many images registered in {registered} of {len(both)} rows; "
              f"{said} in the median")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=pathlib.Path, nargs="+",
                        help="videos that GStreamer decodes, or sequences of images (image%%04d.pgm, from 0 on)")
    parser.add_argument("--scan", default="framequality-scan", help="the program (default: %(default)s)")
    parser.add_argument("--colmap", default="colmap", help="the program (default: %(default)s)")
    parser.add_argument("--counts", type=int, nargs="+", default=[12], help="images of each set, about (default: 12)")
    parser.add_argument("--rests", action="store_true", help="try each clip also with a camera that rests")
    parser.add_argument("--seeds", type=int, default=3, help="reconstructions of each set (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one reconstruction (default: %(default)s)")
    args = parser.parse_args()
    print("| clip | `--every` | images | " + " | ".join(WAYS) + " |\n|---|--:|--:|" + "--:|" * len(WAYS))
    kinds = {"as recorded": [], "with rests": []} if args.rests else {"as recorded": []}
    for clip in args.clips:
        name = f"{clip.parent.name}/{clip.name}" if "%" in clip.name else clip.name
        with tempfile.TemporaryDirectory(prefix="fq-colmap-") as folder:
            folder = pathlib.Path(folder)
            frames = decode(clip, folder / "frames")
            kinds["as recorded"] += measure(args, name, frames, folder / "recorded")
            if args.rests:
                kinds["with rests"] += measure(args, f"{name}, with rests", rested(frames), folder / "rested")
    for title, rows in kinds.items():
        verdict(title, rows)


if __name__ == "__main__":
    main()
