#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The classical recipes on the GPU as others' libraries have them, beside ours.

usage: peers.py [--sizes WxH,...] [--passes N] [--commit HASH] [--out FILE.json]

`laplacian-variance`: variance of the Laplacian; `tenengrad`: mean of the squared magnitude of the Sobel gradient; each
of 8-bit gray as it is and after a binomial filter of 5x5, edges replicated, in 32-bit floats. Kernels: CUDA events
around passes through frames in device memory, of more bytes together than the L2 cache holds; median of the passes.
Frames: copied from pinned memory, measured, the score read back, one after the other; median. Scores are those of
NumPy, or the results say otherwise. Libraries that cannot be had are in the results with the reason. Needs PyTorch,
ends with 77 without it or without a GPU.
"""
import argparse
import ctypes.util
import datetime
import functools
import importlib
import json
import os
import platform
import re
import statistics
import sys
import time

try:
    import torch
    from torch.nn.functional import conv2d, pad
except ImportError as error:
    print(f"no PyTorch: {error}", file=sys.stderr)
    sys.exit(77)
import numpy

ROTATION = 128 << 20  # bytes of frames
BINOMIAL = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)
LAPLACIAN = ((0, 1, 0), (1, -4, 1), (0, 1, 0))
SOBEL = (((-1, 0, 1), (-2, 0, 2), (-1, 0, 1)), ((-1, -2, -1), (0, 0, 0), (1, 2, 1)))
METRICS = ("laplacian-variance", "tenengrad")
PREFILTERS = ("none", "binomial5")
TOLERANCE = 1e-3  # relative


# Neighbours as slices: what a compiler can fuse, and what NumPy has.

def sliced_binomial(p, height, width):
    rows = sum(w * p[:, i:i + width] for i, w in enumerate(BINOMIAL))
    return sum(w * rows[i:i + height] for i, w in enumerate(BINOMIAL))


def sliced_laplacian(p):
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * p[1:-1, 1:-1]


def sliced_sobel(p):
    right, left, below, above = p[:, 2:], p[:, :-2], p[2:], p[:-2]
    across, down = right - left, below - above
    return (across[:-2] + 2 * across[1:-1] + across[2:], down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:])


def sliced(metric, prefilter, to_float, padded, variance, mean):
    """A recipe of slices for one library's functions."""
    def score(codes):
        values = to_float(codes)
        if prefilter != "none":
            values = sliced_binomial(padded(values, 2), *codes.shape)
        values = padded(values, 1)
        if metric == "laplacian-variance":
            return variance(sliced_laplacian(values))
        x, y = sliced_sobel(values)
        return mean(x * x + y * y)
    return score


def with_numpy(metric, prefilter):
    return sliced(metric, prefilter, lambda v: v.astype(numpy.float64), lambda v, n: numpy.pad(v, n, mode="edge"),
                  numpy.var, numpy.mean)


def with_slices(metric, prefilter):
    return sliced(metric, prefilter, lambda v: v.float(),
                  lambda v, n: pad(v[None, None], (n, n, n, n), mode="replicate")[0, 0],
                  lambda v: v.var(correction=0), torch.mean)


def with_convolutions(metric, prefilter):
    """What one writes first in PyTorch."""
    def weights(kernels):
        return torch.tensor(kernels, dtype=torch.float32, device="cuda")[:, None]

    row, column = weights([[BINOMIAL]]), weights([[[w] for w in BINOMIAL]])
    laplacian, sobel = weights([LAPLACIAN]), weights(SOBEL)

    def score(codes):
        values = codes.float()[None, None]
        if prefilter != "none":
            values = conv2d(conv2d(pad(values, (2, 2, 2, 2), mode="replicate"), row), column)
        values = pad(values, (1, 1, 1, 1), mode="replicate")
        if metric == "laplacian-variance":
            found = conv2d(values, laplacian)
            return (found - found.mean()).square().mean()  # var() takes longer
        return 2 * conv2d(values, sobel).square().mean()  # of both directions
    return score


@functools.lru_cache
def compiled(metric, prefilter):
    return torch.compile(with_slices(metric, prefilter), dynamic=False)


def with_cupy(metric, prefilter):
    import cupy
    from cupyx.scipy import ndimage
    taps = cupy.asarray(BINOMIAL, dtype=cupy.float32)

    def score(codes):
        values = cupy.asarray(codes).astype(cupy.float32)
        if prefilter != "none":
            for axis in (0, 1):
                values = ndimage.correlate1d(values, taps, axis, mode="nearest")
        if metric == "laplacian-variance":
            found = ndimage.laplace(values, mode="nearest")
            return cupy.square(found - found.mean()).mean()  # var() takes longer
        x, y = (ndimage.sobel(values, axis, mode="nearest") for axis in (1, 0))
        return (x * x + y * y).mean()
    return score


class Library:
    """Recipes as a library runs them: each call launches them again."""

    def __init__(self, name, recipe):
        self.name, self.recipe = name, recipe

    def passing(self, score, frames):
        """-> a function that measures all frames"""
        def run():
            for frame in frames:
                score(frame)
        return run

    def measuring(self, score, frame):
        """-> a function that measures this frame, and returns the score"""
        return lambda: float(score(frame))


class Graph(Library):
    """The same, launched as one CUDA graph, so that the host does not limit it."""

    def capture(self, work):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = work()
        return graph, result

    def passing(self, score, frames):
        return self.capture(super().passing(score, frames))[0].replay

    def measuring(self, score, frame):
        graph, result = self.capture(lambda: score(frame))

        def run():
            graph.replay()
            return float(result)
        return run


