"""``jobsight acting``: act through the scheduler on answers for held jobs.

Exit status: 0 done, or the loop was stopped; 1 it cannot act, or with --once the round failed; 2
the call is wrong.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from jobsight.acting.condor.idle import Expected, IdleWriteback
from jobsight.acting.condor.writeback import EDIT_S, Writeback, take_back
from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.cli.common import AnswerModelOption, ConfigOption, LogOption, StoreOption
from jobsight.cli.common import load_settings as load
from jobsight.cli.output import say
from jobsight.documents import State
from jobsight.errors import JobsightError, SourceError, UsageError
from jobsight.history.condor.client import CondorClient
from jobsight.questions.fail.question import FAIL
from jobsight.questions.hold.question import HOLD
from jobsight.questions.start.question import START
from jobsight.service.collector import stopping_on_signals
from jobsight.service.logs import LastError, set_up
from jobsight.service.logs import log as log_event
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["off", "on", "run", "status"]


def run(
    mode: Annotated[
        str | None,
        typer.Option(metavar="observe|advise|enforce", help="Mode (default: acting.mode)."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="One round, then end.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what a round would do; do and log nothing.")
    ] = False,
    log: LogOption = None,
    store: StoreOption = None,
    model: AnswerModelOption = None,
    config: ConfigOption = None,
) -> None:
    """Write answers into held jobs, round by round, until it is stopped."""
    settings = load(config, {"acting": {"mode": mode}, "store": store}, HOLD, FAIL, START)
    acting = settings.acting
    if acting.mode == "off":
        raise UsageError("acting is off: set acting.mode, or name a mode with --mode")
    from jobsight.cli.hold import answers_of_held

    logs, wanted = log or [], store is not None
    schedd = settings.access_point or CondorClient(settings.condor).schedd_name()
    if schedd is None:
        raise SourceError("this machine has no schedd: condor_config_val gives no FULL_HOSTNAME")
    held = partial(answers_of_held, settings, logs, wanted=wanted, model=model)
    writeback = Writeback(settings.condor, acting, acting.mode, schedd, held)
    idle = None
    if acting.idle:
        judge = partial(expected_of_idle, settings, logs, schedd, wanted=wanted)
        idle = IdleWriteback(settings.condor, acting, acting.mode, judge)
    if dry_run:
        plan = writeback.plan()
        _print_plan(plan.changes, plan.counts)
        if idle is not None:
            _print_plan(*idle.plan()[:2])
        return
    rounds = {"held": _Timed(writeback.round, 0.0)}
    if idle is not None:
        rounds["idle"] = _Timed(idle.round, acting.renew)
    with Switch(acting.folder).alone():
        if once:
            for timed in rounds.values():
                say(timed.round())
        else:
            _loop(rounds, acting.every)


def _print_plan(changes: Sequence[object], counts: Mapping[str, int]) -> None:
    say(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()))
    for change in changes:
        say(printable(change))


@dataclass
class _Timed:
    """A round, and seconds that pass at least between two of them."""

    round: Callable[[], str]
    every: float
    due: float = -math.inf


def expected_of_idle(
    settings: Settings, logs: list[str], schedd: str, *, wanted: bool
) -> list[Expected]:
    """What champions, or rates, expect of the pending jobs of a schedd of HTCondor, as of now.

    `logs` and `wanted` (the store) are what is read; where neither is named, see `own_inputs`.

    Raises:
        JobsightError: nothing can be read.
    """
    from jobsight.cli.asking import open_session, own_inputs
    from jobsight.questions.fail.answering import FAIL_ANSWERS
    from jobsight.questions.fail.wording import worded
    from jobsight.questions.start.answering import START_ANSWERS

    inputs = [*logs, *["store:"] * wanted] or own_inputs(settings, events=True)
    place = pl.col("scheduler_name").cast(pl.String).str.to_lowercase()
    pending = (
        (pl.col("state").cast(pl.String) == State.PENDING.value)
        & (pl.col("scheduler") == "htcondor")
        # A log that does not name its access point is of this one.
        & ((place == schedd.lower()) | place.str.contains(r"^log-[0-9a-f]+$"))
    )
    fails, starts = (
        open_session(answers, settings, inputs, live=True, model=None, at=None).answer(pending)
        for answers in (FAIL_ANSWERS, START_ANSWERS)
    )
    spans = {answer.id: answer.starts for answer in starts}
    expected = []
    for answer in fails:
        job, words = answer.job, worded(answer.to_json())
        cluster, _, proc = job["job"].partition(".")
        rests_on = words.advice or next(iter(words.evidence), "")
        start = spans.get(answer.id)
        expected.append(
            Expected(
                (int(cluster), int(proc)),
                job["submit"] and job["submit"].timestamp(),
                answer.probability,
                start and (start[0] / 1e6, start[1] / 1e6, start[2] / 1e6),
                answer.blocked or rests_on,
                answer.model,
            )
        )
    return expected


class _Stop:
    """Ends the pause between two rounds; see `stopping_on_signals`."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def stop(self) -> None:
        self.asked.set()


