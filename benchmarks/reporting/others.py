# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of BLIINDS-II, the denoisers and the halftones."""
from .results import figures, only, pick, table, times, unique, whole

ISAS = {"avx512": "AVX-512", "avx2": "AVX2", "baseline": "SSE2"}


def bliinds_cpu(data):
    rows = times(data)
    names = {f"cpu-{isa}": text for isa, text in ISAS.items()} | {"plain": "plain loops, binary search, `nth_element`"}
    plain = rows["plain/bliinds/512x512"][0]
    return [table(["", "512x512, ms", "1920x1080, ms", "pictures of 512x512 a second", "against plain loops"],
                  [[text, figures(rows[f"{name}/bliinds/512x512"][0]), figures(rows[f"{name}/bliinds/1080p"][0]),
                    whole(1e3 / rows[f"{name}/bliinds/512x512"][0]), f"{plain / rows[f'{name}/bliinds/512x512'][0]:.1f}x"]
                   for name, text in names.items()])]


SIZES = ("512x512", "1920x1080")


def bliinds_frames(data):
    rows = data["rows"]
    return [table(["one picture at a time, to the features on the host, median, us"] + list(SIZES),
                  [[f"from {'ordinary' if memory == 'pageable' else memory} memory"]
                   + [figures(only(rows, size=s, group="frame", name=f"{memory} memory")["us"]) for s in SIZES]
                   for memory in ("device", "pinned", "pageable")])]


def bliinds_in_flight(data):
    rows, counts = data["rows"], (1, 2, 4, 8)
    return [table(["pictures a second with so many in flight"] + [str(n) for n in counts],
                  [[f"{size}, {memory} memory"]
                   + [whole(1e6 / only(rows, size=size, group="in-flight", name=f"{memory} memory, {n}")["us"]) for n in counts]
                   for size in SIZES for memory in ("device", "pinned", "pageable")])]


def bliinds_steps(data):
    rows = data["rows"]
    steps = [("stage", name, name) for name in (
        "statistics of scale 1 and half-size pixels", "statistics of scale 2 and quarter-size pixels",
        "statistics of scale 3", "sums, place of the tenth", "selection, features", "all")]
    steps += [("dct", "both", "DCT alone: blocks rearranged, then matrix products (12 and 92 MB of arrays)"),
              ("stage", "statistics of scale 1 alone", "beside it, statistics of scale 1, DCT included"),
              ("gamma", "linear search", "gamma of scale 1 by linear search"),
              ("gamma", "binary search", "by binary search"),
              ("gamma", "start index and three steps", "by start index and three steps (ours)"),
              ("select", "radix sort (CUB)", "percentiles by sorting (CUB radix sort, 12 sorts)"),
              ("select", "selection", "by selection (ours)")]
    return [table(["step, us"] + list(SIZES),
                  [[text] + [figures(only(rows, size=s, group=group, name=name)["us"]) for s in SIZES]
                   for group, name, text in steps])]


def denoise_cpu(data):
    rows = times(data, "cpu_time")
    tasks = {"nlmeans-21x21-7x7/1080p": "`nlmeans`, 21x21 by 7x7, 8 bits",
             "nlmeans-21x21-7x7/1080p-10bit": "the same, 10 bits",
             "nlmeans-21x21-7x7/1080p-16bit": "the same, 16 bits",
             "patchbilateral-7x7-3x3/1080p": "`patchbilateral`, 7x7 by 3x3, 8 bits"}
    body = [[text] + [figures(rows[f"{isa}/{task}"][0]) for isa in ISAS] for task, text in tasks.items()]
    body += [[f"{text}, same picture, radii and strength, one thread", whole(rows[f"{name}/nlmeans-21x21-7x7/1080p"][0]), "", ""]
             for name, text in (("opencv", "OpenCV 4.6 `fastNlMeansDenoising`"), ("ffmpeg", "FFmpeg 5.1 `nlmeans`"))]
    return [table(["ms of CPU time"] + list(ISAS.values()), body)]


DENOISED = ("1920x1080", "496x472")
DEFAULT, CLEAN, BILATERAL_DEFAULT = "nlmeans, default", "nlmeans, default, clean", "patch-bilateral, default"
NLMEANS, BILATERAL, SMALL = "nlmeans 21x21/7x7", "patch-bilateral 7x7/3x3", "patch-bilateral 5x5/3x3"


