"""Answers kept: as predictions in job documents, for later review, and published over Kafka."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from jobsight.answering.question import Answer
from jobsight.cli.output import note
from jobsight.documents import JobDocument, Prediction
from jobsight.errors import StoreError
from jobsight.files import without_nan
from jobsight.store import open_store
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["by_id", "keep_answers"]


A = TypeVar("A", bound=Answer)


def by_id(store: Store, answer: Answer) -> list[str]:
    """The id of the job's document, if the store has it."""
    return [answer.id] if answer.id and store.get([answer.id]) else []


def keep_answers(
    question: str,
    answers: Sequence[A],
    settings: Settings,
    *,
    save: bool,
    publish: bool = False,
    documents: Callable[[Store, A], list[str]] = by_id,
) -> list[str]:
    """Write answers into the documents of their jobs (`save`), and send them to Kafka (`publish`).

    Answers that are of no document, or of several by `documents`, are neither saved nor published.

    Returns:
        A line for each of these.

    Raises:
        StoreError: the store cannot be read or written; then nothing is published.
        OutputError: Kafka does not take them; `SettingsError`: none is set.
    """
    problems: list[str] = []
    kept: list[tuple[str, Prediction]] = []
    with open_store(settings=settings.store) as store:
        for answer in answers:
            ids = documents(store, answer)
            if len(ids) == 1:
                # Its time is the moment that was asked about.
                prediction = Prediction(
                    question=question,
                    model=answer.model,
                    time=answer.moment,
                    inputs=answer.inputs,
                    answer=without_nan(answer.to_json()),
                )
                kept.append((ids[0], prediction))
            else:
                what = "more than one document" if ids else "no document"
                name = answer.id or answer.job
                problems.append(f"the store has {what} of job {name}: its answer was not kept")
        if save:
            merged = store.merge(
                JobDocument(id=id_, updated=prediction.time, predictions=(prediction,))
                for id_, prediction in kept
            )
            if merged.refused:
                why = printable(": ".join(merged.refused[0]), 300)
                raise StoreError(f"an answer could not be saved: {why}")
            note(f"saved {counted(len(kept), 'answer')} in {printable(store.url)}")
    if publish and kept:
        from jobsight.service.kafka import send_answers  # most calls do without Kafka

        send_answers(settings.kafka, kept)
        note(f"published {counted(len(kept), 'answer')} to {printable(settings.kafka.answers)}")
    return problems
