"""``jobsight fail``: will it fail, of what, and what helps?

With ``--json`` one JOBID that is one job, and a SCRIPT, give one object; several ids, --pending and
--running give a list of objects, one per job. Where some of several ids name no job that waits or
runs, the others are answered, each of these gives a line on standard error, and the exit status
is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

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
from jobsight.format import UNKNOWN, chance, hours, percent
from jobsight.program.submission.proposals import Ceilings
from jobsight.questions.fail.answering import FAIL_ANSWERS, RUNNING, by_cause
from jobsight.questions.fail.evidence import Advice
from jobsight.questions.fail.question import FAIL
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.fail.answering import Answer
    from jobsight.settings import Settings

__all__ = ["fail"]

_INDENT = 11
_SHOWN_KIND = 0.05
_HIGH, _SOME = 0.5, 0.2
_PLACE = ("scheduler", "scheduler_name", "partition")
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
    most = cache(partial(_ceilings, settings))

    def adapt(one: Any) -> Any:
        return one.within(lambda job: most(*(job[name] for name in _PLACE)))

    inputs, live = history_of(inputs, settings, store=store is not None, names=wanted.names)
    session = open_session(
        FAIL_ANSWERS, settings, inputs, live=live, model=model, at=at, adapt=adapt
    )
    wanted.report(
        session, save=save, as_json=as_json,
        table=partial(_print_table, queue=" or ".join(queues), when=session.when, each=each),
        page=partial(_print_answers, when=session.when),
    )  # fmt: skip


def _ceilings(settings: Settings, scheduler: str, cluster: str, partition: str | None) -> Ceilings:
    """The most that a job may ask for, where it is one of this machine's cluster or pool."""
    from jobsight.history.condor.client import CondorClient
    from jobsight.program.site import Site

    if scheduler == "htcondor":
        return Ceilings(CondorClient(settings.condor).largest_slot().get("RequestMemory"))
    site = Site.lately()
    if site is None or site.config.get("clustername") != cluster:
        return Ceilings()
    return site.ceilings(partition.split(",") if partition else ())


def _print_answers(answers: Sequence[Answer], when: str) -> None:
    """Print each answer with its evidence; `when`: the moment asked about, in words."""
    for number, answer in enumerate(answers):
        if number:
            say("")
        risk = "no probability, no job has ended yet:"
        if answer.blocked is not None:
            risk = paint(f"will never start as it is: {printable(answer.blocked)}:", "31")
        elif answer.probability is not None:
            chances = chance(answer.probability, answer.low, answer.high)
            risk = _painted(f"{chances} to fail", answer.probability)
        say(fold(f"{risk}  {title(answer.job)}"))
        kinds = [
            f"{kind.replace('_', ' ')} {percent(share)}"
            for kind, share in answer.kinds.items()
            if share >= _SHOWN_KIND
        ]
        if kinds:
            say(field("if so", ", ".join(kinds), _INDENT))
        for label, finding in zip(["evidence", *[""] * 9], answer.evidence, strict=False):
            say(field(label, f"· {printable(finding['text'])}", _INDENT))
        if answer.advice is not None:
            say(field("advice", _advice(answer.advice), _INDENT))
        if answer.with_advice is not None:
            like = counted(answer.advice.known if answer.advice else 0, "like run")
            text = f"{percent(answer.with_advice)} to fail with it ({like} had it)"
            say(field("", text, _INDENT))
        if answer.at_stake is not None:
            say(field("at stake", f"{hours(answer.at_stake)} core-hours", _INDENT))
        say(field("model", f"{printable(answer.model, 80)}, as of {when}", _INDENT))


def _advice(advice: Advice) -> str:
    text = printable(advice.text)
    return text if advice.option is None else f"{text}: {advice.option}"


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
            printable(first.blocked or "") if first.advice is None else _advice(first.advice),
        ])  # fmt: skip
    left = ["jobs", "user", "name", "likely", "advice"]
    say(table(headings, rows, ["advice", "name", "user"], left=left))
