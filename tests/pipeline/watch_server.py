# SPDX-License-Identifier: LGPL-2.1-or-later
"""framequality-watch's HTTP server.

usage: watch_server.py PROGRAM
"""
import os
import resource
import sys

from harness import run_tests
from watching import Watch

TOOL = os.path.abspath(sys.argv[1])
PIPELINE = "videotestsrc is-live=true pattern=snow ! video/x-raw,width=64,height=48,framerate={}"


def watch(folder, rate="25/1", cameras=1, options=(), **how):
    file = folder / "watch.toml"
    file.write_text("[defaults]\nstall-time = 1000\n" + "".join(
        f"[[camera]]\nname = 'c{i}'\npipeline = '{PIPELINE.format(rate)}'\n" for i in range(cameras)))
    return Watch(TOOL, "--config", file, *options, **how)


def end(run):
    assert run.end() == 143, run.errors


def test_many_files_may_be_open(folder):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    few = min(most, 256)
    with watch(folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, most))) as run:
        assert resource.prlimit(run.process.pid, resource.RLIMIT_NOFILE) == (most, most)
        end(run)


if __name__ == "__main__":
    sys.exit(run_tests(globals(), fresh=True))
