#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`tenengrad` by NVIDIA's Performance Primitives, compared with ours: kernels alone.

usage: npp.py [--sizes WxH,...] [--passes N] [--commit HASH] [--out FILE.json]

Builds npp.cu with nvcc and NPP of the CUDA toolkit. The score is the definition's, or it stops. Ends with 77 without
nvcc, NPP or a GPU.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "npp.cu"
TOLERANCE = 1e-6  # relative


def output_of(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True).stdout
    except OSError:
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1920x1080,3840x2160,8192x8192")
    parser.add_argument("--passes", default="9")
    parser.add_argument("--commit", default="")
    parser.add_argument("--out")
    given = parser.parse_args()
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split(", ")
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if len(gpu) < 2 or not nvcc:
        print("no GPU, or no nvcc", file=sys.stderr)
        return 77
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "npp"
        if why := output_of(nvcc, "-std=c++17", "-O3", "-arch=native", "-o", str(program), str(SOURCE), "-lnppif",
                            "-lnppist", "-lnppc"):
            print(why, file=sys.stderr)
        if not program.exists():
            return 77
        for size in given.sizes.split(","):
            text = output_of(str(program), *size.split("x"), given.passes)
            try:
                us, score, wanted = map(float, text.split())
            except ValueError:
                sys.exit(f"{size}: {text}")
            if not abs(score - wanted) <= TOLERANCE * wanted:
                sys.exit(f"{size}: the score is {score}, not {wanted}")
            rows.append({"size": size, "metric": "tenengrad", "prefilter": "none", "peer": "NPP", "kernel_us": us})
            print(size, f"{us:.1f} us", flush=True)
    release = re.search(r"release ([\d.]+)", output_of(nvcc, "--version"))
    context = {"program": "npp", "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
               "machine": re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text("utf-8"))[1],
               "cores": os.cpu_count(), "gpu": gpu[0], "driver": gpu[1].strip(), "commit": given.commit,
               "compiler": f"NPP of CUDA {release[1] if release else '?'}",
               "command": f"npp.py --sizes {given.sizes} --passes {given.passes}"}
    if given.out:
        pathlib.Path(given.out).write_text(json.dumps({"context": context, "rows": rows}, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
