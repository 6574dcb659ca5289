"""``jobsight job``: everything that the store knows of a job.

With ``--json`` one job asked for by more than a bare number gives one object; several ids, or a
number that may name many, give a list. Where some of several ids name no job, the others are shown,
each of these gives a line on standard error, and the exit status is 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import (
    ClusterOption,
    ConfigOption,
    StoreOption,
    TimezoneOption,
    load_settings,
    opened_store,
)
from jobsight.cli.jobs import document_text, print_documents, print_table
from jobsight.cli.output import note, report_problems, say
from jobsight.cli.terminal import STATE_COLOURS, blocks, field, paint, table, width, wrap
from jobsight.cli.why import explanation
from jobsight.clock import now_micros
from jobsight.codes import EventCode
from jobsight.documents import State, parse_key
from jobsight.documents.spans import Span, life, runs, spans, submitted, time_of, total
from jobsight.errors import JobError
from jobsight.format import UNKNOWN, moment, percent, span
from jobsight.history.causes.job import explained, output_files
from jobsight.history.causes.search import read_end
from jobsight.history.jobwords import event_words, job_facts
from jobsight.ids import parse_job_name
from jobsight.program.profile import profile_of
from jobsight.program.usage import amounts, fitted, measured, usage_fields
from jobsight.store.packing import cluster_of
from jobsight.store.store import find_ids, other_jobs, runs_of_name
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument, Prediction
    from jobsight.store import Store

    _LikeOf = Callable[[str, str | None, str | None], list[JobDocument]]
    """Gives ended runs by cluster, user and name, see `runs_of_name`."""

__all__ = ["job", "page"]

_INDENT = 13
_LINE = 200
_REASON = 1000
_SCRIPT_LINES = 15
_FIRST_EVENTS, _LAST_EVENTS = 10, 30
_BAR = 72
_PREDICTIONS = 10


def page(
    document: JobDocument,
    like: list[JobDocument],
    *,
    siblings: int,
    whole: bool = False,
    output: Sequence[str] = (),
) -> Iterator[str]:
    """The lines of the page; `like` are runs of the same name, `output` its output's files."""
    now = now_micros()
    yield from _title(document)
    facts = job_facts(document)
    reason = facts.pop("reason", None)
    answer = explained(document, output)
    yield from explanation(answer, _INDENT)
    if answer.cause is not None and not answer.cause.sure and not answer.read:
        yield field("", "its output files cannot be read here: --output FILE names one", _INDENT)
    if siblings:
        facts["siblings"] = counted(siblings, "other job of its number", "other jobs of its number")
    for label, text in facts.items():
        yield field(label, printable(text, _LINE), _INDENT)
    if reason:
        yield field("reason", printable(reason, _REASON), _INDENT)
    yield from _usage(document, like, now)
    yield from _life(document, now)
    yield from _events(document, whole=whole)
    if lines := (document.submission.script or "").splitlines():
        shown, most = lines[:_SCRIPT_LINES], width() or _LINE
        yield ""
        first = "" if len(shown) == len(lines) else f"the first {len(shown)} of "
        yield f"  script ({first}{len(lines)} lines)"
        for line in shown:
            indent = min(len(line) - len(line.lstrip(" ")), 40)
            yield f"  | {'':{indent}}{printable(line, min(max(most - indent - 4, 8), _LINE))}"
    if document.predictions:
        rows = [_prediction(one) for one in document.predictions[-_PREDICTIONS:]]
        headings = ["predicted", "question", "model", "answer"]
        yield ""
        yield table(headings, rows, ["model"], left=headings, indent=2)


def _title(document: JobDocument) -> Iterator[str]:
    key, state = parse_key(document.id), document.state
    since = ""
    if document.outcome is not None:
        outcome, ended = document.outcome, document.outcome.ended
        since = " at an unknown time" if ended is None else f" at {moment(ended)}"
        since += "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
        since += f", signal {outcome.signal}" if outcome.signal else ""
    elif state is not None:
        since = f" since {moment(spans(document)[-1].start)}"
    word = state.upper() if state else "NO STATE KNOWN"
    first, *rest = wrap(f"{word}  job {key.job} on {printable(key.cluster, 60)}{since}")
    yield first.replace(word, paint(word, f"1;{STATE_COLOURS[state]}"), 1) if state else first
    yield from rest


def _usage(document: JobDocument, like: list[JobDocument], now: int) -> Iterator[str]:
    """What was asked for next to what was used, the share, and the request that would fit."""
    if rows := amounts(document, now):
        yield ""
        headings = [f"{'':<{_INDENT - 4}}", "asked", "used", "share"]
        yield table(headings, [list(row) for row in rows], indent=2)
    if how := measured(document):
        yield field("measured", printable(how, _REASON), _INDENT)
    if fit := fitted(document, like, now):
        yield field("would fit", printable(str(fit), _REASON), _INDENT)
    bound, used = profile_of(document), document.usage
    if bound is not None and bound.classes:
        how = "by its accounting" if bound.source == "accounting" else "measured"
        yield field("bound by", printable(f"{' or '.join(bound.classes)} ({how})"), _INDENT)
    numbers = {
        "start": max(used.starts or 0, len(runs(document, now))),
        "hold": max(used.holds or 0, sum(one.state is State.HELD for one in spans(document))),
        "requeue": used.requeues or 0,
    }
    if counts := [counted(many, name) for name, many in numbers.items() if many]:
        yield field("counted", ", ".join(counts), _INDENT)


