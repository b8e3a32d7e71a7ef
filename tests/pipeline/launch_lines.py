# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every gst-launch-1.0 line of the documentation runs to its end, so that what users paste works.

Lines that need a camera, a screen, a GPU or a file of the user's are left out.
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
    """The commands of its shell blocks, continuation lines joined."""
    blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for command in "".join(blocks).replace("\\\n", " ").splitlines():
        command = command.removeprefix("$ ").strip()
        if command.startswith("gst-launch-1.0") and not NOT_HERE.search(command):
            yield re.sub(r"\s+", " ", command)


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
            for command in lines(document) if document.exists() else []:
                if not is_built(command):
                    print("skip", command)
                    continue
                count += 1
                run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True,
                                     text=True, timeout=60, check=False, env=os.environ)
                bad = run.returncode != 0 or ("-m" in command.split() and not MESSAGE.search(run.stdout))
                failed += bad
                print("FAIL" if bad else "ok", command)
                if bad:
                    print(run.stdout[-2000:], run.stderr[-2000:])
    print(f"{count} lines")
    return failed > 0 or count == 0


sys.exit(main())
