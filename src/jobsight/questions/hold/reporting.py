"""What the report on held jobs adds: the pool, the jobs held at a moment, one job's frames.

A report for demonstration asks about the moment that shows most: many jobs held, whose outcomes the
log records later. What came later is shown next to the answers, and is never known to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_micros, format_span
from jobsight.format import moment as shown_moment
from jobsight.format import percent
from jobsight.history.frames import FrameIndex
from jobsight.history.labels import RowLabels
from jobsight.history.pooltime import pool_timeline, short_cause
from jobsight.history.reasons import mask
from jobsight.history.timelines import SECOND, History, Ints
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.answering.answer import Answer, Answerer
from jobsight.questions.hold.answering.groups import GroupAnswer, by_use, group_answers
from jobsight.questions.hold.answering.verdict import Verb
from jobsight.questions.hold.examples.builder import frames_of
from jobsight.questions.hold.examples.decisions import HeldHistory, held_jobs
from jobsight.reports.page import Markup, element, figure, join, section, table
from jobsight.reports.plots import frames_plot, timeline_plot
from jobsight.reports.scores import answer_rows
from jobsight.reports.shown import OwnParts, Shown
from jobsight.text import printable

__all__ = ["ShownJobs", "hold_parts", "jobs_part", "later_outcomes", "richest_moment"]


def richest_moment(decisions: pl.DataFrame, since: int) -> int | None:
    """The moment at which the fates of the jobs then held are most various.

    It is the whole second, not before `since`, at which ``min(successes, failures)`` among the jobs
    that are held, and whose next release has an outcome, is greatest; then the one with the most
    jobs; then the earliest.

    Args:
        decisions: `hold_decisions`, with its `hold_time`, `released` and `outcome`.
        since: µs since 1970, such as the start of the test part, so that no answer is about a job
            whose fate taught the model.

    Returns:
        µs since 1970; None where no job is held after `since` and released later.
    """
    known = decisions.filter(
        pl.col("outcome").is_not_null(), pl.col("released") > max(since, 0) + SECOND
    )
    if not len(known):
        return None
    held, released = known["hold_time"].to_numpy(), known["released"].to_numpy()
    success = known["outcome"].cast(pl.Boolean).to_numpy()
    # Only a hold makes the counts grow, so the best second begins just after one.
    moments = np.unique(np.maximum(-(-held // SECOND), -(-since // SECOND)) * SECOND)
    good = _standing(held[success], released[success], moments)
    bad = _standing(held[~success], released[~success], moments)
    if not (good + bad).max(initial=0):
        return None
    best = np.lexsort((moments, -(good + bad), -np.minimum(good, bad)))[0]
    return int(moments[best])


def _standing(held: Ints, released: Ints, moments: Ints) -> Ints:
    """How many are held at each moment: held at or before it, released after it."""
    begun = np.searchsorted(np.sort(held), moments, side="right")
    ended = np.searchsorted(np.sort(released), moments, side="right")
    standing: NDArray[np.int64] = (begun - ended).astype(np.int64)
    return standing


def later_outcomes(decisions: pl.DataFrame, moment: int) -> dict[tuple[str | None, str], bool]:
    """How the next release of each job held at `moment` (µs) ended, as the log records later.

    Args:
        decisions: `hold_decisions`.
        moment: µs since 1970.

    Returns:
        by access point and job id (``1231.11``): whether it succeeded; jobs without a known outcome
        are left out.
    """
    known = decisions.filter(
        pl.col("hold_time") <= moment,
        pl.col("released") > moment,
        pl.col("outcome").is_not_null(),
    )
    ids = known.select(pl.format("{}.{}", "cluster", "proc")).to_series()
    outcomes = known["outcome"].cast(pl.Boolean)
    return dict(zip(zip(known["access_point"], ids, strict=True), outcomes, strict=True))


_VERBS: tuple[Verb, ...] = get_args(Verb)
_OPEN = 8
_FINDINGS = 5


_WORDS = {
    "release": "Released as it is, the job is likely enough to succeed that trying pays.",
    "wait": "It is better released later: by then what failed is likely over.",
    "fix": "Released as it is, it would fail again; what to fix is known and next to it.",
    "remove": "It would fail whenever it is released, no fix is known, and like jobs failed "
    "before.",
    "unsure": "Too little is known. Where many wait alike, releasing a few is a cheap way to know.",
    "user hold": "Its user holds it, or its input is being spooled: nothing to decide.",
    "P(success)": "The probability that the job, released as it is, terminates with return value 0 "
    "before it is held again or removed by policy.",
    "gain": "What the answer is expected to save, in wasted runs.",
}


@dataclass(frozen=True)
class ShownJobs:
    """The answers that a report shows.

    Attributes:
        model: that answers.
        history: the logs, indexed.
        labels: of the history's rows.
        moment: µs since 1970, when the held jobs are asked about.
        answers: for every job held then.
        later: whether the next release of an access point's job id succeeded, as recorded later.
    """

    model: ModelDir
    history: History
    labels: RowLabels
    moment: int
    answers: Sequence[Answer]
    later: Mapping[tuple[str | None, str], bool]

    @classmethod
    def of(cls, shown: Shown) -> ShownJobs:
        """Ask about the jobs held at the moment that shows most, or at the one named."""
        model, history = shown.model, shown.source
        decisions = model.question.decisions(history, model.settings).table
        moment = shown.at
        if moment is None:
            since = int(shown.evaluation.table["time"].to_numpy().min())
            moment = richest_moment(decisions, since)
        moment = int(history.clock.max()) if moment is None else moment
        held = HeldHistory(history)
        answerer = Answerer(held, model.settings, model, moment)
        return cls(
            model=model,
            history=history,
            labels=held.labels,
            moment=moment,
            answers=by_use(answerer.answer(held.held(moment))),
            later=later_outcomes(decisions, moment),
        )


def hold_parts(shown: Shown) -> OwnParts:
    """What the question adds to its report."""
    jobs, scale = ShownJobs.of(shown), shown.model.encoding
    counts, moment = _tally(jobs), format_micros(jobs.moment)
    said = ", ".join(f"{verb.replace('_', ' ')} {counts[verb]}" for verb in _VERBS if counts[verb])
    asked = f"Asked about the {len(jobs.answers)} jobs held at {moment}, it says: {said}."
    return OwnParts(
        title="Release or remove?",
        asked=asked if said else "",
        parts={
            "The held jobs": jobs_part(jobs),
            "The pool": _pool_part(jobs),
            "One job": _frames_part(jobs),
            "The answers": _answers_part(shown.evaluation.answers),
        },
        words=_WORDS,
        provenance=(
            (
                "Time scale of the pool",
                f"{format_span(scale.time_scale)} from a release to its outcome (median); horizon "
                f"{format_span(scale.horizon)}, frames of {format_span(scale.timeframe_len)}",
            ),
        ),
    )


def _badge(verb: str) -> Markup:
    """An answer's word, in its colour."""
    return element("span", verb.replace("_", " "), class_=f"badge {verb}")


