# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of the sharpness meter: CPU, kernels, the classical pipeline, loops, pipelines, streams, scanner, overlay."""
from .results import only, pick, rounded, table, times, unique

REDUCTIONS = ("divergent", "strided", "sequential", "first-add", "unrolled")
STEPS = ("allocate", "upload", "gray", "pixels", "reduce", "download", "add", "release")


def metrics_of(rows, kind, size):
    return [n.split("/")[1] for n in rows if n.startswith(kind + "/") and n.endswith("/" + size)]


def cpu(data):
    rows, parts = times(data), []
    for size in ("1080p", "2160p"):
        names = metrics_of(rows, "cpu", size)
        if not names or f"read/{size}" not in rows:
            continue
        reading, bandwidth = rows[f"read/{size}"]
        parts.append(f"**One core, {size} GRAY8.** Reading the frame and nothing else: {reading:.3f} ms, "
                     f"{bandwidth / 1e9:.0f} GB/s.")
        body = []
        for m in names:
            ms, rate = rows[f"cpu/{m}/{size}"]
            plain = rows[f"textbook/{m}/{size}"][0]
            auto = rows[f"textbook-vectorised/{m}/{size}"][0]
            body.append([f"`{m}`", f"{ms:.3f}", f"{rate / 1e9:.1f}", f"{rate / bandwidth:.0%}", f"{plain:.2f}",
                         f"{plain / ms:.1f}x", f"{auto:.2f}", f"{auto / ms:.1f}x"])
        parts.append(table(["metric", "ms", "GB/s", "of read", "one pixel at a time, ms", "faster",
                            "auto-vectorised, ms", "faster"], body))
        body = []
        for name, metric in (("opencv-float", "tenengrad"), ("opencv-norm", "tenengrad"), ("opencv", "laplacian-variance")):
            if f"{name}/{metric}/{size}" in rows:
                theirs, ours = rows[f"{name}/{metric}/{size}"][0], rows[f"cpu/{metric}/{size}"][0]
                body.append([f"`{metric}` ({name})", f"{theirs:.2f}", f"{ours:.3f}", f"**{theirs / ours:.1f}x**"])
        if body:
            parts.append(table([f"{size}, by OpenCV", "OpenCV, ms", "ours, ms", "faster"], body))
        parts.append(table([f"{size}, instruction set, ms"] + [f"`{m}`" for m in names],
                           [[isa] + [f"{rows[f'cpu-{isa}/{m}/{size}'][0]:.3f}" for m in names]
                            for isa in ("avx512", "avx2", "baseline") if f"cpu-{isa}/{names[0]}/{size}" in rows]))
    return parts


def prefilter(data):
    """What smoothing costs on one core: each metric, then one with each instruction set at 8 and 10 bits."""
    rows, parts = times(data), []

    def cells(name):
        alone, *smoothed = (rows[name.format(p)][0] for p in ("none", "binomial3", "binomial5"))
        return [f"{alone:.3f}"] + [f"{ms:.3f} ({ms / alone:.1f}x)" for ms in smoothed]

    for size in ("1080p", "2160p"):
        body = []
        for m in sorted(metrics_of(rows, "cpu-binomial3", size)):
            rows[f"cpu-none/{m}/{size}"] = rows[f"cpu/{m}/{size}"]
            body.append([f"`{m}`"] + cells(f"cpu-{{}}/{m}/{size}"))
        parts.append(table([f"{size}, 8 bits, ms", "`none`", "`binomial3`", "`binomial5`"], body))
        body = [[f"{text}, {depth} bits"] + cells(f"cpu-{isa}-{depth}bit-{{}}/tenengrad/{size}")
                for depth in (8, 10) for isa, text in (("avx512", "AVX-512"), ("avx2", "AVX2"), ("baseline", "SSE2"))]
        parts.append(table([f"{size}, `tenengrad`, ms", "`none`", "`binomial3`", "`binomial5`"], body))
    return parts