def _loop(rounds: Mapping[str, _Timed], every: float) -> None:
    """Rounds until a signal; a round that fails is logged, and the next one starts anew."""
    set_up("text")
    failed, stop = {name: LastError() for name in rounds}, _Stop()
    with stopping_on_signals(0) as stops:
        stops(stop)
        while not stop.asked.is_set():
            for name, timed in rounds.items():
                if timed.due > time.monotonic():
                    continue
                timed.due = time.monotonic() + timed.every
                try:
                    log_event("round", done=timed.round())
                    failed[name].resolve()
                except JobsightError as error:
                    failed[name].record("round failed", error)
            stop.asked.wait(every)


def _as_owner(folder: Path) -> None:
    """Let root go on as the account that acts, which must be able to write what is made here."""
    if os.geteuid() == 0 and folder.is_dir() and (owner := folder.stat()).st_uid != 0:
        os.setgroups([])
        os.setgid(owner.st_gid)
        os.setuid(owner.st_uid)


def off(config: ConfigOption = None) -> None:
    """Stop all that acts, and take back what a policy could act on."""
    settings = load(config, {})
    _as_owner(settings.acting.folder)
    switch = Switch(settings.acting.folder)
    with switch.turn_off(EDIT_S + 1.0) as quiet:
        say(f"off: {switch.kill_file} is written, and no edit begins any more")
        try:
            done = take_back(settings.condor, DecisionLog(settings.acting.folder))
        except SourceError as error:
            raise SourceError(
                f"{error}; what is marked was not taken back: the policy acts on it for at most "
                f"{settings.acting.valid} s more; try `jobsight acting off` again"
            ) from None
        say(f"taken back: {counted(done, 'job')}, on which the policy could have acted")
        if not quiet:
            raise SourceError("an edit is still under way; run `jobsight acting off` again")


def on(config: ConfigOption = None) -> None:
    """Remove the kill file that `acting off` wrote."""
    settings = load(config, {})
    _as_owner(settings.acting.folder)
    Switch(settings.acting.folder).turn_on()
    say(f"on; the mode is {settings.acting.mode}")


def status(config: ConfigOption = None) -> None:
    """Show the mode, the switch, who acts, and how many jobs are marked for the policy."""
    settings = load(config, {})
    switch = Switch(settings.acting.folder)
    say(f"mode     {settings.acting.mode}")
    say(f"switch   {switch.refusal() or 'on'}")
    say(f"acting   {switch.acting() or 'no process'}")
    last = next(DecisionLog(settings.acting.folder).latest(), None)
    shown = "nothing yet" if last is None else f"{last.get('what')}, {last.get('time')}"
    say(f"last     {printable(shown, 80)}")
    ads = CondorClient(settings.condor).all_held(("JobsightAct",))
    marked = sum(ad.get("JobsightAct") is True for ad in ads)
    say(f"marked   {marked:,} of {counted(len(ads), 'held job')}")
