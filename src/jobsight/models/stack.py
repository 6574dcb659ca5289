"""A stack: other models joined by weights that were learned on groups which they had not seen.

log p = Σ wₘ log pₘ + b, normalized: a logarithmic pool (Genest and Zidek, Statistical Science 1,
1986) with weights of at least 0, fitted to predictions of held-out parts (stacked regressions:
Breiman, Machine Learning 24, 1996). The parts hold whole batches, so no member predicts a group
that it learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import BINARY, Floats, Inputs, Labelled, Loadable, Output
from jobsight.models.softmax import balanced, folds, softmax, targets_of
from jobsight.models.storage import load_body, save_body

__all__ = ["BALANCE", "Stack", "pooled_weights"]

_FOLDS = 4
_PULL = 10.0
"""Of the penalty that draws the weights to equal ones, in programs."""
BALANCE = 0.5
"""Power of the weights of kinds (`jobsight.models.softmax.balanced`)."""
_LEAST = 1e-4

Make = Callable[[str], Loadable]
Read = Callable[..., Loadable]
"""`jobsight.models.load`."""


def pooled_weights(said: Floats, targets: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Weights of members and offsets of columns that fit held-out predictions best.

    `said` has probabilities: float64 (members, n, k).

    Returns:
        float64 (members,), at least 0, and float64 (k,).
    """
    from scipy.optimize import minimize

    logs = np.log(np.maximum(said, _LEAST))
    members, k = len(said), targets.shape[1]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights, offsets = flat[:members], flat[members:]
        mixed = softmax(np.einsum("m,mnk->nk", weights, logs) + offsets)
        wrong = weight[:, None] * (mixed - targets)
        off = weights - 1.0 / members
        gradient = np.concatenate(
            [np.einsum("nk,mnk->m", wrong, logs) + _PULL * members * off,
             wrong.sum(axis=0) + _PULL * offsets]
        )  # fmt: skip
        cost = -float(weight @ (targets * np.log(np.maximum(mixed, 1e-12))).sum(axis=1))
        return cost + 0.5 * _PULL * float(members * off @ off + offsets @ offsets), gradient

    start = np.concatenate([np.full(members, 1.0 / members), np.zeros(k)])
    bounds = [(0.0, None)] * members + [(None, None)] * k
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:members], found.x[members:]


class Stack:
    """Members with weights."""

    name: ClassVar[str] = "stack"
    needs_both: ClassVar[bool] = False

    def __init__(
        self, members: Sequence[str], make: Make, columns: Mapping[str, str] | None = None
    ) -> None:
        """A stack of unfitted models."""
        self._make, self._columns, self._output = make, dict(columns or {}), BINARY
        self.members: dict[str, Loadable | None] = dict.fromkeys(members)
        self.weights: Floats = np.zeros(len(members))
        self._offsets: Floats = np.zeros(0)

    def fit(self, train: Labelled, *, seed: int) -> None:
        """Learn the weights on held-out parts of `train`, then fit the members on all of it."""
        targets = targets_of(train)
        self._output = train.output
        said = np.zeros((len(self.members), *targets.shape))
        for held in folds(train, _FOLDS, seed):
            if held.all() or not held.any():
                raise TrainingError("stack: there are too few groups to hold some out")
            for k, name in enumerate(self.members):
                member = self._make(name)
                member.fit(train.take(~held), seed=seed)
                said[k, held] = member.predict(train.inputs.take(held))
        self.weights, self._offsets = pooled_weights(said, targets, balanced(train, BALANCE))
        for name in self.members:
            member = self._make(name)
            member.fit(train, seed=seed)
            self.members[name] = member

    def predict(self, inputs: Inputs) -> Floats:
        margin = np.broadcast_to(self._offsets, (len(inputs), len(self._offsets))).copy()
        for weight, (name, member) in zip(self.weights, self.members.items(), strict=True):
            if member is None:
                raise ModelError(f"the member {name} of the model stack is not fitted")
            if weight > 0:
                margin += weight * np.log(np.maximum(member.predict(inputs), _LEAST))
        return softmax(margin)

    def save(self, folder: Path) -> None:
        body = {"members": list(self.members), "weights": self.weights.tolist()}
        body |= {"offsets": self._offsets.tolist(), "columns": self._columns}
        save_body(folder, self.name, body | {"output": asdict(self._output)})
        for name, member in self.members.items():
            assert member is not None
            (folder / name).mkdir()
            member.save(folder / name)

    @classmethod
    def load(cls, folder: Path, known: Collection[str] = (), read: Read | None = None) -> Self:
        with load_body(folder, cls.name) as body:
            output, columns = Output(**body["output"]), dict(body["columns"])
            names = [str(name) for name in body["members"]]
            if cls.name in names or not {*known, *columns}.issuperset(names) or read is None:
                raise ValueError("a member is of no known kind")
            model = cls(names, _unfitted, columns)
            model.weights = np.array(body["weights"], np.float64)
            model._offsets, model._output = np.array(body["offsets"], np.float64), output
            if len(model.weights) != len(names):
                raise ValueError("there is not one weight for each member")
            for name in names:
                place = folder / name
                model.members[name] = read(name, place, columns=columns, output=output)
        return model


def _unfitted(name: str) -> Loadable:
    raise ModelError(f"a stack that was opened cannot fit {name!r} again; train anew")
