# SPDX-License-Identifier: LGPL-2.1-or-later
"""The message's and the metadata's scores are the same numbers, in Python and in C++, for every metric."""
import pathlib
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from harness import LIMIT

FRAMES = 12
SOURCE = f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format={{}},width=160,height=120,framerate=25/1"


def metrics():
    """Nicks of the element's metrics."""
    Gst.init(None)
    kind = type(Gst.ElementFactory.make("sharpnessmeter").get_property("metric"))
    values = kind.__enum_values__.values() if hasattr(kind, "__enum_values__") else kind  # else PyGObject 3.52
    return [value.value_nick for value in sorted(values, key=int)]


def rows(*command):
    """What an example printed: (frame, timestamp, metric, score) a line."""
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert run.returncode == 0, f"{command}: {run.stdout}{run.stderr}"
    return [(int(frame), int(timestamp), metric, float(score))
            for frame, timestamp, metric, score in map(str.split, run.stdout.splitlines())]


def main():
    examples, score_app = map(pathlib.Path, sys.argv[1:])
    nicks = metrics()
    assert len(set(nicks)) == len(nicks) and "tenengrad" in nicks, nicks
    for index, metric in enumerate(nicks):
        source = SOURCE.format(("GRAY8", "I420", "RGB")[index % 3])
        message = rows(sys.executable, examples / "score_from_message.py", "--source", source, "--metric", metric)
        meta = rows(sys.executable, examples / "score_from_meta.py", "--source", source, "--metric", metric)
        assert message == meta, f"{metric}:\nmessage {message}\nmeta    {meta}"
        assert [row[0] for row in message] == list(range(FRAMES)), message
        assert [row[1] for row in message] == [frame * 40_000_000 for frame in range(FRAMES)], message
        assert {row[2] for row in message} == {metric}, message
        scores = [row[3] for row in message]
        assert all(score > 0 for score in scores) and len(set(scores)) > 1, f"{metric}: {scores}"
        if metric == "tenengrad":
            assert rows(score_app, source) == message
    # An example must say why it failed, not hang or succeed.
    for program in ([sys.executable, examples / "score_from_message.py", "--source"],
                    [sys.executable, examples / "score_from_meta.py", "--source"], [score_app]):
        run = subprocess.run([*program, "filesrc location=/nonexistent ! decodebin"], capture_output=True, text=True,
                             timeout=LIMIT, check=False)
        assert run.returncode != 0 and run.stderr, f"{program}: {run}"


main()
