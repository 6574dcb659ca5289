"""``jobsight why``: why a job failed, or what an output file alone says of that."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer

from jobsight.cli.common import (
    ClusterOption,
    ConfigOption,
    JsonOption,
    StoreOption,
    TimezoneOption,
    load_settings,
    opened_store,
)
from jobsight.cli.output import note, print_json, report_problems, say
from jobsight.cli.terminal import field, paint
from jobsight.documents import JobDocument
from jobsight.errors import JobError, UsageError
from jobsight.history.causes.cause import KINDS
from jobsight.history.causes.job import Explained, explained, output_files
from jobsight.history.causes.search import MOST, read_end, search
from jobsight.ids import parse_job_name
from jobsight.settings import Settings
from jobsight.store.store import find_ids
from jobsight.text import printable

__all__ = ["explanation", "why"]

_INDENT = 10
_SHOWN = 1000
_MOST_JOBS = 20


def explanation(answer: Explained, indent: int) -> Iterator[str]:
    """Why a job failed, in lines: the cause, the line of its output that says so, what to do."""
    cause, found = answer.cause, answer.found
    if cause is None:
        if found is not None:
            quoted = printable(found.quoted.strip(), _SHOWN)
            yield field("survived", f"line {found.line}, after which it went on: {quoted}", indent)
        return
    yield field("why", printable(cause.words, _SHOWN), indent)
    if found is not None:
        file = f"{PurePath(answer.file).name}:" if answer.file is not None else ""
        alike = found.cause.kind == cause.kind
        said = found.quoted.strip() if alike else f"{found.cause.text}: {found.quoted.strip()}"
        place = f"{printable(file, 200)}{found.line}"
        label = "line" if alike else "also"
        yield field(label, f"{place}: {printable(said, _SHOWN)}", indent)
    if answer.reached is not None and cause.kind in ("time", "preempted", "node"):
        yield field("reached", printable(answer.reached, _SHOWN), indent)
    yield field("to do", printable(cause.fix, _SHOWN), indent)
    if cause.whose != "user":
        who = "its administrators" if cause.whose == "site" else "its user, or its administrators"
        yield field("who", f"{who} can change that", indent)


def _json(answer: Explained) -> dict[str, Any]:
    """The same for machines; the cause is null where there is none."""
    cause, found = answer.cause, answer.found
    return {
        "cause": cause and asdict(cause), "output": answer.file, "line": found and found.line,
        "quoted": found and found.quoted, "reached": answer.reached,
    }  # fmt: skip


def why(
    names: Annotated[
        list[str],
        typer.Argument(metavar="FILE|ID...", show_default=False,
                       help="Output files of jobs, - for standard input, or ids of jobs."),
    ],
    output: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FILE",
                     help="File of a job's output (default: as its record says)."),
    ] = None,
    cluster: ClusterOption = None,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Why did it fail? The cause by a job's record and output, the line that says so, the fix."""
    settings = load_settings(config, {"timezone": timezone, "store": store})
    answers: list[tuple[str, Explained]] = []
    problems: list[str] = []
    for name in names:
        try:
            if name == "-" or Path(name).exists() or not name[:1].isalnum() or "/" in name:
                text, first = (sys.stdin.read(MOST), 1) if name == "-" else read_end(name)
                found = search(text, first)
                if found is None:
                    answers.append((name, Explained(None, search(text, first, failed=True))))
                else:
                    answers.append((name, Explained(found.cause, found)))
            else:
                answers += _of_jobs(name, settings, cluster, output)
        except (UsageError, JobError) as error:
            problems.append(str(error))
    if as_json:
        print_json([{"of": name, **_json(answer)} for name, answer in answers])
    for position, (name, answer) in enumerate([] if as_json else answers):
        if position:
            say("")
        title = "no failure found" if answer.cause is None else KINDS[answer.cause.kind]
        colour = "32" if answer.cause is None else "31"
        say(f"{printable(name, 200)}: {paint(title, f'1;{colour}')}")
        for line in explanation(answer, _INDENT):
            say(line)
    report_problems(problems)


def _of_jobs(
    name: str, settings: Settings, cluster: str | None, output: list[str] | None
) -> list[tuple[str, Explained]]:
    """The answers about the jobs of an id, those that failed first.

    Raises:
        UsageError: it is no id, and no file either.
        JobError: there is no such job.
    """
    try:
        job = parse_job_name(name)
    except UsageError:
        raise UsageError(f"{printable(name, 200)} is neither a file nor the id of a job") from None
    with opened_store(settings, [job]) as opened:
        known = opened.get(find_ids(opened, job, cluster))
    documents: list[JobDocument] = [one.document for one in known.values()]
    if len(documents) > 1:
        documents.sort(key=lambda one: one.outcome is None or explained(one, ()).cause is None)
    if len(documents) > _MOST_JOBS:
        note(f"{len(documents)} jobs have this number; the first {_MOST_JOBS} are shown")
    answers = []
    for document in documents[:_MOST_JOBS]:
        files = output_files(document) if output is None else output
        answers.append((f"{document.id}, {document.state}", explained(document, files)))
    return answers
