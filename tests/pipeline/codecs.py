# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scoring before an encoder and after its decoder: each pipeline ends, every frame is scored on both sides, the numbers
are the same where the codec loses nothing, and the encoder does not mind the meter."""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from harness import LIMIT

FRAMES = 20
# name, caps fed to the encoder, encoder to decoder, whether each pixel comes back
CODECS = [
    ("png", "RGB", "pngenc ! pngdec", True),
    ("ffv1", "I420", "avenc_ffv1 ! avdec_ffv1", True),
    ("raw in Matroska", "I420", "matroskamux ! matroskademux", True),
    ("jpeg", "I420", "jpegenc quality=95 ! jpegdec", False),
    ("mpeg4", "I420", "avenc_mpeg4 bitrate=2000000 ! avdec_mpeg4", False),
    ("vp8", "I420", "vp8enc deadline=1 target-bitrate=2000000 ! vp8dec", False),
    ("theora", "I420", "theoraenc quality=60 ! theoradec", False),
    ("h264", "I420", "x264enc speed-preset=ultrafast tune=zerolatency quantizer=12 pass=quant ! h264parse ! avdec_h264", False),
    ("h264 in MP4 fragments", "I420", "x264enc speed-preset=ultrafast ! h264parse ! mp4mux fragment-duration=200"
     " ! qtdemux ! h264parse ! avdec_h264", False),
]


def scores(caps_format, codec):
    """The scores on both sides of the codec; None when one of its elements is not installed."""
    for element in codec.replace("!", " ! ").split(" ! "):
        if Gst.ElementFactory.find(element.split()[0]) is None:
            return None
    pipeline = Gst.parse_launch(
        f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format={caps_format},width=320,height=240,framerate=25/1"
        f" ! sharpnessmeter name=before ! {codec} ! sharpnessmeter name=after ! fakesink sync=false")
    found = {"before": [], "after": []}
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            message = bus.timed_pop_filtered(LIMIT * Gst.SECOND, Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR)
            assert message is not None, "no end of stream within 30 s of silence"
            if message.type == Gst.MessageType.ERROR:
                raise AssertionError(message.parse_error())
            if message.type == Gst.MessageType.EOS:
                return found["before"], found["after"]
            fields = message.get_structure()
            if fields.get_name() == "sharpnessmeter":
                found[message.src.get_name()].append(fields["score"])
    finally:
        pipeline.set_state(Gst.State.NULL)


def main():
    Gst.init(None)
    ran = failed = 0
    for name, caps_format, codec, lossless in CODECS:
        try:
            both = scores(caps_format, codec)
            if both is None:
                print(f"skip {name}: not installed")
                continue
            ran += 1
            before, after = both
            assert len(before) == FRAMES and len(after) == FRAMES, (len(before), len(after))
            if lossless:
                assert before == after, (before, after)
            else:
                # A codec that keeps the picture keeps its sharpness; 25% tells that from the wrong plane or depth.
                ratios = [b / a for a, b in zip(before, after)]
                assert all(0.75 < ratio < 1.25 for ratio in ratios), ratios
            print(f"ok   {name}")
        except AssertionError as error:
            failed += 1
            print(f"FAIL {name}: {error}")
    if ran == 0:
        return 77
    return failed > 0


sys.exit(main())
