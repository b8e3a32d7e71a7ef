# SPDX-License-Identifier: LGPL-2.1-or-later
"""GenICam cameras through Aravis: pixel formats of industrial cameras, autofocus with a camera's features, triggers.

usage: aravis.py EXAMPLES; exit status 77: this machine lacks what the tests need. The cameras are Aravis' own fakes:
one in this process, and one at 127.0.0.1 (gige_camera.py) that is spoken to as any on a network.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

import gi

from harness import LIMIT, run, run_tests

try:
    import numpy
    gi.require_version("Aravis", "0.8")
    from gi.repository import Aravis
except (ImportError, ValueError) as error:
    print(f"SKIPPED: {error} (gir1.2-aravis-0.8, python3-numpy)")
    sys.exit(77)
gi.require_version("Gst", "1.0")
from gi.repository import Gst

import gige_camera

examples = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).parent
ADDRESS = "127.0.0.1"
SIZE = "width=320,height=240"


def messages(pipeline):
    """The structures of our elements' messages until the stream's end."""
    pipeline.set_state(Gst.State.PLAYING)
    bus, until = pipeline.get_bus(), time.monotonic() + LIMIT
    try:
        while True:
            message = bus.timed_pop_filtered(
                Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS | Gst.MessageType.ELEMENT)
            assert time.monotonic() < until, "no end in sight"
            if message is None:
                continue
            assert message.type != Gst.MessageType.ERROR, message.parse_error()
            if message.type == Gst.MessageType.EOS:
                return
            yield message.get_structure()
    finally:
        pipeline.set_state(Gst.State.NULL)


def scores(caps, meter="", features=""):
    """Of three frames."""
    pipeline = Gst.parse_launch(f"aravissrc camera-name={ADDRESS} num-buffers=3 features=\"{features}\" ! "
                                f"{caps},{SIZE} ! sharpnessmeter {meter} ! fakesink")
    found = [fields["score"] for fields in messages(pipeline) if fields.get_name() == "sharpnessmeter"]
    assert len(found) == 3, found
    return found


def same(found, expected, tolerance):
    return all(abs(score / expected - 1) < tolerance for score in found)


def focused(pipeline):
    """The message that ends the search."""
    return next(fields for fields in messages(pipeline) if fields.get_name() == "focuscontroller"
                and fields["event"] == "state" and fields["state"] in ("focused", "failed"))


def takes(element, what):
    """True if the element's sink caps, or else its properties, have it."""
    made = Gst.ElementFactory.make(element)
    return what in made.get_static_pad("sink").get_pad_template_caps().to_string() or bool(made.find_property(what))


def test_samples_of_all_formats(_):
    # The same scene, so that the scores are those of Mono8 but for what it rounds away.
    expected = (gige_camera.seen(gige_camera.BEST)[:240, :320] / 256).var()
    for caps, pixels in (("GRAY8", "Mono8"), ("GRAY16_LE", "Mono16"), ("RGB", "RGB8")):
        found = scores(f"video/x-raw,format={caps}", "metric=variance", f"FocusPos=62 PixelFormat={pixels}")
        assert same(found, expected, 2e-3), (pixels, found, expected)
    if not takes("sharpnessmeter", "significant-bits"):
        print("SKIPPED Mono10, Mono12: sharpnessmeter has no property significant-bits")
        return
    for bits in (10, 12):
        found = scores("video/x-raw,format=GRAY16_LE", f"metric=variance significant-bits={bits}",
                       f"FocusPos=62 PixelFormat=Mono{bits}")
        assert same(found, expected, 2e-3), (bits, found, expected)


def test_mosaic(_):
    if not takes("sharpnessmeter", "video/x-bayer"):
        print("SKIPPED Bayer: sharpnessmeter does not take video/x-bayer")
        return
    for order in ("bggr", "gbrg", "grbg", "rggb"):
        near, best, far = (numpy.mean(scores(f"video/x-bayer,format={order}", features=f"FocusPos={position}"))
                           for position in (50, 62, 74))
        assert best > 2 * max(near, far) and same([near], far, 0.01), (order, near, best, far)


