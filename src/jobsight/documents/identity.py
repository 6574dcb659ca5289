"""Which reports under one number are of one job: Slurm may give a number again.

A controller that is killed before it saves its state numbers on from the state that it saved last,
and numbers begin anew after `MaxJobId`. A job is its cluster, its number and its first submission;
a requeue moves the time of submission and stays the same job. So two reports under one number are
of one job if they have a submission (or a SLUID) in common. If not, they are of two jobs where the
users differ; where the later one was never requeued; or, as far as the number of requeues is
unknown, where the earlier one had ended by then and not so that Slurm requeues it.

The first job of a number has the number as its id, the second one `@2` behind it, and so on, in
the order of their submissions: so ids do not depend on the order in which jobs are reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import msgspec

from jobsight.documents.document import JobDocument
from jobsight.documents.keys import first_id
from jobsight.documents.merging import merge
from jobsight.documents.states import State
from jobsight.documents.timelines import is_wait

__all__ = ["is_final", "is_reused", "is_surely_of", "may_share_number", "nth_id", "sort_out"]

_MICROS = 1_000_000
_NEVER = -(2**63)
_RESIZED = "RESIZING"
_REQUEUED = "REQUEUED"
_MAY_GO_ON = (State.NODE_FAIL, State.PREEMPTED, State.UNKNOWN_END)
"""Ends after which Slurm may requeue a job without its record saying so."""


def nth_id(id_: str, number: int) -> str:
    """The id of the job that was the `number`-th to have the number of an id: ``slurm:c:12@2``."""
    return id_ if number == 1 else f"{id_}@{number}"


def may_share_number(id_: str) -> bool:
    """Whether reports under this id may be of several jobs: it is a plain number of Slurm's."""
    return id_.startswith("slurm:") and first_id(id_) == id_


def _users_differ(one: str | None, other: str | None) -> bool:
    """Whether two names of users are known and not of one user.

    slurmdbd writes names in lower case, and its table has numbers, which are not compared.
    """
    if not one or not other or one.isdecimal() or other.isdecimal():
        return False
    return one.casefold() != other.casefold()


def is_final(state: State) -> bool:
    """Whether a run that ended so was the job's last one: of a requeue its record would say so."""
    return state.ended and state not in _MAY_GO_ON


def is_reused(
    user: str | None,
    submit: int | None,
    by_user: str | None,
    by_submit: int | None,
    requeues: int | None,
) -> bool:
    """Whether a number that a user's job had is now another job's.

    Args:
        user: of the job that had it.
        submit: its last submission, µs since 1970; None: unknown.
        by_user: user of the job that has it now.
        by_submit: as `submit`, of that job.
        requeues: how often that job was requeued; None: unknown.
    """
    if submit is None or by_submit is None or by_submit // _MICROS <= submit // _MICROS:
        return False
    return requeues == 0 or _users_differ(user, by_user)


def sort_out(
    known: Sequence[JobDocument], partials: Iterable[JobDocument]
) -> list[tuple[int | None, JobDocument]]:
    """Merge reports under one number, each into the document of its job.

    Args:
        known: documents of the jobs that had the number, as `merge` made them, in order.
        partials: reports, all under the id of the first of them.

    Returns:
        All documents in the order of their submissions, with the ids that follow from it, each with
        its index in `known`; None: it is new.
    """
    jobs: list[tuple[int | None, JobDocument]] = list(enumerate(known))
    for partial in partials:
        at = _job_of(partial, [document for _, document in jobs])
        if at is None:
            jobs.append((None, merge(None, partial)))
        else:
            index, document = jobs[at]
            part = msgspec.structs.replace(partial, id=document.id)
            jobs[at] = (index, merge(document, part))
    if len(jobs) > 1:
        jobs.sort(key=lambda job: _first(job[1]))
        first = first_id(jobs[0][1].id)
        for at, (index, document) in enumerate(jobs):
            if document.id != (id_ := nth_id(first, at + 1)):
                jobs[at] = (index, msgspec.structs.replace(document, id=id_))
    return jobs


def is_surely_of(document: JobDocument, partial: JobDocument) -> bool:
    """Whether a report is of a document's job, whatever other jobs had its number.

    It has a submission in common with it, or knows none: then it means the job of that very id.
    """
    mine, sluid = _submissions(partial), partial.submission.sluid
    if not mine:
        return not _users_differ(partial.submission.user, document.submission.user)
    same_run = sluid is not None and sluid == document.submission.sluid
    return same_run or not mine.keys().isdisjoint(_submissions(document))


def _job_of(partial: JobDocument, jobs: Sequence[JobDocument]) -> int | None:
    """The index of the document that a report is of; None: it is of another job."""
    sure = (at for at, job in enumerate(jobs) if is_surely_of(job, partial))
    same = (at for at in reversed(range(len(jobs))) if _goes_on(jobs[at], partial))
    return next(itertools.chain(sure, same), None)


def _goes_on(one: JobDocument, other: JobDocument) -> bool:
    """Whether two reports without a common submission are of one job, requeued in between."""
    if _users_differ(one.submission.user, other.submission.user):
        return False
    if not _submissions(one):
        return True
    earlier, later = sorted((one, other), key=_first)
    submissions = _submissions(later)
    first = min(submissions)
    requeues = later.usage.requeues
    if submissions[first] or requeues is not None:
        return submissions[first] or len(submissions) <= (requeues or 0)
    # Whether the earlier one had ended by then, and was not about to be requeued.
    timeline = earlier.timeline
    states = [event.state for event in timeline if event.state and event.time // _MICROS <= first]
    return not (states and is_final(states[-1]))


def _submissions(document: JobDocument) -> dict[int, bool]:
    """The seconds at which a job was submitted, and whether that was a requeue.

    slurmdbd counts a change of a running job's size as a submission.
    """
    submissions: dict[int, bool] = {}
    if document.submission.submitted is not None:
        submissions[document.submission.submitted // _MICROS] = False
    for event in document.timeline:
        resized = event.word == _RESIZED
        if resized or (event.state is State.PENDING and event.code is None and not is_wait(event)):
            again = resized or event.word == _REQUEUED
            second = event.time // _MICROS
            submissions[second] = submissions.get(second, False) or again
    return submissions


def _first(document: JobDocument) -> int:
    return min(_submissions(document), default=_NEVER)