def statistics(cpu_data, gpu_data):
    """What noise and exposure cost, on one core and on a GPU."""
    rows, body = times(cpu_data), []
    kinds = {"": "AVX-512", "-avx2": "AVX2", "-baseline": "SSE2", "-binomial5": "AVX-512, `binomial5`", "-16bit": "AVX-512, 16 bits"}
    for size in ("1080p", "2160p"):
        for kind, text in kinds.items():
            alone, both = (rows[f"{what}{kind}/tenengrad/{size}"][0] for what in ("cpu", "cpu-statistics"))
            body.append([f"{size}, {text}", f"{alone:.3f}", f"{both:.3f}", f"+{both / alone - 1:.0%}"])
    parts = [table(["`tenengrad`, one core, ms", "alone", "with `statistics`", "more"], body)]
    gpu, body = times(gpu_data), []
    for size in ("1080p", "2160p", "8192x8192"):
        name = f"tenengrad/{size}"
        cells = [gpu[f"cuda-{what}/{name}"][0] * 1e3 for what in
                 ("kernel", "kernel-statistics", "frame", "frame-statistics")]
        body.append([size] + [f"{us:.1f}" for us in cells])
    parts.append(table(["`tenengrad`, GPU, us", "kernel", "with `statistics`", "frame from pageable host memory",
                        "with `statistics`"], body))
    return parts


def bayer(data):
    """A mosaic's cells beside gray samples of the same bytes."""
    rows, parts = times(data, "cpu_time"), []
    for size in ("1080p", "2160p"):
        body = []
        for metric in sorted(metrics_of(rows, "cpu-bayer-avx2-8bit", size)):
            cells = [f"`{metric}`"]
            for isa in ("avx512", "avx2", "baseline"):
                for depth in (8, 16):
                    gray, cell = (rows[f"cpu-{what}-{isa}-{depth}bit/{metric}/{size}"][0] for what in ("gray", "bayer"))
                    cells.append(f"{cell:.3f} ({cell / gray:.2f}x)")
            body.append(cells)
        parts.append(table([f"{size}, ms", *(f"{isa}, {depth} bits" for isa in ("AVX-512", "AVX2", "SSE2") for depth in (8, 16))],
                           body))
    return parts


def kernels(data):
    rows = times(data)
    sizes = [s for s in ("1080p", "2160p", "8192x8192") if metrics_of(rows, "cuda-kernel", s)]
    if not sizes:
        return []
    bandwidth = rows["device-read"][1] if "device-read" in rows else None
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
    said = f"Reading device memory: {bandwidth / 1e12:.2f} TB/s; in brackets the share of that. " if bandwidth else ""
    return [said + "Microseconds a frame.", table(["us a frame"] + [f"{s}, {kinds[kind]}" for kind, s in columns], body)]


def smoothed_kernels(data):
    """Kernels behind a prefilter; then whole frames from ordinary memory."""
    rows = times(data)
    sizes = [s for s in ("1080p", "2160p", "8192x8192") if metrics_of(rows, "cuda-kernel", s)]
    kinds = {"cuda-kernel-binomial3": "with binomial3, us", "cuda-kernel-binomial3-in-flight": "the same, two in flight",
             "cuda-kernel-binomial5": "with binomial5, us", "cuda-kernel-binomial5-in-flight": "the same, two in flight",
             "cuda-kernel-16bit-binomial3": "16 bits, with binomial3, us", "cuda-kernel-16bit-binomial5": "16 bits, with binomial5, us",
             "cuda-frame": "whole frame from pageable host memory, GPU, us", "cpu-frame": "the same, CPU, one core, us"}

    def listed(names, head):
        body = [[text] + [f"{rows[f'{name}/{s}'][0] * 1e3:.1f}" for s in sizes]
                for name, text in names.items() if sizes and f"{name}/{sizes[-1]}" in rows]
        return [table([head] + sizes, body)] if body else []

    others = {f"cuda-kernel-binomial5/{m}": f"`{m}`" for m in metrics_of(rows, "cuda-kernel", sizes[-1])} if sizes else {}
    return (listed({f"{kind}/tenengrad": text for kind, text in kinds.items()}, "`tenengrad`")
            + listed(others, "with binomial5, us"))


