"""``jobsight job``: everything that the store knows of a job.

With ``--json`` one job asked for by more than a bare number gives one object; several ids, or a
number that may name many, give a list. Where some of several ids name no job, the others are shown,
each of these gives a line on standard error, and the exit status is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import ClusterOption, ConfigOption, StoreOption, load_settings
from jobsight.cli.finding import find_ids, is_whole, plain_id
from jobsight.cli.jobpage import page
from jobsight.cli.jobs import document_text, print_documents, print_table
from jobsight.cli.output import note, say
from jobsight.documents import number_of
from jobsight.errors import JobError
from jobsight.store import open_store

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.store import Store

__all__ = ["job"]


def job(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="123.4, 123_4, 123 for all of that number, or whole: slurm:mycluster:123.",
            show_default=False,
        ),
    ],
    cluster: ClusterOption = None,
    all_events: Annotated[
        bool, typer.Option("--all-events", help="Show every event of a long timeline.")
    ] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="The job document: for one whole ID alone, else in a list."),
    ] = False,
) -> None:
    """All that is known of a job: its life drawn, its events, request and usage, predictions."""
    asked = [plain_id(one) for one in ids]
    settings = load_settings(config, {"store": store})
    with open_store(settings=settings.store) as opened:
        found, problems = _found(opened, asked, cluster)
        documents = [document for group in found for document in group]
        if as_json and len(asked) == 1 and _names_one(asked[0], documents):
            for document in documents:
                say(document_text(document))
        elif as_json:
            print_documents(documents)
        else:
            _print(opened, found, all_events=all_events)
    _tell(problems)


def _names_one(text: str, documents: list[JobDocument]) -> bool:
    """Whether an id names one job; ``slurm:c:3`` is all tasks of that array, if it is one."""
    exact = ":" not in text or not documents or documents[0].id == text
    return is_whole(text) and exact


def _found(
    store: Store, asked: list[str], cluster: str | None
) -> tuple[list[list[JobDocument]], list[str]]:
    """The documents that each id means, and what is wrong with the others."""
    groups: list[list[JobDocument]] = []
    problems: list[str] = []
    for text in dict.fromkeys(asked):
        try:
            ids = find_ids(store, text, cluster)
        except JobError as error:
            problems.append(str(error))
            continue
        known = store.get(ids)
        groups.append([known[one].document for one in ids if one in known])
    return groups, problems


def _print(store: Store, found: list[list[JobDocument]], *, all_events: bool) -> None:
    """A page for each id that means one job, a table for each that means many."""
    for number, group in enumerate(found):
        if number:
            say("")
        if len(group) > 1:
            print_table(group)
            note(f"{len(group)} jobs have this number; name one of them, such as {group[0].id}")
        for document in group if len(group) == 1 else []:
            for line in page(document, siblings=_siblings(store, document), whole=all_events):
                say(line)


def _siblings(store: Store, document: JobDocument) -> int:
    """How many other jobs of its array, or of its cluster of procs, the store knows."""
    place, _, job = document.id.rpartition(":")
    number = number_of(job)
    like = [one for one in store.numbered(number) if number_of(one) == number]
    return sum(one.rpartition(":")[0] == place and one != document.id for one in like)


def _tell(problems: list[str]) -> None:
    for line in problems[:-1]:
        note(f"jobsight: {line}")
    if problems:
        raise JobError(problems[-1])
