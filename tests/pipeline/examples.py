# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each example does what it says, on a camera, a server or a file that the test brings.

usage: examples.py EXAMPLES AUTOFOCUS_APP NAME; exit status 77: this machine lacks what NAME needs.
"""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import threading

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst

from harness import LIMIT

Gst.init(None)
examples, autofocus_app = pathlib.Path(sys.argv[1]), sys.argv[2]
BALL = "videotestsrc pattern=ball num-buffers={} ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"


def run(*command, timeout=LIMIT, **environment):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout,
                          check=False, env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(1 if os.environ.get("REQUIRE_GPU") and "GPU" in why else 77)


def scores(source):
    out = run(sys.executable, examples / "score_from_meta.py", "--source", source)
    return [float(line.split()[3]) for line in out.splitlines()]


def live_plot():
    source = BALL.format(45)
    lines = run(sys.executable, examples / "live_plot.py", "--source", source).splitlines()
    assert [line.split(":")[0] for line in lines] == ["0 s", "1 s"], lines
    # In a terminal: the last drawing has its top where the highest of the scores is.
    parent, child = pty.openpty()
    plot = subprocess.Popen([sys.executable, examples / "live_plot.py", "--source", source, "--meter", "metric=tenengrad"],
                            stdout=child, env={**os.environ, "COLUMNS": "80"})
    os.close(child)
    drawn = b""
    try:
        while chunk := os.read(parent, 65536):
            drawn += chunk
    except OSError:  # what Linux says when the other end has closed
        pass
    assert plot.wait(timeout=LIMIT) == 0
    expected = scores(source)
    last = drawn.decode().split("\033[11A")[-1].splitlines()
    top, bottom = last[0], last[9]
    assert f"{max(expected):.1f}" in top and f"{min(expected):.1f}" in bottom, last
    bars = top.split("│")[1].replace("\033[K", "")
    assert len(bars) == len(expected) and bars.index("█") == expected.index(max(expected)), (bars, expected)


def score_in_probe():
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "sharpest.pgm"
        out = run(sys.executable, examples / "score_in_probe.py", "--source", BALL.format(60), "--output", picture)
        expected = scores(BALL.format(60))
        assert float(out.split()[0]) == max(expected), out
        assert abs(float(out.split()[2]) - expected.index(max(expected)) / 30) < 0.001, out
        assert picture.stat().st_size == len(b"P5 320 240 255\n") + 320 * 240


def scores_across_processes():
    if not Gst.ElementFactory.find("unixfdsrc"):
        skip("unixfdsrc is not there: it came with GStreamer 1.24, in the plugins called bad")
    source = BALL.format(40).replace("videotestsrc", "videotestsrc is-live=true")
    lines = run(sys.executable, examples / "scores_across_processes.py", "--source", source).splitlines()
    expected = scores(BALL.format(40))
    # The first frames may be gone before the reader is there.
    found = [(int(line.split()[1]), float(line.split()[4])) for line in lines]
    assert len(found) > 20, lines
    for (number, score) in found:
        assert score == expected[number], (number, score, expected[number])


def autofocus():
    out = run(autofocus_app)
    position, moves = re.search(r"lens at (\S+) after (\d+) moves", out).groups()
    assert abs(float(position) - 62) <= 1 and int(moves) <= 50 and "focused at" in out, out


def refused(*command):
    """What a command that must fail says."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, f"{command}: {done.stdout}{done.stderr}"
    return done.stderr


def focus_stage():
    program = [sys.executable, examples / "focus_stage.py"]
    rate = " ! video/x-raw,width=320,height=240,framerate=100/1"
    lens = "virtuallenssrc name=lens best-position=62.3 noise=3"
    with tempfile.TemporaryDirectory() as folder:
        picture, table = pathlib.Path(folder) / "plane.png", pathlib.Path(folder) / "curve.csv"
        files = ["--output", picture, "--csv", table]
        for source in (f"{lens} is-live=true{rate}", lens + rate):
            out = run(*program, *files, "--camera", source, "--speed", 2000, "--spacing", 3)
            position, moves = re.search(r"^focused at (\S+) after (\d+) moves, score", out, re.M).groups()
            assert abs(float(position) - 62.3) <= 1 and int(moves) <= 50, out
            stack = [(int(number), float(at), float(score))
                     for number, at, score in re.findall(r"^plane (\d+) at (\S+): (\S+)$", out, re.M)]
            assert [number for number, _, _ in stack] == list(range(1, 8)), out
            # The farther from the best position, on either side, the lower they score: no frame is of another plane.
            number, at, _ = max(stack, key=lambda plane: plane[2])
            scores_of = [score for _, _, score in stack]
            assert abs(at - 62.3) <= 1.5 and scores_of[:number] == sorted(scores_of[:number]), out
            assert scores_of[number - 1:] == sorted(scores_of[number - 1:], reverse=True), out
            assert f"plane {number} of 7 at {at:g} is the sharpest, in {picture}\n" in out, out
            header = picture.read_bytes()[:26]
            assert header.startswith(b"\x89PNG\r\n") and header[16:24] == bytes((0, 0, 1, 64, 0, 0, 0, 240)), header
            samples = re.search(r"^(\d+) samples of the curve", out, re.M)
            assert table.exists() == bool(samples), out
            if samples:
                assert len(table.read_text().splitlines()) == 1 + int(samples[1]), table.read_text()
        # Planes outside the range are left out.
        out = run(*program, *files, "--camera", f"{lens} is-live=true{rate}", "--speed", 2000, "--max", 65, "--spacing", 5)
        assert re.search(r"^plane \d of 4 at 6", out, re.M), out

        still = f"videotestsrc is-live=true ! video/x-raw,format=GRAY8{rate.split('raw')[1]}"
        assert "the camera's stream ended" in refused(*program, *files, "--camera", "videotestsrc num-buffers=5")
        assert "no position is sharper" in refused(*program, *files, "--camera", still, "--speed", 1e6)
        assert "stage: " in refused(*program, *files, "--camera", "videotestsrc is-live=true name=lens")
        assert "did not end within 1 s" in refused(*program, *files, "--speed", 0.1, "--timeout", 1)
        assert "no element" in refused(*program, *files, "--camera", "nonsense")
        unwritable = pathlib.Path(folder) / "nowhere" / "plane.png"
        assert str(unwritable) in refused(*program, "--output", unwritable, "--csv", table, "--camera",
                                          f"{lens} is-live=true{rate}", "--speed", 2000, "--planes", 0)

        sys.path.insert(0, str(examples))
        import focus_stage as module

        fields = Gst.Structure.new_from_string(
            "focuscontroller, state=focused, position=62.0, score=1.4, top=62.3, width=8.0, error=0.0, certainty=0.0, "
            "positions=<(double)0, (double)60.5, (double)100>, scores=<(double)0.25, (double)1.5, (double)0.125>")
        module.print_result(fields, 3, table)
        assert table.read_text() == "position,score\n0.0,0.25\n60.5,1.5\n100.0,0.125\n", table.read_text()


