"""One run of an arm: a pool, the schedule played on it, and a bot that decides."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from threading import Event

from tests.testbed import EventLogOptions, HtcondorPool
from tests.trial.acting import Acting
from tests.trial.bot import Bot, Command, Policy
from tests.trial.results import account, releases_by_policy
from tests.trial.schedule import OWNERS, SITES, Outage, Schedule, Submission

__all__ = ["run_arm"]

_ATTRIBUTES = (
    "Owner", "Cmd", "JobStatus", "HoldReason", "HoldReasonCode", "HoldReasonSubCode",
    "NumJobStarts", "NumHolds", "RequestMemory", "RequestCpus", "RequestDisk", "MemoryUsage",
    "ExitCode",
)  # fmt: skip
_TICK = 0.25
_ROUND = 2.0


@dataclass
class Stage:
    """Plays a schedule on a pool.

    Attributes:
        clusters: submissions by their cluster's number, as far as they are submitted.
        begun: seconds of the monotonic clock.
    """

    pool: HtcondorPool
    schedule: Schedule
    begun: float = field(default_factory=time.monotonic)
    clusters: dict[int, Submission] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begun

    @property
    def work(self) -> Path:
        """Folder of the jobs' files."""
        return self.pool.folder / "work"

    def play(self, stop: Event) -> None:
        """Submit, break and repair at the planned moments, until all is done or `stop` is set."""
        for user in OWNERS:
            self.pool.namespace.own(self.pool.folder / "home" / user, user)
        planned = [
            *((one.at, partial(self._submit, one)) for one in self.schedule.submissions),
            *((one.begin, partial(self._break, one)) for one in self.schedule.outages),
            *((one.end, partial(self._repair, one)) for one in self.schedule.outages),
        ]
        for moment, act in sorted(planned, key=lambda pair: pair[0]):
            while self.now < moment:
                if stop.wait(min(_TICK, max(0.0, moment - self.now))):
                    return
            act()

    def fix(self, cluster: int) -> bool:
        """What the owner does when asked; whether the job may be released then."""
        one = self.clusters[cluster]
        if not one.recoverable:
            return False
        if one.cause in ("bug", "interpreter", "output"):
            self._write(one, fixed=True)
        elif one.cause == "input":
            (self.work / f"{one.name}.txt").write_text("input\n")
        elif one.cause in ("memory", "runtime"):
            edit = ("RequestMemory", "512") if one.cause == "memory" else ("MaxSeconds", "600")
            self.pool.run("condor_qedit", str(cluster), *edit, check=False)
        return True

    def run(self, command: Command, *, as_owner: bool) -> None:
        """Run a command about a job, as root or as its owner."""
        owner = self.clusters[int(command[-1].split(".")[0])].owner if as_owner else "root"
        self.pool.run(*command, user=owner, check=False)

    def _write(self, one: Submission, *, fixed: bool) -> None:
        program = self.work / f"{one.name}.sh"
        program.with_suffix(".new").write_text(one.program(fixed=fixed))
        program.with_suffix(".new").chmod(0o755)
        program.with_suffix(".new").rename(program)

    def _submit(self, one: Submission) -> None:
        self._write(one, fixed=False)
        lines = [f"{name} = {value}" for name, value in one.commands(self.work).items()]
        cluster = self.pool.submit_text(
            "\n".join([*lines, f"queue {one.count}", ""]), user=one.owner
        )
        self.clusters[cluster] = one

    def _break(self, one: Outage) -> None:
        self.pool.fail(
            site=one.site, origin=one.origin, status=one.status, message=one.message,
            delay=one.delay, share=one.share,
        )  # fmt: skip

    def _repair(self, one: Outage) -> None:
        self.pool.mend(site=one.site, origin=one.origin)


def run_arm(
    schedule: Schedule, policy_of: Callable[[Path], Policy], folder: Path,
    acting: Acting | None = None,
) -> None:  # fmt: skip
    """Play the schedule while a policy decides; `folder` gets the log, decisions and results.

    `result.json` is written last, so a run that was killed leaves none.

    Args:
        schedule: of the run.
        policy_of: gives the policy, from the event log's path.
        folder: must not have results of another run.
        acting: acts through HTCondor's policy meanwhile; then commands are of the jobs' owners.
    """
    folder.mkdir(parents=True, exist_ok=True)
    decisions = folder / "decisions.jsonl"
    decisions.write_text("")
    options = EventLogOptions(
        max_size=0, format_options="ISO_DATE, UTC, SUB_SECOND", attributes=_ATTRIBUTES
    )
    with HtcondorPool(sites=SITES, event_log_options=options) as pool:
        stage = Stage(pool, schedule)
        run = partial(stage.run, as_owner=acting is not None)
        bot = Bot(policy_of(pool.event_log), run, stage.fix, decisions, Random(schedule.seed))
        if acting is not None:
            bot.ask_again = _ROUND  # the answers are in the ads
        with nullcontext() if acting is None else acting(pool, folder):
            _run(stage, bot)
        shutil.copy(pool.event_log, folder / "EventLog")
        version = pool.run("condor_version").splitlines()[0].strip("$ ")
    result = {
        "seed": schedule.seed, "regime": schedule.regime, "seconds": schedule.seconds,
        "date": time.strftime("%Y-%m-%d", time.gmtime()), "htcondor": version,
        "messages": bot.messages,
        "released_by_policy": releases_by_policy(folder / "EventLog"),
        "jobs": account(folder / "EventLog", stage.clusters, schedule.seconds),
    }  # fmt: skip
    part = folder / "result.json.part"
    part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    part.rename(folder / "result.json")


def _run(stage: Stage, bot: Bot) -> None:
    """Rounds of the bot until the time is over, or nothing can happen any more."""
    stop = Event()
    with ThreadPoolExecutor(1) as threads:
        playing = threads.submit(stage.play, stop)
        try:
            while stage.now < stage.schedule.seconds:
                played = playing.done()
                queue = stage.pool.queue()
                held = [ad for ad in queue if ad["JobStatus"] == 5]
                bot.round(stage.now, held)
                if played and len(held) == len(queue) and bot.idle(held):
                    break
                time.sleep(_ROUND)
        finally:
            stop.set()
        playing.result()
