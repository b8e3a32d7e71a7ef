# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random images, layouts and options: the Python package reports exactly what the element sharpnessmeter reports.

usage: element_test.py [CASES] [FIRST_SEED]. Exits 77 (skipped) where GStreamer's bindings or numpy are not installed.
"""
import random
import sys
import warnings

try:
    import gi
    import numpy
    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstVideo
except (ImportError, ValueError) as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import framequality as fq

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 0
# Format of GStreamer -> bytes of a pixel, dtype, view of an array (H, W, bytes) as the package gets it, its options.
FORMATS = {
    "GRAY8": (1, "u1", lambda a: a[..., 0], {}),
    "GRAY16_LE": (1, "<u2", lambda a: a[..., 0], {}),
    "GRAY16_BE": (1, ">u2", lambda a: a[..., 0], {}),
    "RGB": (3, "u1", lambda a: a, {}),
    "BGR": (3, "u1", lambda a: a, {"order": "bgr"}),
    "RGBx": (4, "u1", lambda a: a, {}),
    "BGRA": (4, "u1", lambda a: a, {"order": "bgr"}),
    "xRGB": (4, "u1", lambda a: a[..., 1:], {}),
    "xBGR": (4, "u1", lambda a: a[..., 1:], {"order": "bgr"}),
    "ARGB64_LE": (4, "<u2", lambda a: a[..., 1:], {}),
}
FIELDS = {"noise": "noise", "mean": "mean", "clipped_black": "clipped-black", "clipped_white": "clipped-white", "blur": "blur",
          "anisotropy": "anisotropy", "blur_angle": "blur-angle", "gradient_energy": "gradient-energy"}


class Element:
    """sharpnessmeter, fed with single buffers."""

    def __init__(self):
        self.pipeline = Gst.parse_launch("appsrc name=src format=time ! sharpnessmeter name=meter device=cpu statistics=true ! "
                                         "fakesink sync=false")
        self.source, self.meter = (self.pipeline.get_by_name(n) for n in ("src", "meter"))
        self.bus = self.pipeline.get_bus()
        self.pipeline.set_state(Gst.State.PLAYING)

    def __call__(self, memory, name, width, height, stride, offset, options):
        for key, value in options.items():
            self.meter.set_property(key, value)
        buffer = Gst.Buffer.new_wrapped(bytes(memory))
        GstVideo.buffer_add_video_meta_full(buffer, 0, GstVideo.VideoFormat.from_string(name), width, height, 1,
                                            [offset, 0, 0, 0], [stride, 0, 0, 0])
        caps = Gst.Caps.from_string(f"video/x-raw,format={name},width={width},height={height},framerate=30/1")
        self.source.emit("push-sample", Gst.Sample.new(buffer, caps, None, None))
        message = self.bus.timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.ELEMENT | Gst.MessageType.ERROR)
        assert message and message.type == Gst.MessageType.ELEMENT, message.parse_error() if message else "nothing came"
        return message.get_structure()

    def close(self):
        self.pipeline.set_state(Gst.State.NULL)


def pixels(rng, shape, dtype):
    """Noise, a gradient, or little of both, so that all metrics and kinds of blur come up."""
    largest = numpy.iinfo(dtype).max
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(0, largest, shape, numpy.dtype(dtype).newbyteorder("="), endpoint=True).astype(dtype)
    y, x = numpy.mgrid[:shape[0], :shape[1]]
    wave = numpy.sin(x / rng.uniform(1, 9) + rng.uniform(0, 2) * y) if kind < 3 else (x + y) / (shape[0] + shape[1])
    smooth = (wave[..., None] + 1) / 2 * largest * rng.uniform(0.1, 1)
    return numpy.clip(smooth + rng.normal(0, largest * rng.uniform(0, 0.05), shape), 0, largest).astype(dtype)


def case(seed, element):
    dice, rng = random.Random(seed), numpy.random.default_rng(seed)
    name = dice.choice(sorted(FORMATS))
    samples, dtype, view, reading = FORMATS[name]
    width, height = dice.choice([(dice.randint(1, 40), dice.randint(1, 40)), (dice.randint(40, 300), dice.randint(40, 120))])
    size = numpy.dtype(dtype).itemsize * samples
    stride, offset = size * width + dice.choice([0, 0, 2, 6, 64]), dice.choice([0, 0, 2, 8])
    memory = numpy.zeros(offset + stride * height + 64, "u1")
    image = numpy.ndarray((height, width, samples), dtype, memory.data, offset, (stride, size, size // samples))
    image[...] = pixels(rng, image.shape, dtype)
    options = {"metric": dice.choice(list(fq.METRICS)), "prefilter": dice.choice(["none", "binomial3", "binomial5"]),
               "downscale": dice.choice([0, 1, 1, 2, 4]), "normalize": dice.choice(["none", "mean"]),
               "noise_correction": dice.random() < 0.3, "zones": dice.choice([(1, 1), (1, 1), (3, 2), (8, 8)])}
    if dice.random() < 0.4:
        x, y = dice.randint(0, width), dice.randint(0, height)
        options["roi"] = (x, y, dice.randint(1, width), dice.randint(1, height))
    roi = options.get("roi", (0, 0, 0, 0))
    fields = element(memory, name, width, height, stride, offset, {
        "metric": options["metric"], "prefilter": options["prefilter"], "downscale": options["downscale"],
        "normalize": options["normalize"], "noise-correction": options["noise_correction"],
        "zone-columns": options["zones"][0], "zone-rows": options["zones"][1],
        "roi": Gst.ValueArray(list(roi) if "roi" in options else [])})
    measured = fq.measure(view(image), **options, **reading)
    label = f"seed {seed} {name} {width}x{height} {options}"
    # RGB is full range; gray of GStreamer is, too.
    assert measured.score == fields.get_value("score"), (label, measured.score, fields.get_value("score"))
    for ours, theirs in FIELDS.items():
        wanted = fields.get_value(theirs) if fields.has_field(theirs) else None
        got = getattr(measured, ours)
        if wanted is None:
            assert got is None or got != got, (label, ours, got)
        else:
            assert got == wanted, (label, ours, got, wanted)
    if options["zones"] != (1, 1):
        found = Gst.Structure.get_array(fields, "zones")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # what GStreamer's bindings give
            zones = [found[1].get_nth(i) for i in range(found[1].n_values)]
        assert zones == list(numpy.ravel(measured.zones)), label
    plain = {k: v for k, v in options.items() if k != "zones"}
    if not options["noise_correction"]:
        assert fq.score(view(image), **plain, **reading) == measured.score, label
    contiguous = numpy.ascontiguousarray(view(image))
    assert fq.score(contiguous, **plain, **reading) == measured.score, label
    if contiguous.ndim == 3:
        first = numpy.ascontiguousarray(numpy.moveaxis(contiguous, -1, 0))
        assert fq.score(first[:3], channel_axis=0, **plain, **reading) == measured.score, label
    flipped = contiguous[::-1]
    assert fq.score(flipped[::-1], **plain, **reading) == measured.score, label


def main():
    Gst.init(None)
    if not Gst.ElementFactory.find("sharpnessmeter"):
        print("SKIPPED: no sharpnessmeter in GST_PLUGIN_PATH")
        sys.exit(77)
    element = Element()
    for seed in range(FIRST, FIRST + CASES):
        case(seed, element)
    element.close()
    print(f"{CASES} cases are equal")


main()
