# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/score_video.py finds the sharp and the blurred stretch of a film made for it, and writes table and plot."""
import csv
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    examples = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="a film ") as folder:
        film = pathlib.Path(folder) / "soft then sharp.mkv"
        # 2 s of one picture made small and large again, then 2 s of the picture itself.
        caps = "video/x-raw,format=I420,width={},height={},framerate=25/1"
        small, large = caps.format(40, 30), caps.format(320, 240)
        source = "videotestsrc pattern=smpte num-buffers=50 ! " + large
        subprocess.run(["gst-launch-1.0", "-q", "concat", "name=c", "!", "avenc_ffv1", "!", "matroskamux", "!", "filesink",
                        f"location={film}", *f"{source} ! videoscale ! {small} ! videoscale ! {large} ! c.".split(),
                        *f"{source} ! c.".split()], check=True, timeout=60)
        table, picture = film.with_suffix(".csv"), film.with_suffix(".png")
        command = [sys.executable, str(examples / "score_video.py"), str(film), "--csv", str(table), "--count", "2",
                   "--meter", "metric=brenner"]
        try:
            import matplotlib  # noqa: F401  pylint: disable=unused-import
            command += ["--plot", str(picture)]
        except ImportError:
            print("no matplotlib: without the plot")
        run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        print(run.stdout, run.stderr)
        assert run.returncode == 0
        rows = list(csv.reader(table.open(encoding="utf-8")))
        assert rows[0] == ["frame", "time_s", "brenner"] and len(rows) == 101, rows[:2]
        assert max(float(row[2]) for row in rows[1:51]) < min(float(row[2]) for row in rows[51:])
        sharpest, blurriest = run.stdout.split("blurriest")
        assert all(float(at) >= 2 for at in re.findall(r"([\d.]+) s", sharpest)), sharpest
        assert all(float(at) < 2 for at in re.findall(r"([\d.]+) s", blurriest)), blurriest
        assert "100 frames scored on" in run.stdout
        if "--plot" in command:
            assert picture.read_bytes()[:4] == b"\x89PNG"

        # The pictures beside the plot are the frames that they are said to be, also where no seek is exact.
        stream = film.with_suffix(".ts")
        grey = "videotestsrc pattern=solid-color foreground-color=0xff808080 num-buffers=50 ! " + large
        subprocess.run(["gst-launch-1.0", "-q", "concat", "name=c", "!", "x264enc", "!", "h264parse", "!",
                        "mpegtsmux", "!", "filesink", f"location={stream}", *f"{grey} ! c.".split(),
                        *f"{source} ! c.".split()], check=True, timeout=60)
        sys.path.insert(0, str(examples))
        import score_video
        score_video.Gst.init(None)
        rows = score_video.score(stream, "")[0]
        cut = next(number for number, row in enumerate(rows) if row[1] > 100)  # the first that is not grey
        assert 15 < cut < 60, cut  # frames at the start may be missing
        found = score_video.pictures(stream, [rows[n][0] for n in (cut + 15, 10, cut, cut - 1)])
        assert [picture.std() > 20 for picture in found] == [True, False, True, False], [p.std() for p in found]

        # A file that is no video, and none at all: a reason and a failure.
        for bad in (str(table), folder + "/none"):
            run = subprocess.run(command[:2] + [bad], capture_output=True, text=True, timeout=50, check=False)
            assert run.returncode == 1 and run.stderr.startswith("score_video.py: "), run


main()
