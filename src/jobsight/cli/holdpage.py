"""What ``jobsight hold`` prints: answers one by one, by cause and cluster, or one row per job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobsight.cli.output import say
from jobsight.cli.terminal import Column, lined, paint, width, wrap
from jobsight.clock import format_micros, format_span
from jobsight.codes import hold_name
from jobsight.format import chance
from jobsight.history.outcomes import PERSONAL_HOLD_CODES
from jobsight.questions.hold.answering.groups import group_answers
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.advice import Advice
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.questions.hold.answering.groups import GroupAnswer

__all__ = ["print_all", "print_answers"]

_COLOURS = {"release": "32", "wait": "36", "fix": "33", "remove": "31", "unsure": "35",
            "user_hold": "90"}  # fmt: skip
_REASON_WIDTH = 240
_COLUMNS = (
    Column("answer"), Column("job"), Column("access point"), Column("if released now", spare=1),
    Column("gain", right=True, spare=2), Column("held for"),
)  # fmt: skip


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
        _print_one(one, when, verbose=verbose)


def _print_one(one: Answer, when: str, *, verbose: bool) -> None:
    whose = f" of {printable(one.owner, 60)}" if one.owner else ""
    say(f"{_paint(one.verdict.verb)}  job {one.job}{whose}{one.place}: {_headline(one)}")
    waited = format_span(max(one.moment - one.held_since, 0) / 1e6)
    _field("held", f"since {format_micros(one.held_since)} ({waited}), {_cause(one)}")
    _field("reason", printable(one.reason, _REASON_WIDTH) or "none given")
    label = "evidence"
    shown: set[tuple[object, object]] = set()
    for finding in one.evidence:
        if finding["what"] == "rules" and not verbose:
            continue
        # What is particular but counts the very same releases says nothing more.
        counts = (finding.get("releases"), finding.get("succeeded"))
        if counts[0] is not None and finding["what"] not in ("mended", "own_releases"):
            if counts in shown:
                continue
            shown.add(counts)
        _field(label, "· " + printable(finding["text"]))
        label = ""
    label = "advice"
    for step in one.advice.numbered():
        _field(label, printable(step.text))
        _command(step.command, 11)
        label = ""
    _field("model", f"{printable(one.model, 80)}, as of {when}")


def _field(label: str, text: str) -> None:
    for number, line in enumerate(_fitted(text, 11)):
        say(f"  {'' if number else label:<9}{line}")


def _fitted(text: str, before: int) -> list[str]:
    """Prose in lines that the terminal has room for behind so many letters; commands stay whole."""
    most = width()
    return [text] if most is None else wrap(text, max(most - before, 20))


def _headline(one: Answer) -> str:
    if one.by_hand and one.hold_code in PERSONAL_HOLD_CODES:
        return "its user's own hand holds it: no prediction"
    if one.by_hand:
        return "not a hold that can be predicted"
    if one.now is None:
        return "no probability, nothing like it has been released yet"
    now = chance(one.now.probability, one.now.low, one.now.high)
    now += " to succeed if released now"
    best = one.verdict.best
    if one.verdict.verb != "wait" or best is None:
        return now

    later = chance(best.probability, best.low, best.high)
    return f"{now}, {later} in {format_span(best.wait)}"


def _cause(one: Answer) -> str:
    if one.hold_code is None:
        return "no hold code told"
    subcode = "" if one.hold_subcode is None else f"/{one.hold_subcode}"
    return f"{hold_name(one.hold_code)} ({one.hold_code}{subcode})"


def _word(verb: str) -> str:
    return verb.replace("_", " ").upper()


def _paint(verb: str, letters: int = 0) -> str:
    return paint(_word(verb).ljust(letters), f"1;{_COLOURS[verb]}")


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
        return
    for group in group_answers(answers):
        _print_group(group)


def _print_group(group: GroupAnswer) -> None:
    first = group.members[0]
    size = counted(len(group.members), "job")
    if len(group.said_for) < len(group.members):
        size = f"{len(group.said_for)} of {size}"
    parts = [f"{size} of {group.place}", _cause(first)]
    if group.probability is not None:
        parts.append(chance(group.probability, group.low, group.high))
    if group.gain > 0:
        parts.append(f"gain {group.gain:.1f}")
    say("")
    say(f"{_paint(group.verb, 8)} " + "  ".join(parts))
    _line(printable(first.reason, 160) or "no reason given")
    _print_steps(group.advice)


def _line(text: str) -> None:
    for line in _fitted(text, 9):
        say(f"{'':9}{line}")


def _print_steps(advice: Advice) -> None:
    for step in advice.numbered():
        _line(printable(step.text))
        _command(step.command, 9)


def _command(command: str | None, before: int) -> None:
    """A command is never broken into lines: it is there to be copied."""
    if command:
        say(" " * before + command)


def _print_rows(answers: Sequence[Answer]) -> None:
    """One row per job under a heading, and below each row what to do."""
    rows, colours = [], {}
    for number, one in enumerate(answers):
        now, gain = one.now, one.verdict.gain
        odds = "–" if now is None else chance(now.probability, now.low, now.high)
        verb = one.verdict.verb
        colours[number, 0] = f"1;{_COLOURS[verb]}"
        place = printable(one.access_point or "–", 60)
        cells = [_word(verb), str(one.job), place, odds, f"{gain:.1f}" if gain > 0 else "–"]
        rows.append([*cells, _cause(one)])
    heading, *lines = lined(_COLUMNS, rows, most=width(), colours=colours, whole=True)
    say("\n".join(heading))
    for one, row in zip(answers, lines, strict=True):
        say("\n".join(row))
        _print_steps(one.advice)
