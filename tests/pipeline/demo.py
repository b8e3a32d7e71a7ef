# SPDX-License-Identifier: LGPL-2.1-or-later
"""scripts/demo uses the build or the installation that is there or makes a small build; it leaves table, plot and page.

usage: demo.py SOURCE_ROOT BUILD_ROOT. Exits 77 (skipped) without matplotlib.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from harness import LIMIT

try:
    import matplotlib  # noqa: F401  pylint: disable=unused-import
except ImportError:
    print("SKIPPED: python3-matplotlib is not installed (scripts/deps demo)")
    sys.exit(77)

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SCAN = pathlib.Path("apps") / "scan" / "framequality-scan"


# Compiles nothing: says what there is to compile in a folder, which has a file `plan`, and notes what it is asked for.
MESON = """#!/bin/sh
folder={folder}
case "$*" in
  *-n\\ *) cat "$3/plan"; exit ;;
esac
echo "$*" >> "$folder/calls"
case $1 in
  setup)
    mkdir -p "$2/apps/scan" && touch "$2/build.ninja" && echo -DFQ_HAVE_CUDA=0 > "$2/compile_commands.json"
    ln -s {build}/apps/scan/framequality-scan "$2/apps/scan/"
    ln -s {build}/gst "$2/gst"
    ;;
esac
echo "[1/2] Compiling C++ object a.o"
exit {status}
"""
UNBUILT = "".join(f"[{i}/40] Compiling C++ object a{i}.o\n" for i in range(1, 41))
KERNELS = "".join(f"[{i}/3] Generating cuda/a{i}.o with a custom command\n" for i in range(1, 4))
EDITED = "INFO: calculating backend command\n[1/2] Compiling C++ object a.o\n[2/2] Linking target b\n"


def run_demo(folder, version, folders, works, toolkit):
    """In a source tree of that version with these build folders and what there is to compile in them: what it printed,
    and how meson was called. Compiling succeeds if it `works`. The machine has a GPU."""
    tree = folder / "a tree"
    scripts = (f"scripts/{name}" for name in ("demo", "deps", "build", "gpu", "progress.py"))
    for name in ("meson.build", "examples/score_video.py", *scripts):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    text = (tree / "meson.build").read_text(encoding="utf-8")
    if version:
        text = re.sub("version: '[^']+'", f"version: '{version}'", text, count=1)
        (tree / "meson.build").write_text(text, encoding="utf-8")
    for name, plan in folders.items():
        (tree / name / SCAN.parent).mkdir(parents=True)
        (tree / name / SCAN).symlink_to(BUILD / SCAN)
        (tree / name / "gst").symlink_to(BUILD / "gst")
        for file in ("build.ninja", "compile_commands.json"):
            (tree / name / file).touch()
        (tree / name / "plan").write_text(plan)
    programs, system = folder / "bin", folder / "system"
    programs.mkdir()
    (programs / "framequality-scan").symlink_to(BUILD / SCAN)
    (programs / "meson").write_text(MESON.format(folder=folder, build=shlex.quote(str(BUILD)), status=0 if works else 1))
    (programs / "meson").chmod(0o755)
    gpu = system / "proc/driver/nvidia/gpus/0000:01:00.0/information"
    gpu.parent.mkdir(parents=True)
    gpu.write_text("Model: \t\t NVIDIA GeForce RTX 3060\n")
    if toolkit:
        (programs / "nvcc").write_text("#!/bin/sh\n")
        (programs / "nvcc").chmod(0o755)
    done = subprocess.run([str(tree / "scripts" / "demo"), str(folder / "film.mkv"), "metric=brenner"],
                          capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "SKIP_DEPS": "1",
                               "SYSROOT": str(system)})
    calls = (folder / "calls").read_text() if (folder / "calls").exists() else ""
    print(done.stdout, done.stderr, calls)
    if works or not calls:
        assert done.returncode == 0
        assert "The highest scores (brenner)" in done.stdout
        assert (tree / "demo-output" / "scores.csv").read_text().startswith("frame,time_s,brenner\n0,")
        assert (tree / "demo-output" / "score.png").read_bytes()[:4] == b"\x89PNG"
        assert "film.mkv" in (tree / "demo-output" / "report.html").read_text(encoding="utf-8")
    else:
        assert done.returncode != 0
    assert "build" in folders or not (tree / "build").exists()
    return done, calls


def main():
    compiles = r"compile -C .*/{} gstframequality framequality-scan\n$".format
    cases = (
        # An installation of this version, whatever else was built for it; one of another version is not used.
        ("", {"build-usr": EDITED}, True, False, r"Using the installed framequality: ", ""),
        ("9.9.9", {}, False, False, r"cannot configure the build",
         r"setup .*/build-demo .*-Dcuda=disabled -Dtests=false -Dwatch=disabled\n$"),
        # Nothing there: a small build, which leaves the GPU unused, and says what would use it.
        ("9.9.9", {}, True, False, r"(?s)CPU only, in build-demo/.*Page .*\n(Found|This used the CPU only. To use) NVIDIA GeForce RTX 3060",
         r"setup .*\n" + compiles("build-demo")),
        ("9.9.9", {}, True, True, r"(?s)Page .*\nThis used the CPU only. To use NVIDIA GeForce RTX 3060: run scripts/build",
         r"setup .*"),
        # A build folder that is there, with nothing configured anew.
        ("", {"build": EDITED, "build-usr": EDITED}, True, False, r"Using the build in build/", compiles("build")),
        ("9.9.9", {"build-usr": EDITED}, True, False, r"Using the build in build-usr/", compiles("build-usr")),
        ("9.9.9", {"build": EDITED}, False, False, r"cannot build the plugin", compiles("build")),
        # One that is configured only would cost minutes, most of all for the GPU.
        ("9.9.9", {"build": UNBUILT}, True, False,
         r"(?s)Not using build/: 40 steps .*CPU only, in build-demo/", r"setup .*/build-demo "),
        ("", {"build": KERNELS}, True, False, r"(?s)Not using build/: 3 steps .*Using the installed", ""),
        ("9.9.9", {"build": UNBUILT, "build-usr": "", "build-demo": ""}, True, False, r"Using the build in build-usr/",
         compiles("build-usr")),
        ("9.9.9", {"build-demo": UNBUILT}, True, False, r"Using the build in build-demo/", compiles("build-demo")),
    )
    for version, folders, works, toolkit, says, calls in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            film = "videotestsrc num-buffers=20 ! video/x-raw,format=I420 ! avenc_ffv1 ! matroskamux ! filesink"
            subprocess.run(["gst-launch-1.0", "-q", *film.split(), f"location={folder}/film.mkv"], check=True, timeout=LIMIT)
            done, called = run_demo(folder, version, folders, works, toolkit)
            assert re.search(says, done.stdout + done.stderr), says
            assert re.match(calls, called) if calls else not called, called


main()
