"""``jobsight bound``: which resource will bind a program, or a job's script?

With ``--json`` one SCRIPT or JOBID gives one object, several give a list. What cannot be read gives
a line on standard error, the others are answered, and the exit status is 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.answering.models import named_model
from jobsight.answering.session import AnswerSession
from jobsight.cli.common import (
    AnswerModelOption,
    ConfigOption,
    SaveOption,
    StoreOption,
    load_settings,
    opened_store,
)
from jobsight.cli.output import print_objects, report_problems, say
from jobsight.cli.terminal import field, fold, paint
from jobsight.clock import now_micros
from jobsight.errors import JobError, JobsightError, UsageError
from jobsight.format import percent
from jobsight.questions.bound.answering import BOUND_ANSWERS, Answer, Answerer
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["bound"]

_INDENT = 12
_SHOWN = 0.05
_COLOURS = {"unsure": "33"}


def bound(
    programs: Annotated[
        list[str],
        typer.Argument(
            metavar="SCRIPT|JOBID...",
            help="Programs, batch scripts, submit files; or ids of jobs in the store.",
            show_default=False,
        ),
    ],
    store: StoreOption = None,
    model: AnswerModelOption = None,
    save: SaveOption = False,
    config: ConfigOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object for one SCRIPT or JOBID, else a list.")
    ] = False,
) -> None:
    """Which resource will bind it: cpu, memory, io, network, gpu, or none?"""
    settings = load_settings(config, {"store": store})
    files = [name for name in programs if Path(name).exists()]
    if save and files:
        raise UsageError(f"{printable(files[0], 60)} is not a job; only answers of jobs are saved")
    opened = named_model(model, settings, BOUND_ANSWERS.question)
    session = AnswerSession(
        BOUND_ANSWERS, None, now_micros(), settings, model=opened, champions=model is None
    )
    answerer = session.answerer(None)
    answers: list[Answer] = []
    problems: list[str] = []
    for name in programs:
        try:
            if name in files:
                answers.append(answerer.of_file(name))
            else:
                answers += _of_job(answerer, name, settings)
        except JobsightError as error:
            problems.append(str(error))
    if save:
        from jobsight.cli.saving import keep_answers

        problems += keep_answers("bound", answers, settings, save=True)
    if as_json:
        print_objects(answers, single=len(programs) == 1)
    else:
        _print(answers)
    report_problems(problems)


def _of_job(answerer: Answerer, name: str, settings: Settings) -> list[Answer]:
    """Answers for the jobs of a name in the store.

    Raises:
        JobError: there is none with a script; `UsageError`: it is neither a file nor a job's id.
    """
    from jobsight.ids import parse_job_name
    from jobsight.store.store import find_ids

    try:
        job = parse_job_name(name)
    except UsageError:
        raise UsageError(f"{printable(name, 60)!r} is neither a file nor a job id") from None
    with opened_store(settings, [job]) as store:
        documents = [stored.document for stored in store.get(find_ids(store, job)).values()]
    scripts = [document for document in documents if document.submission.script is not None]
    if not scripts:
        raise JobError(f"the store has no script of job {job}")
    return [answerer.of_document(document) for document in scripts]


def _print(answers: list[Answer]) -> None:
    for number, one in enumerate(answers):
        if number:
            say("")
        name = printable(one.file, 200)
        if not one.is_job:
            say(fold(f"{paint('not a job', '33')}: {name}"))
        confidence = "" if one.confidence is None else f" ({percent(one.confidence)} sure)"
        word = paint(one.kind, _COLOURS.get(one.kind, "32"))
        head = f"{word}{confidence}  {name}" if one.is_job else f"while it runs: {word}{confidence}"
        say(fold(head))
        shown = [
            f"{kind} {percent(share)}" for kind, share in one.shares.items() if share >= _SHOWN
        ]
        say(field("shares", ", ".join(shown), _INDENT))
        for label, line in zip(["evidence", *[""] * 99], one.evidence, strict=False):
            place = printable(f"{line['file']}:{line['line']}", 200)
            say(field(label, f"· {place}: {printable(line['what'])}", _INDENT))
        say(field("model", printable(one.model, 80), _INDENT))
