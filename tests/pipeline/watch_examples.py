# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of examples/watch with the programs that they are for: promtool, systemd-analyze, an MQTT broker.

usage: watch_examples.py EXAMPLES [PROGRAM]; each check is skipped where its program is not installed, the whole where none is.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from harness import LIMIT
from watching import Watch

EXAMPLES, TOOL = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
HERE = pathlib.Path(__file__).resolve().parent
os.environ["PATH"] += ":/usr/sbin"  # mosquitto's


def run(*command, check=0, **how):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT, check=False, **how)
    assert result.returncode == check, (command, result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result.stdout + result.stderr


def check_alerts(folder):
    """promtool"""
    run("promtool", "check", "config", EXAMPLES / "prometheus.yml")
    shutil.copy(EXAMPLES / "rules.yml", folder)
    shutil.copy(HERE / "watch_rules.yml", folder)
    run("promtool", "test", "rules", folder / "watch_rules.yml")


def check_dashboard(folder):
    """promtool"""
    board = json.loads((EXAMPLES / "grafana-panel.json").read_text(encoding="utf-8"))
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) >= 5 and {"state-timeline", "timeseries"} <= {p["type"] for p in panels}
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [{"record": f"r{i}", "expr": re.sub(r"\$\w+", ".*", expr)} for i, expr in enumerate(expressions)]
    (folder / "board.json").write_text(json.dumps({"groups": [{"name": "board", "rules": rules}]}))  # YAML, too
    assert f"{len(expressions)} rules found" in run("promtool", "check", "rules", folder / "board.json")
    # No state without a name, a colour and a number of its own in the time line.
    timeline = next(panel for panel in panels if panel["type"] == "state-timeline")
    named = timeline["fieldConfig"]["defaults"]["mappings"][0]["options"]
    numbers = dict(re.findall(r'(\d+) \* framequality_camera_state\{[^}]*framequality_camera_state="(\w+)"', timeline["targets"][0]["expr"]))
    assert numbers == {number: option["text"] for number, option in named.items()} and len(set(numbers.values())) == len(numbers) == 14, numbers


def check_unit(folder):
    """systemd-analyze"""
    unit = folder / "framequality-watch.service"
    text = (EXAMPLES / unit.name).read_text(encoding="utf-8")
    unit.write_text(text.replace("/usr/bin/framequality-watch", shutil.which("true")))  # it need not be installed
    said = run("systemd-analyze", "verify", "--man=no", unit)
    assert unit.name not in said, said
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", run("systemd-analyze", "security", "--offline=true", "--no-pager", unit))
    claimed = re.search(r"`systemd-analyze security` says ([\d.]+)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))
    # Later releases ask for more.
    assert float(exposure[1]) <= float(claimed[1]) + 0.5, (exposure[1], claimed[1])


def check_mqtt(folder):
    """mosquitto, mosquitto_pub, mosquitto_sub, jq"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n")
    where = ["-h", "127.0.0.1", "-p", port]
    events = [
        {"time": "2026-11-23T01:02:03.456Z", "camera": "gate", "state": "defocused", "reason": "It's \"half\" as sharp\\\n$(id) `id` %s"},
        {"camera": "line 3/+a#b\n", "state": "lost"},
        {"camera": "gate", "state": "recovered", "previous": "defocused"},
        {"camera": "-h", "state": "good", "reason": "Ärger \U0001f4f7"},
    ]
    lines = [json.dumps(event) for event in events]
    lines[1:1] = ["no JSON", '{"camera": 7}', "[1]", ""]
    broker = subprocess.Popen(["mosquitto", "-c", folder / "mosquitto.conf"], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + LIMIT
        while True:
            try:
                socket.create_connection(("127.0.0.1", int(port)), 1).close()
                break
            except OSError:
                assert broker.poll() is None and time.monotonic() < end, "no broker"
                time.sleep(0.1)
        said = run(EXAMPLES / "mqtt.sh", *where, input="\n".join(lines) + "\n", env={**os.environ, "PREFIX": "site 1"})
        assert not said, said
        # Who comes later gets what was retained: the last event of each camera.
        got = run("mosquitto_sub", *where, "-t", "site 1/#", "-W", "3", "-C", "3", "-F", "%r %t\t%p")
    finally:
        broker.terminate()
        broker.wait(LIMIT)
    retained = {line.split("\t")[0]: json.loads(line.split("\t")[1]) for line in got.splitlines()}
    assert retained == {"1 site 1/gate": events[2], "1 site 1/line 3__a_b_": events[1], "1 site 1/-h": events[3]}, retained


def check_configuration(folder):
    """sh"""
    text = (EXAMPLES / "cameras.toml").read_text(encoding="utf-8")
    # With what is in comments, too, and in folders that are there.
    text = re.sub(r"(?m)^# (?=[\w-]+ = )", "", text)
    text = re.sub(r'"/(?:var|run)/[^"]*/([^/"]+)"', lambda found: json.dumps(str(folder / found[1])), text)
    text = text.replace('"127.0.0.1:9640"', '"127.0.0.1:0"')
    assert text.count(str(folder)) == 4, text
    (folder / "cameras").write_text("word\n")
    (folder / "cameras.toml").write_text(text, encoding="utf-8")
    with Watch(TOOL, "--config", folder / "cameras.toml") as watch:
        states = watch.states()
        assert len(states) == 5 and "error" not in states.values(), watch.status()
        assert watch.end() == 128 + 15, watch.errors
    assert "unknown key" not in "".join(watch.errors), watch.errors
    options = re.findall(r"(?<= )--[\w-]+", (EXAMPLES / "framequality-watch.service").read_text(encoding="utf-8"))
    offered = run(TOOL, "--help")
    assert len(options) == 4 and all(option + "=" in offered for option in options), options


def main():
    done = 0
    for check in ([check_configuration] if TOOL else []) + [check_alerts, check_dashboard, check_unit, check_mqtt]:
        missing = [name for name in check.__doc__.split(", ") if not shutil.which(name)]
        if missing:
            print(f"SKIPPED {check.__name__}: without {', '.join(missing)}")
            continue
        with tempfile.TemporaryDirectory(prefix="watch-") as folder:
            check(pathlib.Path(folder))
        done += 1
        print("ok", check.__name__, flush=True)
    return 0 if done else 77


sys.exit(main())
