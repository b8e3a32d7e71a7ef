#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A wheel from an installed tree of the Python package: compressed, its platform named by the newest symbols that its
module asks for (PEP 600), other libraries refused.

usage: pack_wheel.py SOURCE_ROOT INSTALLED_ROOT OUT_FOLDER
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tomllib
import zipfile

# What every manylinux has (PEP 600); libstdc++ is linked statically.
ALLOWED = re.compile(r"(libc|libm|libpthread|libdl|librt|libgcc_s|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+$")
# Newest symbol versions of libgcc_s that the manylinux of every glibc from 2.28 on has.
GCC = (8,)


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True).stdout


def platform_of(module):
    """The platform tag of an ELF file, from its machine and the versions of glibc's symbols that it needs."""
    header = run("readelf", "-hW", module)
    machine = "aarch64" if "AArch64" in header else "x86_64" if "X86-64" in header else None
    if machine is None:
        sys.exit(f"{module}: unknown machine")
    for library in re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-dW", module)):
        if not ALLOWED.match(library):
            sys.exit(f"{module.name} needs {library}, which not every system has")
    needs = run("readelf", "-VW", module)
    newest = max((tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([0-9.]+)", needs)), default=(2, 17))
    for version in re.findall(r"Name: GCC_([0-9.]+)", needs):
        if tuple(map(int, version.split("."))) > GCC:
            sys.exit(f"{module.name} needs GCC_{version} of libgcc_s")
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def main():
    source, root, out = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    package = next(root.rglob("_core.abi3.so")).parent
    files = {f"framequality/{p.relative_to(package)}": p for p in sorted(package.rglob("*"))
             if p.is_file() and "__pycache__" not in p.parts}
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r"^  version: '([^']+)'", (source / "meson.build").read_text(encoding="utf-8"), re.MULTILINE)[1]
    tag = f"cp311-abi3-{platform_of(package / '_core.abi3.so')}"
    info = f"framequality-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", "Name: framequality", f"Version: {version}", f"Summary: {project['description']}",
                f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}",
                *(f"Classifier: {c}" for c in project["classifiers"]),
                *(f"Provides-Extra: {e}\nRequires-Dist: {r}; extra == '{e}'"
                  for e, rs in project["optional-dependencies"].items() for r in rs),
                "Description-Content-Type: text/markdown", "", (source / project["readme"]).read_text(encoding="utf-8")]
    data = {name: path.read_bytes() for name, path in files.items()}
    data[f"{info}/METADATA"] = "\n".join(metadata).encode()
    data[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: framequality\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    data[f"{info}/COPYING"] = (source / "COPYING").read_bytes()

    def record(name):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data[name]).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(data[name])}"

    data[f"{info}/RECORD"] = "\n".join([*map(record, data), f"{info}/RECORD,,", ""]).encode()
    target = out / f"framequality-{version}-{tag}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, content in data.items():
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))  # the same bytes from the same build
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")


main()
