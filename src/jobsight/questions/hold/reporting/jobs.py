"""The parts of the report that show the pool: its outages, the held jobs, one job's frames."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from typing import Any, get_args

from jobsight.clock import format_micros, format_span
from jobsight.format import percent
from jobsight.history.frames import FrameIndex, build_frames
from jobsight.history.reasons import mask
from jobsight.questions.hold.answering.answer import Answer
from jobsight.questions.hold.answering.groups import GroupAnswer, group_answers
from jobsight.questions.hold.answering.verdict import Verb
from jobsight.questions.hold.examples.decisions import held_jobs
from jobsight.questions.hold.reporting.pictures import (
    frames_plot,
    pool_timeline,
    short_cause,
    timeline_plot,
)
from jobsight.questions.hold.reporting.shownjobs import ShownJobs
from jobsight.reports.page import Markup, element, figure, join, section, table
from jobsight.reports.scores import answer_rows
from jobsight.text import printable

__all__ = ["answers_part", "frames_part", "jobs_part", "pool_part", "tally"]

_VERBS: tuple[Verb, ...] = get_args(Verb)
_OPEN = 8
_FINDINGS = 5


def _badge(verb: str) -> Markup:
    """An answer's word, in its colour."""
    return element("span", verb.replace("_", " "), class_=f"badge {verb}")


def tally(jobs: ShownJobs) -> Counter[str]:
    """How many jobs got which answer."""
    return Counter(one.verdict.verb for one in jobs.answers)


def jobs_part(jobs: ShownJobs) -> Markup:
    """The jobs held at the moment, with answers, most useful first."""
    title = f"The jobs held at {_clock(jobs.moment)}"
    if not jobs.answers:
        return section(title, element("p", "No job was held at that moment."))
    groups = [one for one in group_answers(jobs.answers) if not one.members[0].by_hand]
    rows = [_group_row(one, jobs) for one in groups]
    lead = (
        f"{len(jobs.answers)} jobs were held at {format_micros(jobs.moment)}. The answers "
        "know nothing that was written after it. One row is one cause in one cluster; the most "
        "useful comes first. Do the steps in their order; commands can be copied as they are."
    )
    parts = [_tally_list(jobs), _answers_table(rows[:_OPEN])]
    if len(rows) > _OPEN:
        more = element("summary", f"{len(rows) - _OPEN} more")
        parts.append(element("details", more, _answers_table(rows[_OPEN:])))
    return section(title, *parts, _hindsight(jobs), lead=lead)


def answers_part(answers: Mapping[str, Any] | None) -> Markup | None:
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


def _clock(moment: int) -> str:
    return (dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=moment)).strftime("%H:%M:%S")


def _tally_list(jobs: ShownJobs) -> Markup:
    counts = tally(jobs)
    shown = [verb for verb in _VERBS if counts[verb]]
    items = [
        element("li", _badge(verb), f" {counts[verb]} {'job' if counts[verb] == 1 else 'jobs'}")
        for verb in shown
    ]
    return element("ul", *items, class_="tally")


def _answers_table(rows: list[list[Markup]]) -> Markup:
    headings = ["answer", "if released now", "jobs", "why held, and what to do"]
    caption = "Answers by cause and cluster; the bar is P(success), the line its 90 % interval."
    return table(headings, rows, caption=caption, text_columns=(0, 1, 3))


def _group_row(group: GroupAnswer, jobs: ShownJobs) -> list[Markup]:
    first = group.said_for[0]
    said = len(group.said_for)
    note = None if said == len(group.members) else f"for {said} of {len(group.members)}"
    gain = f"gain {group.gain:.1f}" if group.gain else None
    return [
        join([_badge(group.verb), *(_small(text) for text in (note, gain) if text)]),
        _chance(group),
        join([element("strong", len(group.members)), _small(f"of {group.place}")]),
        _why(group, first, jobs),
    ]


def _small(text: str) -> Markup:
    return join([element("br"), element("span", text, class_="small")])


