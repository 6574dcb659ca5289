"""What a user is shown who submits a job to Slurm: a few lines, within a deadline.

Asked by ``acting/files/slurm/jobsight-cli.lua`` within sbatch, salloc and srun, which wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from jobsight.clock import format_span
from jobsight.errors import JobsightError, StoreUnavailableError, UsageError
from jobsight.questions.fail.question import FAIL
from jobsight.questions.fail.wording import worded
from jobsight.questions.start.answering import AT_ONCE
from jobsight.questions.start.question import START
from jobsight.service.web.asking import about_script
from jobsight.service.web.guards import RefusedError
from jobsight.text import printable, wordset

if TYPE_CHECKING:
    from jobsight.service.web.ready import Ready
    from jobsight.service.web.tokens import Caller

__all__ = ["Submission", "Submissions"]

_DEADLINE_S = 0.12
"""For an answer: curl waits 0.18 s, sbatch 0.3 s for all."""
_MOST_RUNNING = 8
"""Parts of answers to one user that are worked out at once; with so many, no other is begun."""
_FRESH_S, _MOST_KEPT = 15.0, 500
"""Seconds for which the answer to the same submission is given again, and how many are kept."""
_MOST_ERRORS, _WIDTH = 5, 200
_HIGH = 0.5
"""Probability to fail from which on it is shown."""
_OPTIONS = wordset(
    "account array chdir constraint cpus-per-gpu cpus-per-task dependency error gpus gpus-per-node "
    "gpus-per-socket gpus-per-task gres input job-name mem mem-per-cpu mem-per-gpu nodes ntasks "
    "ntasks-per-node output partition qos time"
)
"""Options that are looked at: those whose value Slurm writes as users do."""
_UNSET = frozenset({"", "unset", "invalid-context"})
"""What Slurm writes for the value of an option without one (src/common/slurm_opt.c)."""
_ASCII = str.maketrans("–×≥≤’", "-x><'")


@dataclass(frozen=True)
class Submission:
    """A submission before it reaches Slurm.

    Attributes:
        path: of the script or the command, as Slurm resolved it, else what Slurm names the job.
        text: of the script; empty: it comes on standard input, or there is none (srun, salloc).
        options: of sbatch, those of the call, the environment and the script in one.
    """

    path: str
    text: str
    options: tuple[str, ...]

    @classmethod
    def read(cls, body: bytes) -> Submission:
        """A request: the folder, the line of ``slurm.json_cli_options``, the script's text.

        Raises:
            UsageError: it is not one.
        """
        folder, _, rest = body.partition(b"\n")
        described, _, script = rest.partition(b"\n")
        try:
            given = msgspec.json.decode(described.decode(errors="replace"), type=dict[str, Any])
        except (msgspec.DecodeError, msgspec.ValidationError):
            raise UsageError("the second line is not a JSON object of options") from None
        command = given.get("argv")
        if not command or not isinstance(command, list):
            command = ["wrap" if given.get("wrap") else "sbatch"]
        text = script.decode(errors="replace")
        if not text and isinstance(given.get("wrap"), str):
            text = f"#!/bin/sh\n{given['wrap']}\n"
        values = {"chdir": folder.decode(errors="replace"), **given}
        options = tuple(
            f"--{name}={value}"
            for name, value in values.items()
            if name in _OPTIONS and isinstance(value, str) and value not in _UNSET
        )
        return cls(str(command[0]), text, options)


class Submissions:
    """Answers submissions. Belongs to one event loop.

    `check` is `Site.check`; `current` gives the latest tables, None while there are none.
    """

    def __init__(
        self,
        check: Callable[[Caller, str, str, Sequence[str]], Awaitable[Mapping[str, Any]]],
        current: Callable[[], Ready | None],
    ) -> None:
        self._check, self._current = check, current
        self._threads = CapacityLimiter(2)
        self._running: dict[asyncio.Future[Mapping[str, Any]], str] = {}
        self._kept: dict[bytes, tuple[float, list[str]]] = {}

    async def lines(self, who: Caller, body: bytes) -> list[str]:
        """What to show, in ASCII; what is not ready in time is left out, and goes on by itself.

        Raises:
            UsageError: the request cannot be read.
        """
        key = hashlib.sha256(f"{who.name}\n".encode() + body).digest()
        until, lines = self._kept.get(key, (0.0, []))
        if until > time.monotonic():
            return lines
        sent = Submission.read(body)
        if list(self._running.values()).count(who.name) >= _MOST_RUNNING:
            return []
        asked: list[Awaitable[Mapping[str, Any]]] = [self._predicted(who, sent)]
        if sent.text:
            asked.append(self._check(who, sent.path, sent.text, sent.options))
        tasks = [asyncio.ensure_future(work) for work in asked]
        for task in tasks:
            self._running[task] = who.name
            task.add_done_callback(self._finished)
        await asyncio.wait(tasks, timeout=_DEADLINE_S)
        results = [_result(task) if task.done() else None for task in tasks]
        predicted, report = (*results, None)[:2]
        lines = [*_faults(report or {}), *_predictions(predicted or {})]
        lines = [_shown(line) for line in lines]
        if all(task.done() for task in tasks):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = time.monotonic() + _FRESH_S, lines
        return lines

    async def _predicted(self, who: Caller, sent: Submission) -> Mapping[str, Any]:
        """The answers of ``fail`` and ``start`` as JSON, those that can be given."""
        ready = self._current()
        if ready is None:
            raise StoreUnavailableError("the store is still being read")
        return await run_sync(_predictions_for, ready, sent, who.name, limiter=self._threads)

    def _finished(self, task: asyncio.Future[Mapping[str, Any]]) -> None:
        del self._running[task]
        _result(task)


def _result(task: asyncio.Future[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What was found; None: it failed, which is not a matter of who submits a job."""
    try:
        return task.result()
    except (JobsightError, RefusedError, asyncio.CancelledError):
        return None


