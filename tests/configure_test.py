#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Configuring finds the host compiler that nvcc takes, the GPUs that it knows, GStreamer's plugin folder, and says which
GPU is left unused. Plays CUDA toolkits and machines.

usage: configure_test.py SOURCE_ROOT
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))

# Refuses the host compilers that match REFUSED, as CUDA 12.4 does GCC 14.
NVCC = """#!/bin/sh
case " $* " in
  *--list-gpu-arch*) printf 'compute_80\\ncompute_90\\ncompute_121\\n'; exit ;;
esac
host=own
while [ $# -gt 0 ]; do
  case $1 in
    -ccbin) host=$2; shift ;;
    -o) out=$2; shift ;;
  esac
  shift
done
case $host in {refused}) echo "error: unsupported GNU version" >&2; exit 1 ;; esac
: >"$out"
"""


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Configure(Case):
    def setup(self, refused, *options, **environment):
        """What meson says with a toolkit whose nvcc refuses these host compilers."""
        toolkit = self.folder / "toolkit"
        write(toolkit / "bin" / "nvcc", NVCC.replace("{refused}", refused), 0o755)
        (toolkit / "lib64").mkdir(exist_ok=True)
        subprocess.run(["ar", "rc", str(toolkit / "lib64" / "libcudart_static.a")], check=True)
        done = subprocess.run(
            ["meson", "setup", str(self.folder / "build"), str(ROOT), "-Dtests=false", *options], capture_output=True,
            text=True, timeout=120, check=False,
            env={**os.environ, "PATH": f"{toolkit}/bin:{os.environ['PATH']}", "CXX": "c++", **environment})
        return done.returncode, done.stdout + done.stderr

    def test_the_compiler_of_the_rest_comes_first(self):
        status, said = self.setup("nobody")
        self.assertEqual(status, 0, said)
        self.assertNotIn("CUDA's host compiler", said)
        self.assertRegex(said, r"CUDA +: yes, for 80 90\n")

    def test_where_nvcc_refuses_it_nvccs_own_choice_is_taken(self):
        status, said = self.setup("c++|/*")
        self.assertEqual(status, 0, said)
        self.assertIn("CUDA's host compiler: nvcc's own choice", said)
        self.assertRegex(said, r"CUDA +: yes")

    def test_without_any_the_build_is_for_the_cpu_and_says_what_to_install(self):
        status, said = self.setup("*")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"CUDA +: no: .*install one that it takes")
        status, said = self.setup("*", "-Dcuda=enabled", "--wipe")
        self.assertNotEqual(status, 0, said)

    def test_the_plugin_goes_where_gstreamer_looks(self):
        wanted = subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"], capture_output=True, text=True,
                                check=True).stdout.strip()
        # Also where meson's own libdir is another, as without dpkg-dev.
        _, said = self.setup("nobody", "--prefix=/usr", "--libdir=lib64", "-Dcuda=disabled")
        self.assertEqual(re.search(r"plugin +: (\S+)", said)[1], wanted)
        _, said = self.setup("nobody", "--prefix=/opt/x", "--libdir=lib64", "-Dcuda=disabled", "--wipe")
        self.assertEqual(re.search(r"plugin +: (\S+)", said)[1], wanted.replace("/usr", "/opt/x", 1))


