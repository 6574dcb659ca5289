"""``jobsight hold``: it is held; release or remove?

With ``--json`` one job asked for by its full id gives one object; several ids, a cluster, --all and
--each give a list of objects, one a job. Jobs held by their user's own hand are answered with
``user_hold``, no probability and the reason, exit status 0. Where some of several ids name no held
job, the others are answered, each of these gives a line on standard error, and the exit status
is 1. With ``--save`` and ``--publish`` too, a job of which the store has no document gives such a
line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from jobsight.cli.asking import open_session
from jobsight.cli.common import (
    ConfigOption,
    NetworkOption,
    StoreOption,
    TimezoneOption,
    caller,
    load_settings,
)
from jobsight.cli.holdpage import print_all, print_answers
from jobsight.cli.holdqueue import HeldQueue
from jobsight.cli.output import note, print_objects, report_problems
from jobsight.cli.reading import has_store
from jobsight.documents import parse_key
from jobsight.errors import SourceError, UsageError
from jobsight.history.allotments import generations_of
from jobsight.history.condor.client import CondorClient
from jobsight.ids import parse_job_name
from jobsight.learning.reading import are_documents, is_pipe
from jobsight.program.site import Site
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.questions.hold.answering.groups import by_use
from jobsight.questions.hold.answering.heldjob import Pool
from jobsight.questions.hold.answering.lookup import held_name
from jobsight.questions.hold.question import HOLD
from jobsight.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jobsight.answering.session import AnswerSession
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["hold"]

_UNNAMED = re.compile(r"log-[0-9a-f]{8}", re.ASCII)


def hold(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOBID...]",
            help="123.4, 123 for its held jobs, or htcondor:ACCESSPOINT:123.4 (default: the "
            "caller's own held jobs).",
        ),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            help="Event log: file, folder, glob or - for standard input; repeatable "
            "(default: the store, else the EVENT_LOG of this machine's HTCondor)."
        ),
    ] = None,
    store: StoreOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Directory, digest of `models list`, or none for today's rules (default: the "
            "champion of the job's access point, else of the cluster default, else rules)."
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="As of when (default: now of a store, the end of a log).")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every held job, by cause and cluster.")
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="As --all, one row per job.")] = False,
    save: Annotated[
        bool,
        typer.Option("--save", help="Keep the answers in the store, in the documents of the jobs."),
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Send the answers to the Kafka topic kafka.answers.")
    ] = False,
    site: Annotated[
        Path | None,
        typer.Option(
            help="Folder with condor_status.ads, what `condor_status -long` printed: no request is "
            "proposed that no slot has (default: for a store or this machine's own log, its pool)."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also show what rule sets of other sites would do.")
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object for one JOBID 123.4 alone, else a list."),
    ] = False,
) -> None:
    """Held jobs: release, wait, fix or remove? With probability, evidence and what to do."""
    if jobs and (every or each):
        raise UsageError("name jobs, or ask for --all (or --each), not both")
    names = [parse_job_name(job) for job in jobs or []]
    asked = [held_name(name) for name in names]
    settings = load_settings(
        config,
        {"timezone": timezone, "store": store, "hold": {"lstm": {"network": network}}},
        HOLD,
    )
    inputs, live = _inputs(log or [], settings, wanted=store is not None)
    schedd = None
    # Not the setting access_point: it may name the place that a copied log is from.
    with contextlib.suppress(SourceError):
        schedd = CondorClient(settings.condor).schedd_name()
    queue = HeldQueue(settings, schedd if at is None else None, asked)
    pool = _pool(site, settings, queue, live=live)
    # What is kept may be read on other machines: there the schedd is always named.
    pool = replace(pool, here=None if save or publish else schedd)
    session = open_session(
        HOLD_ANSWERS, settings, inputs, live=live, model=model, at=at,
        adapt=lambda answerer: answerer.within(pool),
    )  # fmt: skip
    owner = None if asked or every or each else caller()
    # A log that is named has the jobs that it has; those that are named may be elsewhere.
    others = queue.others(session, owner, pool) if live or asked else []
    if asked:
        left = [
            name
            for name, named in zip(names, asked, strict=True)
            if not any(named.covers(other.job, other.access_point) for other in others)
        ]
        answers, problems = session.answer_names(left)
        answers += others
    else:
        answers, problems = by_use(_of_owner(session, owner, pool) + others), []
    try:
        # Kept before they are shown: the reader of the output may go away.
        if save or publish:
            from jobsight.cli.saving import keep_answers

            problems += keep_answers(
                "hold", answers, settings, save=save, publish=publish, documents=_documents
            )
    finally:
        if as_json:
            # One id may name jobs of several access points.
            print_objects(answers, single=len(asked) == 1 and asked[0].job.proc is not None)
        elif asked:
            print_answers(answers, session.when, verbose=verbose)
        else:
            print_all(answers, session.when, owner, each=each)
    report_problems(problems)


def _documents(store: Store, answer: Answer) -> list[str]:
    """The ids of documents that it may be of; where no log names the access point, by job."""
    from jobsight.cli.saving import by_id

    if answer.id is not None:
        return by_id(store, answer)
    keys = ((id_, parse_key(id_)) for id_ in store.numbered(str(answer.job.cluster)))
    return [
        id_
        for id_, key in keys
        if key.scheduler == "htcondor"
        and key.job == str(answer.job)
        and _UNNAMED.fullmatch(key.cluster)
    ]


def _inputs(logs: list[str], settings: Settings, *, wanted: bool) -> tuple[list[str], bool]:
    """What to read, and whether more may be written to it meanwhile.

    The logs named, and the store if it is named or no log is; where there is no store either, this
    machine's own event log.

    Raises:
        UsageError: nothing is named, and none of these is where it usually is.
    """
    if wanted:
        return [*logs, "store:"], True
    if logs:
        # More is written to a store; a log or a snapshot is taken as it is.
        files = (one for one in logs if not is_pipe(one) and not Path(one).is_dir())
        return logs, any(map(are_documents, files))
    if has_store(settings):
        return ["store:"], True
    return _own_logs(settings), True


def _own_logs(settings: Settings) -> list[str]:
    """The files of the event logs that ``jobsight collect`` would follow, rotated ones too."""
    # A call that names a log or a store does without the reader of logs.
    from jobsight.history.following.family import rotated
    from jobsight.service.configured import event_logs

    try:
        paths = event_logs(settings)
    except SourceError as error:
        raise UsageError(
            f"name the event log with --log FILE, or the store with --store URL; {error}"
        ) from None
    return [str(file) for path in paths for file in (path, *(old for _, old in rotated(path)))]


def _of_owner(session: AnswerSession[Answer], owner: str | None, pool: Pool) -> list[Answer]:
    """The answers for the held jobs of an owner; None: for all."""
    if owner is None:
        return session.answer(pl.lit(value=True))
    held = session.jobs()
    ads = pool.ads(held)
    of_queue = pl.Series([ads.get(job, {}).get("Owner") for job in held["job"]], dtype=pl.String)
    owners = held["owner"].fill_null(of_queue)
    if unknown := owners.null_count():
        note(f"of {counted(unknown, 'job')} no owner is recorded: they may be of others")
    mine = held["job"].filter((owners == owner).fill_null(value=True))
    return session.answer(pl.col("job").is_in(mine.to_list()))


def _pool(folder: Path | None, settings: Settings, queue: HeldQueue, *, live: bool) -> Pool:
    """What is known of the pool: by the folder, else of a live one; its queue, and its logs here.

    Raises:
        SourceError: the folder cannot be read.
    """
    client = CondorClient(settings.condor)
    largest: Callable[[], Mapping[str, float]] = client.largest_slot if live else dict
    if folder is not None:
        largest = partial(dict, Site.saved(folder).largest_slot)
    logs = cache(partial(_generations, settings)) if live else dict
    return Pool(cache(largest), logs, queue.ads)


def _generations(settings: Settings) -> Mapping[str, str]:
    """The files of this machine's event logs by generation; none where it has none."""
    try:
        return generations_of(_own_logs(settings))
    except (SourceError, UsageError):
        return {}
