#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Markdown tables, and plots if wanted, from the JSON that the benchmark programs write.

Programs without tables of their own get one of their rows as they are.
usage: report.py [--plots DIR] FILE.json...
"""
import argparse
import json
import os


SCALE = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
NO_NAME = ("manual_time", "process_time", "real_time")


def named(benchmarks):
    """-> {"kind/metric/size": benchmark}; medians where a run was repeated."""
    rows = {}
    for b in benchmarks:
        if b.get("run_type") == "aggregate" and b.get("aggregate_name") != "median":
            continue
        rows["/".join(p for p in b["run_name"].split("/") if ":" not in p and p not in NO_NAME)] = b
    return rows


def read(data):
    """-> {"kind/metric/size": (milliseconds, bytes per second)}"""
    return {name: (b["real_time"] * SCALE[b["time_unit"]], b.get("bytes_per_second", 0))
            for name, b in named(data["benchmarks"]).items()}


def table(head, rows):
    """Prints a table; the first column is text, the others are numbers."""
    print("\n| " + " | ".join(head) + " |\n|---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def plain_tables(rows):
    """The rows as they are, a table for each set of fields."""
    def cell(value):
        return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

    for head in unique(tuple(r) for r in rows):
        table(head, [[cell(v) for v in r.values()] for r in rows if tuple(r) == head])


def pick(rows, **wanted):
    """The rows with these values, in order; those that failed are left out."""
    return [r for r in rows if "error" not in r and all(r.get(k) == v for k, v in wanted.items())]


def unique(values):
    return list(dict.fromkeys(values))


def metrics_of(rows, kind, size):
    return [n.split("/")[1] for n in rows if n.startswith(kind + "/") and n.endswith("/" + size)]


def cpu_tables(rows):
    for size in ("1080p", "2160p"):
        names = metrics_of(rows, "cpu", size)
        if not names or f"read/{size}" not in rows:
            continue
        bandwidth = rows[f"read/{size}"][1]
        print(f"\n### CPU, one core, {size} GRAY8\n\nReading the frame and nothing else: "
              f"{rows[f'read/{size}'][0]:.3f} ms, {bandwidth / 1e9:.0f} GB/s.\n")
        print("| metric | ms | GB/s | of read | one pixel at a time, ms | faster | auto-vectorised, ms | faster "
              "| binomial3 | binomial5 |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
        for m in names:
            ms, rate = rows[f"cpu/{m}/{size}"]
            plain = rows[f"textbook/{m}/{size}"][0]
            auto = rows[f"textbook-vectorised/{m}/{size}"][0]
            smooth = [rows[f"cpu-{p}/{m}/{size}"][0] / ms for p in ("binomial3", "binomial5")]
            print(f"| `{m}` | {ms:.3f} | {rate / 1e9:.1f} | {rate / bandwidth:.0%} | {plain:.2f} | {plain / ms:.1f}x "
                  f"| {auto:.2f} | {auto / ms:.1f}x | {smooth[0]:.1f}x | {smooth[1]:.1f}x |")
        for name, metric in (("opencv-float", "tenengrad"), ("opencv-norm", "tenengrad"),
                             ("opencv", "laplacian-variance")):
            if f"{name}/{metric}/{size}" in rows:
                theirs, ours = rows[f"{name}/{metric}/{size}"][0], rows[f"cpu/{metric}/{size}"][0]
                print(f"\n`{metric}` by OpenCV ({name}): {theirs:.2f} ms; ours {ours:.3f} ms, "
                      f"**{theirs / ours:.1f}x** faster.")
        print("\n| instruction set | " + " | ".join(f"`{m}`" for m in names) + " |")
        print("|---|" + "--:|" * len(names))
        for isa in ("avx512", "avx2", "baseline"):
            if f"cpu-{isa}/{names[0]}/{size}" in rows:
                print(f"| {isa} | " + " | ".join(f"{rows[f'cpu-{isa}/{m}/{size}'][0]:.3f}" for m in names) + " |")


def cuda_tables(rows):
    sizes = [s for s in ("1080p", "2160p", "8192x8192") if metrics_of(rows, "cuda-kernel", s)]
    if not sizes:
        return
    print("\n### GPU kernels, frames rotating in device memory\n")
    bandwidth = rows["device-read"][1] if "device-read" in rows else None
    if bandwidth:
        print(f"Reading device memory: {bandwidth / 1e12:.2f} TB/s.\n")
    kinds = {"cuda-kernel": "one after the other", "cuda-kernel-in-flight": "two in flight", "cuda-kernel-16bit": "16 bit"}
    columns = [(kind, s) for s in sizes for kind in ("cuda-kernel", "cuda-kernel-in-flight")]
    columns += [("cuda-kernel-16bit", sizes[-1])]

    def cell(name):
        if name not in rows:
            return ""
        ms, rate = rows[name]
        return f"{ms * 1e3:.1f}" + (f" ({rate / bandwidth:.0%})" if bandwidth else f" ({rate / 1e12:.2f} TB/s)")

    body = []
    for m in metrics_of(rows, "cuda-kernel", sizes[0]):
        for variant in ("", "/noise", "/flat"):
            if f"cuda-kernel/{m}/{sizes[-1]}{variant}" in rows:
                body.append([f"`{m}`" + variant.replace("/", ", ")]
                            + [cell(f"{kind}/{m}/{s}{variant}") for kind, s in columns])
    table(["us a frame"] + [f"{s}, {kinds[kind]}" for kind, s in columns], body)
    extra = {"cuda-kernel-binomial3": "with binomial3, us", "cuda-kernel-binomial5": "with binomial5, us",
             "cuda-frame": "whole frame from pageable host memory, GPU, us", "cpu-frame": "the same, CPU, one core, us"}
    body = [[text] + [f"{rows[f'{kind}/tenengrad/{s}'][0] * 1e3:.1f}" for s in sizes]
            for kind, text in extra.items() if f"{kind}/tenengrad/{sizes[-1]}" in rows]
    if body:
        print()
        table(["tenengrad"] + sizes, body)


REDUCTIONS = ("divergent", "strided", "sequential", "first-add", "unrolled")
STEPS = ("allocate", "upload", "gray", "pixels", "reduce", "download", "add", "release")


def classical_tables(rows, benchmarks):
    metrics = unique(n.split("/")[1] for n in rows if n.startswith("classical-"))
    for m in metrics:
        sizes = unique(n.split("/")[2] for n in rows if n.startswith("ours-pinned/" + m + "/"))
        print(f"\n### `{m}`, BGR from host memory: classical pipeline, ours, CPU\n\nUnit: ms. Totals are equal.")
        body = []
        for size in sizes:
            at = {k: rows[f"{k}/{m}/{size}"][0] for k in ("ours-pageable", "ours-pinned", "cpu")}
            classical = [rows[f"classical-{r}/{m}/{size}"][0] for r in REDUCTIONS]
            best = min(classical)
            body.append([size] + [f"{v:.3f}" for v in classical + [at["ours-pageable"]]]
                        + [f"{best / at['ours-pageable']:.1f}x", f"{at['ours-pinned']:.3f}",
                           f"{best / at['ours-pinned']:.1f}x", f"{at['cpu']:.3f}",
                           min(at, key=at.get).replace("ours-", "GPU, ").replace("cpu", "CPU")])
        table(["size"] + [f"classical, {r}" for r in REDUCTIONS]
              + ["ours, pageable", "faster than the best", "ours, pinned", "faster than the best", "CPU, one core",
                 "fastest of ours"], body)
    if not metrics:
        return
    print(f"\nWhere the time of the classical pipeline goes, `{metrics[0]}`, unrolled, in us, the device waited for "
          "after each step:")
    body = []
    for b in benchmarks:
        if b["run_name"].startswith(f"classical-unrolled/{metrics[0]}/") and STEPS[0] + "_us" in b:
            body.append([b["run_name"].split("/")[2]] + [f"{b[s + '_us']:.1f}" for s in STEPS])
    table(["size"] + list(STEPS), body)


def loop_tables(rows):
    kinds = {"pinned-copy": "pinned copies, back to back", "pinned-copy-again": "pinned copies, measured again",
             "memcpy": "memcpy to pinned memory, one thread", "bare": "bare loop, pinned frames",
             "staged": "bare loop, staged by memcpy", "meter-pinned": "our meters, pinned frames",
             "meter-pageable": "our meters, pageable frames", "cpu": "CPU, one core"}
    for size in unique(r["size"] for r in rows):
        here = pick(rows, size=size)
        print(f"\n### Loop over {size} {here[0]['format']} frames in host memory, {here[0]['bytes'] / 1e6:.1f} MB each")
        body = []
        for r in here:
            share = f"{r['of_copy']:.1%}" if "of_copy" in r else ""
            body.append([kinds[r["kind"]], str(r["in_flight"] or ""), f"{r['frames_per_second']:.0f}",
                         f"{1e6 / r['frames_per_second']:.1f}", f"{r['bytes_per_second'] / 1e9:.2f}", share])
        table(["", "in flight", "frames/s", "us/frame", "GB/s", "of pinned copies"], body)


def pipeline_tables(rows):
    for size in unique(r["size"] for r in rows):
        for fmt in unique(r["format"] for r in pick(rows, size=size, kind="pipeline")):
            counts = unique(r["in_flight"] for r in pick(rows, size=size, kind="pipeline", format=fmt, device="cuda"))
            print(f"\n### Pipelines of {size} {fmt}: frames/s, and as a share of the loop's")
            body = []
            for memory in unique(r["memory"] for r in pick(rows, size=size, kind="pipeline", format=fmt)):
                cells = [memory]
                for device, n in [("cpu", 0)] + [("cuda", n) for n in counts]:
                    found = pick(rows, size=size, kind="pipeline", format=fmt, memory=memory, device=device,
                                 in_flight=n)
                    share = f" ({found[0]['of_loop']:.0%})" if found and "of_loop" in found[0] else ""
                    cells.append(f"{found[0]['frames_per_second']:.0f}{share}" if found else "")
                alone = pick(rows, size=size, kind="source", format=fmt, memory=memory)
                body.append(cells + [f"{alone[0]['frames_per_second']:.0f}" if alone else ""])
            for memory in unique(r["memory"] for r in pick(rows, size=size, kind="loop", device="cuda")):
                loops = {r["in_flight"]: r for r in pick(rows, size=size, kind="loop", device="cuda", memory=memory)}
                body.append([f"bare loop of in-flight + 1 slots, {memory}", ""]
                            + [f"{loops[n]['frames_per_second']:.0f}" if n in loops else "" for n in counts] + [""])
            table(["source's memory", "CPU"] + [f"in-flight={n}" for n in counts] + ["source alone"], body)
        copies = pick(rows, size=size, kind="pinned-copy")
        if copies:
            print(f"\nPinned copies of the Y plane: {copies[0]['frames_per_second']:.0f} frames/s, "
                  f"{copies[0]['bytes_per_second'] / 1e9:.2f} GB/s.")
    if pick(rows, kind="latency"):
        print("\n### Latency of one frame, in-flight=0, us")
        table(["size, memory, device", "median", "99% within", "bare: median", "99% within"],
              [[f"{r['size']}, {r['memory']}, {r['device']}"]
               + [f"{r[k]:.1f}" for k in ("median_us", "p99_us", "bare_median_us", "bare_p99_us")]
               for r in pick(rows, kind="latency")])
    failed = unique((r["memory"], r["device"], r["error"]) for r in rows if "error" in r)
    for memory, device, error in failed:
        print(f"\nNot measured, {memory} memory, {device}: {error}.")


def streams_tables(rows):
    many, live = pick(rows, kind="unthrottled"), pick(rows, kind="live")
    if many:
        print(f"\n### Many streams of 1080p {many[0]['format']}, {many[0]['memory']}, {many[0]['device']}, "
              "as fast as they go")
        table(["streams, in-flight", "frames/s, all together", "GB/s (Y)", "of the bus", "cores busy"],
              [[f"{r['streams']}, {r['in_flight']}", f"{r['frames_per_second']:.0f}",
                f"{r['bytes_per_second'] / 1e9:.2f}", f"{r['of_bus']:.1%}" if "of_bus" in r else "",
                f"{r['cores_used']:.1f}"] for r in many])
    if live:
        print(f"\n### Many live streams of 1080p {live[0]['format']}, {live[0]['memory']}, {live[0]['device']}, "
              f"60 frames a second each, in-flight={live[0]['in_flight']}")
        table(["streams", "seconds", "frames", "late", "of these came late", "latest, ms", "cores busy"],
              [[str(r["streams"])] + [f"{r['seconds']:.0f}", str(r["frames"]), str(r["late"]), str(r["came_late"]),
                                      f"{r['worst_ms']:.1f}", f"{r['cores_used']:.1f}"] for r in live])
        longest = max(r["seconds"] for r in live)
        most = max((r["streams"] for r in live if r["holds"] and r["seconds"] == longest), default=0)
        print(f"\nMost live streams that held for {longest:.0f} s without a late frame: **{most}**.")


def denoise_pipeline_tables(rows):
    for key in unique((r["element"], r["width"], r["height"]) for r in pick(rows, kind="pipeline")):
        ours = pick(rows, **dict(zip(("element", "width", "height"), key)))
        print(f"\n### {key[0]}, {key[1]}x{key[2]} NV12: frames/s\n\nIn brackets the share of the bare loop that has as "
              "many frames pending; behind a decoder, of the slower of the decoder alone and the same pipeline with "
              "frames from a pool.")
        counts = unique(r["in_flight"] for r in pick(ours, kind="pipeline"))
        body = []
        for device, memory, kind in unique((r["device"], r["memory"], r["kind"]) for r in ours if "error" not in r):
            cells = [f"{kind}, {device}, {memory}"]
            for n in counts:
                found = pick(ours, device=device, memory=memory, kind=kind, in_flight=n)
                share = found[0].get("of_loop", found[0].get("of_slower")) if found else None
                cells.append((f"{found[0]['frames_per_second']:.1f}" + (f" ({share:.0%})" if share else ""))
                             if found else "")
            body.append(cells)
        table(["what, device, memory"] + [f"in-flight={n}" for n in counts], body)
    for element, kind, error in unique((r["element"], r["kind"], r["error"]) for r in rows if "error" in r):
        print(f"\nNot measured, {element}, {kind}: {error}.")


def halftone_tables(rows):
    """A row for each method and way, a column for each size."""
    sizes = unique(r["size"] for r in rows)
    table(["ms a frame"] + sizes,
          [[f"{method}, {what}"] + ["".join(f"{r['ms']:.4g}" for r in pick(rows, method=method, what=what, size=s))
                                    for s in sizes]
           for method, what in unique((r["method"], r["what"]) for r in rows)])


def halftone_cpu_rows(rows):
    """The same of what halftone_bench has measured."""
    for name, (ms, _) in rows.items():
        isa, method, side = name.split("/")
        yield {"size": f"{side}x{side}", "method": method, "what": isa, "ms": ms}


def plot_halftone(rows, path, plt):
    """Time of a frame against its size, ours and the published scheme."""
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


def plot_classical(rows, path, plt):
    """Time of a frame against its size: where the GPU pays."""
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


def plot_pipelines(rows, path, plt):
    """Frames a second of pipelines against in-flight, beside the bare loop."""
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


def report(path, plots):
    with open(path) as f:
        data = json.load(f)
    if "context" not in data:
        # Of a script that times programs by turns: rows by name, and beside them how they were measured.
        print(f"\nFrom `{os.path.basename(path)}`: "
              + ", ".join(f"{k} {v}" for k, v in data.items() if not isinstance(v, dict)))
        plain_tables([{"": name, **fields} for name, fields in data.items() if isinstance(fields, dict)])
        return
    context, plain = data["context"], data.get("rows")
    print(f"\nFrom `{os.path.basename(path)}`, {context.get('date', '')[:10]}: "
          + ", ".join(f"{k} {context[k]}" for k in ("machine", "cores", "gpu", "driver", "compiler", "commit", "command")
                      if k in context))
    if plots:
        import matplotlib
        matplotlib.use("svg")
        import matplotlib.pyplot as plt
    if plain is not None:
        tables = {"denoise_pipeline_bench": denoise_pipeline_tables, "halftone_cuda_bench": halftone_tables,
                  "loop_bench": loop_tables,
                  "pipeline_bench": pipeline_tables, "streams_bench": streams_tables}
        tables.get(context["program"], plain_tables)(plain)
        if plots and context["program"] == "pipeline_bench":
            plot_pipelines(plain, os.path.join(plots, "pipelines.svg"), plt)
        if plots and context["program"] == "halftone_cuda_bench":
            plot_halftone(plain, os.path.join(plots, "halftone-speed.svg"), plt)
        return
    rows = read(data)
    if context.get("command", "").startswith("halftone_bench"):
        halftone_tables(list(halftone_cpu_rows(rows)))
        return
    if not any(name.startswith(("cpu/", "cuda-kernel/", "classical-")) for name in rows):
        plain_tables([{"": name, "ms": b["real_time"] * SCALE[b["time_unit"]],
                       "CPU ms": b["cpu_time"] * SCALE[b["time_unit"]]}
                      for name, b in named(data["benchmarks"]).items()])
    cpu_tables(rows)
    cuda_tables(rows)
    classical_tables(rows, data["benchmarks"])
    if plots and context.get("program") == "classical_bench":
        plot_classical(rows, os.path.join(plots, "where-the-gpu-pays.svg"), plt)


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--plots", metavar="DIR", help="also draw plots into this folder")
parser.add_argument("files", nargs="+", metavar="FILE.json")
arguments = parser.parse_args()
for file in arguments.files:
    report(file, arguments.plots)
