"""What became of the jobs of each arm, and the page that compares the arms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from bench.measure import Section, machine
from bench.record import rewrite

from jobsight.codes import EventCode
from jobsight.history.events import read_events
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.metrics import Metric
from jobsight.models.base import Floats
from tests.trial.schedule import Submission

__all__ = ["account", "releases_by_policy", "write_page"]

Row = dict[str, Any]
_ENDS = (EventCode.EVICTED, EventCode.HELD, EventCode.TERMINATED, EventCode.ABORTED)
_TRANSFER_STARTED = 2
_MEASURES: Mapping[str, str] = {
    "finished": "finished",
    "wasted_starts": "wasted starts",
    "wasted_seconds": "wasted slot-seconds",
    "recoverable_removed": "recoverable jobs removed",
    "waited": "mean seconds to finish",
}
_REFERENCES = ("release", "rules")


def account(log: Path, clusters: Mapping[int, Submission], end: float) -> list[Row]:
    """What became of each job.

    A start is from the first transfer of input, or the execution, to the hold, eviction, removal
    or termination; it is wasted unless the job then succeeds. One that goes on at the end of the
    run is not. A job that does not finish counts with `end` seconds less its submission.

    Args:
        log: the event log of the run.
        clusters: submissions by cluster.
        end: of the run, seconds.
    """
    table = read_events([str(log)]).table.filter(pl.col("cluster").is_in(list(clusters)))
    events = table.sort("time", maintain_order=True)
    return [
        _job(clusters[key[0]], f"{key[0]}.{key[1]}", rows.to_dicts(), end)
        for key, rows in events.group_by("cluster", "proc", maintain_order=True)
    ]


def releases_by_policy(log: Path) -> int:
    """Releases without a reason: those of condor_release name the user."""
    table = read_events([str(log)]).table
    return table.filter(pl.col("code") == EventCode.RELEASED, pl.col("reason").is_null()).height


def _job(one: Submission, job: str, events: Sequence[Row], end: float) -> Row:
    begun = None
    wasted: list[float] = []
    ended = None
    removed = False
    for event in events:
        code, time = event["code"], event["time"]
        starts = code == EventCode.EXECUTE or (
            code == EventCode.FILE_TRANSFER and event["detail"] == _TRANSFER_STARTED
        )
        if starts and begun is None:
            begun = time
        elif code in _ENDS:
            good = code == EventCode.TERMINATED and event["return_value"] == 0
            if begun is not None and not good:
                wasted.append((time - begun).total_seconds())
            begun = None
            ended = time if good else ended
            removed |= code == EventCode.ABORTED
    submitted = events[0]["time"]
    return {
        "job": job, "submission": one.name, "cause": one.cause, "recoverable": one.recoverable,
        "finished": int(ended is not None),
        "wasted_starts": len(wasted), "wasted_seconds": round(sum(wasted), 3),
        "removed": int(removed), "recoverable_removed": int(removed and one.recoverable),
        "waited": end - one.at if ended is None else (ended - submitted).total_seconds(),
    }  # fmt: skip


def _section(results: Mapping[str, Sequence[Row]]) -> str:
    """The table of the arms, and of their differences to each arm of simple rules, as Markdown.

    Args:
        results: by arm, the results of the same seeds in the same order.
    """
    rows = {arm: _aligned(runs) for arm, runs in results.items()}
    names = [f"{row['seed']} {row['submission']}" for row in next(iter(rows.values()))]
    batch = np.unique(names, return_inverse=True)[1].astype(np.int64)
    bootstrap = Bootstrap(np.zeros(len(names)), np.ones(len(names)), batch)
    columns = {
        name: {arm: np.array([row[name] for row in own], float) for arm, own in rows.items()}
        for name in _MEASURES
    }
    measured = [bootstrap.intervals(_metric(name), columns[name]) for name in _MEASURES]
    cells = {arm: [_text(own[arm]) for own in measured] for arm in rows}
    for arm, runs in results.items():
        cells[arm].append(str(sum(run["messages"] for run in runs)))
    said = Section("")
    said.say(f"{len(names)} jobs in {batch.max() + 1} submissions.")
    heads = ["arm", *_MEASURES.values()]
    said.table([*heads, "messages to people"], [[f"`{arm}`", *own] for arm, own in cells.items()])
    for reference in filter(rows.__contains__, _REFERENCES):
        differ = [
            bootstrap.differences(_metric(name), columns[name], reference) for name in _MEASURES
        ]
        said.say(f"Less those of `{reference}`, paired by job:")
        others = [arm for arm in rows if arm != reference]
        said.table(heads, [[f"`{arm}`", *(_text(o[arm], "+") for o in differ)] for arm in others])
    return "\n".join(said.lines)


def _aligned(runs: Sequence[Row]) -> list[Row]:
    """The jobs of all runs, in an order that is the same in every arm."""
    jobs = [row | {"seed": run["seed"]} for run in runs for row in run["jobs"]]
    proc = {row["job"]: int(row["job"].split(".")[1]) for row in jobs}
    return sorted(jobs, key=lambda row: (row["seed"], row["submission"], proc[row["job"]]))


def _metric(name: str) -> Metric:
    """The mean over the jobs for times, else the sum."""

    def metric(values: Floats, _: Any, weight: Floats) -> Any:
        mean = (values * weight).sum(axis=-1) / weight.sum(axis=-1)
        return mean if name == "waited" else mean * len(values)

    return metric


def _text(interval: Interval, sign: str = "") -> str:
    bounds = (interval.value, interval.low, interval.high)
    value, low, high = (f"{x or 0.0:{sign}.0f}" for x in bounds)
    return f"{value} ({low} … {high})".replace("-", "−")


def write_page(page: Path, out: Path, regime: str, arms: Sequence[str]) -> None:
    """Put the section of a regime into the page, of the seeds that have results of all arms."""
    results: dict[str, list[Row]] = {arm: [] for arm in arms}
    for place in sorted(out.glob(f"{regime}-*")):
        files = {arm: place / arm / "result.json" for arm in arms}
        if all(file.exists() for file in files.values()):
            for arm, file in files.items():
                results[arm].append(json.loads(file.read_text(encoding="utf-8")))
    runs = results[arms[0]]
    seeds = ", ".join(str(run["seed"]) for run in runs)
    said = f"{machine()} {runs[0]['htcondor']}. Seeds {seeds}, runs of {runs[0]['seconds']:.0f} s."
    head = page.read_text(encoding="utf-8").partition("\n## ")[0] if page.exists() else "# A trial"
    rewrite(page, head, {f"Regime {regime}": f"{said}\n\n{_section(results)}"})
