"""``jobsight start``: when will it start, how long will it run, and what would start sooner?

With ``--json`` one JOBID that is one job, and a SCRIPT, give one object; several ids and --pending
give a list of objects, one per job. Where some of several ids name no job that waits or runs, the
others are answered, each of these gives a line on standard error, and the exit status is 1.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from jobsight.answering.machine import slurm_client
from jobsight.cli.asking import (
    ImportOption,
    JobsArgument,
    OneOrListOption,
    asked,
    history_of,
    open_session,
    title,
)
from jobsight.cli.common import (
    AnswerModelOption,
    AtOption,
    ConfigOption,
    LogOption,
    SaveOption,
    StoreOption,
    TimezoneOption,
    UserOption,
    load_settings,
)
from jobsight.cli.output import note, say
from jobsight.cli.terminal import field, fold, paint, table
from jobsight.clock import format_span
from jobsight.documents import State
from jobsight.documents.states import slurm_state
from jobsight.errors import SourceError
from jobsight.format import UNKNOWN, clock
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient, SlurmError
from jobsight.history.slurm.ids import expand
from jobsight.history.slurm.pendingreasons import is_busy
from jobsight.questions.start.answering import AT_ONCE, START_ANSWERS
from jobsight.questions.start.question import START
from jobsight.questions.start.queue import Machine
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jobsight.answering.session import AnswerSession
    from jobsight.questions.start.answering import Answer
    from jobsight.settings import Settings

__all__ = ["answers_now", "start", "starts_now"]

_QUEUE = [State.PENDING.value, State.HELD.value]
_ANALYSED = 3
"""Idle HTCondor jobs that are analysed, one call for each."""
_ONLY = "only jobs of {} are seen here: others' may be ahead, uncounted"
_INDENT = 12


def start(
    jobs: JobsArgument = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="All jobs that wait, by their expected start.")
    ] = False,
    user: UserOption = None,
    store: StoreOption = None,
    log: LogOption = None,
    files: ImportOption = None,
    model: AnswerModelOption = None,
    at: AtOption = None,
    save: SaveOption = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: OneOrListOption = False,
) -> None:
    """When will it start, how long will it run, and what would start sooner?"""
    queues = {"pending": _QUEUE} if pending else {}
    wanted = asked(jobs or [], queues, user=user, save=save, options="--pending")
    settings = load_settings(config, {"timezone": timezone, "store": store}, START)
    inputs = [*(log or []), *(files or [])]
    of_now = at is None and not inputs
    analysed = (jobs or []) if of_now else None
    inputs, live = history_of(inputs, settings, store=store is not None, names=wanted.names)
    session = _opened(settings, inputs, analysed, live=live, model=model, at=at)
    wanted.report(
        session, save=save, as_json=as_json,
        table=partial(_print_table, when=session.when),
        page=partial(_print_answers, when=session.when),
    )  # fmt: skip


def _opened(
    settings: Settings, inputs: list[str], jobs: Sequence[str] | None,
    *, live: bool = True, model: str | None = None, at: str | None = None,
) -> AnswerSession[Answer]:  # fmt: skip
    """The session that answers; with what the cluster is now, unless `jobs` is None.

    HTCondor analyses why the first few of its idle jobs in `jobs` do not start.
    """
    machine = Machine() if jobs is None else _machine(settings, jobs)
    analysis = {} if jobs is None else _analysis(jobs, settings)
    return open_session(
        START_ANSWERS, settings, inputs, live=live, model=model, at=at,
        adapt=lambda answerer: answerer.of_cluster(machine, analysis),
    )  # fmt: skip


def _machine(settings: Settings, jobs: Sequence[str]) -> Machine:
    """The nodes and partitions, and jobs as squeue shows them, where Slurm's tools answer."""
    if not SlurmClient(settings.slurm).has("scontrol"):
        return Machine()
    numbers = {re.split("[_+]", id_.rpartition(":")[2])[0] for id_ in jobs}
    numbers = {number for number in numbers if number.isdecimal()}
    try:
        client = slurm_client(settings)
        shown = [
            (job.name, line.user, line.reason, line.start)
            for line in (client.queue(numbers) if numbers else ())
            if slurm_state(line.state) is State.PENDING
            for job in expand(line.id, settings.slurm.array_tasks)[0]
        ]
        return Machine(*client.machine(), shown)
    except SlurmError as error:
        note(f"what the cluster has is taken from the history: {printable(error, 200)}")
        return Machine()


def _analysis(jobs: Sequence[str], settings: Settings) -> Mapping[str, Sequence[str]]:
    """What HTCondor says of idle jobs that are asked about, where its tools are here."""
    client = CondorClient(settings.condor)
    names = [one.rpartition(":")[2] for one in jobs]
    numbers = [one for one in names if one.replace(".", "", 1).isdecimal() and "." in one]
    if not client.has("condor_q"):
        return {}
    found: dict[str, list[str]] = {}
    for number in numbers[:_ANALYSED]:
        try:
            found[number] = client.analysis(number)
        except SourceError as error:
            note(f"condor_q: {printable(error, 200)}")
    return found


def answers_now(
    settings: Settings, inputs: list[str], first: Sequence[str], others: Sequence[str]
) -> dict[str | None, Answer]:
    """The answers as of now for jobs of these ids, by id; for `first` see `_opened`."""
    session = _opened(settings, inputs, first)
    answers = session.answer(pl.col("id").is_in([*first, *others]))
    return {answer.id: answer for answer in answers}