def _chance(group: GroupAnswer) -> Markup:
    if group.probability is None or group.low is None or group.high is None:
        return element("span", "unknown", class_="small")
    bounds = f"{percent(group.low)} to {percent(group.high)}"
    bar = _probability_bar(group.probability, group.low, group.high)
    parts = [
        element("span", percent(group.probability), class_="percent"),
        bar,
        element("span", bounds, class_="small"),
    ]
    best = group.said_for[0].verdict.best
    if group.verb == "wait" and best is not None:
        later = f"after {format_span(best.wait)}: {percent(best.probability)}"
        parts.append(_small(later))
    return join(parts)


def _probability_bar(probability: float, low: float, high: float) -> Markup:
    """A bar from 0 to 1 with its interval, as an inline SVG."""
    words = f"probability {probability:.0%}, interval {low:.0%} to {high:.0%}"
    wide = element("rect", x=0, y=3, width=100, height=9, rx=2)
    filled = element("rect", x=0, y=3, width=f"{100 * probability:.1f}", height=9, rx=2)
    line = element(
        "path", d=f"M{100 * low:.1f} 7.5H{100 * high:.1f}M{100 * low:.1f} 4v7M{100 * high:.1f} 4v7"
    )
    return element(
        "svg", wide, filled, line, class_="bar", viewBox="0 0 100 15", role="img",
        preserveAspectRatio="none", aria_label=words,
    )  # fmt: skip


def _why(group: GroupAnswer, first: Answer, jobs: ShownJobs) -> Markup:
    code = "no code" if first.hold_code is None else f"{first.hold_code}/{first.hold_subcode}"
    lines = [
        element("div", printable(first.reason, 230) or "the log gives no reason"),
        element("div", f"code {code}, held since {_clock(first.held_since)}", class_="small"),
    ]
    for step in group.advice.numbered():
        lines.append(element("div", element("strong", step.text)))
        if step.command:
            lines.append(element("code", step.command, class_="command"))
    known = [
        element("li", printable(finding.get("text", ""), 260))
        for finding in [one for one in first.evidence if one["what"] != "rules"][:_FINDINGS]
    ]
    if known:
        summary = element("summary", f"evidence for {first.job}")
        lines.append(element("details", summary, element("ul", *known, class_="evidence")))
    after = _after(group, jobs)
    if after:
        lines.append(element("div", after, class_="small"))
    return join(lines)


def _after(group: GroupAnswer, jobs: ShownJobs) -> str | None:
    ends = [jobs.later[key] for one in group.members if (key := _key(one)) in jobs.later]
    if not ends:
        return None
    return f"What the log records later: {len(ends)} were released, {sum(ends)} of them succeeded."


def _key(answer: Answer) -> tuple[str | None, str]:
    return answer.access_point, str(answer.job)


def _hindsight(jobs: ShownJobs) -> Markup | None:
    """How the answers look once the log has gone on."""
    rows = []
    for verb in _VERBS:
        ends = [
            jobs.later[key]
            for one in jobs.answers
            if one.verdict.verb == verb and not one.by_hand and (key := _key(one)) in jobs.later
        ]
        if ends:
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


def pool_part(jobs: ShownJobs) -> Markup:
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


def frames_part(jobs: ShownJobs) -> Markup | None:
    """The frames of one held job: what the recurrent model reads."""
    mine = [one for one in jobs.answers if not one.by_hand]
    if not mine:
        return None
    first = group_answers(mine)[0].said_for[0]
    picture = _frames_picture(jobs, first)
    settings = jobs.model.settings.frames
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


def _frames_picture(jobs: ShownJobs, answer: Answer) -> Markup:
    settings, scale = jobs.model.settings, jobs.model.encoding
    held = held_jobs(jobs.history, jobs.moment, jobs.labels)
    row = held.filter(
        held["access_point"].eq_missing(answer.access_point)
        & (held["cluster"] == answer.job.cluster)
        & (held["proc"] == (answer.job.proc or 0))
    ).head(1)
    frames, _ = build_frames(
        FrameIndex(jobs.history, jobs.labels, settings.frames.state_events),
        row,
        m=settings.frames.m,
        j=settings.frames.j,
        timeframe=max(round(scale.timeframe_len * 1e6), 1),
        related_share=settings.frames.related_share,
        seed=settings.seed,
    )
    return frames_plot(
        frames[0], settings.frames.state_events, scale.timeframe_len, str(answer.job)
    )
