"""A mixture of models that goes on learning from outcomes as they become known.

Clusters drift: a model fitted once may fall below a user's recent rate of failure. So members of
all kinds answer together, by the weighted mean of their log-odds, each with a weight that every
outcome moves once it is known (the fixed share of Herbster and Warmuth, Machine Learning 32,
1998), sharing to the mean u of all past weights (Bousquet and Warmuth, Journal of Machine Learning
Research 3, 2002), so that members that were never good get nothing back::

    w_k ← w_k · p_k(outcome)^(η · weight of the row), made to add up to 1,
    w_k ← (1 − α) · w_k + α · u_k

with a larger η as long as little is learned. And one member, the best of those that can, is fitted
anew whenever a tenth more outcomes are known. It begins with up to half of the weight, as it
follows drift by itself. What the mixture says at a decision follows from outcomes known before it,
and from nothing else.

Of quantiles, the mixture is the weighted mean of the calibrated members' at each level, and
p_k(outcome) is exp(−pinball loss); the member that is fitted anew begins with up to nine tenths
of the weight. Each level τ but the median is moved by an offset c, which makes it hold what it
promises whatever the members say (adaptive conformal inference: Gibbs and Candès, NeurIPS 2021; in
this form Angelopoulos, Candès and Tibshirani, NeurIPS 2023), by larger steps at first::

    c ← c + γ · weight of the row · (1 + n)^−¼ · (τ − [outcome ≤ level + c])

where n decisions before it are drawn together with it: jobs of one user and day end alike, and an
array of a thousand would move c a thousand times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.jit import kernel
from jobsight.learning.modeldir import Fitted
from jobsight.learning.targets import BinaryCalibrated
from jobsight.models.base import Floats, Inputs, Ints, Labelled, Model
from jobsight.models.boosted import MANY_ROWS
from jobsight.models.calibration import Calibration
from jobsight.models.logistic import log_odds, sigmoid
from jobsight.models.storage import load_body, save_body

if TYPE_CHECKING:
    from jobsight.learning.dataset import Dataset

__all__ = ["ETA", "FOREVER", "REFIT", "SHARE", "USUAL", "Mixture", "Played", "Refits",
           "Times", "Weights", "mix", "predicted_in_time"]  # fmt: skip

ETA, SHARE = 0.06, 1e-2
"""η and α of the module, chosen on five traces of clusters and two of pools."""
FIRST_ETA = 60.0
"""Of probabilities, η is √(this over the outcomes learned from) as long as that is more: the first
few hundred of a short history must be enough to tell good members from bad."""
QUANTILES_ETA = 0.25
"""η of quantiles, whose losses differ less; chosen on four traces, as good between 0.12 and 0.5."""
LARGEST, QUANTILES_LARGEST = 0.5, 0.9
"""First weight of the member that is fitted anew, if much taught it; the other one of quantiles."""
STEP = 4e-3
"""γ of quantiles: larger ones follow single arrays, smaller ones come too late."""
TOGETHER = 0.25
"""By which power of their number decisions that are drawn together move quantiles less."""
FIRST_STEPS = 2.0
"""γ is this over the outcomes learned from, as long as that is more."""
USUAL = 50.0
"""How many outcomes the weights of the beginning count for in the mean of all."""
SUPPORT = 400
"""Batches that must teach the member that is fitted anew for half of its largest first weight."""
FOREVER = int(np.iinfo(np.int64).max)
_FEW = 20_000
"""Numbers that members said."""


class Times(NamedTuple):
    """Outcomes of n decisions in time order: bool or float64; `nth` as in `Dataset.table`."""

    values: NDArray[Any]
    weight: Floats
    decided: Ints
    known_at: Ints
    nth: Ints


class Weights(NamedTuple):
    """Weights of members at one moment.

    Attributes:
        now: float64 (members,), adding up to 1.
        usual: their mean so far, likewise.
        learned: weight of the outcomes that both follow from, with that of the beginning.
        offsets: float64 (levels,), of quantiles, in the target's unit.
    """

    now: Floats
    usual: Floats
    learned: float
    offsets: Floats = np.zeros(0)

    @classmethod
    def first(cls, members: int, taught: int, levels: int = 0) -> Weights:
        """Before any outcome; the last member is the one that is fitted anew, on `taught` rows."""
        share = (QUANTILES_LARGEST if levels else LARGEST) * taught / (taught + SUPPORT)
        first = np.append(np.full(members - 1, (1.0 - share) / (members - 1)), share)
        return cls(first, first, USUAL, np.zeros(levels))

    def mean(self, said: Floats) -> Floats:
        """What members say together now: float64 (n,) of (n, members), else (n, levels)."""
        if said.ndim == 2:
            return sigmoid(log_odds(said) @ self.now)
        return np.sort(np.einsum("nmk,m->nk", said, self.now) + self.offsets, axis=1)


def mix(
    said: Floats,
    rows: Times,
    weights: Weights,
    until: int = FOREVER,
    levels: tuple[float, ...] = (),
) -> tuple[Floats, Weights]:
    """What members say together of decisions in time, and their weights in the end.

    `said` is float64 (n, members), of quantiles (n, members, levels); outcomes known from `until`
    on (µs) teach nothing.

    Returns:
        float64 (n,) or (n, levels), and the weights.
    """
    if levels:
        scores, values, over = said, rows.values, rows.values[:, None, None] - said
        losses = np.maximum(np.array(levels) * over, (np.array(levels) - 1.0) * over).mean(axis=2)
    else:
        odds = log_odds(said)
        scores, values = odds[:, :, None], np.zeros(len(said))
        losses = np.log1p(np.exp(np.where(rows.values.astype(np.bool_)[:, None], -odds, odds)))
    mixed = np.zeros((len(said), scores.shape[2]))
    now, usual, offsets = (one.copy() for one in (weights.now, weights.usual, weights.offsets))
    by_known = np.argsort(rows.known_at, kind="stable")
    moves = rows.weight * (1.0 + rows.nth.astype(np.float64)) ** -TOGETHER
    # Few are played sooner than Numba is imported; the numbers are the same.
    play = _play.py_func if said.size <= _FEW else _play
    learned = play(
        np.ascontiguousarray(scores), losses, values,
        np.array(levels), rows.weight, moves, rows.decided, by_known, rows.known_at, until, now,
        usual, weights.learned, offsets, mixed,
    )  # fmt: skip
    after = Weights(now, usual, learned, offsets)
    return (np.sort(mixed, axis=1) if levels else sigmoid(mixed[:, 0])), after


@kernel
def _play(
    scores: Floats,
    losses: Floats,
    values: Floats,
    levels: Floats,
    weight: Floats,
    moves: Floats,
    decided: Ints,
    by_known: Ints,
    known_at: Ints,
    until: int,
    weights: Floats,
    usual: Floats,
    seen: float,
    offsets: Floats,
    mixed: Floats,
) -> float:
    """Fills `mixed` (n, k) in the order of `decided`; all else ends as of `until`."""
    members, learned = len(weights), 0
    for row in range(len(decided) + 1):
        now = decided[row] if row < len(decided) else until
        while learned < len(by_known) and known_at[by_known[learned]] < now:
            one = by_known[learned]
            learned += 1
            seen += weight[one]
            for j in range(len(levels)):
                if levels[j] == 0.5:
                    continue
                level = offsets[j]
                for k in range(members):
                    level += weights[k] * scores[one, k, j]
                under = 1.0 if values[one] <= level else 0.0
                step = max(STEP, FIRST_STEPS / seen) * moves[one]
                offsets[j] += step * (levels[j] - under)
            eta = QUANTILES_ETA
            if not len(levels):
                eta = max(ETA, min(1.0, math.sqrt(FIRST_ETA / seen)))
            total = 0.0
            for k in range(members):
                weights[k] *= math.exp(-eta * losses[one, k] * weight[one])
                total += weights[k]
            for k in range(members):
                weights[k] = (1.0 - SHARE) * weights[k] / total + SHARE * usual[k]
                usual[k] += weight[one] / seen * (weights[k] - usual[k])
        if row < len(decided):
            for j in range(scores.shape[2]):
                mixed[row, j] = offsets[j] if len(levels) else 0.0
                for k in range(members):
                    mixed[row, j] += weights[k] * scores[row, k, j]
    return seen


GROWTH, LEAST_MORE = 1.1, 20
"""By how much the outcomes known must have grown for a model to be fitted anew."""
MOST_ROWS = 200_000
"""A model is fitted anew on so many of the latest outcomes at most."""
REFIT = "refit"


@runtime_checkable
class Refits(Protocol):
    """A model that can be fitted on more rows, with what it chose when it was first fitted."""

    def refitted(self, rows: Labelled, *, seed: int) -> Model:
        """A new one; TrainingError where the rows cannot teach it anything."""
        ...


@dataclass(frozen=True)
class Played:
    """Decisions predicted one after the other, each with what was known then.

    Attributes:
        table: the decisions (n), in time order.
        labelled: the same as examples.
        predictions: float64 (n,) or (n, levels), of the mixture, uncalibrated.
        mixture: as of the end.
    """

    table: pl.DataFrame
    labelled: Labelled
    predictions: Floats
    mixture: Mixture

    def of(self, table: pl.DataFrame) -> Floats:
        """Predictions of some of the decisions: rows of the dataset's table, in any order."""
        places = self.table["place"].to_numpy()
        order = np.argsort(places)
        return self.predictions[order[np.searchsorted(places[order], table["place"].to_numpy())]]


