# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-watch's HTTP server under clients that are slow, many, or call it by a stranger's name.

usage: watch_server.py PROGRAM
"""
import collections
import concurrent.futures
import http.client
import os
import pathlib
import resource
import select
import socket
import statistics
import sys
import time

from harness import LIMIT, run_tests
from watching import Watch, until

TOOL = os.path.abspath(sys.argv[1])
SLOW = 4 if os.environ.get("SANITIZED") == "1" else 1
PIPELINE = "videotestsrc is-live=true pattern=snow ! video/x-raw,width=64,height=48,framerate={}"
Answer = collections.namedtuple("Answer", "code body headers seconds")


def watch(folder, rate="25/1", cameras=1, options=(), **how):
    file = folder / "watch.toml"
    file.write_text("[defaults]\nstall-time = 1000\n" + "".join(
        f"[[camera]]\nname = 'c{i}'\npipeline = '{PIPELINE.format(rate)}'\n" for i in range(cameras)))
    return Watch(TOOL, "--config", file, *options, **how)


def get(run, path, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", run.port, timeout=LIMIT)
    begun = time.monotonic()
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return Answer(answer.status, content, answer.headers, time.monotonic() - begun)


def connect(run):
    return socket.create_connection(("127.0.0.1", run.port), timeout=LIMIT)


def is_open(connection):
    if not select.select([connection], [], [], 0)[0]:
        return True
    try:
        return connection.recv(1) != b""
    except OSError:
        return False


def end(run, *connections):
    for connection in connections:
        connection.close()
    assert run.end() == 143, run.errors


def test_takes_nothing_else(folder):
    with watch(folder) as run:
        for path in ("/nothing", "/../../etc/passwd", "/thumbnail/../../etc/passwd", "/thumbnail/%2e%2e%2f", "//", "/%00",
                     "/status.json%00x", "/thumbnail/nobody", "/" + "a" * 5000):
            answer = get(run, path)
            # A NUL ends a path, or libmicrohttpd 1.0 refuses it.
            assert answer.code in ((200, 400) if "%00" in path else (404,)) and b"root:" not in answer.body, (path, answer)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"):
            answer = get(run, "/status.json", method, b"x" * 100000 if method in ("POST", "PUT") else None)
            assert answer.code == 405 and answer.headers["Allow"] == "GET, HEAD", (method, answer)
        for path in ("/", "/metrics", "/status.json", "/healthz"):
            head, answer = get(run, path, "HEAD"), get(run, path)
            assert head.code == answer.code == 200 and head.body == b"" and answer.body, path
            if path in ("/", "/healthz"):
                assert head.headers["Content-Length"] == str(len(answer.body)), path
            assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store"
        silent = []
        # Those who say nothing, or nonsense, do not keep others out for ever; a limit keeps memory bounded.
        for text in [b""] * 40 + [b"GET / HTTP/1.1\r\nHost: x\r\n"] * 10 + [b"\0\xff\r\n\r\n", b"GET " + b"a" * 100000]:
            silent.append(connect(run))
            try:
                silent[-1].sendall(text)
            except OSError:
                pass
        assert get(run, "/healthz").code == 200
        end(run, *silent)


def test_thumbnails_hold_up_nobody(folder):
    """Cameras that gave a frame, and then none: as when a switch dies."""
    with watch(folder, "1/1000", cameras=12) as run:
        until("frames", lambda: set(run.states().values()) == {"learning"})
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            pictures = [pool.submit(get, run, f"/thumbnail/c{i % 12}") for i in range(40)]
            health = [get(run, "/healthz") for _ in range(21)]
            pictures = [picture.result() for picture in pictures]
        assert {answer.code for answer in health} == {200}
        # In milliseconds, but for the load of the machine; each waited behind every camera, as long as for its picture.
        assert statistics.median(answer.seconds for answer in health) < min(answer.seconds for answer in pictures) / 2, (health, pictures)
        assert {answer.code for answer in pictures} == {503}, pictures
        # What did not come in time is not waited for again.
        again = [get(run, "/thumbnail/c0") for _ in range(21)]
        assert statistics.median(answer.seconds for answer in again) < min(answer.seconds for answer in pictures) / 2, (again, pictures)
        end(run)


def test_thumbnails_are_fresh(folder):
    with watch(folder) as run:
        until("frames", lambda: run.status()["c0"]["frames"] > 10)
        first = get(run, "/thumbnail/c0")
        assert first.code == 200 and first.body[:2] == b"\xff\xd8" and first.headers["Content-Type"] == "image/jpeg", first
        # No two frames of this pattern are the same.
        until("another", lambda: (second := get(run, "/thumbnail/c0")).code == 200 and second.body != first.body)
        end(run)


def test_clients_that_trickle(folder):
    with watch(folder) as run:
        slow = []
        for i in range(200):
            slow.append(connect(run))
            slow[-1].sendall(b"GET / HTTP/1.1\r\nX: ")
            if i % 20 == 19:
                assert get(run, "/healthz").code == 200
        for _ in range(5):
            for connection in slow:
                try:
                    connection.sendall(b"x")
                except OSError:
                    pass
            assert get(run, "/healthz").code == 200
        until("fewer", lambda: sum(map(is_open, slow)) <= 64)
        end(run, *slow)


def test_descriptors_that_run_out(folder):
    with watch(folder, "1/1000") as run:
        until("frames", lambda: run.status()["c0"]["frames"])
        files = pathlib.Path(f"/proc/{run.process.pid}/fd")
        until("threads that began", lambda: count(files) == (time.sleep(0.5), count(files))[1])
        process = run.process.pid
        most = resource.prlimit(process, resource.RLIMIT_NOFILE)[1]
        # Not one more: what waits to be accepted is there all the time.
        resource.prlimit(process, resource.RLIMIT_NOFILE, (count(files), most))
        waiting = [connect(run) for _ in range(10)]
        begun = processor_time(process)
        time.sleep(3)
        used = processor_time(process) - begun
        assert used < 0.5 * SLOW, used
        assert run.process.poll() is None
        # Those who are connected make room for those who come.
        resource.prlimit(process, resource.RLIMIT_NOFILE, (count(files) + 2, most))
        for _ in range(10):
            assert get(run, "/healthz").code == 200
        end(run, *waiting)


def count(folder):
    return len(list(folder.iterdir()))


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_many_files_may_be_open(folder):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    few = 256 if most == resource.RLIM_INFINITY else min(most, 256)
    with watch(folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))) as run:
        assert resource.prlimit(run.process.pid, resource.RLIMIT_NOFILE) == (most, most)
        end(run)


def test_names_of_strangers(folder):
    with watch(folder, options=("--allow-host", "Cameras.example.org", "--allow-host=other.example")) as run:
        for host in ("localhost", f"127.0.0.1:{run.port}", "[::1]:80", "CAMERAS.example.org.:8443", "other.example",
                     socket.gethostname(), "10.9.8.7"):
            assert get(run, "/status.json", Host=host).code == 200, host
        for path in ("/", "/status.json", "/metrics", "/thumbnail/c0", "/nothing"):
            answer = get(run, path, Host="evil.example")
            assert answer.code == 403 and b"--allow-host" in answer.body and b"evil.example" in answer.body, answer
            assert get(run, path, "HEAD", Host="evil.example").code == 403
        assert get(run, "/healthz", Host="evil.example").body == b"ok\n"
        old = connect(run)
        old.sendall(b"GET /status.json HTTP/1.0\r\n\r\n")
        assert b" 200 " in old.recv(100)
        end(run, old)


def test_other_origins_may_embed_nothing(folder):
    with watch(folder) as run:
        for path, method, headers in (("/", "GET", {}), ("/thumbnail/c0", "GET", {}), ("/healthz", "HEAD", {}), ("/none", "GET", {}),
                                      ("/status.json", "POST", {}), ("/", "GET", {"Host": "evil.example"})):
            answer = get(run, path, method, **headers)
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin", (path, answer)
        end(run)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), fresh=True))
