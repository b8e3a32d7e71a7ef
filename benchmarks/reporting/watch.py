# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of watch_bench: faults of cameras that a watch notices, and false alarms."""
from .results import pick, table


def share(value):
    return f"{100 * value:.3g}%"


def noticed(data):
    lines = [[r["fault"], f"`{r['state']}`", share(r["in_time"]), f"{r['median_s']:.1f}", f"{r['p99_s']:.1f}",
              share(r["recovered"]) if "recovered" in r else "", str(r["runs"])] for r in pick(data["rows"], table="noticed")]
    return [table(["fault", "told as", "in time", "median, s", "99%, s", "its end in time", "runs"], lines)]


def false_alarms(data):
    rows = pick(data["rows"], table="false alarms")
    hours, alarms = sum(r["hours"] for r in rows), sum(r["alarms"] for r in rows)
    return [table(["cameras", "camera-hours", "false alarms"], [[str(len(rows)), f"{hours:.0f}", str(alarms)]])]


def load(*runs):
    """CPU time of watching, compared with decoding alone."""
    lines = [[f"{r['cameras']} of {r['clip']}", f"{r['decode']['ms_per_frame']:.2f}", f"{r['watch']['ms_per_frame']:.2f}",
              f"{100 * (r['ratio'] - 1):.0f}%", f"{r['watch']['cores']:.2f}", f"{r['watch']['frames_missing']:.0f}",
              f"{r['watch']['memory_end']:.0f}"] for r in runs]
    return [table(["cameras", "decoding alone, CPU ms per frame", "with watching", "increase", "cores used", "frames missing",
                   "memory, MiB"], lines)]


def streams(data):
    """Live streams on the GPU, each frame measured and watched."""
    live = [r for r in pick(data["rows"], kind="live") if r["holds"]]
    longest = max(live, key=lambda r: (r["streams"], r["seconds"]))
    return [table(["live streams of 1080p, 60 frames/s", "seconds", "frames", "late", "at most behind, ms", "cores used"],
                  [[str(longest["streams"]), f"{longest['seconds']:.0f}", str(longest["frames"]), str(longest["late"]),
                    f"{longest['worst_ms']:.1f}", f"{longest['cores_used']:.1f}"]])]
