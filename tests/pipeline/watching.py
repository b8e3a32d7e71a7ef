# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-watch and an RTSP server, started, asked and ended, for tests."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from harness import LIMIT, missing, plain


def until(what, condition, limit=LIMIT):
    """The condition's value once it has one."""
    end = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < end, f"never: {what() if callable(what) else what}"
        time.sleep(0.1)
    return value


class Process:
    """A program whose lines are kept."""

    def __init__(self, *command, **how):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, bufsize=1, **how)
        self.lines, self.errors = [], []
        self.readers = [threading.Thread(target=lambda stream=stream, kept=kept: kept.extend(iter(stream.readline, "")), daemon=True)
                        for stream, kept in ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)

    def end(self, signal_number=signal.SIGTERM):
        """Its exit status."""
        self.process.send_signal(signal_number)
        return self.process.wait(LIMIT)


def missing_for_rtsp(*elements):
    """What is not installed of what an RTSP server with these elements needs."""
    module = "import gi; gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0')"
    server = subprocess.run([sys.executable, "-c", module], stderr=subprocess.DEVNULL, timeout=LIMIT, check=False, env=plain())
    return ["gir1.2-gst-rtsp-server-1.0"] * bool(server.returncode) + missing(*elements)


class Rtsp(Process):
    """rtsp_server.py with these cameras."""

    def __init__(self, port, *options, **cameras):
        server = pathlib.Path(__file__).with_name("rtsp_server.py")
        super().__init__(sys.executable, server, *options, port, *(f"{name}={line}" for name, line in cameras.items()), env=plain())
        self.port = int(until(lambda: f"server: {self.errors}", lambda: self.lines)[0])

    def set(self, name, element, key, value):
        self.process.stdin.write(f"{name} {element} {key} {value}\n")
        self.process.stdin.flush()

    def url(self, name):
        return f"rtsp://127.0.0.1:{self.port}/{name}"


class Watch(Process):
    """framequality-watch that serves on a free port and writes its events to standard output."""

    def __init__(self, tool, *arguments, **how):
        super().__init__(tool, "--listen", "127.0.0.1:0", *arguments, **how)
        found = until(lambda: f"address: {self.errors}",
                      lambda: re.search(r"127\.0\.0\.1:(\d+)", "".join(self.errors)) or self.process.poll() is not None)
        assert found is not True, self.errors
        self.port = int(found[1])

    def get(self, path):
        # No proxy of the environment.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}/{path}", timeout=LIMIT) as answer:
            return answer.read()

    def status(self):
        return {camera["name"]: camera for camera in json.loads(self.get("status.json"))["cameras"]}

    def states(self):
        return {name: camera["state"] for name, camera in self.status().items()}

    def events(self, camera=None):
        return [event for event in map(json.loads, list(self.lines)) if camera in (None, event["camera"])]

    def said(self, camera, state, since=0):
        """Its first event of that state, of those after the first `since`."""
        return next((event for event in self.events(camera)[since:] if event["state"] == state), None)
