# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of framequality-scan --report in a browser without a network: what it shows, and that it only shows.

usage: scan_report.py PROGRAM; skipped without Chromium.
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from harness import LIMIT, launch, run, run_tests

TOOL = os.path.abspath(sys.argv[1])
FRAMES = 50
# A folder and a file: a name cannot hold the slash itself.
HOSTILE = pathlib.Path("<script>document.title='taken'<") / "script><img src=x onerror=alert(1)>\"&amp;.mkv"

# What a user does, appended to a copy of the page; what is seen goes where --dump-dom shows it.
ACTIONS = """<script>
const seen = {}, plot = document.querySelector(".plot svg"), note = (name, value) => (seen[name] = value);
const curve = () => document.querySelector(".plot .curve");
const box = plot.getBoundingClientRect(), at = (f) => ({ bubbles: true, clientX: box.left + box.width * f, clientY: box.top + 90, button: 0, pointerType: "mouse" });
addEventListener("load", () => {
  note("points", +curve().dataset.points);
  note("coordinates", curve().getAttribute("d").match(/[ML]/g).length);
  note("yLabels", document.querySelector(".plot").querySelectorAll(".y-label").length);
  note("xLabels", [...document.querySelector(".plot").querySelectorAll(".x-label")].map((e) => e.textContent));
  note("marks", document.querySelector(".plot").querySelectorAll(".mark").length);
  const mean = document.querySelector(".map rect") && document.querySelector(".map svg").innerHTML;
  plot.dispatchEvent(new PointerEvent("pointermove", at(0.6)));
  note("tip", document.querySelector(".tip").textContent);
  note("mapChanged", mean !== document.querySelector(".map svg").innerHTML);
  plot.dispatchEvent(new PointerEvent("pointerdown", at(0.4)));
  plot.dispatchEvent(new PointerEvent("pointermove", at(0.6)));
  plot.dispatchEvent(new PointerEvent("pointerup", at(0.6)));
  note("zoomed", +curve().dataset.points);
  plot.dispatchEvent(new MouseEvent("dblclick", at(0.5)));
  note("whole", +curve().dataset.points);
  plot.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
  note("first", document.querySelector(".tip").textContent);
  document.querySelector(".shots button").click();
  note("shot", document.querySelector(".tip").textContent);
  plot.dispatchEvent(new PointerEvent("pointerleave", at(0.5)));
  note("hidden", document.querySelector(".tip").hidden);
  note("wide", document.documentElement.scrollWidth > document.documentElement.clientWidth);
  note("title", document.title);
  note("names", [...document.querySelectorAll("h2 bdi")].map((e) => e.textContent));
  note("errors", [...document.querySelectorAll("section > .bad, .head .bad")].map((e) => e.textContent));
  note("injected", document.querySelectorAll("main script, main img:not([src^='data:image/jpeg'])").length);
  note("pictures", [...document.images].every((image) => image.complete && image.naturalWidth > 0));
  note("dark", getComputedStyle(document.body).backgroundColor);
  document.body.replaceChildren(JSON.stringify(seen));
});
</script>
"""


def scan(*arguments, cwd, check=0):
    run(TOOL, "-q", *arguments, cwd=cwd, check=check)


def make(path, frames, size="160", pattern="ball"):
    muxer = "" if path.suffix == ".jpg" else "matroskamux !"
    launch(f"videotestsrc pattern={pattern} num-buffers={frames} ! video/x-raw,format=I420,width={size},height={size},framerate=25/1"
           f" ! jpegenc ! {muxer} filesink location={{path}}", path=path)


PICTURE_ACTIONS = """<script>
addEventListener("load", () => {
  const all = (what) => [...document.querySelectorAll(what)], seen = { text: document.querySelector("main").innerText };
  seen.plots = all(".plot").length;
  seen.table = all("table").length;
  seen.pictures = all(".gallery h3 bdi").map((e) => e.textContent);
  seen.scores = all(".gallery .says b").map((e) => +e.textContent.replaceAll(",", ""));
  seen.shots = all(".shots img").map((e) => e.alt);
  seen.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  document.querySelector(".gallery details").open = true;
  setTimeout(() => {
    seen.map = all(".gallery .map rect").length;
    document.body.replaceChildren(JSON.stringify(seen));
  }, 500);
});
</script>
"""


