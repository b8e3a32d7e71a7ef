# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live page of framequality-watch in a browser: what it shows of status.json, and that names are only text.

usage: watch_page.py PAGE [PROGRAM]; skipped without Chromium. SCREENSHOTS=DIR in the environment leaves pictures of it there.
A stub serves the page and scripted answers; with the program, that is looked at, too.
"""
import base64
import datetime
import hashlib
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from harness import LIMIT
from watching import Watch, until

PAGE, TOOL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
PREFIX = "/cameras/live/"  # as below a reverse proxy
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>\"&amp;/../%2e \u202e\n\U0001f4f7"
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////"
    "wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AR//Z")

# What a user does and sees; `mode` tells the server what to answer from now on. Time is virtual: seconds are quickly over.
TOOLS = """{
const seen = {}, note = (name, value) => (seen[name] = value), all = (what) => [...document.querySelectorAll(what)];
const texts = (what) => all(what).map((e) => e.textContent), sleep = (s) => new Promise((end) => setTimeout(end, s * 1000));
const shown = () => all("tbody tr:not([hidden]) .name").map((e) => e.textContent);
const mode = async (name) => { await fetch("mode?" + name); await sleep(0.1); };
const until = async (what, condition, limit = 200) => {
  for (const end = Date.now() + limit * 1000; !condition(); await sleep(0.2)) if (Date.now() > end) throw Error("never: " + what);
};
const type = (text) => { const box = document.getElementById("filter"); box.value = text; box.dispatchEvent(new Event("input")); };
const press = (label) => all("#counts button").find((b) => b.textContent.startsWith(label)).click();
const gone = () => document.getElementById("gone"), answered = () => document.getElementById("about").textContent !== "";
const looks = () => {
  note("wide", document.documentElement.scrollWidth > document.documentElement.clientWidth);
  note("cut", all("tbody td, tbody th").filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.className));
  note("dark", getComputedStyle(document.body).backgroundColor);
  note("title", document.title);
  note("injected", all("main script, body > img, main img:not([src^='thumbnail/'])").length);
  note("counts", Object.fromEntries(all("#counts button").map((b) => [b.firstChild.textContent, +b.querySelector("b").textContent])));
  note("names", shown());
};
addEventListener("load", async () => {
  try {
    await ACTIONS();
  } catch (error) {
    note("fault", String(error));
  }
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(seen);
  document.body.append(result);
});
}"""

ROWS = """async () => {
  await until("answer", answered);
  await until("pictures", () => all("tbody img").length >= 4 && all("tbody img").every((i) => i.complete && i.naturalWidth > 0));
  looks();
  note("badges", texts(".badge"));
  note("rows", all("tbody tr").map((row) => [...row.children].map((cell) => cell.textContent)));
  note("points", all("path").map((e) => +e.dataset.points));
  note("pieces", all("path").map((e) => (e.getAttribute("d").match(/M/g) ?? []).length));
  note("lines", all(".curve line").map((e) => e.getAttribute("visibility") === "visible" ? +e.getAttribute("y1") : null));
  note("labels", all(".curve svg").map((e) => e.getAttribute("aria-label")));
  note("roles", [all("[role=columnheader]").length, all("tbody tr:first-child [role=cell]").length, all("tbody [role=rowheader]").length]);
  type("NORTH dark");
  note("filtered", shown());
  type("nothing like it");
  note("none", document.getElementById("note").textContent + document.querySelector("table").hidden);
  type("");
  press("Bad");
  note("onlyBad", shown());
  press("All");
  note("unfiltered", shown().length);
  const row = all("tbody tr").find((e) => e.querySelector(".name").textContent === "gate");
  await mode("worse");
  await until("news", () => document.getElementById("news").textContent);
  note("news", document.getElementById("news").textContent);
  note("first", shown()[0]);
  note("same", row === document.querySelector("tbody tr"));
  await mode("few");
  await until("fewer rows", () => shown().length === 1);
  note("left", shown());
}"""

GONE = """async () => {
  await until("answer", answered);
  const words = () => gone().hidden ? "" : gone().firstChild.textContent;
  for (const name of ["refused", "error", "nonsense", "other"]) {
    await mode(name);
    await until(name, () => words(), 60);
    note(name, words() + document.body.classList.contains("stale"));
    note("kept", shown().length);
    await mode("normal");
    await until("return", () => gone().hidden && !document.body.classList.contains("stale"), 60);
  }
  await mode("refused");
  await until("gone", () => words());
  const begin = Date.now(), asked = +(await (await fetch("mode?refused")).text());
  await sleep(120);
  note("tries", +(await (await fetch("mode?normal")).text()) - asked);
  gone().querySelector("button").click();
  await until("pressed", () => gone().hidden, 2);
}"""

COUNT = """async () => {
  await until("answer", answered);
  await until("pictures", () => all("tbody img").length >= Math.min(1, shown().length));
  looks();
  note("note", document.getElementById("note").hidden ? "" : document.getElementById("note").textContent);
}"""


def hash_of(script):
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def stamp(seconds_ago=0.0):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def camera(name, state="good", **fields):
    now = time.time()
    full = {"name": name, "source": f"rtsp://user:***@{urllib.parse.quote(name)[:20]}.example/1", "state": state, "since": stamp(754), "reason": "",
            "score": 1.38, "baseline": 1.4, "ratio": 0.986, "noise": 2.13, "mean": 101.2, "frame_rate": 25.0, "frames": 12345,
            "last_frame_age": 0.04, "reconnects": 0, "width": 1920, "height": 1080,
            "history": [[now - 2 * (119 - i), 1.38 + 0.02 * (i % 7)] for i in range(120)]}
    return {**full, **fields}


def unknown(name, state):
    return camera(name, state, **dict.fromkeys(("score", "baseline", "ratio", "noise", "mean", "frame_rate", "last_frame_age", "width", "height")), history=[])


def some_cameras():
    now = time.time()
    drop = [[now - 2 * (119 - i), 4000 if i < 60 else 1000] for i in range(120)]
    gaps = [[now - 230, 1], [now - 228, 2], [now - 226, None], [now - 40, 3], [now - 38, 2.5], [now - 20, 2.2]]
    return [
        camera("gate"), camera("yard 10"), camera("yard 9"),
        camera("roof", "defocused", score=1000, baseline=4000, ratio=0.25, history=drop,
               reason="The score is 1000, 25 % of the 4000 that this scene usually has, for 12 s."),
        camera("north", "dark", mean=3.2, reason="98.2 % of the picture is black."),
        camera("tunnel", "lost", reason="No connection: Could not connect to server", frame_rate=0.0, last_frame_age=7300.0, reconnects=17, history=gaps),
        camera("lab", "learning", baseline=None, ratio=None, since=stamp(12)),
        unknown("attic", "connecting"), unknown("typo", "error"), camera("clip.mkv", "ended"), camera("odd", "on fire"),
        camera(HOSTILE, HOSTILE, reason=HOSTILE, source=HOSTILE),
    ]


class Stub(http.server.ThreadingHTTPServer):
    """Serves the page with `actions` in it, and status.json as `mode` says."""
    daemon_threads = True

    def __init__(self, page, cameras):
        super().__init__(("127.0.0.1", 0), Handler)
        self.page, self.cameras, self.mode, self.asked, self.pictures, self.paths = page, cameras, "normal", 0, [], set()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}{PREFIX}"

    def handle_error(self, request, client_address):
        pass  # the browser closes connections as it likes


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, content, kind, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        server, (path, _, query) = self.server, self.path.partition("?")
        server.paths.add(path)
        if path == PREFIX:
            self.answer(server.page.encode(), "text/html; charset=utf-8")
        elif path == PREFIX + "mode":
            server.mode = query
            self.answer(str(server.asked).encode(), "text/plain")
        elif path == PREFIX + "status.json":
            self.status(server)
        elif path.startswith(PREFIX + "thumbnail/"):
            server.pictures.append(urllib.parse.unquote(path.removeprefix(PREFIX + "thumbnail/")))
            if server.pictures[-1] == "tunnel":
                self.answer(b"no picture", "text/plain", 404)
            else:
                self.answer(JPEG, "image/jpeg")
        else:
            self.answer(b"no such page", "text/plain", 404)

    def status(self, server):
        server.asked += 1
        cameras = server.cameras
        if server.mode == "refused":
            self.close_connection = True
            return
        if server.mode == "worse":
            cameras = [{**c, "state": "covered"} if c["name"] == "gate" else {**c, "state": "good"} for c in cameras]
        if server.mode == "few":
            cameras = cameras[:1]
        content = json.dumps({"version": "0.2.0", "time": stamp(), "cameras": cameras})
        content = {"nonsense": "<html>login</html>", "other": '{"a": 1}'}.get(server.mode, content)
        self.answer(content.encode(), "application/json", 502 if server.mode == "error" else 200)


class Browser:
    def __init__(self, program, folder):
        self.program, self.folder, self.runs = program, folder, 0

    def open(self, url, *options, width=1280, height=1400, budget=4000):
        """The page's text after that many virtual milliseconds, and what the console said."""
        self.runs += 1
        profile = self.folder / f"profile {self.runs}"
        run = subprocess.run(
            [self.program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
             "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--enable-logging=stderr", "--hide-scrollbars",
             f"--window-size={width},{height}", f"--virtual-time-budget={budget}", *options, url],
            capture_output=True, text=True, timeout=LIMIT, check=False, env={**os.environ, "HOME": str(self.folder)})
        assert run.returncode == 0, run.stderr[-3000:]
        shutil.rmtree(profile, ignore_errors=True)
        return run.stdout, re.findall(r".*CONSOLE.*", run.stderr)

    def act(self, actions, cameras, *options, budget=600_000, **how):
        """What the actions see, and the server that they saw it of."""
        page, script = PAGE.read_text(encoding="utf-8"), TOOLS.replace("ACTIONS()", f"({actions})()")
        page = page.replace("script-src ", f"script-src {hash_of(script)} ").replace("</body>", f"<script>{script}</script></body>")
        server = Stub(page, cameras)
        dom, console = self.open(server.url, "--dump-dom", *options, budget=budget, **how)
        server.shutdown()
        server.server_close()
        found = re.search(r'<pre id="result">(\{.*\})</pre>', dom, re.DOTALL)
        assert found, (dom[-2000:], console[:3])
        seen = json.loads(html.unescape(found[1]))
        assert "fault" not in seen, (seen, console[:3])
        console = [line for line in console if "Failed to load resource" not in line]  # told of every answer that is none
        assert not console, console[:3]
        assert server.paths <= {PREFIX + name for name in ("", "mode", "status.json")} | {p for p in server.paths if p.startswith(PREFIX + "thumbnail/")}, server.paths
        return seen, server


