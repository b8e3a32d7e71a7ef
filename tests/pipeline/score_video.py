# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/score_video.py finds the sharp and the blurred stretch of a film made for it, warns of cuts and of nothing
else, and writes table and plot."""
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import LIMIT


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
                        *f"{source} ! c.".split()], check=True, timeout=LIMIT)
        table, picture = film.with_suffix(".csv"), film.with_suffix(".png")
        command = [sys.executable, str(examples / "score_video.py"), str(film), "--csv", str(table), "--count", "2",
                   "--meter", "metric=brenner"]
        try:
            import matplotlib  # noqa: F401  pylint: disable=unused-import
            command += ["--plot", str(picture)]
        except ImportError:
            print("no matplotlib: without the plot")
        run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        print(run.stdout, run.stderr)
        assert run.returncode == 0
        rows = list(csv.reader(table.open(encoding="utf-8")))
        assert rows[0] == ["frame", "time_s", "brenner"] and len(rows) == 101, rows[:2]
        assert max(float(row[2]) for row in rows[1:51]) < min(float(row[2]) for row in rows[51:])
        highest, lowest = run.stdout.split("The lowest")
        listed = r"([\d.]+) s +frame +(\d+) "
        assert [float(at) >= 2 for at, _ in re.findall(listed, highest)] == [True, True], highest
        assert [float(at) < 2 for at, _ in re.findall(listed, lowest)] == [True, True], lowest
        for at, number in re.findall(listed, run.stdout):
            assert abs(float(rows[1 + int(number)][1]) - float(at)) <= 0.005, (at, number)
        assert "100 frames scored on" in run.stdout
        if "--plot" in command:
            assert picture.read_bytes()[:4] == b"\x89PNG"

        # The images below the plot show the frames of their captions, also in files where no seek is exact.
        stream = film.with_suffix(".ts")
        grey = "videotestsrc pattern=solid-color foreground-color=0xff808080 num-buffers=50 ! " + large
        subprocess.run(["gst-launch-1.0", "-q", "concat", "name=c", "!", "x264enc", "!", "h264parse", "!",
                        "mpegtsmux", "!", "filesink", f"location={stream}", *f"{grey} ! c.".split(),
                        *f"{source} ! c.".split()], check=True, timeout=LIMIT)
        sys.path.insert(0, str(examples))
        import score_video
        score_video.Gst.init(None)
        rows, facts = score_video.score(stream, "")
        cut = next(number for number, row in enumerate(rows) if row[1] > 100)  # the first that is not grey
        assert 15 < cut < 60, cut  # frames at the start may be missing
        assert rows[0][0] == 0, rows[0]
        found = score_video.pictures(stream, [facts["begins"] + rows[n][0] for n in (cut + 15, 10, cut, cut - 1)])
        assert [picture.std() > 20 for picture in found] == [True, False, True, False], [p.std() for p in found]

        # Scenes of 50 frames each: a warning at the frames where they begin. A ball that flies is one.
        cuts = folder + "/cuts.mkv"
        ball = "videotestsrc pattern=ball num-buffers=50 ! " + large
        subprocess.run(["gst-launch-1.0", "-q", "concat", "name=c", "!", "avenc_ffv1", "!", "matroskamux", "!", "filesink",
                        f"location={cuts}", *f"{ball} ! c.".split(), *f"{source} ! c.".split(),
                        *f"{source.replace('smpte', 'pinwheel')} ! c.".split()], check=True, timeout=LIMIT)
        for properties in ("", "metric=laplacian-variance prefilter=binomial5"):
            run = subprocess.run(command[:2] + [cuts, "--meter", properties], capture_output=True, text=True, timeout=LIMIT,
                                 check=False)
            warned = re.search(r"^Warning: the scene changes at (.*)\.$", run.stdout, re.MULTILINE)
            assert warned and re.findall(r"\(frame (\d+)\)", warned[1]) == ["50", "100"], run
        # One scene in which all that is seen changes, step by step.
        plate = f"videotestsrc pattern=zone-plate kx2=20 ky2=20 kt=3 num-buffers=100 ! {large} ! avenc_ffv1 ! matroskamux"
        subprocess.run(["gst-launch-1.0", "-q", *plate.split(), "!", "filesink", f"location={folder}/moving.mkv"], check=True,
                       timeout=LIMIT)
        run = subprocess.run(command[:2] + [folder + "/moving.mkv"], capture_output=True, text=True, timeout=LIMIT, check=False)
        assert run.returncode == 0 and "Warning" not in run.stdout, run
        # Without zones nothing is said of scenes.
        run = subprocess.run(command[:2] + [cuts, "--meter", "zone-columns=1 zone-rows=1"], capture_output=True, text=True,
                             timeout=LIMIT, check=False)
        assert run.returncode == 0 and "Warning" not in run.stdout, run
        # Two cuts close to each other are found, steps as large as those around are motion.
        still, other, moving = [4, 0, 0, 0], [0, 0, 4, 1], [[3, 1, 0, 0], [1, 3, 0, 0], [0, 1, 3, 0], [0, 0, 1, 3]]
        assert score_video.scene_changes([still] * 9 + [other] * 3 + [still] * 9) == [9, 12]
        assert score_video.scene_changes(moving * 20) == []
        assert score_video.scene_changes([still] * 9 + [[0, 0, 0, 0]] + [still] * 9) == []  # a blank frame
        assert score_video.scene_changes([still, other]) == [] == score_video.scene_changes([[]] * 20)

        # A file that is no video, and none at all: a reason and a failure.
        for bad in (str(table), folder + "/none"):
            run = subprocess.run(command[:2] + [bad], capture_output=True, text=True, timeout=LIMIT, check=False)
            assert run.returncode == 1 and run.stderr.startswith("score_video.py: "), run


main()
