# SPDX-License-Identifier: LGPL-2.1-or-later
"""The message's and the metadata's scores are the same numbers, in Python and in C++, for every metric."""
import pathlib
import subprocess
import sys

FRAMES = 12
SOURCE = f"videotestsrc pattern=ball num-buffers={FRAMES} ! video/x-raw,format={{}},width=160,height=120,framerate=25/1"
METRICS = ["variance", "roberts", "tenengrad", "laplacian", "gray-difference", "gray-difference-product", "max-min",
           "entropy", "laplacian-variance", "brenner", "normalized-variance", "vollath-f4"]


def rows(*command):
    """What an example printed: (frame, timestamp, metric, score) a line."""
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=50, check=False)
    assert run.returncode == 0, f"{command}: {run.stdout}{run.stderr}"
    return [(int(frame), int(timestamp), metric, float(score))
            for frame, timestamp, metric, score in map(str.split, run.stdout.splitlines())]


def main():
    examples, score_app = map(pathlib.Path, sys.argv[1:])
    for index, metric in enumerate(METRICS):
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
                             timeout=20, check=False)
        assert run.returncode != 0 and run.stderr, f"{program}: {run}"


main()
