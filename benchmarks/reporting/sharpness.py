# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of the sharpness meter: CPU, kernels, formats, other libraries, pipelines, streams, overlay."""
from .results import figures, only, pick, table, times, unique, whole


def metrics_of(rows, kind, size):
    return [n.split("/")[1] for n in rows if n.startswith(kind + "/") and n.endswith("/" + size)]

def cpu(data):
    """Each metric on one core, by instruction set, and the formula as a plain loop."""
    rows = times(data)
    reading, bandwidth = rows["read/1080p"]
    isas = {"avx512": "AVX-512", "avx2": "AVX2", "baseline": "SSE2"}
    loops = {"textbook": "one pixel at a time", "textbook-vectorised": "auto-vectorised"}
    body = []
    for m in metrics_of(rows, "cpu", "1080p"):
        ms = rows[f"cpu/{m}/1080p"][0]
        theirs = [rows[f"{loop}/{m}/1080p"][0] for loop in loops]
        body.append([f"`{m}`"] + [f"{rows[f'cpu-{isa}/{m}/1080p'][0]:.3f}" for isa in isas]
                    + [f"{rows[f'cpu/{m}/2160p'][0]:.3f}"] + [f"{v:.2f} ({v / ms:.1f}x)" for v in theirs])
    return [f"Only reading a 1080p frame takes {reading:.3f} ms ({bandwidth / 1e9:.0f} GB/s).",
            table(["one core, GRAY8, ms per frame"] + [f"1080p, {text}" for text in isas.values()] + ["2160p, AVX-512"]
                  + [f"1080p, {text}" for text in loops.values()], body)]


def libraries(cpu_data, cuda_data, npp_data):
    """The same scores by other libraries: OpenCV on the CPU, NVIDIA's NPP on the GPU."""
    core, kernel = times(cpu_data), times(cuda_data)
    sizes = {"1080p": "1920x1080", "2160p": "3840x2160", "8192x8192": "8192x8192"}

    def cell(theirs, ours):
        return f"{figures(theirs * 1e3)} ({theirs / ours:.1f}x)"

    names = {"opencv-float": "OpenCV in 32-bit floats", "opencv-norm": "OpenCV with norms", "opencv": "OpenCV"}
    body = []
    for name, metric in (("opencv-float", "tenengrad"), ("opencv-norm", "tenengrad"), ("opencv", "laplacian-variance")):
        body.append([f"`{metric}`, {names[name]}, one core of an AMD EPYC"]
                    + [cell(core[f"{name}/{metric}/{s}"][0], core[f"cpu/{metric}/{s}"][0]) if f"{name}/{metric}/{s}" in core
                       else "" for s in sizes])
    body.append(["`tenengrad`, NPP, frames in the memory of an NVIDIA H200"]
                + [cell(only(npp_data["rows"], size=size, metric="tenengrad", prefilter="none")["kernel_us"] / 1e3,
                        kernel[f"cuda-kernel/tenengrad/{short}"][0]) for short, size in sizes.items()])
    return [table(["us per frame"] + list(sizes), body)]


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
    said = f"Reading device memory: {bandwidth / 1e12:.2f} TB/s; in brackets, the share of it that is reached. " if bandwidth else ""
    return [said + "Microseconds per frame.", table(["us per frame"] + [f"{s}, {kinds[kind]}" for kind, s in columns], body)]


MOST_OF_LEAST = 4  # times the least; what takes longer is marked


def layouts(data):
    """What formats, options and metrics cost, as multiples of the least time; the smallest and the largest frames."""
    limits, rows = only(data["rows"], kind="limits"), pick(data["rows"], kind="kernel")
    parts = [f"Reading device memory: {limits['bytes_per_second'] / 1e12:.2f} TB/s; an empty kernel after another: "
             f"{limits['empty_us']:.2f} us. Microseconds per frame, one after the other; in brackets, the ratio to the least "
             "possible time: an empty kernel plus reading the needed bytes once (packed formats: all bytes; `roi`, which "
             f"covers half of the columns: half). Bold: more than {MOST_OF_LEAST} times. Empty: refused, because totals could "
             "overflow."]
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

def formats(data):
    """Of layouts(), what formats and options cost at the smallest size."""
    return layouts(data)[:2]


