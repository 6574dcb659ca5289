"""``jobsight acting``: act through the scheduler on answers for held jobs.

Exit status: 0 done, or the loop was stopped; 1 it cannot act, or with --once the round failed; 2
the call is wrong.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.acting.condor.writeback import EDIT_S, Writeback, take_back
from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.acting.sharing.policy import withdraw
from jobsight.cli.common import AnswerModelOption, ConfigOption, LogOption, StoreOption
from jobsight.cli.common import load_settings as load
from jobsight.cli.output import say
from jobsight.errors import SourceError, UsageError
from jobsight.history.condor.client import CondorClient
from jobsight.questions.hold.heldqueue import here
from jobsight.questions.hold.question import HOLD
from jobsight.service.acting import act
from jobsight.service.collector import stopping_on_signals
from jobsight.service.logs import set_up
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
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
    settings = load(config, {"acting": {"mode": mode}, "store": store}, HOLD)
    acting = settings.acting
    if acting.mode == "off":
        raise UsageError("acting is off: set acting.mode, or name a mode with --mode")
    writeback = _writeback(settings, log or [], wanted=store is not None, model=model)
    if dry_run:
        plan = writeback.plan()
        say(", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in plan.counts.items()))
        for change in plan.changes:
            say(printable(change))
        return
    if once:
        with Switch(acting.folder).alone():
            say(writeback.round())
        return
    set_up("text")
    with stopping_on_signals(0) as stops:
        stops(stop := _Stop())
        act([writeback.round], acting, stop)


def _writeback(
    settings: Settings, logs: list[str], *, wanted: bool, model: str | None
) -> Writeback:
    from jobsight.cli.hold import session_of_held

    if (schedd := here(settings)) is None:
        raise SourceError("this machine has no schedd: condor_config_val gives no FULL_HOSTNAME")

    def judge() -> list[Answer]:
        session, queue, pool = session_of_held(settings, logs, wanted=wanted, model=model)
        return queue.answers(session, pool)

    return Writeback(settings.condor, settings.acting, settings.acting.mode, schedd, judge)


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
        if withdraw(settings.acting):
            say("the policy on sharing nodes is withdrawn")
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
