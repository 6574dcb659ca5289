"""What ``jobsight hold`` prints: answers one by one, by cause and cluster, or one row per job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.cli.output import say
from jobsight.cli.terminal import field, paint, wrap
from jobsight.clock import format_micros, format_span
from jobsight.codes import hold_name
from jobsight.format import UNKNOWN, chance
from jobsight.history.outcomes import PERSONAL_HOLD_CODES
from jobsight.questions.hold.answering.advice import other_holder
from jobsight.questions.hold.answering.groups import group_answers
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jobsight.questions.hold.answering.advice import Advice
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.hold.answering.groups import GroupAnswer

__all__ = ["print_all", "print_answers"]

_COLOURS = {"release": "32", "wait": "36", "fix": "33", "remove": "31", "unsure": "35",
            "user_hold": "90"}  # fmt: skip
_INDENT = 11


def print_answers(answers: Sequence[Answer], when: str, *, verbose: bool) -> None:
    """Print each answer with its evidence.

    Args:
        answers: what is printed.
        when: the moment asked about, in words.
        verbose: also what the rule sets of other sites would do.
    """
    for number, one in enumerate(answers):
        if number:
            say("")
        whose = f" of {printable(one.owner, 60)}" if one.owner else ""
        say(f"{_verb(one.verdict.verb)}  job {one.job}{whose}{one.place}: {_headline(one)}")
        held_s = max(one.moment - one.held_since, 0) / 1e6
        since = f"{format_micros(one.held_since)} ({format_span(held_s)})"
        say(field("held", f"since {since}, {_cause(one)}", _INDENT))
        say(field("reason", printable(one.reason, 240) or "none given", _INDENT))
        for label, text in zip(["evidence", *[""] * 99], _evidence(one, verbose), strict=False):
            say(field(label, f"· {text}", _INDENT))
        _print_steps(one.advice, "advice")
        say(field("model", f"{printable(one.model, 80)}, as of {when}", _INDENT))


def _evidence(one: Answer, verbose: bool) -> list[str]:
    """The findings that say something more than those before them."""
    texts = []
    shown: set[tuple[object, object]] = set()
    for finding in one.evidence:
        if finding["what"] == "rules" and not verbose:
            continue
        # A narrower group of releases with the same counts is the same releases.
        counts = (finding.get("releases"), finding.get("succeeded"))
        if counts[0] is not None and finding["what"] not in ("fixed", "own_releases"):
            if counts in shown:
                continue
            shown.add(counts)
        texts.append(printable(finding["text"]))
    return texts


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
    now = chance(one.now.probability, one.now.low, one.now.high) + " to succeed if released now"
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


def _verb(verb: str, size: int = 0) -> str:
    return paint(verb.replace("_", " ").upper().ljust(size), f"1;{_COLOURS[verb]}")


def print_all(answers: Sequence[Answer], when: str, owner: str | None, *, each: bool) -> None:
    """Print many answers by cause and cluster; `owner`: whose alone; `each`: one row per job."""
    of = "" if owner is None else f" of {printable(owner, 60)}"
    if not answers:
        say(f"no job{of} is held as of {when}")
        return
    models = sorted({printable(one.model, 80) for one in answers if not one.by_hand})
    size = counted(len(answers), "job") + of
    say(f"{size} held as of {when}; model: {', '.join(models) or 'none'}")
    if each:
        _print_rows(answers)
    else:
        for group in group_answers(answers):
            _print_group(group)


def _print_group(group: GroupAnswer) -> None:
    first = group.members[0]
    size = counted(len(group.members), "job")
    if len(group.said_for) < len(group.members):
        size = f"{len(group.said_for)} of {size}"
    parts = [_verb(group.verb, 8), f"{size} of {group.place} ", f"{_cause(first)} "]
    if group.probability is not None:
        parts.append(f"{chance(group.probability, group.low, group.high)} ")
    if group.gain > 0:
        parts.append(f"gain {group.gain:.1f}")
    say("")
    say(" ".join(parts).rstrip())
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
    from jobsight.cli.tables import table  # the common answers do without

    rows = []
    for one in answers:
        now, gain = one.now, one.verdict.gain
        rows.append([
            _verb(one.verdict.verb),
            str(one.job),
            printable(one.access_point or UNKNOWN, 60),
            UNKNOWN if now is None else chance(now.probability, now.low, now.high),
            f"{gain:.1f}" if gain > 0 else UNKNOWN,
            _cause(one),
        ])  # fmt: skip
    headings = ["answer", "job", "access point", "if released now", "gain", "held for"]
    left = [name for name in headings if name != "gain"]
    say(table(headings, rows, ["gain", "if released now"], left=left))
    for one in answers:
        _print_steps(one.advice, str(one.job))