MOST_OF_LEAST = 4  # times the least; what takes longer is marked


def layouts(data):
    """What formats, options and metrics cost, as multiples of the least time; the smallest and the largest frames."""
    limits, rows = only(data["rows"], kind="limits"), pick(data["rows"], kind="kernel")
    parts = [f"Reading device memory: {limits['bytes_per_second'] / 1e12:.2f} TB/s; an empty kernel after another: "
             f"{limits['empty_us']:.2f} us. Microseconds a frame, one after the other; in brackets how many times the sum of "
             "an empty kernel and of reading once the bytes that hold what has to be read: for packed formats all of them, "
             f"for `roi`, half the frame's columns, half. Bold: more than {MOST_OF_LEAST} times. Empty: refused, since totals "
             "could overflow."]
    options, plain = unique(r["option"] for r in rows), rows[0]["format"]

    def cell(**wanted):
        found = pick(rows, **wanted)
        if not found:
            return ""
        mark = "**" if found[0]["of_least"] > MOST_OF_LEAST else ""
        return f"{mark}{found[0]['us']:.1f} ({found[0]['of_least']:.1f}x){mark}"

    sizes = unique(r["size"] for r in rows)
    for size in unique([sizes[0], sizes[-1]]):
        here = pick(rows, size=size)
        slow = [r for r in here if r["of_least"] > MOST_OF_LEAST]
        worst = max(here, key=lambda r: r["of_least"])
        parts.append(table([f"{size}, `tenengrad`"] + options,
                           [[f] + [cell(size=size, option=o, metric="tenengrad", format=f) for o in options]
                            for f in unique(r["format"] for r in here)]))
        parts.append(table([f"{size}, {plain}"] + options,
                           [[f"`{m}`"] + [cell(size=size, option=o, metric=m, format=plain) for o in options]
                            for m in unique(r["metric"] for r in here)]))
        parts.append(f"{size}: {len(slow)} of {len(here)} take more than {MOST_OF_LEAST} times the least; worst "
                     f"{worst['format']}, `{worst['metric']}`, {worst['option']}: {worst['of_least']:.1f} times.")
    return parts


def peers(data, our_data=None):
    """The classical recipes by others' libraries, and ours."""
    rows, ours = data["rows"], times(our_data) if our_data else {}
    shorts = {"1920x1080": "1080p", "3840x2160": "2160p", "8192x8192": "8192x8192"}
    parts = []
    for key, title, kinds in (("kernel_us", "frames in device memory, us a frame", ("cuda-kernel", "cuda-kernel-binomial5")),
                              ("frame_us", "frames from pinned memory, one at a time, to the score on the host, us",
                               ("cuda-frame-pinned", "cuda-frame-pinned-binomial5"))):
        measured = [r for r in rows if key in r]
        sizes = unique(r["size"] for r in measured)
        cases = unique((r["metric"], r["prefilter"]) for r in measured)
        for size in sizes:
            own = [ours.get(f"{kinds[prefilter != 'none']}/{metric}/{shorts.get(size)}", [None])[0] for metric, prefilter in cases]
            body = [["ours"] + ["" if ms is None else f"{ms * 1e3:.1f}" for ms in own]] if ours else []
            for peer in unique(r["peer"] for r in rows if "size" in r):
                cells = []
                for (metric, prefilter), ms in zip(cases, own):
                    found = pick(rows, size=size, peer=peer, metric=metric, prefilter=prefilter)
                    cells.append("failed" if not found else f"{found[0][key]:.1f}" +
                                 (f" ({found[0][key] / (ms * 1e3):.1f}x)" if ms else ""))
                body.append([peer] + cells)
            parts.append(table([f"{size}, {title}"] + [f"`{m}`" + ("" if p == "none" else f", `{p}`") for m, p in cases], body))
    reasons = unique((r["peer"], r["error"]) for r in rows if "error" in r)
    return parts + ["Not measured:"] * bool(reasons) + ["\n".join(f"- {peer}: {error}" for peer, error in reasons)] * bool(reasons)


