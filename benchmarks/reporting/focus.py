# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of focus_bench: autofocus algorithms beside each other."""
from .results import pick, table, unique

NAMES = {"focus": "`focuscontroller`", "libcamera": "libcamera (Raspberry Pi)", "golden": "golden section",
         "brent": "Brent", "sweep": "every position once"}
COLUMNS = ("16-36", "101", "256", "337")


def share(value):
    return f"{100 * value:.3g}%"


def algorithms(rows):
    return unique(r["algorithm"] for r in rows)


def one(rows, **wanted):
    return pick(rows, **wanted)[0]


def speed(data):
    """Median frames to focus, and how often the end is right."""
    rows = pick(data["rows"], table="focusing", sigma=1)
    parts = []
    photographs, sweeps = pick(rows, source="photographs"), pick(rows, source="sweeps")
    for here, title, columns in (
            (photographs, "photographs, blurred", [(f"N = {n}", {"positions": n}) for n in COLUMNS]),
            (sweeps, "real focus sweeps", [(f"{sweep}, N = {one(sweeps, sweep=sweep, algorithm=r['algorithm'])['positions']}", {"sweep": sweep})
                                           for sweep, r in {r["sweep"]: r for r in sweeps}.items()])):
        if here:
            cells = [[one(here, algorithm=a, **wanted) for _, wanted in columns] for a in algorithms(here)]
            head = [f"{title}: median frames to focus", *(name for name, _ in columns), "90% of the swing", "within 1% of the range"]
            parts.append(table(head, [[NAMES[row[0]["algorithm"]], *(f"{c['frames_median']:.0f}" for c in row),
                                       share(min(c["reached_90"] for c in row)),
                                       " / ".join(share(c["within_1_percent"]) for c in row)] for row in cells]))
    return parts


def contrast(data):
    rows = pick(data["rows"], table="contrast", source="photographs", positions="101")
    kinds = [(c, s) for c in unique(r["contrast"] for r in rows) for s in unique(r["sigma"] for r in rows) if s in (1, 3)]
    head = ["reach 90% of the swing (median frames)", *(f"{share(c)}, noise {s:g}" for c, s in kinds)]
    lines = []
    for a in algorithms(rows):
        cells = [one(rows, algorithm=a, contrast=c, sigma=s) for c, s in kinds]
        lines.append([NAMES[a], *(f"{share(c['reached_90'])} ({c['frames_median']:.0f})" for c in cells)])
    return [table(head, lines)]


def refocus(data):
    head = ["", "px of blur a step", "noticed", "in focus for good", "frames until then: median, p90",
            "frames that are visibly worse: median, p90"]
    lines = [[f"{NAMES[r['algorithm']]}, {r['steps']} steps", f"{r['blur_per_step']:g}", share(r["noticed"]),
              share(r["settled"]), f"{r['frames_until_settled']:.0f}, {r['frames_until_settled_p90']:.0f}",
              f"{r['frames_of_more_blur']:.0f}, {r['frames_of_more_blur_p90']:.0f}"]
             for r in pick(data["rows"], table="refocus")]
    return [table(head, lines)]


def scenes(data):
    return searches(data, "scenes", "scene")


def lenses(data):
    return searches(data, "lenses", "lens")


def searches(data, name, kind):
    rows = pick(data["rows"], table=name)
    shown = [a for a in ("focus", "libcamera", "brent") if pick(rows, algorithm=a)]
    head = ["within one step; done but over two steps off", *(NAMES[a] for a in shown), "its median frames"]
    lines = []
    for label in unique(r[kind] for r in rows):
        cells = [one(rows, algorithm=a, **{kind: label}) for a in shown]
        lines.append([label, *(f"{share(c['within_step'])}; {share(c['wrong'])}" for c in cells),
                      f"{cells[0]['frames_median']:.0f}"])
    return [table(head, lines)]


def moving(data):
    rows = pick(data["rows"], table="moving")
    head = ["frames with over 2 px of blur; searches; failed", *(NAMES[a] for a in algorithms(rows))]
    lines = []
    for clip, in_focus in unique((r["clip"], r["in_focus"]) for r in rows):
        cells = [one(rows, algorithm=a, clip=clip, in_focus=in_focus) for a in algorithms(rows)]
        lines.append([f"{clip}, from {'focus' if in_focus else 'anywhere'}",
                      *(f"{share(c['visible_blur'])}; {c['searches']:.1f}; {c['failed_searches']:.1f}" for c in cells)])
    return [table(head, lines)]


def disturbances(data):
    rows = pick(data["rows"], table="disturbances")
    head = ["searches (moves) in 3000 frames", *(NAMES[a] for a in algorithms(rows))]
    lines = []
    for kind in unique(r["disturbance"] for r in rows):
        cells = [one(rows, algorithm=a, disturbance=kind) for a in algorithms(rows)]
        lines.append([kind, *(f"{c['searches']:.2g} ({c['moves']:.2g})" for c in cells)])
    return [table(head, lines)]


def certainty(data):
    """How often searches are in focus, by what they report, and what each limit costs."""
    rows = pick(data["rows"], table="certainty")
    lines = []
    for low, high in unique((r["from"], r["to"]) for r in rows):
        cells = [one(rows, half=half, **{"from": low, "to": high}) for half in ("check", "sweeps") if pick(rows, half=half)]
        lines.append([f"{low:g} to {high:g}",
                      *(f"{c['certainty']:.2f}; {share(c['in_focus'])}; {c['searches']}" if c["searches"] else "none" for c in cells)])
    head = ["certainty: its mean; share in focus; searches", "photographs", "real focus sweeps"][:len(lines[0])]
    limits = [[f"{r['min_certainty']:g}", *(share(r[k]) for k in ("in_focus", "beside", "wrong", "failed", "failed_in_focus"))]
              for r in pick(data["rows"], table="min-certainty")]
    return [table(head, lines), table(["`min-certainty`", "`focused`, in focus", "`focused`, beside", "of these over twice as far",
                                       "`failed`", "of these in focus"], limits)]
