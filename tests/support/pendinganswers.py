"""Answers for pending jobs, as of `start` and `fail`, made without a history."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from jobsight.acting.slurm.plan import Answers
from jobsight.questions.fail.answering import Answer as FailAnswer
from jobsight.questions.fail.evidence import Advice
from jobsight.questions.start.answering import Answer as StartAnswer

__all__ = ["answers", "answers_for"]


def answers(
    wait: tuple[float, float, float] | None = (7200.0, 9000.0, 10800.0), *,
    fails: float | None = 0.6, kind: str = "out_of_memory", option: str | None = "--mem=8G",
    blocked: str | None = None, not_before: tuple[int, int, int] | None = None,
    now: float | None = None,
) -> Answers:  # fmt: skip
    """Both answers as of `now` (seconds since 1970; None: this moment)."""
    moment = int((time.time() if now is None else now) * 1_000_000)
    job: dict[str, Any] = {"id": None}
    start = StartAnswer(
        job=job, moment=moment, wait=None if blocked else wait, runtime=None,
        not_before=not_before, blocked=blocked, waits_for=[], advice=[], only_of=None,
        model="test", inputs="",
    )  # fmt: skip
    fail = FailAnswer(
        job=job, moment=moment, probability=fails, low=None, high=None, kinds={kind: 1.0},
        evidence=[], advice=None if option is None else Advice("ask for more", option, {}),
        with_advice=None, model="test", inputs="",
    )  # fmt: skip
    return Answers(start, fail)


def answers_for(names: Collection[str]) -> dict[str, Answers]:
    """The same for each."""
    return dict.fromkeys(names, answers())