def denoise_gpu(data):
    tasks = (("`nlmeans`, default strength, gray, 8 bits", "gray8", DEFAULT, "kernel as chosen"),
             ("the same, a clean frame", "gray8", CLEAN, "kernel as chosen"),
             ("the same, NV12, `chroma=joint`", "NV12", DEFAULT, "kernel as chosen"),
             ("the same, a clean frame of NV12", "NV12", CLEAN, "kernel as chosen"),
             ("`nlmeans`, fixed strength, 21x21 by 7x7, gray, 8 bits", "gray8", NLMEANS, "kernel as chosen"),
             ("the same, distances without tensor cores", "gray8", NLMEANS, "general kernel"),
             ("the published scheme with two loops, fixed", "gray8", NLMEANS, "two parallel loops"),
             ("the published scheme with three loops, fixed", "gray8", NLMEANS, "three parallel loops"),
             ("`nlmeans`, 10 bits", "gray10", NLMEANS, "kernel as chosen"),
             ("10 bits, distances without tensor cores", "gray10", NLMEANS, "general kernel"),
             ("16 bits", "gray16", NLMEANS, "general kernel"),
             ("NV12, `chroma=joint`", "NV12", NLMEANS, "kernel as chosen"),
             ("P010, `chroma=joint`", "P010", NLMEANS, "kernel as chosen"),
             ("RGB", "RGB", NLMEANS, "kernel as chosen"),
             ("`patchbilateral`, 7x7 by 3x3, gray, 8 bits", "gray8", BILATERAL, "kernel as chosen"),
             ("the same, 5x5 by 3x3", "gray8", SMALL, "kernel as chosen"),
             ("the same, RGB, 7x7 by 3x3", "RGB", BILATERAL, "kernel as chosen"),
             ("the same, 16 bits", "gray16", BILATERAL, "general kernel"))
    # Results from before a layout or a kernel was there have no rows of it.
    return [table(["ms"] + list(DENOISED),
                  [[text] + [figures(only(data["rows"], size=s, layout=layout, filter=name, what=what)["ms"]) for s in DENOISED]
                   for text, layout, name, what in tasks if pick(data["rows"], layout=layout, filter=name, what=what)])]


def denoise_limits(data):
    names = {"32x8 pixels, 2 blocks a warp (in use)": "as it is", "in use, no fill (wrong)": "without filling shared memory",
             "in use, no products (wrong)": "without the products", "in use, no exponentials (wrong)": "without the exponentials",
             "in use, neither (wrong)": "without either"}
    return [table(["`nlmeans`, ms"] + list(DENOISED),
                  [[text] + [figures(only(data["rows"], size=s, group="variant", name=name)["ms"]) for s in DENOISED]
                   for name, text in names.items()])]


def denoise_transfers(data):
    tasks = (("`nlmeans`, gray, pinned", "gray8", NLMEANS, "pinned"), ("`nlmeans`, gray, pageable", "gray8", NLMEANS, "pageable"),
             ("`nlmeans`, NV12 joint, pinned", "NV12", NLMEANS, "pinned"),
             ("`patchbilateral`, gray, pinned", "gray8", BILATERAL, "pinned"),
             ("`patchbilateral`, gray, pageable", "gray8", BILATERAL, "pageable"))
    counts = (1, 2, 4)
    return [table(["ms for a frame of 1920x1080, in flight"] + [str(n) for n in counts],
                  [[text] + [figures(only(data["rows"], size="1920x1080", layout=layout, filter=name,
                                          what=f"{memory}, in flight {n}")["ms"]) for n in counts]
                   for text, layout, name, memory in tasks])]


def denoise_pipelines(data):
    rows, counts, body = data["rows"], (0, 1, 2), []
    texts = {"cuda": "frames in GPU memory", "pinned": "pinned system memory", "recycled": "recycled system memory"}
    for element in unique(r["element"] for r in rows):
        for memory in unique(r["memory"] for r in pick(rows, element=element, kind="pipeline")):
            found = [only(rows, element=element, kind="pipeline", memory=memory, in_flight=n) for n in counts]
            alone = pick(rows, element=element, kind="decode", memory=memory)
            text = texts.get(memory) or f"after `nvh264dec`, which alone makes {whole(alone[0]['frames_per_second'])}"
            body.append([f"`{element}`, {text}"] + [whole(r["frames_per_second"]) for r in found]
                        + [", ".join(f"{r['of_kernel']:.0%}" for r in found if "of_kernel" in r)])
    failed = unique((r["element"], r["kind"], r["error"]) for r in rows if "error" in r)
    return [table(["frames/s", "`in-flight=0`", "1", "2", "of the kernel"], body)] + [
        f"Not measured, {element}, {kind}: {error}." for element, kind, error in failed]


