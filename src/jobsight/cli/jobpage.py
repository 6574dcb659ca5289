"""All that is known of one job, as lines for a terminal; whatever a job tells is made harmless."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from jobsight.cli.jobs import why
from jobsight.cli.terminal import STATE_COLOURS, Column, blocks, grid, lined, paint, width, wrap
from jobsight.codes import EventCode, event_name, hold_name
from jobsight.documents import State, parse_key
from jobsight.documents.spans import life, ran, runs, spans, submitted, time_of, total
from jobsight.format import UNKNOWN, memory, moment, span
from jobsight.history.eventlog.headers import sinful_name
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.documents import Event, JobDocument, Prediction
    from jobsight.documents.spans import Span

__all__ = ["page"]

_USUAL_WIDTH = 100
_LABEL = 11
_LINE = 200
_REASON = 1000
_SCRIPT_LINES = 15
_FIRST_EVENTS, _LAST_EVENTS = 10, 30
_TRANSFERS = {
    1: "input transfer queued", 2: "input transfer started", 3: "input transfer finished",
    4: "output transfer queued", 5: "output transfer started", 6: "output transfer finished",
}  # fmt: skip
_LONGEST_BAR = 72
_PREDICTIONS = 10


def page(document: JobDocument, *, siblings: int, whole: bool = False) -> Iterator[str]:
    """The lines of the page.

    Args:
        document: of the job.
        siblings: other jobs of its array or cluster of procs.
        whole: every event; else of a long timeline the first and the last ones.
    """
    most = width()
    now = time.time_ns() // 1000
    parts = (
        _facts(document, siblings, most),
        _usage(document, now),
        _life(document, most, now),
        _events(document, most, whole=whole),
        _script(document),
        _predictions(document, most),
    )
    yield from _wrapped(_title(document), most)
    for part in parts:
        yield from (line if most is None else _cut(line, most) for line in part)


def _cut(line: str, most: int) -> str:
    if "\x1b" in line or cell_len(line) <= most:
        return line
    return set_cell_size(line, max(most - 1, 1)).rstrip() + "…"


def _wrapped(words: list[str], most: int | None) -> Iterator[str]:
    """Words in as few lines as there is room for; none is cut: a state or an id is no detail."""
    line, size = "", 0
    for word in words:
        length = cell_len(re.sub(r"\x1b\[[\d;]*m", "", word))
        if line and most is not None and size + 1 + length > most:
            yield line
            line, size = "", 0
        line, size = (f"{line} {word}", size + 1 + length) if line else (word, length)
    yield line


def _title(document: JobDocument) -> list[str]:
    key = parse_key(document.id)
    state = document.state
    word = paint(state.upper(), f"1;{STATE_COLOURS[state]}") if state else "NO STATE KNOWN"
    since = ""
    if document.outcome is not None:
        ended = document.outcome.ended
        at = "at an unknown time" if ended is None else f"at {moment(ended)}"
        since = f"{at}{_exit(document)}"
    elif state is not None:
        since = f"since {moment(spans(document)[-1].start)}"
    return f"{word}  job {key.job} on {printable(key.cluster, 60)} {since}".rstrip().split(" ")


def _exit(document: JobDocument) -> str:
    outcome = document.outcome
    if outcome is None:
        return ""
    code = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
    return f"{code}, signal {outcome.signal}" if outcome.signal else code


def _facts(document: JobDocument, siblings: int, most: int | None) -> Iterator[str]:
    told, asked = document.submission, document.request
    origin = None if told.host is None else f"from {told.host}"
    pairs = [
        ("id", document.id),
        ("user", _joined(told.user, told.group and f"group {told.group}", told.project,
                         asked.account and f"account {asked.account}")),
        ("name", told.name),
        ("submitted", _joined(moment(submitted(document)), origin)),
        ("command", _joined(told.command, told.arguments, by=" ")),
        ("line", told.line),
        ("directory", told.directory),
        ("queue", _joined(asked.partition, asked.qos and f"qos {asked.qos}", asked.reservation)),
        ("requires", asked.constraints),
        ("depends on", asked.dependency),
        ("ran on", document.usage.hosts),
        ("node of", told.dag),
        ("comment", told.comment),
        ("written in", document.program.language),
        ("siblings", _siblings(siblings) if siblings else None),
        ("reason", _reason(document)),
    ]  # fmt: skip
    for label, text in pairs:
        if text:
            shown = printable(text, _REASON if label == "reason" else _LINE)
            lines = [shown] if most is None else wrap(shown, max(most - _LABEL - 2, 10))
            for number, line in enumerate(lines):
                yield f"  {'' if number else label:<{_LABEL}}{line}"


def _reason(document: JobDocument) -> str | None:
    """Why it is in its state; an exit code alone stands in the title."""
    return why(document) if document.outcome is None else document.outcome.reason


def _siblings(count: int) -> str:
    return counted(count, "other job of its number", "other jobs of its number")


def _joined(*parts: str | None, by: str = ", ") -> str:
    return by.join(part for part in parts if part)


def _usage(document: JobDocument, now: int) -> Iterator[str]:
    """What was asked for beside what was used, and the share."""
    asked, used = document.request, document.usage
    cpus, wall = used.cpus or asked.cpus, used.wall_s or ran(document, now)
    share = _share(used.cpu_s, cpus * wall if cpus and wall else None)
    rows = [
        *_times(document, now),
        ["memory", memory(asked.memory_mb), memory(used.memory_mb),
         _share(used.memory_mb, asked.memory_mb)],
        ["cpus", _number(asked.cpus), _number(used.cpus), ""],
        ["cpu time", UNKNOWN, span(used.cpu_s),
         share and f"{share} of {counted(cpus or 0, 'cpu')}"],
        ["disk", memory(asked.disk_mb), memory(used.disk_mb), _share(used.disk_mb, asked.disk_mb)],
        ["nodes", _number(asked.nodes), _number(used.nodes), ""],
        ["gpus", _number(asked.gpus), _number(used.gpus), ""],
    ]  # fmt: skip
    known = [row for row in rows if row[1:3] != [UNKNOWN, UNKNOWN]]
    if known:
        yield ""
        columns = [
            Column(f"{'':<{_LABEL}}"),
            *(Column(name, True) for name in ("asked", "used", "share")),
        ]
        for line in grid(columns, known, most=None):
            yield f"  {line}"
    if told := _counts(document, now):
        yield f"  {'counted':<{_LABEL}}{', '.join(told)}"


def _times(document: JobDocument, now: int) -> Iterator[list[str]]:
    """What it ran, all runs together; a limit is for each run, so the last of several has a row."""
    limit = document.request.time_limit_s
    asked, most = "unlimited" if limit == -1 else span(limit), None if limit == -1 else limit
    found = runs(document, now)
    seconds, lasts = ran(document, now), bool(found) and found[-1].lasts
    if len(found) < 2:
        yield ["ran", asked, span(seconds, lasts=lasts), _share(seconds, most)]
        return
    last = found[-1].seconds
    yield ["ran", UNKNOWN, span(seconds, lasts=lasts), ""]
    yield ["last run", asked, span(last, lasts=lasts), _share(last, most)]


def _counts(document: JobDocument, now: int) -> list[str]:
    """Starts, holds and requeues: as its timeline shows, more where a source counted more."""
    used = document.usage
    holds = sum(one.state is State.HELD for one in spans(document))
    numbers = {
        "start": max(used.starts or 0, len(runs(document, now))),
        "hold": max(used.holds or 0, holds),
        "requeue": used.requeues or 0,
    }
    return [counted(number, name) for name, number in numbers.items() if number]


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _share(part: float | None, whole: float | None) -> str:
    return f"{100 * part / whole:.0f} %" if part is not None and whole else ""


def _life(document: JobDocument, most: int | None, now: int) -> Iterator[str]:
    """A line for each state the job was in: when, and how long in all; a present one until now."""
    told = life(document, now)
    if not told:
        return
    start = told[0].start
    lasts = spans(document)[-1].end is None
    last = max((event.time for event in document.timeline), default=start)
    end = max([start, last, *(one.end or start for one in told)])
    size = min(max((most or _USUAL_WIDTH) - _LABEL - 17, 10), _LONGEST_BAR)
    until, length = "now" if lasts else moment(end), f" ({span((end - start) / 1e6)})"
    if document.outcome is not None and document.outcome.ended is None:
        until, length = "an unknown time", ""
    yield ""
    yield f"  {'life':<{_LABEL}}{moment(start)} … {until}{length}"
    for state in State:
        mine = [one for one in told if one.state is state]
        if mine:
            bar = paint(_bar(mine, start, end, size), STATE_COLOURS[state])
            present = lasts and state is told[-1].state
            yield f"  {state:<{_LABEL}}{bar}  {span(total(mine), lasts=present)}"
    if lasts:
        yield f"  {'last told':<{_LABEL}}{moment(time_of(document))}"


def _bar(mine: list[Span], start: int, end: int, size: int) -> str:
    """Cells full where most of their time was in the state, half where any of it was."""
    full, half, empty = blocks()
    cell = max((end - start) / size, 1e-9)
    covered = [0.0] * size
    touched = [False] * size
    for one in mine:
        first, last = one.start - start, (end if one.end is None else one.end) - start
        for k in range(min(int(first / cell), size - 1), min(int(last / cell), size - 1) + 1):
            covered[k] += max(min(last, (k + 1) * cell) - max(first, k * cell), 0.0)
            touched[k] = touched[k] or covered[k] > 0 or first == last
    return "".join(
        full if share >= cell / 2 else half if any_ else empty
        for share, any_ in zip(covered, touched, strict=True)
    )


def _events(document: JobDocument, most: int | None, *, whole: bool) -> Iterator[str]:
    events = [event for event in document.timeline if event.code != EventCode.AD]
    if not events:
        return
    first, last = (len(events), 0) if whole else (_FIRST_EVENTS, _LAST_EVENTS)
    head, tail = events[:first], events[first:][-last:] if last else []
    left_out = len(events) - len(head) - len(tail)
    columns = [
        Column("time"), Column("after", right=True, spare=2), Column("state", spare=1),
        Column("told by", spare=3), Column("what"),
    ]  # fmt: skip
    start = submitted(document) or events[0].time
    rows = [_event(event, start) for event in (*head, *tail)]
    table = lined(columns, rows, most=None if most is None else most - 2, whole=True)
    yield ""
    for number, lines in enumerate(table):
        if number == len(head) + 1 and left_out:
            yield f"  … {left_out} more: --all-events shows them"
        yield from (f"  {line}" for line in lines)
    if document.dropped:
        yield f"  {document.dropped} events of the middle were not kept"


def _event(event: Event, start: int) -> list[str]:
    return [
        UNKNOWN if event.undated else moment(event.time),
        "" if event.undated or event.time < start else span((event.time - start) / 1e6),
        event.state or "",
        printable(re.split("[:#]", event.source)[0], 12),
        printable(_what(event), _REASON),
    ]


def _what(event: Event) -> str:
    """The event in words: its name, what it tells, where, and why."""
    name = event_name(event.code) if event.code is not None else event.word
    moved = event.code == EventCode.FILE_TRANSFER
    parts = [_TRANSFERS.get(event.detail or 0, name) if moved else name]
    if event.hold_code is not None:
        parts.append(f"{hold_name(event.hold_code)} ({event.hold_code}/{event.hold_subcode or 0})")
    if event.return_value is not None:
        parts.append(f"exit code {event.return_value}")
    if event.signal:
        parts.append(f"signal {event.signal}")
    if event.memory_mb is not None:
        parts.append(memory(event.memory_mb))
    if place := event.slot or _host(event):
        parts.append(f"on {place}")
    text = _joined(*parts)
    return f"{text}: {event.reason}" if text and event.reason else text or event.reason or ""


def _host(event: Event) -> str | None:
    """The host's name, where HTCondor writes an address with all that belongs to it."""
    if event.host is None or not event.host.startswith("<"):
        return event.host
    return sinful_name(event.host) or event.host


