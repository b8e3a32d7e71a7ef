# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results that the benchmark programs wrote: rows by name, and on which machine, how busy, they were measured."""
import json
import math
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results")
SCALE = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
NO_NAME = ("manual_time", "process_time", "real_time")


def load(path):
    """The file's data; a bare name is one of benchmarks/results/."""
    with open(path if os.sep in path or os.path.exists(path) else os.path.join(FOLDER, path), encoding="utf-8") as file:
        return json.load(file)


def named(benchmarks):
    """-> {"kind/metric/size": benchmark}; medians where a run was repeated."""
    rows = {}
    for b in benchmarks:
        if b.get("run_type") == "aggregate" and b.get("aggregate_name") != "median":
            continue
        rows["/".join(p for p in b["run_name"].split("/") if ":" not in p and p not in NO_NAME)] = b
    return rows


def times(data, clock="real_time"):
    """-> {"kind/metric/size": (milliseconds, bytes per second)}"""
    return {name: (b[clock] * SCALE[b["time_unit"]], b.get("bytes_per_second", 0))
            for name, b in named(data["benchmarks"]).items()}


def pick(rows, **wanted):
    """The rows with these values, in order; those that failed are left out."""
    return [r for r in rows if "error" not in r and all(r.get(k) == v for k, v in wanted.items())]


def only(rows, **wanted):
    """The one row with these values."""
    found = pick(rows, **wanted)
    assert len(found) == 1, (wanted, len(found))
    return found[0]


def unique(values):
    return list(dict.fromkeys(values))


def is_busy(data):
    """Whether other programs ran beside the one that measured: its result says so, or the load when it began."""
    context = data.get("context", data)
    cores = context.get("num_cpus", context.get("cores", 1))
    return "busy" in context or context.get("load_avg", [0])[0] > cores / 2


def load_of(context):
    """How busy the machine was when the program began."""
    return f"load {context['load_avg'][0]:.1f} on {context.get('num_cpus', context.get('cores'))} cores"


def provenance(name, data):
    """Where a table comes from: file, machine, its load if it was recorded, compiler, commit, date and command."""
    context = data.get("context", data)
    parts = [f"`{name}`"]
    parts += [str(context[k]) for k in ("machine", "cpu", "gpu") if k in context]
    parts += [f"driver {context['driver']}"] if "driver" in context else []
    parts += [load_of(context)] if "load_avg" in context else []
    parts += [str(context["compiler"])] if "compiler" in context else []
    parts += [f"commit {context['commit']}"] if "commit" in context else []
    parts += [context["date"][:10]] if "date" in context else []
    parts += [f"`{context['command']}`"] if "command" in context else []
    notes = [f"{context[k][0].upper()}{context[k][1:]}." for k in ("busy", "note") if k in context]
    return " ".join(["From " + ", ".join(parts) + "."] + ["**Busy machine.**"] * is_busy(data) + notes)


def table(head, rows):
    """A table; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def figures(value, digits=3):
    """A number with so many significant digits, all of them from 1,000 on."""
    if value >= 1000:
        return whole(value)
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{rounded:.{max(0, digits - 1 - math.floor(math.log10(rounded)))}f}"


def rounded(value):
    """A number of thousands with three significant digits."""
    return whole(float(f"{value:.2e}"))


def whole(value):
    return f"{value:,.0f}"
