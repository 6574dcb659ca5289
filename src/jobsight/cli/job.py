"""``jobsight job``: everything that the store knows of a job.

With ``--json`` one job asked for by more than a bare number gives one object; several ids, or a
number that may name many, give a list. Where some of several ids name no job, the others are shown,
each of these gives a line on standard error, and the exit status is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import ClusterOption, ConfigOption, StoreOption, load_settings
from jobsight.cli.jobpage import page
from jobsight.cli.jobs import document_text, print_documents, print_table
from jobsight.cli.output import note, report_problems, say
from jobsight.errors import JobError
from jobsight.ids import parse_job_name
from jobsight.store import open_store
from jobsight.store.finding import find_ids, other_jobs
from jobsight.text import printable

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
    names = list(dict.fromkeys(parse_job_name(one) for one in ids))
    settings = load_settings(config, {"store": store})
    groups: list[list[JobDocument]] = []
    problems: list[str] = []
    with open_store(settings=settings.store) as opened:
        for name in names:
            try:
                found = find_ids(opened, name, cluster)
            except JobError as error:
                problems.append(str(error))
                continue
            known = opened.get(found)
            groups.append([known[one].document for one in found if one in known])
        documents = [document for group in groups for document in group]
        # `slurm:c:3` may be one job, or all tasks of that array.
        whole = names[0].job != names[0].number or documents[0:1] == [
            one for one in documents if one.id == str(names[0])
        ]
        if as_json and len(ids) == 1 and whole:
            for document in documents:
                say(document_text(document))
        elif as_json:
            print_documents(documents)
        else:
            _print(opened, groups, all_events=all_events)
    report_problems(problems)


def _print(store: Store, groups: list[list[JobDocument]], *, all_events: bool) -> None:
    """A page for each id that means one job, a table for each that means many."""
    for number, group in enumerate(groups):
        if number:
            say("")
        if len(group) > 1:
            print_table(group)
            note(f"{len(group)} jobs have this number; name one of them, such as {group[0].id}")
        elif group:
            siblings, again = other_jobs(store, group[0].id)
            say("\n".join(page(group[0], siblings=len(siblings), whole=all_events)))
            if again:
                known = (one.document for one in store.get(again).values())
                shown = ", ".join(f"{one.id} of {one.submission.user}" for one in known)
                note(printable(f"Slurm gave this number to other jobs too: {shown}", 500))
