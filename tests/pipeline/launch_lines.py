# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every gst-launch-1.0 line of the documentation runs to its end, so that what users paste works.

Lines that need a camera, a screen, a GPU or a file of the user's are left out. Scores that the document prints below a
line must be those that come out, with every version of GStreamer: so a computed source has a format in its line.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_HERE = re.compile(r"v4l2src|libcamerasrc|autovideosink|filesrc|uridecodebin|playbin|rtspsrc|<[a-z]|\.\.\.|cuda|nvh26|device=/")

MESSAGE = re.compile(r"(sharpness\w+|bliindsmeter|focuscontroller), ")


def lines(document):
    """The commands of its shell blocks, continuation lines joined, and the scores printed below the block."""
    blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```(?:\n\n```\n(.*?)^```)?", document.read_text(encoding="utf-8"),
                        re.MULTILINE | re.DOTALL)
    for block, output in blocks:
        printed = [float(number) for number in re.findall(r"score=\(double\)([\d.]+)", output)]
        for command in block.replace("\\\n", " ").splitlines():
            command = command.removeprefix("$ ").strip()
            if command.startswith("gst-launch-1.0") and not NOT_HERE.search(command):
                yield re.sub(r"\s+", " ", command), printed


def says_its_format(command):
    return "videotestsrc" not in command or re.search(r"video/x-raw,format=\w+", command)


def gives(printed, output):
    """True if the scores are among those in the output, in their order."""
    found = iter(float(number) for number in re.findall(r"score=\(double\)([\d.]+)", output))
    return all(any(abs(number - score) <= 1e-12 * score for number in found) for score in printed)


def is_built(command):
    """False for the element that a build without Pango leaves out."""
    return "sharpnessoverlay" not in command or subprocess.run(
        ["gst-inspect-1.0", "sharpnessoverlay"], check=False, timeout=60, stdout=subprocess.DEVNULL).returncode == 0


def main():
    root = pathlib.Path(sys.argv[1])
    documents = [root / "README.md", *root.glob("examples/*.md"), *root.glob("docs/*.md")]
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for document in documents:
            for command, printed in lines(document) if document.exists() else []:
                if not is_built(command):
                    print("skip", command)
                    continue
                count += 1
                run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True,
                                     text=True, timeout=60, check=False, env=os.environ)
                bad = (run.returncode != 0 or ("-m" in command.split() and not MESSAGE.search(run.stdout))
                       or not says_its_format(command) or not gives(printed, run.stdout))
                failed += bad
                print("FAIL" if bad else "ok", command)
                if bad:
                    print(run.stdout[-2000:], run.stderr[-2000:])
    print(f"{count} lines")
    return failed > 0 or count == 0


sys.exit(main())
