# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs of docs/languages.md, where Debian packages what they need: Rust's, with its crates from the same place.

usage: languages.py SOURCE_ROOT. Go and C# have no packages to build them with.
"""
import os
import pathlib
import re
import subprocess
import sys

from harness import run, run_tests

ROOT = pathlib.Path(sys.argv[1])
PAGE = (ROOT / "docs" / "languages.md").read_text(encoding="utf-8")
CRATES = pathlib.Path("/usr/share/cargo/registry")  # of librust-gstreamer-dev
LIMIT = 600  # s: the crate is built too


def block(pattern):
    return re.search(pattern, PAGE, re.DOTALL)[1]


def test_rust(folder):
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(block(r"```rust\n(.*?)```"), encoding="utf-8")
    (folder / "Cargo.toml").write_text('[package]\nname = "scores"\nversion = "0.1.0"\nedition = "2021"\n' +
                                       block(r"```\n(\[dependencies\].*?)```"), encoding="utf-8")
    (folder / ".cargo").mkdir()
    (folder / ".cargo" / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\n' + f'directory = "{CRATES}"\n', encoding="utf-8")
    built = subprocess.run(["cargo", "build", "--offline"], cwd=folder, env={**os.environ, "CARGO_HOME": str(folder)},
                           capture_output=True, timeout=LIMIT, check=False)
    assert built.returncode == 0, built.stderr.decode()[-4000:]
    if "--build-only" in sys.argv:
        return
    said = run(str(folder / "target" / "debug" / "scores")).stdout.decode().splitlines()
    messages = [float(line.split()[-1]) for line in said if line.startswith("message: ")]
    frames = [float(line.split()[-1]) for line in said if line.startswith("metadata: ")]
    assert len(messages) == 30 and messages == frames, said


if __name__ == "__main__":
    if not CRATES.is_dir() or not list(CRATES.glob("gstreamer-0.*")):
        print("SKIPPED: librust-gstreamer-dev is not installed")
        sys.exit(77)
    sys.exit(run_tests(globals()))