def peers():
    version = torch.__version__
    yield Library(f"PyTorch {version}, convolutions", with_convolutions)
    yield Library(f"PyTorch {version}, torch.compile", compiled)
    yield Graph(f"PyTorch {version}, torch.compile, in a CUDA graph", compiled)
    if missing("cupy") is None:
        yield Library(f"CuPy {importlib.import_module('cupy').__version__}, cupyx.scipy.ndimage", with_cupy)


def missing(module):
    """Why a module cannot be had; None if it can."""
    try:
        importlib.import_module(module)
    except ImportError as error:
        return str(error)
    return None


def absent():
    """-> (library, why it is not measured)"""
    if (reason := missing("cupy")) is not None:
        yield "CuPy", reason
    reason = missing("cv2")
    if reason is None:
        cv2 = importlib.import_module("cv2")
        with_cuda = hasattr(cv2, "cuda") and cv2.cuda.getCudaEnabledDeviceCount() > 0
        reason = "no recipe here uses it" if with_cuda else f"OpenCV {cv2.__version__} here is built without CUDA"
    yield "OpenCV's CUDA filters", reason
    yield "CV-CUDA", missing("cvcuda") or "no recipe here uses it"
    yield "NPP", "no recipe here uses it" if ctypes.util.find_library("nppif") else "no libnppif here"


@functools.lru_cache(1)
def picture(width, height, edge=1024):
    """Smooth shapes with edges and noise, repeated."""
    y, x = numpy.mgrid[0:edge, 0:edge]
    shape = 110 + 60 * numpy.sin(x * 0.013) * numpy.cos(y * 0.017) + 25 * ((x // 97 + y // 61) % 2)
    tile = numpy.clip(shape + 6 * numpy.random.default_rng(1).random(shape.shape), 0, 255).astype(numpy.uint8)
    return numpy.tile(tile, (-(-height // edge), -(-width // edge)))[:height, :width].copy()


@functools.lru_cache
def expected(metric, prefilter, width, height):
    """NumPy's score; None of large pictures, which take it too long."""
    return float(with_numpy(metric, prefilter)(picture(width, height))) if width * height <= 4 << 20 else None


def kernel_seconds(run, frames, passes):
    run()
    seconds = []
    for _ in range(passes):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        stop.record()
        stop.synchronize()
        seconds.append(start.elapsed_time(stop) * 1e-3 / frames)
    return statistics.median(seconds)


def frame_seconds(run, to, pinned, passes):
    seconds = []
    for i in range(passes * len(pinned) + 1):
        begin = time.perf_counter()
        to.copy_(pinned[i % len(pinned)], non_blocking=True)
        run()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])


def measure(library, width, height, passes):
    codes = picture(width, height)
    count = max(3, -(-ROTATION // codes.size))
    frames = [torch.from_numpy(codes).cuda() for _ in range(count)]
    pinned = [torch.from_numpy(codes).pin_memory() for _ in range(3)]
    for metric in METRICS:
        for prefilter in PREFILTERS:
            row = {"size": f"{width}x{height}", "metric": metric, "prefilter": prefilter, "peer": library.name}
            try:
                score = library.recipe(metric, prefilter)
                run = library.measuring(score, frames[0])
                found = run()
                wanted = expected(metric, prefilter, width, height)
                if wanted is not None and not abs(found - wanted) <= TOLERANCE * wanted:
                    raise RuntimeError(f"the score is {found}, NumPy's {wanted}")
                frame = frame_seconds(run, frames[0], pinned, passes)
                kernel = kernel_seconds(library.passing(score, frames), len(frames), passes)
                yield row | {"kernel_us": kernel * 1e6, "frame_us": frame * 1e6}
            except RuntimeError as error:  # of CUDA, or of the compiler
                yield row | {"error": str(error).strip().splitlines()[0][:200]}


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return re.search(r"model name\s*: (.*)", file.read())[1]
    except (OSError, TypeError):
        return platform.processor()


def driver():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            return {"driver": re.search(r"\d+\.[\d.]+", file.read())[0]}
    except (OSError, TypeError):
        return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1920x1080,3840x2160,8192x8192")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--commit", default="")
    parser.add_argument("--out")
    given = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU", file=sys.stderr)
        return 77
    context = {"program": "peers", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
               "machine": processor(), "cores": os.cpu_count(), "load_avg": list(os.getloadavg()),
               "gpu": torch.cuda.get_device_name(), **driver(), "commit": given.commit,
               "compiler": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}",
               "command": f"peers.py --sizes {given.sizes} --passes {given.passes}"}
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False  # 10 bits do not hold smoothed values
    rows = []

    def add(row):
        """The file then holds it, so that a run cut short has lost nothing."""
        rows.append(row)
        if given.out:
            with open(given.out, "w", encoding="utf-8") as file:
                file.write(json.dumps({"context": context, "rows": rows}, indent=1) + "\n")
        what = row.get("error") or f"kernels {row['kernel_us']:.1f} us, frame {row['frame_us']:.1f} us"
        print(*(row[k] for k in ("size", "metric", "prefilter", "peer") if k in row), what, flush=True)

    for name, reason in absent():
        add({"peer": name, "error": reason})
    for size in given.sizes.split(","):
        for library in peers():
            for row in measure(library, *map(int, size.split("x")), given.passes):
                add(row)
        compiled.cache_clear()
        torch.compiler.reset()  # a function is compiled for few shapes only
    return 0


if __name__ == "__main__":
    sys.exit(main())
