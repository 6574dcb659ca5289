"""The questions asked of a `Ready`, by the table of questions, and pages of jobs: plain data."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from jobsight.answering.jobtables import OPEN, answer_unsubmitted, script_row
from jobsight.clock import now_micros
from jobsight.codes import hold_name
from jobsight.documents import JobDocument, State, condor_id, parse_key
from jobsight.documents.keys import clusters_named
from jobsight.documents.spans import life, ran, submitted, time_of, total, why
from jobsight.errors import JobError, JobsightError, UsageError
from jobsight.files import without_nan
from jobsight.history.jobsasked import requested
from jobsight.history.reasons import origins, sites
from jobsight.ids import parse_job_name
from jobsight.learning.review import predictions_of, reviewed
from jobsight.program.submission.condor import looks_like_submit
from jobsight.program.submission.dag import looks_like_dag
from jobsight.questions import QUESTIONS, question_named
from jobsight.questions.fail.answering import Answerer as Failures
from jobsight.questions.fail.question import FAIL
from jobsight.questions.hold.answering.groups import group_answers
from jobsight.store.rows import Order, Query

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.program.preflight.findings import Finding as Fault
    from jobsight.questions.fail.evidence import Finding
    from jobsight.questions.hold.answering.groups import GroupAnswer
    from jobsight.service.web.ready import Ready
    from jobsight.store import Store

__all__ = ["MOST_JOBS", "JobsPage", "about_job", "about_script", "answers_for_waiting",
           "held_groups", "name_for", "new_holds", "page_of", "pending_rows", "quality",
           "similar_runs", "state_counts", "summary", "warm_up"]  # fmt: skip

MOST_JOBS = 500
"""Jobs of one page."""
_MICROS = re.compile(r"-?\d{1,18}", re.ASCII)


@dataclass(frozen=True)
class JobsPage:
    """Documents of jobs, and the cursor of the page that follows; None: it is the last."""

    jobs: Sequence[JobDocument]
    next: str | None


def page_of(
    store: Store, query: Query, cluster: str | None, after: str | None, limit: int
) -> JobsPage:
    """A page of at most `limit` and `MOST_JOBS` of the jobs that a query finds, newest first.

    `cluster` is an access point or Slurm cluster, or the id up to its last colon; None: all.
    `after` is the cursor `JobsPage.next` of the page before.

    Raises:
        UsageError: the cursor is not one.
    """
    place: Order | None = None
    if after is not None:
        time_, _, id_ = after.partition(":")
        if not _MICROS.fullmatch(time_):
            raise UsageError("this cursor is not one of a page of jobs; begin without")
        place = int(time_), id_
    limit = max(1, min(limit, MOST_JOBS))
    documents: list[JobDocument] = []
    for name in [None] if cluster is None else clusters_named(cluster):
        rows = itertools.islice(store.rows(replace(query, cluster=name), place), limit + 1)
        documents += [row.document() for row in rows]
    documents.sort(key=lambda document: (time_of(document), document.id), reverse=True)
    shown = documents[:limit]
    more = len(documents) > limit
    return JobsPage(shown, f"{time_of(shown[-1])}:{shown[-1].id}" if more else None)


def summary(document: JobDocument) -> dict[str, Any]:
    """A job as a row of a list: plain data; times µs since 1970, spans in seconds."""
    key, now = parse_key(document.id), now_micros()
    return {
        "id": document.id,
        "job": key.job,
        "scheduler": key.scheduler,
        "cluster": key.cluster,
        "user": document.submission.user,
        "name": document.submission.name,
        "state": document.state and document.state.value,
        "submitted": submitted(document),
        "changed": time_of(document),
        "waited_s": total(one for one in life(document, now) if one.state is State.PENDING),
        "ran_s": ran(document, now),
        "memory_mb": document.usage.memory_mb,
        "why": why(document),
    }


HOLD = "hold"
WAITS = (State.PENDING.value, State.HELD.value)
_FRESH = 15.0
"""Seconds for which an answer about a job is given again; it looks ahead minutes or more."""
_HOUR = 3600.0
_MOST_MEMBERS = 500
_AT_ONCE = 500
"""Documents that are read together."""
_DAY_HOURS = 24
_STEPS = 48
_MOST_ROWS = 50
_SCRIPT = "#!/bin/bash\n#SBATCH --time=10\npython3 fit.py\n"


def name_for(text: str) -> str:
    """A file's name for a text that was sent without one: what it looks like."""
    script = text.startswith("#!") or re.search(r"(?im)^#\s?SBATCH\b", text)
    if not script and looks_like_dag(text):
        return "job.dag"
    return "job.sub" if not script and looks_like_submit(text) else "job.sh"


