#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""scripts/site builds, and all links and anchors within the site lead somewhere.

usage: site_test.py SOURCE_ROOT [SITE]

Checks a site that is built already if given. Exits 77 (skipped) without MkDocs and its theme; fails instead if
REQUIRE_SITE=1 is set.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(sys.argv[1]).resolve()
MKDOCS = "/usr/bin/mkdocs" if os.access("/usr/bin/mkdocs", os.X_OK) else shutil.which("mkdocs")


class Page(html.parser.HTMLParser):
    """Its links, its anchors, and its text outside of code."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.text, self.inside, self.lists = set(), set(), [], 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.anchors.add(attributes[name])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.add(attributes[name])
        if tag in ("code", "pre", "script", "style"):
            self.inside += 1

    def handle_endtag(self, tag):
        if tag in ("code", "pre", "script", "style"):
            self.inside -= 1

    def handle_data(self, data):
        if not self.inside:
            self.text.append(data)


def check(site):
    faults, count = [], 0
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        if name.name == "404.html":  # its links are absolute
            continue
        for link in sorted(page.links):
            if re.match(r"[a-z]+:|//", link):
                continue
            count += 1
            target, _, anchor = link.partition("#")
            file = path if not target else (path.parent / urllib.parse.unquote(target.partition("?")[0])).resolve()
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                faults.append(f"{name}: {link}: no such page")
            elif anchor and not anchor.startswith("__") and file in pages and urllib.parse.unquote(anchor) not in pages[file].anchors:
                faults.append(f"{name}: {link}: no such heading")
        # Markdown that became text: a list, a table, a block or a link that the generator did not understand.
        text = "".join(page.text)
        for pattern, what in ((r"^\s*\|.*\|\s*$", "a table"), (r"```", "a block"), (r"\]\([\w./#-]+\)", "a link"), (r"\n- \S", "a list")):
            if not name.as_posix().endswith(".md.html") and (match := re.search(pattern, text, re.MULTILINE)):
                faults.append(f"{name}: {what} is shown as Markdown: {match[0].strip()[:80]}")
    # Each page of the tree has become one.
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
        name = page.relative_to(ROOT).with_suffix(".html")
        if name.stem == "README":
            name = name.with_name("index.html")
        if not (site / name).exists():
            faults.append(f"{page.relative_to(ROOT)} is not in the site")
    index = site / "search" / "search_index.json"
    found = {entry["location"].partition("#")[0] for entry in json.loads(index.read_text(encoding="utf-8"))["docs"]} if index.exists() else set()
    if "docs/scan.html" not in found or "COPYING.html" in found:
        faults.append("the search finds other things than the pages of the documents")
    print(f"{len(pages)} pages, {count} links")
    return faults


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def main():
    if len(sys.argv) > 2:
        faults = check(pathlib.Path(sys.argv[2]).resolve())
    elif not MKDOCS or not re.search(r"--theme \[[^]]*\bmaterial\b", output(MKDOCS, "build", "--help")):
        print("mkdocs or its theme is not installed: scripts/deps site")
        if os.environ.get("REQUIRE_SITE") != "1":
            print("SKIPPED: no MkDocs")
            return 77
        return 1
    else:
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder).resolve() / "site"
            subprocess.run([ROOT / "scripts" / "site", site], check=True, env={**os.environ, "SKIP_DEPS": "1"})
            faults = check(site)
    for fault in faults:
        print("FAILED", fault)
    return bool(faults)


sys.exit(main())
