# SPDX-License-Identifier: LGPL-2.1-or-later
"""A GigE Vision camera with a lens, at 127.0.0.1: Aravis' fake camera (which arv-fake-gv-camera-0.8 runs too) with a
feature `FocusPos` (0 to 100, sharp at BEST) that changes its picture, and Mono10 and Mono12 besides its own formats.

usage: gige_camera.py XML SERIAL; writes its features to XML, prints `ready`, and ends when its standard input does.
"""
import ctypes
import functools
import sys

import gi
import numpy

gi.require_version("Aravis", "0.8")
from gi.repository import Aravis

BEST = 62
SIDE = 512  # what the fake camera has unless it is told otherwise
WIDTH, HEIGHT, FOCUS = 0x100, 0x104, 0x400  # registers; the last is one that the fake camera leaves free
# The number in the GenICam standard -> bits of a sample, samples of a pixel.
FORMATS = {0x01080001: (8, 1), 0x01100003: (10, 1), 0x01100005: (12, 1), 0x01100007: (16, 1), 0x02180014: (8, 3),
           0x01080008: (8, 1), 0x01080009: (8, 1), 0x0108000A: (8, 1), 0x0108000B: (8, 1)}

MONO = "".join(f'<EnumEntry Name="Mono{bits}" NameSpace="Standard"><Value>{number}</Value></EnumEntry>'
               for bits, number in ((10, 0x01100003), (12, 0x01100005)))
LENS = f"""<Integer Name="FocusPos" NameSpace="Custom"><pValue>FocusPosRegister</pValue><Min>0</Min><Max>100</Max>
</Integer>
<IntReg Name="FocusPosRegister" NameSpace="Custom"><Address>{FOCUS:#x}</Address><Length>4</Length>
<AccessMode>RW</AccessMode><pPort>Device</pPort><Sign>Unsigned</Sign><Endianess>BigEndian</Endianess></IntReg>"""


def with_lens(features):
    """The fake camera's description and what this one adds."""
    for place, addition in (('<EnumEntry Name="Mono16"', MONO), ('<IntReg Name="GainRawRegister"', LENS),
                            ("<pFeature>GainRaw</pFeature>", "<pFeature>FocusPos</pFeature>")):
        assert features.count(place) == 1, f"another fake camera than expected: {place}"
        features = features.replace(place, addition + place)
    return features


def box(picture, radius):
    """Mean over (2 radius + 1)^2; the picture goes on around its edges."""
    for axis in (0, 1):
        picture = sum(numpy.roll(picture, step, axis) for step in range(-radius, radius + 1)) / (2 * radius + 1)
    return picture


SCENE = box(numpy.random.default_rng(1).integers(0, 65536, (SIDE, SIDE)).astype(numpy.float64), 1)
# Made beforehand, so that frames come at their rate.
BLURRED = [box(SCENE, radius) for radius in range(max(BEST, 100 - BEST) // 8 + 2)]


@functools.cache
def seen(position):
    """The scene through the lens, as 16 bits."""
    radius, part = divmod(abs(position - BEST), 8)
    near, far = BLURRED[radius:radius + 2]
    return (near + part / 8 * (far - near)).astype(numpy.uint16)


def picture(position, width, height, number):
    """The bytes of a frame; a gray scene looks the same through the colours of a mosaic."""
    bits, samples = FORMATS[number]
    cut = seen(position)[:height, :width] >> (16 - bits)
    return numpy.repeat(cut, samples, axis=1).astype("<u2" if bits > 8 else "u1").tobytes()


def main(xml, serial):
    with open(xml, "w", encoding="utf-8") as file:
        file.write(with_lens(Aravis.FakeCamera.new(serial).get_genicam_xml()[0]))
    camera = Aravis.GvFakeCamera.new_full("127.0.0.1", serial, xml)
    sensor = camera.get_fake_camera()
    # Through C, for the bindings free a callback as soon as it is set, and only copy a buffer's bytes.
    library = ctypes.CDLL("libaravis-0.8.so.0")
    library.arv_buffer_get_data.restype = ctypes.c_void_p
    library.arv_buffer_get_data.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
    library.arv_fake_camera_set_fill_pattern.argtypes = [ctypes.c_void_p] * 3

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32)
    def fill(buffer, _, exposure, gain, number):
        position, width, height = (sensor.read_register(address)[1] for address in (FOCUS, WIDTH, HEIGHT))
        pixels = picture(position, width, height, number)
        ctypes.memmove(library.arv_buffer_get_data(buffer, None), pixels, len(pixels))

    library.arv_fake_camera_set_fill_pattern(hash(sensor), ctypes.cast(fill, ctypes.c_void_p), None)
    if not camera.is_running():
        sys.exit("the camera cannot be at 127.0.0.1: is another one there?")
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
