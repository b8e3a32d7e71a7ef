# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that errors stay errors in a Python process that loaded C++ modules before or after GStreamer.

GStreamer links to libunwind on Debian, whose functions have the names of libgcc_s's. Where libstdc++ was bound to one and
the plugin's frames to the other, the first exception ended the process, as with scipy imported before gi.
"""
import os
import subprocess
import sys

from harness import LIMIT

LINES = {
    "bliindsmeter model-location={model}": "expected 'linear' or 'quadratic'",
    "videoconvert ! video/x-raw,format=RGB ! halftone palette=custom": "set palette-colors",
    "sharpnessmeter device=opencl opencl-device=nothing": "device=opencl cannot be used",
}
PROGRAM = """
import ctypes, sys
libraries = lambda: ctypes.CDLL("libstdc++.so.6")  # binds all of its functions at once, as C++ modules have it
if sys.argv[1] == "before":
    libraries()
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
if sys.argv[1] == "after":
    libraries()
for line in sys.argv[2:]:
    pipeline = Gst.parse_launch("videotestsrc num-buffers=2 ! " + line + " ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    print(message.parse_error()[0].message if message and message.type == Gst.MessageType.ERROR else "no error")
    pipeline.set_state(Gst.State.NULL)
"""


def main():
    lines = [line.format(model=__file__) for line in LINES]
    for when in ("before", "after", "never"):
        # Without drivers: Mesa's Clover does not survive this.
        done = subprocess.run([sys.executable, "-c", PROGRAM, when, *lines], capture_output=True, text=True, timeout=LIMIT,
                              check=False, env={**os.environ, "OCL_ICD_VENDORS": "/nonexistent"})
        said = done.stdout.splitlines()
        assert done.returncode == 0 and len(said) == len(LINES), (when, done)
        for line, wanted, got in zip(lines, LINES.values(), said):
            assert wanted in got, (when, line, got)
        print("ok, C++ modules", when, flush=True)
    return 0


sys.exit(main())
