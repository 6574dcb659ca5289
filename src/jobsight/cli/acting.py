"""``jobsight acting``: act through the scheduler on answers for held and pending jobs.

Exit status: 0 done, or the loop was stopped; 1 it cannot act, or with --once the round failed; 2
the call is wrong.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.acting.condor.writeback import EDIT_S, take_back
from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.acting.sharing.policy import withdraw
from jobsight.acting.slurm.plan import is_ours, is_waiting
from jobsight.acting.slurm.writeback import take_back as take_back_comments
from jobsight.cli.common import AnswerModelOption, ConfigOption, LogOption, StoreOption
from jobsight.cli.common import load_settings as load
from jobsight.cli.output import say
from jobsight.errors import JobsightError, SourceError, UsageError
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.questions.fail.question import FAIL
from jobsight.questions.hold.question import HOLD
from jobsight.questions.start.question import START
from jobsight.service.acting import (
    Judges,
    act,
    answers_of_pending,
    expected_by,
    pending_at,
    writebacks,
)
from jobsight.service.collector import stopping_on_signals
from jobsight.service.logs import set_up
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from jobsight.acting.condor.idle import Expected
    from jobsight.acting.slurm.plan import Answers
    from jobsight.questions.hold.answering.answer import Answer as HoldAnswer
    from jobsight.settings import Settings

__all__ = ["judges", "off", "on", "run", "status"]


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
    """Write answers into held jobs (HTCondor) and pending ones (Slurm), until it is stopped."""
    settings = load(config, {"acting": {"mode": mode}, "store": store}, HOLD, FAIL, START)
    acting = settings.acting
    if acting.mode == "off":
        raise UsageError("acting is off: set acting.mode, or name a mode with --mode")
    found = writebacks(settings, judges(settings, log or [], wanted=store is not None, model=model))
    if dry_run:
        for plan in (writeback.plan() for writeback, _ in found):
            counts = plan.counts.items()
            say(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts))
            for change in plan.changes:
                say(printable(change))
        return
    if once:
        with Switch(acting.folder).alone():
            for writeback, _ in found:
                say(writeback.round())
        return
    set_up("text")
    with stopping_on_signals(0) as stops:
        stops(stop := _Stop())
        act([(writeback.round, every) for writeback, every in found], acting, stop)


def judges(settings: Settings, logs: list[str], *, wanted: bool, model: str | None) -> Judges:
    """What gives answers of `logs` and the store (if `wanted`), else of what this machine has."""

    def held() -> list[HoldAnswer]:
        from jobsight.cli.hold import session_of_held

        session, queue, pool = session_of_held(settings, logs, wanted=wanted, model=model)
        return queue.answers(session, pool)

    def pending(names: Collection[str]) -> dict[str, Answers]:
        from jobsight.cli.asking import history_of
        from jobsight.cli.fail import failures_now
        from jobsight.cli.start import starts_now

        inputs, _ = history_of(logs, settings, store=wanted)
        own = "none" if model == "none" else None  # another model is of holds
        start, fail = (
            partial(ask, settings, inputs, model=own) for ask in (starts_now, failures_now)
        )
        cluster = SlurmClient(settings.slurm).cluster_name()
        return answers_of_pending(names, cluster, start, fail)

    def idle(schedd: str) -> list[Expected]:
        from jobsight.cli.asking import own_inputs
        from jobsight.cli.fail import failures_now
        from jobsight.cli.start import starts_now

        inputs = [*logs, *["store:"] * wanted] or own_inputs(settings, events=True)
        rows = pending_at(schedd)
        return expected_by(
            failures_now(settings, inputs, rows, None), starts_now(settings, inputs, rows, None)
        )

    return Judges(held, pending, idle)


class _Stop(threading.Event):
    """Ends the pause between two rounds; see `stopping_on_signals`."""

    stop = threading.Event.set


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
        failed = [why for take in _TAKERS if (why := _take_back(take, settings))]
        if not (
            CondorClient(settings.condor).has("condor_qedit")
            or SlurmClient(settings.slurm).has("scontrol")
        ):
            failed.append("neither scontrol nor condor_qedit is found to take back what is marked")
        if not quiet:
            failed.append("an edit is still under way")
    if failed:
        raise SourceError(
            f"{'; '.join(failed)}; what is marked for a policy expires within "
            f"{settings.acting.valid} s, a placement policy within a day; run `jobsight acting "
            "off` again"
        )


def _take_back(take: Callable[[Settings, DecisionLog], str], settings: Settings) -> str | None:
    """Take back what a scheduler was given, and say what; why it could not be, None: it was."""
    try:
        if done := take(settings, DecisionLog(settings.acting.folder)):
            say(f"taken back: {done}")
    except JobsightError as error:
        return str(error)
    return None


def _of_condor(settings: Settings, log: DecisionLog) -> str:
    if not CondorClient(settings.condor).has("condor_qedit"):
        return ""
    count = take_back(settings.condor, log)
    return f"{counted(count, 'job')}, on which HTCondor's policy could have acted"


def _of_slurm(settings: Settings, log: DecisionLog) -> str:
    if not SlurmClient(settings.slurm).has("scontrol"):
        return ""
    done, left = take_back_comments(settings.slurm, log)
    rest = f"; {left:,} are left to expire" if left else ""
    return f"the comments of {counted(done, 'record')} of Slurm{rest}"


def _of_sharing(settings: Settings, log: DecisionLog) -> str:
    if not withdraw(settings):
        return ""
    log.write("off", sharing="withdrawn")
    return "the policy on sharing nodes"


def _of_profiles(settings: Settings, log: DecisionLog) -> str:
    folder = settings.acting.profiles
    if folder is None:
        return ""
    try:
        (folder / "off").touch()
    except OSError as error:
        raise SourceError(f"cannot write {folder / 'off'}: {error.strerror}") from None
    log.write("off", profiles="ended")
    return "samplers of Slurm's prologs, which end within 5 s"


_TAKERS = (_of_condor, _of_slurm, _of_profiles, _of_sharing)
"""Those first on which a policy acts within seconds."""


def on(config: ConfigOption = None) -> None:
    """Remove the kill file that `acting off` wrote."""
    settings = load(config, {})
    _as_owner(settings.acting.folder)
    Switch(settings.acting.folder).turn_on()
    if (profiles := settings.acting.profiles) is not None:
        with contextlib.suppress(OSError):  # it is not there, or another account's
            (profiles / "off").unlink()
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
    condor, slurm = CondorClient(settings.condor), SlurmClient(settings.slurm)
    if condor.has("condor_q"):
        ads = condor.all_held(("JobsightAct",))
        marked = sum(ad.get("JobsightAct") is True for ad in ads)
        say(f"marked   {marked:,} of {counted(len(ads), 'held job')}")
    if slurm.has("scontrol"):
        queue = [line for line in slurm.queue() if is_waiting(line)]
        say(f"comments {sum(map(is_ours, queue)):,} of {counted(len(queue), 'pending record')}")
