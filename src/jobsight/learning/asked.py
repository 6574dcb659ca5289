"""The table of questions, which `jobsight.questions` fills; it imports a question when asked."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from jobsight.errors import UsageError

if TYPE_CHECKING:
    from jobsight.learning.question import Question

__all__ = ["QUESTIONS", "question_named"]

QUESTIONS: dict[str, str] = {}
"""``module:attribute`` of each question, by name."""


def question_named(name: str) -> Question[Any]:
    """The question of a name.

    Raises:
        UsageError: there is no such question.
    """
    if name not in QUESTIONS:
        raise UsageError(f"there is no question {name[:40]!r}; known are {', '.join(QUESTIONS)}")
    module, _, attribute = QUESTIONS[name].partition(":")
    return cast("Question[Any]", getattr(importlib.import_module(module), attribute))
