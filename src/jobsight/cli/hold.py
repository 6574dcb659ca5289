"""``jobsight hold``: it is held; release or remove?

With ``--json`` one job asked for by its full id gives one object; several ids, a cluster, --all and
--each give a list of objects, one a job. Jobs held by their user's own hand are answered with
``unsure``, no probability and the reason, exit status 0. Where some of several ids name no held
job, the others are answered, each of these gives a line on standard error, and the exit status
is 1. With ``--save`` and ``--publish`` too, a job of which the store has no document gives such a
line.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from jobsight.cli.champions import Panel, named_model, seat
from jobsight.cli.common import (
    ConfigOption,
    NetworkOption,
    StoreOption,
    TimezoneOption,
    load_settings,
    note,
    print_json,
    read_history,
    say,
    stages,
)
from jobsight.cli.terminal import paint, width, wrap
from jobsight.errors import JobsightError
from jobsight.ids import JobId
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.hold.answering.groups import GroupAnswer
    from jobsight.settings import Settings

__all__ = ["register"]

_COLOURS = {"release": "32", "wait": "36", "fix": "33", "remove": "31", "unsure": "35"}
_REASON_WIDTH = 240
_END_OF_LOG = " (the end of the log)"
_NOW = " (now; last told of anything {})"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(name="hold")(hold)


def hold(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="JOBID...", help="123.4, 123 for its held jobs, or htcondor:ACCESSPOINT:123.4."
        ),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            help="Event log: file, folder, glob or - for standard input; repeatable "
            "(default: the store)."
        ),
    ] = None,
    store: StoreOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Directory, digest of `models list`, or none for today's rules (default: the "
            "champion of the job's access point, else of the cluster default, else rules)."
        ),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="As of when (default: now of a store, the end of a log).")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every held job, one row a cause and cluster.")
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="As --all, one row a job.")] = False,
    save: Annotated[
        bool, typer.Option("--save", help="Keep the answers in the store, in the jobs' documents.")
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Send the answers to the Kafka topic kafka.answers.")
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="One JSON object a job: for one JOBID 123.4 alone, else in a list."
        ),
    ] = False,
) -> None:
    """Held jobs: release, wait, fix or remove? With probability, evidence and what to do."""
    asked = _asked(jobs or [], every or each)
    settings = load_settings(
        config,
        {"timezone": timezone, "store": store, "hold": {"lstm": {"network": network}}},
    )
    inputs = _inputs(log or [], settings, wanted=store is not None)
    panel, moment, when = _open(inputs, model, at, settings)
    answers, problems = _answers(panel, asked, moment)
    # Kept before they are shown: whoever reads them may go away.
    kept, failure = _keep(answers, settings, save=save, publish=publish)
    if as_json:
        _print_json(answers, single=len(asked) == 1 and asked[0].job.proc is not None)
    elif asked:
        _print_answers(answers, when)
    else:
        _print_all(answers, when, each=each)
    if failure is not None:
        raise failure
    _tell(problems + kept)


def _keep(
    answers: list[Answer], settings: Settings, *, save: bool, publish: bool
) -> tuple[list[str], JobsightError | None]:
    """Save and publish, where it is wanted; what could not be kept, and why all could not."""
    from jobsight.cli.saving import keep_answers

    if not save and not publish:
        return [], None
    try:
        return keep_answers(answers, settings, save=save, publish=publish), None
    except JobsightError as error:
        return [], error


class _Asked(NamedTuple):
    """A job, or all of a cluster; of any access point, or of one."""

    job: JobId
    access_point: str | None = None


def _inputs(logs: list[str], settings: Settings, *, wanted: bool) -> list[str]:
    """What to read: the logs named, and the store where it is named, or no log is.

    Raises:
        UsageError: neither logs nor a store are named, and none is where it usually is.
    """
    from jobsight.errors import UsageError

    if wanted:
        return [*logs, "store:"]
    if logs:
        return logs
    if "store" in settings.model_fields_set or Path(settings.store.url).expanduser().exists():
        return ["store:"]
    raise UsageError("name the event log with --log FILE, or the store with --store URL")


def _answers(panel: Panel, asked: list[_Asked], moment: int) -> tuple[list[Answer], list[str]]:
    """The answers for the ids asked for, else for all held jobs; and what is wrong with the ids."""
    from jobsight.questions.hold.answering.groups import by_use
    from jobsight.questions.hold.answering.lookup import current_jobs, find_held

    answerer = panel.first
    if not asked:
        held = answerer.held(moment, current_jobs(answerer.history, moment))
        return by_use(panel.answer(held, moment)), []
    held, problems = find_held(answerer, [one.job for one in asked], moment)
    answers = [
        answer for answer in panel.answer(held, moment) if any(_is_of(answer, one) for one in asked)
    ]
    elsewhere = [
        f"job {one.job} is held, but not on {one.access_point}"
        for one in asked
        if one.access_point is not None
        and not any(_is_of(answer, one) for answer in answers)
        and len(find_held(answerer, [one.job], moment)[0])
    ]
    return answers, problems + elsewhere


def _is_of(answer: Answer, asked: _Asked) -> bool:
    """Whether the answer is for a job that was asked for."""
    if asked.access_point not in (None, answer.access_point):
        return False
    whole_cluster = asked.job.proc is None and answer.job.cluster == asked.job.cluster
    return whole_cluster or answer.job == asked.job


def _tell(problems: list[str]) -> None:
    from jobsight.errors import JobError

    for line in problems[:-1]:
        note(f"jobsight: {printable(line)}")
    if problems:
        raise JobError(printable(problems[-1]))


def _asked(jobs: list[str], every: bool) -> list[_Asked]:
    from jobsight.errors import UsageError

    if every and jobs:
        raise UsageError("name jobs, or ask for --all (or --each), not both")
    if not every and not jobs:
        raise UsageError("name at least one job, such as 123.4, or ask for --all")
    return [_parsed(job) for job in jobs]


def _parsed(text: str) -> _Asked:
    from jobsight.documents import parse_key
    from jobsight.errors import UsageError
    from jobsight.ids import parse_job_id

    if ":" not in text:
        return _Asked(parse_job_id(text))
    key = parse_key(text)
    if key.scheduler != "htcondor":
        raise UsageError(f"{printable(text, 60)} is no HTCondor job; only these are held and asked")
    # A log that names no access point is known by its hash.
    named = None if re.fullmatch(r"log-[0-9a-f]{8}", key.cluster) else key.cluster
    return _Asked(parse_job_id(key.job), named)


def _open(
    logs: list[str], model: str | None, at: str | None, settings: Settings
) -> tuple[Panel, int, str]:
    """Who answers, the moment asked about (µs), and that moment in words."""
    from jobsight.cli.reading import is_store
    from jobsight.clock import format_micros, micros, parse_moment, zone_named

    given = None if at is None else micros(parse_moment(at, zone_named(settings.timezone)))
    named = named_model(model, settings)
    history, _, _ = read_history(logs, settings, hashed=False)
    with stages() as progress:
        progress("indexing")
        panel = seat(history, settings, name=model, model=named)
    end = int(history.clock.max())
    if given is not None:
        return panel, given, format_micros(given)
    if not any(is_store(one) for one in logs):
        return panel, end, format_micros(end) + _END_OF_LOG
    # What is in a store is being collected: a job that nothing was told of is held until now.
    moment = max(end, time.time_ns() // 1_000_000 * 1000)
    return panel, moment, format_micros(moment) + _NOW.format(format_micros(end))


def _print_json(answers: list[Answer], *, single: bool) -> None:
    objects = [one.to_json() for one in answers]
    if not single:
        print_json(objects)
    elif objects:
        # One id may name jobs of several access points.
        print_json(objects[0] if len(objects) == 1 else objects)


def _print_answers(answers: list[Answer], when: str) -> None:
    for number, one in enumerate(answers):
        if number:
            say("")
        _print_one(one, when)


def _print_one(one: Answer, when: str) -> None:
    from jobsight.clock import format_micros, format_span

    place = f" on {printable(one.access_point, 60)}" if one.access_point else ""
    say(f"{_paint(one.verdict.verb)}  job {one.job}{place}: {_headline(one)}")
    waited = format_span(max(one.moment - one.held_since, 0) / 1e6)
    _field("held", f"since {format_micros(one.held_since)} ({waited}), {_cause(one)}")
    _field("reason", printable(one.reason, _REASON_WIDTH) or "none given")
    label = "evidence"
    shown: set[tuple[object, object]] = set()
    for finding in one.evidence:
        # What is particular but counts the very same releases says nothing more.
        counts = (finding.get("releases"), finding.get("succeeded"))
        if counts[0] is not None and finding["what"] not in ("mended", "own_releases"):
            if counts in shown:
                continue
            shown.add(counts)
        _field(label, "· " + printable(finding["text"]))
        label = ""
    _field("advice", printable(one.advice.text))
    if one.advice.command:
        say(f"{'':11}{one.advice.command}")
    _field("model", f"{printable(one.model, 80)}, as of {when}")


def _field(label: str, text: str) -> None:
    for number, line in enumerate(_fitted(text, 11)):
        say(f"  {'' if number else label:<9}{line}")


def _fitted(text: str, before: int) -> list[str]:
    """Prose in lines that the terminal has room for behind so many letters; commands stay whole."""
    most = width()
    return [text] if most is None else wrap(text, max(most - before, 20))


def _headline(one: Answer) -> str:
    from jobsight.history.outcomes import PERSONAL_HOLD_CODES

    if one.by_hand and one.hold_code in PERSONAL_HOLD_CODES:
        return "its user's own hand holds it: no prediction"
    if one.by_hand:
        return "not a hold that can be predicted"
    if one.now is None:
        return "no probability, nothing like it has been released yet"
    now = f"{_chance(one.now.probability, one.now.low, one.now.high)} to succeed if released now"
    best = one.verdict.best
    if one.verdict.verb != "wait" or best is None:
        return now
    from jobsight.clock import format_span

    later = _chance(best.probability, best.low, best.high)
    return f"{now}, {later} in {format_span(best.wait)}"


def _chance(probability: float, low: float | None, high: float | None) -> str:
    from jobsight.questions.hold.answering.wording import percent

    if low is None or high is None:
        return percent(probability)
    return f"{percent(probability)} ({percent(low).removesuffix(' %')}–{percent(high)})"


def _cause(one: Answer) -> str:
    from jobsight.history.codes import hold_name

    if one.hold_code is None:
        return "no hold code told"
    subcode = "" if one.hold_subcode is None else f"/{one.hold_subcode}"
    return f"{hold_name(one.hold_code)} ({one.hold_code}{subcode})"


def _paint(verb: str, letters: int = 0) -> str:
    return paint(verb.upper().ljust(letters), f"1;{_COLOURS[verb]}")


def _print_all(answers: list[Answer], when: str, *, each: bool) -> None:
    from jobsight.questions.hold.answering.groups import group_answers

    if not answers:
        say(f"no job is held as of {when}")
        return
    models = sorted({printable(one.model, 80) for one in answers if not one.by_hand})
    say(f"{counted(len(answers), 'job')} held as of {when}; model: {', '.join(models) or 'none'}")
    if each:
        for one in answers:
            _print_row(one)
        return
    for group in group_answers(answers):
        _print_group(group)


def _print_group(group: GroupAnswer) -> None:

    first = group.members[0]
    size = counted(len(group.members), "job")
    if len(group.said_for) < len(group.members):
        size = f"{len(group.said_for)} of {size}"
    parts = [f"{size} of cluster {first.job.cluster}", _cause(first)]
    if group.probability is not None:
        parts.append(_chance(group.probability, group.low, group.high))
    if group.gain > 0:
        parts.append(f"gain {group.gain:.1f}")
    say("")
    say(f"{_paint(group.verb, 8)} " + "  ".join(parts))
    _line(printable(first.reason, 160) or "no reason given")
    _line(printable(group.advice.text))
    if group.advice.command:
        say(f"{'':9}{group.advice.command}")


def _line(text: str) -> None:
    for line in _fitted(text, 9):
        say(f"{'':9}{line}")


def _print_row(one: Answer) -> None:
    chance = "–"
    if one.now is not None:
        chance = _chance(one.now.probability, one.now.low, one.now.high)
    gain = f"{one.verdict.gain:.1f}" if one.verdict.gain > 0 else "–"
    # A trial is for several jobs together: it stands in the rows of --all.
    command = (one.advice.command if one.verdict.verb != "unsure" else None) or "–"
    told = f"{one.job!s:<12} {chance:<18} {gain:>5}  {_cause(one):<32}"
    most = width()
    beside = most is None or 9 + len(told) + 1 + len(command) <= most
    say(f"{_paint(one.verdict.verb, 8)} {f'{told} {command}' if beside else told.rstrip()}")
    if not beside and command != "–":
        say(f"{'':9}{command}")
