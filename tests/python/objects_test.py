#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Objects that hold arrays by other protocols: DLPack, array interfaces, Pillow; and what happens without numpy.

DLPack capsules are made with ctypes, so that those of GPU memory are tested without one, up to the error that there is
no such device.
"""
import ctypes
import subprocess
import sys
import unittest

import support

np = support.need("numpy", "python3-numpy")
import framequality as fq

dice = np.random.default_rng(11)
GRAY = dice.integers(0, 256, (40, 60), np.uint8)
COLOUR = dice.integers(0, 256, (40, 60, 3), np.uint8)
CPU, CUDA, CUDA_HOST, ROCM, CUDA_MANAGED = 1, 2, 3, 10, 13
HAS_GPU = any(d.usable and d.name.startswith("cuda") for d in fq.devices())


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("id", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Dtype),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", DELETER), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Tensor:
    """An array that offers DLPack alone."""

    def __init__(self, values, kind=CPU, id=0, version=None, contiguous=False, offset=0, dtype=None):
        self.values, self.kind, self.id, self.version = values, kind, id, version
        self.contiguous, self.offset, self.dtype = contiguous, offset, dtype
        self.deleted, self.streams, self.capsules = 0, [], []

    def __dlpack_device__(self):
        return self.kind, self.id

    def delete(self, _):
        self.deleted += 1

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        v = self.values
        sizes = (ctypes.c_int64 * max(v.ndim, 1))(*v.shape)
        steps = (ctypes.c_int64 * max(v.ndim, 1))(*(s // v.itemsize for s in v.strides))
        tensor = DLTensor(v.ctypes.data - self.offset, Device(self.kind, self.id), v.ndim,
                          self.dtype or Dtype(CODES.get(v.dtype.kind, 3), v.itemsize * 8, 1), sizes,
                          None if self.contiguous else steps, self.offset)
        deleter = DELETER(self.delete)
        if self.version:
            managed = Versioned(*self.version, None, deleter, 0, tensor)
        else:
            managed = Managed(tensor, None, deleter)
        name = b"dltensor_versioned" if self.version else b"dltensor"
        self.capsules.append((managed, sizes, steps, deleter, name))
        return new_capsule(ctypes.addressof(managed), name, None)


class Dlpack(unittest.TestCase, support.Failing):
    def test_host_memory(self):
        for values in (GRAY, COLOUR, GRAY[::-1, ::-1], COLOUR[..., 1], GRAY.astype(np.uint16) << 8, GRAY / 255,
                       (GRAY / 255).astype(np.float16), (GRAY / 255).astype(np.float32)):
            for kind in (CPU, CUDA_HOST):
                for version in (None, (1, 0), (1, 7)):
                    tensor = Tensor(values, kind, version=version)
                    self.assertEqual(fq.score(tensor), fq.score(values))
                    self.assertEqual(tensor.deleted, 1)
                    self.assertEqual(tensor.streams, [None])

    def test_without_strides_and_with_an_offset(self):
        self.assertEqual(fq.score(Tensor(COLOUR, contiguous=True)), fq.score(COLOUR))
        self.assertEqual(fq.score(Tensor(COLOUR, offset=64)), fq.score(COLOUR))

    def test_batches(self):
        tensors = [Tensor(GRAY), Tensor(GRAY[:, ::-1])]
        self.assertEqual(list(fq.scores(tensors)), [fq.score(GRAY), fq.score(GRAY[:, ::-1])])
        self.assertEqual([t.deleted for t in tensors], [1, 1])

    def test_types_that_are_refused(self):
        cases = [(GRAY.astype(np.int8), None, "int8"), (GRAY > 0, None, "bool"), (GRAY.astype(np.int64), None, "int64"),
                 (GRAY.astype(np.uint16), Dtype(4, 16, 1), "bfloat16"), (GRAY, Dtype(1, 8, 4), "object"),
                 (GRAY, Dtype(77, 8, 1), "object"), (GRAY.astype(np.complex64), None, "complex64")]
        for values, dtype, name in cases:
            for kind in (CPU, CUDA):
                tensor = Tensor(values, kind, dtype=dtype)
                self.fails(TypeError, name, fq.score, tensor)
                self.assertEqual(tensor.deleted, 1)

    def test_gpu_memory(self):
        for kind in (CUDA, CUDA_MANAGED):
            floats = Tensor((GRAY / 255).astype(np.float32), kind)
            self.fails(TypeError, ["float32", "(t * 255).round().to(torch.uint8)"], fq.score, floats)
            self.assertEqual((floats.deleted, floats.streams), (1, [1]))  # the legacy default stream
            reversed_columns = Tensor(GRAY[:, ::-1], kind)
            self.fails(ValueError, "contiguous()", fq.score, reversed_columns)
            self.assertEqual(reversed_columns.deleted, 1)
            other = Tensor(GRAY, kind, id=63)
            for device in ("cpu", "cuda:1"):
                self.fails(ValueError, ["cuda:63", f"device='{device}'"], fq.score, other, device=device)
            for function in (fq.denoise, fq.halftone):
                self.fails(ValueError, ["host memory", ".cpu()"], function, other)
            for function in (fq.score, fq.measure, fq.quality):
                with self.assertRaises(fq.Error):  # no machine has so many
                    function(other)
            with self.assertRaisesRegex(fq.Error, "image 2: "):
                fq.scores([GRAY, GRAY, other], device=None if HAS_GPU else "auto")
            self.assertEqual(other.deleted, 2 + 2 + 3 + 1)

    def test_devices_and_versions_that_are_refused(self):
        self.fails(ValueError, "device type 10", fq.score, Tensor(GRAY, ROCM))
        tensor = Tensor(GRAY, version=(2, 0))
        self.fails(BufferError, "version is 2", fq.score, tensor)
        tensor = Tensor(np.zeros((1,) * 9, np.uint8))
        self.fails(ValueError, "9", fq.score, tensor)
        self.assertEqual(tensor.deleted, 1)

    def test_damaged_producers(self):
        class Raising(Tensor):
            def __dlpack__(self, stream=None):
                raise BufferError("needs grad")

        class Used(Tensor):
            def __dlpack__(self, stream=None):
                return 5

        class Nowhere(Tensor):
            def __dlpack_device__(self):
                return "cpu"
        self.fails(BufferError, "needs grad", fq.score, Raising(GRAY))
        self.fails(BufferError, "capsule", fq.score, Used(GRAY))
        self.fails(ValueError, "tuples", fq.score, Nowhere(GRAY))

    def test_masks(self):
        mask = GRAY > 100
        self.assertEqual(fq.score(GRAY, mask=Tensor(mask)), fq.score(GRAY, mask=mask))
        self.fails(ValueError, ["mask", "GPU memory"], fq.score, GRAY, mask=Tensor(mask, CUDA))


class Interface:
    """An object with __array_interface__, or __cuda_array_interface__, alone."""

    def __init__(self, values, name="__array_interface__", **changes):
        interface = dict(values.__array_interface__, **changes)
        setattr(self, name, {k: v for k, v in interface.items() if not (isinstance(v, str) and v == "absent")})
        self.values = values


class Interfaces(unittest.TestCase, support.Failing):
    def test_array_interface(self):
        for values in (GRAY, COLOUR, GRAY[::-1], GRAY.astype(">u2"), GRAY / 255):
            self.assertEqual(fq.score(Interface(values)), fq.score(values))
        self.assertEqual(fq.score(Interface(GRAY, data=GRAY.tobytes())), fq.score(GRAY))
        self.fails(TypeError, "int32", fq.score, Interface(GRAY.astype(np.int32)))
        self.fails(ValueError, "less data", fq.score, Interface(GRAY, data=b"abc"))
        self.fails(ValueError, "shape", fq.score, Interface(GRAY, shape="absent"))
        self.fails(ValueError, "tuples", fq.score, Interface(GRAY, shape=[40, 60]))
        self.fails(ValueError, "strides", fq.score, Interface(GRAY, strides=(1,)))
        self.fails(ValueError, "data", fq.score, Interface(GRAY, data="absent"))
        self.fails(ValueError, "mask", fq.score, Interface(GRAY, mask=GRAY))
        self.fails(TypeError, "object", fq.score, Interface(GRAY, typestr="what"))

    def test_cuda_array_interface(self):
        cuda = "__cuda_array_interface__"
        for stream in ("absent", None, 1, 2, 12345):
            with self.assertRaises((fq.Error, ValueError) if HAS_GPU else fq.Error):
                fq.score(Interface(GRAY, cuda, stream=stream), device="cuda:63")
        self.fails(ValueError, "stream 0", fq.score, Interface(GRAY, cuda, stream=0))
        self.fails(ValueError, "device='cpu'", fq.score, Interface(GRAY, cuda), device="cpu")
        self.fails(TypeError, "float64", fq.score, Interface(GRAY / 255, cuda))

    def test_array_method(self):
        class Frame:
            def __array__(self, dtype=None):
                return GRAY
        self.assertEqual(fq.score(Frame()), fq.score(GRAY))

    def test_attributes_that_raise(self):
        class Broken:
            @property
            def __dlpack__(self):
                raise RuntimeError("broken")
        self.fails(RuntimeError, "broken", fq.score, Broken())


class Pillow(unittest.TestCase, support.Failing):
    def setUp(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("python3-pil is not installed")
        self.Image = Image

    def test_modes(self):
        gray, colour = self.Image.fromarray(GRAY), self.Image.fromarray(COLOUR)
        self.assertEqual(fq.score(gray), fq.score(GRAY))
        self.assertEqual(fq.score(colour), fq.score(COLOUR))
        self.assertEqual(fq.score(colour.convert("RGBA")), fq.score(COLOUR))
        self.assertEqual(fq.score(gray.convert("LA")), fq.score(GRAY))
        self.assertEqual(fq.score(gray.convert("P")), fq.score(gray.convert("P").convert("RGB")))
        self.assertEqual(fq.score(colour.convert("CMYK")), fq.score(colour.convert("CMYK").convert("RGB")))
        self.assertEqual(fq.score(gray.convert("1")), fq.score(np.asarray(gray.convert("1")).astype(np.uint8) * 255))
        self.assertEqual(fq.score(self.Image.fromarray((GRAY / 255).astype(np.float32))), fq.score(GRAY))
        deep = GRAY.astype(np.uint16) * 257
        self.assertEqual(fq.score(self.Image.fromarray(deep)), fq.score(deep))
        self.assertEqual(fq.score(self.Image.fromarray(deep.astype(np.int32))), fq.score(deep))
        self.fails(ValueError, ["mode I", "-1"], fq.score, self.Image.fromarray(deep.astype(np.int32) - 1))


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
import array, framequality as fq
pixels = bytes((x * x * 7 + y * y * 3) % 256 for y in range(30) for x in range(40))
image = memoryview(pixels).cast("B", (30, 40))
score = fq.score(image)
assert score > 0
assert fq.scores([image] * 3) == [score] * 3 and type(fq.scores([image])) is list
assert fq.scores(memoryview(pixels * 2).cast("B", (2, 30, 40))) == [score] * 2
zones = fq.measure(image, zones=(3, 2)).zones
assert [len(row) for row in zones] == [3, 3] and type(zones) is list, zones
assert fq.best([image] * 3, metric="tenengrad", downscale=1)[:2] == (0, fq.score(image, prefilter="binomial5", noise_correction=True))
floats = memoryview(array.array("f", [v / 255 for v in pixels])).cast("B").cast("f", (30, 40))
assert fq.score(floats) == score
for one, kind in ((image, "B"), (floats, "f")):
    denoised = fq.denoise(one)
    assert denoised.shape == (30, 40) and denoised.format == kind and not denoised.readonly
assert fq.halftone(image, packed=True).shape == (30, 5)
try:
    from PIL import Image
except ImportError:
    pass
else:
    assert fq.score(Image.frombytes("L", (40, 30), pixels)) == score
print("fine", "numpy" in sys.modules and sys.modules["numpy"])
"""


class WithoutNumpy(unittest.TestCase):
    def test_all(self):
        done = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("fine None\n", "", 0))

    def test_import_does_not_bring_it(self):
        # Some interpreters have imported such modules by themselves.
        code = ("before = set(sys.modules); import framequality; "
                "print(sorted({'numpy', 'PIL', 'cv2', 'difflib', 'typing'} & (set(sys.modules) - before)))")
        done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
                              capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))


if __name__ == "__main__":
    support.main()
