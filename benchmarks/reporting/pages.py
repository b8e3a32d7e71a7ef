# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of the pages, each made of files in benchmarks/results/: between `<!-- report.py: NAME -->` and
`<!-- report.py: end -->` a page holds what the table of that name makes."""
import difflib
import os
import pathlib
import re
import sys

from . import archives, focus, others, sharpness, watch
from .results import FOLDER, figures, is_busy, load, only, pick, provenance, rounded, table, times, unique

ROOT = pathlib.Path(FOLDER).resolve().parents[1]
BLOCK = re.compile(r"(<!-- report\.py: (?!end)(?P<name>[a-z-]+) -->\n).*?(<!-- report\.py: end -->)", re.DOTALL)


def machine(data, text):
    """A short name of the machine, and whether it was quiet."""
    return text + (" on a busy machine" if is_busy(data) else "")


def headline(cpu, pipeline, streams, denoise, denoise_cpu):
    """Five numbers, for the README."""
    core = times(cpu)["cpu/tenengrad/1080p"][0]
    opencv = min(times(cpu)[f"opencv-{how}/tenengrad/1080p"][0] for how in ("float", "norm"))
    frames = {memory: only(pipeline["rows"], kind="pipeline", device="cuda", format="NV12", size="1080p", memory=memory,
                           in_flight=2)["frames_per_second"] for memory in ("pinned", "cuda")}
    live = max(pick(streams["rows"], kind="live", holds=True), key=lambda r: (r["seconds"], r["streams"]))
    kernel, clean = (only(denoise["rows"], size="1920x1080", layout="gray8", filter=name, what="kernel as chosen")["ms"]
                     for name in (others.DEFAULT, others.CLEAN))
    slow = times(denoise_cpu, "cpu_time")["avx512/nlmeans-21x21-7x7/1080p"][0]
    epyc = "one core of an AMD EPYC"
    rows = [
        ["`tenengrad`, GRAY8 in memory", f"{core:.3f} ms, {rounded(1e3 / core)} frames/s; OpenCV's fastest recipe {opencv:.2f} ms",
         machine(cpu, epyc)],
        ["pipeline, NV12 in pinned memory, `in-flight=2`", f"{rounded(frames['pinned'])} frames/s", "NVIDIA H200"],
        ["pipeline, NV12 in GPU memory, `in-flight=2`", f"{rounded(frames['cuda'])} frames/s", "NVIDIA H200"],
        [f"{live['streams']} live streams of 60 frames/s, {live['seconds']:.0f} s",
         f"{live['late'] or 'no'} late frames, using {live['cores_used']:.1f} CPU cores", "NVIDIA H200"],
        ["`nlmeans`, gray, 21x21 pixels, patches of 7x7", f"kernels alone: {figures(kernel)} ms, {figures(clean)} ms for a clean frame; CPU: {figures(slow)} ms",
         "NVIDIA H200; " + machine(denoise_cpu, epyc)]]
    return ["| 1920x1080 | measured | on |\n|---|---|---|\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows)]


def denoise_summary(gpu, cpu):
    """Both denoisers and what else there is, for denoising.md."""
    core = times(cpu, "cpu_time")
    nlmeans = "nlmeans-21x21-7x7/1080p"
    def kernel(name):
        found = pick(gpu["rows"], size="1920x1080", layout="gray8", filter=name, what="kernel as chosen")
        return figures(found[0]["ms"]) if found else ""

    cores = [figures(core[name][0]) for name in (f"avx512/{nlmeans}", "avx512/patchbilateral-7x7-3x3/1080p",
                                                 f"opencv/{nlmeans}", f"ffmpeg/{nlmeans}")]
    return [table(["ms for a gray frame of 1920x1080, 8 bits", "`nlmeans`", "`patchbilateral`", "OpenCV", "FFmpeg `nlmeans`"],
                  [["NVIDIA H200, kernels alone, default strength", kernel(others.DEFAULT), kernel(others.BILATERAL_DEFAULT), "", ""],
                   ["the same, a clean frame", kernel(others.CLEAN), "", "", ""],
                   ["NVIDIA H200, kernel alone, fixed strength", kernel(others.NLMEANS), kernel(others.BILATERAL), "", ""],
                   [machine(cpu, "CPU time of one core of an AMD EPYC with AVX-512"), *cores]])]


CPU, CUDA, PIPELINE = "cpu-epyc.json", "cuda-h200.json", "pipeline-h200.json"
# name -> (function, the files that it reads, whether the page says where they come from)
TABLES = {
    "headline": (headline, (CPU, PIPELINE, "streams-h200.json", "denoise-h200.json", "denoise-epyc.json"), False),
    "crossover": (sharpness.crossover, ("devices-h100.json",), True),
    "opencl": (sharpness.opencl, ("opencl-h200.json",), True),
    "denoise-summary": (denoise_summary, ("denoise-h200.json", "denoise-epyc.json"), False),
    "cpu": (sharpness.cpu, (CPU,), True),
    "libraries": (sharpness.libraries, (CPU, CUDA, "npp-h200.json"), True),
    "kernels": (sharpness.kernels, (CUDA,), True),
    "formats": (sharpness.formats, ("layouts-h200.json",), True),
    "pipelines": (sharpness.pipelines, (PIPELINE,), True),
    "streams": (sharpness.streams, ("streams-h200.json",), True),
    "overlay-summary": (sharpness.overlay_summary, ("overlay-epyc.json", "overlay-moving-epyc.json"), False),
    "archives": (archives.archives, ("archive-h200.json", "scan-epyc.json"), True),
    "bliinds": (others.bliinds, ("bliinds-xeon.json", "bliinds-h200.json"), True),
    "denoise-cpu": (others.denoise_cpu, ("denoise-epyc.json",), True),
    "denoise-gpu": (others.denoise_gpu, ("denoise-h200.json",), True),
    "focus-speed": (focus.speed, ("focus-epyc.json",), True),
    "focus-contrast": (focus.contrast, ("focus-epyc.json",), False),
    "focus-refocus": (focus.refocus, ("focus-epyc.json",), False),
    "focus-lenses": (focus.lenses, ("focus-epyc.json",), False),
    "focus-scenes": (focus.scenes, ("focus-epyc.json",), False),
    "focus-certainty": (focus.certainty, ("focus-epyc.json",), False),
    "focus-moving": (focus.moving, ("focus-epyc.json",), False),
    "focus-disturbances": (focus.disturbances, ("focus-epyc.json",), False),
    "halftone-cpu": (others.halftone_cpu, ("halftone-epyc.json",), True),
    "halftone-gpu": (others.halftone_gpu, ("halftone-h200.json",), True),
    "watch-noticed": (watch.noticed, ("watch-noticed-epyc.json",), True),
    "watch-load": (watch.load, ("watch-load-100-epyc.json", "watch-load-16-epyc.json"), True),
    "watch-streams": (watch.streams, ("streams-watch-h200.json",), True),
    "watch-false-alarms": (watch.false_alarms, ("watch-false-alarms-epyc.json",), True),
}


def text_of(name):
    function, files, tell = TABLES[name]
    data = [load(os.path.join(FOLDER, file)) for file in files]
    said = "\n\n".join(provenance(file, one) for file, one in zip(files, data)) if tell else ""
    return "\n\n".join(filter(None, [said, *function(*data)]))


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def update(paths, check):
    """Writes the tables of these pages, or with check shows what would change; -> how many pages are not what they
    should be. Over all pages each table must be there once, and each file of results in one of them."""
    found, stale = [], 0

    def block(match):
        found.append(match["name"])
        if match["name"] not in TABLES:
            sys.exit(f"report.py: {path}: there is no table called {match['name']}")
        return match[1] + "\n" + text_of(match["name"]) + "\n\n" + match[3]

    for path in paths or pages():
        old = pathlib.Path(path).read_text(encoding="utf-8")
        new = BLOCK.sub(block, old)
        if new == old:
            continue
        stale += 1
        if check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(path), "the results say"))
            print(f"\n{path} is stale: run benchmarks/report.py --write")
        else:
            pathlib.Path(path).write_text(new, encoding="utf-8")
            print(f"{path}: written")
    if not paths:
        used = {file for _, files, _ in TABLES.values() for file in files}
        there = {name for name in os.listdir(FOLDER) if name.endswith(".json")}
        for wrong, text in ((set(TABLES) - set(found), "not on any page"), (there - used, "in no table"),
                            ({name for name in found if found.count(name) > 1}, "on pages twice")):
            if wrong:
                sys.exit(f"report.py: {text}: {', '.join(sorted(wrong))}")
    return stale
