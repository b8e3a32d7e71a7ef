#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Markdown tables from the JSON that cpu_bench and cuda_bench write.

usage: report.py FILE.json...
"""
import json
import sys


def read(path):
    """-> (context, {"kind/metric/size": (milliseconds, bytes per second)}); medians where a run was repeated."""
    with open(path) as f:
        data = json.load(f)
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
    rows = {}
    for b in data["benchmarks"]:
        if b.get("run_type") == "aggregate" and b.get("aggregate_name") != "median":
            continue
        name = "/".join(p for p in b["run_name"].split("/") if ":" not in p and p not in ("manual_time", "real_time"))
        rows[name] = (b["real_time"] * scale[b["time_unit"]], b.get("bytes_per_second", 0))
    return data["context"], rows


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
    if "device-read" not in rows:
        return
    bandwidth = rows["device-read"][1]
    print(f"\n### GPU kernels, frames rotating in device memory\n\nReading device memory: {bandwidth / 1e12:.2f} TB/s.\n")
    sizes = ("1080p", "2160p", "8192x8192")
    print("| metric | " + " | ".join(f"{s}, us | of read" for s in sizes) + " | 8192x8192 16 bit, us | of read |")
    print("|---|" + "--:|" * 8)
    for m in metrics_of(rows, "cuda-kernel", sizes[0]):
        cells = []
        for kind, size in [("cuda-kernel", s) for s in sizes] + [("cuda-kernel-16bit", sizes[-1])]:
            ms, rate = rows[f"{kind}/{m}/{size}"]
            cells += [f"{ms * 1e3:.1f}", f"{rate / bandwidth:.0%}"]
        print(f"| `{m}` | " + " | ".join(cells) + " |")
    print("\n| tenengrad | " + " | ".join(sizes) + " |\n|---|" + "--:|" * len(sizes))
    for kind, text in (("cuda-kernel", "kernel, us"), ("cuda-kernel-binomial3", "with binomial3, us"),
                       ("cuda-kernel-binomial5", "with binomial5, us"),
                       ("cuda-frame", "whole frame from pageable host memory, GPU, us"),
                       ("cpu-frame", "the same, CPU, one core, us")):
        print(f"| {text} | " + " | ".join(f"{rows[f'{kind}/tenengrad/{s}'][0] * 1e3:.1f}" for s in sizes) + " |")


for path in sys.argv[1:]:
    context, rows = read(path)
    print(f"\nFrom `{path.split('/')[-1]}`, {context.get('date', '')[:10]}: "
          + ", ".join(f"{k} {context[k]}" for k in ("machine", "gpu", "driver", "compiler", "commit") if k in context))
    cpu_tables(rows)
    cuda_tables(rows)