def about_job(ready: Ready, document: JobDocument, wanted: str) -> dict[str, Any]:
    """The answer of a question for a job.

    Raises:
        JobError: it cannot be asked of the job as it is now.
        JobsightError: a model cannot be used.
    """
    question = question_named(wanted)
    state = document.state
    if state is not None and state.ended:
        raise JobError(f"the job has ended: {state.value.replace('_', ' ')}")

    def made() -> dict[str, Any]:
        problems: Sequence[str] = []
        if question.reads == "events":
            if ready.tables.history is None:
                raise JobError("no event log is in the store: nothing is known of holds")
            names = [parse_job_name(document.id)]
            answers, problems = ready.session(wanted).answer_names(names)
        else:
            answers = ready.session(wanted).answer(OPEN & (pl.col("id") == document.id))
        if not answers:
            raise JobError(problems[0] if problems else f"{wanted} has no answer for this job")
        answer: dict[str, Any] = without_nan(answers[0].to_json())
        return answer

    return ready.cached(("job", wanted, document.id), _FRESH, made)


def similar_runs(ready: Ready, id_: str) -> list[Finding]:
    """How runs like a job ended, in words; none of a job that is not in the tables yet."""

    def made() -> list[Finding]:
        session, own = ready.session(FAIL.name), pl.col("id") == id_
        clusters = session.jobs().filter(own)["scheduler_name"]
        if not len(clusters):
            return []
        answerer: Failures = session.answerer(clusters[0])
        return answerer.alike(answerer.asked(own))[0]

    return ready.cached(("similar", id_), _HOUR, made)


def about_script(
    ready: Ready, wanted: str, name: str, text: str, options: Sequence[str], owner: str,
    errors: Sequence[Fault] = (),
) -> dict[str, Any]:  # fmt: skip
    """The answer of a question for a batch script as if its owner submitted it now.

    `errors`: what `check` finds wrong with it, which `fail` counts.

    Raises:
        UsageError: the question is not asked of scripts.
        JobsightError: as `about_job`.
    """
    question = question_named(wanted)
    if question.reads != "jobs":
        raise UsageError(f"{question.name} is not asked of scripts")
    with ready.lock:
        session = ready.session(wanted)
        if question is FAIL:
            session = session.adapted(lambda answerer: answerer.checked(lambda: errors))
        request = requested(text, tuple(options))
        row = script_row(session.source, ready.settings, name, text, request, owner)
        answer: dict[str, Any] = without_nan(answer_unsubmitted(session, row).to_json())
    return answer


def held_groups(ready: Ready, owner: str | None) -> list[dict[str, Any]]:
    """The held jobs, of one owner or all, by cause and cluster: the greatest gain first."""

    def made() -> list[dict[str, Any]]:
        if ready.tables.history is None:
            return []
        session = ready.session(HOLD)
        held = session.jobs()
        # A log need not name owners; documents may know them from elsewhere.
        ids = [
            condor_id(*id_) if id_[0] else None
            for id_ in held.select("access_point", "cluster", "proc").iter_rows()
        ]
        named = ready.tables.jobs.table.filter(pl.col("id").is_in(list(filter(None, ids))))
        owners: dict[str, str | None] = dict(named.select("id", "owner").iter_rows())
        if owner is not None:
            mine = [owners.get(id_ or "") == owner for id_ in ids]
            held = held.filter(pl.Series(mine, dtype=pl.Boolean))
        groups = group_answers(session.answer(pl.col("job").is_in(held["job"].to_list())))
        return [without_nan(_group(group, owners)) for group in groups]

    return ready.cached(("held", owner), 2 * _FRESH, made)


def _group(group: GroupAnswer, owners: Mapping[str, str | None]) -> dict[str, Any]:
    first = group.said_for[0]
    return {
        "verb": group.verb,
        "jobs": len(group.members),
        "said_for": len(group.said_for),
        "members": [one.id or str(one.job) for one in group.members[:_MOST_MEMBERS]],
        "owners": sorted({owners.get(one.id or "") or one.owner or "" for one in group.members}),
        "place": group.place,
        "cause": first.cause,
        "hold_code": first.hold_code,
        "hold_subcode": first.hold_subcode,
        "reason": first.reason,
        "probability": group.probability,
        "interval": None if group.low is None else [group.low, group.high],
        "gain": group.gain,
        "advice": group.advice.to_json(),
        "held_since": min(one.held_since for one in group.members),
        "vacated": first.vacated,
        "evidence": first.evidence,
        "model": first.model,
    }


def pending_rows(ready: Ready, store: Store, owner: str | None) -> list[dict[str, Any]]:
    """Jobs that wait, of one owner or all, as `summary` has them, with answers.

    All are ranked by the core-hours that their failure would waste, then the latest first; the
    first `MOST_JOBS` are returned. Each has its answers of the questions on job tables by question;
    None: there is none.
    """

    def made() -> list[dict[str, Any]]:
        waiting = pl.col("state").cast(pl.String).is_in(WAITS)
        if owner is not None:
            waiting &= pl.col("owner") == owner
        fails = _each(lambda: ready.session(FAIL.name).answer(waiting))
        stakes = {id_: one.get("core_hours_at_stake") or 0.0 for id_, one in fails.items()}
        rows = ready.tables.jobs.table.filter(waiting).sort("submit", descending=True)["id"]
        first = sorted(rows.to_list(), key=lambda id_: -stakes.get(id_, 0.0))[:MOST_JOBS]
        stored, answers = store.get(first), answers_for_waiting(ready, first)
        return [
            summary(stored[id_].document)
            | {name: found.get(id_) for name, found in answers.items()}
            for id_ in first
            if id_ in stored
        ]

    return ready.cached(("pending", owner), _FRESH, made)


