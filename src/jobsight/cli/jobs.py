"""``jobsight jobs``: the jobs that the store knows, newest first."""

from __future__ import annotations

import datetime as dt
import heapq
import itertools
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

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
from jobsight.cli.terminal import STATE_COLOURS, Column, grid, width
from jobsight.clock import micros, parse_moment, zone_named
from jobsight.documents import JobKey, State, parse_key, to_json
from jobsight.documents.spans import life, ran, runs, submitted, time_of, total
from jobsight.documents.states import slurm_state
from jobsight.errors import UsageError
from jobsight.format import memory, moment, span
from jobsight.store import open_store
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.store import Store

__all__ = ["clusters_named", "jobs", "parse_since", "parse_states", "print_table", "why"]

_TEXT_WIDTH = 60
_NAME_WIDTH = 24
_ACTIVE, _ENDED = "active", "ended"
_FROM = {
    "job": 0, "cluster": 46, "user": 50, "name": 60, "state": 0, "submitted": 105, "waited": 80,
    "started": 140, "ran": 40, "memory": 115, "why": 0,
}  # fmt: skip
"""The columns, and how wide a terminal must be for each: at 80 a name and some of the reason."""
_RIGHT = {"waited", "ran", "memory"}
_WIDTHS = {"cluster": 10, "user": 8, "name": 12}
"""What they are cut to in a terminal that is not `_WIDE`."""
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
    asked = _Asked(
        user,
        parse_states(state or []),
        None if since is None else parse_since(since, zone),
        None if until is None else parse_since(until, zone),
        cluster,
    )
    with open_store(settings=settings.store) as opened:
        found = asked.of(opened, most and most + 1)
        if as_json:
            print_documents(itertools.islice(found, most))
            return
        shown = list(itertools.islice(found, most))
        more = next(found, None) is not None
    if shown:
        print_table(shown)
    else:
        say("no job of the store is like that")
    if more:
        note(f"and more: the newest {limit} are shown; --limit 0 shows all")


class _Asked:
    """What is asked of the store."""

    def __init__(
        self,
        user: str | None,
        states: frozenset[State] | None,
        since: int | None,
        until: int | None,
        cluster: str | None,
    ) -> None:
        self.user, self.states = user, states
        self.since, self.until = since, until
        self.clusters: list[str | None] = [None] if cluster is None else [*clusters_named(cluster)]

    def of(self, store: Store, limit: int | None) -> Iterator[JobDocument]:
        """The jobs, newest first."""
        scans = [
            store.scan(
                since=self.since,
                until=self.until,
                states=self.states,
                user=self.user,
                cluster=one,
                limit=limit,
                newest_first=True,
            )
            for one in self.clusters
        ]
        if len(scans) == 1:
            return iter(scans[0])
        # As each scan orders them.
        return heapq.merge(*scans, key=lambda one: (time_of(one), one.id.encode()), reverse=True)


def clusters_named(text: str) -> list[str]:
    """Ids up to the last colon that a user's word for a cluster may mean."""
    for scheduler in ("slurm", "htcondor"):
        if text.startswith(f"{scheduler}:"):
            return [text]
    return [
        str(JobKey(scheduler, text, "")).removesuffix(":") for scheduler in ("htcondor", "slurm")
    ]


def parse_states(words: list[str]) -> frozenset[State] | None:
    """The states that words mean; None: any.

    Raises:
        UsageError: a word is none; lists those that there are.
    """
    found: set[State] = set()
    for word in words:
        plain = word.strip().lower().replace("-", "_")
        slurm = slurm_state(word)
        if plain in (_ACTIVE, _ENDED):
            found |= {state for state in State if state.ended == (plain == _ENDED)}
        elif plain in tuple(State):
            found.add(State(plain))
        elif slurm is not None:
            found.add(slurm)
        else:
            raise UsageError(
                f"{printable(word, 30)!r} is no state; there are {', '.join(State)}, and active, "
                "ended, and Slurm's own words"
            )
    return frozenset(found) if words else None


