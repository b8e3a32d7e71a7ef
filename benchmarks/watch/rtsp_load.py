#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cost of watching many network cameras: framequality-watch compared with the same sources decoded into fakesinks.

An H.264 clip with texture and noise is encoded once; RTSP servers in processes of their own send it, each camera from
another frame on. Program and decoders run by turns; CPU seconds and memory are those of their process alone. Prints a
table and writes JSON.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pipeline"))
from by_turns import conditions, use_build

CLIP = ("videotestsrc pattern=smpte75 num-buffers={frames} ! video/x-raw,format=I420,width={width},height={height},framerate={rate}/1"
        " ! mix.sink_0 videotestsrc pattern=snow num-buffers={frames} ! video/x-raw,format=I420,width={third_width},height={third_height},framerate={rate}/1"
        " ! videoscale ! video/x-raw,width={width},height={height},pixel-aspect-ratio=1/1 ! mix.sink_1 videotestsrc pattern=ball num-buffers={frames}"
        " ! video/x-raw,format=I420,width={third_width},height={third_height},framerate={rate}/1 ! mix.sink_2"
        " compositor name=mix sink_1::alpha=0.15 ! video/x-raw,format=I420,width={width},height={height},framerate={rate}/1,pixel-aspect-ratio=1/1 ! x264enc speed-preset=veryfast bitrate={bitrate} bframes=0"
        " key-int-max={key} sliced-threads=false ! video/x-h264,profile=high,stream-format=byte-stream ! filesink location={path}")
CONNECT = 90  # s
TICKS = os.sysconf("SC_CLK_TCK")
# As framequality-watch sets them.
LATENCY, DECODER_THREADS = 200, 1


