"""Publishing answers: what a question's model said of a job, for whoever listens.

A message a prediction, in the topic of the settings (``jobsight-answers``): the key is the job
document's id, so that a job's answers stay in order; the value is JSON, ``{"id": …, "question": …,
"model": …, "time": …, "inputs": …, "answer": {…}}`` with `time` in µs since 1970.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import msgspec

from jobsight.documents import Prediction
from jobsight.errors import OutputError
from jobsight.files import without_nan
from jobsight.service.kafka import Connection
from jobsight.service.producing import Sender
from jobsight.settings import KafkaSettings

__all__ = ["AnswerProducer"]


class AnswerProducer:
    """Publishes predictions; leave the ``with`` block, or `flush`, to be sure that they arrived.

    One thread at a time. Messages arrive once and in order (idempotent producer).

    Args:
        settings: brokers, topic, time limit.
        environment: for the secrets; None: the process's own.

    Raises:
        SettingsError: no brokers are named, or Kafka's library is missing.
        OutputError: a property of librdkafka is bad.
    """

    def __init__(
        self, settings: KafkaSettings, environment: Mapping[str, str] | None = None
    ) -> None:
        self._topic = settings.answers
        self._sender = Sender(Connection(settings, environment), settings.timeout_seconds)

    @property
    def delivered(self) -> int:
        """Answers that the brokers have confirmed."""
        return self._sender.delivered

    @property
    def failed(self) -> int:
        """Answers that did not arrive."""
        return self._sender.failed

    def publish(self, document_id: str, prediction: Prediction) -> None:
        """Send one prediction.

        Raises:
            OutputError: it cannot be written as JSON, is too large, or no broker takes messages.
        """
        try:
            told = {"id": document_id, **msgspec.to_builtins(prediction)}
            unknown = told.pop("unknown", None)
            text = json.dumps(without_nan({**(unknown or {}), **told}), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise OutputError(f"the answer for {document_id[:80]!r} is no JSON: {error}") from None
        key = document_id.encode("utf-8", "replace")
        self._sender.send(self._topic, key, text.encode(), [("question", prediction.question)])

    def flush(self) -> None:
        """Wait until all answers have arrived.

        Raises:
            OutputError: some have not; says why.
        """
        self._sender.flush()

    def close(self) -> None:
        """Give up what has not been sent."""
        self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self.close()
