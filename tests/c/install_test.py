# SPDX-License-Identifier: LGPL-2.1-or-later
"""The installed C library as others use it: symbols, pkg-config, CMake, meson's subprojects, the header for GStreamer.

usage: install_test.py SOURCE_ROOT BUILD_ROOT LIBRARY. What needs a program that is not installed is left out, and said.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD, LIBRARY = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
SANITIZED = os.environ.get("SANITIZED") == "1"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
META = """
#include <framequality/meta.h>
int main(int argc, char** argv) {
  GstBuffer* buffer;
  double score = 0;
  gboolean has;
  gst_init(&argc, &argv);
  buffer = gst_buffer_new();
  has = fq_sharpness(buffer, &score);
  gst_buffer_unref(buffer);
  return has || fq_meta_fields(NULL, "none") ? 1 : 0;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(framequality 0.2 REQUIRED)
add_executable(score_pgm {source})
target_link_libraries(score_pgm framequality::framequality)
"""
MESON = """project('user', 'c', 'cpp')
dep = dependency('framequality', fallback: 'framequality',
  default_options: ['plugin=disabled', 'python=disabled', 'tests=false', 'cuda=disabled'])
assert(dep.type_name() == 'internal')
executable('score_pgm', '{source}', dependencies: dep)
"""


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=240, check=False, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_symbols():
    """Symbols may be added, at the end of a release; one that goes breaks every program that was built."""
    listed = (ROOT / "tests/c/symbols.txt").read_text(encoding="utf-8").split()
    found = sorted(line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()
                   if " T " in line)
    assert found == listed, f"missing {sorted(set(listed) - set(found))}, new {sorted(set(found) - set(listed))}"
    declared = sorted(set(re.findall(r"\b(fq_\w+)\(", (ROOT / "c/framequality.h").read_text(encoding="utf-8"))) - {"fq_init"})
    declared = [name for name in declared if f"fq_last_error() " not in name]
    assert set(listed) == set(declared), sorted(set(listed) ^ set(declared))
    dynamic = run("readelf", "-dW", LIBRARY)
    assert "[libframequality.so.0]" in dynamic, dynamic
    for library in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        assert SANITIZED or re.match(r"(libc|libm|libstdc\+\+|libgcc_s|libdl|librt|libpthread|ld-linux.*)\.so", library), library


def try_program(folder, program, library_folder):
    picture = folder / "a.pgm"
    picture.write_bytes(b"P5 64 48 255\n" + bytes(x * y % 256 for y in range(48) for x in range(64)))
    deep = folder / "deep.pgm"
    deep.write_bytes(b"P5 64 48 4095\n" + b"".join((x * y % 256 * 16).to_bytes(2, "big") for y in range(48) for x in range(64)))
    shown = run(program, picture, deep, env={**os.environ, "LD_LIBRARY_PATH": str(library_folder)}).split("\n")
    scores = [float(line.split()[0]) for line in shown if line]
    assert len(scores) == 2 and scores[0] == scores[1] > 0, shown
    failed = subprocess.run([program, folder / "none"], capture_output=True, text=True, check=False,
                            env={**os.environ, "LD_LIBRARY_PATH": str(library_folder)}, timeout=60)
    assert failed.returncode == 1 and "none: cannot be read" in failed.stderr, failed


def main():
    check_symbols()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder / "root", "--tags", "devel")
        prefix = next((folder / "root").rglob("framequality.h")).parent.parent
        libraries = next(prefix.rglob("framequality.pc")).parent.parent
        for file in LIBRARY.parent.glob("libframequality.so*"):
            if not file.is_dir() and not os.path.lexists(libraries / file.name):
                shutil.copy(file, libraries / file.name, follow_symlinks=False)
        source = ROOT / "examples/score_pgm.c"
        env = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
        flags = run("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "framequality", env=env).split()
        if SANITIZED:
            print("left out: programs that are not built with sanitizers")
            return
        run("cc", *STRICT, source, *flags, "-o", folder / "plain")
        try_program(folder, folder / "plain", libraries)
        run("c++", "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-fsyntax-only",
            "-include", "framequality.h", "/dev/null", *flags)
        (folder / "meta.c").write_text(META, encoding="utf-8")
        gst = run("pkg-config", "--cflags", "--libs", "gstreamer-1.0").split()
        run("cc", "-Wall", "-Wextra", "-Werror", folder / "meta.c", *flags, *gst, "-o", folder / "meta")
        run(folder / "meta", env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
        if shutil.which("cmake"):
            (folder / "cmake").mkdir()
            (folder / "cmake/CMakeLists.txt").write_text(CMAKE.format(source=source), encoding="utf-8")
            run("cmake", "-S", folder / "cmake", "-B", folder / "cmake/build", f"-DCMAKE_PREFIX_PATH={prefix}")
            run("cmake", "--build", folder / "cmake/build")
            try_program(folder, folder / "cmake/build/score_pgm", libraries)
        else:
            print("left out: no cmake")
        user = folder / "meson"
        (user / "subprojects").mkdir(parents=True)
        (user / "subprojects/framequality").symlink_to(ROOT)
        (user / "meson.build").write_text(MESON.format(source=source), encoding="utf-8")
        run("meson", "setup", user / "build", user)


main()