def pipelines(data):
    """Frames a second, as a share of the bare loop's, and the latency of one frame."""
    rows, body = data["rows"], []
    measured = pick(rows, kind="pipeline")
    counts = unique(r["in_flight"] for r in pick(measured, device="cuda"))
    for size, fmt, memory in unique((r["size"], r["format"], r["memory"]) for r in measured):
        cells = [f"{size} {fmt}, {memory}"]
        for device, n in [("cpu", 0)] + [("cuda", n) for n in counts]:
            found = pick(measured, size=size, format=fmt, memory=memory, device=device, in_flight=n)
            share = f" ({found[0]['of_loop']:.0%})" if found and "of_loop" in found[0] else ""
            cells.append(whole(found[0]["frames_per_second"]) + share if found else "")
        latency = pick(rows, kind="latency", size=size, memory=memory, device="cuda")
        body.append(cells + [f"{latency[0]['median_us']:.0f}, {latency[0]['p99_us']:.0f}" if latency else ""])
    failed = unique((r["memory"], r["device"], r["error"]) for r in rows if "error" in r)
    return [table(["frames/s: size, format, source's memory", "CPU, one core"] + [f"`in-flight={n}`" for n in counts]
                  + ["latency with `in-flight=0`, us: median, 99%"], body)] + [
        f"Not measured, {memory} memory, {device}: {error}." for memory, device, error in failed]


def crossover(data):
    """Cost of a frame on each device by size, settings and memory: when a GPU pays, and how close auto comes to it."""
    rows, body = pick(data["rows"]), []
    memories = unique(r["memory"] for r in rows)
    for size, setting, pace in unique((r["size"], r["setting"], r["pace"]) for r in rows):
        found = {r["memory"]: r for r in pick(rows, size=size, setting=setting, pace=pace)}
        cells = [f"{size}, {setting}" + (", 60/s" if pace == "60" else "")]
        for memory in memories:
            row = found.get(memory, {})
            both = [figures(row[name]) if name in row else "–" for name in ("cpu_us", "gpu_us")]
            # auto's is the one in bold.
            at = None if "gpu_us" not in row or "cpu_us" not in row else row["auto_on"] != "cpu"
            cells.append(" / ".join(f"**{cell}**" if i == at else cell for i, cell in enumerate(both)) if row else "")
        body.append(cells + [f"{max(r['ratio'] for r in found.values()):.2f}"])
    return [table(["us per frame, CPU / GPU; bold: chosen by `auto`"] + memories + ["`auto` / the better device, worst case"], body)]


def opencl(data):
    """Cost of a frame with OpenCL and with CUDA."""
    units = {"kernel": "us", "frames": "us", "denoise": "ms", "halftone": "ms"}
    body = []
    for row in pick(data["rows"]):
        what = f"`{row['what']}`" if row["kind"] in ("kernel", "frames") else row["what"]
        detail = row.get("prefilter", "none")
        if row["kind"] == "frames":
            detail = f"from {row['memory']} memory, {row['in_flight']} in flight"
        elif row["kind"] == "kernel":
            detail = "kernels" + (f" after {detail}" if detail != "none" else "")
        else:
            detail = "kernels"
        unit = units[row["kind"]]
        body.append([f"{what}, {row['size']}, {detail}"]
                    + [f"{figures(row[name])} {unit}" if name in row else "" for name in ("opencl", "cuda")])
    return [table(["one 8-bit gray frame", "OpenCL", "CUDA"], body)]


def streams(data):
    """Many streams at once: as fast as they go, and live."""
    many, live = pick(data["rows"], kind="unthrottled"), pick(data["rows"], kind="live")
    parts = []
    if many:
        parts.append(table([f"streams of {many[0].get('size', '1080p')} {many[0]['format']}, {many[0]['memory']}", "`in-flight`",
                            "frames/s in total", "share of the bus", "cores used"],
                           [[str(r["streams"]), str(r["in_flight"]), whole(r["frames_per_second"]),
                             f"{r['of_bus']:.1%}" if "of_bus" in r else "", f"{r['cores_used']:.1f}"] for r in many]))
    for r in live:
        parts.append(f"- {r['streams']} live streams, 60 frames/s each, `in-flight={r['in_flight']}`, {r['seconds']:.0f} s: "
                     f"{r['late'] or 'none'} of {whole(r['frames'])} frames late, at most {r['worst_ms']:.1f} ms behind, "
                     f"{r['cores_used']:.1f} cores used.")
    return parts[:1] + ["\n".join(parts[1:])] if many else ["\n".join(parts)]


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
