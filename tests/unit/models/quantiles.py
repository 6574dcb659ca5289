"""Rows with quantiles to learn, of no cluster."""

from __future__ import annotations

import numpy as np

from jobsight.models.base import Inputs, Labelled, Output

__all__ = ["QUANTILES", "spread"]

QUANTILES = Output("quantiles", ("10%", "50%", "90%"), (0.1, 0.5, 0.9))


def spread(n: int) -> Labelled:
    """So many rows of four features: one moves the median, one the width, two say nothing."""
    random = np.random.default_rng(0)
    features = random.normal(size=(n, 4)).astype(np.float32)
    values = features[:, 0] + features[:, 1] * random.normal(size=n)
    inputs = Inputs(features, ("a", "b", "c", "d"), {}, {}, None, 0)
    return Labelled(inputs, values, np.ones(n), output=QUANTILES)
