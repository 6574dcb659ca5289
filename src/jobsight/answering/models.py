"""Which model answers: one that the user names, or the champion of a cluster.

A user names a directory, or a model of the registry:
``champion`` is the one of the only cluster, or of ``default``; ``champion:CLUSTER`` that of a
cluster; anything else is a directory where there is one, else digits that a digest begins with,
also as answers write it (``boosted@1a2b3c4d``).
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.errors import ModelError, UsageError
from jobsight.learning.asked import QUESTIONS
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.registry import DEFAULT, Registry
from jobsight.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jobsight.answering.question import Answerable
    from jobsight.learning.question import Question
    from jobsight.learning.registry import Entry
    from jobsight.settings import Settings

__all__ = [
    "answering_folder",
    "champion_of",
    "entry_named",
    "model_folder",
    "named_model",
    "network_of",
    "open_answering",
    "usable",
]

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
        return entry_named(Registry(settings.registry), name, question).folder
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
    clusters = {entry.cluster for entry in registry.entries(question)}
    return clusters.pop() if len(clusters) == 1 else DEFAULT


def _only_question(registry: Registry) -> str:
    questions = {entry.question for entry in registry.entries()}
    if len(questions) > 1:
        names = ", ".join(sorted(questions))
        raise UsageError(f"there are champions of {names}; say which with --question")
    return questions.pop() if questions else next(iter(QUESTIONS))


def named_model(name: str | None, settings: Settings, question: Question[Any]) -> ModelDir | None:
    """The model that ``--model`` names, opened; None where it names none, or ``none``.

    Raises:
        ModelError: it cannot be found or opened.
    """
    if name is None or name == "none":
        return None
    return open_answering(model_folder(name, settings, question.name), settings, question)


def open_answering(folder: Path, settings: Settings, question: Question[Any]) -> ModelDir:
    """The model in a folder, to answer with: only what was chosen is opened."""
    network = network_of(question, settings)
    return ModelDir.open(folder, question, network=network, only_chosen=True)


def network_of(question: Question[Any], settings: Settings) -> str | None:
    """The network class that the user's settings of a question name, where it has one."""
    lstm = getattr(settings.of(question.name, question.settings), "lstm", None)
    return None if lstm is None else str(lstm.network)


def champion_of(settings: Settings, question: str, cluster: str | None) -> Entry | None:
    """The champion that answers for a cluster: its own, else that of `DEFAULT`, if there is one.

    Raises:
        ModelError: it cannot be used; says how to go on without it.
    """
    for name in dict.fromkeys((cluster, DEFAULT)):
        if name is not None:
            with usable(question, name):
                champion = Registry(settings.registry).champion(question, name)
            if champion is not None:
                return champion
    return None


def answering_folder(settings: Settings, answerable: Answerable[Any]) -> Path | None:
    """The folder of the model that answers where no cluster is known; None: there is none."""
    entry = champion_of(settings, answerable.question.name, None)
    return answerable.ships if entry is None else entry.folder


@contextlib.contextmanager
def usable(question: str, cluster: str) -> Iterator[None]:
    """Let the error of a champion that cannot be opened say how to go on without it."""
    try:
        yield
    except ModelError as error:
        raise ModelError(
            f"the champion of {question} for {printable(cluster, 60)} cannot be used: {error}; go "
            "on with another (--model NAME, `jobsight models promote NAME`), or without "
            "(--model none)"
        ) from None
