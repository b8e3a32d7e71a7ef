# SPDX-License-Identifier: LGPL-2.1-or-later
"""Image files as arrays: PGM and PPM, and all that Pillow or OpenCV decodes."""
import os
import sys

from . import _array

#: Modes of Pillow whose values can be measured as they are.
_PLAIN_MODES = ("L", "RGB", "RGBA", "F")
_MOST_PIXELS = 1 << 40


def read(path):
    """The image of a file; framequality.read() describes it."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        magic = file.read(2)
        if magic in (b"P5", b"P6"):
            return _read_pnm(file, path, 3 if magic == b"P6" else 1)
    try:
        from PIL import Image
    except ImportError:
        return _read_with_opencv(path)
    try:
        with Image.open(path) as image:
            return _of_pillow(image)
    except OSError as error:
        raise OSError(f"cannot read {path!r}: {_reason(error)}") from error
    except (SyntaxError, ValueError, Image.DecompressionBombError) as error:  # of damaged files
        raise OSError(f"cannot read {path!r}: {error}") from error


def _reason(error):
    if type(error).__name__ == "UnidentifiedImageError":
        return "not an image, or of a format that Pillow does not know"
    return error.strerror or str(error)


def plain(image):
    """An image of Pillow in a form whose numbers are grey levels: no palette, no CMYK, no bits."""
    mode = image.mode
    if mode in _PLAIN_MODES:
        return image
    if mode.startswith("I"):
        return _of_pillow(image)
    if mode in ("1", "LA", "La"):
        return image.convert("L")
    if mode in ("RGBa", "PA"):
        return image.convert("RGBA")
    return image.convert("RGB")


def _of_pillow(image):
    if image.mode.startswith("I"):
        return _of_integers(image)
    image = plain(image)
    bands = len(image.getbands())
    shape = (image.height, image.width) + ((bands,) if bands > 1 else ())
    return _array(bytearray(image.tobytes()), shape, "f" if image.mode == "F" else "B")


def _of_integers(image):
    """16 bits of I and I;16, which is what Pillow makes of gray files with 16 bits."""
    shape = (image.height, image.width)
    if image.mode == "I":
        least, most = image.getextrema()
        if least < 0 or most > 65535:
            raise ValueError(f"pixels of Pillow's mode I are 0 to 65535, not {least} to {most}: convert the image to "
                             "mode F, and use data_range=(black, white)")
        wide, low = image.tobytes(), 0 if sys.byteorder == "little" else 2
        values = bytearray(len(wide) // 2)
        values[0::2], values[1::2] = wide[low::4], wide[low + 1::4]
        return _array(values, shape, "H")
    is_big_endian = image.mode.endswith("B") or (image.mode.endswith("N") and sys.byteorder == "big")
    return _native(bytearray(image.tobytes()), shape, is_big_endian)


def _native(values, shape, is_big_endian):
    """16-bit words of a byte order, as an array in that of this machine."""
    if is_big_endian != (sys.byteorder == "big"):
        values[0::2], values[1::2] = values[1::2], values[0::2]
    return _array(values, shape, "H")


def _read_with_opencv(path):
    try:
        import cv2
    except ImportError:
        raise ImportError(f"cannot decode {path!r}: install Pillow: apt install python3-pil, or pip install "
                          "pillow") from None
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if image is None:
        raise OSError(f"cannot read {path!r}: not an image, or of a format that OpenCV does not know")
    if image.ndim == 3 and image.shape[2] == 2:
        image = image[..., 0]
    if image.ndim == 3:
        image = image[..., [2, 1, 0, 3][:image.shape[2]]]
    return image


def _read_pnm(file, path, channels):
    """A binary PGM or PPM whose magic has been read. Source: https://netpbm.sourceforge.net/doc/pgm.html"""
    try:
        width, height, most = (_pnm_number(file) for _ in range(3))
    except ValueError:
        raise OSError(f"cannot read {path!r}: the header is damaged") from None
    if width < 1 or height < 1 or not 1 <= most <= 65535 or width * height > _MOST_PIXELS:
        raise OSError(f"cannot read {path!r}: {width}x{height} pixels with values to {most} are not a valid image")
    size = width * height * channels * (2 if most > 255 else 1)
    if size > os.fstat(file.fileno()).st_size:
        raise OSError(f"cannot read {path!r}: the file is cut off")
    values = bytearray(file.read(size))
    if len(values) < size:
        raise OSError(f"cannot read {path!r}: the file is cut off")
    shape = (height, width) + ((channels,) if channels > 1 else ())
    if most == 255:
        return _array(values, shape)
    if most < 255:
        return _array(bytearray(values.translate(bytes(min(v, most) * 255 // most for v in range(256)))), shape)
    if most == 65535:
        return _native(values, shape, True)
    return _array(_widened(values, most), shape, "H")


def _pnm_number(file):
    """The next number of a header, and the white space behind it."""
    digits = b""
    while True:
        character = file.read(1)
        if character == b"#":
            file.readline(4096)
            character = b"\n"
        if character.isdigit() and len(digits) < 9:
            digits += character
        elif digits and character.isspace():
            return int(digits)
        elif not character.isspace():
            raise ValueError(digits)


def _widened(values, most):
    """Big-endian words up to `most` as 16 bits of this machine: the same grey levels."""
    bits = most.bit_length()
    words = memoryview(values).cast("H")
    swap = sys.byteorder == "little"
    # Of 10 bits, 1023 is 65472, as score(bits=10) has it; other maxima are white, 255 * 256.
    table = [min(v, most) << (16 - bits) if most + 1 == 1 << bits else round(min(v, most) * 65280 / most)
             for v in range(65536)]
    if swap:
        values[0::2], values[1::2] = values[1::2], values[0::2]
    for i, v in enumerate(words):
        words[i] = table[v]
    words.release()
    return values
