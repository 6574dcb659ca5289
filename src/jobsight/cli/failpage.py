"""What ``jobsight fail`` prints: answers one by one, or a table by cause or one row per job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobsight.cli.asking import title
from jobsight.cli.output import say
from jobsight.cli.tables import table
from jobsight.cli.terminal import field, paint
from jobsight.format import UNKNOWN, chance, hours, percent
from jobsight.questions.fail.evidence import Advice
from jobsight.questions.fail.groups import by_cause
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.questions.fail.answering import Answer
    from jobsight.questions.fail.groups import Group

__all__ = ["print_answers", "print_table"]

_INDENT = 11
_SHOWN_KIND = 0.05
_HIGH, _SOME = 0.5, 0.2


def print_answers(answers: Sequence[Answer], when: str) -> None:
    """Print each answer with its evidence; `when`: the moment asked about, in words."""
    for number, one in enumerate(answers):
        if number:
            say("")
        risk = "no probability, no job has ended yet:"
        if one.probability is not None:
            chances = chance(one.probability, one.low, one.high)
            risk = _painted(f"{chances} to fail", one.probability)
        say(f"{risk}  {title(one.job)}")
        kinds = [
            f"{kind.replace('_', ' ')} {percent(share)}"
            for kind, share in one.kinds.items()
            if share >= _SHOWN_KIND
        ]
        if kinds:
            say(field("if so", ", ".join(kinds), _INDENT))
        for label, finding in zip(["evidence", *[""] * 9], one.evidence, strict=False):
            say(field(label, f"· {printable(finding['text'])}", _INDENT))
        if one.advice is not None:
            say(field("advice", _advice(one.advice), _INDENT))
        if one.with_advice is not None:
            like = counted(one.advice.known if one.advice else 0, "like run")
            say(field("", f"{percent(one.with_advice)} to fail with it ({like} had it)", _INDENT))
        if one.at_stake is not None:
            say(field("at stake", f"{hours(one.at_stake)} core-hours", _INDENT))
        say(field("model", f"{printable(one.model, 80)}, as of {when}", _INDENT))


def _advice(advice: Advice) -> str:
    text = printable(advice.text)
    return text if advice.option is None else f"{text}: {advice.option}"


def _painted(text: str, probability: float | None) -> str:
    if probability is None:
        return text
    return paint(text, "31" if probability >= _HIGH else "33" if probability >= _SOME else "32")


def print_table(answers: Sequence[Answer], queue: str, when: str, *, each: bool) -> None:
    """Print many answers, those with the most core-hours at stake first.

    Args:
        answers: to print.
        queue: which jobs they are, in a word.
        when: the moment asked about, in words.
        each: one row per job, else one per cause.
    """
    if not answers:
        say(f"no job is {queue} as of {when}")
        return
    models = ", ".join(sorted({printable(one.model, 80) for one in answers}))
    say(f"{counted(len(answers), 'job')} {queue} as of {when}; model: {models}")
    expected = sum(one.probability or 0.0 for one in answers)
    at_stake = [one.at_stake for one in answers if one.at_stake is not None]
    lost = f", {hours(sum(at_stake))} core-hours at stake" if at_stake else ""
    say(f"{expected:,.1f} expected to fail{lost}")
    say("")
    headings = ["fails", "at stake", "jobs", "user", "name", "likely", "advice"]
    rows = [_row(group) for group in by_cause(answers, each=each)]
    left = ["jobs", "user", "name", "likely", "advice"]
    say(table(headings, rows, ["advice", "name", "user"], left=left))


def _row(group: Group) -> list[str]:
    first = group.members[0]
    stake = group.at_stake
    likely = "" if first.kind is None else first.kind.replace("_", " ")
    probability = group.probability
    return [
        _painted(percent(probability), probability),
        UNKNOWN if stake is None else f"{hours(stake)} h",
        printable(group.jobs, 60),
        printable(first.job["owner"] or first.job["account"] or UNKNOWN, 40),
        printable(first.job["name"] or UNKNOWN, 40),
        likely,
        "" if first.advice is None else _advice(first.advice),
    ]
