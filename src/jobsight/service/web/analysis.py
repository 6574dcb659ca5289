"""Scripts are analysed in processes of their own: hostile ones take no more than a share of those.

A few processes (``python -m jobsight.cli.analyst``) are started when they are needed and kept. One
takes a task as a line of JSON on its standard input and answers with a line of JSON. It ends with
the service, and is killed when the client goes away or a limit is passed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from jobsight.errors import JobsightError, ModelError, SourceError, UsageError
from jobsight.program.limited import MEMORY_MB, WALL_S
from jobsight.service.web.guards import RefusedError

if TYPE_CHECKING:
    from fastapi import Request

__all__ = ["Analysts", "unless_gone"]

_MOST_ANSWER = 16 << 20
"""Bytes of an answer."""
_PATIENCE_S = 10.0
"""For a process to be started and to end by its own limits."""
_ERRORS = {one.__name__: one for one in (ModelError, SourceError, UsageError)}
T = TypeVar("T")


class Analysts:
    """The processes, and who waits for them. Belongs to one event loop.

    A user has at most all processes but one, so that another is served at once, and at most half of
    the places in the queue.
    """

    def __init__(self, processes: int, waiting: int) -> None:
        self._most, self._longest = processes, waiting
        self._idle: list[asyncio.subprocess.Process] = []
        self._running, self._queued = Counter[str](), Counter[str]()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    async def ask(self, user: str, task: Mapping[str, Any]) -> Any:
        """What a process answers to a task of a user's; a task that is cancelled ends at once.

        Raises:
            JobsightError: as the task raises it.
            SourceError: it passes a limit.
            RefusedError: the queue is full, or the user's part of it.
        """
        await self._turn(user)
        try:
            return await self._answered(task)
        finally:
            self._running[user] -= 1
            self._next()

    async def close(self) -> None:
        """End all processes; those with a task end with it."""
        while self._idle:
            await _end(self._idle.pop())

    async def _turn(self, user: str) -> None:
        if self._may_run(user):
            self._running[user] += 1
            return
        if self._queued[user] >= max(1, self._longest // 2):
            raise RefusedError(429, "too many scripts of yours wait to be analysed; try again soon")
        if len(self._waiting) >= self._longest:
            raise RefusedError(503, "too many scripts wait to be analysed; try again soon")
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((user, turn))
        self._queued[user] += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._running[user] -= 1
            self._waiting = [one for one in self._waiting if one[1] is not turn]
            self._next()
            raise
        finally:
            self._queued[user] -= 1

    def _may_run(self, user: str) -> bool:
        """Whether a process is free, for this user too."""
        share = max(1, self._most - 1)
        return self._running.total() < self._most and self._running[user] < share

    def _next(self) -> None:
        """Give free processes to those who wait: the user with the fewest first."""
        self._running, self._queued = +self._running, +self._queued
        # A turn that is done was cancelled: who waited has gone, and takes it off the list next.
        while free := [
            (user, turn) for user, turn in self._waiting if not turn.done() and self._may_run(user)
        ]:
            user, turn = min(free, key=lambda waiting: self._running[waiting[0]])
            self._waiting.remove((user, turn))
            self._running[user] += 1
            turn.set_result(None)

    async def _answered(self, task: Mapping[str, Any]) -> Any:
        if self._idle:
            process = self._idle.pop()
        else:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "jobsight.cli.analyst", str(os.getpid()),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_MOST_ANSWER,
                start_new_session=True,
            )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        kept = False
        try:
            async with asyncio.timeout(WALL_S + _PATIENCE_S):
                process.stdin.write(json.dumps(task).encode() + b"\n")
                await process.stdin.drain()
                answer = json.loads(await process.stdout.readline())
            kept = not answer["last"]
        except (OSError, TimeoutError, ValueError):  # killed; too slow; too long an answer
            raise SourceError(
                f"the script needs more time or memory ({MEMORY_MB} MiB) than the analysis of one "
                "may take"
            ) from None
        finally:
            if kept:
                self._idle.append(process)
            else:
                await _end(process)
        if "error" in answer:
            raise _ERRORS.get(answer["error"], JobsightError)(answer["text"])
        return answer["answer"]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a process; what it started ends with it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.communicate()


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """Do what a client waits for; cancel it when the client goes away.

    Raises:
        RefusedError: it has gone, so that no answer is read.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise RefusedError(499, "the client has gone")
    finally:
        for one in (task, gone):
            one.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