def _script(document: JobDocument) -> Iterator[str]:
    script = document.submission.script
    if not script:
        return
    lines = script.splitlines()
    yield ""
    shown = min(len(lines), _SCRIPT_LINES)
    yield (
        f"  script ({len(lines)} lines)"
        if shown == len(lines)
        else (f"  script (the first {shown} of {len(lines)} lines)")
    )
    for line in lines[:shown]:
        indent = len(line) - len(line.lstrip(" "))
        yield f"  | {' ' * min(indent, 40)}{printable(line, _LINE)}"


def _predictions(document: JobDocument, most: int | None) -> Iterator[str]:
    if not document.predictions:
        return
    columns = [Column("predicted"), Column("question"), Column("model", spare=1), Column("answer")]
    rows = [_prediction(one) for one in document.predictions[-_PREDICTIONS:]]
    yield ""
    for lines in lined(columns, rows, most=None if most is None else most - 2, whole=True):
        yield from (f"  {line}" for line in lines)


def _prediction(one: Prediction) -> list[str]:
    answer = one.answer
    parts = [
        str(answer[name]) for name in ("answer", "verdict") if isinstance(answer.get(name), str)
    ]
    chance = answer.get("probability")
    if isinstance(chance, float | int):
        parts.append(f"{100 * chance:.0f} %")
    text = ", ".join(parts) or str(answer)
    names = (printable(name, 30) for name in (one.question, one.model))
    return [moment(one.time), *names, printable(text, 80)]