def check_source(_browser):
    """Nothing from elsewhere, and the policy lets this script run and no other."""
    text = PAGE.read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\b)|@import|url\(|innerHTML|insertAdjacentHTML|document\.write|\bon\w+=", text)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert f"script-src {hash_of(scripts[0])};" in policy, f"put script-src {hash_of(scripts[0])} into {PAGE}"


def check_rows(browser):
    seen, server = browser.act(ROWS, some_cameras())
    name = HOSTILE.replace("\n", "␊")
    assert set(seen["names"][:6]) == {name, "north", "odd", "roof", "tunnel", "typo"}, seen["names"]
    assert seen["names"][-6:] == ["attic", "lab", "gate", "yard 9", "yard 10", "clip.mkv"], seen["names"]
    assert seen["counts"] == {"All": 12, "Bad": 6, "Waiting": 2, "Good": 3, "Ended": 1}, seen["counts"]
    assert seen["title"] == "(6) Cameras" and seen["injected"] == 0 and not seen["wide"] and not seen["cut"], seen
    rows = dict(zip(seen["names"], seen["rows"]))
    assert rows["roof"][2].startswith("defocused for 12 minThe score is 1000, 25 %") and rows["roof"][4] == "1,00025 % of 4,000", rows["roof"]
    assert rows["gate"][4:] == ["1.3899 % of 1.4", "2.1", "101", "25.0", "0.0 s", "0"], rows["gate"]
    assert rows["gate"][1] == "gatertsp://user:***@gate.example/11920×1080", rows["gate"]
    assert rows["attic"][4:] == ["–"] * 4 + ["–", "0"] and rows["tunnel"][8:] == ["2 h 1 min", "17"], (rows["attic"], rows["tunnel"])
    assert rows[name][2].startswith(name) and seen["badges"][seen["names"].index("odd")] == "on fire", rows[name]
    curve = {n: seen["names"].index(n) for n in ("roof", "tunnel", "attic", "lab")}
    assert [seen["points"][curve[n]] for n in curve] == [120, 5, 0, 120], seen["points"]
    assert [seen["pieces"][curve[n]] for n in curve] == [1, 3, 0, 1], seen["pieces"]
    assert seen["lines"][curve["roof"]] == 0 and seen["lines"][curve["lab"]] is None, seen["lines"]
    assert seen["labels"][curve["roof"]] == "Score over the last 4 minutes: 1,000 to 4,000, baseline 4,000", seen["labels"]
    assert seen["roles"] == [10, 9, 12], seen["roles"]
    assert seen["filtered"] == ["north"] and seen["none"] == "No camera matches the filter.true", seen
    assert seen["onlyBad"] == seen["names"][:6] and seen["unfiltered"] == 12, seen
    assert seen["news"] == "10 cameras changed their state" and seen["first"] == "gate" and seen["same"], seen
    assert seen["left"] == ["gate"] and HOSTILE in server.pictures and "gate" in server.pictures, (seen["left"], server.pictures)


def check_narrow_and_dark(browser):
    for width in (320, 500, 800, 1241):
        seen, _ = browser.act(COUNT, some_cameras(), "--blink-settings=preferredColorScheme=0", width=width, budget=10_000)
        assert not seen["wide"] and not seen["cut"] and seen["dark"] == "rgb(14, 18, 23)", (width, seen)
    seen, _ = browser.act(COUNT, some_cameras(), budget=10_000)
    assert seen["dark"] == "rgb(244, 245, 247)", seen


def check_gone(browser):
    seen, _ = browser.act(GONE, some_cameras())
    assert re.fullmatch(r"The server does not respond \(no connection\)\. This is the state at .*\d\d.*\.true", seen["refused"]), seen
    assert "(HTTP 502)" in seen["error"] and "(its answer is not from framequality-watch)" in seen["nonsense"] and "not from" in seen["other"], seen
    # 4, 8, 16, 30 s apart and so on; a page that asks on every 2 s would have asked 60 times.
    assert seen["kept"] == 12 and 3 <= seen["tries"] <= 9, seen


def check_counts(browser):
    seen, _ = browser.act(COUNT, [], budget=10_000)
    assert seen["note"] == "There are no cameras." and seen["names"] == [] and not seen["wide"], seen
    seen, server = browser.act(COUNT, [camera("only")], budget=100_000)
    assert seen["names"] == ["only"] and seen["note"] == "" and seen["title"] == "Cameras", seen
    # In 100 s: a picture every ten seconds at most.
    assert 5 <= len(server.pictures) <= 11, server.pictures
    seen, server = browser.act(COUNT, [camera(f"camera {i}", "covered" if i % 50 == 7 else "good") for i in range(100)], budget=100_000)
    assert seen["counts"]["All"] == 100 and seen["counts"]["Bad"] == 2 and not seen["wide"], seen["counts"]
    assert seen["names"][:4] == ["camera 7", "camera 57", "camera 0", "camera 1"] and seen["names"][-1] == "camera 99", seen["names"]
    # Only what is in view, and bad ones twice as often.
    assert 5 <= len(set(server.pictures)) < 40 and server.pictures.count("camera 7") > 1.5 * server.pictures.count("camera 1"), server.pictures


def check_program(browser):
    """The same page from the program, with what it says of cameras."""
    scene = "videotestsrc is-live=true pattern=ball background-color=0xff606060 ! video/x-raw,format=I420,width=320,height=240,framerate=10/1"
    with tempfile.TemporaryDirectory(prefix="watch ") as folder:
        configuration = pathlib.Path(folder) / "cameras.toml"
        configuration.write_text("".join(f"[[camera]]\nname = {json.dumps(name)}\npipeline = '{scene}'\n" for name in ("gate", "<b>50 % & \"more\"/"))
                                 + '[[camera]]\nname = "nowhere"\nurl = "rtsp://me:secret@127.0.0.1:1/none"\n')
        with Watch(TOOL, "--config", configuration, "--learn-time", "1") as watch:
            until(lambda: watch.status(), lambda: sorted(watch.states().values()) == ["good", "good", "lost"])
            assert watch.get("") == PAGE.read_bytes()
            dom, console = browser.open(f"http://127.0.0.1:{watch.port}/", "--dump-dom", budget=6000)
            if os.environ.get("SCREENSHOTS"):
                browser.open(f"http://127.0.0.1:{watch.port}/", f"--screenshot={os.environ['SCREENSHOTS']}/program.png", width=1400, height=500)
    assert all("thumbnail/nowhere" in line for line in console), console
    assert re.findall(r'<bdi class="name">([^<]*)</bdi>', dom) == ["nowhere", "&lt;b&gt;50 % &amp; \"more\"/", "gate"], dom[-3000:]
    assert re.findall(r'class="badge"[^>]*>(\w+)<', dom) == ["lost", "good", "good"] and "me:***@127.0.0.1:1" in dom and "secret" not in dom, dom[-3000:]
    assert re.findall(r'<img[^>]* src="thumbnail/([^?"]*)', dom) == ["%3Cb%3E50%20%25%20%26%20%22more%22%2F", "gate"], dom[-3000:]
    assert len(re.findall(r'<path[^>]* data-points="[1-9]', dom)) == 2, dom[-3000:]


def screenshots(browser, folder):
    for name, cameras, width, dark in (("light", some_cameras(), 1400, False), ("dark", some_cameras(), 1400, True), ("narrow", some_cameras(), 500, True),
                                       ("none", [], 900, False), ("hundred", [camera(f"camera {i}") for i in range(100)], 1280, False)):
        server = Stub(PAGE.read_text(encoding="utf-8"), cameras)
        browser.open(server.url, f"--screenshot={folder / name}.png", *(["--blink-settings=preferredColorScheme=0"] if dark else []), width=width)
        server.shutdown()


def main():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("SKIPPED: Chromium is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="watch ") as folder:
        browser = Browser(program, pathlib.Path(folder))
        checks = [check_source, check_rows, check_narrow_and_dark, check_gone, check_counts]
        for check in checks + ([check_program] if TOOL else []):
            begin = time.monotonic()
            check(browser)
            print("ok", check.__name__, f"{time.monotonic() - begin:.1f} s", flush=True)
        if os.environ.get("SCREENSHOTS"):
            screenshots(browser, pathlib.Path(os.environ["SCREENSHOTS"]))
    return 0


sys.exit(main())
