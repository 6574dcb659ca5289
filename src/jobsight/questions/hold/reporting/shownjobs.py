"""What the report on held jobs adds: the pool, the jobs held at a moment, one job's frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobsight.clock import format_micros, format_span
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import History
from jobsight.history.twins import current_jobs
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.answering.answer import Answer, Answerer
from jobsight.questions.hold.answering.groups import by_use
from jobsight.questions.hold.reporting.moment import later_outcomes, richest_moment
from jobsight.reports.shown import OwnParts, Shown

__all__ = ["ShownJobs", "hold_parts"]


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
        answerer = Answerer(history, model.settings, model)
        held = answerer.held(moment, current_jobs(history, moment))
        return cls(
            model=model,
            history=history,
            labels=label_rows(history),
            moment=moment,
            answers=by_use(answerer.answer(held, moment)),
            later=later_outcomes(decisions, moment),
        )


def hold_parts(shown: Shown) -> OwnParts:
    """See `jobsight.reports.shown.Reporting`."""
    from jobsight.questions.hold.reporting.jobs import (
        answers_part,
        frames_part,
        jobs_part,
        pool_part,
    )

    jobs, scale = ShownJobs.of(shown), shown.model.encoding
    return OwnParts(
        title="Release or remove?",
        asked=_asked(jobs),
        parts={
            "The held jobs": jobs_part(jobs),
            "The pool": pool_part(jobs),
            "One job": frames_part(jobs),
            "The answers": answers_part(shown.evaluation.answers),
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


def _asked(jobs: ShownJobs) -> str:
    from jobsight.questions.hold.reporting.jobs import tally

    counts = tally(jobs)
    verbs = ("release", "wait", "fix", "remove", "unsure", "user_hold")
    said = ", ".join(f"{verb.replace('_', ' ')} {counts[verb]}" for verb in verbs if counts[verb])
    if not said:
        return ""
    moment = format_micros(jobs.moment)
    return f"Asked about the {len(jobs.answers)} jobs held at {moment}, it says: {said}."


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
