#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""python -m framequality: its lines, tables and exit status."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import support

import framequality as fq


def pgm(width, height, value):
    return b"P5 %d %d 255\n" % (width, height) + bytes(value(x, y) % 256 for y in range(height) for x in range(width))


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = {"blurred.pgm": pgm(40, 30, lambda x, y: x * 2 + y), "sharp.pgm": pgm(40, 30, lambda x, y: x * y * 37),
                     "flat.pgm": pgm(40, 30, lambda x, y: 90), "b\xe4d name.pgm": pgm(20, 20, lambda x, y: x * 50),
                     "damaged.pgm": b"P5 40 30 255\nshort"}
        for name, content in cls.files.items():
            with open(os.path.join(cls.folder.name, name), "wb") as file:
                file.write(content)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_program(self, *arguments, **keywords):
        done = subprocess.run([sys.executable, "-m", "framequality", *arguments], cwd=self.folder.name,
                              capture_output=True, timeout=100, **keywords)
        return done.returncode, done.stdout.decode(errors="surrogateescape"), done.stderr.decode(errors="replace")

    def score(self, name, **options):
        return fq.score(fq.read(os.path.join(self.folder.name, name)), **options)

    def test_lines(self):
        names = ["blurred.pgm", "sharp.pgm", "b\xe4d name.pgm"]
        wanted = "".join(f"{self.score(name):.6g}  {name}\n" for name in names)
        self.assertEqual(self.run_program(*names), (0, wanted, ""))
        status, out, _ = self.run_program("--sort", *names)
        self.assertEqual([line.split("  ", 1)[1] for line in out.splitlines()],
                         sorted(names, key=lambda name: -self.score(name)))

    def test_options(self):
        for arguments, options in ((["--metric", "laplacian"], dict(metric="laplacian")),
                                   (["--across-scenes"], fq.ACROSS_SCENES),
                                   (["--prefilter=binomial5", "--downscale", "2", "--normalize", "mean", "--roi",
                                     "1,2,30,20"], dict(prefilter="binomial5", downscale=2, normalize="mean",
                                                        roi=(1, 2, 30, 20))),
                                   (["--device", "cpu"], {})):
            self.assertEqual(self.run_program(*arguments, "sharp.pgm"),
                             (0, f"{self.score('sharp.pgm', **options):.6g}  sharp.pgm\n", ""))

    def test_json(self):
        status, out, error = self.run_program("--json", "--zones", "3x2", "sharp.pgm", "flat.pgm")
        rows = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((status, error, [row["file"] for row in rows]), (0, "", ["sharp.pgm", "flat.pgm"]))
        self.assertEqual(rows[0]["score"], self.score("sharp.pgm"))
        self.assertEqual([len(row) for row in rows[0]["zones"]], [3, 3])
        self.assertEqual((rows[1]["blur"], rows[1]["mean"], rows[1]["score"]), ("flat", 90, 0))
        self.assertNotIn("NaN", out)

    def test_csv(self):
        status, out, error = self.run_program("--csv", "--zones", "2x1", "sharp.pgm", "flat.pgm")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual((status, error, len(rows)), (0, "", 2))
        self.assertEqual(float(rows[0]["score"]), self.score("sharp.pgm"))
        self.assertEqual(float(rows[0]["zone_0_1"]), self.score("sharp.pgm", roi=(20, 0, 20, 30)))
        self.assertEqual(rows[1]["blur"], "flat")

    def test_zones(self):
        status, out, _ = self.run_program("--zones", "3x2", "sharp.pgm")
        lines = out.splitlines()
        self.assertEqual((status, len(lines), [len(line.split()) for line in lines[1:]]), (0, 3, [3, 3]))

    def test_files_that_cannot_be_read(self):
        status, out, error = self.run_program("damaged.pgm", "sharp.pgm", "absent.png", ".")
        self.assertEqual((status, out), (1, f"{self.score('sharp.pgm'):.6g}  sharp.pgm\n"))
        self.assertIn("framequality: cannot read 'damaged.pgm': the file is cut off\n", error)
        self.assertIn("framequality: cannot read 'absent.png': No such file or directory\n", error)
        self.assertIn("framequality: cannot read '.': Is a directory\n", error)

    def test_options_that_are_refused(self):
        for arguments, part in ((["--metric", "tenengrat", "a"], "did you mean 'tenengrad'?"), (["--metric", "q", "a"],
                                "--list-metrics"), (["--zones", "3", "a"], "COLUMNSxROWS"), (["--zones", "0x3", "a"], "1 to 64"),
                                (["--roi", "1,2,3", "a"], "X,Y,WIDTH,HEIGHT"), (["--json", "--csv", "a"], "not allowed"),
                                ([], "no image files")):
            status, out, error = self.run_program(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(part, error)
        status, _, error = self.run_program("--device", "gpu", "sharp.pgm")
        self.assertEqual(status, 1)
        self.assertIn("unknown device 'gpu'", error)

    def test_help(self):
        status, out, _ = self.run_program("--help")
        self.assertEqual(status, 0)
        self.assertIn("Print the sharpness of image files", out)
        status, out, _ = self.run_program("--list-metrics")
        self.assertEqual([line.split()[0] for line in out.splitlines()], list(fq.METRICS))
        self.assertIn(fq.__version__, self.run_program("--version")[1])

    def test_reader_that_goes_away(self):
        done = subprocess.run(f"{sys.executable} -m framequality " + "sharp.pgm " * 3000 + "| head -n 1", shell=True,
                              cwd=self.folder.name, capture_output=True, timeout=100)
        self.assertEqual((done.stdout.decode(), done.stderr.decode()), (f"{self.score('sharp.pgm'):.6g}  sharp.pgm\n", ""))


if __name__ == "__main__":
    support.main()
