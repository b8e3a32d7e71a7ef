# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-watch on cameras that are computed: events, page, metrics, images, signals, passwords, dead servers.

usage: watch.py PROGRAM
"""
import base64
import http.client
import http.server
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

import watching
from harness import LIMIT, heed_signals, launch, run_tests

TOOL = os.path.abspath(sys.argv[1])
SANITIZED = os.environ.get("SANITIZED") == "1"
VIDEO = "video/x-raw,format=I420,width=160,height=120,framerate=25/1"
LIVE = "videotestsrc is-live=true pattern={} ! " + VIDEO
NAME = re.compile(r"[\w-]+(~[0-9a-f]{8})?-\d{8}T\d{6}\.\d{3}Z-[a-z]+\.jpg")


def watch(*arguments, check=0, **how):
    run = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False, **how)
    assert run.returncode == check, (arguments, run.returncode, run.stdout[-2000:], run.stderr[-2000:])
    return run


RUNNING = []
DEAD = object()  # the program has ended


class Watch(watching.Watch):
    """A running program whose answers and end are looked at closely."""

    def __init__(self, *arguments, **how):
        super().__init__(TOOL, *arguments, preexec_fn=heed_signals, **how)
        RUNNING.append(self.process)

    def until(self, holds):
        def found():
            return holds() or (self.process.poll() is not None and (holds() or DEAD))
        value = watching.until(lambda: (self.lines, self.errors), found)
        assert value is not DEAD, (self.lines, self.errors)
        return value

    def said(self, camera, state):
        """The first such event, once it is there."""
        return self.until(lambda: super(Watch, self).said(camera, state))

    def ask(self, path, method="GET"):
        """The answer, whatever its status, and its content."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        connection.request(method, path)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def stop(self, number=signal.SIGTERM):
        """All that it wrote."""
        begin = time.monotonic()
        status = self.end(number)
        self.took = time.monotonic() - begin
        for reader in self.readers:
            reader.join()
        assert status == 128 + number, (status, self.errors)
        self.events()
        return "".join(self.lines + self.errors)


def config(folder, text):
    path = folder / "watch.toml"
    path.write_text(text, encoding="utf-8")
    return path


def clip(folder):
    path = folder / "clip.mkv"
    if not path.exists():
        launch(f"videotestsrc num-buffers=50 pattern=smpte ! {VIDEO} ! jpegenc ! matroskamux name=m ! filesink"
               " location=clip.mkv audiotestsrc num-buffers=80 ! vorbisenc ! m.", folder)
    return path


def test_cameras_good_and_bad(folder):
    file = config(folder, f"""
snapshots = "pictures"
baselines = "learned"
[defaults]
hold-time = 0.5
recovery-time = 0.5
learn-time = 1
[[camera]]
name = "good \\" <b>/../x"
pipeline = "{LIVE.format("smpte")}"
[[camera]]
name = "night"
pipeline = "{LIVE.format("black")}"
[[camera]]
name = "odd"
pipeline = "{LIVE.format("ball")} ! nosuchelement"
[[camera]]
name = "clip"
url = "{clip(folder)}"
[[camera]]
name = "sound"
pipeline = "audiotestsrc"
[[camera]]
name = "ends"
pipeline = "videotestsrc num-buffers=50 is-live=true pattern=smpte ! {VIDEO}"
[[camera]]
name = "stalls"
stall-time = 1
pipeline = "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=1/60"
""")
    run = Watch("--config", file)
    good = 'good " <b>/../x'
    learned = run.said(good, "good")
    assert learned["previous"] == "learning" and learned["score"] > 0 and not learned["repeated"], learned
    dark = run.said("night", "dark")
    assert dark["duration"] >= 0.5 and dark["reason"], dark
    assert "nosuchelement" in run.said("odd", "error")["reason"]
    assert run.said("clip", "connected") and run.said("clip", "ended")
    assert re.fullmatch(r"no frame for \d+ s", run.said("stalls", "lost")["reason"])
    lost = run.said("ends", "lost")
    assert lost["reason"] == "the stream ended", lost
    again = run.until(lambda: [event for event in run.events() if event["camera"] == "ends"
                               and event["state"] == "connected" and event["previous"] == "lost"])
    assert again[0]["duration"] > 0.5
    # What was learned is still known.
    run.until(lambda: run.status()["ends"]["baseline"])
    learnings = [event for event in run.events() if event["camera"] == "ends" and event["state"] == "good"]
    assert len(learnings) == 1 and run.status()["ends"]["reconnects"] >= 1, learnings

    # Of frames and their rate a machine that is busy elsewhere shows little for a while.
    run.until(lambda: 20 < (run.status()[good]["frame_rate"] or 0) < 30 or SANITIZED)
    run.until(lambda: (status := run.status()[good])["last_frame_age"] < 1 and status["frames"] > 20 and status["history"])
    status = run.status()[good]
    assert status["state"] == "good" and status["width"] == 160 and status["height"] == 120, status
    assert run.status()["night"]["state"] == "dark" and run.status()["odd"]["state"] == "error"
    assert run.status()["clip"]["state"] == "ended" and run.status()["clip"]["score"] is None

    answer, page = run.ask("/")
    assert answer.status == 200 and answer.getheader("Content-Type").startswith("text/html") and b"<html" in page
    check_metrics(run, good)
    answer, picture = run.ask("/thumbnail/" + urllib.parse.quote(good, safe=""))
    assert answer.status == 200 and picture[:2] == b"\xff\xd8" and answer.getheader("Content-Type") == "image/jpeg"
    assert run.ask("/thumbnail/" + urllib.parse.quote(good, safe=""), "HEAD")[1] == b""
    assert run.ask("/thumbnail/odd")[0].status == 503
    text = run.stop()
    # A picture for each change of state, and none for what has none.
    events = run.events()
    names = {path.name for path in (folder / "pictures").iterdir()}
    assert names and all(NAME.fullmatch(name) for name in names), names
    told = {pathlib.Path(event["snapshot"]).name for event in events if "snapshot" in event}
    assert told == names, told ^ names
    assert "snapshot" in learned and "snapshot" in dark
    assert all("snapshot" not in event for event in events if event["state"] in ("connected", "lost", "ended", "error"))
    assert (folder / "learned" / "night.baseline").exists() or not list((folder / "learned").glob("night*"))
    assert len(list((folder / "learned").glob("good*.baseline"))) == 1, list((folder / "learned").iterdir())
    assert "CRITICAL" not in text and "WARNING" not in text, text


