"""What was searched, as columns of numbers or categories; values in few characters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jobsight.text import printable

__all__ = ["LARGEST", "Column", "Floats", "column", "in_words", "is_wide", "short"]

Floats = NDArray[np.float64]

LARGEST = 1e30
"""Numbers beyond are drawn there."""

_WIDE = 100.0
"""Positive numbers further apart than this factor get a logarithmic axis."""

_CATEGORIES = 12
_LABEL = 40
_OTHERS = "others"


@dataclass(frozen=True)
class Column:
    """One parameter of all runs.

    Attributes:
        name: as the config has it.
        kind: of its axis.
        values: float64 (n,): numbers, or numbers of categories; NaN where a run has none.
        shown: the values in words, "" where a run has none.
        labels: of the categories 0, 1, …
        bounds: where it was searched: numbers, if known.
        search: how it was searched, in words.
    """

    name: str
    kind: Literal["linear", "log", "category"]
    values: Floats
    shown: tuple[str, ...]
    labels: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    search: str = ""

    @property
    def varies(self) -> bool:
        """Whether runs differ in it."""
        return len(set(self.shown)) > 1


def column(name: str, values: Sequence[Any], spec: Mapping[str, Any] | None) -> Column:
    """One parameter of n runs on the axis that suits it.

    Args:
        name: of the parameter.
        values: one per run, of any kind; None where a run has none.
        spec: how it was searched (W&B's schema), if known.
    """
    spec = spec or {}
    distribution = str(spec.get("distribution", ""))
    shown = tuple("" if value is None else in_words(value) for value in values)
    listed = "values" in spec or distribution.startswith("categorical")
    if not listed and all(value is None or _is_number(value) for value in values):
        numbers = np.array([np.nan if v is None else _clipped(v) for v in values], np.float64)
        log = is_wide(numbers, 1.0 if "log" in distribution else _WIDE)
        kind: Literal["log", "linear"] = "log" if log else "linear"
        return Column(name, kind, numbers, shown, (), _bounds(spec), _search(spec))
    labels = _labels(values)
    number = {label: k for k, label in enumerate(labels)}
    rest = number.get(_OTHERS, len(labels))
    codes = [np.nan if not text else float(number.get(text, rest)) for text in shown]
    return Column(name, "category", np.array(codes), shown, labels, None, _search(spec))


def is_wide(values: Floats, factor: float = _WIDE) -> bool:
    """Whether all finite numbers are positive and further apart than a factor."""
    values = values[np.isfinite(values)]
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())
    return low > 1 / LARGEST and high > factor * low


def _labels(values: Sequence[Any]) -> tuple[str, ...]:
    """Labels of categories: numbers by size, then words; beyond a dozen only the commonest."""
    there = {in_words(value): value for value in values if value is not None}
    counts = Counter(in_words(value) for value in values if value is not None)
    kept = [label for label, _ in counts.most_common(_CATEGORIES)]
    ordered = sorted(
        kept,
        key=lambda label: (
            (0, _clipped(there[label]), "") if _is_number(there[label]) else (1, 0.0, label)
        ),
    )
    return (*ordered, *([_OTHERS] if len(counts) > len(kept) else []))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _clipped(value: float) -> float:
    """A number within ±`LARGEST`; NaN stays NaN."""
    if value != value:
        return math.nan
    return float(max(min(value, LARGEST), -LARGEST))


def in_words(value: object, width: int = _LABEL) -> str:
    """Any value of a parameter in at most `width` characters, safe to show."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return printable(value, width) or "(blank)"
    return short(_clipped(value))


def _bounds(spec: Mapping[str, Any]) -> tuple[float, float] | None:
    """Least and greatest value searched."""
    low, high = spec.get("min"), spec.get("max")
    if not (_is_number(low) and _is_number(high)):
        return None
    ends = _clipped(float(low)), _clipped(float(high))  # type: ignore[arg-type]
    return ends if math.isfinite(ends[0]) and ends[0] < ends[1] else None


def _search(spec: Mapping[str, Any]) -> str:
    """A specification in words, bounded."""
    if isinstance(spec.get("values"), list | tuple):
        listed = [in_words(value) for value in spec["values"][:_CATEGORIES]]
        more = len(spec["values"]) - len(listed)
        return "one of " + ", ".join(listed) + (f" and {more} more" if more > 0 else "")
    if "value" in spec:
        return f"always {in_words(spec['value'])}"
    kind = printable(spec.get("distribution", ""), _LABEL).replace("_", " ")
    given = [
        f"{key} {in_words(spec[key])}" for key in ("min", "max", "q") if spec.get(key) is not None
    ]
    return ", ".join([*([kind] if kind else []), *given])


def short(value: float, digits: int = 4) -> str:
    """A number in few characters: ``0.0003``, ``12``, ``1.5e-7``, ``2e6``; a dash for NaN."""
    if value != value:
        return "–"
    if float(value).is_integer() and abs(value) < 1e6:
        return str(int(value))
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text