def _tally(jobs: ShownJobs) -> Counter[str]:
    """How many jobs got which answer."""
    return Counter(answer.verdict.verb for answer in jobs.answers)


def jobs_part(jobs: ShownJobs) -> Markup:
    """The jobs held at the moment, with answers, most useful first."""
    title = f"The jobs held at {shown_moment(jobs.moment)}"
    if not jobs.answers:
        return section(title, element("p", "No job was held at that moment."))
    groups = [row for row in group_answers(jobs.answers) if not row.members[0].by_hand]
    rows = [_group_row(group, jobs) for group in groups]
    lead = (
        f"{len(jobs.answers)} jobs were held at {format_micros(jobs.moment)}. The answers "
        "know nothing that was written after it. One row is one cause in one cluster; the most "
        "useful comes first. Do the steps in their order; commands can be copied as they are."
    )
    counts = _tally(jobs)
    tally = [
        element("li", _badge(verb), f" {counts[verb]} {'job' if counts[verb] == 1 else 'jobs'}")
        for verb in _VERBS
        if counts[verb]
    ]
    parts = [element("ul", *tally, class_="tally"), _answers_table(rows[:_OPEN])]
    if len(rows) > _OPEN:
        more = element("summary", f"{len(rows) - _OPEN} more")
        parts.append(element("details", more, _answers_table(rows[_OPEN:])))
    return section(title, *parts, _hindsight(jobs), lead=lead)


