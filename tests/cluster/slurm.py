# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/slurm on a real Slurm of three nodes: whatever happens to tasks, the joined table is that of a single run.

usage: slurm.py EXAMPLES framequality-scan framequality-merge [TEST...]; skipped where Slurm is not installed.
"""
import hashlib
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time

from archive import EMPTY, OPTIONS, TEXT, Archive, programs, rows_of
from small_slurm import Slurm, ended, missing, until

EXAMPLES, SCAN, MERGE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
TASKS = 4
LATE, DEADLY = "a new one.mkv", "deep er/07.mkv"
# In place of the program: dies wherever it meets the deadly file.
DYING = """#!/bin/sh
[ "$1" = --files-from ] && [ "$4" = --shard ] || exit 2
if sed -nz "${{5%/*}}~${{5#*/}}p" "$2" | grep -qz '{file}$'; then kill -SEGV $$; fi
exec '{program}' "$@"
"""


class Run:
    """examples/slurm/submit, and what becomes of it."""

    def __init__(self, cluster, archive, name):
        self.cluster, self.archive, self.results = cluster, archive, archive.folder / name
        self.scan = self.merge = None

    def submit(self, check=0, tasks=TASKS, **environment):
        said = self.cluster.run(EXAMPLES / "slurm" / "submit", self.archive.videos, self.results, *OPTIONS, check=check,
                                env={"TASKS": str(tasks), **environment})
        if check == 0:
            self.scan, self.merge = re.search(r"job (\d+), joined by job (\d+)", said).groups()
        return said

    def records(self):
        """When each record was written."""
        return {path: path.stat().st_mtime_ns for path in (self.results / "tables").glob("*.json")}

    def done(self, task):
        """How many files of a task's share have a record, and how many there are."""
        share = (self.results / "files").read_bytes().split(b"\0")[:-1][task - 1 :: TASKS]
        records = [path.stem[-12:] for path in self.records()]
        return sum(hashlib.sha256(name).hexdigest()[:12] in records for name in share), len(share)

    def submit_and_stop(self, *tasks):
        """Ids of these tasks' programs: each in the middle of its share, stopped."""
        gate = self.archive.folder / "bin" / "closed"
        gate.touch()
        self.submit()
        about = lambda task: (f"SLURM_ARRAY_JOB_ID={self.scan}\0", f"SLURM_ARRAY_TASK_ID={task}\0")
        # The first: what waits at the gate forks.
        programs_of = {task: min(until(f"task {task} begins", lambda: self.cluster.processes(*about(task), word="--shard")))
                       for task in tasks}
        for pid in programs_of.values():
            os.kill(pid, signal.SIGSTOP)
        gate.unlink()
        # In small steps: however slow this test is at that moment, none comes to its end.
        for task, pid in programs_of.items():
            def step(pid=pid, task=task):
                os.kill(pid, signal.SIGCONT)
                time.sleep(0.01)
                os.kill(pid, signal.SIGSTOP)
                return self.done(task)[0]
            until(f"task {task} has done a file", step)
            done, files = self.done(task)
            assert done < files, f"task {task} was too quick"
        return list(programs_of.values())

    def finish(self):
        """All ended well, and the results are those of a single run."""
        self.cluster.finish(self.scan, self.merge)
        logs = lambda: [path.read_text(errors="replace") for path in (self.results / "log").iterdir()]
        states = {task: facts["JobState"] for task, facts in self.cluster.jobs(self.scan).items()}
        assert set(states.values()) == {"COMPLETED"}, (states, logs())
        assert self.cluster.jobs(self.merge)[0]["JobState"] == "COMPLETED", logs()
        self.archive.compare(self.results)


def test_plain_run_and_a_file_that_arrives(cluster, archive):
    run = Run(cluster, archive, "plain: 100%j")
    # More tasks than Slurm takes in one array.
    said = run.submit(tasks=64)
    late = archive.videos / LATE
    try:
        # The first of all, had it been there: every other file's number would be another one.
        shutil.copy(archive.original, late)
        run.finish()
        assert f"{archive.files} files in 5 tasks" in said, said
        before = run.records()
        run.submit()
        run.finish()
        again = [path for path, when in run.records().items() if before[path] != when]
        assert len(again) == 2, again  # those with an error are tried again
        (run.results / "files").unlink()
        run.submit()
        run.cluster.finish(run.scan, run.merge)
        rows = rows_of(run.results / "scores.csv")
        assert len(rows.pop(str(late))) == 300 and rows == archive.rows
        assert sum(before.get(path) == when for path, when in run.records().items()) == archive.good
    finally:
        late.unlink()