@dataclass(frozen=True)
class Mixture:
    """Members and their weights at one moment. Implements `jobsight.models.base.Model`.

    Attributes:
        members: by name; the one that is fitted anew is named `REFIT`.
        weights: of the members, the one that is fitted anew being the last.
        taught: how many rows taught the member that is fitted anew.
        as_of: µs, of the weights.
    """

    members: Mapping[str, Fitted]
    weights: Weights
    taught: int
    as_of: int

    name: ClassVar[str] = "mixture"
    needs_both: ClassVar[bool] = False

    @classmethod
    def of(
        cls, fitted: Mapping[str, Fitted], losses: Mapping[str, float], as_of: int, levels: int = 0
    ) -> Self:
        """All models with their first weights; the best of those that can is fitted anew.

        With many rows that is the boosted one: how well models fitted once did on a later part says
        how it drifted more than which of them would follow.

        `losses` are those of the models, fitted on the train part, on a later one; `as_of` is the
        end of the train part (µs); `levels` how many, of quantiles.

        Raises:
            TrainingError: none of them can be fitted anew.
        """
        able = [name for name, member in fitted.items() if isinstance(member.model, Refits)]
        if not able:
            raise TrainingError("mixture: none of its models can be fitted anew; train all of them")
        best = min(able, key=lambda name: losses[name])
        if "boosted" in able and fitted["boosted"].train_batches >= MANY_ROWS:
            best = "boosted"
        members = {**fitted, REFIT: fitted[best]}
        for name, member in members.items():
            # Maps of probabilities are of one part of the past. Quantiles stay calibrated: members
            # whose levels are too narrow would lose weight to worse ones.
            if isinstance(member.calibrated, BinaryCalibrated):
                plain = Calibration("identity", (), member.calibrated.calibration.bound)
                members[name] = replace(
                    member, calibrated=replace(member.calibrated, calibration=plain)
                )
        taught = fitted[best].train_batches
        return cls(members, Weights.first(len(members), taught, levels), taught, as_of)

    def fit(self, rows: Labelled, *, seed: int) -> None:
        """Is made of fitted models instead, by `of`; `TrainingError`: always."""
        raise TrainingError("mixture: it is made of other models; train all of them")

    @property
    def best(self) -> str:
        """The kind of model that is fitted anew."""
        return self.members[REFIT].model.name

    def predict(self, inputs: Inputs) -> Floats:
        """P(true) or quantiles of each row with the weights of now: float64 (n,) or (n, levels)."""
        return self.weights.mean(self.each(inputs))

    def each(self, inputs: Inputs) -> Floats:
        """What each member says: float64 (n, members), of quantiles (n, members, levels)."""
        columns = [member.predict(inputs) for member in self.members.values()]
        return np.stack(columns, axis=1)

    def play(
        self, data: Dataset, since: int, until: int, moment: str | None, *, anew: bool = True
    ) -> Played:
        """Predict the decisions from `since` on in time, learning from each outcome once known.

        Decisions before `since` (µs) only teach; decisions and outcomes from `until` on are left
        out. `anew`: a member is fitted anew where enough more is known; weights always move.
        """
        from jobsight.learning.dataset import censoring_weights

        # Decisions that a border of parts drops teach too: here time alone says who knew what.
        table, known = data.examples(data.known(), moment=moment, weighed=False)
        decided, known_at = table["decided"].to_numpy(), table["known_at"].to_numpy()
        rows = np.flatnonzero((np.maximum(known_at, decided) >= since) & (decided < until))
        rows = rows[np.argsort(decided[rows], kind="stable")]
        asked, levels = known.take(rows), known.output.levels
        said, mixture = self.each(asked.inputs), self
        place = list(self.members).index(REFIT)
        for moment_known in self._refits(known_at, since, until) if anew else ():
            then = known.take(np.flatnonzero(known_at < moment_known))
            if levels:  # weighted for what is not known yet
                begun = decided < moment_known
                weight = censoring_weights(decided[begun], known_at[begun], moment_known)
                then = replace(then, weight=weight[known_at[begun] < moment_known])
            mixture = mixture._refitted(then, data.settings.seed)
            later = decided[rows] >= moment_known
            said[later, place] = mixture.members[REFIT].predict(asked.inputs.take(later))
        nth = table["nth"].to_numpy()[rows]
        times = Times(asked.values, asked.weight, decided[rows], known_at[rows], nth)
        mixed, weights = mix(said, times, self.weights, until, levels)
        shown = decided[rows] >= since
        return Played(
            table[rows].filter(pl.Series(shown)),
            asked.take(shown),
            mixed[shown],
            replace(mixture, weights=weights, as_of=until),
        )

    def _refits(self, known_at: Ints, since: int, until: int) -> list[int]:
        """When the outcomes known have grown enough for another fit: µs, rising."""
        times: list[int] = []
        taught = self.taught
        ordered = np.sort(known_at[known_at < until])
        while True:
            wanted = max(int(taught * GROWTH), taught + LEAST_MORE)
            if wanted > len(ordered):
                return times
            # The first moment at which so many are known, but not before the play begins.
            moment = max(int(ordered[wanted - 1]) + 1, since)
            taught = int(np.searchsorted(ordered, moment))
            times.append(moment)

    def _refitted(self, rows: Labelled, seed: int) -> Mixture:
        """The mixture with one member fitted on all that is known, the latest of it."""
        old = self.members[REFIT]
        assert isinstance(old.model, Refits)
        try:
            model = old.model.refitted(rows.latest(MOST_ROWS), seed=seed)
        except TrainingError:
            return self
        member = replace(old, model=model, train_batches=len(rows))
        return replace(self, members={**self.members, REFIT: member}, taught=len(rows))

    def save(self, folder: Path) -> None:
        """Write ``model.json``, and each member in a folder with its number."""
        for k, member in enumerate(self.members.values()):
            (folder / str(k)).mkdir()
            member.model.save(folder / str(k))
        members = [[name, member.to_json()] for name, member in self.members.items()]
        now, usual, learned, offsets = self.weights
        body = {"members": members, "weights": now.tolist(), "usual": usual.tolist()}
        body["offsets"] = offsets.tolist()
        save_body(
            folder,
            self.name,
            {**body, "learned": learned, "taught": self.taught, "as_of": self.as_of},
        )

    @classmethod
    def load(cls, folder: Path, member: Callable[[Mapping[str, Any], Path], Fitted]) -> Self:
        """Read what `save` wrote; `member` opens a member by its data and folder.

        Raises:
            ModelError: a file is missing, damaged or of another schema.
        """
        with load_body(folder, cls.name) as body:
            members = {
                str(name): member(data, folder / str(k))
                for k, (name, data) in enumerate(body["members"])
            }
            now, usual = (np.array(body[name], np.float64) for name in ("weights", "usual"))
            if REFIT not in members or not now.shape == usual.shape == (len(members),):
                raise ValueError("there is not one weight for each member")
            offsets = np.array(body["offsets"], np.float64)
            weights = Weights(now, usual, float(body["learned"]), offsets)
            return cls(members, weights, int(body["taught"]), int(body["as_of"]))


def predicted_in_time(
    fitted: Fitted, data: Dataset, table: pl.DataFrame, labelled: Labelled, moment: str | None
) -> Floats:
    """Calibrated predictions of examples in time order; a mixture goes on learning meanwhile."""
    if not isinstance(fitted.model, Mixture):
        return fitted.predict(labelled.inputs)
    first = int(table["decided"].to_numpy().min(initial=FOREVER))
    # Of a history that goes on, outcomes known since the training teach too.
    since = fitted.model.as_of if first >= fitted.model.as_of else first
    played = fitted.model.play(data, since, FOREVER, moment)
    return fitted.calibrated.apply(played.of(table))
