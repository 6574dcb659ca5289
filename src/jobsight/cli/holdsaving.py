"""Answers kept: as predictions in job documents, for later review, and published over Kafka."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobsight.cli.output import note
from jobsight.documents import JobDocument, Prediction, condor_id, parse_key
from jobsight.errors import StoreError
from jobsight.files import without_nan
from jobsight.service.publishing import AnswerProducer
from jobsight.store import open_store
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["keep_answers", "prediction"]

_UNNAMED = re.compile(r"log-[0-9a-f]{8}", re.ASCII)
_QUESTION = "hold"


def prediction(answer: Answer) -> Prediction:
    """The answer as it is kept: its time is the moment that was asked about."""
    return Prediction(
        question=_QUESTION,
        model=answer.model,
        time=answer.moment,
        inputs=answer.inputs,
        answer=without_nan(answer.to_json()),
    )


def keep_answers(
    answers: Sequence[Answer], settings: Settings, *, save: bool, publish: bool
) -> list[str]:
    """Write answers into the documents of their jobs, and send them to Kafka.

    Answers of which no document is in the store are neither saved nor published.

    Returns:
        a line for each of these.

    Raises:
        StoreError: the store cannot be read or written; then nothing is published.
        OutputError: Kafka does not take them; `SettingsError`: none is set.
    """
    problems: list[str] = []
    found: list[tuple[str, Prediction]] = []
    with open_store(settings=settings.store) as store:
        for answer in answers:
            ids = _documents(store, answer)
            if len(ids) == 1:
                found.append((ids[0], prediction(answer)))
            else:
                what = "more than one document" if ids else "no document"
                name = answer.id or answer.job
                problems.append(f"the store has {what} of job {name}: its answer was not kept")
        if save:
            merged = store.merge(
                JobDocument(id=id_, updated=one.time, predictions=(one,)) for id_, one in found
            )
            if merged.refused:
                why = printable(": ".join(merged.refused[0]), 300)
                raise StoreError(f"an answer could not be saved: {why}")
            note(f"saved {counted(len(found), 'answer')} in {printable(store.url)}")
    if publish and found:
        with AnswerProducer(settings.kafka) as producer:
            for id_, one in found:
                producer.publish(id_, one)
        note(f"published {counted(len(found), 'answer')} to {printable(settings.kafka.answers)}")
    return problems


def _documents(store: Store, answer: Answer) -> list[str]:
    """The ids of documents that it may be of; where no log names the access point, by job."""
    job = answer.job
    if answer.access_point is not None and job.proc is not None:
        id_ = condor_id(answer.access_point, job.cluster, job.proc)
        return [id_] if store.get([id_]) else []
    keys = ((id_, parse_key(id_)) for id_ in store.numbered(str(job.cluster)))
    return [
        id_
        for id_, key in keys
        if key.scheduler == "htcondor" and key.job == str(job) and _UNNAMED.fullmatch(key.cluster)
    ]
