"""Work for a real HTCondor pool: every way in which its jobs can go, at random."""

import time
from random import Random
from typing import Any

from tests.chaos.work import Work
from tests.testbed import HtcondorPool
from tests.testbed.namespace import until

__all__ = ["CondorWork"]

_EXIT_HOLD = {"on_exit_hold": "ExitCode =?= 7", "on_exit_hold_subcode": 70}
_KINDS: dict[str, tuple[str, dict[str, object]]] = {
    "succeed": ("sleep 0.{0}; exit 0", {}),
    "fail": ("exit {0}1", {}),
    "signal": ("kill -{0} $$; sleep 9", {}),
    "exit hold": ("sleep 0.{0}; exit 7", _EXIT_HOLD),
    "policy": ("sleep 60", {"MyMaxSeconds": 1}),
    "long": ("sleep 30", {}),
    "array": ("exit $(($$ % 2))", {"count": 4}),
    "remove itself": ("sleep 60", {"periodic_remove": "JobStatus == 2 && NumJobStarts > 0"}),
    "come back": ("exit 7", {**_EXIT_HOLD, "periodic_release": "NumHolds < 3"}),
    "transfer": ("exit 0", {"transfer_input_files": "testbed://unsteady/{0}"}),
    "edited": ("sleep 2", {"request_memory": 96, "batch_name": "edited & <b>ünsafe</b>"}),
}
_FEW_SIGNALS = (9, 11, 15)


class CondorWork(Work):
    """Submits jobs up to a number, and holds, releases, removes, vacates and suspends them."""

    def __init__(self, pool: HtcondorPool, seed: str, most: int, pauses: tuple[float, float]):
        super().__init__(f"{seed} condor", pauses)
        self._pool = pool
        self._most = most
        self.submitted = 0
        self._clusters: list[int] = []
        self._kinds = list(_KINDS)

    def act(self) -> None:
        """Submit, most of the time, else meddle with a job."""
        if self.submitted < self._most and (not self._clusters or self.random.random() < 0.6):
            self._submit()
        else:
            self._meddle()

    def _submit(self) -> None:
        # Each kind comes before any comes again.
        if not self._kinds:
            self._kinds = list(_KINDS)
        kind = self._kinds.pop(self.random.randrange(len(self._kinds)))
        script, commands = _KINDS[kind]
        digit = self.random.choice(_FEW_SIGNALS) if kind == "signal" else self.random.randrange(10)
        told: dict[str, Any] = {
            name: value.format(digit) if isinstance(value, str) else value
            for name, value in commands.items()
        }
        site = self.random.choice((None, *self._pool.sites))
        user = self.random.choice(("alice", "bob"))

        def submit() -> None:
            cluster = self._pool.submit(script.format(digit), site=site, user=user, **told)
            self._clusters.append(cluster)
            self.submitted += told.get("count", 1)

        self.attempt(f"submit {kind}", submit)

    def _meddle(self) -> None:
        job = str(self.random.choice(self._clusters[-20:]))
        pool, random = self._pool, self.random
        actions = {
            "hold": lambda: pool.hold(job, reason=f"because: {_odd(random)}"),
            "release": lambda: pool.release(job),
            "release all": lambda: pool.run("condor_release", "-constraint", "NumHolds < 4"),
            "remove": lambda: pool.remove(job),
            "vacate": lambda: pool.run("condor_vacate_job", "-fast", job),
            "suspend": lambda: pool.run("condor_suspend", job),
            "continue": lambda: pool.run("condor_continue", job),
            "edit": lambda: pool.run("condor_qedit", job, "RequestMemory", "77"),
            "break": lambda: pool.fail(
                site=random.choice(pool.sites), origin="unsteady", status=random.randrange(1, 9)
            ),
            "mend": self._mend,
        }
        name = random.choice(list(actions))
        self.attempt(name, actions[name])

    def _mend(self) -> None:
        for site in self._pool.sites:
            self._pool.mend(site=site, origin="unsteady")

    def quiesce(self, timeout: float) -> None:
        """Let everything end but a job that waits for ever, and some that stay held."""
        self._mend()
        self._pool.submit("exit 0", requirements='TestbedSite == "NOWHERE"')
        asked = time.monotonic()

        def rest() -> bool:
            living = self._pool.queue("JobStatus =!= 5")
            waiting = [ad for ad in living if "NOWHERE" not in str(ad.get("Requirements"))]
            self._pool.run("condor_continue", "-all", check=False)
            if waiting and time.monotonic() - asked > 3:
                jobs = sorted({str(ad["ClusterId"]) for ad in waiting})
                self._pool.run("condor_rm", *jobs, check=False)
            return not waiting

        until(rest, "the pool to be at rest", timeout=timeout, pause=1)
        held = sorted(str(ad["ClusterId"]) for ad in self._pool.queue("JobStatus == 5"))
        for job in held[: len(held) // 2]:
            self.attempt("remove held", lambda job=job: self._pool.remove(job))  # type: ignore[misc]
        gone = set(held[: len(held) // 2])
        until(
            lambda: not gone & {str(ad["ClusterId"]) for ad in self._pool.queue()},
            "removed jobs to leave the queue",
            timeout=timeout,
        )


def _odd(random: Random) -> str:
    return random.choice(("maintenance", "Code 26 Subcode 9", 'a|b \\ "c"', "Ünïcode; $(reboot)"))