def _answers_part(answers: Mapping[str, Any] | None) -> Markup | None:
    """What following the answers would have got (see `Question.answered`)."""
    if answers is None:
        return None
    waits = answers["waits"]
    tables = [
        table(*answer_rows(answers[key]), caption=caption)
        for key, caption in (
            ("by_batch", "Per decision, batches counting alike; gain in wasted runs."),
            ("by_job", "The same with jobs counting alike."),
        )
    ]
    lead = (
        f"What following the answers to {answers['decisions']} releases would have got, as far as "
        "the log shows it, with bounds where it does not; and what simpler ways to decide would. "
        f"{percent(waits['advised'])} were to wait; where like releases show how that would have "
        f"ended, {percent(waits['right'])} of these did better so."
    )
    return section("What the answers are worth", *tables, lead=lead)


def _answers_table(rows: list[list[Markup]]) -> Markup:
    headings = ["answer", "if released now", "jobs", "why held, and what to do"]
    caption = "Answers by cause and cluster; the bar is P(success), the line its 90 % interval."
    return table(headings, rows, caption=caption, text_columns=(0, 1, 3))


def _group_row(group: GroupAnswer, jobs: ShownJobs) -> list[Markup]:
    first = group.said_for[0]
    said = len(group.said_for)
    note = None if said == len(group.members) else f"for {said} of {len(group.members)}"
    gain = f"gain {group.gain:.1f}" if group.gain else None
    names = sorted({printable(one.owner, 40) for one in group.members if one.owner})
    owners = [f"of {names[0]}" if len(names) == 1 else f"of {len(names)} owners"] if names else []
    return [
        join([_badge(group.verb), *(_small(text) for text in (note, gain) if text)]),
        _chance(group),
        join([element("strong", len(group.members)), *map(_small, (*owners, f"of {group.place}"))]),
        _why(group, first, jobs),
    ]


def _small(text: str) -> Markup:
    return join([element("br"), element("span", text, class_="small")])


def _chance(group: GroupAnswer) -> Markup:
    if group.probability is None or group.low is None or group.high is None:
        return element("span", "unknown", class_="small")
    bounds = f"{percent(group.low)} to {percent(group.high)}"
    # A bar from 0 to 1 with its interval, as an inline SVG.
    probability, low, high = group.probability, group.low, group.high
    words = f"probability {probability:.0%}, interval {low:.0%} to {high:.0%}"
    wide = element("rect", x=0, y=3, width=100, height=9, rx=2)
    filled = element("rect", x=0, y=3, width=f"{100 * probability:.1f}", height=9, rx=2)
    line = element(
        "path", d=f"M{100 * low:.1f} 7.5H{100 * high:.1f}M{100 * low:.1f} 4v7M{100 * high:.1f} 4v7"
    )
    bar = element(
        "svg", wide, filled, line, class_="bar", viewBox="0 0 100 15", role="img",
        preserveAspectRatio="none", aria_label=words,
    )  # fmt: skip
    shown = element("span", percent(probability), class_="percent")
    parts = [shown, bar, element("span", bounds, class_="small")]
    best = group.said_for[0].verdict.best
    if group.verb == "wait" and best is not None:
        later = f"after {format_span(best.wait)}: {percent(best.probability)}"
        parts.append(_small(later))
    return join(parts)