def test_killed_requeued_and_out_of_time(cluster, archive):
    run = Run(cluster, archive, "killed")
    first, second, third = run.submit_and_stop(1, 2, 3)
    before = run.records()
    # The program alone: its task goes on, a file at a time.
    os.kill(first, signal.SIGKILL)
    # The whole task, as an administrator does it.
    cluster.run("scontrol", "requeue", f"{run.scan}_2")
    until("a task that is requeued ends", lambda: ended(second))
    # What Slurm sends before the time is up.
    os.kill(third, signal.SIGCONT)
    cluster.run("scancel", "--batch", "--signal=USR1", f"{run.scan}_3")
    run.finish()
    restarts = {task: int(facts["Restarts"]) for task, facts in cluster.jobs(run.scan).items()}
    assert restarts == {1: 0, 2: 1, 3: 1, 4: 0}, restarts
    # But for those with an error, which are tried again.
    again = [path.name for path, when in before.items() if run.records()[path] != when]
    assert len(before) >= 3 and not [name for name in again if not name.startswith((EMPTY[0], TEXT[0]))], again
    logs = {task: (run.results / "log" / f"scan-{run.scan}_{task}.log").read_text() for task in (1, 3)}
    assert "one file at a time" in logs[1] and "out of time: requeued" in logs[3], logs


def test_cancelled(cluster, archive):
    run = Run(cluster, archive, "cancelled")
    [stopped] = run.submit_and_stop(1)
    assert "still running" in run.submit(check=1)
    cluster.run("scancel", run.scan)
    cluster.finish(run.scan, run.merge)
    until("a task that is cancelled ends", lambda: ended(stopped))
    assert {facts["JobState"] for facts in cluster.jobs(run.scan).values()} == {"CANCELLED"}
    assert cluster.jobs(run.merge)[0]["JobState"] == "CANCELLED" and not (run.results / "scores.csv").exists()
    assert 0 < len(run.records()) < archive.files
    run.submit(tasks=3)  # other shares of the same list
    run.finish()


def test_file_that_kills_the_program(cluster, archive):
    run = Run(cluster, archive, "deadly")
    folder = archive.folder / "dying"
    path = programs(folder, SCAN, MERGE)
    (folder / SCAN.name).write_text(DYING.format(program=SCAN, file=DEADLY))
    run.submit(PATH=path)
    cluster.finish(run.scan, run.merge)
    deadly = str(archive.videos / DEADLY)
    task = (run.results / "files").read_bytes().split(b"\0").index(os.fsencode(deadly)) % TASKS + 1
    states = {number: facts["JobState"] for number, facts in cluster.jobs(run.scan).items()}
    assert states == {number: "FAILED" if number == task else "COMPLETED" for number in range(1, TASKS + 1)}, states
    assert cluster.jobs(run.merge)[0]["JobState"] == "CANCELLED"
    log = (run.results / "log" / f"scan-{run.scan}_{task}.log").read_text()
    assert re.search(r"^status 139: .*/deep\\ er/07\.mkv$", log, re.MULTILINE), log
    # All others are done.
    assert len(run.records()) == archive.files - 1
    assert f"only {archive.files - 1} of {archive.files}" in cluster.run(EXAMPLES / "slurm" / "merge.sbatch", run.results, check=1)
    assert rows_of(run.results / "scores.csv") == {name: rows for name, rows in archive.rows.items() if name != deadly}
    run.submit()
    run.finish()


def test_node_down(cluster, archive):
    run = Run(cluster, archive, "node down")
    [stopped] = run.submit_and_stop(2)
    node = cluster.jobs(run.scan)[2]["NodeList"]
    cluster.kill_node(node)
    run.finish()
    tasks = cluster.jobs(run.scan)
    assert tasks[2]["Restarts"] == "1" and tasks[2]["NodeList"] != node, tasks[2]
    # The network alone was gone: the task that was given up finds its way back and writes what is there already.
    os.kill(stopped, signal.SIGCONT)
    until("the task that was given up ends", lambda: ended(stopped))
    for file in ("scores.csv", "errors.csv", "report.html"):
        (run.results / file).unlink()
    cluster.run(EXAMPLES / "slurm" / "merge.sbatch", run.results)
    archive.compare(run.results)
    cluster.start_node(node)


def main():
    if gone := missing():
        print(f"SKIPPED: {', '.join(gone)} not installed (scripts/deps nightly installs them)")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="fq-slurm-") as name:
        folder = pathlib.Path(name)
        os.environ["PATH"] = programs(folder / "bin", SCAN, MERGE)
        archive = Archive(folder, SCAN)
        (folder / "slurm").mkdir()
        with Slurm(folder / "slurm", array=6) as cluster:
            for name, test in list(globals().items()):
                if name.startswith("test_") and (name in sys.argv[4:] or not sys.argv[4:]):
                    begin = time.monotonic()
                    test(cluster, archive)
                    print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
