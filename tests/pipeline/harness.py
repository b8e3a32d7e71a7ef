# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared parts of tests of programs: runs of other programs, what must be installed, the run of all tests of a file."""
import collections
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

LIMIT = 240  # s, for a program, and for whatever must happen: only a fault takes as long, however busy the machine is


def plain():
    """An environment without our plugin: where that is sanitized, other programs cannot load it."""
    registry = {"GST_REGISTRY": os.environ["GST_REGISTRY"] + ".plain"} if os.environ.get("GST_REGISTRY") else {}
    return {**os.environ, "GST_PLUGIN_PATH": "", **registry}


def run(*command, check=0, **how):
    """The program, that ends with the status `check`, in time."""
    done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False, **how)
    assert done.returncode == check, (command, done.returncode, done.stderr.decode(errors="replace")[-3000:])
    return done


def launch(line, cwd=None, **names):
    """Runs gst-launch-1.0 without our plugin; each word of the line is one argument, whatever its {names} stand for."""
    run("gst-launch-1.0", "-q", *(word.format(**names) for word in line.split()), env=plain(), cwd=cwd)


def missing(*elements):
    """The elements that no installed plugin has."""
    return [name for name in elements
            if subprocess.run(["gst-inspect-1.0", "--exists", name], timeout=LIMIT, check=False, env=plain()).returncode]


@contextlib.contextmanager
def endless(path, data):
    """A file at this path of which these bytes can be read, and then neither more nor an end."""
    os.mkfifo(path)
    # Opened both ways, it waits for no reader and is never at an end.
    pipe = os.open(path, os.O_RDWR)
    try:
        os.write(pipe, data)
        yield path
    finally:
        os.close(pipe)
        path.unlink()


def heed_signals():
    """In a program to be: a shell that started us in the background has these ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run_tests(module, prepare=lambda folder: folder, *, needs=(), leave_out=(), fresh=False):
    """Runs all functions called test_... of a module's globals(), in their order, on what `prepare` makes of an empty
    folder: of one for all, or with `fresh` of one for each. Returns the exit status: 77, with the reason printed, where
    elements that the tests need are not installed."""
    if absent := missing(*needs):
        print(f"SKIPPED: {', '.join(absent)} not installed")
        return 77
    # A sanitizer's, for Python that loads the plugin itself: programs have their own.
    os.environ.pop("LD_PRELOAD", None)
    tests = [(name, test) for name, test in module.items() if name.startswith("test_") and test not in leave_out]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="fq tests ") as name:
        folder = pathlib.Path(name).resolve()
        made = None
        for name, test in tests:
            begun = time.monotonic()
            if fresh or made is None:
                own = folder / name if fresh else folder
                own.mkdir(exist_ok=True)
                made = prepare(own)
            test(made)
            counts["passed"] += 1
            print("ok", name, f"{time.monotonic() - begun:.1f} s", flush=True)
    assert counts, "no test"
    print(counts)
    return 0