def _predictions_for(ready: Ready, sent: Submission, owner: str) -> dict[str, Any]:
    found = {}
    for name in (FAIL.name, START.name):
        with contextlib.suppress(JobsightError):
            found[name] = about_script(ready, name, sent.path, sent.text, sent.options, owner)
    return found


def _faults(report: Mapping[str, Any]) -> Iterator[str]:
    """The errors that `check` finds; warnings are left to `jobsight check`."""
    errors = [found for found in report.get("findings", ()) if found["severity"] == "error"]
    for found in errors[:_MOST_ERRORS]:
        fix = f" ({found['fix']})" if found.get("fix") else ""
        yield f"{found['file']}:{found['line']}: {found['message']}{fix} [{found['code']}]"
    if len(errors) > _MOST_ERRORS:
        yield f"{len(errors) - _MOST_ERRORS} more errors: jobsight check {report['file']}"


def _predictions(answers: Mapping[str, Any]) -> Iterator[str]:
    """A high risk to fail, with what helps, and the expected start where it is not at once."""
    fail, start = answers.get("fail"), answers.get("start")
    if fail is not None and (fail["blocked"] or (fail["probability"] or 0.0) >= _HIGH):
        words = worded(fail)
        yield ": ".join(part for part in (words.risk, words.kinds) if part)
        if words.advice or words.option:
            advice = " ".join(part for part in (words.advice, words.option) if part)
            yield "; ".join(part for part in (advice, words.with_it) if part)
    if start is not None and start["wait_s"] is not None and start["wait_s"][2] > AT_ONCE:
        low, middle, high = map(format_span, start["wait_s"])
        yield f"likely starts in {middle}" + (f" ({low} to {high})" if low != high else "")


def _shown(line: str) -> str:
    text = printable(line, _WIDTH).translate(_ASCII).encode("ascii", "replace").decode()
    return f"jobsight: {text}"