CHOSEN_ACTIONS = """<script>
addEventListener("load", () => {
  const all = (what) => [...document.querySelectorAll(what)], text = (what) => all(what).map((e) => e.textContent), seen = {};
  seen.heads = text("h2");
  seen.badges = all("main > section").map((s) => s.querySelectorAll(".badge").length);
  seen.reasons = text(".gallery > li > .note");
  seen.picks = all(".plot .pick").length;
  seen.legend = text(".tools b");
  seen.columns = text("thead th");
  const map = document.querySelector(".map"), toggle = document.querySelector(".title button");
  seen.map = map && [map, 1, 2].map((click) => (click === map || toggle.click(), getComputedStyle(map.querySelector("svg")).display, map.className));
  document.body.replaceChildren(JSON.stringify(seen));
});
</script>
"""


class Browser:
    def __init__(self, program, folder):
        self.program, self.folder, self.runs = program, folder, 0

    def open(self, page, *options, width=1280):
        """The page's text after its scripts ran; what the console said; the addresses it asked for."""
        self.runs += 1
        profile, log = self.folder / f"profile {self.runs}", self.folder / f"net {self.runs}.json"
        run = subprocess.run(
            [self.program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
             "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", f"--log-net-log={log}", f"--window-size={width},1400",
             "--virtual-time-budget=4000", *options, "--dump-dom", page.as_uri()],
            capture_output=True, text=True, timeout=LIMIT, check=False, env={**os.environ, "HOME": str(self.folder)})
        assert run.returncode == 0 and run.stdout, run.stderr[-3000:]
        console = re.findall(r".*CONSOLE.*", run.stderr)
        # What the browser itself looks for has no origin.
        asked = re.findall(r'"initiator":"(?!not an origin)[^\n]*?"url":"((?:https?|wss?|ftp):[^"]*)"',
                           log.read_text(encoding="utf-8", errors="replace"))
        shutil.rmtree(profile, ignore_errors=True)
        return run.stdout, console, asked

    def act(self, page, *options, actions=ACTIONS, **how):
        """What these see in the page."""
        copy = page.with_name("acted.html")
        copy.write_text(page.read_text(encoding="utf-8").replace("</body>", actions + "</body>"), encoding="utf-8")
        dom, console, asked = self.open(copy, *options, **how)
        assert not console, console
        assert not asked, asked
        found = re.search(r"<body>(\{.*\})", dom, re.DOTALL)
        assert found, dom[-2000:]
        return json.loads(html.unescape(found[1]))


def test_browser(browser):
    """That the browser would tell: of a request, of an error."""
    page = browser.folder / "bad.html"
    page.write_text('<body><img src="http://nowhere.invalid/x.png"><script>nothing.there()</script></body>', encoding="utf-8")
    _, console, asked = browser.open(page)
    assert "http://nowhere.invalid/x.png" in asked and "nothing is not defined" in "".join(console), (console, asked)


