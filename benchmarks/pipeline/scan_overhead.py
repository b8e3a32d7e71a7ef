#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cost of scanning a file on top of decoding it: framequality-scan compared with the same decoder into a fakesink.

Makes a 1080p H.264 clip with texture and noise, runs both by turns and prints the medians, of time and of CPU time, as
JSON. Both decode with what decodebin chooses on this machine; scanning writes its table to /dev/null.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from by_turns import conditions, launch, medians, parser_of, use_build

CLIP = ("videotestsrc pattern=smpte75 num-buffers={frames} ! video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"
        " ! mix.sink_0 videotestsrc pattern=snow num-buffers={frames} ! video/x-raw,format=I420,width=640,height=360,framerate=30/1"
        " ! videoscale ! video/x-raw,width=1920,height=1080 ! mix.sink_1 compositor name=mix sink_1::alpha=0.25"
        " ! video/x-raw,format=I420 ! x264enc speed-preset=veryfast bitrate={bitrate} ! video/x-h264,profile=high"
        " ! h264parse ! mp4mux ! filesink location={path}")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="length of the clip (default: %(default)s)")
    parser.add_argument("--bitrate", type=int, default=8000, help="kbit/s (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=9, help="of each (default: %(default)s)")
    parser.add_argument("scan_option", nargs="*", help="options for framequality-scan, after --")
    arguments = parser.parse_args()
    build = arguments.build
    use_build(build)
    with tempfile.TemporaryDirectory() as folder:
        clip = pathlib.Path(folder) / "clip.mp4"
        subprocess.run(launch(CLIP, frames=30 * arguments.seconds, bitrate=arguments.bitrate, path=clip), check=True)
        commands = {
            "decode": launch("uridecodebin uri={uri} caps=video/x-raw(ANY) expose-all-streams=false ! fakesink sync=false",
                             uri=clip.as_uri()),
            "scan": [str(build / "apps" / "scan" / "framequality-scan"), "--quiet", *arguments.scan_option, str(clip)],
        }
        times = medians(commands, arguments.runs)
        size = clip.stat().st_size
    result = {
        "clip": f"1920x1080 H.264, {30 * arguments.seconds} frames, {size * 8 / arguments.seconds / 1e6:.1f} Mbit/s",
        **conditions(arguments.commit), "runs": arguments.runs, **times,
    }
    for kind in ("seconds", "cpu_seconds"):
        result[f"ratio_{kind}"] = round(result["scan"][kind] / result["decode"][kind], 3)
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
