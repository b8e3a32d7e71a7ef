#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the meson tests of a build folder and counts single test cases, those inside GoogleTest programs included.

A program without GoogleTest is one case: exit status 77 is a skip, any other but 0 a failure. A program that crashes or
runs out of time adds one failure to the cases it had finished.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

# Meson puts this before every test command; the first line of a test's output then names its file of results.
WRAPPER = """#!/bin/sh
cases="$(dirname "$0")/$$.xml"
export GTEST_OUTPUT="xml:$cases"
echo "cases: $cases"
if [ -n "$TEST_PRELOAD" ]; then export LD_PRELOAD="$TEST_PRELOAD"; fi
exec "$@"
"""


def gtest_cases(xml):
    """(passed, failed, skipped) and the failures as (name, text), from GoogleTest's own file."""
    counts, failures = [0, 0, 0], []
    for case in ElementTree.parse(xml).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        problems = case.findall("failure")
        if case.get("status") == "notrun":
            continue
        if problems:
            counts[1] += 1
            failures.append((name, problems[0].text or ""))
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            counts[2] += 1
        else:
            counts[0] += 1
    return counts, failures


def cases_of(test):
    """The same for one entry of meson's log."""
    output = test.get("stdout", "")
    match = re.search(r"^cases: (.*)$", output, re.MULTILINE)
    xml = pathlib.Path(match[1]) if match else None
    # A sanitizer's finding stands above its stack, so that a tail alone would lose it.
    said = (output + "\n" + test.get("stderr", "")).splitlines()
    findings = [line for line in said[:-30] if re.search("runtime error:|(ERROR|WARNING): [A-Za-z]+Sanitizer", line)]
    problem = (test["name"], "\n".join(findings[:10] + said[-30:]))
    if xml and xml.is_file():
        counts, failures = gtest_cases(xml)
        if test["result"] not in ("OK", "SKIP") and not failures:
            # A failure outside every case: the environment's, a leak report, a sanitizer's exit status.
            counts[1] += 1
            failures.append(problem)
        return counts, failures
    if "[ RUN      ]" in output:
        # GoogleTest did not get as far as writing (or wrote elsewhere): what it printed is what there is.
        counts = [len(re.findall(rf"^\[ *{word} *\] .*\(\d+ ms\)$", output, re.MULTILINE))
                  for word in ("OK", "FAILED", "SKIPPED")]
        if test["result"] not in ("OK", "SKIP") and (counts[1] == 0 or not re.search(r"^\[=+\] .* ran\.", output, re.M)):
            counts[1] += 1
        return counts, [problem] if counts[1] else []
    if test["result"] == "SKIP":
        return [0, 0, 1], []
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        return [1, 0, 0], []
    return [0, 1, 0], [problem]


def compile_for(build, suites):
    """Compiles what the tests of these suites need, and no more; `meson test` of meson 1.7 compiles what all tests need."""
    tests, targets = (json.loads((build / "meson-info" / f"intro-{what}.json").read_text(encoding="utf-8"))
                      for what in ("tests", "targets"))
    files = {target["id"]: target["filename"] for target in targets}
    needed = {file for test in tests if not suites or {name.split(":")[-1] for name in test["suite"]} & set(suites)
              for target in test["depends"] for file in files[target]}
    subprocess.run(["ninja", "-C", str(build), *sorted(os.path.relpath(file, build) for file in needed)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("suite", nargs="*")
    parser.add_argument("--timeout-multiplier", default="1")
    parser.add_argument("--rebuild", action="store_true", help="compile first what the suites need")
    arguments = parser.parse_intermixed_args()

    build = pathlib.Path(arguments.build).resolve()
    if arguments.rebuild:
        compile_for(build, arguments.suite)
    cases = build / "test-cases"
    shutil.rmtree(cases, ignore_errors=True)
    cases.mkdir()
    wrapper = cases / "wrapper"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    log = build / "meson-logs" / "testlog-wrapper.json"  # meson adds the wrapper's name
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", str(build), "--timeout-multiplier", arguments.timeout_multiplier,
               "--wrapper", shlex.quote(str(wrapper)), "--no-rebuild"]
    for suite in arguments.suite:
        command += ["--suite", suite]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=False)

    total, failures = [0, 0, 0], []
    print(f"\n{'test':<48} {'passed':>7} {'failed':>7} {'skipped':>7} {'seconds':>8}")
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        test = json.loads(line)
        counts, problems = cases_of(test)
        total = [a + b for a, b in zip(total, counts)]
        failures += [(test["name"], test["result"], *problem) for problem in problems]
        print(f"{test['name']:<48} {counts[0]:>7} {counts[1]:>7} {counts[2]:>7} {test['duration']:>8.1f}")
    for test, result, name, text in failures:
        print(f"\n{result} {test}: {name}\n" + "\n".join("  " + line for line in text.strip().splitlines()[:40]))
    if sum(total) == 0:
        print("no test ran")
    print(f"\n{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return total[1] > 0 or sum(total) == 0


if __name__ == "__main__":
    sys.exit(main())