def classical(data):
    rows, parts = times(data), []
    for m in unique(n.split("/")[1] for n in rows if n.startswith("classical-")):
        body = []
        for size in unique(n.split("/")[2] for n in rows if n.startswith("ours-pinned/" + m + "/")):
            at = {k: rows[f"{k}/{m}/{size}"][0] for k in ("ours-pageable", "ours-pinned", "cpu")}
            theirs = [rows[f"classical-{r}/{m}/{size}"][0] for r in REDUCTIONS]
            best = min(theirs)
            body.append([size] + [f"{v:.3f}" for v in theirs + [at["ours-pageable"]]]
                        + [f"{best / at['ours-pageable']:.1f}x", f"{at['ours-pinned']:.3f}",
                           f"{best / at['ours-pinned']:.1f}x", f"{at['cpu']:.3f}",
                           min(at, key=at.get).replace("ours-", "GPU, ").replace("cpu", "CPU")])
        parts += [f"**`{m}`, BGR from host memory**, ms.",
                  table(["size"] + [f"classical, {r}" for r in REDUCTIONS]
                        + ["ours, pageable", "faster than the best", "ours, pinned", "faster than the best",
                           "CPU, one core", "fastest of ours"], body)]
    return parts


def classical_steps(data):
    """Of the first metric, with the last reduction."""
    metric = next((b["run_name"].split("/")[1] for b in data["benchmarks"] if b["run_name"].startswith("classical-")), None)
    body = [[b["run_name"].split("/")[2]] + [f"{b[s + '_us']:.1f}" for s in STEPS] for b in data["benchmarks"]
            if b["run_name"].startswith(f"classical-unrolled/{metric}/") and STEPS[0] + "_us" in b]
    if not body:
        return []
    return [f"`{metric}`, unrolled, in us, the device waited for after each step:", table(["size"] + list(STEPS), body)]


def loops(data):
    kinds = {"pinned-copy": "pinned copies, back to back", "pinned-copy-again": "pinned copies, measured again",
             "memcpy": "memcpy to pinned memory, one thread", "bare": "bare loop, pinned frames",
             "staged": "bare loop, staged by memcpy", "meter-pinned": "our meters, pinned frames",
             "meter-pageable": "our meters, pageable frames", "meter-device": "our meters, frames in GPU memory",
             "cpu": "CPU, one core"}
    rows, parts = data["rows"], []
    for size in unique(r["size"] for r in rows):
        here = pick(rows, size=size)
        body = [[kinds[r["kind"]], str(r["in_flight"] or ""), f"{r['frames_per_second']:.0f}",
                 f"{1e6 / r['frames_per_second']:.1f}", f"{r['bytes_per_second'] / 1e9:.2f}",
                 f"{r['of_copy']:.1%}" if "of_copy" in r else ""] for r in here]
        parts += [f"**{size} {here[0]['format']} frames in host memory**, {here[0]['bytes'] / 1e6:.1f} MB each.",
                  table(["", "in flight", "frames/s", "us/frame", "GB/s", "of pinned copies"], body)]
    return parts


