"""What a tracker is told of a run, and the contract of all trackers."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

__all__ = ["Ending", "RunEnd", "StopReason", "Tracker", "Trackers"]

Ending = Literal["finished", "early", "failed", "dropped"]
StopReason = Literal["evicted", "limit", "until", "saved"]
"""Why an attempt ended and the run did not: it was sent away, its time was up, it was to go no
further for now, or it left for a moment so that what it has is fetched, and goes on at once."""


@dataclass(frozen=True)
class RunEnd:
    """How a run ended for good; the last line of its record.

    Attributes:
        status: ``finished`` (all epochs), ``early`` (patience), ``failed`` (by its parameters),
            ``dropped`` (hopeless beside the others).
        cause: one line, where it failed or was dropped.
        epochs: how many were trained.
        best_epoch: the one whose weights are kept, counted from 1; None without any.
        metrics: of the select part with the kept weights; NaN or None where undefined.
        seconds: wall time of all attempts.
        cpu_seconds: processor time of all attempts.
        peak_bytes: most memory that an attempt held.
    """

    status: Ending
    cause: str | None = None
    epochs: int = 0
    best_epoch: int | None = None
    metrics: Mapping[str, float | None] | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


class Tracker(ABC):
    """Keeps what one run tells, while it trains.

    Order: `start` once, then `epoch` after each epoch, then either `stopped` (the run goes on
    later, maybe elsewhere) or `model` and `end`; `close` always, also after errors (the context
    manager does). A tracker that is closed without `end` leaves the run to be gone on with.

    Threads: one thread at a time. Processes: one run has one tracker; a second attempt that
    starts while the first still writes spoils nothing, since lines are written whole.

    Errors: a tracker that keeps the local record raises `OutputError` where the disk does not
    take it (the caller saves nothing more and leaves with an error: the run is tried again). One
    that tells a server never raises for trouble of server or network once it is open: it says so
    in one line, goes on offline or without, and never waits longer than its settings allow.
    """

    @abstractmethod
    def start(
        self, *, run: int, parameters: Mapping[str, Any], epoch: int = 0, seed: int = 0
    ) -> None:
        """An attempt begins.

        Args:
            run: its number, from 1.
            parameters: the point searched, as JSON data.
            epoch: the last epoch already done; above 0 when it resumes from a checkpoint.
            seed: of the training.
        """

    @abstractmethod
    def epoch(self, epoch: int, metrics: Mapping[str, float | None]) -> None:
        """An epoch was trained and its checkpoint lies on disk.

        Args:
            epoch: counted from 1.
            metrics: ``train_loss``, ``select_loss``, ``seconds`` and metrics of the select part;
                NaN, infinity and None all mean undefined.
        """

    def note(self, text: str) -> None:  # noqa: B027
        """One line of what happened beside the training; a tracker may leave it out."""

    @abstractmethod
    def stopped(self, reason: StopReason) -> None:
        """The attempt ends here, the run does not."""

    @abstractmethod
    def model(self, folder: Path) -> None:
        """The model kept, as files in `folder`, which stay the caller's."""

    @abstractmethod
    def end(self, end: RunEnd) -> None:
        """The run ended for good."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and processes, in bounded time. More than once does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Trackers(Tracker):
    """Several trackers told the same, in order; all are closed whatever one of them raises."""

    def __init__(self, members: Sequence[Tracker]) -> None:
        self._members = tuple(members)

    def start(
        self, *, run: int, parameters: Mapping[str, Any], epoch: int = 0, seed: int = 0
    ) -> None:
        """See `Tracker.start`."""
        for member in self._members:
            member.start(run=run, parameters=parameters, epoch=epoch, seed=seed)

    def epoch(self, epoch: int, metrics: Mapping[str, float | None]) -> None:
        """See `Tracker.epoch`."""
        for member in self._members:
            member.epoch(epoch, metrics)

    def note(self, text: str) -> None:
        """See `Tracker.note`."""
        for member in self._members:
            member.note(text)

    def stopped(self, reason: StopReason) -> None:
        """See `Tracker.stopped`."""
        for member in self._members:
            member.stopped(reason)

    def model(self, folder: Path) -> None:
        """See `Tracker.model`."""
        for member in self._members:
            member.model(folder)

    def end(self, end: RunEnd) -> None:
        """See `Tracker.end`."""
        for member in self._members:
            member.end(end)

    def close(self) -> None:
        """See `Tracker.close`."""
        with contextlib.ExitStack() as stack:
            for member in reversed(self._members):
                stack.callback(member.close)
