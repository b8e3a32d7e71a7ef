#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Markdown tables of the JSON that the benchmark programs write.

usage: report.py FILE.json...             tables of these files, to stdout
       report.py --write [PAGE.md...]    writes the tables of the documentation from benchmarks/results/
       report.py --check [PAGE.md...]    fails if they are not what those files say
Every table says which machine it comes from, and how busy that was. Programs without tables of their own get one of
their rows as they are.
"""
import argparse
import os
import sys

from reporting import others, pages, sharpness
from reporting.results import SCALE, load, named, provenance, table, unique

# Rows by name, as Google Benchmark writes them, or rows with fields: what makes tables of them.
BY_NAME = {"cpu/": (sharpness.cpu,), "cuda-kernel/": (sharpness.kernels,), "avx512/nlmeans": (others.denoise_cpu,),
           "plain-loop/floyd-steinberg": (others.halftone_cpu,)}
BY_PROGRAM = {
    "layouts_bench": (sharpness.layouts,), "pipeline_bench": (sharpness.pipelines,), "streams_bench": (sharpness.streams,),
    "devices_bench": (sharpness.crossover,),
    "opencl_bench": (sharpness.opencl,),
    "denoise_cuda_bench": (others.denoise_gpu,), "halftone_cuda_bench": (others.halftone_gpu,),
}


def plain(rows):
    """The rows as they are, a table for each set of fields."""
    def cell(value):
        return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

    return [table(list(head), [[cell(v) for v in r.values()] for r in rows if tuple(r) == head])
            for head in unique(tuple(r) for r in rows)]


def tables_of(data):
    if "context" not in data:  # of a script that times programs by turns
        return plain([{"": name, **fields} for name, fields in data.items() if isinstance(fields, dict)])
    if "rows" in data:
        functions, rows = BY_PROGRAM.get(data["context"]["program"], ()), data["rows"]
    else:
        functions = [f for start, all_of in BY_NAME.items() for f in all_of
                     if any(name.startswith(start) for name in named(data["benchmarks"]))]
        rows = [{"": name, "ms": b["real_time"] * SCALE[b["time_unit"]], "CPU ms": b["cpu_time"] * SCALE[b["time_unit"]]}
                for name, b in named(data["benchmarks"]).items()]
    try:
        found = [part for function in functions for part in function(data)]
    except (AssertionError, KeyError, ValueError):
        found = []  # a short run, which lacks rows of those that are published
    return found or plain(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="write the tables of the documentation (default: all pages)")
    parser.add_argument("--check", action="store_true", help="the same, but only say what would change, and fail if anything would")
    parser.add_argument("files", nargs="*", metavar="FILE.json | PAGE.md")
    arguments = parser.parse_args()
    if arguments.write or arguments.check:
        return bool(pages.update(arguments.files, arguments.check) and arguments.check)
    if not arguments.files:
        parser.error("no files")
    for file in arguments.files:
        data = load(file)
        print("\n" + "\n\n".join([provenance(os.path.basename(file), data), *tables_of(data)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
