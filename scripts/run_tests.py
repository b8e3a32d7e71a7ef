#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The run of a build folder's tests: compiles what they need, shows progress, and counts single test cases, those
inside GoogleTest programs included.

A program without GoogleTest is one case: exit status 77 is a skip, any other but 0 a failure. A program that crashes or
runs out of time adds one failure to the cases it had finished. So does a test that leaves a file or a process behind.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import leftovers  # pylint: disable=wrong-import-position
import progress  # pylint: disable=wrong-import-position
import selection  # pylint: disable=wrong-import-position

# Meson puts this before every test command. The first line of a test's output then names its run's file of results.
WRAPPER = r"""#!/bin/sh
folder=$(dirname "$0")
export FQ_TEST_RUN=$$ TMPDIR="$TEST_TMPDIR/$$" GTEST_OUTPUT="xml:$folder/$$.xml"
# Kept from run to run: GStreamer's registry and fontconfig's cache take seconds to make.
export XDG_CACHE_HOME="${folder%/*}/test-home/cache" XDG_CONFIG_HOME="${folder%/*}/test-home/config"
mkdir -p "$TMPDIR" "$XDG_CACHE_HOME" "$XDG_CONFIG_HOME"
echo "cases: $folder/$$.xml"
if [ -n "$TEST_PRELOAD" ]; then export LD_PRELOAD="$TEST_PRELOAD"; fi
while IFS="$(printf '\t')" read -r filter shard command; do
  case "${GTEST_SHARD_INDEX:-none} $*" in
    "$shard $command" | "$shard "*" $command")
      unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX
      exec "$@" "--gtest_filter=$filter"
      ;;
  esac
done <"$folder/filters"
exec "$@"
"""
# The line that `meson test` prints for each test: number, name, result, seconds.
RESULT = re.compile(r" *\d+/\d+ +(.*?) +(OK|EXPECTEDFAIL|SKIP|FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS) +([\d.]+) ?s")
TEXTS = 30  # failures that are shown with what the tests said
SLOWEST = 10

# counts: [passed, failed, skipped]; failures: [(case or None, text)]; skips: reasons
Outcome = collections.namedtuple("Outcome", "counts failures skips")
Failure = collections.namedtuple("Failure", "test result case text")


def name_of(test):
    """The name of a test as meson.build has it: meson 1.12 writes 'SUITES - PROJECT:NAME', older ones 'PROJECT:SUITES / NAME'."""
    return re.split(r" / | - [^:]*:", test)[-1]


def reason(text):
    """Why a test was skipped, of what GoogleTest recorded: the place in the source above it is left out."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip() != "Skipped"]
    return " ".join(line for line in lines if not re.fullmatch(r"\S+:\d+", line)) or "no reason given"


def gtest_cases(xml):
    """The outcome of a program from GoogleTest's own file."""
    counts, failures, skips = [0, 0, 0], [], []
    for case in ElementTree.parse(xml).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        problems, skipped = case.findall("failure"), case.find("skipped")
        if case.get("status") == "notrun":
            continue
        if problems:
            counts[1] += 1
            failures.append((name, problems[0].text or ""))
        elif skipped is not None or case.get("result") == "skipped":
            counts[2] += 1
            skips.append(reason((skipped.get("message") or skipped.text or "") if skipped is not None else ""))
        else:
            counts[0] += 1
    return Outcome(counts, failures, skips)


def outcome_of(test):
    """The outcome of one entry of meson's log."""
    output = test.get("stdout", "")
    match = re.search(r"^cases: (.*)$", output, re.MULTILINE)
    xml = pathlib.Path(match[1]) if match else None
    # A sanitizer's finding stands above its stack, so that a tail alone would lose it.
    said = (output + "\n" + test.get("stderr", "")).splitlines()
    findings = [line for line in said[:-30] if re.search("runtime error:|(ERROR|WARNING): [A-Za-z]+Sanitizer", line)]
    problem = (None, "\n".join(findings[:10] + said[-30:]))
    if xml and xml.is_file():
        counts, failures, skips = gtest_cases(xml)
        if test["result"] not in ("OK", "SKIP") and not failures:
            # A failure outside every case: the environment's, a leak report, a sanitizer's exit status.
            counts[1] += 1
            failures.append(problem)
        return Outcome(counts, failures, skips)
    if "[ RUN      ]" in output:
        # GoogleTest did not get as far as writing (or wrote elsewhere): what it printed is what there is.
        counts = [len(re.findall(rf"^\[ *{word} *\] .*\(\d+ ms\)$", output, re.MULTILINE))
                  for word in ("OK", "FAILED", "SKIPPED")]
        if test["result"] not in ("OK", "SKIP") and (counts[1] == 0 or not re.search(r"^\[=+\] .* ran\.", output, re.M)):
            counts[1] += 1
        return Outcome(counts, [problem] if counts[1] else [], ["reason not recorded"] * counts[2])
    if test["result"] == "SKIP":
        said = re.search(r"^SKIPPED:? *(.+)$", output + "\n" + test.get("stderr", ""), re.MULTILINE)
        return Outcome([0, 0, 1], [], [said[1] if said else "no reason given"])
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        return Outcome([1, 0, 0], [], [])
    return Outcome([0, 1, 0], [problem], [])


