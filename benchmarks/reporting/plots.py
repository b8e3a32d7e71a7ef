# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots of the benchmarks, for docs/figures/."""
import os

from .results import pick, times, unique
from .sharpness import REDUCTIONS


def halftone_speed(data, path, plt):
    """Time of a frame against its size, ours and the published scheme."""
    rows = data["rows"]
    sizes = [s for s in unique(r["size"] for r in rows) if len(set(s.split("x"))) == 1]
    lines = {"Floyd-Steinberg, published scheme, best height of strips": [
        min(r["ms"] for r in rows if r["size"] == s and r["what"].startswith("published") and "copies" not in r["what"])
        for s in sizes]}
    for label, method, what in (("tdfed, 64 rows", "tdfed 64 rows", "kernels, in flight 1"),
                                ("Floyd-Steinberg, one frame at a time", "floyd-steinberg", "kernels, in flight 1"),
                                ("Floyd-Steinberg, 16 in flight", "floyd-steinberg", "kernels, in flight 16"),
                                ("blue noise", "blue-noise", "kernels, in flight 1")):
        lines[label] = [pick(rows, method=method, what=what, size=s)[0]["ms"] for s in sizes]
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    pixels = [int(s.split("x")[0]) ** 2 for s in sizes]
    for (label, ms), marker in zip(lines.items(), "sov^D"):
        axes.loglog(pixels, ms, marker=marker, label=label)
    axes.set(xlabel="picture, 8 bit grey, in GPU memory", ylabel="ms a frame", title="Halftoning on a GPU")
    axes.set_ylim(top=1000)
    axes.set_xticks(pixels, sizes)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def where_the_gpu_pays(data, path, plt):
    """Time of a frame against its size: where the GPU pays."""
    rows = times(data)
    metric = "tenengrad"
    sizes = unique(n.split("/")[2] for n in rows if n.startswith(f"ours-pinned/{metric}/"))
    pixels = [int(s.split("x")[0]) * int(s.split("x")[1]) for s in sizes]
    lines = {"classical GPU pipeline, best reduction": [min(rows[f"classical-{r}/{metric}/{s}"][0] for r in REDUCTIONS)
                                                        for s in sizes]}
    for kind, label in (("cpu", "ours, CPU, one core"), ("ours-pageable", "ours, GPU, pageable memory"),
                        ("ours-pinned", "ours, GPU, pinned memory")):
        lines[label] = [rows[f"{kind}/{metric}/{s}"][0] for s in sizes]
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for (label, ms), marker in zip(lines.items(), "sov^"):
        axes.loglog(pixels, ms, marker=marker, label=label)
    axes.set(xlabel="frame, BGR 8 bit, from host memory", ylabel="ms per frame", title=f"Where the GPU pays: {metric}")
    axes.set_xticks(pixels, sizes)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def pipelines(data, path, plt):
    """Frames a second of pipelines against in-flight, beside the bare loop."""
    rows = data["rows"]
    sizes = unique(r["size"] for r in pick(rows, kind="pipeline", device="cuda", format="NV12"))
    if not sizes:
        return
    figure, all_axes = plt.subplots(1, len(sizes), figsize=(5 * len(sizes), 4), layout="constrained", squeeze=False)
    for axes, size in zip(all_axes[0], sizes):
        for memory, marker in (("pinned", "o"), ("recycled", "s"), ("fresh", "^"), ("cuda", "v")):
            found = pick(rows, kind="pipeline", device="cuda", format="NV12", size=size, memory=memory)
            if found:
                axes.plot([r["in_flight"] for r in found], [r["frames_per_second"] for r in found], marker=marker,
                          label=f"pipeline, {memory}")
        found = pick(rows, kind="loop", device="cuda", memory="pinned", size=size)
        axes.plot([r["in_flight"] for r in found], [r["frames_per_second"] for r in found], "k--",
                  label="bare loop, pinned")
        for r in pick(rows, kind="pipeline", device="cpu", format="NV12", size=size, memory="recycled"):
            axes.axhline(r["frames_per_second"], color="gray", linestyle=":", label="pipeline, CPU")
        axes.set(xlabel="in-flight", ylabel="frames/s", title=f"{size} NV12",
                 xticks=unique(r["in_flight"] for r in found))
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path)


PLOTS = {"pipeline_bench": (pipelines, "pipelines.svg"), "halftone_cuda_bench": (halftone_speed, "halftone-speed.svg"),
         "classical_bench": (where_the_gpu_pays, "where-the-gpu-pays.svg")}


def draw(data, folder):
    """The plot of this program's results, if there is one."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    if data.get("context", {}).get("program") in PLOTS:
        plot, name = PLOTS[data["context"]["program"]]
        plot(data, os.path.join(folder, name), plt)
