"""``jobsight hold``: it is held; release or remove?

With ``--json`` one job asked for by its full id gives one object; several ids, a cluster, --all and
--each give a list of objects, one a job. Jobs held by their user's own hand are answered with
``user_hold``, no probability and the reason, exit status 0. Where some of several ids name no held
job, the others are answered, each of these gives a line on standard error, and the exit status
is 1. With ``--save`` and ``--publish`` too, a job of which the store has no document gives such a
line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from jobsight.answering.session import AnswerSession
from jobsight.cli.asking import open_session, own_inputs
from jobsight.cli.common import (
    AnswerModelOption,
    AtOption,
    ConfigOption,
    LogOption,
    NetworkOption,
    SaveOption,
    StoreOption,
    TimezoneOption,
    UserOption,
    caller,
    load_settings,
)
from jobsight.cli.output import note, print_objects, report_problems, say
from jobsight.cli.terminal import field, fold, paint, table, wrap
from jobsight.clock import format_span
from jobsight.codes import hold_name
from jobsight.documents import parse_key
from jobsight.errors import UsageError
from jobsight.format import UNKNOWN, chance, moment
from jobsight.history.outcomes import PERSONAL_HOLD_CODES
from jobsight.ids import parse_job_name
from jobsight.learning.reading import are_documents, is_pipe
from jobsight.program.site import Site
from jobsight.questions.hold.answerable import HOLD_ANSWERS
from jobsight.questions.hold.answering.advice import other_holder
from jobsight.questions.hold.answering.fixes import known_fix
from jobsight.questions.hold.answering.groups import by_use, group_answers
from jobsight.questions.hold.answering.heldjob import Held, Pool
from jobsight.questions.hold.examples.decisions import held_name
from jobsight.questions.hold.heldqueue import HeldQueue, here
from jobsight.questions.hold.question import HOLD
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.answering.session import AnswerSession
    from jobsight.questions.hold.answering.advice import Advice
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.hold.answering.heldjob import Held, Pool
    from jobsight.questions.hold.examples.decisions import HeldName
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["answers_now", "hold", "print_all", "print_answers", "session_of_held", "usual_fix"]

_UNNAMED = re.compile(r"log-[0-9a-f]{8}", re.ASCII)


def hold(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOBID...]",
            help="123.4, 123 for its held jobs, or htcondor:ACCESSPOINT:123.4 (default: the "
            "caller's own held jobs).",
        ),
    ] = None,
    log: LogOption = None,
    store: StoreOption = None,
    model: AnswerModelOption = None,
    at: AtOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every held job, by cause and cluster.")
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="As --all, one row per job.")] = False,
    user: UserOption = None,
    save: SaveOption = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Send the answers to the Kafka topic kafka.answers.")
    ] = False,
    site: Annotated[
        Path | None,
        typer.Option(
            help="Folder with condor_status.ads, what `condor_status -long` printed: no request is "
            "proposed that no slot has (default: for a store or this machine's own log, its pool)."
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also show what rule sets of other sites would do.")
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One JSON object for one JOBID 123.4 alone, else a list."),
    ] = False,
) -> None:
    """Held jobs: release, wait, fix or remove? With probability, evidence and what to do."""
    if jobs and (every or each or user):
        raise UsageError("name jobs, or ask for --all, --each or --user, not both")
    names = [parse_job_name(job) for job in jobs or []]
    asked = [held_name(name) for name in names]
    settings = load_settings(
        config,
        {"timezone": timezone, "store": store, "hold": {"lstm": {"network": network}}},
        HOLD,
    )
    inputs, live = _inputs(log or [], settings, wanted=store is not None)
    session, queue, pool = _opened(
        settings, inputs, asked, live=live, model=model, at=at, site=site, kept=save or publish
    )
    owner = user or (None if asked or every or each else caller())
    # A log that is named has the jobs that it has; those that are named may be elsewhere.
    others = queue.others(session, owner, pool) if live or asked else []
    if asked:
        left = [
            name
            for name, named in zip(names, asked, strict=True)
            if not any(named.covers(other.job, other.access_point) for other in others)
        ]
        answers, problems = session.answer_names(left)
        answers += others
    else:
        answers, problems = by_use(_of_owner(session, owner, pool) + others), []
    try:
        # Kept before they are shown: the reader of the output may go away.
        if save or publish:
            from jobsight.cli.saving import keep_answers

            problems += keep_answers(
                "hold", answers, settings, save=save, publish=publish, documents=_documents
            )
    finally:
        if as_json:
            # One id may name jobs of several access points.
            print_objects(answers, single=len(asked) == 1 and asked[0].job.proc is not None)
        elif asked:
            print_answers(answers, session.when, verbose=verbose)
        else:
            print_all(answers, session.when, owner, each=each)
    report_problems(problems)


def _opened(
    settings: Settings, inputs: list[str], asked: Sequence[HeldName],
    *, live: bool = True, model: str | None = None, at: str | None = None,
    site: Path | None = None, kept: bool = False,
) -> tuple[AnswerSession[Answer], HeldQueue, Pool]:  # fmt: skip
    """The session that answers, with this machine's queue and what is known of its pool."""
    # Not the setting access_point: it may name the place that a copied log is from.
    schedd = here(settings)
    queue = HeldQueue(settings, schedd if at is None else None, asked, note)
    pool = queue.pool(partial(_log_files, settings)) if live else Pool(dict, dict, queue.ads)
    if site is not None:
        pool = replace(pool, largest=cache(partial(dict, Site.saved(site).largest_slot)))
    # What is kept may be read on other machines: there the schedd is always named.
    pool = replace(pool, here=None if kept else schedd)
    session = open_session(
        HOLD_ANSWERS, settings, inputs, live=live, model=model, at=at,
        adapt=lambda answerer: answerer.within(pool),
    )  # fmt: skip
    return session, queue, pool


