#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Those of the sources named on standard input (each ended by a null byte) whose text changed since a commit, their own or
that of a file of this tree that they include, directly or through others.

usage: changed.py COMMIT
Prints all of them where git does not know the commit, as in a shallow clone.
"""
import pathlib
import re
import subprocess
import sys


def changed_since(commit):
    """Paths that differ from the commit in the working tree, or None if git cannot tell."""
    done = subprocess.run(["git", "diff", "--name-only", "-z", commit, "--"], capture_output=True, check=False)
    return {name.decode() for name in done.stdout.split(b"\0") if name} if done.returncode == 0 else None


def reaches(name, changed, known):
    """True if the file or what it includes has changed; `known` keeps the answers."""
    if name not in known:
        known[name] = name in changed
        path = pathlib.Path(name)
        if not known[name] and path.is_file():
            includes = re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
            known[name] = any(reaches(included, changed, known) for included in includes)
    return known[name]


def main():
    names = [name for name in sys.stdin.read().split("\0") if name]
    changed = changed_since(sys.argv[1])
    if changed is None:
        print(f"changed.py: git does not know {sys.argv[1]}: all sources are chosen", file=sys.stderr)
    known = {}
    # What decides how all are compiled or checked.
    everything = changed is None or changed & {"meson.build", ".clang-tidy"}
    for name in names:
        if everything or reaches(name, changed, known):
            sys.stdout.write(name + "\0")


if __name__ == "__main__":
    main()
