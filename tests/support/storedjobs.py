"""Job documents and stores for tests of the command line."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jobsight.documents import (
    Event,
    JobDocument,
    Prediction,
    Request,
    State,
    Submission,
    Usage,
    condor_id,
    merge,
    slurm_id,
)
from jobsight.documents.identity import nth_id, sort_out
from jobsight.store import open_store

SECOND = 1_000_000
START = 1_795_224_900 * SECOND
"""2026-11-21 01:35:00Z, µs."""

HOSTILE = "\x1b[2J\x1b]0;x\x07\u202eevil\u2028\x9b31m\nnext"
"""What a terminal would obey, were it let through."""


def told(at: float, state: State | None = None, **columns: Any) -> Event:
    """An event so many seconds after the start."""
    source = columns.pop("source", "sacct")
    return Event(time=START + int(at * SECOND), source=source, state=state, **columns)


def job(id_: str, *events: Event, user: str | None = "ann", **sections: Any) -> JobDocument:
    """A document as `merge` makes it."""
    submission = sections.pop("submission", Submission(user=user, name=f"name of {id_[-6:]}"))
    updated = max((event.time for event in events), default=START)
    part = JobDocument(id=id_, updated=updated, timeline=events, submission=submission, **sections)
    return merge(None, part)


def held_job(access_point: str = "ap40", cluster: int = 12, proc: int = 3) -> JobDocument:
    """An HTCondor job that waited, ran, was held, was released, and failed."""
    source = "eventlog#1"
    records: list[tuple[int, int, State, dict[str, Any]]] = [
        (0, 0, State.PENDING, {}),
        (60, 1, State.RUNNING, {"slot": "slot1@mwt2"}),
        (90, 12, State.HELD, {"hold_code": 13, "hold_subcode": 256, "reason": "Transfer failed"}),
        (150, 13, State.PENDING, {"reason": "via condor_release"}),
        (200, 1, State.RUNNING, {"slot": "slot2@ucsd"}),
        (500, 5, State.FAILED, {"return_value": 3}),
    ]
    events = [
        told(at, state, source=source, position=100 * number, code=code, **columns)
        for number, (at, code, state, columns) in enumerate(records)
    ]
    answer = {"answer": "release", "probability": 0.36}
    return job(
        condor_id(access_point, cluster, proc),
        *events,
        request=Request(cpus=2, memory_mb=2048, time_limit_s=3600),
        usage=Usage(memory_mb=1500, cpu_s=100.0, wall_s=300.0, starts=2),
        submission=Submission(
            user="ann", name="sim", host="login1", script="#!/bin/bash\n" + "echo hi\n" * 40
        ),
        predictions=(
            Prediction(question="hold", model="boosted", time=START, inputs="x", answer=answer),
        ),
    )


def slurm_job(number: str, *states: State, user: str | None = "bob", **more: Any) -> JobDocument:
    """A Slurm job that had these states, a minute each."""
    events = (told(60 * at, state) for at, state in enumerate(states))
    return job(slurm_id("grid", number), *events, user=user, **more)


def filled(path: Path, documents: Iterable[JobDocument]) -> str:
    """A store with these documents; its address."""
    with open_store(str(path), create=True) as store:
        assert not store.merge(documents).refused
    return str(path)


def merge_into(documents: dict[str, JobDocument], partial: JobDocument) -> None:
    """Merge a report into documents by id, as `Store.merge` does."""
    ids = (nth_id(partial.id, at) for at in itertools.count(1))
    known = [documents[id_] for id_ in itertools.takewhile(documents.__contains__, ids)]
    documents |= {one.id: one for _, one in sort_out(known, [partial])}
