# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every shell command of the documentation runs to its end, so that what users paste works.

usage: launch_lines.py SOURCE_ROOT PROGRAM...

Blocks that cannot run here say so after ```sh: hardware (cameras, screens, GPUs, networks, clusters), files (that are not
here) or setup (installs, builds). All others run, each in a folder with the clips and pictures that they name. Scores that
a document prints below a block must be those that come out, with every version of GStreamer: so a computed source has a
format in its line.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import LIMIT

NOT_RUN = ("hardware", "files", "setup")
BLOCK = re.compile(r"^( *)```(?:sh|bash|console|shell)([^\n`]*)\n(.*?)^\1```(?:\n\n\1```\n(.*?)^\1```)?", re.MULTILINE | re.DOTALL)
SCORE = re.compile(r"score=\(double\)([-+.e0-9]+)")
BALL = "videotestsrc pattern=ball num-buffers={} ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"
# What the documents call files of their readers -> what is there instead.
CLIP = f"{BALL.format(45)} ! x264enc speed-preset=ultrafast ! mp4mux ! filesink location={{}}"
PICTURE = "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=640,height=480 ! {} ! filesink location={}"
STAND_INS = {
    "clip.mp4": CLIP, "walk.mp4": CLIP, "meadow.mp4": CLIP,
    "photo.jpg": PICTURE.format("jpegenc", "{}"), "pcb_000.JPG": PICTURE.format("jpegenc", "{}"),
}


def blocks(document):
    """(mark, command, scores printed below) of each shell block, continuation lines joined."""
    for indent, mark, block, output in BLOCK.findall(document.read_text(encoding="utf-8")):
        yield (mark.strip(), re.sub(rf"^{indent}(\$ )?", "", block.replace("\\\n", " "), flags=re.MULTILINE).strip(),
               [float(number) for number in SCORE.findall(output)])


def gives(printed, output):
    """True if the scores are among those in the output, in their order."""
    found = iter(float(number) for number in SCORE.findall(output))
    return all(any(abs(number - score) <= 1e-12 * abs(score) for number in found) for score in printed)


def faults(command, printed, run):
    """What is wrong with how a block went."""
    if run.returncode != 0:
        yield f"exit status {run.returncode}"
    for line in command.splitlines():
        if re.match(r"gst-launch-1.0 .*-m ", line) and not re.search(rf"\b{ours()}, ", run.stdout):
            yield "no message was printed"
        if "videotestsrc" in line and not re.search(r"video/x-(raw|bayer),format=\w+", line):
            yield "a computed source without a format"
    if not gives(printed, run.stdout):
        yield f"other scores than the document's {printed}"


@functools.cache
def ours():
    """The plugin's elements, as a pattern."""
    names = re.findall(r"^  (\w+): ", inspected("framequality") or "", re.MULTILINE)
    assert names, "gst-inspect-1.0 framequality lists no element"
    return f"(?:{'|'.join(names)})"


@functools.cache
def inspected(element):
    """What gst-inspect-1.0 prints of it, or of a plugin; None if it is not there."""
    run = subprocess.run(["gst-inspect-1.0", element], check=False, timeout=LIMIT, capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


def unknown_properties(command):
    """Properties of our elements that the command sets and the elements have not, in commands that cannot run too."""
    for element, settings in re.findall(rf"\b({ours()})((?:\s+[a-z-]+=(?:\"[^\"]*\"|\S+))+)", command):
        about = inspected(element)
        for name in re.findall(r"([a-z-]+)=", settings):
            if not re.search(rf"^  {name} +:", about, re.MULTILINE):
                yield f"{element} has no property {name}"


def missing(command):
    """An element that this machine lacks: that of a build without Pango, or an encoder of another package."""
    needed = re.findall(r"\b(sharpnessoverlay|x264enc|jpegenc|avimux|mp4mux|pngenc|jpegdec|matroskamux)\b", command)
    for ending, elements in ((".mp4", ("x264enc", "avdec_h264")), (".jpg", ("jpegenc", "jpegdec"))):
        needed += elements if ending in command.lower() else ()
    return [element for element in dict.fromkeys(needed) if not inspected(element)]


def bash(command, folder):
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True, text=True,
                          timeout=LIMIT, check=False, env=os.environ)


def prepare(folder, programs, root):
    """The programs in PATH, the examples where documents name them, and files to stand in for the reader's."""
    (folder / "bin").mkdir()
    for program in programs:
        (folder / "bin" / pathlib.Path(program).name).symlink_to(pathlib.Path(program).resolve())
    os.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    work = folder / "work"
    work.mkdir()
    (work / "examples").symlink_to(root / "examples")
    for name, line in STAND_INS.items():
        if not missing(line):
            made = bash(f"gst-launch-1.0 -q {line.format(name)}", work)
            assert made.returncode == 0, made.stderr
    return work


def main():
    root, *programs = pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]
    documents = [*sorted(root.glob("*.md")), *sorted(root.glob("examples/**/*.md")), *sorted(root.glob("docs/**/*.md"))]
    failed, counts = 0, {"run": 0, "skipped": 0, **{mark: 0 for mark in NOT_RUN}}
    with tempfile.TemporaryDirectory() as name:
        work = prepare(pathlib.Path(name), programs, root)
        for document in documents:
            for mark, command, printed in blocks(document):
                where = f"{document.relative_to(root)}: {' '.join(command.splitlines()[0].split())}"
                wrong = list(unknown_properties(command))
                if mark and mark not in NOT_RUN:
                    wrong.append(f"```sh {mark} is none of: {', '.join(NOT_RUN)}")
                if mark or wrong:
                    counts[mark if mark in counts else "skipped"] += 1
                    failed += bool(wrong)
                    if wrong:
                        print("FAIL", where, *wrong, sep="\n")
                    continue
                if lacks := missing(command):
                    counts["skipped"] += 1
                    print(f"skip {where}: {', '.join(lacks)} not installed")
                    continue
                counts["run"] += 1
                run = bash(command, work)
                wrong = list(faults(command, printed, run))
                failed += bool(wrong)
                print("FAIL" if wrong else "ok", where)
                if wrong:
                    print(*wrong, run.stdout[-2000:], run.stderr[-2000:], sep="\n")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return failed > 0 or counts["run"] == 0


sys.exit(main())