def test_page(browser):
    (browser.folder / HOSTILE.parent).mkdir()
    make(browser.folder / HOSTILE, FRAMES)
    (browser.folder / "text.mp4").write_text("no video " * 50)
    page = browser.folder / "report.html"
    scan("--report", page, "--zones", "4x3", "--", HOSTILE, "text.mp4", "gone.mp4", cwd=browser.folder, check=1)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg\b)|@import|url\((?!#)", re.sub(r'id="data">.*?</script>', "", text)), "the page asks for something"
    seen = browser.act(page)
    assert seen["points"] == seen["coordinates"] == seen["whole"] == FRAMES, seen
    assert 5 <= seen["zoomed"] < FRAMES, seen
    assert seen["yLabels"] >= 3 and seen["xLabels"][:2] == ["0:00.0", "0:00.2"], seen
    assert seen["marks"] == 12 and seen["mapChanged"], seen
    assert re.fullmatch(r"[\d,.]+ level²0:01\.\d{3}, frame \d+", seen["tip"]) and seen["tip"] != seen["first"], seen
    assert seen["first"].endswith("0:00.000, frame 0") and seen["hidden"], seen
    assert seen["title"] == "Sharpness report" and seen["injected"] == 0 and seen["pictures"], seen
    assert seen["names"] == [str(HOSTILE), "text.mp4", "gone.mp4"], seen
    assert seen["errors"][-1] == "No such file or directory" and len(seen["errors"]) == 2, seen
    assert not seen["wide"] and seen["dark"] == "rgb(244, 245, 247)", seen
    # Narrow, and dark.
    seen = browser.act(page, "--blink-settings=preferredColorScheme=0", width=500)
    assert not seen["wide"] and seen["dark"] == "rgb(14, 18, 23)" and seen["points"] == FRAMES, seen


def test_settings(browser):
    make(browser.folder / "clip.mkv", 3)
    page = browser.folder / "settings.html"
    scan("--report", page, "--metric", "entropy", "--roi", "1,2,100,90", "--interval", "0.04", "clip.mkv", cwd=browser.folder)
    dom, console, asked = browser.open(page)
    assert not console and not asked
    for pair in (("metric", "entropy [bit]"), ("roi", "1,2,100,90"), ("zones", "16 × 9 (for this report only)"), ("interval", "0.04 s"),
                 ("prefilter", "binomial3")):
        assert "<dt>{}</dt><dd>{}</dd>".format(*pair) in dom, pair
    assert re.search(r"<title>Sharpness of clip.mkv</title>", dom)


def test_pictures(browser):
    """Files of one frame: each once, nothing plotted, the highest score first; the others as ever."""
    names = []
    for pattern in ("red", "ball", "snow", "smpte"):
        names.append(f"{pattern}.jpg")
        make(browser.folder / names[-1], 1, pattern=pattern)
    make(browser.folder / "three.mkv", 3)
    for files in (names, names[:1], [*names, "three.mkv"]):
        page = browser.folder / "pictures.html"
        scan("--report", page, *files, "--zones", "2x2", cwd=browser.folder)
        seen = browser.act(page, actions=PICTURE_ACTIONS)
        clips = len(files) > len(names)
        assert seen["plots"] == clips and seen["table"] == clips and not seen["wide"], seen
        assert sorted(seen["pictures"]) == sorted(files[: len(names)]), seen
        assert seen["scores"] == sorted(seen["scores"], reverse=True), seen
        assert seen["map"] == 4 and "Sharpest" not in seen["text"] and "lurriest" not in seen["text"], seen
        assert len(seen["shots"]) == len(set(seen["shots"])) == 3 * clips, seen  # each frame of a few is shown once


def test_chosen(browser):
    """Chosen images are a group of their own and carry a badge, the others say why not; chosen frames are marked below the
    plot. The heat map can be hidden."""
    names = [f"{pattern}-set.jpg" for pattern in ("red", "snow", "smpte")]
    for name in names:
        make(browser.folder / name, 1, pattern=name.removesuffix("-set.jpg"))
    page = browser.folder / "chosen.html"
    scan("--set", "--best", "2", "--export", "picked", "--report", page, *names, cwd=browser.folder)
    seen = browser.act(page, actions=CHOSEN_ACTIONS)
    assert seen["heads"][:2] == ["2 chosen images, highest score first", "1 other image"], seen
    assert seen["badges"] == [2, 0, 0] and len(seen["reasons"]) == 1 and "-set.jpg" in seen["reasons"][0], seen
    make(browser.folder / "frames.mkv", 20)
    scan("--best", "3", "--manifest", "frames.json", "--report", page, "frames.mkv", *names, cwd=browser.folder)
    seen = browser.act(page, actions=CHOSEN_ACTIONS)
    assert seen["picks"] == 3 and seen["legend"] == ["3 chosen frames. "] and "Chosen" in seen["columns"], seen
    assert seen["map"] == ["map", "map off", "map"], seen
    # Nothing was to be chosen: nothing is marked.
    scan("--report", page, "frames.mkv", cwd=browser.folder)
    seen = browser.act(page, actions=CHOSEN_ACTIONS)
    assert seen["picks"] == 0 and not seen["legend"] and not any(seen["badges"]), seen


def test_many_frames(browser):
    """A page of 100,000 frames, its numbers put in by hand: decoding so many would take minutes."""
    make(browser.folder / "few.mkv", 4)
    page = browser.folder / "many.html"
    scan("--report", page, "few.mkv", cwd=browser.folder)
    text, count = page.read_text(encoding="utf-8"), 100_000
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    data["files"][0].update(frames=[0] + [1] * (count - 1), times=[0] + [40_000] * (count - 1),
                            scores=[1000 + i * 37 % 101 for i in range(count - 1)] + [5000])
    page.write_text(re.sub(r'(id="data">).*?(</script>)', lambda m: m[1] + json.dumps(data) + m[2], text, flags=re.DOTALL), encoding="utf-8")
    assert page.stat().st_size < 2_000_000, page.stat().st_size
    seen = browser.act(page)
    # Two points for a column of pixels, and the single high frame is among them: its height sets the scale.
    assert 1500 < seen["points"] <= 2600 and seen["yLabels"] >= 3, seen
    assert seen["xLabels"][-1].startswith("1:"), seen


if __name__ == "__main__":
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("SKIPPED: Chromium is not installed")
        sys.exit(77)
    sys.exit(run_tests(globals(), lambda folder: Browser(chromium, folder)))