def new_holds(ready: Ready, owner: str | None, hours: int) -> dict[str, Any]:
    """New holds of the last hours, of one owner or all, those by their user's own hand left out.

    Returns:
        ``step_s``; ``times``, the beginning of each step, µs; ``causes``, ``sites`` and
        ``origins``: names with their ``counts`` per step, the busiest first.
    """

    def made() -> dict[str, Any]:
        end, step = max(ready.end, now_micros()), hours * 3_600_000_000 // _STEPS
        start = (end // step - _STEPS + 1) * step
        times = [start + k * step for k in range(_STEPS)]
        steps: dict[str, Any] = {"step_s": step // 1_000_000, "times": times}
        history = ready.tables.history
        if history is None:
            return {**steps, "causes": [], "sites": [], "origins": []}
        table = history.table
        chosen = history.begun & (history.time >= start) & (history.time <= end)
        chosen &= (table["hold_code"] != 1).fill_null(value=True).to_numpy()
        if owner is not None:
            own = (table["owner"] == owner).fill_null(value=False).to_numpy()
            chosen &= np.isin(history.job, np.unique(history.job[own & (history.job >= 0)]))
        rows = np.flatnonzero(chosen)
        holds, at = table[rows], (history.time[rows] - start) // step
        codes = [None if code is None else hold_name(code) for code in holds["hold_code"]]
        places = sites(holds["attributes"], holds["slot"], holds["reason"])
        named = {
            "causes": pl.Series(codes, dtype=pl.String).fill_null("hold code unknown"),
            "sites": places,
            "origins": origins(holds["reason"]),
        }
        for kind, names in named.items():  # rows without a name are left out
            series = []
            for name in names.drop_nulls().unique(maintain_order=True):
                inside = (names == name).fill_null(value=False).to_numpy()
                counts = np.bincount(at[inside], minlength=_STEPS)
                series.append({"name": name, "counts": counts.tolist()})
            steps[kind] = sorted(series, key=lambda row: -sum(row["counts"]))[:_MOST_ROWS]
        return steps

    return ready.cached(("outages", owner, hours), _FRESH, made)


def state_counts(ready: Ready, owner: str | None) -> dict[str, int]:
    """How many jobs, of one owner or all, are in each state."""

    def made() -> dict[str, int]:
        jobs = ready.tables.jobs.table
        shown = jobs if owner is None else jobs.filter(pl.col("owner") == owner)
        return dict(shown["state"].drop_nulls().cast(pl.String).value_counts().iter_rows())

    return ready.cached(("counts", owner), _HOUR, made)


def answers_for_waiting(ready: Ready, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The answers of all questions on job tables for jobs that wait: by question, then by id."""
    chosen = OPEN & pl.col("id").is_in(list(ids))  # the store may be ahead of the table
    return {
        name: _each(lambda name=name: ready.session(name).answer(chosen))  # type: ignore[misc]
        for name in QUESTIONS
        if question_named(name).reads == "jobs"
    }


def _each(ask: Callable[[], Sequence[Any]]) -> dict[str, Any]:
    try:
        return {one.id: without_nan(one.to_json()) for one in ask()}
    except JobsightError:
        return {}


def quality(ready: Ready, store: Store) -> dict[str, list[dict[str, Any]]]:
    """How good the kept answers of each question were, see `jobsight.learning.review.Week`."""

    def answered() -> Iterator[JobDocument]:
        ids = iter(sorted(ready.tables.answered))
        while some := list(islice(ids, _AT_ONCE)):
            yield from (stored.document for stored in store.get(some).values())

    def made() -> dict[str, list[dict[str, Any]]]:
        by_question = {}
        for question in map(question_named, QUESTIONS):
            kept = predictions_of(answered(), question)
            source = ready.tables.history if question.reads == "events" else ready.tables.jobs
            if question.reads != "programs" and source is not None and len(kept):
                weeks = reviewed(question, source, kept, ready.settings)
                by_question[question.name] = [without_nan(week.to_json()) for week in weeks]
        return by_question

    return ready.cached("quality", _HOUR, made)


def warm_up(ready: Ready, store: Store, *, first: bool) -> None:
    """Make what most requests need; the first time all models are opened, kernels compiled."""
    steps: list[Callable[[], object]] = [
        partial(held_groups, ready, None),
        ready.index_all,
        partial(pending_rows, ready, store, None),
        partial(new_holds, ready, None, _DAY_HOURS),
        partial(state_counts, ready, None),
    ]
    if first:
        steps += [
            partial(about_script, ready, name, "run.sh", _SCRIPT, (), "") for name in QUESTIONS
        ]
    for step in steps:
        with contextlib.suppress(JobsightError):  # reported to the caller that needs it
            step()
