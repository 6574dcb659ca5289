"""A fitted model with what was learned to calibrate it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobsight.learning.targets import Calibrated
from jobsight.models.base import Floats, Inputs, Model

__all__ = ["Fitted"]


@dataclass(frozen=True)
class Fitted:
    """A model with what makes its output a prediction one can act on.

    Attributes:
        model: fitted on the train part.
        calibrated: learned on the backtest.
        train_batches: how many batches taught it.
    """

    model: Model
    calibrated: Calibrated
    train_batches: int

    def predict(self, inputs: Inputs) -> Floats:
        """Calibrated predictions of n rows: float64 (n,) of a binary target, else (n, k)."""
        return self.calibrated.apply(self.model.predict(inputs))

    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """The bounds of calibrated predictions, see `Calibrated.bounds`."""
        return self.calibrated.bounds(predicted)

    def to_json(self) -> dict[str, Any]:
        """Everything but the model itself, as plain data."""
        return {
            "name": self.model.name,
            **self.calibrated.to_json(),
            "train_batches": self.train_batches,
        }
