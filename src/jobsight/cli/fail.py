"""``jobsight fail``: will it fail, of what, and what helps?

With ``--json`` one JOBID that is one job, and a SCRIPT, give one object; several ids, --pending and
--running give a list of objects, one per job. Where some of several ids name no job that waits or
runs, the others are answered, each of these gives a line on standard error, and the exit status
is 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

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
from jobsight.cli.output import say
from jobsight.cli.terminal import field, fold, paint, table
from jobsight.documents import State
from jobsight.errors import SourceError
from jobsight.format import UNKNOWN, hours, percent
from jobsight.program.site import Site
from jobsight.questions.fail.answering import FAIL_ANSWERS, RUNNING, by_cause
from jobsight.questions.fail.question import FAIL
from jobsight.questions.fail.wording import Words, worded
from jobsight.text import counted, printable

if TYPE_CHECKING:
    import polars as pl

    from jobsight.program.preflight.findings import Finding
    from jobsight.questions.fail.answering import Answer
    from jobsight.settings import Settings

__all__ = ["fail", "failures_now"]

_INDENT = 11
_HIGH, _SOME = 0.5, 0.2
_QUEUES = {"pending": [State.PENDING.value], "running": list(RUNNING)}


def fail(
    jobs: JobsArgument = None,
    pending: Annotated[bool, typer.Option("--pending", help="All jobs that wait.")] = False,
    running: Annotated[bool, typer.Option("--running", help="All jobs that run.")] = False,
    each: Annotated[bool, typer.Option("--each", help="One row per job, not per cause.")] = False,
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
    """Will it fail? Probability, likely cause, evidence and what to change."""
    wanted_queues = {"pending": pending, "running": running}
    queues = {name: states for name, states in _QUEUES.items() if wanted_queues[name]}
    wanted = asked(jobs or [], queues, user=user, save=save, options="--pending or --running")
    settings = load_settings(config, {"timezone": timezone, "store": store}, FAIL)
    inputs = [*(log or []), *(files or [])]
    errors = partial(_errors, wanted.script, settings)
    inputs, live = history_of(inputs, settings, store=store is not None, names=wanted.names)
    session = open_session(
        FAIL_ANSWERS, settings, inputs, live=live, model=model, at=at,
        adapt=lambda answerer: answerer.checked(errors),
    )  # fmt: skip
    wanted.report(
        session, save=save, as_json=as_json,
        table=partial(_print_table, queue=" or ".join(queues), when=session.when, each=each),
        page=partial(_print_answers, when=session.when),
    )  # fmt: skip


def failures_now(
    settings: Settings, inputs: list[str], rows: pl.Expr, model: str | None
) -> list[Answer]:
    """The answers as of now for many jobs, which an expression over the job table selects."""
    session = open_session(FAIL_ANSWERS, settings, inputs, live=True, model=model, at=None)
    return session.answer(rows)


def _errors(script: tuple[str, tuple[str, ...]] | None, settings: Settings) -> Sequence[Finding]:
    """What `check` finds wrong with the script that is asked about."""
    if script is None:
        return ()
    from jobsight.program.preflight.check import Checker

    path, options = script
    with contextlib.suppress(SourceError):  # it is no text: nothing can be said of it
        checker = Checker(Site.lately(), settings.check.ignore, options, shellcheck=False)
        report = checker.check(path)
        return [found for found in report.findings if found.severity == "error"]
    return ()


def _print_answers(answers: Sequence[Answer], when: str) -> None:
    """Print each answer with its evidence; `when`: the moment asked about, in words."""
    for number, answer in enumerate(answers):
        if number:
            say("")
        words = worded(answer.to_json())
        risk = 1.0 if answer.blocked else answer.probability
        end = ":" if answer.probability is None else ""
        say(fold(f"{_painted(words.risk, risk)}{end}  {title(answer.job)}"))
        if words.kinds:
            say(field("if so", words.kinds, _INDENT))
        for label, text in zip(["evidence", *[""] * 9], words.evidence, strict=False):
            say(field(label, f"· {text}", _INDENT))
        if words.advice:
            say(field("advice", _advice(words), _INDENT))
        if words.with_it:
            say(field("", words.with_it, _INDENT))
        if words.stake:
            say(field("at stake", words.stake, _INDENT))
        say(field("model", f"{printable(answer.model, 80)}, as of {when}", _INDENT))


def _advice(words: Words) -> str:
    return f"{words.advice}: {words.option}" if words.option else words.advice


def _painted(text: str, probability: float | None) -> str:
    if probability is None:
        return text
    return paint(text, "31" if probability >= _HIGH else "33" if probability >= _SOME else "32")


def _print_table(answers: Sequence[Answer], queue: str, when: str, *, each: bool) -> None:
    """Print many answers, those with most core-hours at stake first; `each`: a row per job."""
    if not answers:
        say(fold(f"no job is {queue} as of {when}"))
        return
    models = ", ".join(sorted({printable(one.model, 80) for one in answers}))
    say(fold(f"{counted(len(answers), 'job')} {queue} as of {when}; model: {models}"))
    expected = sum(one.probability or 0.0 for one in answers)
    at_stake = [one.at_stake for one in answers if one.at_stake is not None]
    lost = f", {hours(sum(at_stake))} core-hours at stake" if at_stake else ""
    say(f"{expected:,.1f} expected to fail{lost}")
    say("")
    headings = ["fails", "at stake", "jobs", "user", "name", "likely", "advice"]
    rows = []
    for group in by_cause(answers, each=each):
        first, stake, probability = group.members[0], group.at_stake, group.probability
        rows.append([
            _painted(percent(probability), probability),
            UNKNOWN if stake is None else f"{hours(stake)} h",
            printable(group.jobs, 60),
            printable(first.job["owner"] or first.job["account"] or UNKNOWN, 40),
            printable(first.job["name"] or UNKNOWN, 40),
            "" if first.kind is None else first.kind.replace("_", " "),
            _advice(worded(first.to_json())) or printable(first.blocked or ""),
        ])  # fmt: skip
    left = ["jobs", "user", "name", "likely", "advice"]
    say(table(headings, rows, ["advice", "name", "user"], left=left))
