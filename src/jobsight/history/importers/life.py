"""The timeline of a job of which only a few moments are known, as in traces."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from jobsight.documents import Event, State

__all__ = ["timeline_of"]

_RUNNING = State.RUNNING  # an enumeration takes longer to find it than an event to be made


def timeline_of(
    source: str,
    submit: int,
    eligible: int | None = None,
    waiting: int | None = None,
    start: int | None = None,
    end: int | None = None,
    *,
    state: State | None = None,
    word: str | None = None,
    host: str | None = None,
    reason: str | None = None,
    exit_code: int | None = None,
    signal: int | None = None,
    queue: str | None = None,
) -> tuple[Event, ...]:
    """Entries of a timeline, in order.

    Args:
        source: of the entries.
        submit: µs since 1970, as all moments; None: unknown, or the job never came to that.
        eligible: could have started since.
        waiting: was seen in the queue.
        start: last start.
        end: of the job.
        state: how it ended, or its state now; None: unknown.
        word: the source's own word for `state`.
        host: where it ran.
        reason: of its end.
        exit_code: of its end.
        signal: that ended it.
        queue: numbers of the queue around it at `waiting`, as JSON.

    Raises:
        ValueError: the moments are in no possible order.
    """
    first = submit if start is None else start
    if first < submit:
        raise ValueError("it starts before it is submitted")
    if end is not None and end < first:
        raise ValueError("it ends before it starts")
    events = [_waits(source, submit)]
    if eligible is not None:
        events.append(Event(time=eligible, source=source, word="ELIGIBLE"))
    if waiting is not None and (waiting != submit or queue):
        events.append(replace(_waits(source, waiting), attributes=queue))
    events.sort(key=lambda event: event.time)  # it may have been seen before it was eligible
    if start is not None:
        if start < (eligible or 0) or start < (waiting or 0):
            raise ValueError("it waits still when it has started")
        events.append(Event(time=start, source=source, state=_RUNNING, host=host))
    if state is not None and state.ended:
        events.append(
            Event(
                time=events[-1].time if end is None else end,
                source=source,
                state=state,
                word=word,
                undated=end is None,
                reason=reason,
                return_value=exit_code,
                signal=signal,
            )
        )
    return tuple(events)


@lru_cache(4096)
def _waits(source: str, time: int) -> Event:
    # Many jobs are submitted at once.
    return Event(time=time, source=source, state=State.PENDING)