def _log_files(settings: Settings) -> list[str]:
    # A call that names a log or a store does without the reader of logs.
    from jobsight.service.configured import log_files

    return log_files(settings)


def session_of_held(
    settings: Settings, logs: list[str], *, wanted: bool, model: str | None
) -> tuple[AnswerSession[Answer], HeldQueue, Pool]:
    """What answers as of now for all held jobs; see `HeldQueue.answers`.

    `logs` and `wanted` (the store) are what is read; where neither is named, see `own_inputs`.

    Raises:
        JobsightError: nothing can be read, or there is no such model.
    """
    inputs, _ = _inputs(logs, settings, wanted=wanted)
    return _opened(settings, inputs, [], model=model)


def _documents(store: Store, answer: Answer) -> list[str]:
    """The ids of documents that it may be of; where no log names the access point, by job."""
    from jobsight.cli.saving import by_id

    if answer.id is not None:
        return by_id(store, answer)
    keys = ((id_, parse_key(id_)) for id_ in store.numbered(str(answer.job.cluster)))
    return [
        id_
        for id_, key in keys
        if key.scheduler == "htcondor"
        and key.job == str(answer.job)
        and _UNNAMED.fullmatch(key.cluster)
    ]


def _inputs(logs: list[str], settings: Settings, *, wanted: bool) -> tuple[list[str], bool]:
    """What to read, and whether more may be written to it meanwhile.

    The logs named, and the store if it is named; where nothing is, see `own_inputs`.

    Raises:
        JobsightError: as by `own_inputs`.
    """
    if wanted:
        return [*logs, "store:"], True
    if logs:
        # More is written to a store; a log or a snapshot is taken as it is.
        files = (one for one in logs if not is_pipe(one) and not Path(one).is_dir())
        return logs, any(map(are_documents, files))
    return own_inputs(settings, events=True), True


def _of_owner(session: AnswerSession[Answer], owner: str | None, pool: Pool) -> list[Answer]:
    """The answers for the held jobs of an owner; None: for all."""
    if owner is None:
        return session.answer(pl.lit(value=True))
    held = session.jobs()
    ads = pool.ads(held)
    of_queue = pl.Series([ads.get(job, {}).get("Owner") for job in held["job"]], dtype=pl.String)
    owners = held["owner"].fill_null(of_queue)
    if unknown := owners.null_count():
        note(f"of {counted(unknown, 'job')} no owner is recorded: they may be of others")
    mine = held["job"].filter((owners == owner).fill_null(value=True))
    return session.answer(pl.col("job").is_in(mine.to_list()))


def answers_now(settings: Settings, inputs: list[str], ids: Sequence[str]) -> dict[str, Answer]:
    """The answers as of now for the held jobs of these ids, by id."""
    names = {id_: parse_job_name(id_) for id_ in ids}
    session, _, _ = _opened(settings, inputs, [held_name(name) for name in names.values()])
    answers = {id_: session.answer_names([name])[0] for id_, name in names.items()}
    return {id_: found[0] for id_, found in answers.items() if found}


_COLOURS = {"release": "32", "wait": "36", "fix": "33", "remove": "31", "unsure": "35",
            "user_hold": "90"}  # fmt: skip
_INDENT = 11


def usual_fix(code: int, reason: str) -> str | None:
    """What to do about holds of a code and a reason (hostile text), of whatever jobs."""
    fix = known_fix(Held(code, None, reason))
    return None if fix is None else fix.text


