"""A challenger against the champion: it takes its place only if it is surely better later on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobsight.answering.models import network_of
from jobsight.errors import ModelError, TrainingError
from jobsight.learning.comparison import Comparison, compare
from jobsight.learning.modeldir import ModelDir
from jobsight.questions import question_named

if TYPE_CHECKING:
    from pathlib import Path

    from jobsight.learning.registry import Entry, Registry
    from jobsight.settings import Settings

__all__ = ["Challenge", "challenge", "compared"]


@dataclass(frozen=True)
class Challenge:
    """What came of it.

    Attributes:
        promoted: whether the challenger is champion now.
        reason: why, or why not; what the record of the promotion keeps.
        over: digest of the champion before; None: there was none.
        comparison: of both; None where there was nothing to compare by.
    """

    promoted: bool
    reason: str
    over: str | None
    comparison: Comparison | None


def challenge(
    registry: Registry,
    entry: Entry,
    source: Any,
    settings: Settings,
    *,
    force: bool = False,
    why: str = "",
) -> Challenge:
    """Compare a model with the champion of its cluster, and promote it if it is surely better.

    Without a `source` that both are judged on, nothing speaks for the challenger.

    Raises:
        ModelError: a model is damaged, or the champion changed meanwhile.
    """
    champion = registry.champion(entry.question, entry.cluster)
    if champion is not None and champion.number == entry.number:
        return Challenge(True, "it is the champion already", champion.digest, None)
    comparison, reason = None, "there was no champion"
    if champion is not None:
        comparison, reason = _judged(champion, entry, source, settings, forced=force)
    promoted = champion is None or force or (comparison is not None and comparison.better)
    if force and champion is not None:
        reason = f"forced; {reason}"
    if promoted:
        over = None if champion is None else champion.digest
        registry.promote(entry, over=over, why=f"{why}; {reason}" if why else reason)
    return Challenge(promoted, reason, None if champion is None else champion.digest, comparison)


def compared(
    question: str, first: Path, second: Path, source: Any, settings: Settings
) -> Comparison:
    """Both models on the same decisions; errors as of `comparison.compare`, `ModelDir.open`."""
    asked = question_named(question)
    network = network_of(asked, settings)
    opened = [ModelDir.open(one, asked, network=network) for one in (first, second)]
    metric = settings.of(question, asked.settings).metric
    return compare(opened[0], opened[1], source, metric=metric)


def _judged(
    champion: Entry, entry: Entry, source: Any, settings: Settings, *, forced: bool
) -> tuple[Comparison | None, str]:
    if source is None:
        return None, f"no logs were given to compare it with the champion {champion.digest} by"
    try:
        comparison = compared(entry.question, champion.folder, entry.folder, source, settings)
    except TrainingError as error:
        return None, str(error)
    except ModelError as error:
        # A champion that is damaged must not keep others from its place.
        if not forced:
            raise
        return None, str(error)
    return comparison, comparison.verdict
