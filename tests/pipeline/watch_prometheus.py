# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real Prometheus scrapes framequality-watch: the target is up, its series can be asked for, and the alerts of
examples/watch fire. The dashboard's questions all have answers.

usage: watch_prometheus.py PROGRAM EXAMPLES; skipped without Prometheus.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from harness import LIMIT
from watching import Process, Watch, until

TOOL, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
HOSTILE = 'gate "1" \\ {x="y"} \N{CAMERA}'
FORMAT = "video/x-raw,format=I420,width=320,height=240,framerate=10/1"
# First as it should be, then black.
DARKENS = (f"videotestsrc is-live=true num-buffers=60 pattern=ball background-color=0xff606060 ! {FORMAT} ! c.sink_0 "
           f"videotestsrc is-live=true pattern=black ! {FORMAT} ! c.sink_1 concat name=c")


class Prometheus(Process):
    def __init__(self, program, folder, target):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        # As the examples have it, but in seconds instead of minutes.
        rules = (EXAMPLES / "rules.yml").read_text(encoding="utf-8")
        assert rules.count("for: 1m") == 3, "the examples' rules have changed"
        (folder / "rules.yml").write_text(rules.replace("for: 1m", "for: 2s"), encoding="utf-8")
        configuration = (EXAMPLES / "prometheus.yml").read_text(encoding="utf-8")
        assert configuration.count("15s") == 2 and configuration.count("127.0.0.1:9640") == 1, "the examples' configuration has changed"
        (folder / "prometheus.yml").write_text(configuration.replace("15s", "1s").replace("127.0.0.1:9640", target), encoding="utf-8")
        super().__init__(program, f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                         f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn", cwd=folder)

    def api(self, path, **query):
        """What its interface says; None while it does not say anything."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with opener.open(url, timeout=LIMIT) as answer:
                return json.load(answer)["data"]
        except (ConnectionError, urllib.error.URLError) as error:
            assert not isinstance(error, urllib.error.HTTPError) or error.code == 503, (query, error.read())
            assert self.process.poll() is None, self.errors
            return None

    def ask(self, expression):
        answer = self.api("query", query=expression)
        return [(series["metric"], float(series["value"][1])) for series in answer["result"]] if answer else []

    def alerts(self):
        answer = self.api("alerts")
        return {(alert["labels"]["alertname"], alert["labels"].get("camera")): alert["annotations"]["summary"]
                for alert in (answer["alerts"] if answer else []) if alert["state"] == "firing"}


def check_scrape(watch, prometheus):
    until(lambda: f"up: {prometheus.errors}", lambda: prometheus.ask('up{job="framequality-watch"} == 1'))
    target = prometheus.api("targets")["activeTargets"][0]
    assert target["health"] == "up" and not target["lastError"], target
    assert [name for name in ("healthz", "status.json") if not watch.get(name)] == []


def check_series(watch, prometheus):
    until(lambda: f"scores: {watch.status()}", lambda: len(prometheus.ask("framequality_camera_score")) >= 2)
    camera = "{camera=%s}" % json.dumps(HOSTILE, ensure_ascii=False)
    until(lambda: f"a baseline: {watch.status()}", lambda: prometheus.ask("framequality_camera_baseline" + camera))
    for name, low, high in (("score", 0, 1e9), ("baseline", 0, 1e9), ("noise", 0, 20), ("mean_luma", 0, 255), ("frame_rate", 8, 12),
                            ("last_frame_age_seconds", 0, 2), ("frames_total", 10, 1e4), ("reconnects_total", 0, 0)):
        found = prometheus.ask(f"framequality_camera_{name}{camera}")
        assert len(found) == 1 and low <= found[0][1] <= high, (name, found)
    until("frames are counted", lambda: prometheus.ask("rate(framequality_camera_frames_total%s[10s]) > 8" % camera))
    kinds = prometheus.api("metadata")
    assert kinds["framequality_camera_score"][0]["type"] == "gauge" and kinds["framequality_camera_score"][0]["help"], kinds
    assert any(kind["type"] == "counter" for name, all in kinds.items() if name.startswith("framequality_camera_frames") for kind in all), kinds
    # Exactly one state at a time.
    assert {value for _, value in prometheus.ask("sum by (camera) (framequality_camera_state)")} == {1}
    assert len(prometheus.ask("framequality_build_info")) == 1


def check_alerts(prometheus):
    wanted = {("CameraBad", "darkens"): "darkens is dark", ("CameraLost", "nowhere"): "nowhere is lost"}
    until(lambda: f"alerts: {prometheus.alerts()}", lambda: wanted.keys() <= prometheus.alerts().keys())
    assert prometheus.alerts() == wanted, prometheus.alerts()


def check_dashboard(prometheus):
    for panel in json.loads((EXAMPLES / "grafana-panel.json").read_text(encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            found = prometheus.ask(re.sub(r"\$\w+", ".*", target["expr"]))
            assert found, (panel["title"], target["expr"])
            if panel["type"] == "state-timeline":
                names = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
                states = {metric["camera"]: names[str(int(value))]["text"] for metric, value in found}
                assert states == {HOSTILE: "good", "darkens": "dark", "nowhere": "lost"}, states


def check_down(watch, prometheus):
    assert watch.end() == 128 + 15, watch.errors
    until(lambda: f"down: {prometheus.alerts()}", lambda: ("CameraWatchDown", None) in prometheus.alerts())


def main():
    program = shutil.which("prometheus")
    if not program:
        print("SKIPPED: Prometheus is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="watch ") as name:
        folder = pathlib.Path(name)
        (folder / "cameras.toml").write_text(
            f"[[camera]]\nname = {json.dumps(HOSTILE, ensure_ascii=False)}\npipeline = 'videotestsrc is-live=true pattern=ball background-color=0xff606060 ! {FORMAT}'\n"
            f"[[camera]]\nname = 'darkens'\npipeline = '{DARKENS}'\n"
            "[[camera]]\nname = 'nowhere'\nurl = 'rtsp://127.0.0.1:1/none'\n", encoding="utf-8")
        with Watch(TOOL, "--config", folder / "cameras.toml", "--hold-time", "2", "--learn-time", "2") as watch, \
                Prometheus(program, folder, f"127.0.0.1:{watch.port}") as prometheus:
            for check, arguments in ((check_scrape, (watch, prometheus)), (check_series, (watch, prometheus)), (check_alerts, (prometheus,)),
                                     (check_dashboard, (prometheus,)), (check_down, (watch, prometheus))):
                check(*arguments)
                print("ok", check.__name__, flush=True)
            assert not [line for line in watch.errors if "CRITICAL" in line], watch.errors
            assert prometheus.end() == 0, prometheus.errors
    return 0


sys.exit(main())
