"""``jobsight jobs``: the jobs that the store knows, newest first."""

from __future__ import annotations

import heapq
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from jobsight.cli.common import (
    ClusterOption,
    ConfigOption,
    SinceOption,
    StateOption,
    StoreOption,
    TimezoneOption,
    UntilOption,
    UserOption,
    load_settings,
    opened_store,
)
from jobsight.cli.output import note, say
from jobsight.cli.terminal import STATE_COLOURS, paint, table, width
from jobsight.clock import now_micros, parse_since, zone_named
from jobsight.documents import JobDocument, State, parse_key, to_json
from jobsight.documents.keys import clusters_named
from jobsight.documents.spans import life, ran, runs, submitted, time_of, total, why
from jobsight.documents.states import parse_states
from jobsight.format import UNKNOWN, memory, moment, span
from jobsight.text import printable

__all__ = ["document_text", "jobs", "print_documents", "print_table"]

_COLUMNS = {
    "job": 0, "cluster": 46, "user": 50, "name": 60, "state": 0, "submitted": 105, "waited": 80,
    "started": 140, "ran": 40, "memory": 115, "why": 0,
}  # fmt: skip
"""How wide a terminal must be for each column: at 80 there is a name and some of the reason."""
_TEXTS = ("cluster", "user", "name", "state", "submitted", "started", "why")
_WIDE = 140


def jobs(
    user: UserOption = None,
    state: StateOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    cluster: ClusterOption = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 50,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list of job documents.")
    ] = False,
) -> None:
    """The jobs that the store knows, those first of which something happened last."""
    settings = load_settings(config, {"timezone": timezone, "store": store})
    zone = zone_named(settings.timezone)
    most = min(limit, sys.maxsize - 1) or None
    states, first, last = parse_states(state), parse_since(since, zone), parse_since(until, zone)
    with opened_store(settings) as opened:
        scans = [
            opened.scan(
                since=first,
                until=last,
                states=states,
                user=user,
                cluster=one,
                limit=most and most + 1,
                newest_first=True,
            )
            for one in ([None] if cluster is None else clusters_named(cluster))
        ]
        found = heapq.merge(*scans, key=lambda one: (time_of(one), one.id.encode()), reverse=True)
        if as_json:
            print_documents(itertools.islice(found, most))
            return
        shown = list(itertools.islice(found, most))
        more = next(found, None) is not None
        url, known = opened.url, bool(shown) or any(True for _ in opened.scan(limit=1))
    if shown:
        print_table(shown)
    elif known:
        say("no job in the store matches")
    else:
        say(
            f"the store {printable(url)} is empty; `jobsight import` and `jobsight collect` fill it"
        )
    if more:
        note(f"and more: the newest {limit} are shown; --limit 0 shows all")


def print_table(documents: list[JobDocument]) -> None:
    """One line per job, with headings; the columns depend on the terminal's width alone."""
    most = width()
    several = len({parse_key(one.id)[:2] for one in documents}) > 1
    room = _WIDE if most is None else most - (14 if several else 0)
    names = [name for name, least in _COLUMNS.items() if room >= least]
    names = [name for name in names if several or name != "cluster"]
    now = now_micros()
    wide = most is None or most >= _WIDE
    cells = []
    for document in documents:
        key, state, run = parse_key(document.id), document.state, runs(document, now)[-1:]
        waited = total(part for part in life(document, now) if part.state is State.PENDING)
        row = {
            "job": key.job,
            "cluster": printable(key.cluster, 24 if wide else 10),
            "user": printable(document.submission.user or UNKNOWN, 24 if wide else 8),
            "name": printable(document.submission.name or UNKNOWN, 24 if wide else 12),
            "state": paint(state, STATE_COLOURS[state]) if state else UNKNOWN,
            "submitted": moment(submitted(document)),
            "waited": span(waited, lasts=state is State.PENDING),
            "started": moment(run[0].start if run else None),
            "ran": span(ran(document, now), lasts=bool(run) and run[0].lasts),
            "memory": memory(document.usage.memory_mb),
            "why": printable(why(document), 60),
        }
        cells.append([row[name] for name in names])
    # Left out where ids or states are longer than usual.
    say(table(names, cells, ["name", "user", "cluster"], left=_TEXTS, fold=False))


def print_documents(
    documents: Iterable[JobDocument],
    more: Callable[[JobDocument], Mapping[str, Any]] = lambda _: {},
) -> None:
    """Print job documents as one JSON list, a document a line, written while they are read.

    `more` gives further fields of each.
    """
    before = "["
    for document in documents:
        say(before + document_text(document, more(document)), end="")
        before = ",\n"
    say("[]" if before == "[" else "]")


def document_text(document: JobDocument, more: Mapping[str, Any]) -> str:
    """A job document with further fields as one line of JSON, in printable ASCII."""
    fields = {**to_json(document), **more}
    text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")
