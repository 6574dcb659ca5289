"""The timeline of a job of which only a few moments are known, as traces tell them."""

from __future__ import annotations

import msgspec

from jobsight.documents import Event, State

__all__ = ["Life"]


class Life(msgspec.Struct, frozen=True, gc=False):
    """Moments of a job, µs since 1970; None: not told, or it never came to that.

    Attributes:
        submit, eligible, start, end: in this order, if all goes well.
        seen: moments at which the job was seen waiting.
        state: how it ended, or where it stands; None: not told.
        word: the source's own word for `state`.
        host: where it ran.
        reason, exit_code, signal: of its end.
    """

    submit: int
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    seen: tuple[int, ...] = ()
    state: State | None = None
    word: str | None = None
    host: str | None = None
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None

    def timeline(self, source: str) -> tuple[Event, ...]:
        """Entries of the timeline, in order.

        Raises:
            ValueError: the moments are in no possible order.
        """
        self._check()
        events = [_waiting(self.submit, source)]
        if self.eligible is not None and self.eligible != self.submit:
            events.append(Event(time=self.eligible, source=source, word="ELIGIBLE"))
        events += [_waiting(time, source) for time in self.seen]
        if self.start is not None:
            events.append(
                Event(time=self.start, source=source, state=State.RUNNING, host=self.host)
            )
        if self.state is not None and self.state.ended:
            events.append(
                Event(
                    time=events[-1].time if self.end is None else self.end,
                    source=source,
                    state=self.state,
                    word=self.word,
                    undated=self.end is None,
                    reason=self.reason,
                    return_value=self.exit_code,
                    signal=self.signal,
                )
            )
        return tuple(events)

    def _check(self) -> None:
        first = self.submit if self.start is None else self.start
        if first < self.submit:
            raise ValueError("it starts before it is submitted")
        if self.end is not None and self.end < first:
            raise ValueError("it ends before it starts")
        seen = (self.eligible or 0, *self.seen)
        if self.start is not None and max(seen) > self.start:
            raise ValueError("it waits still when it has started")


def _waiting(time: int, source: str) -> Event:
    return Event(time=time, source=source, state=State.PENDING)
