"""What verbs read: the history of a question, and the model that is judged on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.answering.models import model_folder, network_of
from jobsight.cli.common import check_output, load_settings
from jobsight.cli.output import Console
from jobsight.files import Kind
from jobsight.history.readreport import ReadReport
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.reading import Reading, read
from jobsight.settings import Settings

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.learning.question import Question

__all__ = ["Judged", "open_judged", "read_for"]


def read_for(
    question: Question[Any],
    inputs: list[str],
    settings: Settings,
    seen: Callable[[JobDocument], None] | None = None,
) -> Reading:
    """As `jobsight.learning.reading.read`; damage is reported on standard error."""
    return read(question, inputs, settings, Console, seen=seen)


@dataclass(frozen=True)
class Judged:
    """A trained model, and what it is judged on."""

    settings: Settings
    model: ModelDir
    source: Any
    read: ReadReport


def open_judged(
    question: Question[Any],
    logs: list[str],
    model: str,
    *,
    timezone: str | None,
    config: Path | None,
    network: str | None,
    output: Path | None = None,
    kind: Kind = Kind.REPORT,
) -> Judged:
    """Load the settings, open the model, read the logs; `output` is checked first.

    Raises:
        JobsightError: see `load_settings`, `model_folder`, `ModelDir.open`, `read_for`,
            `check_output`.
    """
    own = {"lstm": {"network": network}}
    settings = load_settings(config, {"timezone": timezone, question.name: own}, question)
    folder = model_folder(model, settings, question.name)
    check_output(output, kind, model=folder)
    trained = ModelDir.open(folder, question, network=network_of(question, settings))
    source, report, _ = read_for(question, logs, settings)
    return Judged(settings, trained, source, report)
