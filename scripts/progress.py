#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The progress line of compiling and testing, and the compile commands that it is shown for.

usage: progress.py COMMAND [ARGUMENT...]

Runs a command that calls ninja (ninja, meson compile) and shows in one line how far it is, instead of a line for each
file. What the compiler says is shown in full. A terminal's line is rewritten in place; other outputs get a line every 15 s.
"""
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time

EVERY = 15  # s, between two lines where they are not rewritten in place
# ccache cannot use precompiled headers without it; https://ccache.dev/manual/latest.html#_precompiled_headers
SLOPPINESS = "pch_defines,time_macros"


def duration(seconds):
    """For people: 48 s, 3 min 20 s."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


class Progress:
    """One line on the standard output that says how far the work is."""

    def __init__(self, every=EVERY):
        self.every = every
        self.in_place = sys.stdout.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
        self.shown = time.monotonic()
        self.is_up = False

    def show(self, text):
        if self.in_place:
            sys.stdout.write("\r\x1b[K" + text[:shutil.get_terminal_size().columns - 1])
            self.is_up = True
        elif time.monotonic() >= self.shown + self.every:
            sys.stdout.write(text + "\n")
            self.shown = time.monotonic()
        sys.stdout.flush()

    def clear(self):
        if self.is_up:
            sys.stdout.write("\r\x1b[K")
            sys.stdout.flush()
        self.is_up = False

    def say(self, text):
        """A line that stays."""
        self.clear()
        print(text, flush=True)


class Stopped(BaseException):
    """A signal asked this program to stop; no `except Exception` on the way may swallow it."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def heed_signals():
    """From now on the first SIGINT, SIGTERM or SIGHUP raises Stopped; later ones do not disturb what cleans up."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop_once(number, _):
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    for number in numbers:
        signal.signal(number, stop_once)


def end_by(number):
    """Ends this program by that signal, so that who called it knows why."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def start(command, **how):
    """The command in a session of its own, so that Ctrl-C reaches only us, who then stop it; with its output to read."""
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            start_new_session=True, **how)


def stop(process, patience=30):
    """Asks the process to end, and makes it end when it does not."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def lines_of(process):
    """The lines that the process writes, and None about every second in which it writes nothing."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(1):
                # What it started and left behind may hold the pipe open.
                if process.poll() is not None:
                    break
                yield None
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def compile_with(command, every=EVERY):
    """Runs a command that calls ninja; returns its exit status."""
    environment = {"CCACHE_SLOPPINESS": SLOPPINESS, **os.environ, "NINJA_STATUS": "[%f/%t] "}
    progress, begun, done, line, status = Progress(every), time.monotonic(), 0, "", None
    process = start(command, env=environment)
    try:
        for text in lines_of(process):
            match = re.match(r"\[(\d+)/(\d+)\] (.*)", text or "")
            if match:
                done, total = int(match[1]), int(match[2])
                left = (time.monotonic() - begun) * (total - done) / max(1, done)
                status, line = match[3], f"Compiling: {done}/{total}, about {duration(left)} left"
            elif text is not None and not re.match(r"ninja: (Entering|no work)|INFO: (auto|calc)|Activating VS", text):
                # What a compiler says stands below the step that it belongs to.
                if status:
                    progress.say(status)
                    status = None
                progress.say(text)
            if line:
                progress.show(line)
        if process.wait() == 0 and done:
            progress.say(f"Compiled {done} of {total} steps in {duration(time.monotonic() - begun)}")
        return process.returncode
    finally:
        progress.clear()
        stop(process)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    heed_signals()
    try:
        return compile_with(sys.argv[1:])
    except Stopped as stopped:
        return end_by(stopped.number)


if __name__ == "__main__":
    sys.exit(main())
