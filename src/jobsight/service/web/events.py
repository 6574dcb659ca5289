"""News for those who wait for them: new holds and answers, as server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from jobsight.service.web.guards import RefusedError
from jobsight.service.web.tokens import Caller

__all__ = ["Events", "News"]

_MOST_WAITING = 200
"""News that a slow reader may be behind; of more it gets ``lost``, and reads anew."""
_SIGN_OF_LIFE_S = 15.0


class News(NamedTuple):
    """A piece of news about a job; without an owner, for all."""

    kind: str
    data: dict[str, Any]
    owner: str | None = None


class Events:
    """Hands news to all open streams. `publish` may be called from any thread."""

    def __init__(self, most: int, most_own: int) -> None:
        self._most, self._most_own = most, most_own
        self._lock = threading.Lock()
        self._streams: dict[asyncio.Queue[News], tuple[Caller, asyncio.AbstractEventLoop]] = {}

    @property
    def open(self) -> int:
        """How many streams are open."""
        return len(self._streams)

    def publish(self, news: News) -> None:
        """Hand a piece of news to each stream whose caller may see it."""
        with self._lock:
            streams = list(self._streams.items())
        for queue, (who, loop) in streams:
            if news.kind == "state" or who.sees(news.owner):
                loop.call_soon_threadsafe(_put, queue, news)

    async def subscribe(self, who: Caller) -> AsyncIterator[bytes]:
        """The events for a caller, until the iterator is closed; it counts as open from here on.

        Raises:
            RefusedError: too many streams are open.
        """
        stream = self._stream(who)
        await anext(stream)  # so that the stream is counted, and its end will be
        return stream

    async def _stream(self, who: Caller) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[News] = asyncio.Queue(_MOST_WAITING)
        with self._lock:
            own = sum(caller.name == who.name for caller, _ in self._streams.values())
            if len(self._streams) >= self._most or own >= self._most_own:
                raise RefusedError(503, "too many event streams are open")
            self._streams[queue] = (who, asyncio.get_running_loop())
        try:
            yield b""
            yield b"retry: 3000\n\n"
            while True:
                try:
                    news = await asyncio.wait_for(queue.get(), _SIGN_OF_LIFE_S)
                except TimeoutError:
                    yield b": alive\n\n"
                else:
                    text = json.dumps(news.data, ensure_ascii=True)
                    yield f"event: {news.kind}\ndata: {text}\n\n".encode()
        finally:
            with self._lock:
                self._streams.pop(queue, None)


def _put(queue: asyncio.Queue[News], news: News) -> None:
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        news = News("lost", {})
    queue.put_nowait(news)
