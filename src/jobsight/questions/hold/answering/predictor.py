"""What a trained model says of held jobs, as of any moment.

A mixture goes on learning: its weights follow the outcomes of releases that it was not trained on,
each once it is known (`jobsight.learning.mixture`). Its members stay as they were trained; what
they say of an earlier release is worked out once, so the weights as of a moment take a millisecond.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from jobsight.history.labels import RowLabels
from jobsight.history.outcomes import apply_horizon
from jobsight.history.timelines import Ints
from jobsight.learning.dataset import batch_weights
from jobsight.learning.fingerprints import fingerprints
from jobsight.learning.mixture import Mixture, Times, Weights, mix
from jobsight.learning.modeldir import Fitted, ModelDir
from jobsight.models.base import Floats, Inputs
from jobsight.questions.hold.answering.verdict import Chance
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.evidence import Evidence
from jobsight.remembering import remembered

__all__ = ["Predictor", "delays_of"]

MOST = 1000
"""Latest outcomes that weights follow: the shares of a mixture forget those before."""


def delays_of(model: ModelDir) -> dict[float, Fitted]:
    """What answers for each delay that "wait" may propose, by seconds."""
    return {float(moment): one.answering for moment, one in model.main.moments.items()}


class Predictor:
    """Chances of held jobs of one history by a model. May be asked from one thread at a time."""

    def __init__(
        self, model: ModelDir, decisions: pl.DataFrame, labels: RowLabels, evidence: Evidence
    ) -> None:
        """Index a history.

        Args:
            model: trained.
            decisions: of the history, `jobsight.questions.hold.examples.decisions.hold_decisions`.
            labels: of its rows.
            evidence: in it.
        """
        self._answering = model.answering
        model_of = model.answering.model
        self._mixture = model_of if isinstance(model_of, Mixture) else None
        self._delays = sorted(delays_of(model).items())
        # Only the recurrent model reads frames.
        frames = model_of.name == "lstm"
        self._builder = ExampleBuilder(
            evidence.history, model.settings, model.encoding, labels, evidence, frames=frames
        )  # fmt: skip
        known = apply_horizon(decisions, model.encoding.horizon_micros).filter(
            "kept", ~pl.col("edited"), pl.col("outcome").is_not_null()
        )
        taught = np.isin(fingerprints(known, model.question.key), model.seen)
        self._known = known.filter(pl.Series(~taught))
        self._said: Floats | None = None
        self._weights = remembered(self._weights_at, 64)

    def chances(self, asked: pl.DataFrame) -> tuple[list[list[Chance]], list[str]]:
        """The chances of each job, releasing now first, and hashes of what the model read.

        Args:
            asked: n held jobs or decisions, each as of its `cut` and `time`.
        """
        chances: list[list[Chance]] = [[] for _ in range(len(asked))]
        if not len(asked):
            return chances, []
        models = [(0.0, self._answering), *self._delays]
        waits = np.repeat([wait for wait, _ in models], len(asked))
        # One question for all waits: most of its cost does not grow with the rows.
        inputs = self._builder.inputs(pl.concat([asked] * len(models)), waits)
        for number, (wait, fitted) in enumerate(models):
            rows = inputs.take(np.arange(len(asked)) + number * len(asked))
            if self._mixture is not None and fitted is self._answering:
                raw = self._mixed(self._mixture, rows, asked["time"].to_numpy())
                probability = fitted.calibrated.apply(raw)
            else:
                probability = fitted.predict(rows)
            low, high = fitted.bounds(probability)
            for place, one in enumerate(zip(probability, low, high, strict=True)):
                chances[place].append(Chance(wait, *map(float, one)))
        return chances, inputs.take(np.arange(len(asked))).digests()

    def _mixed(self, mixture: Mixture, inputs: Inputs, moments: Ints) -> Floats:
        """What a mixture says of n rows, each as of its moment (µs): float64 (n,)."""
        said, mixed = mixture.each(inputs), np.empty(len(inputs))
        for moment in np.unique(moments).tolist():
            rows = moments == moment
            mixed[rows] = self._weights(moment).mean(said[rows])
        return mixed

    def _weights_at(self, moment: int) -> Weights:
        """The mixture's weights that follow from outcomes known before a moment (µs)."""
        assert self._mixture is not None
        known_at = self._known["resolved_time"].to_numpy()
        rows = np.flatnonzero(known_at < moment)[-MOST:]
        known = self._known[rows]
        times = Times(
            known["outcome"].cast(pl.Boolean).to_numpy(),
            batch_weights(known["batch"].to_numpy()),
            known["time"].to_numpy(),
            known_at[rows],
            np.zeros(len(rows), np.int64),
        )
        return mix(self._of(self._mixture, rows), times, self._mixture.weights, moment)[1]

    def _of(self, mixture: Mixture, rows: Ints) -> Floats:
        """What each member said of earlier releases as of their cuts: float64 (n, members)."""
        if self._said is None:
            self._said = np.full((len(self._known), len(mixture.members)), np.nan)
        new = rows[np.isnan(self._said[rows, 0])]
        if len(new):
            self._said[new] = mixture.each(self._builder.inputs(self._known[new]))
        said: Floats = self._said[rows]
        return said