def _why(group: GroupAnswer, first: Answer, jobs: ShownJobs) -> Markup:
    code = "no code" if first.hold_code is None else f"{first.hold_code}/{first.hold_subcode}"
    state = "vacated at" if first.vacated else "held since"
    lines = [
        element("div", printable(first.reason, 230) or "the log gives no reason"),
        element("div", f"code {code}, {state} {shown_moment(first.held_since)}", class_="small"),
    ]
    for step in group.advice.numbered():
        lines.append(element("div", element("strong", step.text)))
        if step.command:
            lines.append(element("code", step.command, class_="command"))
    known = [
        element("li", printable(finding.get("text", ""), 260))
        for finding in [line for line in first.evidence if line["what"] != "rules"][:_FINDINGS]
    ]
    if known:
        summary = element("summary", f"evidence for {first.job}")
        lines.append(element("details", summary, element("ul", *known, class_="evidence")))
    if ends := _ends(group.members, jobs):
        were = "1 was" if len(ends) == 1 else f"{len(ends)} were"
        later = f"{were} released, {sum(ends)} of them succeeded"
        lines.append(element("div", f"What the log records later: {later}.", class_="small"))
    return join(lines)


def _ends(answers: Iterable[Answer], jobs: ShownJobs) -> list[bool]:
    """How the next releases of jobs ended, where the log records that."""
    keys = ((answer.access_point, str(answer.job)) for answer in answers)
    return [jobs.later[key] for key in keys if key in jobs.later]


def _hindsight(jobs: ShownJobs) -> Markup | None:
    """How the answers look once the log has gone on."""
    rows = []
    for verb in _VERBS:
        said = (of for of in jobs.answers if of.verdict.verb == verb and not of.by_hand)
        if ends := _ends(said, jobs):
            rows.append(
                [_badge(verb), str(len(ends)), str(sum(ends)), percent(sum(ends) / len(ends))]
            )
    if not rows:
        return None
    return join(
        [
            element("h3", "And what became of them"),
            element(
                "p",
                "The log goes on, so it shows how these jobs fared when their owners released them "
                "at last, at a time of their own choice and without having asked. No answer knew "
                "this.",
            ),
            table(
                ["answer at the moment", "released later", "of these succeeded", "share"],
                rows,
                caption="What the log records after the moment, by answer.",
            ),
        ]
    )


def _pool_part(jobs: ShownJobs) -> Markup:
    """What the pool did, over the whole log."""
    borders = [int(border) for border in jobs.model.borders[1:2]]
    inside = [b for b in borders if jobs.history.clock.min() < b < jobs.history.clock.max()]
    picture = timeline_plot(pool_timeline(jobs.history, jobs.labels), jobs.moment, inside)
    return section(
        "What the pool looked like",
        figure(
            picture,
            "A stretch of deep colour in one row is an outage or a broken batch of jobs: one cause "
            "holds many jobs at once, then stops. What has stopped is worth releasing; what goes "
            "on is not.",
            class_="wide",
        ),
        lead="Holds by cause and transfer origin, jobs held (but for those their users hold), and "
        "how jobs ended, over the whole log.",
    )


def _frames_part(jobs: ShownJobs) -> Markup | None:
    """The frames of one held job: what the recurrent model reads."""
    mine = [answer for answer in jobs.answers if not answer.by_hand]
    if not mine:
        return None
    first = group_answers(mine)[0].said_for[0]
    settings, scale = jobs.model.settings.frames, jobs.model.encoding
    held = held_jobs(jobs.history, jobs.moment, jobs.labels)
    row = held.filter(
        held["access_point"].eq_missing(first.access_point)
        & (held["cluster"] == first.job.cluster)
        & (held["proc"] == (first.job.proc or 0))
    ).head(1)
    index = FrameIndex(jobs.history, jobs.labels, settings.state_events)
    frames = frames_of(index, row, jobs.model.settings, scale)
    picture = frames_plot(frames[0], settings.state_events, scale.timeframe_len, str(first.job))
    cause = short_cause(first.hold_code, mask(first.reason))
    return section(
        "One held job and its neighbours, as the network sees them",
        figure(
            picture,
            f"Job {first.job} (top row, held: {cause}) and {settings.j - 1} jobs next to it, up to "
            f"the moment. {settings.m} frames of "
            f"{format_span(jobs.model.encoding.timeframe_len)}; a cell is the last state event "
            "of that job by then. Half of the neighbours are related (same cause, site or owner).",
            class_="wide",
        ),
        lead="The tensor of events × frames × jobs. The recurrent model reads it next to the other "
        "features.",
    )
