# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-watch among those who mean it no good, or err: passwords that look like something else, a system that
gives no threads, servers whose headers never end.

usage: watch_hostile.py PROGRAM FEW_THREADS (the library)
"""
import contextlib
import os
import pathlib
import re
import socket
import sys
import threading
import time

from harness import run_tests
from watching import Watch, until

TOOL, FEW_THREADS = map(os.path.abspath, sys.argv[1:])
SANITIZED = os.environ.get("SANITIZED") == "1"
PAGE = (pathlib.Path(__file__).parents[2] / "apps" / "watch" / "page.html").read_text(encoding="utf-8")


@contextlib.contextmanager
def server(answer=lambda connection: None):
    """The port of a TCP server that answers each connection in a thread, and keeps all of them open."""
    listener, kept = socket.create_server(("127.0.0.1", 0)), []

    def serve():
        while True:
            try:
                kept.append(listener.accept()[0])
            except OSError:
                return
            threading.Thread(target=answer, args=kept[-1:], daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        for connection in (listener, *kept):
            connection.close()


def cameras(**urls):
    return "".join(f"[[camera]]\nname = '{name}'\nurl = '{url}'\n" for name, url in urls.items())


def test_passwords_that_were_not_encoded_stay_inside(folder):
    """A URL whose password looks like a port or a host connects to somewhere else; nothing of it is shown."""
    with server() as port:
        urls = [f"rtsp://localhost:1/34word@127.0.0.1:{port}/x", f"rtsp://localhost:2#cam@127.0.0.1:{port}/x",
                f"http://localhost:3?abc@127.0.0.1:{port}", f"rtsp://admin:77up@localhost/xyz@127.0.0.1:{port}",
                f"http://admin:7@localhost:4/8@9@127.0.0.1:{port}/"]
        parts = ["34word", "localhost:1", ":2#", "#cam", "3?", "?abc", "77up", "localhost", "xyz@", "7@", "8@9", "9@", "un/named"]
        refused = ["rtsp://user:un/named@127.0.0.1/", "rtsp://user:un/named", "rtsp://user:un named@127.0.0.1/", "user:un/named@127.0.0.1"]
        file = folder / "watch.toml"
        file.write_text(cameras(**{f"c{i}": url for i, url in enumerate(urls)}) + "".join(f"[[camera]]\nurl = '{url}'\n" for url in refused) +
                        f"[[camera]]\nname = 'described'\npipeline = 'souphttpsrc location={urls[2]} ! decodebin'\n")
        with Watch(TOOL, "--config", file, *urls, *(f"r{i}={url}" for i, url in enumerate(refused))) as watch:
            for camera, state in (*((f"c{i}", "lost") for i in range(len(urls))), ("described", "lost"), ("r0", "error")):
                until(lambda: (camera, watch.events(camera)), lambda: watch.said(camera, state))
            said = b"".join(watch.get(path) for path in ("", "metrics", "status.json")).decode().replace(PAGE, "")
            assert watch.end() == 128 + 15
    said += "".join(watch.lines + watch.errors)
    for part in parts:
        assert part not in said, (part, [line for line in said.splitlines() if part in line])
    assert said.count("the @ after the first / ? or # of its URL is taken as part of the path") == 2 * len(urls), watch.errors
    assert "write it as %20" in said and said.count("no port from 1 to 65535 follows") >= 4, watch.errors


def test_without_threads_cameras_are_lost_and_come_back(folder):
    limit, file = folder / "threads", folder / "watch.toml"
    file.write_text(f"""
baselines = "learned"
[defaults]
learn-time = 3
repeat-interval = 1
device = "cpu"  # a GPU's driver has threads of its own
[[camera]]
name = "live"
pipeline = "videotestsrc is-live=true pattern=smpte ! video/x-raw,format=I420,width=160,height=120,framerate=25/1"
""" + cameras(**{f"c{i}": f"rtsp://127.0.0.1:1/{i}" for i in range(30)}))
    environment = {**os.environ, "LD_PRELOAD": FEW_THREADS, "FEW_THREADS": str(limit)}
    with Watch(TOOL, "--config", file, env=environment) as watch:
        refused = "connection refused"
        until(watch.events, lambda: watch.said("live", "connected") and (event := watch.said("c29", "lost")) and refused in event["reason"])
        limit.write_text("0")
        told = len(watch.events("c0"))
        lost = until(watch.events, lambda: next((event for event in watch.events("c0")[told:] if "no more threads" in event["reason"]), None))
        assert lost["state"] == "lost", lost
        # Learning ends, and cannot be kept in a thread of its own; the stream goes on.
        until(watch.events, lambda: watch.said("live", "good"))
        assert watch.status()["live"]["state"] == "good" and watch.get("healthz") == b"ok\n"
        limit.unlink()
        told = len(watch.events("c0"))
        until(watch.events, lambda: any(refused in event["reason"] for event in watch.events("c0")[told:]))
        assert watch.said("live", "lost") is None and watch.said("live", "error") is None, watch.events("live")
        limit.write_text("0")
        assert watch.end() == 128 + 15, watch.errors
    # From the beginning on.
    for threads in ("5", "17"):
        limit.write_text(threads)
        with Watch(TOOL, "--config", file, env=environment) as watch:
            until(watch.events, lambda: all(watch.said(f"c{i}", "lost") for i in range(30)))
            assert any("no more threads" in event["reason"] for event in watch.events()), watch.events()
            assert watch.end() == 128 + 15, watch.errors


def test_headers_without_end_are_ended(folder):
    """GStreamer keeps all of them, and cannot be stopped while they come: as fast as it reads, or too slowly for a limit."""
    ended = {"flood": [], "drip": []}

    def answer(kind, block, pause):
        def send(connection):
            try:
                connection.recv(4096)
                connection.sendall(b"RTSP/1.0 200 OK\r\nCSeq: 1\r\n")
                while True:
                    connection.sendall(block)
                    time.sleep(pause)
            except OSError:
                ended[kind].append(time.monotonic())
        return send

    file = folder / "watch.toml"
    with server(answer("flood", b"A: b\r\n" * 10000, 0)) as flood, server(answer("drip", b"A: b\r\n", 0.05)) as drip:
        file.write_text("[defaults]\nstall-time = 1\n" + cameras(flood=f"rtsp://127.0.0.1:{flood}/", drip=f"rtsp://127.0.0.1:{drip}/"))
        with Watch(TOOL, "--config", file) as watch:
            told = until(watch.events, lambda: watch.said("flood", "lost"))
            assert "more than 1 MiB but no description" in told["reason"], told
            # One after the other, and none is left.
            until(lambda: ended, lambda: len(ended["flood"]) >= 3)
            until(watch.events, lambda: watch.said("drip", "lost"))
            until(lambda: ended, lambda: ended["drip"])
            assert not any("are still open" in event["reason"] for event in watch.events()), watch.events()
            resident = re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{watch.process.pid}/status").read_text())
            assert SANITIZED or int(resident[1]) < 300_000, resident[0]
            assert watch.end() == 128 + 15, watch.errors


if __name__ == "__main__":
    # A sanitizer has to be loaded before all others.
    sys.exit(run_tests(globals(), needs=("rtspsrc", "souphttpsrc"), fresh=True,
                       leave_out=[test_without_threads_cameras_are_lost_and_come_back] if SANITIZED else []))
