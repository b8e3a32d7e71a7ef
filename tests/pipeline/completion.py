# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shell completes the options that the programs have, with the values that they take.

usage: completion.py SOURCE_ROOT SCAN MERGE BLIINDS [WATCH]. Skipped without bash-completion.
"""
import pathlib
import re
import subprocess
import sys

from harness import LIMIT

LIBRARY = pathlib.Path("/usr/share/bash-completion/bash_completion")
root, (scan, merge, bliinds) = pathlib.Path(sys.argv[1]), sys.argv[2:5]

SCRIPT = """
. {library} && . {file}
COMP_LINE=$1; COMP_POINT=${{#1}}; COMP_TYPE=9; COMP_KEY=9
# As readline splits words: "=" is one of its own.
read -r -a COMP_WORDS <<<"${{1//=/ = }}"
if [[ $1 == *' ' || $1 == *'=' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ :; }}
{function}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(line):
    program = line.split()[0]
    file = root / "apps" / program.removeprefix("framequality-") / "completion.bash"
    script = SCRIPT.format(library=LIBRARY, file=file, function="_" + program.replace("-", "_"))
    run = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True, timeout=LIMIT, check=True,
                         cwd=root)
    return [word.strip() for word in run.stdout.splitlines() if word.strip()]


def options(program):
    text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    return {option for option in re.findall(r"^ {2,}(?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)}, text


if not LIBRARY.exists():
    print("SKIPPED: bash-completion is not installed")
    sys.exit(77)

there, text = options(scan)
offered = {word.rstrip("=") for word in completed("framequality-scan --")}
assert offered == there, offered ^ there
metrics = re.findall(r"^  (\S+) \[[^]]+\]: ", text, re.MULTILINE)
assert completed("framequality-scan --metric ") == metrics and len(metrics) > 10, metrics
assert completed("framequality-scan --metric=ten") == ["tenengrad"]
assert completed("framequality-scan --prefilter=") == ["none", "binomial3", "binomial5"]
assert completed("framequality-scan --quiet READ") == ["README.md"]
assert sorted(completed("framequality-scan --export c")) == ["cpu", "cuda"]

there, _ = options(merge)
offered = {word.rstrip("=") for word in completed("framequality-merge --")}
assert offered == there, offered ^ there
assert sorted(completed("framequality-merge c")) == ["cpu", "cuda"]

there, _ = options(bliinds)
assert completed("framequality-bliinds ") == ["features", "score", "--help", "--version"]
offered = {word.rstrip("=") for command in ("features", "score")
           for word in completed(f"framequality-bliinds {command} --")}
assert offered == there | {"--help"}, offered ^ there
assert "--model=" not in completed("framequality-bliinds features --")
assert completed("framequality-bliinds score --channel=") == ["luma", "red"]

if len(sys.argv) > 5:
    there, _ = options(sys.argv[5])
    offered = {word.rstrip("=") for word in completed("framequality-watch --")}
    assert offered == there, offered ^ there
    assert completed("framequality-watch --device=") == ["auto", "cpu", "cuda"]
    assert completed("framequality-watch --quiet READ") == ["README.md"]
print("ok")
