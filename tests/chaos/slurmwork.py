"""Work for a real Slurm cluster: every way in which its jobs can go, at random."""

import time

from tests.chaos.work import Work
from tests.testbed import SlurmCluster
from tests.testbed.namespace import until

__all__ = ["SlurmWork"]

_ARRAY = "exit $((SLURM_ARRAY_TASK_ID % 2))"
_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "succeed": ("sleep 0.{0}", ()),
    "fail": ("exit {0}1", ("--mem=77", "--time=7")),
    "signal": ("kill -{1} $$; sleep 9", ()),
    "array": (f"sleep 0.{{0}}; {_ARRAY}", ("--array=0-3",)),
    "slow array": ("sleep 2", ("--array=1-7:2%2", "--cpus-per-task=2")),
    "long": ("sleep 20", ("--requeue",)),
    "held": ("exit 0", ("--hold",)),
    "named": ("sleep 1", ("--job-name=a|b;c$(d) ünd\\n", "--comment=<b>|x")),
    "het": ("sleep 1; exit {0}", ("--mem=50", ":", "--mem=60", "--ntasks=1")),
    "later": ("exit 0", ("--begin=now+4",)),
    "waits": ("exit 0", ("--mem=7900",)),
    "impossible": ("exit 0", ("--partition=short", "--time=5")),
    "two nodes": ("srun sleep 0.{0}", ("--nodes=2", "--ntasks=2")),
    "requeues itself": (
        'test "$SLURM_RESTART_COUNT" || scontrol requeue $SLURM_JOB_ID; sleep 1; exit {0}',
        ("--requeue",),
    ),
}
_FEW_SIGNALS = (6, 9, 11)


class SlurmWork(Work):
    """Submits jobs up to a number, and holds, releases, requeues, suspends and cancels them."""

    def __init__(self, cluster: SlurmCluster, seed: str, most: int, pauses: tuple[float, float]):
        super().__init__(f"{seed} slurm", pauses)
        self._cluster = cluster
        self._most = most
        self.submitted = 0
        self.jobs: list[str] = []
        self._kinds = list(_KINDS)

    def act(self) -> None:
        """Submit, most of the time, else meddle with a job."""
        if self.submitted < self._most and (not self.jobs or self.random.random() < 0.6):
            self._submit()
        else:
            self._meddle()

    def _submit(self) -> None:
        if not self._kinds:
            self._kinds = list(_KINDS)
        kind = self._kinds.pop(self.random.randrange(len(self._kinds)))
        script, options = _KINDS[kind]
        body = script.format(self.random.randrange(10), self.random.choice(_FEW_SIGNALS))
        user = self.random.choice(("alice", "bob"))

        def submit() -> None:
            self.jobs.append(self._cluster.submit(body, *options, user=user))
            self.submitted += 4 if "array" in kind else 2 if kind == "het" else 1

        self.attempt(f"submit {kind}", submit)

    def _meddle(self) -> None:
        job = self.random.choice(self.jobs[-15:])
        cluster = self._cluster
        task = f"{job}_{self.random.randrange(4)}"
        actions = {
            "cancel": lambda: cluster.cancel(job),
            "cancel as user": lambda: cluster.run("scancel", job, user="alice"),
            "cancel a task": lambda: cluster.cancel(task),
            "kill": lambda: cluster.cancel(job, "--signal=KILL"),
            "hold": lambda: cluster.hold(job),
            "hold a task": lambda: cluster.hold(task),
            "release": lambda: cluster.release(job),
            "hold what waits": lambda: cluster.hold(self._waiting(held=False)),
            "release what is held": lambda: cluster.release(self._waiting(held=True)),
            "requeue": lambda: cluster.requeue(job),
            "requeue and hold": lambda: cluster.run("scontrol", "requeuehold", job),
            "suspend": lambda: cluster.run("scontrol", "suspend", job),
            "resume": lambda: cluster.run("scontrol", "resume", job),
            "change": lambda: cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=3"),
        }
        name = self.random.choice(list(actions))
        self.attempt(name, actions[name])

    def _waiting(self, *, held: bool) -> str:
        """A pending job that is held, or one that is not."""
        said = self._cluster.run("squeue", "-h", "--states=PD", "-o", "%A %r")
        jobs = [line.split()[0] for line in said.splitlines() if ("Held" in line) == held]
        return self.random.choice(jobs or self.jobs)

    def hold_some(self, count: int) -> None:
        """Jobs that wait, held by their user or an admin, and half of these released again.

        A heterogeneous one is among them, which never starts: sacct calls its components otherwise.
        """
        self.jobs.append(self._cluster.submit("exit 0", "--begin=now+3600", ":", "--mem=60"))
        for at in range(count):
            job = self._cluster.submit(
                "exit 0", "--begin=now+3600", *(["--hold"] if at % 2 else [])
            )
            self.jobs.append(job)
            if not at % 2:
                self._cluster.hold(job)
            if at % 4 > 1:
                time.sleep(self.random.uniform(0, 1.5))
                self._cluster.release(job)

    def quiesce(self, timeout: float) -> None:
        """Let everything end, and the accounts know it."""
        begun = time.monotonic()

        def rest() -> bool:
            states = "PD,R,CG,S,CF,RQ,SE,ST"
            said = self._cluster.run("squeue", "-h", f"--states={states}", "-o", "%A %i %F")
            # 22.05 knows some by the task's name alone (76 no more, but 75_1), others by number.
            jobs = sorted({word for line in said.splitlines() for word in line.split()})
            if jobs and time.monotonic() - begun > 4:
                self._cluster.resume_nodes()
                self._cluster.run("scontrol", "resume", ",".join(jobs), check=False)
                self._cluster.run("scancel", *(job for job in jobs if "[" not in job), check=False)
            return not jobs

        until(rest, "the cluster to be at rest", timeout=timeout, pause=1)
        until(self._accounted, "slurmdbd to be told of all ends", timeout=timeout, pause=0.5)

    def _accounted(self) -> bool:
        """Whether the controller has nothing left to tell slurmdbd."""
        return "DBD Agent queue size: 0\n" in self._cluster.run("sdiag")