def compile_files(build, files):
    """Compiles these files of the build folder, or what is called so, like `all`. Returns the exit status."""
    if not files:
        return 0
    ninja = shutil.which("ninja") or shutil.which("ninja-build") or "ninja"
    return progress.compile_with([ninja, "-C", str(build), *files])


def needed_by(tests, build):
    return sorted({os.path.relpath(file, build) for test in tests for file in test.files})


class Durations:
    """Seconds that each test of the build folder took when it last ran whole."""

    def __init__(self, build):
        self.path = build / "test-durations.json"
        try:
            self.seconds = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.seconds = {}

    def save(self, seconds):
        self.seconds.update(seconds)
        self.path.write_text(json.dumps(self.seconds, indent=0, sort_keys=True) + "\n", encoding="utf-8")


class Estimate:
    """The time that is left, of what the tests took last time; of what the others took this time for those that are new.
    Meson does not say which test it starts: it starts them in order, each as soon as one ends."""

    def __init__(self, names, seconds):
        self.todo, self.known, self.taken = dict.fromkeys(names), seconds, {}
        self.parallel = int(os.environ.get("MESON_TESTTHREADS") or os.cpu_count() or 1)
        self.started = {}
        self.start()

    def start(self):
        for name in [*self.todo][:self.parallel]:
            self.started.setdefault(name, time.monotonic())

    def done(self, name, seconds):
        self.todo.pop(name, None)
        self.taken[name] = seconds
        self.start()

    def left(self):
        """Seconds; None where there is nothing to go by."""
        again = [name for name in self.taken if name in self.known]
        # A machine that is busier today, or a build with sanitizers, takes longer for all.
        pace = (sum(self.taken[name] for name in again) + 1) / (sum(self.known[name] for name in again) + 1)
        samples = [*self.taken.values(), *(self.known[name] for name in self.todo if name in self.known)]
        if not samples:
            return None
        usual, now = sum(samples) / len(samples), time.monotonic()
        rest = [max(0, self.known.get(name, usual) * pace - (now - self.started.get(name, now))) for name in self.todo]
        return max([sum(rest) / self.parallel, *rest])


def prepare(build, filters):
    """The folder with the wrapper that runs each test, and what it tells GoogleTest programs to run."""
    cases = build / "test-cases"
    shutil.rmtree(cases, ignore_errors=True)
    cases.mkdir()
    (cases / "filters").write_text("".join(f"{pattern}\t{test.shard}\t{' '.join(test.command)}\n"
                                           for test, pattern in filters.items() if pattern))
    wrapper = cases / "wrapper"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    return wrapper


def run_meson(command, names, seconds, every, environment):
    """Runs `meson test` and shows how far it is; prints what it says where it did not run a test."""
    line, estimate, failed, said = progress.Progress(every), Estimate(names, seconds), 0, []
    process = progress.start(command, env=environment)
    try:
        for text in progress.lines_of(process):
            if match := RESULT.match(text or ""):
                name = name_of(match[1])
                estimate.done(name, float(match[3]))
                if match[2] not in ("OK", "EXPECTEDFAIL", "SKIP"):
                    failed += 1
                    line.say(f"{match[2]} {name} after {match[3]} s")
            elif text:
                said.append(text)
            left, last = estimate.left(), [*estimate.todo]
            line.show(f"Testing: {len(estimate.taken)}/{len(names)} done, {failed} failed" +
                      (f", about {progress.duration(left)} left" if left else "") +
                      (f": {', '.join(last)}" if 0 < len(last) <= 3 else ""))
    finally:
        line.clear()
        progress.stop(process)
    if not estimate.taken:
        print("\n".join(said[-20:]))


