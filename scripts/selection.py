# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests and GoogleTest cases of a build folder, and those of them that names select, without building anything."""
import collections
import difflib
import fnmatch
import json
import os
import pathlib
import re

Case = collections.namedtuple("Case", "name source pattern")  # Suite.Case, its file, what --gtest_filter calls it

MACRO = re.compile(r"^[ \t]*(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
PATTERNS = {"TEST_P": "*{0}.{1}/*", "TYPED_TEST": "{0}/*.{1}", "TYPED_TEST_P": "*{0}/*.{1}"}


class Unknown(Exception):
    """A name that selects nothing; the text says so to the user."""


class Test:
    """An entry of meson's list of tests."""

    def __init__(self, entry, files, sources):
        self.name = entry["name"]
        self.command = entry["cmd"]
        self.suites = {suite.split(":")[-1] for suite in entry["suite"]}
        self.priority = entry["priority"]
        self.files = {file for target in entry["depends"] for file in files[target]}
        filters = [word.partition("=")[2] for word in self.command if word.startswith("--gtest_filter=")] or ["*"]
        self.cases = [case for case in sources.get(self.command[0], []) if admits(filters[-1], case)]
        self.shard = entry["env"].get("GTEST_SHARD_INDEX", "none")
        environment = {key: value for key, value in entry["env"].items() if not key.startswith("GTEST_")}
        # The shards of a program differ only in GoogleTest's environment variables.
        self.program = json.dumps([self.command, environment], sort_keys=True)


def admits(gtest_filter, case):
    """True if a program with that --gtest_filter runs the case."""
    name = case.pattern.replace("*", "0")
    good, _, bad = gtest_filter.partition("-")

    def matches(patterns):
        return any(fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")) for pattern in patterns.split(":"))

    return matches(good or "*") and not (bad and matches(bad))


def cases_of(source):
    text = pathlib.Path(source).read_text(encoding="utf-8", errors="replace")
    return [Case(f"{suite}.{case}", source, PATTERNS.get(macro, "{0}.{1}").format(suite, case))
            for macro, suite, case in MACRO.findall(text)]


def tests_of(build):
    """All tests of a configured build folder, those that are to start first in front."""
    entries, targets = (json.loads((build / "meson-info" / f"intro-{what}.json").read_text(encoding="utf-8"))
                        for what in ("tests", "targets"))
    files = {target["id"]: target["filename"] for target in targets}
    sources = {}
    for target in targets:
        if target["type"] == "executable":
            names = [name for part in target["target_sources"] for name in part.get("sources", [])
                     if name.endswith(".cpp") and os.path.exists(name)]
            sources[target["filename"][0]] = [case for name in names for case in cases_of(name)]
    # Stable: tests of one priority stay in meson's order.
    return sorted((Test(entry, files, sources) for entry in entries), key=lambda test: -test.priority)


def find(name, tests):
    """(tests, cases, patterns) of a name: its own tests whole; cases, and by what the program is to be told to run them.
    A whole name means that one alone; otherwise it is looked for in all names, whatever the case of its letters."""
    cases = [case for test in tests for case in test.cases]
    path = os.path.realpath(name)
    if os.path.isfile(path):
        return [test for test in tests if path in test.command], [case for case in cases if case.source == path], {}
    if exact := [test for test in tests if test.name == name]:
        return exact, [], {}
    if exact := [case for case in cases if name in (case.name, case.name.split(".")[0])]:
        return [], exact, {}
    # What a run calls a case that it has more than once: Format/DenoiseEach.KeepsFlat/3, Lanes/0.Add.
    suite, _, rest = name.partition(".")
    plain = {f"{part}.{rest.split('/')[0]}" for part in suite.split("/")}
    if exact := [case for case in cases if case.name in plain and "*" in case.pattern]:
        return [], exact, {case: name for case in exact}
    glob = name if any(letter in name for letter in "*?[") else f"*{name}*"
    glob = glob.lower()
    return ([test for test in tests if fnmatch.fnmatchcase(test.name.lower(), glob)],
            [case for case in cases if fnmatch.fnmatchcase(case.name.lower(), glob)], {})


def nearest(name, tests):
    """The known names most like this one."""
    known = {}
    for test in tests:
        for word in [test.name, *(word for case in test.cases for word in (case.name, case.name.split(".")[0]))]:
            known.setdefault(word.lower(), word)
    return [known[word] for word in difflib.get_close_matches(name.lower(), known, n=5, cutoff=0.5)]


def select(tests, suites, names):
    """{test: filter} of what the names select in these suites (none: in all), in the tests' order; the filter is None
    for a test that runs whole. A case runs once, in the first test whose program has it, and there not in shards."""
    inside = [test for test in tests if not suites or test.suites & set(suites)]
    if absent := set(suites) - {suite for test in tests for suite in test.suites}:
        known = sorted({suite for test in tests for suite in test.suites})
        raise Unknown(f"unknown suite '{sorted(absent)[0]}'; known suites: {', '.join(known)}")
    if not names:
        return dict.fromkeys(inside)
    whole, wanted = set(), {}
    for name in names:
        found, cases, patterns = find(name, inside)
        if not found and not cases:
            raise Unknown(explain(name, suites, tests))
        whole.update(found)
        wanted.update({case: patterns.get(case, case.pattern) for case in cases})
    chosen = {}
    for case, pattern in wanted.items():
        if test := place_of(case, inside, whole):
            chosen.setdefault(test, {}).setdefault(pattern)
    return {test: None if test in whole else ":".join(chosen[test])
            for test in inside if test in whole or test in chosen}


def place_of(case, tests, whole):
    """The test to run the case in; None if the tests that run whole have it in any case."""
    have = [test for test in tests if case in test.cases]
    shards = [test for test in have if test.program == have[0].program]
    return next((test for test in shards if test not in whole), None)


def explain(name, suites, tests):
    """Why the name selects nothing, and what to do."""
    found, cases, _ = find(name, tests)
    elsewhere = {suite for test in tests if test in found or set(cases) & set(test.cases) for suite in test.suites}
    if elsewhere:
        more = " ".join(f"--suite {suite}" for suite in sorted(elsewhere))
        return f"'{name}' matches no test of suite {', '.join(suites)}; {more} would run it"
    near = nearest(name, tests)
    hint = f"did you mean {', '.join(near)}?" if near else "meson test --list -C BUILD lists the tests"
    return f"no test and no case matches '{name}'; {hint}"
