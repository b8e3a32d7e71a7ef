#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Diagram of the floors and rooms of the source tree for docs/architecture.md: architecture.dot and architecture.svg.

usage: architecture.py [--check]

Floors and the folders that are ground come from tests/layering_test.py, rooms from the tree, and arrows from the
includes that there are, but for headers that all floors may include. --check draws nothing, needs no graphviz, and fails if the committed picture is of another tree.
"""
import ast
import hashlib
import html
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOT, SVG = (pathlib.Path(__file__).with_suffix(suffix) for suffix in (".dot", ".svg"))
SOURCES = (".h", ".cpp", ".cu", ".cuh", ".in")
# Floors from top to bottom, with what they own.
OWNS = {
    "apps": "programs, built on GStreamer's public interface",
    "python": "package for Python, over the C library",
    "c": "C library: images in memory",
    "gst": "elements: how a pipeline sees it",
    "engine": "sessions, replay, choice of device; no GStreamer",
    "device": "what a backend is: fault, memory, table",
    "opencl": "where: OpenCL devices",
    "cuda": "where: NVIDIA GPUs",
    "cpu": "where: AVX-512, AVX2, baseline",
    "algorithms": "what is computed, and the interfaces of workers",
    "host": "questions to the machine, and the log",
}
ROOMS_IN_A_ROW = 6


def tables():
    """FLOORS, GROUNDS and LEAVES of the layering test, which is not imported because it runs when it is."""
    tree = ast.parse((ROOT / "tests" / "layering_test.py").read_text(encoding="utf-8"))
    found = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    leaves = ast.literal_eval(found["LEAVES"]) if "LEAVES" in found else set()
    return ast.literal_eval(found["FLOORS"]), ast.literal_eval(found["GROUNDS"]), leaves


def sources(folder):
    return [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES]


def label(floor, grounds):
    rooms = [path.name for path in sorted((ROOT / floor).iterdir()) if path.is_dir() and path.name != "precompiled" and sources(path)]
    rooms = [name for name in grounds if name in rooms] + [name for name in rooms if name not in grounds]
    span = max(1, min(len(rooms), ROOMS_IN_A_ROW))
    rows = [f'<tr><td colspan="{span}" border="0"><b>{floor}/</b>  {html.escape(OWNS[floor])}</td></tr>']
    for begin in range(0, len(rooms), ROOMS_IN_A_ROW):
        cells = []
        for name in rooms[begin : begin + ROOMS_IN_A_ROW]:
            color = ' bgcolor="#dddddd"' if name in grounds else ""
            cells.append(f"<td{color}>{name}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f'<<table border="1" cellborder="1" cellspacing="3" bgcolor="white">{"".join(rows)}</table>>'


def dot():
    floors, grounds, leaves = tables()
    missing = [floor for floor in floors if floor not in OWNS]
    if missing:
        sys.exit(f"FAILED docs/figures/architecture.py does not say what {', '.join(missing)} own")
    floors = [floor for floor in OWNS if floor in floors and (ROOT / floor).is_dir()]
    lines = [
        "// Written by docs/figures/architecture.py.",
        "digraph architecture {",
        '  graph [rankdir=TB, nodesep=0.4, ranksep=0.5, bgcolor="white"]',
        '  node [shape=plain, fontname="sans-serif", fontsize=11]',
        '  edge [fontname="sans-serif", fontsize=10, arrowsize=0.7]',
    ]
    for floor in floors:
        lines.append(f"  {floor} [label={label(floor, grounds.get(floor, {}))}]")
    for floor in floors:
        texts = "\n".join(path.read_text(encoding="utf-8") for path in sources(ROOT / floor))
        includes = set(re.findall(r'^\s*#\s*include\s*"([^"]+)"', texts, re.MULTILINE)) - leaves
        reached = {included.split("/")[0] for included in includes}
        lines += [f"  {floor} -> {below}" for below in floors if below != floor and below in reached]
    lines.append('  apps -> gst [style=dashed, label="by element name"]')
    listed = re.findall(r"\bBACKEND\((\w+)\)", (ROOT / "engine" / "backends.cpp").read_text(encoding="utf-8"))
    lines += [f'  engine -> {backend} [style=dashed, label="kBackend"]' for backend in listed]
    return "\n".join([*lines, "}", ""])


def main():
    text = dot()
    mark = f"<!-- architecture.dot, sha256 {hashlib.sha256(text.encode()).hexdigest()} -->"
    if sys.argv[1:] == ["--check"]:
        if not DOT.is_file() or DOT.read_text(encoding="utf-8") != text or not SVG.is_file() or mark not in SVG.read_text(encoding="utf-8"):
            sys.exit("FAILED docs/figures/architecture.svg is of another tree: scripts/deps figures, then docs/figures/architecture.py")
        return
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout
    DOT.write_text(text, encoding="utf-8")
    SVG.write_text(drawn.replace("<svg ", f"{mark}\n<svg ", 1), encoding="utf-8")


main()