def check_metrics(run, camera):
    answer, body = run.ask("/metrics")
    assert answer.getheader("Content-Type") == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    lines = body.decode().splitlines()
    assert lines[-1] == "# EOF"
    types, seen, values = {}, [], {}
    for line in lines[:-1]:
        if match := re.fullmatch(r"# (TYPE|HELP|UNIT) (\w+) (.+)", line):
            if match[1] == "TYPE":
                assert match[2] not in types
                types[match[2]] = match[3]
                seen.append(match[2])
            continue
        match = re.fullmatch(r'(\w+)\{(\w+="(?:[^"\\\n]|\\["\\n])*"(?:,\w+="(?:[^"\\\n]|\\["\\n])*")*)\} (-?[\d.e+-]+)', line)
        assert match, line
        family = re.sub(r"_(total|info)$", "", match[1])
        assert family == seen[-1], (line, seen[-1])
        assert (types[family] == "counter") == match[1].endswith("_total") and (types[family] == "info") == match[1].endswith("_info")
        values[match[1], match[2]] = float(match[3])
    label = 'camera="' + camera.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert values["framequality_camera_frames_total", label] > 0
    assert values["framequality_camera_score", label] > 0
    states = {key: value for (name, key), value in values.items() if name == "framequality_camera_state" and label in key}
    assert sum(states.values()) == 1 and len(states) > 10, states


def fifo(folder):
    """A source that is never ready: nobody writes to it."""
    path = folder / "pipe"
    if not path.exists():
        os.mkfifo(path)
    return path


def test_files_end(folder):
    run = watch("--listen", "none", "--quiet", f"one={clip(folder)}", clip(folder))
    events = [json.loads(line) for line in run.stdout.splitlines()]
    assert {(event["camera"], event["state"]) for event in events} >= {("one", "connected"), ("one", "ended"), ("clip", "ended")}
    assert run.stderr == ""
    (folder / "text.mkv").write_text("this is no video\n" * 20)
    run = watch("--listen", "none", f"one={clip(folder)}", folder / "text.mkv", check=1)
    events = {(event["camera"], event["state"]) for event in map(json.loads, run.stdout.splitlines())}
    assert ("text", "error") in events and ("one", "ended") in events, events
    run = watch("--listen", "none", folder / "none.mkv", f"one={clip(folder)}", check=1)
    assert "none.mkv: No such file or directory" in run.stderr
    begin = time.monotonic()
    watch("--listen", "none", "--config", config(folder, f"[[camera]]\nurl = '{clip(folder)}'\nrealtime = true\n"))
    assert time.monotonic() - begin > 1.8


