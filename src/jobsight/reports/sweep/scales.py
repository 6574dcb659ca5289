"""Axes of pictures: linear, logarithmic or of categories; ticks; numbers in few characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jobsight.learning.sweep.distributions import quantile
from jobsight.learning.sweep.parameters import Parameter
from jobsight.text import printable

__all__ = ["Axis", "Column", "Floats", "column", "in_words", "numeric_axis", "short"]

Floats = NDArray[np.float64]
Kind = Literal["linear", "log", "category"]

_SMALLEST = 1e-290
_WIDE = 100.0
"""Positive numbers further apart than this factor get a logarithmic axis, whatever was asked."""

_CATEGORIES = 12
_LABEL = 40


@dataclass(frozen=True)
class Axis:
    """From numbers to places between 0 and 1.

    Attributes:
        kind: of the scale.
        low, high: at 0 and 1; their decimal logarithms where the kind is ``log``.
        labels: of the categories 0, 1, …
        whole: whether its values are whole numbers, and so its ticks.
    """

    kind: Kind
    low: float
    high: float
    labels: tuple[str, ...] = ()
    whole: bool = False

    def place(self, values: Floats) -> Floats:
        """Places of n numbers: float64 (n,), within 0 and 1; NaN where there is no number."""
        if self.kind == "log":
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log10(values)
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)

    def ticks(self, most: int = 5) -> list[tuple[float, str]]:
        """Places and labels of at most about so many ticks."""
        if self.kind == "category":
            middles = self.place(np.arange(len(self.labels), dtype=np.float64))
            return list(zip(middles.tolist(), self.labels, strict=True))
        values = self._tick_values(most)
        places = self.place(np.array(values, np.float64))
        return [(float(p), short(v)) for p, v in zip(places, values, strict=True)]

    def _tick_values(self, most: int) -> list[float]:
        from matplotlib.ticker import LogLocator, MaxNLocator

        if self.kind == "log" and self.high - self.low >= 1.0:
            low, high = 10.0**self.low, 10.0**self.high
            # The library also tries powers beyond the ends, which may overflow.
            with np.errstate(over="ignore"):
                found = LogLocator(numticks=most + 2).tick_values(low, high)
        else:
            low, high = (10.0**v if self.kind == "log" else v for v in (self.low, self.high))
            steps = MaxNLocator(most, steps=[1, 2, 5, 10], integer=self.whole)
            found = steps.tick_values(low, high)
        slack = 1e-9 * (high - low)
        # Of multiples of 0.1 the library gives 0.30000000000000004.
        return [float(f"{v:.12g}") for v in found if low - slack <= v <= high + slack]


def numeric_axis(values: Floats, *, log: bool | None = None) -> Axis:
    """An axis that n finite numbers fit on.

    Args:
        values: float64 (n,).
        log: whether it is logarithmic where that can be; None: where they lie far apart.
    """
    values = values[np.isfinite(values)]
    if not len(values):
        return Axis("linear", 0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    wide = low > 0 and high / low > _WIDE
    if low > 0 and (wide if log is None else log):
        low, high = math.log10(low), math.log10(high)
        return Axis("log", *((low, high) if high - low > 1e-6 else (low - 0.5, high + 0.5)))
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, _SMALLEST):
        margin = 0.1 * size if size > _SMALLEST else 1e-3
        low, high = low - margin, high + margin
    return Axis("linear", low, high)


@dataclass(frozen=True)
class Column:
    """One parameter of all runs.

    Attributes:
        name: as the config has it.
        axis: that its values fit on.
        values: float64 (n,): numbers, or numbers of categories; NaN where a run has none.
        shown: the values in words, "" where a run has none.
        bounds: where it was searched, if that is known: numbers.
        search: how it was searched, in words.
    """

    name: str
    axis: Axis
    values: Floats
    shown: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    search: str = ""

    @property
    def varies(self) -> bool:
        """Whether runs differ in it."""
        return len(set(self.shown)) > 1


def column(name: str, values: Sequence[Any], searched: Parameter | None = None) -> Column:
    """One parameter of n runs on the axis that suits it.

    Args:
        name: of the parameter.
        values: one a run, of any kind; None where a run has none.
        searched: how it was searched, where that is known.
    """
    distribution = "" if searched is None else searched.distribution
    shown = tuple("" if value is None else in_words(value) for value in values)
    if distribution != "categorical" and all(v is None or _is_number(v) for v in values):
        numbers = np.array([np.nan if v is None else v for v in values], np.float64)
        axis = numeric_axis(numbers, log=True if "log" in distribution else None)
        whole = all(isinstance(value, int) for value in values if value is not None)
        axis = replace(axis, whole=whole)
        return Column(name, axis, numbers, shown, _bounds(searched), _search(searched))
    labels = _labels(values)
    number = {label: k for k, label in enumerate(labels)}
    rest = number.get(_OTHERS, len(labels))
    codes = [np.nan if not text else float(number.get(text, rest)) for text in shown]
    axis = Axis("category", -0.5, max(len(labels), 1) - 0.5, labels)
    return Column(name, axis, np.array(codes, np.float64), shown, None, _search(searched))


_OTHERS = "others"


def _labels(values: Sequence[Any]) -> tuple[str, ...]:
    """Labels of categories: numbers by size, then words; beyond a dozen only the commonest."""
    there = {in_words(value): value for value in values if value is not None}
    counts = Counter(in_words(value) for value in values if value is not None)
    kept = [label for label, _ in counts.most_common(_CATEGORIES)]
    ordered = sorted(
        kept,
        key=lambda label: (0, there[label], "") if _is_number(there[label]) else (1, 0.0, label),
    )
    return (*ordered, *([_OTHERS] if len(counts) > len(kept) else []))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def in_words(value: object, width: int = _LABEL) -> str:
    """Any value of a parameter in at most `width` characters, safe to show."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(value, width) or "(blank)"
    return short(value)


def _bounds(searched: Parameter | None) -> tuple[float, float] | None:
    """Least and greatest value of a range that was searched."""
    if searched is None or "min" not in searched.numbers:
        return None
    low, high = (float(quantile(searched, end)) for end in (0.0, 1.0))
    return (low, high) if low < high else None


def _search(searched: Parameter | None) -> str:
    """What was searched in words, bounded."""
    if searched is None:
        return ""
    if searched.distribution == "constant":
        return f"always {in_words(searched.values[0])}"
    if searched.listed:
        listed = [in_words(value) for value in searched.values[:_CATEGORIES]]
        more = len(searched.values) - len(listed)
        words = "one of " + ", ".join(listed) + (f" and {more} more" if more > 0 else "")
        return words + (" with given probabilities" if searched.probabilities else "")
    given = [f"{key} {in_words(value)}" for key, value in searched.numbers.items()]
    return ", ".join([searched.distribution.replace("_", " "), *given])


def short(value: float, digits: int = 4) -> str:
    """A number in few characters: ``0.0003``, ``12``, ``1.5e-7``, ``2e6``; a dash for NaN."""
    if value != value:
        return "–"
    if float(value).is_integer() and abs(value) < 1e6:
        return str(int(value))
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text
