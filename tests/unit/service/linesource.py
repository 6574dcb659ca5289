"""A tiny real source for tests of the collector: every line of a file is a job that ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from jobsight.documents import JSON, Event, JobDocument, State, Submission, condor_id
from jobsight.errors import SourceError
from jobsight.history.sources import Observed, Position, Source

__all__ = ["LineSource", "document"]


def document(number: int, name: str = "", *, ended: bool = True) -> JobDocument:
    """A job of the access point ``lines``, one second a number."""
    time = number * 1_000_000
    state = State.COMPLETED if ended else State.RUNNING
    return JobDocument(
        id=condor_id("lines", number, 0),
        updated=time,
        submission=Submission(name=name or None),
        timeline=(Event(time=time, source="lines", position=number, state=state),),
    )


class LineSource(Source):
    """Reads whole lines, some a poll.

    Attributes:
        troubles: raised once each, in order, before polls; None: no trouble then.
        half: what `trouble` tells.
        gate: polls hang until it is set.
    """

    def __init__(self, path: Path, *, most: int = 100, interval: float = 0.02) -> None:
        self.name = f"lines:{path}"
        self.interval = interval
        self.troubles: list[BaseException | None] = []
        self.half: str | None = None
        self.gate: threading.Event | None = None
        self.resumed = self.commits = self.closes = 0
        self._path = path
        self._most = most
        self._at = self._line = 0

    @property
    def problem(self) -> str | None:
        return self.half

    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        self.resumed += 1
        self._at, self._line = (position["at"], position["line"]) if position else (0, 0)

    def poll(self) -> Observed | None:
        if self.gate is not None:
            self.gate.wait(20)
        if self.troubles and (error := self.troubles.pop(0)) is not None:
            raise error
        if not self._path.exists():
            raise SourceError(f"{self._path} is not there")
        found: list[JobDocument] = []
        with self._path.open("rb") as file:
            file.seek(self._at)
            while len(found) < self._most and (line := file.readline()).endswith(b"\n"):
                self._at += len(line)
                self._line += 1
                found.append(document(self._line, line.decode().strip()))
            more = bool(file.readline().endswith(b"\n"))
        if not found:
            return None
        return Observed(found, {"at": self._at, "line": self._line}, more=more)

    def committed(self) -> None:
        self.commits += 1

    def status(self) -> dict[str, JSON]:
        return {"bytes_behind": 0, "line": self._line}

    def close(self) -> None:
        self.closes += 1
