# SPDX-License-Identifier: LGPL-2.1-or-later
"""python -m framequality: scores of image files."""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import sys

import framequality as fq

FIELDS = ("score", "noise", "mean", "clipped_black", "clipped_white", "blur", "anisotropy", "blur_angle", "pixels")


def pair(text):
    try:
        columns, rows = (int(n) for n in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMNSxROWS, such as 4x3") from None
    if not (1 <= columns <= 64 and 1 <= rows <= 64):
        raise argparse.ArgumentTypeError(f"{text!r}: columns and rows are 1 to 64")
    return columns, rows


def rectangle(text):
    try:
        x, y, width, height = (int(n) for n in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not X,Y,WIDTH,HEIGHT, such as 100,80,640,480") from None
    return x, y, width, height


def metric(text):
    if text in fq.METRICS:
        return text
    import difflib
    near = difflib.get_close_matches(text, fq.METRICS, 1)
    raise argparse.ArgumentTypeError(f"unknown metric {text!r}" + (f": did you mean {near[0]!r}?" if near else ";") +
                                     " --list-metrics lists all")


class ListMetrics(argparse.Action):
    def __call__(self, parser, *_):
        width = max(map(len, fq.METRICS))
        for name, summary in fq.METRICS.items():
            print(f"{name:{width}}  {summary}")
        parser.exit()


def parser():
    p = argparse.ArgumentParser(
        prog="python -m framequality",
        description="Print the sharpness of image files, one per line: score, then file name. Higher is sharper.",
        epilog="Scores of the default metric compare images of one scene, such as a focus sweep. For photographs of "
               "different scenes use --across-scenes. Exits with status 1 if a file cannot be read.")
    p.add_argument("files", nargs="*", metavar="FILE", help="an image: PGM, PPM, or any format that Pillow or OpenCV reads")
    p.add_argument("--metric", type=metric, metavar="NAME", help="focus measure (default: tenengrad)")
    p.add_argument("--list-metrics", action=ListMetrics, nargs=0, help="list the metrics and exit")
    p.add_argument("--across-scenes", action="store_true",
                   help="make scores of different scenes, sizes and exposures comparable")
    p.add_argument("--prefilter", choices=("none", "binomial3", "binomial5"), help="smooth the image first, to reduce the effect of noise")
    p.add_argument("--downscale", type=int, choices=(0, 1, 2, 4),
                   help="measure at 1/1, 1/2 or 1/4 size; 0: at all three, and report the lowest score")
    p.add_argument("--normalize", choices=("none", "mean"), help="mean: make scores independent of exposure")
    p.add_argument("--roi", type=rectangle, metavar="X,Y,W,H", help="measure only this rectangle, in pixels")
    p.add_argument("--zones", type=pair, metavar="CxR", help="also print a grid of scores with C columns and R rows (1 to 64)")
    p.add_argument("--device", help="where to measure: cpu (default), auto, cuda, or one GPU such as cuda:1")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object per line, with noise, exposure and blur")
    form.add_argument("--csv", action="store_true", help="print a table with noise, exposure and blur")
    p.add_argument("--sort", action="store_true", help="measure all files, then print the sharpest first")
    p.add_argument("--version", action="version", version=f"framequality {fq.__version__}")
    return p


def options_of(args):
    options = dict(fq.ACROSS_SCENES) if args.across_scenes else {}
    for name in ("metric", "prefilter", "downscale", "normalize", "roi", "zones", "device"):
        value = getattr(args, name)
        if value is not None:
            options[name] = value
    return options


def measured(path, options):
    """-> (path, Measurement or None, error or None)"""
    try:
        return path, fq.measure(fq.read(path), **options), None
    except OSError as error:
        text = str(error) if error.errno is None else f"cannot read {path!r}: {error.strerror}"
        return path, None, text
    except (ImportError, ValueError, TypeError, MemoryError, fq.Error) as error:
        return path, None, f"{path!r}: {error}" if str(error) else f"{path!r}: {type(error).__name__}"


def zones_of(m):
    return m.zones if isinstance(m.zones, list) else m.zones.tolist()


def finite(value):
    """NaN is not valid JSON."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Printer:
    """Lines of results in one of three forms."""

    def __init__(self, args):
        self.args = args
        self.table = csv.writer(sys.stdout, lineterminator="\n")
        if args.csv:
            columns, rows = args.zones or (0, 0)
            zones = [f"zone_{j}_{i}" for j in range(rows) for i in range(columns)]
            self.table.writerow(["file", *FIELDS, *zones])

    def line(self, path, m):
        if self.args.json:
            row = {"file": path, **{name: finite(getattr(m, name)) for name in FIELDS}}
            if self.args.zones:
                row["zones"] = zones_of(m)
            print(json.dumps(row, ensure_ascii=False))
        elif self.args.csv:
            values = [getattr(m, name) for name in FIELDS]
            values = ["" if v is None or finite(v) is None else repr(v) if isinstance(v, float) else v for v in values]
            zones = [repr(z) for row in zones_of(m) for z in row] if self.args.zones else []
            self.table.writerow([path, *values, *zones])
        else:
            print(f"{m.score:.6g}  {path}")
            if self.args.zones:
                for row in zones_of(m):
                    print("    " + " ".join(f"{z:10.6g}" for z in row))
        sys.stdout.flush()


def run(args):
    options = options_of(args)
    printer, kept, status = Printer(args), [], 0
    with concurrent.futures.ThreadPoolExecutor(min(len(args.files), os.cpu_count() or 1)) as pool:
        try:
            for path, m, error in pool.map(lambda path: measured(path, options), args.files):
                if error:
                    print(f"framequality: {error}", file=sys.stderr)
                    status = 1
                elif args.sort:
                    kept.append((path, m))
                else:
                    printer.line(path, m)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    for path, m in sorted(kept, key=lambda one: -one[1].score):
        printer.line(path, m)
    return status


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="surrogateescape" if os.name == "posix" else "replace")
    p = parser()
    try:
        args = p.parse_args()
        if not args.files:
            p.error("no image files: python -m framequality FILE...")
        return run(args)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
