"""The table of questions, which `jobsight.questions` fills; it imports a question when asked."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobsight.errors import UsageError

if TYPE_CHECKING:
    from jobsight.learning.question import Question

__all__ = ["QUESTIONS", "imported", "question_named"]

QUESTIONS: dict[str, str] = {}
"""``module:attribute`` of each question, by name."""


def question_named(name: str) -> Question[Any]:
    """The question of a name; `UsageError`: there is no such question."""
    question: Question[Any] = imported(QUESTIONS, name)
    return question


def imported(table: Mapping[str, str], name: str) -> Any:
    """What a table has for the question of a name; `UsageError`: there is no such question."""
    if name not in table:
        raise UsageError(f"there is no question {name[:40]!r}; known are {', '.join(table)}")
    module, _, attribute = table[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
