# SPDX-License-Identifier: LGPL-2.1-or-later
"""The temporary folder that tests run with, and the files and processes that they leave behind."""
import collections
import ctypes
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 5  # s, for processes that are about to end by themselves

Process = collections.namedtuple("Process", "pid run command")


class Leftovers:
    """A fresh, short TMPDIR (Unix sockets have 107 characters) with a folder for each run of a test, named by the run.
    From its begin to its end this process inherits those whose parents ended."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fq"))
        # A test may try something as another user in a folder of its own.
        self.folder.chmod(0o711)
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        return self

    def __exit__(self, *_):
        end_processes(0)
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        for folder, folders, _ in os.walk(self.folder):
            for name in folders:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.folder.exists():
            print(f"cannot delete all of {self.folder}: remove it by hand", file=sys.stderr)

    def found(self):
        """{run: lines that name what it left}, after all tests; ends the processes among them."""
        left = collections.defaultdict(list)
        for process in end_processes(PATIENCE):
            left[process.run].append(f"process {process.pid}: {process.command}")
        for run in self.folder.iterdir():
            left[run.name] += [f"file {path.name}" for path in sorted(run.iterdir())]
        return {run: lines for run, lines in left.items() if lines}


def descendants():
    """Process IDs of the running children of this process, and of their children."""
    reap()
    children = collections.defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                # The name in parentheses may hold anything.
                stat = pathlib.Path("/proc", entry, "stat").read_text(errors="replace")
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            children[int(parent)].append((int(entry), state))
    found, parents = [], [os.getpid()]
    while parents:
        for pid, state in children[parents.pop()]:
            parents.append(pid)
            if state not in "ZX":
                found.append(pid)
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def describe(pid):
    """The process with its command line and the run of a test that it came from."""
    def words(name):
        try:
            return pathlib.Path("/proc", str(pid), name).read_bytes().decode(errors="replace").split("\0")
        except OSError:
            return []

    folders = [word.partition("=")[2] for word in words("environ") if word.startswith("FQ_TEST_RUN=")]
    return Process(pid, folders[0] if folders else "", " ".join(words("cmdline")).strip()[:300] or "(unknown)")


def wait_for_end(seconds):
    deadline = time.monotonic() + seconds
    while descendants() and time.monotonic() < deadline:
        time.sleep(0.05)
    return descendants()


def end_processes(patience):
    """Gives the processes below this one so many seconds to end by themselves, and ends the others, which it returns."""
    left = [describe(pid) for pid in wait_for_end(patience)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in descendants():
            try:
                os.kill(pid, number)
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        wait_for_end(5)
    return left
