# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of archive_bench: files scanned by framequality-scan, compared with decoding alone."""
from .results import rounded, table

CASES = {"short": "{files} of 300 frames", "long": "{files} of 2,400 frames", "one": "one of 19,200 frames"}
RATE = 30  # frames per second of the videos


def archives(data, cpu):
    lines = []
    for row in data["rows"]:
        rate = row["scan"]["frames_per_second"]
        # Other files keep all engines busy beside one; what scans of one file replace is one decoder.
        alone = row.get("decode_alone", row["decode"])["frames_per_second"]
        lines.append([CASES[row["case"]].format(**row), f"{row['gpus']} H200", rounded(alone), rounded(rate),
                      f"{100 * rate / alone:.0f}%", f"{row['scan']['cores']:.1f}", rounded(rate / RATE)])
    frames = 300 / cpu["scan"]["cpu_seconds"]
    lines.append(["CPU time, decoding included", "one core of an AMD EPYC", "", rounded(frames), "", "1", f"{frames / RATE:.1f}"])
    return [table(["1080p H.264", "on", "decoding alone, frames/s", "scanning, frames/s", "scanning / decoding", "cores used",
                   "hours of video per hour"], lines)]
