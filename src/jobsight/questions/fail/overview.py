"""What a history shows of failures: what failed, of whom, what it cost, what to do."""

import polars as pl

from jobsight.documents import State
from jobsight.format import amount, percent
from jobsight.history.jobtable import JobTable
from jobsight.questions.fail.question import FAIL, FailSettings, outcomes_of
from jobsight.reports.overview import Overview, ranking
from jobsight.text import counted, printable

__all__ = ["overview"]

_ACTIONS = {
    State.FAILED.value: "see why: jobsight job {}",
    State.TIMEOUT.value: "more time, less work, or saved progress: jobsight job {}",
    State.OUT_OF_MEMORY.value: "more memory, or less use: jobsight job {}",
    State.NODE_FAIL.value: "check the node, submit again: jobsight job {}",
    State.HELD.value: "release, fix or remove: jobsight hold {}",
    State.CANCELLED.value: "ask why: jobsight job {}",
}
_JOBS, _HOURS, _HOW = "failed jobs", "core-hours lost", "what happened"


def overview(jobs: JobTable, settings: FailSettings) -> Overview:
    """Failed jobs by what happened, and by user (else account) too."""
    ended = outcomes_of(jobs, settings).filter(pl.col("fails").is_not_null())
    action = pl.col("state").replace(_ACTIONS).str.replace("{}", pl.col("job"), literal=True)
    how = pl.col("state").replace(FAIL.titles)
    failed = ended.filter("fails").with_columns(
        how=how, action=action, time="known_at", cost="core_hours"
    )
    who, name = ("owner", "user") if failed["owner"].count() else ("account", "account")
    ways, people = (
        ranking(failed, _JOBS, by, _HOURS, what_to_do=pl.col("action").last())
        for by in ({"how": _HOW}, {who: name, "how": _HOW})
    )
    listed = ", ".join(f"{way[_JOBS]:,} {way[_HOW]}" for way in ways)
    share = percent(len(failed) / max(len(ended), 1))
    points = [
        f"Of {counted(len(ended), 'job')} with a known outcome {len(failed):,} failed ({share})"
        f"{': ' if listed else ''}{listed}."
    ]
    if total := float(ended["core_hours"].sum()):
        lost = float(failed["cost"].sum())
        share = percent(lost / total)
        points.append(f"These used {amount(lost)} of {amount(total)} core-hours ({share}).")
    points += [
        f"{name.capitalize()} {printable(row[name], 40)} lost most in one way: "
        f"{counted(row[_JOBS], 'job')} {row[_HOW]}, {row['when']}."
        for row in people[:1]
    ]
    return Overview(points, {"What fails most": ways, f"Which {name}s fail most": people})
