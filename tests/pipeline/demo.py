# SPDX-License-Identifier: LGPL-2.1-or-later
"""scripts/demo uses the build or the installation that is there, and leaves table, plot and page.

usage: demo.py SOURCE_ROOT BUILD_ROOT. Exits 77 (skipped) without matplotlib.
"""
import os
import pathlib
import re
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


def run_demo(folder, version, folders, works):
    """In a source tree of that version with these build folders: what it printed, and how meson was called. Its meson
    compiles nothing; it succeeds if it `works`."""
    tree = folder / "a tree"
    for name in ("meson.build", "examples/score_video.py", *(f"scripts/{name}" for name in ("demo", "deps", "build", "gpu"))):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    text = (tree / "meson.build").read_text(encoding="utf-8")
    if version:
        text = re.sub("version: '[^']+'", f"version: '{version}'", text, count=1)
        (tree / "meson.build").write_text(text, encoding="utf-8")
    for name in folders:
        (tree / name / SCAN.parent).mkdir(parents=True)
        (tree / name / SCAN).symlink_to(BUILD / SCAN)
        (tree / name / "gst").symlink_to(BUILD / "gst")
        for file in ("build.ninja", "compile_commands.json"):
            (tree / name / file).touch()
    programs = folder / "bin"
    programs.mkdir()
    (programs / "framequality-scan").symlink_to(BUILD / SCAN)
    (programs / "meson").write_text(f'#!/bin/sh\necho "$*" >> "{folder}/calls"\nexit {0 if works else 1}\n')
    (programs / "meson").chmod(0o755)
    done = subprocess.run([str(tree / "scripts" / "demo"), str(folder / "film.mkv"), "metric=brenner"],
                          capture_output=True, text=True, timeout=LIMIT, check=False, cwd=folder,
                          env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "SKIP_DEPS": "1"})
    calls = (folder / "calls").read_text() if (folder / "calls").exists() else ""
    print(done.stdout, done.stderr, calls)
    if works or not calls:
        assert done.returncode == 0
        assert "The highest scores (brenner)" in done.stdout
        assert (tree / "demo-output" / "scores.csv").read_text().startswith("frame,time_s,brenner\n0,")
        assert (tree / "demo-output" / "score.png").read_bytes()[:4] == b"\x89PNG"
        assert "film.mkv" in (tree / "demo-output" / "report.html").read_text(encoding="utf-8")
    assert "build" in folders or not (tree / "build").exists()
    return done, calls


def main():
    cases = (
        # An installation of this version, whatever else was built for it; one of another version is not used.
        ("", ("build-usr",), True, r"Using the installed framequality: ", ""),
        ("9.9.9", (), False, r"the build failed", r"setup .*/build .*-Dtests=false"),
        # A build folder that is there, with nothing configured anew.
        ("", ("build", "build-usr"), True, r"Building in build/", r"compile -C .*/build gstframequality framequality-scan\n$"),
        ("9.9.9", ("build-usr",), True, r"Building in build-usr/", r"compile -C .*/build-usr gstframequality "),
    )
    for version, folders, works, says, calls in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            film = "videotestsrc num-buffers=20 ! video/x-raw,format=I420 ! avenc_ffv1 ! matroskamux ! filesink"
            subprocess.run(["gst-launch-1.0", "-q", *film.split(), f"location={folder}/film.mkv"], check=True, timeout=LIMIT)
            done, called = run_demo(folder, version, folders, works)
            assert re.search(says, done.stdout + done.stderr), says
            assert re.match(calls, called) if calls else not called, called


main()
