#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""COLMAP's reconstructions from frames chosen by displacement, and from as many frames chosen in other ways.

For each clip, framequality-scan --every N% chooses about --count frames; N is searched for. The other sets have exactly
as many: evenly spaced frames, the sharpest of each of as many equal parts, and the sharpest of all. COLMAP runs on the
CPU, on images at most 640 pixels wide. Prints a Markdown table: images registered in the largest model, and its points.
"""
import argparse
import csv
import io
import json
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


def scan(tool, clip, *options):
    """The scores of all frames, and the manifest."""
    with tempfile.TemporaryDirectory(prefix="fq-scan-") as folder:
        manifest = pathlib.Path(folder) / "manifest.json"
        done = subprocess.run([tool, "-q", *options, "--manifest", manifest, clip], check=True, stdout=subprocess.PIPE)
        rows = csv.DictReader(io.StringIO(done.stdout.decode()))
        return [float(row["score"]) for row in rows], json.loads(manifest.read_bytes())


def by_displacement(tool, clip, count):
    """(N, scores, chosen frames, width) for the N whose number of chosen frames is closest to count."""
    least, most, best = 0.1, 60.0, None
    for _ in range(ROUNDS):
        percent = round((least * most) ** 0.5, 2)
        scores, manifest = scan(tool, clip, "--every", f"{percent}%")
        chosen = [f["frame"] for f in manifest["frames"]]
        if best is None or abs(len(chosen) - count) < abs(len(best[2]) - count):
            best = percent, scores, chosen, manifest["frames"][0]["w"]
        least, most = (percent, most) if len(chosen) > count else (least, percent)
    return best


def sets_of(scores, chosen):
    """The frames of each way of choosing."""
    count, length = len(chosen), len(scores)
    parts = [range(i * length // count, (i + 1) * length // count) for i in range(count)]
    return {
        "displacement": chosen,
        "uniform": [part[len(part) // 2] for part in parts],
        "time": [max(part, key=scores.__getitem__) for part in parts],
        "sharpness": sorted(sorted(range(length), key=scores.__getitem__)[-count:]),
    }


def decode(clip, width, folder):
    """All frames as 00000.jpg and so on."""
    folder.mkdir()
    size = f"videoscale ! video/x-raw,width={WIDEST},pixel-aspect-ratio=1/1 ! " if width > WIDEST else ""
    subprocess.run(["gst-launch-1.0", "-q", *f"filesrc location={clip} ! decodebin ! videoconvert ! {size}jpegenc "
                    f"quality=95 ! multifilesink location={folder}/%05d.jpg".split()], check=True)


class Colmap:
    """One reconstruction: a folder of images, at most `limit` seconds."""

    def __init__(self, program, images, folder, limit):
        self.program, self.images, self.folder, self.end = program, images, folder, time.monotonic() + limit

    def run(self, command, *options):
        return subprocess.run(["nice", "-n", "19", self.program, command, *options], check=True, capture_output=True,
                              env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
                              timeout=max(1, self.end - time.monotonic())).stdout.decode()

    def reconstruct(self):
        """(registered images, points) of the largest model; (0, 0) if there is none."""
        database, models = self.folder / "database.db", self.folder / "models"
        models.mkdir()
        self.run("feature_extractor", "--database_path", database, "--image_path", self.images,
                 "--ImageReader.single_camera", "1", "--SiftExtraction.use_gpu", "0", "--SiftExtraction.num_threads", "2",
                 "--SiftExtraction.max_num_features", "1024")
        self.run("exhaustive_matcher", "--database_path", database, "--SiftMatching.use_gpu", "0",
                 "--SiftMatching.num_threads", "2")
        try:
            self.run("mapper", "--database_path", database, "--image_path", self.images, "--output_path", models,
                     "--Mapper.num_threads", "2")
        except subprocess.CalledProcessError:  # no two images that a model could begin with
            return 0, 0
        sizes = [(0, 0)]
        for model in models.iterdir():
            said = self.run("model_analyzer", "--path", model)
            sizes.append(tuple(int(re.search(name + r": (\d+)", said)[1]) for name in ("Registered images", "Points")))
        return max(sizes)


def measure(args, clip, folder):
    percent, scores, chosen, width = by_displacement(args.scan, clip, args.count)
    frames = folder / "frames"
    decode(clip, width, frames)
    results = {}
    for way, numbers in sets_of(scores, chosen).items():
        own = folder / way
        images = own / "images"
        images.mkdir(parents=True)
        for number in numbers:
            shutil.copy(frames / f"{number:05d}.jpg", images)
        try:
            results[way] = Colmap(args.colmap, images, own, args.limit).reconstruct()
        except subprocess.TimeoutExpired:
            results[way] = None
        print(f"{clip.name} {way}: {results[way]}", file=sys.stderr, flush=True)
    cells = [f"{r[0]} / {r[1]}" if r else f"not within {args.limit} s" for r in results.values()]
    print(f"| {clip.name} | {percent}% | {len(chosen)} | " + " | ".join(cells) + " |", flush=True)
    return results


def verdict(all_results):
    """What the table says for displacement, compared with the best of the other ways and with each."""
    for way in ("uniform", "time", "sharpness"):
        both = [(r["displacement"], r[way]) for r in all_results if r["displacement"] and r[way]]
        if not both:
            continue
        registered = sum(a[0] >= b[0] for a, b in both)
        points = statistics.median(a[1] / max(1, b[1]) for a, b in both)
        print(f"compared with {way}: at least as many images registered in {registered} of {len(both)} clips, "
              f"{points:.2f} times the points in the median")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", type=pathlib.Path, nargs="+", help="videos that GStreamer decodes")
    parser.add_argument("--scan", default="framequality-scan", help="the program (default: %(default)s)")
    parser.add_argument("--colmap", default="colmap", help="the program (default: %(default)s)")
    parser.add_argument("--count", type=int, default=16, help="images of each set, about (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one reconstruction (default: %(default)s)")
    args = parser.parse_args()
    print("| clip | `--every` | images | displacement | uniform | time | sharpness |\n|---|--:|--:|--:|--:|--:|--:|")
    results = []
    for clip in args.clips:
        with tempfile.TemporaryDirectory(prefix="fq-colmap-") as folder:
            results.append(measure(args, clip, pathlib.Path(folder)))
    verdict(results)


if __name__ == "__main__":
    main()
