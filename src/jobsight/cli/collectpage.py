"""How a collector is, as lines for a terminal: its store, and one row per source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jobsight.cli.tables import table
from jobsight.cli.terminal import paint, wrap
from jobsight.format import moment, size, span
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.service.status import Report

__all__ = ["page"]

_STATE_COLOURS = {
    "running": "36", "waiting": "32", "done": "32", "starting": "33", "stopped": "2",
    "backing off": "31", "conflict": "31", "failed": "31", "stuck": "31",
}  # fmt: skip
_TEXT = 400


def page(report: Report) -> Iterator[str]:
    """The lines of the page, without what is wrong now: that is in `report.problems`."""
    status, store = report.status, report.status["store"]
    states, sources = store.get("states", {}), sorted(status["sources"].items())
    ended = status["stopped"] is not None
    head = "has ended" if ended else "runs well" if report.healthy else "is not well"
    yield from wrap(
        f"the collector (process {status['pid']} on {printable(status['host'], 60)}) {head}; "
        f"{'was ' if ended else ''}up {span(status['uptime_s'])}, {status['memory_mb']} MB of "
        f"memory, as of {moment(status['written'])}"
    )
    jobs = f": {counted(sum(states.values()), 'job')}, {store.get('active', 0):,} not ended"
    url = printable(store.get("url") or "not opened yet", 120)
    yield from wrap(f"store {url}{jobs if states else ''}")
    if last := _last_error(store):
        yield from _indented(last)
    headings = ["state", "lag", "documents", "per s", "polls", "errors", "source"]
    rows = [_row(name, one) for name, one in sources]
    yield table(headings, rows, ["polls", "per s"], left=["source"])
    for name, one in sources:
        for text in _notes(one):
            yield from _indented(f"{printable(name, 100)}: {text}")


def _indented(text: str) -> Iterator[str]:
    yield from (f"  {line}" for line in wrap(text, 2))


def _last_error(one: dict[str, Any]) -> str | None:
    """The last error, with when it was and when it was over, so that it is not taken for now."""
    error = one["last_error"]
    if error is None:
        return None
    until = "" if error["over"] is None else f", over since {moment(error['over'])}"
    return f"last error {moment(error['time'])}{until}: {printable(error['text'], _TEXT)}"


def _notes(one: dict[str, Any]) -> Iterator[str]:
    """When a source is asked again, what could not be read of it, and its last error if over."""
    source = one["source"]
    if one["state"] in ("backing off", "conflict"):
        yield f"asked again at {moment(one['until'])}"
    if gaps := source.get("gaps"):
        advice = printable(source["advice"], _TEXT)
        yield f"{counted(gaps, 'gap')}, at least {source['gap_bytes']:,} bytes missing: {advice}"
    if skipped := source.get("skipped"):
        stretches = counted(skipped, "damaged stretch", "damaged stretches")
        yield f"{stretches} skipped, {source['skipped_bytes']:,} bytes"
    if one["healthy"] and (last := _last_error(one)):
        yield last


def _row(name: str, one: dict[str, Any]) -> list[str]:
    counts = [one[kind] for kind in ("errors", "conflicts", "crashes", "refused")]
    state = one["state"] if one["turning"] else "stuck"
    return [
        paint(state, _STATE_COLOURS[state]),
        _lag(one["source"]),
        f"{one['documents']:,}",
        f"{one['documents_per_s']:.1f}",
        f"{one['polls']:,}",
        f"{sum(counts):,}",
        printable(name, 100),
    ]


def _lag(source: dict[str, Any]) -> str:
    """How far behind a source is, in its own unit."""
    if (found := source.get("lag")) is not None:
        return f"{found:,} messages"
    behind = source.get("bytes_behind")
    return span(source.get("behind_s")) if behind is None else size(behind)