class Build(Case):
    def architecture(self, known, capability):
        """What scripts/build takes with an nvcc that knows these and a GPU of this capability; none: no GPU."""
        nvcc = "#!/bin/sh\n" + "".join(f"echo compute_{k}\n" for k in known)
        smi = f"#!/bin/sh\necho {capability}\n" if capability else "#!/bin/sh\necho NVIDIA-SMI has failed\nexit 9\n"
        write(self.folder / "bin" / "nvcc", nvcc, 0o755)
        write(self.folder / "bin" / "nvidia-smi", smi, 0o755)
        write(self.folder / "bin" / "meson", '#!/bin/sh\necho "$@"\n', 0o755)
        said = subprocess.run(
            [str(ROOT / "scripts" / "build"), str(self.folder / "b")], capture_output=True, text=True, timeout=30,
            check=False, env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "CONFIGURE_ONLY": "1",
                              "CUDA_PATH": "", "CUDA_HOME": ""}).stdout
        return re.search(r"-Dcuda-arch=(\d+)", said)[1]

    def compiler(self, named):
        """The compiler that scripts/build hands to meson where this one is named and only these programs are there."""
        programs, build = self.folder / "bin", self.folder / "b"
        write(programs / "meson", '#!/bin/sh\nmkdir "$2"\necho "$CXX"\n', 0o755)
        for name in ("dirname", "mkdir"):
            (programs / name).unlink(missing_ok=True)
            (programs / name).symlink_to(shutil.which(name))
        shutil.rmtree(build, ignore_errors=True)
        return subprocess.run(["/bin/bash", str(ROOT / "scripts" / "build"), str(build), "-Dcuda=disabled"], timeout=30,
                              capture_output=True, text=True, check=True,
                              env={"PATH": str(programs), "CONFIGURE_ONLY": "1", "CXX": named}).stdout.strip()

    def test_a_compiler_that_is_named_goes_through_ccache_too(self):
        self.assertEqual(self.compiler("clang++"), "clang++")
        write(self.folder / "bin" / "ccache", "#!/bin/sh\n", 0o755)
        self.assertEqual(self.compiler("clang++"), "ccache clang++")
        self.assertEqual(self.compiler("/usr/lib/ccache/g++"), "/usr/lib/ccache/g++")
        self.assertEqual(self.compiler(""), "")

    def test_it_is_for_the_gpu_here_or_what_the_driver_can_translate(self):
        self.assertEqual(self.architecture([75, 80, 86, 90], "8.6"), "86")
        self.assertEqual(self.architecture([75, 80, 86, 90], "12.0"), "90")
        self.assertEqual(self.architecture([75, 80, 86, 90], None), "75")
        self.assertEqual(self.architecture([80, 87, 90, 100], None), "80")


class Gpu(Case):
    def said(self, *options):
        return subprocess.run([str(ROOT / "scripts" / "gpu"), *options], capture_output=True, text=True, check=True,
                              timeout=30, env={**os.environ, "SYSROOT": str(self.folder)}).stdout.strip()

    def test_a_machine_without_one_says_nothing(self):
        write(self.folder / "sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n")
        write(self.folder / "sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n")
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said("--advice"), "")

    def test_what_a_broken_driver_prints_is_no_name(self):
        write(self.folder / "bin" / "nvidia-smi", "#!/bin/sh\necho NVIDIA-SMI has failed\nexit 9\n", 0o755)
        said = subprocess.run([str(ROOT / "scripts" / "gpu")], capture_output=True, text=True, check=True, timeout=30,
                              env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "SYSROOT": ""}).stdout
        self.assertNotIn("failed", said)

    def test_with_a_driver_it_has_its_name(self):
        write(self.folder / "proc/driver/nvidia/gpus/0000:01:00.0/information",
              "Model: \t\t NVIDIA GeForce RTX 3060\nIRQ:   \t\t 60\n")
        self.assertEqual(self.said(), "NVIDIA GeForce RTX 3060")
        advice = self.said("--advice")
        self.assertEqual(advice.count("\n"), 0)
        for word in ("NVIDIA GeForce RTX 3060", "unused", "gstreamer1.0-framequality", "toolkit"):
            self.assertIn(word, advice)

    def test_without_a_driver_it_is_found_on_the_bus(self):
        device = self.folder / "sys/bus/pci/devices/0000:01:00.0"
        for name, value in (("vendor", "0x10de"), ("class", "0x030200"), ("device", "0x2335")):
            write(device / name, value + "\n")
        self.assertIn("2335", self.said())
        self.assertIn("driver", self.said("--advice"))


unittest.main()