def parse_since(text: str, zone: dt.tzinfo) -> int:
    """A time (see `jobsight.clock.parse_moment`), or a span until now (``90s``, ``2h``), in µs.

    Raises:
        UsageError: the text is neither.
    """
    found = re.fullmatch(r"\s*(\d{1,9})\s*(s|min|h|d|w)\s*", text, re.ASCII)
    if found is None:
        try:
            return micros(parse_moment(text, zone))
        except UsageError as error:
            raise UsageError(f"{error}, or as a span until now: 90s, 30min, 2h, 7d, 4w") from None
    size = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}[found[2]]
    return int((time.time() - int(found[1]) * size) * 1e6)


def print_table(documents: list[JobDocument]) -> None:
    """One line a job, with headings; how wide the terminal is tells which columns, nothing else."""
    most = width()
    several = len({parse_key(one.id)[:2] for one in documents}) > 1
    shown = _columns(most, several=several)
    now = time.time_ns() // 1000
    rows = [_row(one, now) for one in documents]
    # The most that is left out where ids or states are longer than usual.
    spare = {"cluster": 1, "user": 2, "name": 3}
    columns = [Column(name, right=name in _RIGHT, spare=spare.get(name, 0)) for name in shown]
    cells = [[_short(name, row[name], most) for name in shown] for row in rows]
    at = shown.index("state")
    colours = {(k, at): STATE_COLOURS[one.state] for k, one in enumerate(documents) if one.state}
    for line in grid(columns, cells, most=most, colours=colours):
        say(line)


def _columns(most: int | None, *, several: bool) -> list[str]:
    """The names of the columns for a terminal of that width, of one cluster or several."""
    room = None if most is None else most - (14 if several else 0)
    left = [name for name, least in _FROM.items() if room is None or room >= least]
    return [name for name in left if several or name != "cluster"]


def _short(name: str, text: str, most: int | None) -> str:
    size = _WIDTHS.get(name)
    if size is None or most is None or most >= _WIDE or len(text) <= size:
        return text
    return text[: size - 1] + "…"


def _row(document: JobDocument, now: int) -> dict[str, str]:
    key = parse_key(document.id)
    run = runs(document, now)[-1:]
    waited = total(one for one in life(document, now) if one.state is State.PENDING)
    return {
        "job": key.job,
        "cluster": printable(key.cluster, _NAME_WIDTH),
        "user": printable(document.submission.user or "–", _NAME_WIDTH),
        "name": printable(document.submission.name or "–", _NAME_WIDTH),
        "state": document.state or "–",
        "submitted": moment(submitted(document)),
        "waited": span(waited, lasts=document.state is State.PENDING),
        "started": moment(run[0].start if run else None),
        "ran": span(ran(document, now), lasts=bool(run) and run[0].lasts),
        "memory": memory(document.usage.memory_mb),
        "why": printable(why(document), _TEXT_WIDTH),
    }


def print_documents(documents: Iterable[JobDocument]) -> None:
    """Print job documents as one JSON list, a document a line, written while they are read."""
    before = "["
    for document in documents:
        say(before + document_text(document), end="")
        before = ",\n"
    say("[]" if before == "[" else "]")


def document_text(document: JobDocument) -> str:
    """A job document as one line of JSON, of ASCII letters that no terminal obeys."""
    text = json.dumps(to_json(document), ensure_ascii=True, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f")


def why(document: JobDocument) -> str:
    """The reason of a job's state, as last told; hostile text, empty where nobody told any."""
    if document.outcome is not None:
        said = document.outcome.reason
        code, signal = document.outcome.exit_code, document.outcome.signal
        if said is None and signal:
            return f"signal {signal}"
        return f"exit code {code}" if said is None and code else said or ""
    for event in reversed(document.timeline):
        if event.state is not None and event.state is not document.state:
            break
        if event.reason is not None:
            return event.reason
    return ""
