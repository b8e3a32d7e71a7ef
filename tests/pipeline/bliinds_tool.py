# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-bliinds from the command line: files of all kinds, errors and exit statuses; and the example that trains.

usage: bliinds_tool.py TOOL SHARED_DIRECTORY TRAINER. What needs the pictures in the second is left out without them, and
what trains without numpy.
"""
import csv
import importlib.util
import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from harness import LIMIT, endless

TOOL, SHARED = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve() / "oracles" / "bliinds"
TRAINER = os.path.abspath(sys.argv[3])
NAMES = [f"{s}_L{scale}" for scale in (1, 2, 3) for s in ("zeta_mean", "zeta_hi10", "gamma_mean", "gamma_lo10",
                                                          "energy_mean", "energy_hi10", "orient_mean", "orient_hi10")]


def run(*words, **more):
    return subprocess.run([TOOL, *words], capture_output=True, timeout=LIMIT, check=False, **more)


def train(*words):
    return subprocess.run([sys.executable, TRAINER, *words], capture_output=True, timeout=LIMIT, check=False)


def rows(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline="")))


def launch(*words):
    subprocess.run(["gst-launch-1.0", "-q", *words], check=True, timeout=LIMIT)


def linear(path):
    """Constant and weights in a model file."""
    words = [w for line in path.read_text().splitlines() if not line.startswith("#") for w in line.split()]
    assert words[0] == "linear", words
    return [float(w) for w in words[1:]]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def expect(self, done, status, text=""):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return str(self.folder / name)


class Files(Case):
    def test_video_gives_a_row_for_each_frame_and_as_few_as_asked_for(self):
        clip = str(self.folder / "clip.y4m")
        launch("videotestsrc", "num-buffers=7", "!", "video/x-raw,format=I420,width=64,height=48,framerate=10/1", "!",
               "y4menc", "!", "filesink", f"location={clip}")
        found = rows(self.expect(run("score", clip), 0))
        self.assertEqual([row["frame"] for row in found], [str(i) for i in range(7)])
        self.assertEqual({row["name"] for row in found}, {clip})
        self.assertEqual(len(rows(self.expect(run("score", "--interval", "0.3", clip), 0))), 3)
        features = rows(self.expect(run("features", clip), 0))
        self.assertEqual(list(features[0]), ["name", "frame", *NAMES])
        self.assertEqual(len(features), 7)

    def test_video_of_every_usual_codec_is_read(self):
        # Most of these are libav's to decode, whose decoders say more of their frames than PNG's does.
        ran = 0
        for name, encoder in (("h264.mp4", "x264enc ! h264parse ! mp4mux"), ("hevc.mkv", "x265enc ! h265parse ! matroskamux"),
                              ("mpeg4.avi", "avenc_mpeg4 ! avimux"), ("flv1.flv", "avenc_flv ! flvmux"),
                              ("ffv1.mkv", "avenc_ffv1 ! matroskamux"), ("mjpeg.avi", "jpegenc ! avimux"),
                              ("vp8.webm", "vp8enc deadline=1 ! webmmux"), ("theora.ogv", "theoraenc ! oggmux")):
            elements = [word.split()[0] for word in encoder.split(" ! ")]
            if any(subprocess.run(["gst-inspect-1.0", "--exists", e], check=False, timeout=LIMIT).returncode for e in elements):
                print(f"not tried: {name}, for want of one of {elements}")
                continue
            clip = str(self.folder / name)
            sound = "audiotestsrc num-buffers=12 ! vorbisenc ! mux." if name.endswith(".mkv") else ""
            launch(*f"videotestsrc num-buffers=9 ! video/x-raw,format=I420,width=64,height=48,framerate=10/1 ! {encoder}"
                   f" name=mux ! filesink location={clip} {sound}".split())
            for channel in ("luma", "red"):
                with self.subTest(name=name, channel=channel):
                    self.assertEqual(len(rows(self.expect(run("score", "--channel", channel, clip), 0))), 9)
            ran += 1
        self.assertGreater(ran, 3)

    def test_names_of_any_bytes_come_back(self):
        plain = self.folder / "plain.png"
        launch("videotestsrc", "num-buffers=1", "!", "video/x-raw,width=32,height=32", "!", "pngenc", "!", "filesink",
               f"location={plain}")
        for name in (b'a,"b"\nc.png', b"-x.png", b" .png", b"100%.png", b"\xff.png", b"#?&.png"):
            (self.folder / os.fsdecode(name)).write_bytes(plain.read_bytes())
            found = rows(self.expect(run("score", "--", name, cwd=self.folder), 0))
            self.assertEqual([os.fsencode(row["name"]) for row in found], [name])

    def test_a_bad_file_is_named_and_the_others_are_done(self):
        good = self.folder / "good.png"
        launch("videotestsrc", "num-buffers=1", "!", "pngenc", "!", "filesink", f"location={good}")
        bad = [self.write("text.png", "not a picture"), self.write("empty.png", ""), str(self.folder),
               str(self.folder / "missing.png")]
        tiny = str(self.folder / "tiny.png")
        launch("videotestsrc", "num-buffers=1", "!", "video/x-raw,width=3,height=3", "!", "pngenc", "!", "filesink",
               f"location={tiny}")
        sound = str(self.folder / "sound.wav")
        launch("audiotestsrc", "num-buffers=2", "!", "wavenc", "!", "filesink", f"location={sound}")
        done = run("score", *bad, tiny, sound, str(good))
        self.assertEqual([row["name"] for row in rows(self.expect(done, 1))], [str(good)])
        for name in (*bad, tiny, sound):
            self.assertIn(name + ": ", done.stderr.decode())
        self.assertIn("4x4", done.stderr.decode())

    def test_a_file_of_which_nothing_comes_is_given_up(self):
        clip = str(self.folder / "clip.y4m")
        launch("videotestsrc", "num-buffers=3", "!", "video/x-raw,format=I420,width=64,height=48", "!", "y4menc", "!",
               "filesink", f"location={clip}")
        with endless(self.folder / "endless.y4m", pathlib.Path(clip).read_bytes()[:3000]) as path:
            # Long enough for the other one on a busy machine.
            done = run("score", "--stall-timeout", "8", str(path), clip)
            self.assertEqual({row["name"] for row in rows(self.expect(done, 1))}, {clip})
            self.assertIn(f"{path}: no data for 8 s", done.stderr.decode())
        self.expect(run("score", "--stall-timeout", "soon", clip), 2, "--stall-timeout must be whole seconds")

    def test_red_is_another_picture_than_luma(self):
        picture = str(self.folder / "p.png")
        launch("videotestsrc", "num-buffers=1", "!", "video/x-raw,format=RGB", "!", "pngenc", "!", "filesink",
               f"location={picture}")
        default, red, luma = (rows(self.expect(run("features", *c, picture), 0))[0]
                              for c in ([], ["--channel=red"], ["--channel=luma"]))
        self.assertNotEqual(red, luma)
        self.assertEqual(default, red)

    def test_red_of_yuv_is_another_picture_than_luma_too(self):
        clip = str(self.folder / "c.y4m")
        launch("videotestsrc", "num-buffers=1", "!", "video/x-raw,format=I420,width=64,height=48", "!", "y4menc", "!",
               "filesink", f"location={clip}")
        default, red, luma = (rows(self.expect(run("features", *c, clip), 0))[0]
                              for c in ([], ["--channel=red"], ["--channel=luma"]))
        self.assertNotEqual(red, luma)
        self.assertEqual(default, red)

    def test_output_that_cannot_be_written_is_an_error(self):
        picture = str(self.folder / "p.png")
        launch("videotestsrc", "num-buffers=1", "!", "pngenc", "!", "filesink", f"location={picture}")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "score", picture], stdout=full, stderr=subprocess.PIPE, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write", done.stderr)

    def test_nothing_leaks(self):
        picture = str(self.folder / "p.png")
        launch("videotestsrc", "num-buffers=1", "!", "pngenc", "!", "filesink", f"location={picture}")
        done = run("score", "--channel", "red", picture, "missing",
                   env=os.environ | {"GST_TRACERS": "leaks(filters=\"GstElement,GstBuffer,GstPad\")",
                                     "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"})
        alive = [line for line in done.stderr.decode("utf-8", "replace").splitlines()
                 if "object-alive, type-name=(string)" in line and "%s" not in line]
        self.assertEqual(alive, [])
        self.assertEqual(done.returncode, 1)

    @unittest.skipUnless(SHARED.exists(), "no oracle")
    def test_features_and_scores_are_the_authors(self):
        with open(SHARED / "octave_features.csv", encoding="ascii") as table:
            wanted = list(csv.DictReader(table))
        pictures = [str(SHARED / "images" / (row["name"] + ".png")) for row in wanted]
        features, scores = (rows(self.expect(run(command, *pictures), 0)) for command in ("features", "score"))
        for want, found, score in zip(wanted, features, scores, strict=True):
            for name in NAMES:
                self.assertAlmostEqual(float(found[name]), float(want[name]), delta=1e-6)
            self.assertEqual(float(score["score"]), float(want["score"]))

    @unittest.skipUnless(SHARED.exists(), "no oracle")
    def test_published_files_are_the_model_that_is_built_in(self):
        model = self.write("published.txt", "quadratic\n" + (SHARED / "model" / "mu.txt").read_text() +
                           (SHARED / "model" / "sigma_inv.txt").read_text())
        pictures = sorted(map(str, (SHARED / "images").glob("*.png")))
        built_in, loaded = (rows(self.expect(run("score", *more, *pictures), 0)) for more in ([], ["--model", model]))
        self.assertEqual(len(built_in), 24)
        for a, b in zip(built_in, loaded, strict=True):
            self.assertEqual(a["score"], b["score"])
            self.assertAlmostEqual(float(a["raw-score"]), float(b["raw-score"]), delta=1e-9)


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
class Training(Case):
    def tables(self, count=120, noise=0.0, seed=1):
        """Random rows and their scores by a random model; both paths, and the model."""
        rng = random.Random(seed)
        model = [40.0] + [rng.uniform(-10, 10) for _ in NAMES]
        features, scores = [["name", "frame", *NAMES]], [["name", "score", "scene"]]
        for i in range(count):
            row = [rng.uniform(0, 1) for _ in NAMES]
            name = f'p"{i}",{i}'
            features.append([name, 0, *map(repr, row)])
            score = model[0] + sum(w * x for w, x in zip(model[1:], row)) + rng.gauss(0, 1) * noise
            scores.append([name, repr(score), f"s{i % 20}"])
        for name, table in (("f.csv", features), ("s.csv", scores)):
            with open(self.folder / name, "w", newline="", encoding="ascii") as file:
                csv.writer(file).writerows(table)
        return str(self.folder / "f.csv"), str(self.folder / "s.csv"), model

    def test_known_model_comes_back_and_scores(self):
        features, scores, model = self.tables()
        path = self.folder / "model.txt"
        report = self.expect(train(features, scores, str(path)), 0).decode()
        for found, want in zip(linear(path), model, strict=True):
            self.assertAlmostEqual(found, want, delta=1e-9)
        lines = report.splitlines()
        self.assertEqual(lines[0].split(), ["rows", "scenes", "SROCC", "PLCC", "RMSE"])
        self.assertEqual(lines[6].split(), ["unseen", "120", "20", "1.0000", "1.0000", "0.000"])
        self.assertEqual(lines[7].split()[:4], ["in", "sample", "120", "20"])
        picture = str(self.folder / "p.png")
        launch("videotestsrc", "pattern=snow", "num-buffers=1", "!", "pngenc", "!", "filesink", f"location={picture}")
        row = rows(self.expect(run("features", picture), 0))[0]
        score = rows(self.expect(run("score", "--model", str(path), picture), 0))[0]
        want = model[0] + sum(w * float(row[name]) for w, name in zip(model[1:], NAMES))
        self.assertAlmostEqual(float(score["raw-score"]), want, delta=1e-6)

    def test_same_tables_give_the_same_bytes_in_any_order(self):
        features, scores, _ = self.tables(noise=5)
        done = [train(features, scores, str(self.folder / "a.txt"))]
        for name in (features, scores):
            with open(name, newline="", encoding="ascii") as file:
                header, *records = csv.reader(file)
            records.reverse()
            with open(name, "w", newline="", encoding="ascii") as file:
                csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([header, *records])
        done.append(train(features, scores, str(self.folder / "b.txt")))
        self.assertEqual(self.expect(done[0], 0), self.expect(done[1], 0))
        self.assertEqual((self.folder / "a.txt").read_bytes(), (self.folder / "b.txt").read_bytes())

    def test_errors_name_what_is_wrong_and_leave_no_model(self):
        features, scores, _ = self.tables()
        model = str(self.folder / "m.txt")
        lines = pathlib.Path(features).read_text().splitlines()
        constant = "\n".join([lines[0], *(line.rsplit(",", 1)[0] + ",0.5" for line in lines[1:])])
        nan = "\n".join([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ",nan"])
        few = "\n".join(pathlib.Path(scores).read_text().splitlines()[:21])
        for words, reason in (
                ((self.write("1", constant), scores), "rank-deficient: these are constant, or follow from the others: orient_hi10_L3"),
                ((self.write("2", nan), scores), "line 121: column 'orient_hi10_L3': 'nan' is not a finite number"),
                ((self.write("3", "\n".join(lines[:-1])), scores), "has no features"),
                ((features, self.write("4", few)), "has no score"),
                ((self.write("5", "\n".join(lines[:21])), self.write("6", few)), "20 rows are too few"),
                ((features, features), "no column 'score'"),
                ((str(self.folder / "none"), scores), "No such file"),
                (("--folds=2", self.write("7", "\n".join(lines[:41])),
                  self.write("8", "\n".join(pathlib.Path(scores).read_text().splitlines()[:41]))), "fold 1 of 2")):
            self.expect(train(*words, model), 1, reason)
            self.assertFalse(os.path.exists(model))
        self.expect(train(features, scores, "/nonexistent/m.txt"), 1, "/nonexistent/m.txt")

    def test_scenes_that_nobody_named_are_told(self):
        features, scores, _ = self.tables()
        with open(scores, newline="", encoding="ascii") as file:
            text = io.StringIO()
            csv.writer(text).writerows(row[:2] for row in csv.reader(file))
        bare, model = self.write("bare.csv", text.getvalue()), str(self.folder / "m")
        self.expect(train(features, bare, model), 0, "each name counts as a separate scene")
        for words in ((features, scores), ("--scene-separator=1", features, bare)):
            done = train(*words, model)
            self.expect(done, 0)
            self.assertEqual(done.stderr, b"")

    def test_scores_out_of_range_are_told(self):
        features, _, _ = self.tables()
        rng = random.Random(3)
        names = [row["name"] for row in rows(pathlib.Path(features).read_bytes())]
        text = io.StringIO()
        csv.writer(text).writerows([["name", "score"], *([n, rng.uniform(90, 120)] for n in names)])
        self.expect(train(features, self.write("high.csv", text.getvalue()), str(self.folder / "m")), 0,
                    "lie outside 0...99")


    def edit(self, path, change):
        """Changes the rows of a table, the header first."""
        with open(path, newline="", encoding="ascii") as file:
            table = list(csv.reader(file))
        change(table)
        with open(path, "w", newline="", encoding="ascii") as file:
            csv.writer(file).writerows(table)

    def test_a_feature_that_follows_from_others_is_named(self):
        features, scores, _ = self.tables()
        def depend(table):
            for row in table[1:]:
                row[5] = repr(float(row[4]) + 2 * float(row[9]) - 1)
        self.edit(features, depend)
        done = train(features, scores, str(self.folder / "m"))
        self.expect(done, 1, "follow from the others: ")
        named = done.stderr.decode().split("others: ")[1].split(".")[0]
        self.assertIn(named, {NAMES[2], NAMES[3], NAMES[7]})

    def test_frames_share_the_score_of_their_video_or_have_their_own(self):
        features, scores, _ = self.tables(count=60)
        def two_frames_each(table):
            for i, row in enumerate(table[1:]):
                row[:2] = [f"v{i // 2}", i % 2]
        self.edit(features, two_frames_each)
        shared = self.write("shared.csv", "name,score\n" + "".join(f"v{i},{i}\n" for i in range(30)))
        own = self.write("own.csv", "name,frame,score\n" + "".join(f"v{i // 2},{i % 2},{i // 2}\n" for i in range(60)))
        reports = [self.expect(train("--folds=0", features, table, str(self.folder / "m")), 0) for table in (shared, own)]
        self.assertEqual(*reports)
        self.assertEqual(reports[0].decode().splitlines()[1].split()[:4], ["in", "sample", "60", "30"])
        missing = self.write("missing.csv", "\n".join(pathlib.Path(own).read_text().splitlines()[:-1]))
        self.expect(train(features, missing, str(self.folder / "m")), 1, "line 61: 'v29' frame 1 has no score")
        self.expect(train(features, own.replace("own", "shared"), str(self.folder / "m")), 0)

    def test_model_is_where_the_density_that_the_authors_fit_is_largest(self):
        import numpy
        features, scores, _ = self.tables(count=400, noise=5)
        path = self.folder / "model.txt"
        self.expect(train(features, scores, str(path)), 0)
        x = numpy.array([[float(row[n]) for n in NAMES] for row in rows(pathlib.Path(features).read_bytes())])
        y = [float(row["score"]) for row in rows(pathlib.Path(scores).read_bytes())]
        precision = numpy.linalg.inv(numpy.cov(numpy.column_stack([x, y]), rowvar=False))
        weights = -precision[-1, :-1] / precision[-1, -1]
        wanted = [numpy.mean(y) - weights @ x.mean(axis=0), *weights]
        for found, want in zip(linear(path), wanted, strict=True):
            self.assertAlmostEqual(found, want, delta=1e-7 * (1 + abs(want)))

    def test_report_agrees_with_the_definitions(self):
        import numpy
        features, scores, _ = self.tables(count=200, noise=40)
        def in_tens(table):
            for row in table[1:]:
                row[1] = round(float(row[1]), -1)
        self.edit(scores, in_tens)
        path = self.folder / "model.txt"
        lines = self.expect(train(features, scores, str(path)), 0).decode().splitlines()
        model = linear(path)
        predicted = [model[0] + sum(w * float(row[n]) for w, n in zip(model[1:], NAMES)) for row in rows(pathlib.Path(features).read_bytes())]
        given = [float(row["score"]) for row in rows(pathlib.Path(scores).read_bytes())]
        def ranks(values):
            return [sum(other < v for other in values) + (values.count(v) - 1) / 2 for v in values]
        srocc, plcc, rmse = map(float, lines[7].split()[4:])
        self.assertAlmostEqual(srocc, numpy.corrcoef(ranks(predicted), ranks(given))[0, 1], delta=6e-5)
        self.assertAlmostEqual(plcc, numpy.corrcoef(predicted, given)[0, 1], delta=6e-5)
        self.assertAlmostEqual(rmse, numpy.sqrt(numpy.mean(numpy.subtract(predicted, given) ** 2)), delta=6e-4)
        unseen = list(map(float, lines[6].split()[3:]))
        self.assertLess(unseen[0], srocc)
        self.assertGreater(unseen[2], rmse)
        self.assertEqual(len(self.expect(train("--folds=0", features, scores, str(path)), 0).splitlines()), 2)
        self.assertEqual(len(self.expect(train("--folds=100", features, scores, str(path)), 0).splitlines()), 23)

    def test_wrong_usage_is_status_2(self):
        for words in ((), ("a", "b"), ("a", "b", "c", "d"), ("--folds=1", "a", "b", "c"), ("--folds=x", "a", "b", "c")):
            self.expect(train(*words), 2, "usage: train_bliinds.py")


class Usage(Case):
    def test_wrong_usage_is_status_2(self):
        for words in ((), ("frobnicate",), ("score",), ("score", "--channel", "blue", "x"), ("score", "--folds", "3", "x"),
                      ("features", "--model", "m", "x"), ("score", "--interval", "-1", "x"), ("train", "a", "b", "c"),
                      ("score", "--interval")):
            self.expect(run(*words), 2, "see --help")

    def test_help_and_version(self):
        self.assertIn(b"usage: framequality-bliinds", self.expect(run("--help"), 0))
        self.assertIn(b"usage: framequality-bliinds", self.expect(run("score", "-h"), 0))
        self.assertIn(b"framequality-bliinds ", self.expect(run("--version"), 0))

    def test_bad_model_is_one_error(self):
        done = run("score", "--model", self.write("m.txt", "linear 1 2"), "x")
        self.expect(done, 1, "line 1: the text ends after 2 of 25 numbers")
        self.assertEqual(done.stderr.count(b"\n"), 1)


unittest.main(argv=sys.argv[:1])
