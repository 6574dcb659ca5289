"""The table of all runs: what every picture of the report shows, as numbers."""

from __future__ import annotations

from collections.abc import Mapping

from jobsight.reports.page import Markup, element, join, section, table
from jobsight.reports.sweep.data import STATUSES, Run, SweepData
from jobsight.reports.sweep.importance import Importance
from jobsight.reports.sweep.scales import Column, short
from jobsight.reports.sweep.words import hours_words
from jobsight.text import printable

__all__ = ["runs_part"]

_MOST_ROWS = 1000
_MOST_COLUMNS = 12


def runs_part(data: SweepData, importance: Mapping[str, Importance]) -> Markup:
    """All runs, best first, then those without a metric, by number."""
    judged = data.judged.tolist()
    there = set(judged)
    order = [*judged, *(k for k in range(len(data.runs)) if k not in there)]
    columns = sorted(data.columns, key=lambda one: -(importance[one.name].share or 0.0))
    columns = columns[:_MOST_COLUMNS]
    rows = [_row(data, place, columns) for place in order[:_MOST_ROWS]]
    more = len(order) - len(rows)
    shown = table(
        ["run", "how it ended", data.metric, *(printable(one.name, 40) for one in columns),
         "epochs", "best", "loss", "time", "evicted"],
        rows,
        caption="Sorted by the metric; “best” is the epoch whose weights were kept, “loss” the "
        "last on the held-back rows."
        + (f" {more:,} more runs are in the records alone." if more > 0 else ""),
        text_columns=(1, *(3 + k for k, c in enumerate(columns) if c.axis.kind == "category")),
        marked=[0] if data.best is not None and order and order[0] == data.best else [],
    )  # fmt: skip
    long = len(rows) > 25
    scroll = element(
        "div", shown, class_="scroll" if long else None, tabindex="0" if long else None,
        role="region" if long else None, aria_label="All runs" if long else None,
    )  # fmt: skip
    return section("All runs", scroll)


def _row(data: SweepData, place: int, columns: list[Column]) -> list[Markup | str]:
    run = data.runs[place]
    shade = "badkey" if run.status == "failed" else f"f{data.shades[place]}"
    key = element("i", class_=f"key {'starkey' if place == data.best else shade}")
    number = element("span", key, str(run.number), id=f"r{run.number}")
    return [
        number,
        _ending(run),
        "–" if run.metric is None else short(run.metric),
        *(column.shown[place] or "–" for column in columns),
        str(len(run.epochs)),
        "–" if run.best_epoch is None else str(run.best_epoch),
        short(float(run.select[-1]), 3) if len(run.select) else "–",
        "–" if run.seconds is None else hours_words(run.seconds),
        str(run.evictions or ""),
    ]


def _ending(run: Run) -> Markup | str:
    words = STATUSES[run.status].replace("stopped early", "early")
    if run.cause is None:
        return words
    return join([words, element("span", f" {printable(run.cause, 60)}", class_="small")])