def halftone_cpu(data):
    rows = times(data)
    sizes = {"1024": "1024x1024", "1080p": "1920x1080", "2048": "2048x2048", "4096": "4096x4096", "8192": "8192x8192"}
    tasks = {"plain-loop/floyd-steinberg": "`floyd-steinberg` as a plain loop over 16-bit integers",
             "cpu-avx512/floyd-steinberg": "`floyd-steinberg`, AVX-512",
             "cpu-avx512/floyd-steinberg-all-threads": "the same, both cores",
             "cpu-avx2/floyd-steinberg": "`floyd-steinberg`, AVX2",
             "cpu-avx512/floyd-steinberg-4-levels": "`levels=4`, AVX-512",
             "cpu/floyd-steinberg-serpentine": "`serpentine=true`",
             "cpu/tdfed": "`tdfed`, 4 rows",
             "cpu-avx512/blue-noise": "`blue-noise`, AVX-512",
             "cpu-avx512/blue-noise-all-threads": "the same, both cores",
             "cpu-avx2/blue-noise": "`blue-noise`, AVX2",
             "cpu-baseline/blue-noise": "`blue-noise`, SSE2",
             "cpu-avx512/blue-noise-packed": "`packed=true`, AVX-512",
             "cpu-avx512/blue-noise-4-levels": "`levels=4`, AVX-512",
             "cpu-avx512/blue-noise-16-levels": "`levels=16`, AVX-512",
             "cpu-avx512/blue-noise-10-bits": "10 bits, AVX-512",
             "cpu-avx512/blue-noise-16-bits": "16 bits, AVX-512"}
    return [table(["ms a frame"] + list(sizes.values()),
                  [[text] + [figures(rows[f"{task}/{size}"][0]) for size in sizes] for task, text in tasks.items()])]


def halftone_sizes(rows):
    return unique(r["size"] for r in rows)


def strips(rows, size, copies):
    """-> {rows of a strip: ms} of the published scheme"""
    end = ", copies" if copies else ""
    return {int(r["what"].split()[3].strip(",")): r["ms"] for r in pick(rows, size=size)
            if r["what"].startswith("published, strips of ") and r["what"].endswith(", copies") == bool(end)}


def halftone_gpu(data):
    rows = data["rows"]

    def row(text, method, what):
        return [text] + [figures(only(rows, size=s, method=method, what=what)["ms"]) for s in halftone_sizes(rows)]

    def published(text, copies):
        best = [min(strips(rows, s, copies).items(), key=lambda item: item[1]) for s in halftone_sizes(rows)]
        return [text] + [f"{figures(ms)} ({height})" for height, ms in best]

    alone = "kernels, in flight 1"
    return [table(["ms a frame"] + halftone_sizes(rows), [
        row("`floyd-steinberg`, one frame at a time", "floyd-steinberg", alone),
        row("the same, 4 in flight", "floyd-steinberg", "kernels, in flight 4"),
        row("the same, 16 in flight", "floyd-steinberg", "kernels, in flight 16"),
        row("`packed=true`, one at a time", "floyd-steinberg packed", alone),
        row("`levels=4`, one at a time", "floyd-steinberg 4 levels", alone),
        published("the published scheme, best height of its strips", False),
        published("the same with copies from and to pinned memory", True),
        row("`tdfed`, `swath-rows=64`", "tdfed 64 rows", alone),
        row("`tdfed`, `swath-rows=16`", "tdfed 16 rows", alone),
        row("`tdfed`, 4 rows", "tdfed 4 rows", alone),
        row("`blue-noise`", "blue-noise", alone)])]


def halftone_strips(data):
    largest = halftone_sizes(data["rows"])[-1]
    heights = list(strips(data["rows"], largest, False))
    return [table([f"ms at {largest}, rows of a strip"] + [str(h) for h in heights],
                  [[text] + [figures(strips(data["rows"], largest, copies)[h]) for h in heights]
                   for text, copies in (("kernels", False), ("with copies", True))])]


def halftone_transfers(data):
    rows = data["rows"]
    return [table(["ms a frame, from pinned memory and back"] + halftone_sizes(rows),
                  [[text] + [figures(only(rows, size=s, method=method, what=f"pinned to pinned, in flight {n}")["ms"])
                             for s in halftone_sizes(rows)]
                   for text, method, n in (("`floyd-steinberg`, 1 in flight", "floyd-steinberg", 1),
                                           ("the same, 4 in flight", "floyd-steinberg", 4),
                                           ("`packed=true`, 1 in flight", "floyd-steinberg packed", 1),
                                           ("the same, 4 in flight", "floyd-steinberg packed", 4))])]