def starts_now(
    settings: Settings, inputs: list[str], rows: pl.Expr, model: str | None
) -> list[Answer]:
    """The answers as of now for many jobs, which an expression over the job table selects."""
    return _opened(settings, inputs, [], model=model).answer(rows)


def _print_answers(answers: Sequence[Answer], when: str) -> None:
    """Print each answer; `when`: the moment asked about, in words."""
    for number, one in enumerate(answers):
        if number:
            say("")
        say(fold(f"{_headline(one)}  {title(one.job)}"))
        for label, text in zip(["waits for", *[""] * 99], one.waits_for, strict=False):
            say(field(label, f"· {printable(text)}", _INDENT))
        if one.runtime is not None:
            low, middle, high = map(_span, one.runtime)
            say(field("runs", f"{low} to {high}, half under {middle}", _INDENT))
        for label, advice in zip(["sooner", *[""] * 9], one.advice, strict=False):
            runs = counted(advice.support, "run")
            gain = format_span(advice.gain_s)
            text = f"· {printable(advice.text)} ({advice.option}): {gain} earlier, by {runs}"
            say(field(label, text, _INDENT))
        if words := _slurm_says(one):
            say(field("Slurm says", words, _INDENT + 1))
        if one.only_of is not None:
            say(field("note", _ONLY.format(printable(one.only_of, 60)), _INDENT))
        say(field("model", f"{printable(one.model, 80)}, as of {when}", _INDENT))


def _slurm_says(one: Answer) -> str:
    """The reason and the estimate that Slurm gives, and why this answer differs."""
    estimate, reason = one.job["estimate"], one.job["reason"] or ""
    if one.job["state"] not in _QUEUE or one.job["scheduler"] != "slurm":
        return ""
    words = [printable(reason, 80)] if is_busy(reason) else []  # others are said in words
    if estimate is not None and one.blocked is None and estimate > one.moment:
        plan = f"it is planned for {clock(estimate, one.moment)}"
        if one.starts is not None and not one.starts[0] <= estimate <= one.starts[2]:
            longer = one.only_of is None and estimate > one.starts[2]
            plan += ", " + (
                "if all that run use up their limits" if longer else "by more than is seen here"
            )
        words.append(plan)
    return "; ".join(words)


def _headline(one: Answer) -> str:
    if one.blocked is not None:
        return paint(f"will not start by itself: {printable(one.blocked)}:", "31")
    if one.ends is not None:
        low, middle, high = (clock(at, one.moment) for at in one.ends)
        return f"likely ends between {low} and {high}, half by {middle}:"
    if one.starts is None or one.wait is None:
        if one.job["state"] not in (*_QUEUE, None):
            return "runs:"
        if one.not_before is not None:
            low, middle, _ = (clock(at, one.moment) for at in one.not_before)
            return f"likely starts after {low}, half after {middle}:"
        if (plan := one.job["estimate"] or 0) > one.moment:
            return f"Slurm plans its start for {clock(plan, one.moment)}:"
        return "its start is not known:"
    if one.wait[2] <= AT_ONCE and not is_busy(one.job["reason"]):
        alone = "" if one.only_of is None else f", by {printable(one.only_of, 60)}'s jobs alone"
        return paint(f"likely starts at once{alone}:", "32")
    low, middle, high = (clock(at, one.moment) for at in one.starts)
    if low == high:
        return f"likely starts at {low}:"
    return f"likely starts between {low} and {high}, half by {middle}:"


def _span(seconds: float) -> str:
    """``45 s``, ``12 min``, ``1 h 10 min``, ``2 d 3 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, left = divmod(minutes, 60)
        return f"{hours} h {left} min" if left and hours < 10 else f"{round(minutes / 60)} h"
    days, hours = divmod(round(minutes / 60), 24)
    return f"{days} d {hours} h" if hours and days < 10 else f"{days} d"


def _print_table(answers: Sequence[Answer], when: str) -> None:
    """Print the queue, what is expected to start first at the top."""
    if not answers:
        say(fold(f"no job is pending as of {when}"))
        return
    models = ", ".join(sorted({printable(one.model, 80) for one in answers}))
    say(fold(f"{counted(len(answers), 'job')} pending as of {when}; model: {models}"))
    for user in sorted({one.only_of for one in answers if one.only_of is not None}):
        say(fold(_ONLY.format(printable(user, 60))))
    say("")
    far = float("inf")
    rows = []
    for answer in sorted(answers, key=lambda answer: (answer.wait or (far,) * 3)[1]):
        job, middle, between, runs = answer.job, UNKNOWN, UNKNOWN, UNKNOWN
        if answer.starts is not None:
            low, middle, high = (clock(at, answer.moment) for at in answer.starts)
            between = f"{low}–{high}"
        elif answer.not_before is not None:
            between = f"after {clock(answer.not_before[0], answer.moment)}"
        if answer.runtime is not None:
            runs = f"{_span(answer.runtime[0])}–{_span(answer.runtime[2])}"
        rows.append([
            middle,
            between,
            runs,
            printable(job["job"], 40),
            printable(job["owner"] or job["account"] or UNKNOWN, 40),
            printable(job["name"] or UNKNOWN, 40),
            UNKNOWN if job["request_cpus"] is None else f"{job['request_cpus']:,}",
            printable(answer.blocked or job["reason"] or "", 80),
        ])  # fmt: skip
    headings = ["half by", "likely between", "runs", "job", "user", "name", "CPUs", "why"]
    left = ["half by", "likely between", "runs", "job", "user", "name", "why"]
    say(table(headings, rows, ["CPUs", "name", "user", "runs", "likely between"], left=left))