def run(build, chosen, arguments):
    """Runs the chosen tests; returns (outcomes by test, seconds by test, failures)."""
    log = build / "meson-logs" / "testlog-wrapper.json"  # meson adds the wrapper's name
    log.unlink(missing_ok=True)
    wrapper = prepare(build, chosen)
    durations = Durations(build)
    names = list(dict.fromkeys(test.name for test in chosen))
    command = ["meson", "test", "-C", str(build), "--timeout-multiplier", arguments.timeout_multiplier,
               "--wrapper", shlex.quote(str(wrapper)), "--no-rebuild", *names]
    outcomes, seconds, failures, runs = {}, {}, [], {}
    with leftovers.Leftovers() as place:
        run_meson(command, names, durations.seconds, arguments.progress_every,
                  {**os.environ, "TEST_TMPDIR": str(place.folder)})
        left = place.found()
    for text in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        entry = json.loads(text)
        name = name_of(entry["name"])
        outcomes[name], seconds[name] = outcome_of(entry), entry["duration"]
        failures += [Failure(name, entry["result"], *problem) for problem in outcomes[name].failures]
        if match := re.search(r"^cases: .*/(\d+)\.xml$", entry.get("stdout", ""), re.MULTILINE):
            runs[match[1]] = name
    for number, lines in left.items():
        name = runs.get(number)
        # A test that failed had no chance to clean up; what it left is gone, and its failure counts already.
        if name is None or not outcomes[name].failures:
            failures.append(Failure(name, "LEFT BEHIND", None, "\n".join(["left behind (removed now):", *lines])))
    durations.save({test.name: seconds[test.name] for test, pattern in chosen.items()
                    if not pattern and test.name in seconds and not outcomes[test.name].failures})
    return outcomes, seconds, failures


def report(outcomes, seconds, failures, repeat):
    """Prints the closing table; returns [passed, failed, skipped]."""
    total = [sum(outcome.counts[i] for outcome in outcomes.values()) for i in range(3)]
    total[1] += sum(failure.result == "LEFT BEHIND" for failure in failures)
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:SLOWEST]
    if len(seconds) > 1:
        print("\nSlowest tests:")
        for name, duration in slowest:
            print(f"{duration:>8.1f} s  {name}")
    skips = collections.Counter(why for outcome in outcomes.values() for why in outcome.skips)
    if skips:
        print("\nSkipped cases:")
        for why, count in skips.most_common():
            print(f"{count:>8}  {why}")
    for number, failure in enumerate(failures):
        print(f"\n{failure.result} {failure.case or failure.test or 'an unknown test'}" +
              (f" in {failure.test}" if failure.case else ""))
        if number < TEXTS:
            print("\n".join("  " + line for line in failure.text.strip().splitlines()[:40]))
        if failure.test:
            print(f"  repeat it: {repeat} {shlex.quote(failure.case or failure.test)}")
    if sum(total) == 0:
        print("no test ran")
    print(f"\n{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", help="configured build folder")
    parser.add_argument("name", nargs="*", help="run only tests and cases (Suite.Case) that match")
    parser.add_argument("--suite", action="append", default=[], help="run only this suite; may be repeated")
    parser.add_argument("--timeout-multiplier", default="1", help="multiply the time limit of each test by this")
    parser.add_argument("--repeat", help="show this command for repeating a failed test; the test's name is added")
    parser.add_argument("--progress-every", type=float, default=progress.EVERY, metavar="SECONDS",
                        help="print the progress this often where the output is no terminal (default: %(default)s)")
    arguments = parser.parse_intermixed_args()
    build = pathlib.Path(arguments.build).resolve()
    progress.heed_signals()
    try:
        # The lists of tests are those of the last configuration; meson.build may have changed since.
        if status := compile_files(build, ["build.ninja"]):
            return status
        chosen = selection.select(selection.tests_of(build), arguments.suite, arguments.name)
        if status := compile_files(build, needed_by(chosen, build) if arguments.suite or arguments.name else ["all"]):
            return status
        results = run(build, chosen, arguments)
    except selection.Unknown as problem:
        print(f"scripts/test: {problem}", file=sys.stderr)
        return 2
    except progress.Stopped as stopped:
        print("stopped", file=sys.stderr)
        return progress.end_by(stopped.number)
    repeat = arguments.repeat or shlex.join(["scripts/run_tests.py", arguments.build])
    total = report(*results, repeat)
    return total[1] > 0 or sum(total) == 0


if __name__ == "__main__":
    sys.exit(main())
