#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Test that the pages hang together, and with the tree: links and anchors lead somewhere, fences say what becomes of
their commands, Python parses; files that are named exist; versions, areas of commits, quoted log lines and the diagram of
floors agree with the sources.

usage: docs_test.py SOURCE_ROOT
"""
import ast
import pathlib
import re
import subprocess
import sys
import urllib.parse

README_LINES = 200
# Info strings of blocks. What comes after sh says why launch_lines does not run them: see CONTRIBUTING.md.
FENCES = {"", "sh", "sh hardware", "sh files", "sh setup", "python", "c", "cpp", "rust", "go", "csharp", "diff"}

root = pathlib.Path(sys.argv[1]).resolve()
pages = [*root.glob("*.md"), *root.glob("examples/**/*.md"), *root.glob("docs/**/*.md")]
faults = []


def without_code(text):
    """Blocks and code spans emptied, lines kept."""
    text = re.sub(r"^( *)(```+)[^\n]*\n.*?^\1\2 *$", lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)[^`\n].*?\1", "", text)


def anchors(page):
    """As GitHub makes them of headings."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL),
                              re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        count = found[slug] = found.get(slug, -1) + 1
        yield f"{slug}-{count}" if count else slug


checked = 0
for page in pages:
    name, text = page.relative_to(root), page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        checked += 1
        path, _, anchor = target.partition("#")
        file = page if not path else (page.parent / urllib.parse.unquote(path)).resolve()
        if not file.exists():
            faults.append(f"{name}: {target}: no such file")
        elif anchor and anchor not in set(anchors(file)):
            faults.append(f"{name}: {target}: no such heading")
    for indent, info, block in re.findall(r"^( *)```(?!`)([^\n`]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        if info not in FENCES:
            faults.append(f"{name}: a block is marked ```{info}, which is none of {', '.join(sorted(FENCES))}")
        if info == "python":
            try:
                ast.parse(block)
            except SyntaxError as error:
                faults.append(f"{name}: {error}: {block.strip().splitlines()[0]}")
    if len(re.findall(r"^ *```", text, re.MULTILINE)) % 2:
        faults.append(f"{name}: a block is not closed")

# Files that the text names, but for those that it makes up.
for page in pages:
    for name in re.findall(r"`((?:algorithms|apps|benchmarks|cpu|cuda|debian|device|docs|engine|examples|gst|host|scripts|tests)/[\w./-]+)`",
                           re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)):
        if page.name != "CHANGELOG.md" and "squared_gradient" not in name and not (root / name.rstrip("/.")).exists():
            faults.append(f"{page.relative_to(root)}: there is no {name}")

lines = len((root / "README.md").read_text(encoding="utf-8").splitlines())
if lines > README_LINES:
    faults.append(f"README.md has {lines} lines, {README_LINES} at most")
linked = set(re.findall(r"docs/elements/(\w+)\.md", (root / "README.md").read_text(encoding="utf-8")))
there = {page.stem for page in (root / "docs" / "elements").glob("*.md")}
if linked != there:
    faults.append(f"README.md does not link the pages of {', '.join(sorted(linked ^ there))}")
for figure in (root / "docs" / "figures").iterdir():
    if figure.suffix in (".png", ".svg") and not any(figure.name in page.read_text(encoding="utf-8") for page in pages):
        faults.append(f"{figure.relative_to(root)} is on no page")

# Lines of logs that debugging.md quotes: what the sources can log, up to a "...", which stands for the rest.
formats = set()
for folder in ("algorithms", "cpu", "cuda", "device", "engine", "gst", "host", "opencl"):
    for file in [*(root / folder).glob("**/*.cpp"), *(root / folder).glob("**/*.h")]:
        text = re.sub(r'" GST_\w+ "', "%s", file.read_text(encoding="utf-8"))
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", text)):
            parts = [re.escape(part) for part in re.split(r"%[^a-zA-Z\s]*(?:z|l|ll)?[a-zA-Z]|%$", literal)]
            formats.update(".+".join(parts[:n]) + ".*" * (n < len(parts)) for n in range(1, len(parts) + 1)
                           if re.search(r"[a-z]{4}", "".join(parts[:n])))
log_lines = re.findall(r"^\|(?:[^|]*\|){3} (.*) \|$", (root / "docs" / "debugging.md").read_text(encoding="utf-8"), re.MULTILINE)
for line in re.findall(r"`([^`]+)`", "\n".join(log_lines)):
    head = line.split("...")[0]
    # Routes are put together.
    if len(head.split()) > 1 and not re.match("the CPU: avx|CUDA: luma", head) and not any(re.fullmatch(f, head) for f in formats):
        faults.append(f"docs/debugging.md: nothing logs {line!r}")

drawn = subprocess.run([sys.executable, root / "docs" / "figures" / "architecture.py", "--check"], capture_output=True, text=True)
if drawn.returncode != 0:
    faults.append(drawn.stderr.strip().removeprefix("FAILED "))
areas = re.search(r"^Areas: (.*?)\.$", (root / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
if re.findall(r"`(\w+)`", areas) != re.search(r"^regex=\^\((.*?)\)", (root / ".gitlint").read_text(), re.MULTILINE)[1].split("|"):
    faults.append("CONTRIBUTING.md and .gitlint have other areas of commits")
# A release changes all of them: docs/releasing.md.
versions = {file: re.search(pattern, (root / file).read_text(encoding="utf-8"), re.MULTILINE)[1] for file, pattern in (
    ("meson.build", r"^  version: '([^']+)'"),
    ("debian/changelog", r"^\S+ \(([^)]+)\)"),
    ("CHANGELOG.md", r"^## (\d\S+)"),
)}
if len(set(versions.values())) != 1:
    faults.append("versions differ: " + ", ".join(f"{file} has {version}" for file, version in versions.items()))

print(f"{len(pages)} pages, {checked} links")
for fault in faults:
    print("FAILED", fault)
sys.exit(1 if faults else 0)
