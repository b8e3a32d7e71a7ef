# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/kubernetes without a cluster: its files fit together, and its command lines give what a single run gives.

usage: kubernetes.py EXAMPLES framequality-scan framequality-merge

Each container's command runs as it stands, but for the paths of its volumes, once for each index and with the variables
that Kubernetes sets. What becomes of the jobs in a cluster is not tried here.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from archive import OPTIONS, Archive, programs

EXAMPLES, SCAN, MERGE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
LIMIT = 90  # s, for a container
PARTS = 5  # at once; the example has more
# Has read all, and waits until there is a list.
SLOW_SORT = """#!/bin/sh
cat > {folder}/all && mv {folder}/all {folder}/read
while [ ! -e {files} ]; do sleep 0.01; done
exec /usr/bin/sort "$@" < {folder}/read
"""


def check_job(job, claims):
    """What Kubernetes would only say when it is too late."""
    name, pod = job["metadata"]["name"], job["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"]}
    assert set(volumes.values()) <= claims, (name, volumes)
    [container] = pod["containers"]
    assert all(mount["name"] in volumes for mount in container["volumeMounts"]), name
    assert pod["restartPolicy"] == "Never", name  # what podFailurePolicy and backoffLimitPerIndex ask for
    for rule in job["spec"].get("podFailurePolicy", {}).get("rules", ()):
        assert rule.get("onExitCodes", {}).get("containerName", container["name"]) == container["name"], (name, rule)
    if job["spec"].get("completionMode") == "Indexed":
        [parts] = [int(variable["value"]) for variable in container["env"] if variable["name"] == "PARTS"]
        assert parts == job["spec"]["completions"], (name, parts)


class Cluster:
    """Runs the containers of jobs, with folders in place of the volumes."""

    def __init__(self, jobs, archive, folder):
        self.jobs, self.videos, self.results = jobs, archive.videos, folder / "results"
        self.results.mkdir()
        self.path = programs(folder / "bin", SCAN, MERGE, OPTIONS)

    def start(self, name, **variables):
        [container] = self.jobs[name]["spec"]["template"]["spec"]["containers"]
        # Paths in single quotes: the folder of the videos has a space in its name.
        script = container["args"][0].replace("find /videos", f"find '{self.videos}'").replace("/results", str(self.results))
        assert "/videos" not in script.replace(str(self.videos), ""), script
        environment = {**os.environ, "PATH": self.path, "HOSTNAME": f"{name}-{len(variables)}", **variables}
        return subprocess.Popen([*container["command"], script], env=environment, stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run(self, name, **variables):
        self.end(self.start(name, **variables))

    @staticmethod
    def end(process, status=0):
        errors = process.communicate(timeout=LIMIT)[1]
        assert process.returncode == status, (process.args, process.returncode, errors)


def check_run(jobs, folder):
    archive = Archive(folder, SCAN, frames=60)
    cluster = Cluster(jobs, archive, folder)
    # Two pods of one job at once: one list, the first, whatever the other one saw.
    slow, gone = folder / "slow", archive.videos / "gone soon.mkv"
    slow.mkdir()
    (slow / "sort").write_text(SLOW_SORT.format(folder=slow, files=cluster.results / "files"))
    (slow / "sort").chmod(0o755)
    gone.touch()
    second = cluster.start("framequality-list", HOSTNAME="pod-2", PATH=f"{slow}:{cluster.path}")
    end = time.monotonic() + LIMIT
    while not (slow / "read").exists():
        assert time.monotonic() < end, "find does not end"
        time.sleep(0.01)
    gone.unlink()
    cluster.run("framequality-list", HOSTNAME="pod-1")
    cluster.end(second)
    assert [path.name for path in cluster.results.iterdir()] == ["files"]
    files = (cluster.results / "files").read_bytes()
    assert files.count(b"\0") == archive.files
    late = archive.videos / "a new one.mkv"
    late.write_bytes(archive.original.read_bytes())
    cluster.run("framequality-list")
    assert (cluster.results / "files").read_bytes() == files
    # The last index is drained, and comes again.
    pods = {index: cluster.start("framequality-scan", PARTS=str(PARTS), JOB_COMPLETION_INDEX=str(index)) for index in range(PARTS)}
    pods[PARTS - 1].send_signal(signal.SIGTERM)
    pods[PARTS - 1].communicate(timeout=LIMIT)
    for index in range(PARTS - 1):
        cluster.end(pods[index])
    early = cluster.start("framequality-merge")
    cluster.end(early, 1)  # not all are done
    cluster.run("framequality-scan", PARTS=str(PARTS), JOB_COMPLETION_INDEX=str(PARTS - 1))
    cluster.run("framequality-merge")
    archive.compare(cluster.results)
    # Once more does nothing but try what could not be read.
    when = lambda: {path.name: path.stat().st_mtime_ns for path in (cluster.results / "tables").glob("*.json")}
    before = when()
    for index in range(PARTS):
        cluster.run("framequality-scan", PARTS=str(PARTS), JOB_COMPLETION_INDEX=str(index))
    again = [name for name, time in when().items() if before[name] != time]
    assert len(before) == archive.files and len(again) == 2, again


def main():
    try:
        import yaml
    except ImportError:
        print("SKIPPED: python3-yaml not installed (scripts/deps nightly installs it)")
        return 77
    paths = sorted((EXAMPLES / "kubernetes").glob("*.yaml"))
    documents = [document for path in paths for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))]
    claims = {document["metadata"]["name"] for document in documents if document["kind"] == "PersistentVolumeClaim"}
    jobs = {document["metadata"]["name"]: document for document in documents if document["kind"] == "Job"}
    assert len(jobs) == 3 and len(claims) == 2, (jobs.keys(), claims)
    for job in jobs.values():
        check_job(job, claims)
    with tempfile.TemporaryDirectory(prefix="fq-kubernetes-") as folder:
        check_run(jobs, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
