#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures in one process and reads the scores with the frames in another: unixfdsink passes on both.

Needs GStreamer 1.24 on both sides. The reader does not need framequality: it registers the metadata's name, and GStreamer
restores the sender's metadata. Times in the metadata are the sender's, times of the buffers the reader's.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("role", nargs="?", choices=["send", "receive"], help="default: both, for two seconds")
parser.add_argument("--socket", help="path of the socket between them")
parser.add_argument("--source", default="videotestsrc pattern=ball is-live=true num-buffers=60 "
                    "! video/x-raw,format=I420,width=320,height=240", help="measure this source (default: %(default)s)")
arguments = parser.parse_args()


def run(launch, on_buffer=None):
    pipeline = Gst.parse_launch(launch)
    if on_buffer:
        pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_buffer)
    pipeline.set_state(Gst.State.PLAYING)
    bus, message = pipeline.get_bus(), None
    while message is None:  # waiting without a limit would block Ctrl-C
        message = bus.timed_pop_filtered(Gst.SECOND // 10, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(f"{message.src.get_name()}: {message.parse_error()[0].message}")


def send():
    run(f"{arguments.source} ! sharpnessmeter post-messages=false ! unixfdsink socket-path={arguments.socket}")


def receive():
    Gst.Meta.register_custom_simple("GstSharpnessMeta")  # before the first frame; otherwise GStreamer drops the meta

    def on_buffer(_, info):
        meta = info.get_buffer().get_custom_meta("GstSharpnessMeta")
        if meta is None:
            print("no score", flush=True)
        else:
            fields = meta.get_structure()
            print(f'frame {fields["frame"]} {fields["stream-time"] / Gst.SECOND:.3f} s {fields["score"]}', flush=True)
        return Gst.PadProbeReturn.OK

    run(f"unixfdsrc socket-path={arguments.socket} ! fakesink name=sink", on_buffer)


Gst.init(None)
if not Gst.ElementFactory.find("unixfdsrc"):
    sys.exit("this GStreamer has no unixfdsrc: it needs 1.24 or newer, with gst-plugins-bad")
if arguments.role and not arguments.socket:
    parser.error("--socket is missing")
if arguments.role == "send":
    send()
elif arguments.role == "receive":
    receive()
else:
    with tempfile.TemporaryDirectory() as folder:
        arguments.socket = os.path.join(folder, "frames")
        sender = subprocess.Popen([sys.executable, __file__, "send", "--socket", arguments.socket,
                                   "--source", arguments.source])
        while not os.path.exists(arguments.socket) and sender.poll() is None:
            time.sleep(0.05)
        receive()
        sender.wait(timeout=10)
