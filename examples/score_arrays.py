#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores of numpy arrays: an appsrc takes the pictures, the metadata of what arrives at an appsink holds the scores.

    with Scorer(prefilter="binomial3") as scorer:
        score = scorer(picture)
"""
import sys
import time

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # GstApp gives appsrc and appsink their methods

# Shape and type of an array -> format. Colours are R, G, B; OpenCV's are "BGR": say Scorer(format="BGR").
FORMATS = {(2, "uint8"): "GRAY8", (2, "uint16"): "GRAY16_LE" if sys.byteorder == "little" else "GRAY16_BE",
           (3, "uint8"): "RGB"}


class Scorer:
    """Scores pictures one by one, each before the next. Pictures may change in size and kind. Not for several threads at
    once: make one for each.

    properties: of sharpnessmeter, with _ for -, for example Scorer(metric="brenner", device="cpu"); of pictures of 12 bits
    in uint16 Scorer(significant_bits=12).
    """

    def __init__(self, format=None, **properties):
        Gst.init(None)
        words = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in properties.items())
        self.pipeline = Gst.parse_launch(
            "appsrc name=source format=time block=true max-buffers=1 ! "
            f"sharpnessmeter name=meter post-messages=false {words} ! appsink name=sink sync=false max-buffers=1")
        self.source, self.sink = (self.pipeline.get_by_name(name) for name in ("source", "sink"))
        self.format, self.caps, self.count = format, None, 0
        self.pipeline.set_state(Gst.State.PLAYING)

    def __call__(self, picture):
        """The score of an array of shape (height, width) or (height, width, 3), uint8 or (grey only) uint16."""
        return self.fields(picture)["score"]

    def fields(self, picture):
        """All fields of GstSharpnessMeta, for example `zones`."""
        picture = numpy.asarray(picture)
        picture = numpy.ascontiguousarray(picture, picture.dtype.newbyteorder("="))  # files bring other byte orders
        kind = (picture.ndim, picture.dtype.name)
        if kind not in FORMATS or (picture.ndim == 3 and picture.shape[2] != 3) or picture.size == 0:
            raise ValueError(f"no picture: shape {picture.shape}, {picture.dtype}")
        name = self.format if self.format and picture.ndim == 3 else FORMATS[kind]
        height, width = picture.shape[:2]
        caps = f"video/x-raw,format={name},width={width},height={height},framerate=0/1"
        if caps != self.caps:
            self.source.set_property("caps", Gst.Caps.from_string(caps))
            self.caps = caps
        # One copy, of rows without gaps; the metadata says so, where GStreamer would expect rows of multiples of 4 bytes.
        buffer = Gst.Buffer.new_wrapped(picture.tobytes())
        stride = width * picture.itemsize * (3 if picture.ndim == 3 else 1)
        GstVideo.buffer_add_video_meta_full(buffer, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.from_string(name),
                                            width, height, 1, [0, 0, 0, 0], [stride, 0, 0, 0])
        buffer.pts = self.count * Gst.MSECOND
        self.count += 1
        if self.source.push_buffer(buffer) != Gst.FlowReturn.OK:
            raise RuntimeError(self.reason())
        sample = self.sink.try_pull_sample(10 * Gst.SECOND)
        if sample is None:
            raise RuntimeError(self.reason())
        meta = sample.get_buffer().get_custom_meta("GstSharpnessMeta")
        if meta is None:
            raise RuntimeError("the picture was not scored: neither interval nor attach-meta can be used here")
        return meta.get_structure()

    def reason(self):
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        return message.parse_error()[0].message if message else "the pipeline gave no frame"

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    rows, columns = numpy.mgrid[0:480, 0:640]
    with Scorer() as scorer:
        for period in (4, 8, 16, 32):
            waves = 127.5 + 100 * numpy.sin(2 * numpy.pi * (columns + 0.3 * rows) / period)
            print(f"waves of {period:2} pixels: {scorer(waves.astype(numpy.uint8)):9.2f}")
        picture, times = waves.astype(numpy.uint8), []
        for _ in range(300):
            begin = time.perf_counter()
            scorer(picture)
            times.append(time.perf_counter() - begin)
        device = scorer.pipeline.get_by_name("meter").get_property("active-device")
        print(f"a picture of 640x480 takes {1e3 * sorted(times)[150]:.2f} ms on {device} (median of 300)")


if __name__ == "__main__":
    main()
