"""``jobsight jobs``: the jobs that the store knows, newest first."""

from __future__ import annotations

import datetime as dt
import heapq
import itertools
import json
import re
import sys
import time
from collections.abc import Iterable
from typing import Annotated

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
)
from jobsight.cli.output import note, say
from jobsight.cli.tables import table
from jobsight.cli.terminal import STATE_COLOURS, paint, width
from jobsight.clock import micros, parse_moment, zone_named
from jobsight.documents import JobDocument, JobKey, State, parse_key, to_json
from jobsight.documents.spans import life, ran, runs, submitted, time_of, total
from jobsight.documents.states import slurm_state
from jobsight.errors import UsageError
from jobsight.format import UNKNOWN, memory, moment, span
from jobsight.store import open_store
from jobsight.text import printable

__all__ = [
    "clusters_named",
    "document_text",
    "jobs",
    "parse_since",
    "parse_states",
    "print_documents",
    "print_table",
    "why",
]

_COLUMNS = {
    "job": 0, "cluster": 46, "user": 50, "name": 60, "state": 0, "submitted": 105, "waited": 80,
    "started": 140, "ran": 40, "memory": 115, "why": 0,
}  # fmt: skip
"""How wide a terminal must be for each column: at 80 there is a name and some of the reason."""
_TEXTS = ("cluster", "user", "name", "state", "submitted", "started", "why")
_WIDE = 140
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}


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
    with open_store(settings=settings.store) as opened:
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
    if shown:
        print_table(shown)
    else:
        say("no job in the store matches")
    if more:
        note(f"and more: the newest {limit} are shown; --limit 0 shows all")


def clusters_named(text: str) -> list[str]:
    """Ids up to the last colon that a user's word for a cluster may mean."""
    if text.startswith(("slurm:", "htcondor:")):
        return [text]
    return [str(JobKey(one, text, "")).removesuffix(":") for one in ("htcondor", "slurm")]


def parse_states(words: list[str] | None) -> frozenset[State] | None:
    """The states that words mean; None: any.

    Raises:
        UsageError: a word is not a state; lists those that there are.
    """
    found: set[State] = set()
    for word in words or ():
        plain = word.strip().lower().replace("-", "_")
        slurm = slurm_state(word)
        if plain in ("active", "ended"):
            found |= {state for state in State if state.ended == (plain == "ended")}
        elif plain in tuple(State):
            found.add(State(plain))
        elif slurm is not None:
            found.add(slurm)
        else:
            raise UsageError(
                f"{printable(word, 30)!r} is not a state; there are {', '.join(State)}, active, "
                "ended, and Slurm's own words"
            )
    return frozenset(found) if words else None


def parse_since(text: str | None, zone: dt.tzinfo) -> int | None:
    """A time (see `jobsight.clock.parse_moment`), or a span until now (``90s``, ``2h``), in µs.

    Raises:
        UsageError: the text is neither.
    """
    if text is None:
        return None
    if found := re.fullmatch(r"\s*(\d{1,9})\s*(s|min|h|d|w)\s*", text, re.ASCII):
        return int((time.time() - int(found[1]) * _SECONDS[found[2]]) * 1e6)
    try:
        return micros(parse_moment(text, zone))
    except UsageError as error:
        raise UsageError(f"{error}, or as a span until now: 90s, 30min, 2h, 7d, 4w") from None


def print_table(documents: list[JobDocument]) -> None:
    """One line per job, with headings; the columns depend on the terminal's width alone."""
    most = width()
    several = len({parse_key(one.id)[:2] for one in documents}) > 1
    room = _WIDE if most is None else most - (14 if several else 0)
    names = [name for name, least in _COLUMNS.items() if room >= least]
    names = [name for name in names if several or name != "cluster"]
    now = time.time_ns() // 1000
    rows = [_row(one, now, wide=most is None or most >= _WIDE) for one in documents]
    cells = [[row[name] for name in names] for row in rows]
    # Left out where ids or states are longer than usual.
    say(table(names, cells, ["name", "user", "cluster"], left=_TEXTS, fold=False))


def _row(document: JobDocument, now: int, *, wide: bool) -> dict[str, str]:
    key, state = parse_key(document.id), document.state
    run = runs(document, now)[-1:]
    waited = total(one for one in life(document, now) if one.state is State.PENDING)
    return {
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


def why(document: JobDocument) -> str:
    """The reason of a job's state, as last reported: hostile text, empty where it is unknown."""
    if document.outcome is not None:
        reason, code = document.outcome.reason, document.outcome.exit_code
        if reason is None and document.outcome.signal:
            return f"signal {document.outcome.signal}"
        return f"exit code {code}" if reason is None and code else reason or ""
    for event in reversed(document.timeline):
        if event.state is not None and event.state is not document.state:
            break
        if event.reason is not None:
            return event.reason
    return ""


def print_documents(documents: Iterable[JobDocument]) -> None:
    """Print job documents as one JSON list, a document a line, written while they are read."""
    before = "["
    for document in documents:
        say(before + document_text(document), end="")
        before = ",\n"
    say("[]" if before == "[" else "]")


def document_text(document: JobDocument) -> str:
    """A job document as one line of JSON, in printable ASCII."""
    text = json.dumps(to_json(document), ensure_ascii=True, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")
