# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Slurm of several nodes, all on 127.0.0.1, for a test: its own keys, ports and folders, nothing of the system's.

Ordinary users can start it as well as root; jobs run as whoever started it.
"""
import contextlib
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time

LIMIT = 60  # s, until something must have happened
DAEMONS = ("munged", "slurmctld", "slurmd")
os.environ["PATH"] += ":/usr/sbin:/sbin"  # theirs

# No cgroups, no accounting: what a container lets nobody do, or needs more daemons. cred_expire is how long a task waits
# that is queued once more; SlurmdTimeout, how long a node may be silent.
CONFIGURATION = """
ClusterName=small
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
PlugStackConfig={folder}/plugstack.conf
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0
SlurmdParameters=config_overrides
SlurmdTimeout=3
MessageTimeout=3
KillWait=2
ReturnToService=2
MailProg=/bin/true
MaxArraySize={array}
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs=4 RealMemory=8000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """What is not installed of what this needs."""
    return [name for name in (*DAEMONS, "sbatch", "setpriv") if not shutil.which(name)]


def until(what, condition, limit=LIMIT):
    """The condition's value once it has one."""
    end = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.02)
    return value


def ended(pid):
    """Whether a process is no more, or waits for nothing but somebody to ask how it ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def free_ports(nodes):
    """One port, and a row of free ones: Slurm wants its nodes' ports in a row."""
    for first in random.sample(range(20000, 32000), 100):
        with contextlib.ExitStack() as held:
            try:
                for port in range(first, first + nodes + 1):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return first, first + 1, first + nodes
            except OSError:
                continue
    raise AssertionError("no free ports")


class Slurm:
    """Use it with `with`: at the end all that it started is gone."""

    def __init__(self, folder, nodes=3, array=1001):
        self.folder = pathlib.Path(folder)
        self.configuration = self.folder / "slurm.conf"
        (self.folder / "state").mkdir()
        (self.folder / "plugstack.conf").touch()
        for i in range(nodes):
            (self.folder / f"spool-n{i + 1}").mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        self.configuration.write_text(CONFIGURATION.format(
            ports=free_ports(nodes), user=pwd.getpwuid(os.getuid()).pw_name, folder=self.folder, array=array, nodes=nodes))
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self.daemons = {}

    def __enter__(self):
        try:
            folder = self.folder
            # --force: it warns of folders that others might write to, as every temporary one, instead of giving up.
            self.start("munged", "--foreground", "--force", "--num-threads=4", f"--key-file={folder}/munge.key",
                       f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                       f"--seed-file={folder}/munged.seed")
            until("munged's socket", (folder / "munge.socket").exists)
            self.start("slurmctld", "-D", "-c")
            for node in self.nodes:
                self.start_node(node)
            until("the nodes are there", lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D", check=None).strip() == str(len(self.nodes)))
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exception):
        if any(exception):
            print(self.run("squeue", check=None), (self.folder / "slurmctld.out").read_text()[-4000:])
        # Its daemons, and whatever they have started: all say that they are of this cluster. More than once, since what is
        # about to end may yet start something.
        until("all its processes are gone", self.kill_all)
        for daemon in self.daemons.values():
            daemon.wait(LIMIT)

    def kill_all(self):
        """Whether there was nothing to kill."""
        found = self.processes()
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not found

    def start(self, program, *arguments, name=None):
        # Daemons go when this process goes, however it goes.
        with open(self.folder / f"{name or program}.out", "ab") as out:
            self.daemons[name or program] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", program, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=self.environment())

    def start_node(self, node):
        self.start("slurmd", "-D", "-N", node, name=node)

    def kill_node(self, node):
        """Its daemon is gone from one moment to the next. Tasks live on, as on a node that only the network lost."""
        self.daemons[node].kill()
        self.daemons[node].wait(LIMIT)

    def environment(self, **more):
        return {**os.environ, "SLURM_CONF": str(self.configuration), **more}

    def run(self, *command, check=0, env=None, **how):
        """What it printed, both streams."""
        run = subprocess.run([str(word) for word in command], env=self.environment(**(env or {})), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False, **how)
        assert check is None or run.returncode == check, (command, run.returncode, run.stdout)
        return run.stdout

    def processes(self, *variables, word=""):
        """Ids of this cluster's processes with all these strings among their variables (NAME=VALUE), and this one in the
        command line."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes()
                wanted = [f"SLURM_CONF={self.configuration}\0", *variables]
                if int(entry.name) == os.getpid() or not all(text.encode() in environment for text in wanted):
                    continue
                if word.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
        return found

    def jobs(self, array):
        """What Slurm says of each task of an array, by number; of a job that is no array, by 0."""
        found = {}
        for line in self.run("scontrol", "--oneliner", "show", "job", array).splitlines():
            facts = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if facts.get("ArrayTaskId", "0").isdigit():
                found[int(facts.get("ArrayTaskId", 0))] = facts
        return found

    def finish(self, *ids):
        """Waits until none of the jobs is under way."""
        listed = lambda: self.run("squeue", "--noheader", "--jobs", ",".join(ids), check=None)
        until(f"jobs {ids} end", lambda: not listed().strip())
