"""``jobsight jobs``: the jobs that the store knows, newest first."""

from __future__ import annotations

import csv
import heapq
import io
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
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
from jobsight.cli.failed import FAILED, by_cause, print_groups
from jobsight.cli.output import note, say
from jobsight.cli.terminal import STATE_COLOURS, paint, table, width
from jobsight.clock import now_micros, parse_since, zone_named
from jobsight.documents import JobDocument, State, parse_key, to_json
from jobsight.documents.keys import clusters_named
from jobsight.documents.spans import life, ran, runs, submitted, time_of, total, why
from jobsight.documents.states import parse_states
from jobsight.errors import UsageError
from jobsight.format import UNKNOWN, memory, moment, span, timestamp
from jobsight.text import printable

__all__ = ["document_text", "jobs", "print_documents", "print_table"]

_COLUMNS = {
    "job": 0, "cluster": 46, "user": 50, "name": 60, "state": 0, "submitted": 105, "waited": 80,
    "started": 140, "ran": 40, "memory": 115, "why": 0,
}  # fmt: skip
"""How wide a terminal must be for each column: at 80 there is a name and some of the reason."""
_TEXTS = ("cluster", "user", "name", "state", "submitted", "started", "why")
_WIDE = 140
_CSV = (
    "id", "user", "name", "account", "partition", "state", "submitted", "started", "ended",
    "waited_s", "ran_s", "limit_s", "cpus", "cpu_s", "gpus", "asked_mb", "used_mb", "exit_code",
    "signal", "why",
)  # fmt: skip


def jobs(
    user: UserOption = None,
    state: StateOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    name: Annotated[
        str | None, typer.Option(help="Of this name, with * for any characters.")
    ] = None,
    partition: Annotated[str | None, typer.Option(help="Asked for this partition.")] = None,
    cluster: ClusterOption = None,
    failed: Annotated[
        bool,
        typer.Option("--failed", help="Those that failed, by cause: how many, and what to do."),
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 50,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the table as CSV, all columns, times in UTC.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list of job documents, or of causes.")
    ] = False,
) -> None:
    """The jobs that the store knows, those first of which something happened last."""
    settings = load_settings(config, {"timezone": timezone, "store": store})
    zone = zone_named(settings.timezone)
    if failed and as_csv:
        raise UsageError("--csv lists jobs, --failed causes: give one of them")
    # Causes are counted over all jobs.
    most = None if failed else min(limit, sys.maxsize - 1) or None
    states, first, last = parse_states(state), parse_since(since, zone), parse_since(until, zone)
    states = FAILED if failed and states is None else states
    chosen = name is not None or partition is not None
    with opened_store(settings) as opened:
        scans = [
            opened.scan(
                since=first,
                until=last,
                states=states,
                user=user,
                cluster=one,
                limit=None if chosen or most is None else most + 1,
                newest_first=True,
            )
            for one in ([None] if cluster is None else clusters_named(cluster))
        ]
        merged = heapq.merge(*scans, key=lambda one: (time_of(one), one.id.encode()), reverse=True)
        found = (one for one in merged if _is_chosen(one, name, partition))
        if as_csv:
            _print_csv(itertools.islice(found, most))
            return
        if as_json and not failed:
            print_documents(itertools.islice(found, most))
            return
        groups = by_cause(found) if failed else []
        if groups or (failed and as_json):
            print_groups(groups, as_json=as_json)
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


def _is_chosen(document: JobDocument, name: str | None, partition: str | None) -> bool:
    """Whether a job has the name and the partition that were asked for."""
    known = document.request.partition or ""
    if partition is not None and partition not in known.split(","):
        return False
    return name is None or fnmatchcase(document.submission.name or "", name)


def _print_csv(documents: Iterable[JobDocument]) -> None:
    """A row for each job, with what spreadsheets calculate with: seconds, MB, times in UTC."""
    now, text = now_micros(), io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_CSV)
    for document in documents:
        asked, used, outcome = document.request, document.usage, document.outcome
        run = runs(document, now)[-1:]
        waited = total(part for part in life(document, now) if part.state is State.PENDING)
        end = None if outcome is None else outcome.ended
        cells = [
            document.id, document.submission.user, document.submission.name, asked.account,
            asked.partition, document.state, timestamp(submitted(document)),
            timestamp(run[0].start if run else None), timestamp(end), waited, ran(document, now),
            asked.time_limit_s, used.cpus or asked.cpus, used.cpu_s, used.gpus or asked.gpus,
            asked.memory_mb, used.memory_mb, outcome and outcome.exit_code,
            outcome and outcome.signal, why(document),
        ]  # fmt: skip
        rows.writerow([_cell(cell) for cell in cells])
    say(text.getvalue(), end="")


def _cell(value: object) -> object:
    """A cell; a text that a spreadsheet would take for a formula has a quote before it."""
    if not isinstance(value, str):
        return value
    shown = printable(value, 1000)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown


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
