#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The linter of words: finds wording that tests/words/rules.toml bans, in all texts that a person reads.

usage: lint.py SOURCE_ROOT            the test: rules find their own examples, and files have no findings
       lint.py SOURCE_ROOT FILE...    lists the findings of these files

It reads prose of Markdown and of man pages; string literals of the product; docstrings and strings of the Python package
and of examples; usage texts and messages of scripts; comments of public headers and stubs; and the first comment of every
file. A line that ends its text with `words: ok` in a comment is left alone, in Markdown also the line after it.
"""
import bisect
import io
import pathlib
import re
import sys
import tokenize
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("algorithms", "apps", "benchmarks", "c", "cpu", "cuda", "debian", "device", "docs", "engine", "examples", "gst", "host",
           "opencl", "python", "scripts", "tests", ".ci")
# Their string literals reach users.
PRODUCT = ("algorithms", "apps", "c", "cpu", "cuda", "device", "engine", "gst", "host", "opencl", "python")
PUBLIC_HEADERS = ("c/framequality.h", "c/framequality/meta.h")
CODE = {".cpp", ".h", ".cu", ".cuh", ".in"}
OK = "words: ok"
# Between texts that do not follow on one another; no pattern matches it.
CUT = "\x00"


class Rule:
    def __init__(self, entry):
        self.first_line = entry.get("only") == "first-line"
        self.write, self.bad, self.good = entry["write"], entry["bad"], entry["good"]
        self.pattern = re.compile(entry["pattern"].replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE)


def rules():
    return [Rule(entry) for entry in tomllib.loads((HERE / "rules.toml").read_text(encoding="utf-8"))["rule"]]


def blank(text):
    """As long, with the same lines, and without words."""
    return "\n".join(CUT * len(line) for line in text.split("\n"))


def keep(text, spans):
    """The text with all but these parts blanked; white space between two of them stays, so that a sentence goes on."""
    parts, end = [], 0
    for begin, stop in spans:
        between = text[end:begin]
        parts += [between if not between.strip() else blank(between), text[begin:stop]]
        end = stop
    return "".join(parts) + blank(text[end:])


def markdown(text):
    for pattern in (r"^( *)(```+)[^\n]*\n.*?^\1\2 *$", r"<!--.*?-->", r"(`+)[^`].*?\1", r"\]\([^)]*\)", r"https?://\S+"):
        text = re.sub(pattern, lambda match: blank(match[0]), text, flags=re.MULTILINE | re.DOTALL)
    # Cells of a table are texts of their own.
    return re.sub(r"\|", CUT, text)


def manual(text):
    return re.sub(r"\\f.|^\.\w+|\\-", lambda match: blank(match[0]), text, flags=re.MULTILINE)


LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)


def literals(text):
    """String literals of C++, adjacent ones as one text; not what is included, and no single words such as keys."""
    spans = []
    for match in LITERAL.finditer(text):
        if match[2] is not None:
            spans.append(match.span(2))
        elif match[3] is not None and " " in match[3] and not text[text.rfind("\n", 0, match.start()) + 1:].startswith("#include"):
            spans.append(match.span(3))
    kept, end = [], 0
    for begin, stop in spans:
        between = text[end:begin]
        kept += [re.sub(r'["\\]', " ", between) if re.fullmatch(r'"\s*"', between) else blank(between), text[begin:stop]]
        end = stop
    return "".join(kept).replace("\\n", "  ") + blank(text[end:])


def comments(text):
    """Comments of C++, of lines that follow on one another as one text."""
    kept = keep(text, [match.span() for match in LITERAL.finditer(text) if match[0][:2] in ("//", "/*")])
    return re.sub(r"^(\s*)(///?<?|/\*+|\*/?)", lambda match: " " * len(match[0]), kept.replace(CUT, " "), flags=re.MULTILINE)


def python(text, with_comments=False):
    """Strings of Python that have a space: messages and docstrings."""
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    spans = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            is_text = token.type == tokenize.STRING and " " in token.string and not re.match(r"\w*[rb]", token.string, re.I)
            if is_text or (with_comments and token.type == tokenize.COMMENT):
                spans.append((lines[token.start[0] - 1] + token.start[1], lines[token.end[0] - 1] + token.end[1]))
    except (tokenize.TokenError, SyntaxError):
        return blank(text)
    return re.sub(r"`[^`\n]*`", lambda match: blank(match[0]), keep(text, spans))


def shell(text):
    """Texts within <<USAGE, and strings in double or single quotes that begin with a word and a space after echo and fail."""
    spans = [match.span(1) for match in re.finditer(r"<<'?USAGE'?\n(.*?)^USAGE$", text, re.MULTILINE | re.DOTALL)]
    spans += [match.span(2) for match in re.finditer(r"\b(?:echo|fail|printf) (?:-\w+ )?(['\"])([^'\"\n]* [^'\"\n]*)\1", text)]
    # Not the names of groups and options in front.
    return re.sub(r"^  \S+  +", lambda match: blank(match[0]), keep(text, sorted(spans)), flags=re.MULTILINE)


def script(text):
    """Strings of JavaScript that have a space."""
    return keep(text, [string.span(2) for string in re.finditer(r"(['\"`])((?:(?!\1)[^\n\\]|\\.)*)\1", text) if " " in string[2]])


def page(text):
    """Text between tags, and strings of scripts that have a space."""
    def without_code(match):
        return script(match[0]) if match[1] == "script" else blank(match[0])

    text = re.sub(r"<(script|style)\b.*?</\1>", without_code, text, flags=re.DOTALL)
    return re.sub(r"<[^<>\n]*>", lambda match: blank(match[0]), text)


FIRST = re.compile(r"\A(?:#![^\n]*\n)?(?:(?://|#|/\*)? ?\*? ?SPDX[^\n]*\n)?(?:#pragma once\n)?\s*(?://+|#|\"\"\"|/\*+) ?([^\n]*)")


def texts(name, text):
    """(text with all else blanked, whether it is a file's first comment) of a file."""
    top, suffix = name.split("/")[0], pathlib.PurePath(name).suffix
    if suffix == ".md":
        yield markdown(text), False
        return
    if match := FIRST.match(text):
        yield keep(text[:match.end()], [match.span(1)]), True
    if suffix == ".1":
        yield manual(text), False
    elif suffix == ".html":
        yield page(text), False
    elif suffix == ".js":
        yield script(text), False
    elif suffix in CODE and top in PRODUCT:
        yield literals(text), False
        if name in PUBLIC_HEADERS:
            yield comments(text), False
    elif suffix == ".pyi":
        yield python(text, with_comments=True), False
    elif suffix == ".py" and top in ("python", "examples"):
        yield python(text), False
    elif top in ("scripts", ".ci", "examples") and text.startswith("#!") and "sh" in text.split("\n")[0]:
        yield shell(text), False
    elif name == "meson_options.txt":
        yield re.sub(r"^[^']*|'[^']*$", lambda match: blank(match[0]), text, flags=re.MULTILINE), False


def compact(text):
    """(the text with each blanked part as one CUT, [(offset there, offset in the text)])"""
    parts, places, length = [], [], 0
    for match in re.finditer(rf"[^{CUT}]+", text):
        if match[0].isspace():
            continue
        places.append((length + 1, match.start()))
        parts += CUT, match[0]
        length += 1 + len(match[0])
    return "".join(parts), places


def findings(name, text, these):
    """(line, the words, what to write instead)"""
    lines = text.split("\n")
    found = set()
    for part, is_first in texts(name, text):
        prose, places = compact(part)
        for rule in these:
            if rule.first_line and not is_first:
                continue
            for match in rule.pattern.finditer(prose):
                short, begin = places[bisect.bisect_right(places, (match.start(), len(text))) - 1]
                number = text.count("\n", 0, begin + match.start() - short)
                if OK in lines[number] or (name.endswith(".md") and number and OK in lines[number - 1]):
                    continue
                found.add((number + 1, " ".join(match[0].strip(CUT).split()), rule.write))
    return sorted(found)


def sources(root):
    for path in [*root.iterdir(), *(path for folder in FOLDERS for path in (root / folder).rglob("*"))]:
        name = path.relative_to(root).as_posix()
        if path.suffix in (".png", ".svg", ".json", ".pyc", ".cl", ".npy", ".jpg", ".dot") or "__pycache__" in name or "/build" in name:
            continue
        # These quote what they forbid, or are other people's.
        if path.is_file() and name not in ("tests/words/rules.toml", "COPYING", "python/core/dlpack.h", "debian/copyright"):
            yield name


def check_rules(these):
    """The rules on their own examples."""
    for rule in these:
        for sentence in rule.bad:
            if not rule.pattern.search(sentence):
                yield f"'{rule.pattern.pattern}' does not find: {sentence}"
        for sentence in rule.good:
            for other in these:
                if not other.first_line and (match := other.pattern.search(sentence)) and not any(sentence in each.bad for each in these):
                    yield f"'{other.pattern.pattern}' finds '{match[0]}' in: {sentence}"
            if rule.first_line and rule.pattern.search(sentence):
                yield f"'{rule.pattern.pattern}' finds: {sentence}"


# name, text, lines with findings
EXTRACTION = (
    ("a.md", "A picture.\n`a picture`\n```\na picture\n```\n[a](picture.md)\n", [1]),
    ("a.md", "Such\na thing. <!-- words: ok -->\nsuch a one\n", [1]),
    ("a.md", "<!-- words: ok, it is one -->\nA picture.\nA picture.\n", [3]),
    ("gst/a.cpp", '// A picture of it.\n#include "a picture.h"\nf("such "\n  "a frame", "pictures", "keep pictures");\n', [1, 3, 4]),
    ("gst/a.cpp", "// SPDX-License-Identifier: LGPL-2.1-or-later\n// What it is.\n// What it is.\n", [2]),
    ("gst/a.cpp", 'f("a picture");  // words: ok, a photograph\n', []),
    ("tests/a_test.cpp", '// SPDX\n// First.\nf("a picture");\n', []),
    ("c/framequality.h", "// First.\n/// Of such\n/// a frame.\nint picture();\n", [2]),
    ("python/framequality/a.py", '"""First."""\ndef a():\n    """Such\n    a frame."""\n    raise E("no " "such a")  # such a\n', [3, 5]),
    ("python/framequality/a.pyi", "# First.\nx: int  # such a thing\n", [2]),
    ("scripts/a", "#!/usr/bin/env bash\n# First.\n# such a thing\ncat <<'USAGE'\nsuch a thing\n  figures  such a thing\nUSAGE\nfail 'such a thing'\n",
     [5, 6, 8]),
    ("docs/man/a.1", ".TP\nKeep such\na picture.\n", [2, 3]),
    ("apps/a.html", "<title>A picture</title>\n<picture src=a>\n<script>\npicture = 'picture';\nf('a picture');\n</script>\n", [1, 5]),
    ("apps/a.js", "// First.\npicture = 'picture';\nf(`a picture`);\n", [3]),
)


def check_extraction(these):
    for name, text, wanted in EXTRACTION:
        got = sorted({line for line, _, _ in findings(name, text, these)})
        if got != wanted:
            yield f"{name}: findings in lines {got}, not {wanted}, of {text!r}"


def main():
    root, *arguments = pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]
    these, failed, unclean = rules(), 0, 0
    if not arguments:
        for fault in [*check_rules(these), *check_extraction(these)]:
            print("FAILED", fault)
            failed += 1
    names = sorted(arguments or sources(root))
    for name in names:
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = findings(name, text, these)
        for line, words, write in found:
            print(f"{name}:{line}: '{words}': write {write}")
        unclean += bool(found)
    print(f"{len(names)} files, {len(these)} rules; {unclean} files with findings")
    return failed + unclean > 0


sys.exit(main())