def _life(document: JobDocument, now: int) -> Iterator[str]:
    """A line for each state the job was in: when, and how long in all; a present one until now."""
    stretches = life(document, now)
    if not stretches:
        return
    start = stretches[0].start
    lasts = spans(document)[-1].end is None
    last = max((event.time for event in document.timeline), default=start)
    end = max([start, last, *(one.end or start for one in stretches)])
    size = min(max((width() or 100) - _INDENT - 15, 10), _BAR)
    until = f"{'now' if lasts else moment(end)} ({span((end - start) / 1e6)})"
    if document.outcome is not None and document.outcome.ended is None:
        until = "an unknown time"
    yield ""
    yield field("life", f"{moment(start)} … {until}", _INDENT)
    for state in State:
        if mine := [one for one in stretches if one.state is state]:
            bar = paint(_bar(mine, start, end, size), STATE_COLOURS[state])
            present = lasts and state is stretches[-1].state
            yield f"  {state:<{_INDENT - 2}}{bar}  {span(total(mine), lasts=present)}"
    if lasts:
        yield field("last event", moment(time_of(document)), _INDENT)


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


def _events(document: JobDocument, *, whole: bool) -> Iterator[str]:
    events = [event for event in document.timeline if event.code != EventCode.AD]
    if not events:
        return
    start = submitted(document) or events[0].time
    rows = [
        [
            UNKNOWN if event.undated else moment(event.time),
            "" if event.undated or event.time < start else span((event.time - start) / 1e6),
            event.state or "",
            printable(re.split("[:#]", event.source)[0], 12),
            printable(event_words(event), _REASON),
        ]
        for event in events
    ]
    left_out = 0 if whole else max(len(events) - _FIRST_EVENTS - _LAST_EVENTS, 0)
    if left_out:
        text = f"… {left_out} more: --all-events shows them"
        rows[_FIRST_EVENTS:-_LAST_EVENTS] = [["", "", "", "", text]]
    headings = ["time", "after", "state", "source", "event"]
    yield ""
    yield table(
        headings, rows, ["source", "after", "state"], left=[*headings[2:], "time"], indent=2
    )
    if document.dropped:
        yield f"  {document.dropped} events of the middle were not kept"


def _prediction(one: Prediction) -> list[str]:
    answer = one.answer
    parts = [answer[name] for name in ("answer", "verdict") if isinstance(answer.get(name), str)]
    probability = answer.get("probability")
    if isinstance(probability, float | int):
        parts.append(percent(probability))
    names = (printable(name, 30) for name in (one.question, one.model))
    return [moment(one.time), *names, printable(", ".join(parts) or str(answer), 80)]


def job(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="123.4, 123_4, 123 for all of that number, or whole: slurm:mycluster:123.",
            show_default=False,
        ),
    ],
    cluster: ClusterOption = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File of its output (default: as its record says).",
        ),
    ] = None,
    all_events: Annotated[
        bool, typer.Option("--all-events", help="Show every event of a long timeline.")
    ] = False,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="The job document: for one whole ID alone, else in a list."),
    ] = False,
) -> None:
    """All that is known of a job: why it failed, its life drawn, its events, request and usage."""
    for file in output or ():
        read_end(file)  # a file that was named must be there
    names = list(dict.fromkeys(parse_job_name(one) for one in ids))
    settings = load_settings(config, {"timezone": timezone, "store": store})
    groups: list[list[JobDocument]] = []
    problems: list[str] = []
    with opened_store(settings, names) as opened:
        for name in names:
            try:
                found = find_ids(opened, name, cluster)
            except JobError as error:
                problems.append(str(error))
                continue
            known = opened.get(found)
            groups.append([known[one].document for one in found if one in known])
        documents = [document for group in groups for document in group]
        # The tasks of an array have one name.
        like_of = lru_cache(16)(partial(runs_of_name, opened))
        # `slurm:c:3` may be one job, or all tasks of that array.
        whole = names[0].job != names[0].number or documents[0:1] == [
            one for one in documents if one.id == str(names[0])
        ]
        if as_json and len(ids) == 1 and whole:
            for document in documents:
                say(document_text(document, _efficiency(like_of, document)))
        elif as_json:
            print_documents(documents, partial(_efficiency, like_of))
        else:
            _print(opened, groups, like_of, all_events=all_events, output=output)
    report_problems(problems)


def _like(like_of: _LikeOf, document: JobDocument) -> list[JobDocument]:
    """Ended runs of the same name."""
    job = document.submission
    return like_of(cluster_of(document.id), job.user, job.name)


def _efficiency(like_of: _LikeOf, document: JobDocument) -> dict[str, Any]:
    """The field of JSON that says what an ended job used of what it asked for."""
    if document.outcome is None:
        return {}
    now = now_micros()
    fit = fitted(document, _like(like_of, document), now)
    used = usage_fields(document, fit, now)
    return {"efficiency": used} if used else {}


def _print(
    store: Store,
    groups: list[list[JobDocument]],
    like_of: _LikeOf,
    *,
    all_events: bool,
    output: Sequence[str] | None,
) -> None:
    """A page for each id that means one job, a table for each that means many."""
    for position, group in enumerate(groups):
        if position:
            say("")
        if len(group) > 1:
            print_table(group)
            note(f"{len(group)} jobs have this number; name one of them, such as {group[0].id}")
        elif group:
            siblings, again = other_jobs(store, group[0].id)
            files = output_files(group[0]) if output is None else output
            like = _like(like_of, group[0])
            lines = page(group[0], like, siblings=len(siblings), whole=all_events, output=files)
            say("\n".join(lines))
            if again:
                known = (one.document for one in store.get(again).values())
                shown = ", ".join(f"{one.id} of {one.submission.user}" for one in known)
                note(printable(f"Slurm gave this number to other jobs too: {shown}", 500))
