# SPDX-License-Identifier: LGPL-2.1-or-later
"""Photographs with EXIF: made by GStreamer, with a block put in by hand."""
import struct

from harness import launch


def exif(date, part=None, model="Camera"):
    """A little-endian EXIF block: model, date and parts of a second in which a photograph was taken."""
    texts = [(0x9003, date)] + ([(0x9291, part)] if part else [])

    def directory(entries, at):
        """Its bytes, for this place in the block; the texts follow it."""
        head, data = struct.pack("<H", len(entries)), b""
        begin = at + 2 + 12 * len(entries) + 4
        for tag, value in entries:
            if isinstance(value, int):
                head += struct.pack("<HHII", tag, 4, 1, value)
                continue
            text = value.encode() + b"\0"
            if len(text) <= 4:
                head += struct.pack("<HHI4s", tag, 2, len(text), text)
            else:
                head += struct.pack("<HHII", tag, 2, len(text), begin + len(data))
                data += text
        return head + b"\0\0\0\0" + data

    first = [(0x0110, model), (0x8769, 0)]
    first[1] = (0x8769, 8 + len(directory(first, 8)))
    whole = directory(first, 8)
    return b"II*\0" + struct.pack("<I", 8) + whole + directory(texts, 8 + len(whole))


def photograph(path, pattern="smpte", block=b"", size="160x120", blur=1):
    """A JPEG; `blur`: how many times smaller it was before."""
    width, height = (int(n) for n in size.split("x"))
    launch(f"videotestsrc num-buffers=1 pattern={pattern} ! video/x-raw,width={width // blur},height={height // blur} ! videoscale"
           f" ! video/x-raw,width={width},height={height} ! jpegenc ! filesink location={{path}}", path=path)
    if block:
        data, segment = path.read_bytes(), b"Exif\0\0" + block
        path.write_bytes(data[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + data[2:])
    return path
