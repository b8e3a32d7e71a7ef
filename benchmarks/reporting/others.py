# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of BLIINDS-II, the denoisers and the halftones."""
from .results import figures, only, pick, table, times, unique, whole

ISAS = {"avx512": "AVX-512", "avx2": "AVX2", "baseline": "SSE2"}


def bliinds(cpu, gpu):
    """One image, from memory to the features on the host, and how many a second."""
    rows, sizes = times(cpu), {"512x512": "512x512", "1920x1080": "1080p"}
    body = [[f"one core of an Intel Xeon, {text}"] + [figures(rows[f"cpu-{isa}/bliinds/{short}"][0]) for short in sizes.values()]
            + [whole(1e3 / rows[f"cpu-{isa}/bliinds/{short}"][0]) for short in sizes.values()] for isa, text in ISAS.items()]
    for memory, text in (("device", "GPU memory"), ("pinned", "pinned memory"), ("pageable", "pageable memory")):
        alone, four = ([only(gpu["rows"], size=size, group=group, name=f"{memory} memory{n}")["us"] for size in sizes]
                       for group, n in (("frame", ""), ("in-flight", ", 4")))
        body.append([f"H200, from {text}"] + [figures(us / 1e3) for us in alone] + [whole(1e6 / us) for us in four])
    return [table(["BLIINDS-II"] + [f"{size}, ms" for size in sizes] + [f"{size}, images/s" for size in sizes], body)]


def denoise_cpu(data):
    rows = times(data, "cpu_time")
    tasks = {"nlmeans-21x21-7x7/1080p": "`nlmeans`, 21x21 by 7x7, 8 bits",
             "nlmeans-21x21-7x7/1080p-10bit": "the same, 10 bits",
             "nlmeans-21x21-7x7/1080p-16bit": "the same, 16 bits",
             "patchbilateral-7x7-3x3/1080p": "`patchbilateral`, 7x7 by 3x3, 8 bits"}
    body = [[text] + [figures(rows[f"{isa}/{task}"][0]) for isa in ISAS] for task, text in tasks.items()]
    body += [[f"{text}, same image, radii and strength, one thread", whole(rows[f"{name}/nlmeans-21x21-7x7/1080p"][0]), "", ""]
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
    return [table(["ms per frame"] + list(sizes.values()),
                  [[text] + [figures(rows[f"{task}/{size}"][0]) for size in sizes] for task, text in tasks.items()])]


def halftone_sizes(rows):
    return unique(r["size"] for r in rows)


def halftone_gpu(data):
    rows = data["rows"]

    def row(text, method, what):
        return [text] + [figures(only(rows, size=s, method=method, what=what)["ms"]) for s in halftone_sizes(rows)]

    alone = "kernels, in flight 1"
    return [table(["ms per frame"] + halftone_sizes(rows), [
        row("`floyd-steinberg`, one frame at a time", "floyd-steinberg", alone),
        row("the same, 4 in flight", "floyd-steinberg", "kernels, in flight 4"),
        row("the same, 16 in flight", "floyd-steinberg", "kernels, in flight 16"),
        row("`packed=true`, one at a time", "floyd-steinberg packed", alone),
        row("`levels=4`, one at a time", "floyd-steinberg 4 levels", alone),
        row("`tdfed`, `swath-rows=64`", "tdfed 64 rows", alone),
        row("`tdfed`, `swath-rows=16`", "tdfed 16 rows", alone),
        row("`tdfed`, 4 rows", "tdfed 4 rows", alone),
        row("`blue-noise`", "blue-noise", alone)])]
