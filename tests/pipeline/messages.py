# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of what the programs say about what is missing, mistyped or unreachable, and what to do.

usage: messages.py SCAN MERGE BLIINDS [WATCH]
"""
import csv
import io
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys

from harness import LIMIT, heed_signals, launch, plain, run, run_tests

SCAN, MERGE, BLIINDS, *WATCH = map(os.path.abspath, sys.argv[1:])
APT = "; on Debian and Ubuntu: sudo apt install "
# Sources would go by a proxy.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
# What reads and measures MJPEG in Matroska, and finds other streams in it and in MP4.
PLUGINS = ("coreelements", "playback", "typefindfunctions", "videoconvertscale", "videoconvert", "matroska", "isomp4",
           "videoparsersbad", "audioparsers", "jpeg", "jpegformat")


def said(tool, *arguments, check=1, environment=ENVIRONMENT):
    """What it says on stderr."""
    return run(tool, *arguments, check=check, env=environment).stderr.decode()


def watched(*arguments, environment=ENVIRONMENT, until=("lost", "error", "ended")):
    """Its first event of these states."""
    process = subprocess.Popen([WATCH[0], "--listen", "none", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment, preexec_fn=heed_signals)
    try:
        for line in process.stdout:
            if (event := json.loads(line))["state"] in until:
                return event
        raise AssertionError(process.stderr.read())
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT)


class Place:
    def __init__(self, folder):
        self.folder = folder
        text = run("gst-inspect-1.0", "coreelements", env=plain()).stdout.decode()
        self.system = pathlib.Path(re.search(r"Filename +(\S+)", text)[1]).parent
        video = "videotestsrc num-buffers=25 ! video/x-raw,width=64,height=48,framerate=25/1 ! "
        sound = " audiotestsrc num-buffers=40 ! "
        self.mjpeg = self.make("sounds.mkv", video + "jpegenc ! m. matroskamux name=m" + sound + "vorbisenc ! m. m.")
        self.mp4 = self.make("clip.mp4", video + "x264enc ! h264parse ! m. mp4mux name=m" + sound + "avenc_aac ! m. m.")
        self.sound = self.make("sound.mkv", sound + "vorbisenc ! matroskamux")

    def make(self, name, line):
        path = self.folder / name
        launch(line + " ! filesink location={path}", path=path)
        return path

    def only(self, *plugins):
        """An environment where GStreamer has only these plugins, and ours."""
        folder = self.folder / "-".join(("only", *plugins))[:80]
        if not folder.exists():
            folder.mkdir()
            for name in plugins:
                if (path := self.system / f"libgst{name}.so").exists():
                    (folder / path.name).symlink_to(path)
        return {**ENVIRONMENT, "GST_PLUGIN_SYSTEM_PATH": str(folder), "GST_REGISTRY": str(folder) + ".bin"}


def test_missing_elements(place):
    core = place.only("coreelements")
    wanted = "GStreamer has no element uridecodebin" + APT + "gstreamer1.0-plugins-base\n"
    assert said(SCAN, "-q", place.mjpeg, environment=core) == f"framequality-scan: {place.mjpeg}: {wanted}"
    assert said(BLIINDS, "score", place.mjpeg, environment=core).endswith(wanted)
    playing = place.only(*PLUGINS)
    for url in ("rtsp://127.0.0.1:1/x", "http://127.0.0.1:1/x", "https://127.0.0.1:1/x"):
        assert said(SCAN, "-q", url, environment=playing).endswith(APT + "gstreamer1.0-plugins-good\n"), url
        assert not WATCH or f"can read {url.split(':')[0]}://{APT}gstreamer1.0-plugins-good\n" in said(WATCH[0], url, check=2, environment=playing)
    assert "PROTOCOL" not in said(SCAN, "-q", "foo://x", environment=playing).upper().split("FOO")[0]
    if WATCH:
        config = place.folder / "watch.toml"
        config.write_text("[[camera]]\nname='a'\npipeline='v4l2src ! videoconvert'\n")
        text = said(WATCH[0], "--listen", "none", "--config", config, check=2, environment=playing)
        assert 'no element "v4l2src"' in text and APT + "gstreamer1.0-plugins-good" in text, text


def test_missing_decoders(place):
    playing = place.only(*PLUGINS)
    wanted = r"GStreamer has no H\.264[^;]* decoder" + re.escape(APT) + "gstreamer1.0-libav"
    text = said(SCAN, "-q", place.mp4, environment=playing)
    assert re.search(wanted + "\n$", text) and "AAC" not in text, text
    text = said(BLIINDS, "score", place.mp4, environment=playing)
    assert re.search(wanted + "\n$", text) and "AAC" not in text, text
    if WATCH:
        assert re.fullmatch(wanted, watched(place.mp4, environment=playing)["reason"])


def test_sound_is_not_missed(place):
    playing = place.only(*PLUGINS)
    done = run(SCAN, "-q", place.mjpeg, env=playing)
    assert len(list(csv.DictReader(io.StringIO(done.stdout.decode())))) == 25 and done.stderr == b"", done
    done = run(BLIINDS, "score", "--interval", "1", place.mjpeg, env=playing)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 2, done
    assert said(SCAN, "-q", place.sound, environment=playing) == f"framequality-scan: {place.sound}: it has no video\n"
    if WATCH:
        event = watched(place.mjpeg, environment=playing)
        assert event["state"] == "ended", event


def test_servers_that_are_not_there(place):
    # Bound, but not listening: nobody else gets the port meanwhile.
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    refused, unknown = f"cannot connect to 127.0.0.1:{port}: connection refused; is the camera on?", "cannot connect to nosuchhost.invalid:{}: no such host"
    for scheme, default in (("http", 80), ("https", 443), ("rtsp", 554)):
        url = f"{scheme}://127.0.0.1:{port}/x"
        assert said(SCAN, "-q", url) == f"framequality-scan: {url}: {refused}\n"
        assert said(BLIINDS, "score", "--device", "cpu", url) == f"{url}: {refused}\n"
        assert unknown.format(default) in said(SCAN, "-q", f"{scheme}://nosuchhost.invalid/x"), scheme
        if WATCH:
            assert watched(f"{scheme}://user:hush@127.0.0.1:{port}/x")["reason"] == refused
            assert watched(f"{scheme}://nosuchhost.invalid/x")["reason"].startswith(unknown.format(default))
    # Half a password is no port to show.
    text = said(SCAN, "-q", f"http://127.0.0.1:{port}/34@host/").split(": ", 2)[2]
    closed.close()
    assert text == "cannot connect: connection refused; is the camera on?\n", text
    # One that hangs up is there.
    with socket.create_server(("127.0.0.1", 0)) as server:
        process = subprocess.Popen([SCAN, "-q", f"http://127.0.0.1:{server.getsockname()[1]}/"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=ENVIRONMENT)
        server.settimeout(0.2)
        while process.poll() is None:
            try:
                server.accept()[0].close()
            except OSError:
                pass
        text = process.communicate(timeout=LIMIT)[1].decode()
        assert text.endswith(f"the server 127.0.0.1:{server.getsockname()[1]} accepts connections, but nothing could be read from it\n"), text
    # One that is there, but has nothing, is not said to be away.
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.listen()
        process = subprocess.Popen([SCAN, "-q", f"http://127.0.0.1:{server.getsockname()[1]}/"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=ENVIRONMENT)
        server.settimeout(0.2)
        while process.poll() is None:
            try:
                connection = server.accept()[0]
                connection.recv(10000)
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.close()
            except OSError:
                pass
        text = process.communicate(timeout=LIMIT)[1].decode()
        assert "cannot connect" not in text and "ot found" in text.lower(), text


def test_photographs_of_phones(place):
    def box(kind, content):
        return struct.pack(">I", 8 + len(content)) + kind + content
    names = []
    for brand in (b"heic", b"mif1", b"avif"):
        names.append(place.folder / f"photo.{brand.decode()}")
        head = box(b"hdlr", bytes(8) + b"pict" + bytes(13))
        names[-1].write_bytes(box(b"ftyp", brand + bytes(4) + b"mif1" + brand) + box(b"meta", bytes(4) + head) + box(b"mdat", bytes(4000)))
    # Known by their first bytes: nobody waits for what they do not hold, which would take this long.
    text = said(SCAN, "-q", "--stall-timeout", str(10 * LIMIT), *names)
    # With libheif it tries.
    tried = text.count("libheif cannot decode it: ")
    refused = text.count("cannot decode HEIC and AVIF images: convert it first with heif-convert")
    assert tried in (0, 3) and tried + refused == text.count("\n") == 3, text
    assert "libheif-examples" in said(BLIINDS, "score", "--device", "cpu", names[0])
    if WATCH:
        event = watched(names[0])
        assert "heif-convert" in event["reason"], event


def test_words_that_are_mistyped(place):
    clip = str(place.mjpeg)
    for tool, arguments, wanted in (
            (SCAN, ["--besst", "3", clip], "'--best'"), (SCAN, ["-best", "3", clip], "'--best'"), (SCAN, ["--hlep"], "'--help'"),
            (SCAN, ["--noise", clip], "'--noise-correction'"), (SCAN, ["--ouptut=x", clip], "'--output'"),
            (SCAN, ["--metric", "tenengrd", clip], "'tenengrad'"), (SCAN, ["--format", "jsnl", clip], "'jsonl'"),
            (SCAN, ["--device", "cdua", clip], "'cuda'"), (MERGE, ["--ouput", "x", "y"], "'--output'"),
            (BLIINDS, ["scroe", clip], "'score'"), (BLIINDS, ["score", "--chanel", "red", clip], "'--channel'"),
            (BLIINDS, ["score", "--channel", "lum", clip], "'luma'"), (BLIINDS, ["score", "--modle", "m"], "'--model'"),
            *[(tool, ["--lisen", "none", clip], "'--listen'") for tool in WATCH],
            *[(tool, ["--device", "cuad", clip], "'cuda'") for tool in WATCH]):
        text = said(tool, *arguments, check=2)
        assert f"; did you mean {wanted}?" in text.split("\n")[0], (tool, arguments, text)
    for tool in (SCAN, MERGE, *WATCH):
        assert "did you mean" not in said(tool, "--xyzzy", check=2)
    # All that would be right.
    assert "must be copy, hardlink or symlink, not 'x'\n" in said(SCAN, "--set", "--originals", "x", clip, check=2)
    if WATCH:
        config = place.folder / "mistyped.toml"
        config.write_text("[defaults]\nhold_time = 3\ntransport = 'tpc'\nwatch-for = ['dark', 'defocussed']\n")
        text = said(WATCH[0], "--config", config, clip, check=2)
        for wanted in ("hold-time", "tcp", "defocused"):
            assert f"did you mean '{wanted}'?" in text, text


def test_what_is_kept_after_an_interrupt(place):
    listing = place.folder / "list"
    listing.write_text(f"{place.mjpeg}\n" * 5000)
    images, report = place.folder / "images", place.folder / "report.html"
    process = subprocess.Popen([SCAN, "--best", "2", "--export", images, "--report", report, "--files-from", listing], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=heed_signals, bufsize=0)
    rows = b""
    while rows.count(b"\n") < 100:
        block = process.stdout.read(4096)
        assert block, process.stderr.read()
        rows += block
    process.send_signal(2)
    errors = process.communicate(timeout=LIMIT)[1].decode()
    match = re.search(r"interrupted: (\d+) of 5000 files finished; the rows written so far are kept; (\d+) images are kept in "
                      + re.escape(f"{images}; {report} was not written") + "\n$", errors)
    assert process.returncode == 130 and match, errors[-500:]
    assert int(match[1]) >= 1 and int(match[2]) == len(list(images.iterdir())), match


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Place, needs=("x264enc", "avenc_aac", "jpegenc", "vorbisenc", "matroskamux", "mp4mux", "souphttpsrc", "rtspsrc")))