def say(process, *words):
    """A line to a child and its answer."""
    process.stdin.write(" ".join(map(str, words)) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def child(*words):
    return subprocess.Popen([sys.executable, __file__, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# --- The servers ---

def serve(path, rate, first, count):
    """Cameras of these numbers; prints the port. Access units come from memory, looped without a seam in their times."""
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstApp, GstRtspServer

    Gst.init(None)
    reader = Gst.parse_launch(f"filesrc location={path} ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au ! appsink name=out sync=false")
    sink, units = reader.get_by_name("out"), []
    reader.set_state(Gst.State.PLAYING)
    while sample := sink.emit("pull-sample"):
        data = sample.get_buffer()
        units.append((data.extract_dup(0, data.get_size()), data.has_flags(Gst.BufferFlags.DELTA_UNIT)))
    reader.set_state(Gst.State.NULL)
    caps = "video/x-h264,stream-format=byte-stream,alignment=au"
    duration = Gst.SECOND // rate
    server = GstRtspServer.RTSPServer(address="127.0.0.1", service="0")

    def configure(_factory, media, number):
        # Not all keyframes of all cameras at once.
        keys = [i for i, (_, delta) in enumerate(units) if not delta]
        state = {"unit": random.Random(number).choice(keys), "n": 0}
        phase = random.Random(-number).randrange(duration)

        def need(source, _length):
            data, _ = units[state["unit"]]
            frame = Gst.Buffer.new_wrapped(data)
            frame.pts = frame.dts = phase + state["n"] * duration
            frame.duration = duration
            state["unit"], state["n"] = (state["unit"] + 1) % len(units), state["n"] + 1
            source.emit("push-buffer", frame)

        media.get_element().get_by_name("src").connect("need-data", need)

    for number in range(first, first + count):
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(f"( appsrc name=src format=time max-bytes=1 caps={caps},framerate={rate}/1 ! h264parse ! rtph264pay name=pay0 )")
        factory.connect("media-configure", configure, number)
        server.get_mount_points().add_factory(f"/{number}", factory)
    server.attach(None)
    print(json.dumps(server.get_bound_port()), flush=True)
    loop = GLib.MainLoop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
    loop.run()


# --- Decoding alone ---

def decode(urls, transport):
    """framequality-watch's sources into fakesinks; answers each line with the frames of each camera until then."""
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst

    Gst.init(None)
    pipelines, faults = [], []
    video = Gst.Caps.from_string("video/x-raw(ANY)")

    def set_up(_decoder, source):
        source.set_property("latency", LATENCY)
        if transport != "auto":
            Gst.util_set_object_arg(source, "protocols", "tcp" if transport == "tcp" else "udp-mcast+udp")

    def limit(_bin, _parent, element):
        if "Decoder" in (element.get_metadata("klass") or "") and element.find_property("max-threads"):
            element.set_property("max-threads", DECODER_THREADS)

    for url in urls:
        pipeline, decoder = Gst.Pipeline.new(None), Gst.ElementFactory.make("uridecodebin")
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("sync", False)
        sink.set_property("enable-last-sample", False)
        decoder.set_property("uri", url)
        decoder.set_property("caps", video)
        decoder.set_property("expose-all-streams", False)
        pipeline.add(decoder)
        pipeline.add(sink)
        decoder.connect("source-setup", set_up)
        decoder.connect("deep-element-added", limit)
        decoder.connect("pad-added", lambda _decoder, pad, sink=sink: pad.link(sink.get_static_pad("sink")))
        pipeline.get_bus().add_signal_watch()
        pipeline.get_bus().connect("message::error", lambda _bus, message: faults.append(message.parse_error()[0].message))
        pipeline.set_state(Gst.State.PLAYING)
        pipelines.append((pipeline, sink))
    loop = GLib.MainLoop()

    def answer():
        while sys.stdin.readline():
            print(json.dumps({"frames": [sink.get_property("stats")["rendered"] for _, sink in pipelines], "faults": faults}), flush=True)
        loop.quit()

    threading.Thread(target=answer, daemon=True).start()
    loop.run()
    for pipeline, _ in pipelines:
        pipeline.set_state(Gst.State.NULL)


# --- Measuring ---

class Decoding:
    def __init__(self, urls, arguments, _folder):
        self.process = child("--decode", arguments.transport, *urls)

    def frames(self):
        answer = say(self.process, "frames")
        assert not answer["faults"], answer["faults"][0]
        return answer["frames"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


class Watching:
    def __init__(self, urls, arguments, folder):
        configuration = folder / "cameras.toml"
        configuration.write_text(f'[defaults]\ntransport = "{arguments.transport}"\n'
                                 + "".join(f'[[camera]]\nname = "{i}"\nurl = "{url}"\n' for i, url in enumerate(urls)), encoding="utf-8")
        program = pathlib.Path(arguments.build).resolve() / "apps" / "watch" / "framequality-watch"
        self.process = subprocess.Popen([program, "--config", configuration, "--listen", "127.0.0.1:0", "--log", folder / "events"],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "http://" in line:
                self.url = line[line.index("http://"):].split()[0].rstrip("/.,")
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.opener, self.folder = urllib.request.build_opener(urllib.request.ProxyHandler({})), folder

    def frames(self):
        with self.opener.open(self.url + "/status.json", timeout=60) as answer:
            return [camera["frames"] for camera in json.load(answer)["cameras"]]

    def end(self):
        self.process.terminate()
        self.process.wait(60)
        events = [json.loads(line) for line in (self.folder / "events").read_text(encoding="utf-8").splitlines()]
        self.lost = sum(event["state"] == "lost" for event in events)
        (self.folder / "events").unlink()


def cpu_seconds(process):
    """Of all its threads."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(process):
    """MiB, and threads."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    value = lambda key: int(text[text.index(key + ":") + len(key) + 1:].split()[0])
    return value("VmRSS") / 1024, value("Threads")


def measure(kind, urls, arguments, folder, servers):
    """A run: from when all cameras have sent frames, so many seconds."""
    runner = kind(urls, arguments, folder)
    try:
        end = time.monotonic() + CONNECT
        while min(runner.frames(), default=0) == 0:
            assert time.monotonic() < end, f"after {CONNECT} s without frames: {sum(not n for n in runner.frames())} cameras"
            time.sleep(0.5)
        time.sleep(arguments.settle)
        before, begin, cpu = runner.frames(), time.monotonic(), cpu_seconds(runner.process)
        server_cpu, memory, threads = sum(map(cpu_seconds, servers)), [], 0
        while (left := begin + arguments.seconds - time.monotonic()) > 0:
            time.sleep(min(1, left))
            mib, threads = resident(runner.process)
            memory.append(round(mib, 1))
        cpu = cpu_seconds(runner.process) - cpu
        server_cpu = sum(map(cpu_seconds, servers)) - server_cpu
        seconds, after = time.monotonic() - begin, runner.frames()
    finally:
        runner.end()
    frames = [b - a for a, b in zip(before, after)]
    expected = arguments.rate * seconds
    return {"cpu_seconds": round(cpu, 3), "cores": round(cpu / seconds, 4), "core_share_per_camera": round(cpu / seconds / len(urls), 5),
            "ms_per_frame": round(1000 * cpu / max(1, sum(frames)), 4), "frames": sum(frames),
            "frames_missing": max(0, round(expected * len(urls)) - sum(frames)), "slowest_camera": round(min(frames) / expected, 3),
            "lost": getattr(runner, "lost", 0), "server_cores": round(server_cpu / seconds, 3), "threads": threads,
            "memory_begin": memory[0], "memory_end": memory[-1], "memory": memory[:: max(1, len(memory) // 20)], "seconds": round(seconds, 2)}


def table(result):
    rows = [("", "decode", "watch")]
    for key, title, digits in (("cores", "cores", 3), ("core_share_per_camera", "share of a core, a camera", 4), ("ms_per_frame", "CPU, ms a frame", 3),
                               ("frames", "frames", 0), ("frames_missing", "frames missing", 0), ("slowest_camera", "slowest camera, of its rate", 3),
                               ("lost", "cameras lost", 0), ("memory_end", "memory, MiB", 1), ("threads", "threads", 0), ("server_cores", "servers' cores", 3)):
        rows.append((title, *(f"{result[name][key]:.{digits}f}" for name in ("decode", "watch"))))
    return "\n".join(f"{a:28} {b:>12} {c:>12}" for a, b, c in rows) + f"\nwatch / decode: {result['ratio']:.3f} (CPU a frame)"


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2], *map(int, sys.argv[3:]))
    if sys.argv[1:2] == ["--decode"]:
        return decode(sys.argv[3:], sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="build folder; its plugin and its framequality-watch are used")
    parser.add_argument("--cameras", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--size", default="320x240", help="(default: %(default)s)")
    parser.add_argument("--rate", type=int, default=5, help="frames/s (default: %(default)s)")
    parser.add_argument("--bitrate", type=int, help="kbit/s (default: by size and rate, 4000 for 1080p25)")
    parser.add_argument("--seconds", type=int, default=30, help="measured, of each run (default: %(default)s)")
    parser.add_argument("--settle", type=float, default=3, help="seconds between the last camera's first frame and measuring (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="of each (default: %(default)s)")
    parser.add_argument("--servers", type=int, default=2, help="processes that send (default: %(default)s)")
    parser.add_argument("--transport", choices=("tcp", "udp", "auto"), default="tcp", help="(default: %(default)s)")
    parser.add_argument("--commit", default="", help="what was built; by default what git says")
    parser.add_argument("--json", type=pathlib.Path, help="where the result goes, besides the table")
    arguments = parser.parse_args()
    use_build(pathlib.Path(arguments.build).resolve())
    width, height = map(int, arguments.size.split("x"))
    bitrate = arguments.bitrate or max(64, round(4000 * width * height * arguments.rate / (1920 * 1080 * 25)))
    kinds, servers = {"decode": Decoding, "watch": Watching}, []
    with tempfile.TemporaryDirectory(prefix="load-") as name:
        folder = pathlib.Path(name)
        clip = folder / "clip.h264"
        line = CLIP.format(frames=10 * arguments.rate, width=width, height=height, third_width=width // 6 * 2, third_height=height // 6 * 2,
                           rate=arguments.rate, bitrate=bitrate, key=2 * arguments.rate, path=clip)
        subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
        try:
            urls = []
            for i in range(arguments.servers):
                first, last = arguments.cameras * i // arguments.servers, arguments.cameras * (i + 1) // arguments.servers
                servers.append(child("--serve", clip, arguments.rate, first, last - first))
                port = json.loads(servers[-1].stdout.readline())
                urls += [f"rtsp://127.0.0.1:{port}/{number}" for number in range(first, last)]
            runs = {kind: [] for kind in kinds}
            for run in range(arguments.runs):
                # By turns, and each first as often.
                for kind in sorted(kinds, reverse=run % 2 == 1):
                    runs[kind].append(measure(kinds[kind], urls, arguments, folder, servers))
                    print(f"{run + 1}/{arguments.runs} {kind}: {runs[kind][-1]['cores']} cores, {runs[kind][-1]['frames_missing']} frames missing, "
                          f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
        finally:
            for server in servers:
                server.stdin.close()
                server.wait(60)
        size = clip.stat().st_size
    result = {"clip": f"{arguments.size} H.264, {arguments.rate} frames/s, {size * 8 / 10 / 1e3:.0f} kbit/s", "cameras": arguments.cameras,
              "transport": arguments.transport, **conditions(arguments.commit), "runs": arguments.runs}
    for kind, all_runs in runs.items():
        result[kind] = {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0] if key != "memory"}
        result[kind]["each_ms_per_frame"] = [run["ms_per_frame"] for run in all_runs]
        result[kind]["memory"] = all_runs[-1]["memory"]
    result["ratio"] = round(result["watch"]["ms_per_frame"] / result["decode"]["ms_per_frame"], 3)
    print(f"{result['cameras']} cameras, {result['clip']}, {result['transport']}; {result['cpu']}, {result['cores']} cores")
    print(table(result))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
