#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Test of the OpenCL C that metrics become: it is what golden/ has, so that a change is seen and read, and it compiles.

usage: text_test.py [EMULATOR] PRINT_KERNEL [--write]
--write: makes the files of golden/ anew.
"""
import pathlib
import shutil
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).parent / "golden"
# What every device has; without, a kernel would be refused somewhere.
FOREIGN = ["double", "cl_khr", "generic", "atom_add", "half"]


def main():
    tool, write = [word for word in sys.argv[1:] if word != "--write"], "--write" in sys.argv

    def printed(*words):
        return subprocess.run([*tool, *words], check=True, capture_output=True, text=True).stdout

    texts = {metric: printed(metric) for metric in printed("--list").split()}
    texts["samples"] = printed("--samples")
    texts["statistics"] = printed("--statistics")
    texts["tenengrad-dot"] = printed("tenengrad", "--dot")
    faults = []
    if write:
        for old in GOLDEN.glob("*.cl"):
            old.unlink()
    for name, text in texts.items():
        path = GOLDEN / f"{name}.cl"
        if write:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            faults.append(f"{name}: not what {path.name} has; read the difference, then run text_test.py --write")
        faults += [f"{name}: has '{word}'" for word in FOREIGN if word in text.split()]
    faults += [f"{p.name}: no kernel is called so" for p in GOLDEN.glob("*.cl") if p.stem not in texts]
    for bad in (["no-such-metric"], []):
        if subprocess.run([*tool, *bad], capture_output=True).returncode != 2:
            faults.append(f"{bad}: not refused")
    # Other widths and processors, too.
    for metric in printed("--list").split():
        for words in (["--cpu"], ["--bits=12"], ["--bits=16"], ["--bits=16", "--cpu"]):
            texts[" ".join([metric, *words])] = printed(metric, *words)
    clang = shutil.which("clang")
    if clang:
        for name, text in texts.items():
            if "asm(" in text:
                continue
            done = subprocess.run(
                [clang, "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-Xclang", "-finclude-default-header",
                 "-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
                 "-fsyntax-only", "-"], input=text, text=True, capture_output=True, check=False)
            if done.returncode:
                faults.append(f"{name}: {done.stderr}")
    else:
        print("no clang: the texts were not compiled")
    print("\n".join(faults) or f"{len(texts)} texts")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
