"""The model that ships with Jobsight, and what it says of programs measured too coarsely."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.errors import ModelError
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.bound.decisions import BOUND
from jobsight.questions.bound.features import Features, read

if TYPE_CHECKING:
    from jobsight.learning.question import Question
    from jobsight.program.examples import Example

__all__ = ["SHIPPED", "likeliest"]

SHIPPED = Path(__file__).parent / "default"
_MODELS: dict[str, ModelDir | None] = {}


def likeliest(question: Question[Any], example: Example) -> str | None:
    """The class of an example whose measurement leaves several possible; None: unknown.

    Partial labels: the likeliest of the possible ones is learned (Jin and Ghahramani, NIPS 2002).
    """
    model = _opened(question)
    if model is None:
        return None
    inputs = Features([example]).inputs([read(example.path, example.text)])
    chances = model.targets["class"].answering.predict(inputs)[0]
    possible = {kind: chances[k] for k, kind in enumerate(BOUND) if kind in example.classes}
    return max(possible, key=lambda kind: possible[kind]) if possible else None


def _opened(question: Question[Any]) -> ModelDir | None:
    """The model; None: there is none, or one of an older version of trees."""
    if question.name not in _MODELS:
        _MODELS[question.name] = None
        with contextlib.suppress(ModelError):
            _MODELS[question.name] = ModelDir.open(SHIPPED, question, only_chosen=True)
    return _MODELS[question.name]
