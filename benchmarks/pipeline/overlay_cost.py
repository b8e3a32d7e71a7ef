#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cost of sharpnessoverlay for each I420 frame: a pipeline with it compared with the same one without.

Prints medians of CPU time by turns as JSON: ms a frame of each part, blended into the picture, and attached for a sink
that draws overlays itself. The meter upstream scores 8x6 zones in all of them. "none" is the pipeline without overlay.
Bars stand still, so that their text and heat map are drawn once; with --pattern ball both are drawn for every frame.
"""
import json
import sys

from by_turns import conditions, launch, medians, parser_of, use_build

SIZES = {"1920x1080": (1920, 1080), "3840x2160": (3840, 2160)}
PARTS = {
    "none": "",
    "text and graph": "sharpnessoverlay zones=false !",
    "heat map": "sharpnessoverlay text=false graph=false !",
    "peaking": "sharpnessoverlay text=false graph=false zones=false peaking=true !",
}
# The bars' edges run from top to bottom.
LINE = ("videotestsrc pattern={pattern} num-buffers={frames} ! video/x-raw,format=I420,width={width},height={height},framerate=30/1"
        " ! sharpnessmeter device=cpu zone-columns=8 zone-rows=6 post-messages=false ! PART {sink}")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--frames", type=int, default=300, help="of each run (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="of each (default: %(default)s)")
    parser.add_argument("--pattern", default="smpte100", help="of videotestsrc (default: %(default)s)")
    arguments = parser.parse_args()
    use_build(arguments.build)
    result = {**conditions(arguments.commit), "runs": arguments.runs, "frames": arguments.frames, "unit": "ms of CPU time a frame"}
    for size, (width, height) in SIZES.items():
        for way, sink in (("blended", "fakesink"), ("attached", "fakevideosink sync=false qos=false")):
            commands = {name: launch(LINE.replace("PART", part).format(frames=arguments.frames, width=width, height=height, sink=sink,
                                                                            pattern=arguments.pattern))
                        for name, part in PARTS.items()}
            times = {name: 1000 * seen["cpu_seconds"] / arguments.frames for name, seen in medians(commands, arguments.runs).items()}
            result[f"{size} {way}"] = {name: round(ms - (times["none"] if name != "none" else 0), 2) for name, ms in times.items()}
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
