# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shell completes the options that the programs' --help has, with the values that they take.

usage: completion.py SOURCE_ROOT SCAN MERGE BLIINDS [WATCH]. Skipped without bash-completion.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

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


FOLDERS = [str(pathlib.Path(program).resolve().parent) for program in sys.argv[2:]]


def completed(line, *folders, home=None):
    script = SCRIPT.format(library=LIBRARY, file=root / "apps" / "common" / "completion.bash", function="_framequality")
    path = os.pathsep.join([*folders, *FOLDERS, os.environ["PATH"]])
    run = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True, timeout=LIMIT, check=True,
                         cwd=root, env={**os.environ, "PATH": path, **({"HOME": home} if home else {})})
    assert run.stderr == "", run.stderr
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
assert sorted(completed("framequality-scan --export c")) == ["c", "cpu", "cuda"]
assert completed("framequality-scan -f ") == completed("framequality-scan --format=") == ["csv", "jsonl"]
assert completed("framequality-scan --downscale ") == ["0", "1", "2", "4"]
assert completed("framequality-scan --jobs ") == completed("framequality-scan --every ") == []
assert completed("framequality-scan --manifest meson.b") == []  # no JSON

there, _ = options(merge)
offered = {word.rstrip("=") for word in completed("framequality-merge --")}
assert offered == there, offered ^ there
assert sorted(completed("framequality-merge c")) == ["c", "cpu", "cuda"]

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
    assert completed("framequality-watch --device=") == ["auto", "cpu", "cuda", "opencl"]
    assert completed("framequality-watch --listen=") == ["none"]
    assert completed("framequality-watch --quiet READ") == ["README.md"]
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "framequality-scan"
    program.write_text("""#!/bin/sh
printf 'Usage:\\n  framequality-scan [OPTION] FILE... - score\\n\\nApplication Options:\\n'
printf '  -n, --new=red|green|N     Paint\\n  --flag                    Do not --paint\\n'
""", encoding="utf-8")
    program.chmod(0o755)
    assert completed("framequality-scan --", folder) == ["--new=", "--flag"]
    assert completed("framequality-scan -n ", folder) == completed("framequality-scan --new=", folder) == ["red", "green"]
    assert completed("~/framequality-scan --n", home=folder) == ["--new="]
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    assert completed("framequality-scan --", folder) == completed("framequality-scan README", folder) == []
print("ok")
