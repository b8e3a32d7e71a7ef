#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loop bounds in device code that are minima or maxima go through loop_bound(): cuda/loop_bound.cuh says why.

usage: loop_bounds_test.py SOURCE_ROOT

What a declarator or an assignment gives a variable counts for the loops of its file; what is given to a member, for the
loops of its room, for objects travel.
"""
import pathlib
import re
import sys

GIVEN = re.compile(r"([\w.]*\w)\s*=(?!=)")
EXTREME = re.compile(r"(?<!std::)(?<!\w)(?:min|max)\(")
LOOP = re.compile(r"\b(?:for \([^;]*;([^;]*);|while \((.*)\))")
# What the search has to find, and what it must let pass.
WRONG = (
    "const int n = min(a, b);\nfor (int i = 0; i < n; ++i) {}",
    "const int x = f(a, b), n = max(a, b);\nfor (int i = x; i < n; ++i) {}",
    "int n;\nn = min(a, b);\nfor (int i = 0; i < x + n; ++i) {}",
    "s.rows = min(a, b);\nfor (int i = 0; i < strip.rows && more; ++i) {}",
    "const int n = odd ? a : a - min(b, c);\nfor (int i = 0; i <= n; ++i) {}",
    "const int n = loop_bound(a) + max(b, c);\nfor (int i = 100; i > n; --i) {}",
    "const int n = min(a,\n    b);\nwhile (i < n) ++i;",
    "for (int i = 0, n = min(a, b); i < n; ++i) {}",
    "for (int i = 0; i < min(a, b); ++i) {}",
)
RIGHT = (
    "const int x = f(a), n = loop_bound(min(a, max(b, c)));\nfor (int i = x; i < n; ++i) {}",
    "s.rows = loop_bound(min(a, b));\nfor (int i = 0; i < s.rows; ++i) {}",
    "const int x = min(a, b);  // n = min(a, b)\nfor (int i = x; i < n; ++i) f(x < n);",
    "const int n = std::min(a, b);\nfor (int i = 0; i < n; ++i) {}",  # the host's
)


def expression(text):
    """The text up to the comma, semicolon or bracket that ends its expression, without what loop_bound() is given."""
    depth, said = 0, ""
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth < 0 or (depth == 0 and c in ",;"):
            break
        said += c
    while (at := said.find("loop_bound(")) >= 0:
        depth = 0
        for i in range(at + len("loop_bound"), len(said)):
            depth += (said[i] == "(") - (said[i] == ")")
            if depth == 0:
                break
        said = said[:at] + said[i + 1:]
    return said


def extremes_of(text):
    """Names that are given a minimum or maximum; of a member the last part, with its dot."""
    for match in GIVEN.finditer(text):
        if EXTREME.search(expression(text[match.end():])):
            yield re.sub(r".*\.", ".", match[1])


def bounds_of(text):
    """What is compared with in the conditions of loops."""
    for match in LOOP.finditer(text):
        condition = expression(match[1] or match[2] or "")
        for side in re.split(r"&&|\|\|", condition):
            if parts := re.split(r"(?<![<>-])[<>]=?(?![<>])", side, maxsplit=1)[1:]:
                yield parts[0].strip()


def faults_in(texts):
    """(path, bound) of each loop whose bound the compiler could count wrongly. texts: by path."""
    texts = {path: re.sub(r"//.*", "", text) for path, text in texts.items()}
    given = {path: set(extremes_of(text)) for path, text in texts.items()}
    for path, text in texts.items():
        room = [names for other, names in given.items() if other.parent == path.parent]
        members = {name for names in room for name in names if name.startswith(".")}
        for bound in bounds_of(text):
            used = {re.sub(r".*\.", ".", name) for name in re.findall(r"[A-Za-z_][\w.]*", bound)}
            if EXTREME.search(bound) or used & (given[path] | members):
                yield path, bound


root = pathlib.Path(sys.argv[1])
files = [path for path in (root / "cuda").rglob("*") if path.suffix in (".cu", ".cuh")]
faults = [f"{path}: {bound}" for path, bound in faults_in({path.relative_to(root): path.read_text() for path in files})]
here = pathlib.Path("sample.cu")
faults += [f"the search itself: lets pass: {sample}" for sample in WRONG if not list(faults_in({here: sample}))]
faults += [f"the search itself: refuses: {sample}" for sample in RIGHT if list(faults_in({here: sample}))]
print(f"{len(files)} files")
for fault in faults:
    print("FAILED", fault)
sys.exit(len(faults) > 0 or not files)
