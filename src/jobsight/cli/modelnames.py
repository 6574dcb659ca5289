"""How a model is named on the command line: a directory, or a model of the registry.

``champion`` is the one of the only cluster, or of ``default``; ``champion:CLUSTER`` that of a
cluster; anything else is a directory where there is one, else digits that a digest begins with,
also as answers write it (``boosted@1a2b3c4d``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from jobsight.errors import ModelError, UsageError
from jobsight.learning.champions import open_registry
from jobsight.questions import QUESTIONS
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.learning.registry import Entry, Registry
    from jobsight.settings import Settings

__all__ = ["MODEL_HELP", "entry_named", "model_folder"]

MODEL_HELP = (
    "Model: a directory that `train` wrote, a digest of `models list`, champion, "
    "or champion:CLUSTER."
)
_CHAMPION = "champion"
_DIGEST = re.compile(r"(?:[^@/]{1,80}@)?[0-9A-Fa-f]{4,64}")


def model_folder(name: str, settings: Settings, question: str | None = None) -> Path:
    """The model directory that a user means.

    Raises:
        ModelError: nothing is named so, or more than one model of the registry.
    """
    if os.path.exists(name):  # noqa: PTH110  # of text that cannot be a path, too
        return Path(name)
    if _is_champion(name) or _DIGEST.fullmatch(name):
        return entry_named(open_registry(settings), name, question).folder
    raise ModelError(
        f"there is no model directory {printable(name, 80)!r}, and no model of the registry "
        f"{settings.registry} is named so; `jobsight models list` shows those it has"
    )


def entry_named(
    registry: Registry, name: str, question: str | None = None, cluster: str | None = None
) -> Entry:
    """The model of the registry that a user means.

    Args:
        registry: where it is looked for.
        name: digits of its digest, ``champion`` or ``champion:CLUSTER``.
        question: that it answers; None: any, of champions the only one that has models.
        cluster: whose model; None: any that has it.

    Raises:
        ModelError: there is none, or several begin so; `UsageError`: it is no name.
    """
    if not _is_champion(name):
        return registry.find(name, question=question, cluster=cluster)
    question = question or _only_question(registry)
    cluster = name.partition(":")[2] or cluster or _only_cluster(registry, question)
    found = registry.champion(question, cluster)
    if found is None:
        raise ModelError(
            f"the registry {registry.path} has no champion of {question} for "
            f"{printable(cluster, 60)}; `jobsight models list` shows the models it has"
        )
    return found


def _is_champion(name: str) -> bool:
    return name.partition(":")[0] == _CHAMPION


def _only_cluster(registry: Registry, question: str) -> str:
    from jobsight.learning.registry import DEFAULT

    clusters = {entry.cluster for entry in registry.entries(question)}
    return clusters.pop() if len(clusters) == 1 else DEFAULT


def _only_question(registry: Registry) -> str:
    questions = {entry.question for entry in registry.entries()}
    if len(questions) > 1:
        names = ", ".join(sorted(questions))
        raise UsageError(f"there are champions of {names}; say which with --question")
    return questions.pop() if questions else next(iter(QUESTIONS))