def test_usage(folder):
    for arguments in ([], ["--nonsense", "rtsp://a"], ["--hold-time", "x", "rtsp://a"], ["none.mkv"], ["--config", "none.toml"],
                      ["--listen", "nowhere", clip(folder)]):
        misuse = arguments[:1] not in (["--config"], ["--listen"])
        run = watch(*arguments, check=2 if misuse else 1, cwd=folder)
        assert run.stdout == "" and run.stderr.startswith("framequality-watch: "), run.stderr
    assert "no cameras given" in watch(check=2).stderr
    assert re.fullmatch(r"framequality-watch \d+\.\d+\.\d+\n", watch("--version").stdout)
    assert "SIGHUP" in watch("--help").stdout


def test_log_is_rotated(folder):
    log, old = folder / "events.jsonl", folder / "events.1"
    ends = f"videotestsrc num-buffers=5 is-live=true pattern=smpte ! {VIDEO}"
    run = Watch("--config", config(folder, f"[[camera]]\nname='a'\npipeline='{ends}'\n"), "--log", log)
    run.until(lambda: "connected" in log.read_text())
    log.rename(old)
    run.process.send_signal(signal.SIGHUP)
    run.until(log.exists)
    kept = old.read_text()
    run.until(lambda: "connected" in log.read_text())
    assert old.read_text() == kept
    assert run.stop(signal.SIGINT).count("\n") == 1 and not run.lines
    # None is lost, none is in both.
    states = [json.loads(line)["state"] for line in (old.read_text() + log.read_text()).splitlines()]
    assert states == ["connected", "lost"] * (len(states) // 2) + ["connected"] * (len(states) % 2), states
    # A terminal that closes ends what writes to it.
    Watch(clip(folder), str(fifo(folder))).stop(signal.SIGHUP)


def silent_server():
    """Accepts connections, and never says a word."""
    server = socket.create_server(("127.0.0.1", 0))
    kept = []

    def serve():
        while True:
            try:
                kept.append(server.accept())
            except OSError:
                return
    threading.Thread(target=serve, daemon=True).start()
    return server, server.getsockname()[1]


def test_passwords_stay_inside(folder):
    usual = Watch(str(fifo(folder)))
    usual.stop()
    server, port = silent_server()
    (folder / "secret").write_text("Sesame/42\n")
    secrets = ["hush", "p%40ss%2Fw0rd", "p@ss/w0rd", "raw@at", "Sesame/42", "Sesame%2F42", "qu3ry", "piped"]
    urls = ["rtsp://user:hush@127.0.0.1:1/1", "rtsp://user:p%40ss%2Fw0rd@127.0.0.1:1/2", "rtsp://user:raw@at@127.0.0.1:1/3",
            f"http://user:hush@127.0.0.1:{port}/", f"rtsp://user:hush@127.0.0.1:{port}/",
            "http://127.0.0.1:1/v?user=x&password=qu3ry", "rtsp://user:hush/hush@127.0.0.1/", "foo://user:hush@host/"]
    file = config(folder, """
[[camera]]
name = "keyed"
url = "rtsp://127.0.0.1:1/4"
user = "user"
password-file = "secret"
[[camera]]
name = "described"
pipeline = "rtspsrc location=rtsp://user:hush@127.0.0.1:1/5 user-pw=piped ! decodebin"
[[camera]]
name = "wrong"
url = "rtsp://user:hush@127.0.0.1:99999/"
[[camera]]
name = "wrong, too"
url = "rtsp://user:hush@127.0.0.1/"
hold-time = "x"
""")
    run = Watch("--config", file, *urls)
    for camera in ("keyed", "described", "127.0.0.1:1/1", "127.0.0.1:1/2", "127.0.0.1:1/3"):
        assert run.said(camera, "lost")["reason"], camera
    run.said("wrong", "error")
    served = b"".join(run.ask(path)[1] for path in ("/", "/metrics", "/status.json")).decode()
    said = run.stop() + served
    # Neither server answers, and none of that keeps the end waiting: they would be given up after 10 s.
    assert run.took < 5 + 10 * usual.took, (run.took, usual.took)
    assert "user:***@" in said
    for secret in secrets:
        assert secret not in said, (secret, said)
    for arguments in (["rtsp://user:hush@"], ["rtsp://user:hush@a:b/"], ["--hush-hush=rtsp://user:hush@a"]):
        assert "r:hush" not in watch(*arguments, check=2).stderr
    server.close()


def test_jpegs_over_http(folder):
    """As many cameras serve them: one after the other, without times, behind a password."""
    launch(f"videotestsrc num-buffers=1 ! {VIDEO} ! jpegenc ! filesink location=frame.jpg", folder)
    frame = (folder / "frame.jpg").read_bytes()
    right = "Basic " + base64.b64encode(b"user:p@ss").decode()

    class Camera(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            good = self.headers.get("Authorization") == right
            self.send_response(200 if good else 401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
            if not good:
                self.send_header("Content-Length", "0")
            self.end_headers()
            while good:
                head = f"--next\r\nContent-Type: image/jpeg\r\nContent-Length: {len(frame)}\r\n\r\n"
                try:
                    self.wfile.write(head.encode() + frame + b"\r\n")
                except OSError:
                    return
                time.sleep(0.1)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run = Watch("--hold-time", "1", f"good=http://user:p%40ss@127.0.0.1:{server.server_port}/",
                f"bad=http://user:no@127.0.0.1:{server.server_port}/")
    assert "401" in run.said("bad", "lost")["reason"]
    # The same frame again and again.
    assert run.said("good", "frozen")["duration"] >= 1
    run.until(lambda: run.status()["good"]["state"] == "frozen")
    server.shutdown()
    server.server_close()
    assert "p@ss" not in run.stop()


def test_a_disk_that_is_full(folder):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
        heed_signals()

    pictures = folder / "full"
    pictures.mkdir()
    (pictures / "mine.jpg").write_text("mine")
    run = subprocess.Popen([TOOL, "--listen", "127.0.0.1:0", "--snapshots", pictures, "--config",
                            config(folder, f"[[camera]]\nname='a'\npipeline='{LIVE.format('smpte')}'\n[defaults]\nlearn-time=1\n")],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=small_files,
                           env={**os.environ, "GST_REGISTRY_UPDATE": "no"})
    found = []
    for line in run.stdout:
        found.append(json.loads(line))
        if found[-1]["state"] == "error":
            break
    time.sleep(0.5)
    run.send_signal(signal.SIGTERM)
    _, errors = run.communicate(timeout=LIMIT)
    assert run.returncode == 143 and "File too large" in found[-1]["reason"], (run.returncode, found)
    assert any(event["state"] == "good" and "snapshot" not in event for event in found), found
    assert errors.count("File too large") == 1 and [path.name for path in pictures.iterdir()] == ["mine.jpg"], errors


def test_pictures_are_bounded(folder):
    pictures = folder / "few"
    run = Watch("--snapshots", pictures, "--snapshots-most", "2", "--config", config(folder, "\n".join(
        f"[[camera]]\nname = 'camera {i}'\npipeline = '{LIVE.format('smpte')}'" for i in range(4)) +
        "\n[defaults]\nlearn-time = 1\n"))
    for i in range(4):
        run.said(f"camera {i}", "good")
    run.stop()
    assert len(list(pictures.iterdir())) == 2, list(pictures.iterdir())


def test_reader_that_leaves(folder):
    run = subprocess.Popen([TOOL, "--listen", "none", clip(folder), fifo(folder)], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    run.stdout.close()
    assert run.wait(timeout=LIMIT) == 141, run.stderr.read()
    run.stderr.close()


def test_nothing_is_left_over(folder):
    environment = {**os.environ, "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"}
    run = Watch("--snapshots", folder / "left", "--config", config(folder, f"""
[defaults]
learn-time = 1
[[camera]]
name = "ends"
pipeline = "videotestsrc num-buffers=30 is-live=true pattern=smpte ! {VIDEO}"
[[camera]]
name = "dead"
url = "rtsp://user:hush@127.0.0.1:1/1"
[[camera]]
name = "clip"
url = "{clip(folder)}"
"""), env=environment)
    run.until(lambda: run.status()["ends"]["reconnects"] >= 2 and run.status()["dead"]["reconnects"] >= 2)
    run.ask("/thumbnail/ends")
    said = run.stop()
    assert "GST_TRACER" in said
    alive = re.findall(r"TRACE .*:: object-alive, .*", said)
    assert not alive, alive[:3]


def test_threads_do_not_grow(folder):
    """Of many cameras that come and go."""
    if SANITIZED:
        return
    run = Watch("--config", config(folder, "\n".join(
        f"[[camera]]\nname = 'c{i}'\nurl = 'rtsp://127.0.0.1:1/{i}'" for i in range(40))))
    run.until(lambda: run.status()["c39"]["reconnects"] >= 2)
    threads = len(list(pathlib.Path(f"/proc/{run.process.pid}/task").iterdir()))
    assert threads < 100, threads
    run.stop()


if __name__ == "__main__":
    try:
        sys.exit(run_tests(globals(), needs=("jpegenc", "vorbisenc", "matroskamux", "rtspsrc"), fresh=True))
    finally:
        for left_over in RUNNING:
            if left_over.poll() is None:
                left_over.kill()
