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
