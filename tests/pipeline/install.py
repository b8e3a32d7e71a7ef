# SPDX-License-Identifier: LGPL-2.1-or-later
"""The README's Install brings every element that its commands need, and scripts that need root say how to run them.

usage: install.py SOURCE_ROOT. Exits 77 (skipped) where packages are not Debian's.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from harness import LIMIT

ROOT = pathlib.Path(sys.argv[1]).resolve()
# What framequality-scan makes of an MP4 file with H.264.
DECODING = ("uridecodebin", "qtdemux", "h264parse", "avdec_h264", "videoconvert", "videoscale")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


def package_of(element):
    """The package that an installed element is from; none of GStreamer's core and of ours, which the build is of."""
    about = output("gst-inspect-1.0", element)
    assert about.returncode == 0, f"there is no element {element}"
    plugin, file = (re.search(rf"^  {key} +(\S+)", about.stdout, re.MULTILINE)[1] for key in ("Name", "Filename"))
    if plugin in ("coreelements", "framequality"):
        return None
    for name in (file, os.path.realpath(file), file.removeprefix("/usr")):
        if (owner := output("dpkg", "-S", name)).returncode == 0:
            return owner.stdout.split(":")[0]
    raise AssertionError(f"{file} is of no package")


def check_packages():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^```sh(?: setup)?\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    groups = re.search(r"^scripts/deps ([a-z ]+?)(?: *#.*)?$", "\n".join(commands), re.MULTILINE)[1].split()
    installed = output(ROOT / "scripts" / "deps", "--list", *groups).stdout.split()
    assert "gstreamer1.0-tools" in installed, installed
    order = [next(i for i, block in enumerate(commands) if word in block)
             for word in ("meson install", "gst-launch", "framequality-scan ")]
    assert order == sorted(order), "the README uses what it installs later"
    elements = set(DECODING)
    for line in re.findall(r"gst-launch-1\.0 (.*)", "\n".join(commands).replace("\\\n", " ")):
        elements |= {words.split()[0] for words in re.sub(r"^(-\w+ )*", "", line.split(" | ")[0]).split(" ! ")}
    for element in sorted(elements):
        if "/" in element:  # caps
            continue
        package = package_of(element)
        print(f"{element}: {package or 'comes with every installation'}")
        assert package is None or package in installed, f"scripts/deps {' '.join(groups)} does not install {package}"


def check_root():
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        script = pathlib.Path(name) / "scripts" / "package"
        script.parent.mkdir()
        shutil.copy(ROOT / "scripts" / "package", script)
        ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = output(*ordinary, script, "--cuda", "disabled", "--suite", "trixie", "--try")
        print(done.stderr)
        assert done.returncode == 1
        command = "sudo scripts/package --cuda disabled --suite trixie --try\n"
        assert done.stderr.startswith("scripts/package: ") and done.stderr.endswith(command), done.stderr


if not shutil.which("dpkg"):
    print("SKIPPED: no dpkg here")
    sys.exit(77)
check_packages()
check_root()