def pipelines(data):
    rows, parts = data["rows"], []
    for size in unique(r["size"] for r in rows):
        for fmt in unique(r["format"] for r in pick(rows, size=size, kind="pipeline")):
            counts = unique(r["in_flight"] for r in pick(rows, size=size, kind="pipeline", format=fmt, device="cuda"))
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
                bare = {r["in_flight"]: r for r in pick(rows, size=size, kind="loop", device="cuda", memory=memory)}
                body.append([f"bare loop of in-flight + 1 slots, {memory}", ""]
                            + [f"{bare[n]['frames_per_second']:.0f}" if n in bare else "" for n in counts] + [""])
            parts += [f"**{size} {fmt}**, frames a second, and as a share of the loop's.",
                      table(["source's memory", "CPU"] + [f"in-flight={n}" for n in counts] + ["source alone"], body)]
        copies = pick(rows, size=size, kind="pinned-copy")
        if copies:
            parts.append(f"Pinned copies of the Y plane: {copies[0]['frames_per_second']:.0f} frames/s, "
                         f"{copies[0]['bytes_per_second'] / 1e9:.2f} GB/s.")
    if pick(rows, kind="latency"):
        parts += ["**Latency of one frame**, `in-flight=0`, us.",
                  table(["size, memory, device", "median", "99% within", "bare: median", "99% within"],
                        [[f"{r['size']}, {r['memory']}, {r['device']}"]
                         + [f"{r[k]:.1f}" for k in ("median_us", "p99_us", "bare_median_us", "bare_p99_us")]
                         for r in pick(rows, kind="latency")])]
    failed = unique((r["memory"], r["device"], r["error"]) for r in rows if "error" in r)
    return parts + [f"Not measured, {memory} memory, {device}: {error}." for memory, device, error in failed]


def smoothed_pipelines(data):
    """Pipelines with other settings of the meter, and their share of what it reaches with none."""
    body, all_rows = [], [r for r in data["rows"] if "set" in r]
    for memory, fmt, size in unique((r["memory"], r["format"], r["size"]) for r in all_rows):
        rows = pick(all_rows, memory=memory, format=fmt, size=size)
        for n in unique(r["in_flight"] for r in rows):
            rates = {r["set"]: r["frames_per_second"] for r in pick(rows, in_flight=n)}
            body.append([f"{size}, {fmt}, {memory}, {n}", f"{rates['none']:.0f}"]
                        + [f"{rate:.0f} ({rate / rates['none']:.0%})" for name, rate in rates.items() if name != "none"])
    settings = [name for name in unique(r["set"] for r in all_rows) if name != "none"]
    return [table(["frames/s: size, format, memory, in-flight", "no prefilter"]
                  + [f"`{name.replace(',', ' ')}`" for name in settings], body)]


def streams(data):
    rows, parts = data["rows"], []
    many, live = pick(rows, kind="unthrottled"), pick(rows, kind="live")
    if many:
        parts += [f"**Many streams of {many[0].get('size', '1080p')} {many[0]['format']}**, {many[0]['memory']}, "
                  f"{many[0]['device']}, as fast as they go.",
                  table(["streams, in-flight", "frames/s, all together", "GB/s (Y)", "of the bus", "cores busy"],
                        [[f"{r['streams']}, {r['in_flight']}", f"{r['frames_per_second']:.0f}",
                          f"{r['bytes_per_second'] / 1e9:.2f}", f"{r['of_bus']:.1%}" if "of_bus" in r else "",
                          f"{r['cores_used']:.1f}"] for r in many])]
    if live:
        longest = max(r["seconds"] for r in live)
        most = max((r["streams"] for r in live if r["holds"] and r["seconds"] == longest), default=0)
        parts += [f"**Many live streams of {live[0].get('size', '1080p')} {live[0]['format']}**, {live[0]['memory']}, "
                  f"{live[0]['device']}, 60 frames a second each, `in-flight={live[0]['in_flight']}`.",
                  table(["streams", "seconds", "frames", "late", "of these came late", "latest, ms", "cores busy"],
                        [[str(r["streams"])] + [f"{r['seconds']:.0f}", str(r["frames"]), str(r["late"]),
                                                str(r["came_late"]), f"{r['worst_ms']:.1f}", f"{r['cores_used']:.1f}"]
                         for r in live]),
                  f"Most live streams that held for {longest:.0f} s without a late frame: **{most}**."]
    return parts


