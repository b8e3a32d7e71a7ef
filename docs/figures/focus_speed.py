#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws how many frames autofocus algorithms take to focus, how often they are right, and how fast they refocus.

docs/figures/focus_speed.py RESULTS.json PICTURE.svg [--source photographs|sweeps] [--noise SIGMA]
    [--jump STEPS]
RESULTS.json is what focus_bench leaves with --out; its tables focusing and refocus are drawn.
"""
import argparse
import json

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown")
NOTICED = "first move"
_colours = {}


def colour_of(algorithm):
    """The same in every panel."""
    return _colours.setdefault(algorithm, COLOURS[len(_colours) % len(COLOURS)])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("picture")
    parser.add_argument("--source", default="photographs")
    parser.add_argument("--noise", type=float, default=1, help="sigma in 8-bit grey levels (1)")
    parser.add_argument("--jump", default="2-5", help="steps by which the best position jumps: 2-5 (default) or 10-30")
    return parser.parse_args()


def bars(axes, groups, values, errors=None):
    """Bars side by side: values[label][group], and how far the 90th percentile is above them; None: no bar."""
    width = 0.84 / max(1, len(values))
    for i, (label, row) in enumerate(values.items()):
        at = [g + (i - (len(values) - 1) / 2) * width for g in range(len(groups))]
        above = errors and [max(0, e - v) for v, e in zip(row, errors[label])]
        algorithm, _, what = label.partition(": ")
        drawn = axes.bar(at, [v or 0 for v in row], width * 0.92, label=label, color=colour_of(algorithm),
                         alpha=0.5 if what == NOTICED else 1, yerr=[[0] * len(row), above] if above else None,
                         error_kw={"lw": 0.8, "alpha": 0.6})
        axes.bar_label(drawn, ["" if v is None else f"{v:.0f}" for v in row], fontsize=6.5, padding=1)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)


def column(rows, algorithms, groups, key, name):
    """{algorithm: [row[name] for each group]}; 0 where a row is missing."""
    found = {(row["algorithm"], row[key]): row[name] for row in rows}
    return {a: [found.get((a, g), 0) for g in groups] for a in algorithms}


def in_order(values):
    return list(dict.fromkeys(values))


def main():
    options = parse()
    with open(options.results, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    focusing = [r for r in rows if r["table"] == "focusing" and r["source"] == options.source and
                r["sigma"] == options.noise]
    refocus = [r for r in rows if r["table"] == "refocus" and r["steps"] == options.jump]
    if not focusing:
        raise SystemExit(f"{options.results} has no table focusing of {options.source} with noise {options.noise:g}")

    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "focus-speed"
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(3 if refocus else 2, 1, figsize=(9, 8 if refocus else 5.5), layout="constrained")
    algorithms = in_order(r["algorithm"] for r in focusing)
    positions = in_order(r["positions"] for r in focusing)
    bars(panels[0], positions, column(focusing, algorithms, positions, "positions", "frames_median"),
         column(focusing, algorithms, positions, "positions", "frames_p90"))
    panels[0].set(yscale="log", ylabel="frames to focus\n(median; line: 90%)")
    panels[0].legend(fontsize=8, ncols=len(algorithms), loc="upper left")
    panels[0].margins(y=0.2)
    within = column(focusing, algorithms, positions, "positions", "within_step")
    bars(panels[1], positions, {a: [100 * v for v in row] for a, row in within.items()})
    panels[1].set(ylabel="within one step, %", ylim=(0, 112), xlabel="positions of the lens")
    if refocus:
        blurs = in_order(r["blur_per_step"] for r in refocus)
        watching = in_order(r["algorithm"] for r in refocus)
        names = [f"{b:g} px of blur a step" for b in blurs]
        values = {}
        for a in watching:
            row = {r["blur_per_step"]: r for r in refocus if r["algorithm"] == a}
            values[f"{a}: {NOTICED}"] = [row[b]["frames_until_noticed"] if row[b]["noticed"] else None for b in blurs]
            values[f"{a}: in focus"] = [row[b]["frames_until_settled"] if row[b]["settled"] else None for b in blurs]
            for i, b in enumerate(blurs):
                names[i] += f"\n{a} noticed {100 * row[b]['noticed']:.0f}%"
        bars(panels[2], names, values)
        panels[2].set(ylabel=f"frames since a jump\nby {options.jump} steps")
        panels[2].legend(fontsize=8, loc="upper left")
        panels[2].margins(y=0.2)
    figure.savefig(options.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
