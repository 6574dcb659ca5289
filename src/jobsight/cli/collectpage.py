"""How a collector is, as lines for a terminal: its store, and a row a source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from jobsight.cli.terminal import Column, lined, shorten, width, wrap
from jobsight.clock import format_span
from jobsight.format import moment
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.service.status import Report

__all__ = ["page"]

_STATE_COLOURS = {
    "running": "36", "waiting": "32", "done": "32", "starting": "33", "stopped": "2",
    "backing off": "31", "conflict": "31", "failed": "31", "stuck": "31",
}  # fmt: skip
_PAUSES = ("backing off", "conflict")
_LEAST_NAME = 19
_NAME = 100
_TEXT = 400


def page(report: Report) -> Iterator[str]:
    """The lines of the page; what is wrong now is in `report.problems`, and not told here."""
    most = width()
    told = report.status
    gone = told.get("stopped") is not None
    head = "has ended" if gone else "runs well" if report.healthy else "is not well"
    yield from _told(_head(told, head, gone=gone), most)
    yield from _told(_store(told["store"]), most)
    if last := _past(told["store"]):
        yield from _told(last, most, indent="  ")
    sources = sorted(told["sources"].items())
    rows = [_row(name, one) for name, one in sources]
    lines = _table(rows, most)
    yield from lines[0]
    for (_, one), mine in zip(sources, lines[1:], strict=True):
        yield from mine
        if one.get("state") in _PAUSES and isinstance(one.get("until"), int):
            yield from _told(f"asked again at {moment(one['until'])}", most, indent="  ")
        for line in _missed(one.get("source") or {}):
            yield from _told(line, most, indent="  ")
        # The trouble of now is told among the problems.
        if one.get("healthy") and (last := _past(one)):
            yield from _told(last, most, indent="  ")


def _told(text: str, most: int | None, indent: str = "") -> Iterator[str]:
    lines = [text] if most is None else wrap(text, max(most - len(indent), 1))
    yield from (indent + line for line in lines)


def _head(told: dict[str, Any], head: str, *, gone: bool) -> str:
    return (
        f"the collector (process {printable(told.get('pid'), 20)} on "
        f"{printable(told.get('host'), 60)}) {head}; "
        f"{'was ' if gone else ''}up {format_span(told.get('uptime_s') or 0)}, "
        f"{printable(told.get('memory_mb'), 20)} MB of memory, as of {moment(told['written'])}"
    )


def _store(store: dict[str, Any]) -> str:
    states = store.get("states") or {}
    line = f"store {printable(store.get('url') or 'not opened yet', 120)}"
    if not states:
        return line
    return f"{line}: {counted(sum(states.values()), 'job')}, {store.get('active'):,} not ended"


def _past(one: dict[str, Any]) -> str | None:
    """The last trouble, when it was and is over, so that it is not taken for what is."""
    error = one.get("last_error")
    if not isinstance(error, dict) or not isinstance(error.get("time"), int):
        return None
    over = error.get("over")
    until = f", over since {moment(over)}" if isinstance(over, int) else ""
    return f"last trouble {moment(error['time'])}{until}: {printable(error.get('text'), _TEXT)}"


def _missed(source: dict[str, Any]) -> Iterator[str]:
    """What could not be read of an event log since it was first followed."""
    keys = ("gaps", "gap_bytes", "skipped", "skipped_bytes")
    told = (source.get(key) for key in keys)
    gaps, missing, skipped, size = (one if isinstance(one, int) else 0 for one in told)
    if gaps:
        advice = printable(source.get("advice"), _TEXT)
        yield f"{counted(gaps, 'gap')}, at least {missing:,} bytes missing: {advice}"
    if skipped:
        stretches = counted(skipped, "damaged stretch", "damaged stretches")
        yield f"{stretches} skipped, {size:,} bytes"


def _table(rows: list[list[str]], most: int | None) -> list[list[str]]:
    columns = [
        Column("source"), Column("state"), Column("lag", right=True),
        Column("documents", right=True), Column("per s", right=True, spare=1),
        Column("polls", right=True, spare=2), Column("trouble", right=True),
    ]  # fmt: skip
    if most is not None:
        cells = [[column.heading for column in columns], *rows]
        widths = [max(cell_len(row[k]) for row in cells) + 2 for k in range(1, len(columns))]
        if most - sum(widths) < _LEAST_NAME:
            columns = [one for one in columns if not one.spare]
            rows = [[*row[:4], row[6]] for row in rows]
            del widths[3:5]
        room = max(most - sum(widths), _LEAST_NAME)
        rows = [[shorten(row[0], room), *row[1:]] for row in rows]
    colours = {(at, 1): _STATE_COLOURS.get(row[1], "0") for at, row in enumerate(rows)}
    return lined(columns, rows, most=most, colours=colours)


def _row(name: str, one: dict[str, Any]) -> list[str]:
    counts = [one.get(kind) or 0 for kind in ("errors", "conflicts", "crashes", "refused")]
    return [
        printable(name, _NAME),
        "stuck" if one.get("turning") is False else printable(one.get("state"), 20),
        _lag(one.get("source") or {}),
        f"{one.get('documents') or 0:,}",
        f"{one.get('documents_per_s') or 0:.1f}",
        f"{one.get('polls') or 0:,}",
        f"{sum(counts):,}",
    ]


def _lag(source: dict[str, Any]) -> str:
    """How far behind a source is, in the unit that it tells."""
    if isinstance(found := source.get("bytes_behind"), int):
        return f"{found / 1e6:,.1f} MB" if found >= 100_000 else f"{found:,} B"
    if isinstance(found := source.get("lag"), int):
        return f"{found:,} messages"
    if isinstance(found := source.get("behind_s"), int | float):
        return format_span(found)
    return "–"