def print_answers(answers: Sequence[Answer], when: str, *, verbose: bool) -> None:
    """Print each answer with its evidence; `verbose`: also the rule sets of other sites."""
    for number, answer in enumerate(answers):
        if number:
            say("")
        whose = f" of {printable(answer.owner, 60)}" if answer.owner else ""
        verb = _verb(answer)
        say(fold(f"{verb}  job {answer.job}{whose}{answer.place}: {_headline(answer)}"))
        held_s = max(answer.moment - answer.held_since, 0) / 1e6
        since = f"{moment(answer.held_since)} ({format_span(held_s)})"
        label, at = ("vacated", "at") if answer.vacated else ("held", "since")
        say(field(label, f"{at} {since}, {_cause(answer)}", _INDENT))
        say(field("reason", printable(answer.reason) or "none given", _INDENT))
        label = "evidence"
        shown: set[tuple[object, object]] = set()
        for finding in answer.evidence:
            if finding["what"] == "rules" and not verbose:
                continue
            # A narrower group of releases with the same counts is the same releases.
            counts = (finding.get("releases"), finding.get("succeeded"))
            if counts[0] is not None and finding["what"] not in ("fixed", "own_releases"):
                if counts in shown:
                    continue
                shown.add(counts)
            say(field(label, f"· {printable(finding['text'])}", _INDENT))
            label = ""
        _print_steps(answer.advice, "advice")
        say(field("model", f"{printable(answer.model, 80)}, as of {when}", _INDENT))


def _headline(one: Answer) -> str:
    if one.by_hand and (holder := other_holder(one.hold_code, one.reason, one.owner)):
        return f"held by {holder}, not by its owner: no prediction"
    if one.by_hand and one.hold_code in PERSONAL_HOLD_CODES:
        return "held by its user's own hand: no prediction"
    if one.by_hand:
        return "not a hold that can be predicted"
    if one.now is None and one.fix is not None and one.fix.first:
        return "no probability: as it is it would be held again"
    if one.now is None:
        return "no probability, nothing like it has been released yet"
    when = "if it runs again now" if one.vacated else "if released now"
    now = f"{chance(one.now.probability, one.now.low, one.now.high)} to succeed {when}"
    best = one.verdict.best
    if one.verdict.verb != "wait" or best is None:
        return now
    later = chance(best.probability, best.low, best.high)
    return f"{now}, {later} in {format_span(best.wait)}"


def _cause(one: Answer) -> str:
    if one.hold_code is None:
        return "hold code unknown"
    subcode = "" if one.hold_subcode is None else f"/{one.hold_subcode}"
    return f"{hold_name(one.hold_code)} ({one.hold_code}{subcode})"


def _verb(of: Answer, verb: str | None = None, size: int = 0) -> str:
    """What is said of a job, or of the group that it is the first of."""
    verb = verb or of.verdict.verb
    word = "run again" if of.vacated and verb == "release" else verb.replace("_", " ")
    return paint(word.upper().ljust(size), f"1;{_COLOURS[verb]}")


def print_all(answers: Sequence[Answer], when: str, owner: str | None, *, each: bool) -> None:
    """Print many answers by cause and cluster; `owner`: whose alone; `each`: one row per job."""
    of = "" if owner is None else f" of {printable(owner, 60)}"
    if not answers:
        say(fold(f"no job{of} is held as of {when}"))
        return
    models = sorted({printable(one.model, 80) for one in answers if not one.by_hand})
    size = counted(len(answers), "job") + of
    state = "held or vacated by a fault" if any(one.vacated for one in answers) else "held"
    say(fold(f"{size} {state} as of {when}; model: {', '.join(models) or 'none'}"))
    if each:
        _print_rows(answers)
        return
    for group in group_answers(answers):
        first = group.members[0]
        size = counted(len(group.members), "job")
        if len(group.said_for) < len(group.members):
            size = f"{len(group.said_for)} of {size}"
        parts = [_verb(first, group.verb, 8), f"{size} of {group.place} ", f"{_cause(first)} "]
        if group.probability is not None:
            parts.append(f"{chance(group.probability, group.low, group.high)} ")
        if group.gain > 0:
            parts.append(f"gain {group.gain:.1f}")
        say("")
        say(fold(" ".join(parts).rstrip(), 9))
        for line in wrap(printable(first.reason, 160) or "no reason given", 9):
            say(f"{'':9}{line}")
        _print_steps(group.advice, indent=9)


def _print_steps(advice: Advice, label: str = "", indent: int = _INDENT) -> None:
    """What to do; a command is never broken into lines: it is there to be copied."""
    for step in advice.numbered():
        say(field(label, printable(step.text), indent))
        if step.command:
            say(" " * indent + step.command)
        label = ""


def _print_rows(answers: Sequence[Answer]) -> None:
    """One row per job, and below the table what to do for each."""
    rows = []
    for answer in answers:
        now, gain = answer.now, answer.verdict.gain
        rows.append([
            _verb(answer),
            str(answer.job),
            printable(answer.access_point or UNKNOWN, 60),
            UNKNOWN if now is None else chance(now.probability, now.low, now.high),
            f"{gain:.1f}" if gain > 0 else UNKNOWN,
            _cause(answer),
        ])  # fmt: skip
    headings = ["answer", "job", "access point", "if released now", "gain", "held for"]
    left = [name for name in headings if name != "gain"]
    say(table(headings, rows, ["gain", "if released now"], left=left))
    for one in answers:
        _print_steps(one.advice, str(one.job))
