"""What a history shows before any model: who and what fails or waits most, when, at what cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobsight.format import UNKNOWN, moment
from jobsight.reports.page import Markup, element, join, section, table
from jobsight.text import printable

__all__ = ["MOST", "Overview", "Ranking", "dates", "overview_part"]

MOST = 12
"""Rows of a table that are shown."""


@dataclass(frozen=True)
class Ranking:
    """A table, the worst first.

    Attributes:
        title: what it ranks.
        rows: cells by heading, at most `MOST`; every row has the same headings.
        forms: how numbers are shown, by heading; cells of other headings are text.
        more: how many further rows there are.
    """

    title: str
    rows: Sequence[Mapping[str, Any]]
    forms: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    more: int = 0


@dataclass(frozen=True)
class Overview:
    """What a facilitator looks at first.

    Attributes:
        title: of the tables.
        points: the main ones, a sentence each.
        rankings: the tables; those without rows are not shown.
    """

    title: str
    points: Sequence[str]
    rankings: Sequence[Ranking] = ()

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        tables = {one.title: [dict(row) for row in one.rows] for one in self.rankings if one.rows}
        return {"points": list(self.points), "tables": tables}


def dates(first: int | None, last: int | None) -> str:
    """From when to when (µs since 1970): ``2026-11-21 00:03:45Z to 01:53:32Z``."""
    begin, end = moment(first), moment(last)
    return begin if begin == end else f"{begin} to {end[11:] if begin[:10] == end[:10] else end}"


def overview_part(overview: Overview | None) -> Markup | None:
    """The tables of an overview, where there are any."""
    shown = [_table(ranking) for ranking in overview.rankings if ranking.rows] if overview else []
    return section(overview.title, *shown) if overview and shown else None


def _table(ranking: Ranking) -> Markup:
    headings, forms = list(ranking.rows[0]), ranking.forms
    rows = [
        [forms[name](cell) if name in forms else _words(printable(cell or UNKNOWN, 160))
         for name, cell in row.items()]
        for row in ranking.rows
    ]  # fmt: skip
    more = f" {ranking.more:,} more are not shown." if ranking.more else ""
    texts = [k for k, name in enumerate(headings) if name not in forms]
    return table(headings, rows, caption=f"{ranking.title}.{more}", text_columns=texts)


def _words(text: str) -> Markup:
    """Text in which commands are between backticks."""
    parts = enumerate(text.split("`"))
    return join(element("code", part) if place % 2 else part for place, part in parts)
