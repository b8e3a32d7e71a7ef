# SPDX-License-Identifier: LGPL-2.1-or-later
"""The line for several machines by ssh in examples/README.md, with GNU parallel and two machines that are this one.

usage: parallel.py EXAMPLES framequality-scan framequality-merge; skipped where parallel is not installed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from archive import OPTIONS, Archive, programs

EXAMPLES, SCAN, MERGE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
LIMIT = 120  # s
# In place of ssh: says where it was, and runs the command here with the user's shell named, which sshd always does and
# GNU parallel relies upon. One machine loses its first connection.
SSH = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
machine=$1
shift
if [[ $1 == -- ]]; then shift; fi
if [[ $machine == two ]] && mkdir "$FOLDER/lost" 2>/dev/null; then exit 255; fi
echo "$machine" >> "$FOLDER/used"
SHELL=/bin/bash exec bash -c "$*"
"""


def check_line(folder):
    archive = Archive(folder, SCAN, frames=60)
    [block] = [block for block in re.findall(r"```sh hardware\n(.*?)```", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.DOTALL)
               if "parallel " in block]
    assert block.count("'*.mp4'") == 1 and block.count('"$PWD/videos"') == 1 and block.count("64") == 2, block
    block = block.replace("'*.mp4'", "'*.m[kp][4v]'").replace('"$PWD/videos"', f'"{archive.videos}"').replace("64", "7")
    results = folder / "my results"
    results.mkdir()
    (results / "machines").write_text("one\ntwo\n")
    ssh = folder / "ssh"
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    environment = {**os.environ, "PATH": programs(folder / "bin", SCAN, MERGE, OPTIONS), "PARALLEL_SSH": str(ssh),
                   "FOLDER": str(folder), "HOME": str(folder)}
    run = subprocess.run(["bash", "-euc", block], cwd=results, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
    assert run.returncode == 0, run.stdout
    archive.compare(results)
    used = (folder / "used").read_text().split()
    assert set(used) == {"one", "two"} and (folder / "lost").exists(), used


def main():
    if not shutil.which("parallel"):
        print("SKIPPED: parallel not installed (scripts/deps nightly installs it)")
        return 77
    with tempfile.TemporaryDirectory(prefix="fq-parallel-") as folder:
        check_line(pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