def scan(data):
    decode, scanned = data["decode"], data["scan"]
    return [f"{data['clip']}, {data['runs']} runs of each by turns.",
            table(["", "decode", "scan", "ratio"],
                  [["clock, s", f"{decode['seconds']:.2f}", f"{scanned['seconds']:.2f}", f"{data['ratio_seconds']:.2f}"],
                   ["CPU time, s", f"{decode['cpu_seconds']:.2f}", f"{scanned['cpu_seconds']:.2f}",
                    f"{data['ratio_cpu_seconds']:.2f}"]])]


OVERLAY = {"1920x1080": "1080p", "3840x2160": "2160p"}


def overlay(data):
    sets = {name: row for name, row in data.items() if isinstance(row, dict)}
    return [table([data["unit"]] + ["without" if k == "none" else k for k in next(iter(sets.values()))],
                  [[", ".join(OVERLAY.get(word, word) for word in name.split())] + [f"{v:.2f}" for v in row.values()]
                   for name, row in sets.items()])]


def overlay_summary(still, moving):
    """What an overlay costs, by what it draws and how often."""
    where = ("1920x1080 attached", "1920x1080 blended", "3840x2160 blended")
    rows = (("text and graph, scores stand still", still, "text and graph"),
            ("text and graph, other scores in every frame", moving, "text and graph"),
            ("heat map of 8x6 zones, scores stand still", still, "heat map"),
            ("heat map of 8x6 zones, other scores in every frame", moving, "heat map"),
            ("peaking, with edges from top to bottom", still, "peaking"))
    return [table(["ms of one core for an I420 frame"] + [w.replace(" ", ", ") for w in where],
                  [[text] + [f"{data[w][what]:.2f}" for w in where] for text, data, what in rows])]


def summary(cpu_data, cuda_data, pipeline_data):
    """What one wants to know first, for tenengrad."""
    ms, kernel, rows = times(cpu_data), times(cuda_data), pipeline_data["rows"]
    sizes = {"1920x1080": "1080p", "3840x2160": "2160p", "8192x8192": "8192x8192"}

    def row(text, cell):
        return [text] + [cell(short) for short in sizes.values()]

    def core(size):
        name = f"cpu/tenengrad/{size}"
        return f"{ms[name][0]:.3f} ms, {rounded(1e3 / ms[name][0])} frames/s" if name in ms else ""

    def opencv(size):
        found = [ms[n][0] for n in (f"opencv-float/tenengrad/{size}", f"opencv-norm/tenengrad/{size}") if n in ms]
        return f"{min(found) / ms[f'cpu/tenengrad/{size}'][0]:.1f}x" if found else ""

    def on_gpu(kind):
        return lambda size: f"{kernel[f'{kind}/tenengrad/{size}'][0] * 1e3:.1f} us"

    def whole_pipeline(memory, in_flight):
        def cell(size):
            found = pick(rows, kind="pipeline", device="cuda", format="NV12", size=size, memory=memory, in_flight=in_flight)
            return rounded(found[0]["frames_per_second"]) + " frames/s" if found else ""
        return cell

    return [table(["`tenengrad`"] + list(sizes), [
        row("CPU, one core, GRAY8 in memory", core),
        row("the same against OpenCV's best recipe on the same core", opencv),
        row("GPU kernel, GRAY8 in device memory, one after the other", on_gpu("cuda-kernel")),
        row("the same, two in flight", on_gpu("cuda-kernel-in-flight")),
        row("pipeline on the GPU, NV12 in pinned memory, `in-flight=2`", whole_pipeline("pinned", 2)),
        row("the same, `in-flight=0`: no added latency", whole_pipeline("pinned", 0)),
        row("pipeline on the GPU, NV12 in GPU memory, `in-flight=2`", whole_pipeline("cuda", 2))])]
