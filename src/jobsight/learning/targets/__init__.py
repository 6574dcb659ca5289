"""What a question predicts: yes or no, one of some kinds, a number, or shares of a whole.

A target says how outcomes become values, by which metrics predictions are judged, and how they are
calibrated on decisions later than the training. Every metric takes predictions, values and weights
(..., n), and returns (...): with one row of weights per resample, all resamples are scored at once.

- `Binary`: P(true). Metrics of `jobsight.learning.metrics`; maps of `jobsight.models.calibration`,
  and 90 % intervals for the rate among like decisions (`jobsight.models.calibration`).
- `Classes`: a probability for each kind; temperature scaling (Guo et al., ICML 2017) and sets of
  kinds that hold the one observed nine times in ten (split conformal prediction).
- `Quantiles`: a number at each level; conformalized quantile regression (Romano, Patterson and
  Candès, NeurIPS 2019) widens or narrows the outer levels until they hold what they promise.
- `Shares`: shares adding up to 1; the distance that holds nine of ten, share by share.
"""

from jobsight.learning.targets.base import Calibrated, Scores, Target
from jobsight.learning.targets.binary import CHANCE, Binary, BinaryCalibrated, errors_by_chance
from jobsight.learning.targets.columns import (
    Classes,
    ClassesCalibrated,
    Quantiles,
    QuantilesCalibrated,
    Shares,
    SharesCalibrated,
)

__all__ = [
    "CHANCE",
    "MORE_IS_BETTER",
    "Binary",
    "BinaryCalibrated",
    "Calibrated",
    "Classes",
    "ClassesCalibrated",
    "Quantiles",
    "QuantilesCalibrated",
    "Scores",
    "Shares",
    "SharesCalibrated",
    "Target",
    "errors_by_chance",
]

MORE_IS_BETTER = frozenset(
    name for kind in (Binary, Classes, Quantiles, Shares) for name in kind.higher
)
"""Metrics of which more is better, whatever the target."""
