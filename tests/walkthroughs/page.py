#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands of the documents, found by heading and by a part of their text, for the walk-throughs.

usage: page.py link PAGE TARGET              fails unless PAGE links to TARGET (PAGE#ANCHOR, or a file)
       page.py block PLACE TEXT [SED...]     prints the block that contains TEXT; each SED expression must change it
       page.py check WALK...                 checks all `link`, `follow` and `save` lines of these walk-throughs

PLACE is PAGE#ANCHOR or PAGE. In a Markdown page, a block is a fenced one of that section, or else a code span that begins
with TEXT; exactly one must match. In any other file it is the rest of the line after TEXT. Paths are relative to the root
of the repository.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Missing(Exception):
    """What a walk-through names and the documents do not have."""


def read(page):
    if not (ROOT / page).is_file():
        raise Missing(f"{page}: no such file")
    return (ROOT / page).read_text(encoding="utf-8")


def headings(text):
    """(level, anchor, where the section begins) of each heading; anchors as GitHub makes them."""
    blank = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in re.finditer(r"^(#+) (.*)$", blank, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[2])
        yield len(match[1]), re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-"), match.start()


def section(place):
    page, _, anchor = place.partition("#")
    text = read(page)
    if not anchor:
        return text
    found = list(headings(text))
    for index, (level, name, begin) in enumerate(found):
        if name == anchor:
            end = next((start for other, _, start in found[index + 1:] if other <= level), len(text))
            return text[begin:end]
    raise Missing(f"{page} has no heading #{anchor}; it has {', '.join('#' + name for _, name, _ in found)}")


def block(place, wanted, *edits):
    text = section(place)
    if place.partition("#")[0].endswith(".md"):
        fenced = [re.sub(rf"^{indent}", "", body, flags=re.MULTILINE) for indent, _, body in FENCE.findall(text)]
        found = [body for body in fenced if wanted in body]
        if not found:
            found = [span + "\n" for span in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)) if span.startswith(wanted)]
    else:
        found = [line + "\n" for line in re.findall(rf"{re.escape(wanted)}(.*)$", text, re.MULTILINE)]
    if len(found) != 1:
        raise Missing(f"{place}: {len(found)} blocks contain '{wanted}'; a walk-through needs exactly one")
    result = found[0]
    for edit in edits:
        changed = subprocess.run(["sed", "-E", edit], input=result, capture_output=True, text=True, check=True).stdout
        if changed == result:
            raise Missing(f"{place}: '{edit}' changes nothing in: {result.strip()}")
        result = changed
    return result


def link(page, target):
    wanted, _, anchor = target.partition("#")
    base = (ROOT / page.partition("#")[0]).parent
    links = re.findall(r"\]\(([^)\s]+)\)", section(page))
    for path, _, its in (each.partition("#") for each in links if not re.match(r"[a-z]+:", each)):
        if os.path.normpath(base / path) == os.path.normpath(ROOT / wanted) and (not anchor or its == anchor):
            break
    else:
        raise Missing(f"{page} has no link to {target}")
    if anchor:
        section(target)


def check(walks):
    """Prints what the walk-throughs name and the documents do not have."""
    failed = False
    actions = {"link": link, "follow": block, "save": lambda file, *words: block(*words)}
    for walk in walks:
        text = pathlib.Path(walk).read_text(encoding="utf-8").replace("\\\n", " ")
        lines = re.findall(r"^(?:link|follow|save) .*$", text, re.MULTILINE)
        words = [shlex.split(line) for line in lines]
        if not any(line[:2] == ["link", "README.md"] or line[1].startswith("README.md") for line in words):
            print(f"FAILED {walk}: it does not begin at the README")
            failed = True
        for action, *arguments in words:
            cut = next((i for i, word in enumerate(arguments) if re.match(r"\d?>", word)), len(arguments))
            try:
                actions[action](*arguments[:cut])
            except Missing as missing:
                print(f"FAILED {walk}: {missing}")
                failed = True
    print(f"{len(walks)} walk-throughs checked")
    return failed


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("link", "block", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "check":
        return check(sys.argv[2:])
    try:
        if sys.argv[1] == "link":
            link(*sys.argv[2:])
        else:
            print(block(*sys.argv[2:]), end="")
    except Missing as missing:
        print(f"page.py: {missing}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
