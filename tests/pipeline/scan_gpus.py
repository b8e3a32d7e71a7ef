# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of when framequality-scan loads the plugin of a GPU's decoders, which takes seconds: never for nothing.

usage: scan_gpus.py PROGRAM PLUGIN CUDA; PLUGIN: the library of fake_nvcodec.cpp; CUDA: 1 if the build has it.
"""
import csv
import io
import json
import os
import shutil
import sys

from harness import launch, run, run_tests

TOOL, PLUGIN = map(os.path.abspath, sys.argv[1:3])
CUDA = sys.argv[3] == "1"
FRAME = "video/x-raw,width=160,height=120,framerate=25/1 ! "


class Machine:
    """One whose GStreamer says in its registry that two GPUs decode JPEG, in pictures and in video."""
    def __init__(self, folder):
        self.folder, self.log = folder, folder / "loaded"
        plugins = folder / "plugins"
        plugins.mkdir()
        shutil.copy(PLUGIN, plugins)
        self.environment = {**os.environ, "GST_PLUGIN_PATH": f"{plugins}:{os.environ['GST_PLUGIN_PATH']}",
                            "GST_REGISTRY": str(folder / "registry.bin"), "FAKE_NVCODEC_LOG": str(self.log)}
        self.photo = self.make("photo.jpg", "videotestsrc num-buffers=1 ! " + FRAME + "jpegenc")
        run(TOOL, "-q", self.photo, env=self.environment)  # makes the registry
        assert self.log.read_text()
        self.environment["GST_REGISTRY_UPDATE"] = "no"
        self.nameless = shutil.copy(self.photo, folder / "photo")
        self.png = self.make("photo.png", "videotestsrc num-buffers=1 ! " + FRAME + "pngenc")
        self.video = self.make("clip.mkv", "videotestsrc num-buffers=20 ! " + FRAME + "jpegenc ! matroskamux")

    def make(self, name, line):
        path = self.folder / name
        launch(line + " ! filesink location={path}", path=path)
        return path

    def scan(self, *arguments, check=0):
        """The rows, what was said, and whether the plugin was loaded."""
        self.log.write_text("")
        done = run(TOOL, *arguments, check=check, env=self.environment)
        rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
        return rows, done.stderr.decode(), bool(self.log.read_text())


def test_not_for_pictures(machine):
    for arguments in ([machine.photo], [machine.nameless], [machine.png], [machine.photo, machine.png, machine.nameless],
                      ["--gpus", "1", machine.photo], ["--set", "--best", "1", "--export", machine.folder / "best", machine.photo, machine.png]):
        rows, said, loaded = machine.scan("-q", *arguments)
        assert rows and not said and not loaded, (arguments, said)


def test_not_without_a_gpu_to_measure_on(machine):
    rows, said, loaded = machine.scan("-q", "--device", "cpu", machine.video)
    assert len(rows) == 20 and not said and not loaded, said
    if not CUDA:
        rows, said, loaded = machine.scan("-q", machine.video)
        assert len(rows) == 20 and not said and not loaded, said


def test_not_for_usage(machine):
    for arguments, check in ((["--version"], 0), (["--gpus", "2", machine.video], 2), (["--metric", "x", machine.video], 2)):
        assert not machine.scan(*arguments, check=check)[2], arguments
    assert "no decoder for GPU 2" in machine.scan("--gpus", "2", machine.video, check=2)[1]


def test_for_a_video(machine):
    """That there is no GPU after all is nothing to say unless one was named."""
    expected = machine.scan("-q", "--device", "cpu", machine.video)[0]
    for gpus in ("0", "1", "0,1"):
        rows, said, loaded = machine.scan("-q", "--gpus", gpus, "--device", "cpu", machine.video, machine.photo)
        assert loaded and rows[:20] == expected and len(rows) == 21 and not said, (gpus, said)
    if CUDA:
        rows, said, loaded = machine.scan("-q", machine.video)
        assert loaded and rows == expected and not said, said


def test_the_decoder_is_the_named_gpus(machine):
    for gpu, name in (("0", "nvjpegdec"), ("1", "nvjpegdevice1dec")):
        machine.environment["GST_DEBUG"] = "GST_ELEMENT_FACTORY:4"
        said = machine.scan("-q", "--device", "cpu", "--gpus", gpu, machine.video)[1]
        del machine.environment["GST_DEBUG"]
        made = {other for other in ("nvjpegdec", "nvjpegdevice1dec") if f'creating element "{other}"' in said}
        assert made == {name}, (gpu, made, said[-500:])


def test_the_manifest_says_what_measured(machine):
    manifest = machine.folder / "manifest.json"
    machine.scan("-q", "--manifest", manifest, machine.photo)
    assert json.loads(manifest.read_text())["run"]["device"] == "cpu"


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Machine, needs=("jpegenc", "jpegdec", "pngenc", "matroskamux")))