def test_lens_of_a_camera_that_runs_freely(_):
    pipeline = Gst.parse_launch(
        f"aravissrc name=camera camera-name={ADDRESS} num-buffers=400 do-timestamp=true ! "
        f"video/x-raw,format=GRAY8,{SIZE},framerate=50/1 ! sharpnessmeter normalize=mean prefilter=binomial5 ! "
        "focuscontroller name=focus min=0 max=100 step=1 mode=one-shot stop-and-go=true ! fakesink sync=false")
    source = pipeline.get_by_name("camera")
    pipeline.get_by_name("focus").connect("move", lambda _, position: source.get_property("camera").get_device()
                                          .set_integer_feature_value("FocusPos", round(position)))
    fields = focused(pipeline)
    assert fields["state"] == "focused" and abs(fields["position"] - gige_camera.BEST) <= 1, fields.to_string()


def test_software_trigger(_):
    # Twice: the first one has to leave the camera to the next.
    for _ in range(2):
        out = run(sys.executable, examples / "software_trigger.py", "--camera", ADDRESS, "--settle", "0.01", "--caps",
                  f"video/x-raw,format=GRAY8,{SIZE}").stdout.decode()
        position, moves, frames = (float(number) for number in re.search(
            r"^focused at (\S+) after (\d+) moves, (\d+) frames$", out, re.MULTILINE).groups())
        # Every frame counts, so that there is hardly one more than moves.
        assert abs(position - gige_camera.BEST) <= 1 and moves <= frames <= 40, out
    refused = run(sys.executable, examples / "software_trigger.py", "--camera", ADDRESS, "--lens", "Nonsense", check=1)
    assert b"no feature Nonsense" in refused.stderr and b"CRITICAL" not in refused.stderr, refused.stderr


def test_property_of_the_source_as_actuator(_):
    # Aravis' own picture is a ramp of 0 to 254 times 1 + log10(exposure / 10 ms), cut off at 255. No lens changes it,
    # but its variance has a top, at 1.5 times the ramp: 31.6 ms. focuscontroller climbs whatever has one.
    # At 25 frames/s a busy machine still takes each frame before the next: one that waited shows an older exposure.
    pipeline = Gst.parse_launch(
        f"aravissrc name=camera camera-name=Fake_1 num-buffers=400 do-timestamp=true ! "
        f"video/x-raw,format=GRAY8,{SIZE},framerate=25/1 ! sharpnessmeter metric=variance ! "
        "focuscontroller actuator=camera.exposure min=2000 max=200000 mode=one-shot ! fakesink sync=false")
    fields = focused(pipeline)
    assert fields["state"] == "focused" and 20000 < fields["position"] < 50000, fields.to_string()


def camera_at_loopback(folder):
    """Runs until its standard input is closed: it cannot outlive us."""
    serial = f"FQ{os.getpid()}"
    camera = subprocess.Popen([sys.executable, HERE / "gige_camera.py", folder / "camera.xml", serial],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if camera.stdout.readline() != "ready\n":
        print(f"SKIPPED: no camera at {ADDRESS}")
        sys.exit(77)
    # Its port is fixed: who answers may be one of another run.
    device = Aravis.Camera.new(ADDRESS)
    if device.get_device_serial_number() != serial:
        print(f"SKIPPED: another camera is at {ADDRESS}")
        sys.exit(77)
    return camera


Gst.init(None)
if not Gst.ElementFactory.find("aravissrc"):
    print("SKIPPED: aravissrc not installed (libaravis-0.8-0)")
    sys.exit(77)
Aravis.enable_interface("Fake")
sys.exit(run_tests(globals(), camera_at_loopback))
