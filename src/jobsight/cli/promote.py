"""``jobsight models compare|promote``: which of two models is better."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.answering.models import entry_named, model_folder, network_of
from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    NetworkOption,
    TimezoneOption,
    load_settings,
)
from jobsight.cli.models import (
    ModelArgument,
    ModelClusterOption,
    QuestionOption,
    WhyOption,
    comparison_text,
    of_one_cluster,
    side_by_side,
    side_by_side_text,
)
from jobsight.cli.output import answer, note, print_json, say
from jobsight.cli.reading import read_for
from jobsight.errors import ModelError, TrainingError
from jobsight.learning.comparison import Comparison
from jobsight.learning.comparison import compare as compare_models
from jobsight.learning.manifest import read_manifest
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.registry import Registry
from jobsight.questions import question_named
from jobsight.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from jobsight.learning.registry import Entry, Registry
    from jobsight.settings import Settings

__all__ = ["Challenge", "challenge", "compare", "compared", "promote"]

_LogsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[LOG]...",
        help="Logs, stores, snapshots from after both trainings, to judge both by.",
        show_default=False,
    ),
]


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A model, or a model directory.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another, of the same question.")],
    logs: _LogsArgument = None,
    question: QuestionOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which of two models is better? With logs, on the same decisions later than both."""
    settings = load_settings(config, {"timezone": timezone})
    one, other = (model_folder(name, settings, question) for name in (first, second))
    if logs:
        asked = read_manifest(one).question
        settings = _settings(asked, config, timezone, network)
        source, _, _ = read_for(question_named(asked), logs, settings)
        comparison = compared(asked, one, other, source, settings).to_json()
        answer(comparison, lambda: comparison_text(comparison), as_json=as_json)
        return
    reports = side_by_side([one, other])
    answer(reports, lambda: side_by_side_text(reports), as_json=as_json)
    for warning in [] if as_json else reports["warnings"]:
        note(f"jobsight: {warning}")


def promote(
    model: ModelArgument,
    logs: _LogsArgument = None,
    question: QuestionOption = None,
    cluster: ModelClusterOption = None,
    why: WhyOption = "",
    force: Annotated[
        bool, typer.Option("--force", help="Even if it is not surely better.")
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a model champion, if it is surely better than the champion on later decisions."""
    registry = Registry(load_settings(config, {}).registry)
    entry = of_one_cluster(registry, entry_named(registry, model, question, cluster), cluster)
    settings = _settings(entry.question, config, timezone, network)
    source = read_for(question_named(entry.question), logs, settings)[0] if logs else None
    done = challenge(registry, entry, source, settings, force=force, why=why)
    comparison = None if done.comparison is None else done.comparison.to_json()
    if as_json:
        print_json(
            {
                "model": entry.digest,
                "question": entry.question,
                "cluster": entry.cluster,
                "promoted": done.promoted,
                "over": done.over,
                "reason": done.reason,
                "comparison": comparison,
            }
        )
    elif comparison is not None:
        say(comparison_text(comparison) + "\n")
    if not done.promoted:
        advice = "" if comparison is not None else "; name logs from after both trainings"
        raise ModelError(
            f"{entry.digest} was not promoted: {printable(done.reason)}{advice}; --force promotes "
            "it all the same"
        )
    if not as_json:
        where = f"{entry.question} for {printable(entry.cluster, 60)}"
        say(f"{entry.digest} is the champion of {where}: {printable(done.reason)}")


def _settings(
    question: str, config: Path | None, timezone: str | None, network: str | None
) -> Settings:
    own = {"lstm": {"network": network}}
    asked = question_named(question)
    return load_settings(config, {"timezone": timezone, question: own}, asked)


@dataclass(frozen=True)
class Challenge:
    """Whether the challenger is champion now, why, and over which digest, if any, by comparison."""

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
    if champion is not None and source is None:
        reason = f"no logs were given to compare it with the champion {champion.digest} by"
    elif champion is not None:
        try:
            comparison = compared(entry.question, champion.folder, entry.folder, source, settings)
            reason = comparison.verdict
        except TrainingError as error:
            reason = str(error)
        except ModelError as error:
            # A champion that is damaged must not keep others from its place.
            if not force:
                raise
            reason = str(error)
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
    return compare_models(opened[0], opened[1], source, metric=metric)
