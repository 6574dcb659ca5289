"""How the question `hold` is answered; see `jobsight.answering.question.Answerable`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.answering.question import Answerable
from jobsight.errors import ModelError
from jobsight.questions.hold.answering.answer import Answer, Answerer
from jobsight.questions.hold.examples.decisions import HeldHistory, held_name
from jobsight.questions.hold.overview import overview
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

if TYPE_CHECKING:
    from jobsight.history.timelines import History
    from jobsight.ids import JobName
    from jobsight.learning.dataset import Dataset
    from jobsight.learning.modeldir import ModelDir
    from jobsight.reports.shown import OwnParts, Shown
    from jobsight.settings import Settings

__all__ = ["HOLD_ANSWERS", "HoldAnswers"]


class HoldAnswers(Answerable[Answer]):
    """Held jobs: release, wait, fix or remove? A job's cluster is its access point."""

    question = HOLD
    without: ClassVar[str] = "rules and rates of success, uncalibrated"
    overview = staticmethod(overview)
    key: ClassVar[str] = "job"
    cluster: ClassVar[str] = "access_point"

    def source(self, read: History, moment: int) -> HeldHistory:
        """The history with its labels; it answers as of any moment."""
        return HeldHistory(read)

    def span(self, read: History) -> tuple[int, int]:
        """The times of the first and the last event, µs."""
        return int(read.clock.min()), int(read.clock.max())

    def jobs(self, source: HeldHistory, moment: int) -> pl.DataFrame:
        """The jobs held at the moment."""
        return source.held(moment)

    def clusters(self, source: HeldHistory) -> pl.Series:
        """The names of the access points."""
        return source.history.jobs["access_point"].unique()

    def named(
        self, source: HeldHistory, name: JobName, moment: int
    ) -> tuple[list[Any], str | None]:
        """The numbers of the held jobs of a name; what is wrong where there are none."""
        return source.named(held_name(name), moment)

    def answerer(
        self, source: HeldHistory, moment: int, model: ModelDir | None, settings: Settings
    ) -> Answerer:
        """Without a model, today's rules and the history's own rates answer."""
        if model is not None:
            self.require_answerable(model.settings)
        return Answerer(source, settings.of("hold", HoldSettings), model, moment)

    def require_answerable(self, settings: HoldSettings) -> None:
        """Models trained as of holds cannot say whether to release a job that is held now."""
        if settings.as_of == "hold":
            raise ModelError(
                "this model was trained on what is known at the hold, not on what is known now; "
                "train one with hold.as_of: release"
            )

    def score_answers(
        self, model: ModelDir, data: Dataset, rows: NDArray[np.bool_], truth: Path | None
    ) -> dict[str, Any] | None:
        """See `jobsight.questions.hold.policyvalue`; None: the model was trained as of holds."""
        from jobsight.questions.hold.policyvalue import score_answers

        return None if model.settings.as_of == "hold" else score_answers(model, data, rows, truth)

    def own_parts(self, shown: Shown) -> OwnParts:
        """The held jobs, the pool, one job's frames, and what the answers are worth."""
        from jobsight.questions.hold.reporting import hold_parts

        return hold_parts(shown)


HOLD_ANSWERS = HoldAnswers()