def webcam():
    out = run(examples / "webcam.sh", SOURCE=BALL.format(30).split(" !")[0] + " is-live=true",
              SINK="fakesink name=end silent=false -v")
    assert len(re.findall(r"end: last-message = chain", out)) > 5, out[-2000:]


def rtsp():
    try:
        gi.require_version("GstRtspServer", "1.0")
        from gi.repository import GstRtspServer
    except (ImportError, ValueError):
        skip("GstRtspServer's bindings are not installed (gir1.2-gst-rtsp-server-1.0)")
    if not Gst.ElementFactory.find("x264enc"):
        skip("x264enc is not installed")
    server = GstRtspServer.RTSPServer(service="0", address="127.0.0.1")
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch("( videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=240,framerate=30/1 ! "
                       "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15 ! rtph264pay name=pay0 )")
    server.get_mount_points().add_factory("/camera", factory)
    loop = GLib.MainLoop()
    server.attach(None)
    threading.Thread(target=loop.run, daemon=True).start()
    client = subprocess.Popen([examples / "rtsp.sh", f"rtsp://127.0.0.1:{server.get_bound_port()}/camera"],
                              stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(40, client.kill)
    watchdog.start()
    seen = []
    for line in client.stdout:
        if "sharpnessmeter, " in line:
            seen.append(int(re.search(r"running-time=\(guint64\)(\d+)", line)[1]))
        if len(seen) == 3:
            break
    client.kill()
    client.wait()
    watchdog.cancel()
    loop.quit()
    assert len(seen) == 3, "no scores came from the server"
    assert all(b - a >= 0.9e9 for a, b in zip(seen, seen[1:])), seen


def file():
    with tempfile.TemporaryDirectory() as folder:
        video = pathlib.Path(folder) / "a clip, 'quoted'.avi"
        pipeline = Gst.parse_launch(f"{BALL.format(90)} ! jpegenc ! avimux ! filesink name=sink")
        pipeline.get_by_name("sink").set_property("location", str(video))
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(LIMIT * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        assert message is not None and message.type == Gst.MessageType.EOS
        pipeline.set_state(Gst.State.NULL)
        run(examples / "file.sh", video, folder)
        pictures = sorted(path.name for path in pathlib.Path(folder).glob("*.jpg"))
        assert pictures == [f"sharpest-{i:05d}.jpg" for i in range(3)], pictures


def epaper():
    with tempfile.TemporaryDirectory() as folder:
        out, preview = pathlib.Path(folder) / "frame", pathlib.Path(folder) / "preview.png"
        for panel, size in (("spectra6", 800 * 480 // 2), ("bwry:400x300", 400 * 300 // 4), ("bwr:122x250", 31 * 250)):
            run(examples / "epaper.sh", "test", panel, out, preview)
            assert out.stat().st_size == size, (panel, out.stat().st_size)
            assert preview.read_bytes().startswith(b"\x89PNG"), panel
        # White is the top left of the picture, and code 1 of the palette.
        run(examples / "epaper.sh", "test", "spectra6:640x480", out)
        assert out.read_bytes()[0] == 0x11, out.read_bytes()[:8]


def cuda():
    if not Gst.ElementFactory.find("nvh264dec"):
        skip("no GPU that decodes (nvh264dec)")
    if not Gst.ElementFactory.find("x264enc"):
        skip("x264enc is not installed")
    meter = Gst.ElementFactory.find("sharpnessmeter")
    if not any("CUDAMemory" in template.get_caps().to_string() for template in meter.get_static_pad_templates()):
        skip("built without the headers for frames in GPU memory")
    with tempfile.TemporaryDirectory() as folder:
        clip = pathlib.Path(folder) / "clip.mp4"
        run("gst-launch-1.0", *BALL.format(60).split(), "!", "x264enc", "!", "mp4mux", "!", "filesink", f"location={clip}")
        assert run(examples / "cuda.sh", clip).count("device=(string)cuda") == 60


globals()[sys.argv[3]]()
