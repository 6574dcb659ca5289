"""Features of an accounting history: next to pandas, and for ten million jobs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any

import numpy as np
import polars as pl

from bench.manyjobs import many_jobs
from bench.measure import Section, isolated, median, peak_mb, spread, timed
from jobsight.history.jobtable import JobTable
from jobsight.history.past import COLUMNS, KEYS, Past

__all__ = ["measure", "measure_many", "measure_pandas", "run"]

_COMPARED, _MANY, _RUNS = 200_000, 10_000_000, 5
_REQUEST = ["partition", "request_cpus", "request_memory_mb", "request_gpus", "request_nodes",
            "time_limit_s"]  # fmt: skip
_KEYS: dict[str, list[str]] = {
    "all": ["everything"], "user": ["owner"], "account": ["account"], "partition": ["partition"],
    "request": _REQUEST, "pattern": ["pattern"], "script": ["command"],
    "user and partition": ["owner", "partition"], "user and request": ["owner", *_REQUEST],
    "user and pattern": ["owner", "pattern"], "user and name": ["owner", "name"],
    "user and folder": ["owner", "work_dir"], "user and script": ["owner", "command"],
    "submission": ["group"], "same again": ["owner", "name", "work_dir", "command", *_REQUEST],
}  # fmt: skip
"""`KEYS` where no part is unknown, but node: at submission there is none."""


def _built(jobs: JobTable) -> dict[str, Any]:
    moments = jobs.table["seen"].to_physical().to_numpy()
    none = np.zeros(len(moments), bool)
    return Past.of(jobs).build(jobs.table, moments, none, list(_KEYS))


def measure(jobs: int) -> Any:
    """Seconds of building all columns of the keys that are compared."""
    table = many_jobs(jobs)
    return timed(lambda: _built(table), _RUNS)


def measure_pandas(jobs: int) -> Any:
    """The same with pandas, once; and which share of values agrees, by column."""
    from bench import past_pandas

    table, found = many_jobs(jobs), {}
    start = table.changes.filter(pl.col("state") == "running").select("row", start="time")
    frame = table.table.with_columns(
        pl.col("seen", "reported").to_physical(), row=pl.int_range(pl.len()),
        state=table.changes.group_by("row", maintain_order=True).last()["state"].cast(pl.String),
    ).join(start, on="row", how="left", maintain_order="left")  # fmt: skip
    plain = _frame(frame)

    def work() -> None:
        ready = past_pandas.prepared(plain)
        base = 0.5
        for name, key in _KEYS.items():
            found[name] = past_pandas.columns(ready, key, base)
            base = found["all"]["rate"]

    times = timed(work, 1, warm=0)
    ours, agree = _built(table), {}
    for place, column in enumerate(COLUMNS):
        values = np.concatenate([ours[name][:, place] for name in _KEYS])
        theirs = np.concatenate([found[name][column].to_numpy() for name in _KEYS])
        same = np.isclose(values, theirs, rtol=1e-4, atol=1e-4, equal_nan=True)
        agree[column] = float(same.mean())
    return {**times, "agree": agree, "nearest": past_pandas.NEAREST}


def _frame(jobs: pl.DataFrame) -> Any:
    """A pandas frame of numpy's types, as read from a file."""
    import pandas as pd

    return pd.DataFrame({
        column.name: column.to_list() if column.dtype == pl.String else column.to_numpy()
        for column in jobs.iter_columns()
    })  # fmt: skip


def measure_many(jobs: int) -> Any:
    """All columns of all keys, key by key; seconds and peak memory."""
    _built(many_jobs(1_000))  # compiles the kernels
    table, found = many_jobs(jobs), 0
    made = peak_mb()
    moments = table.table["seen"].to_physical().to_numpy()
    past: list[Past] = []

    def work() -> None:
        nonlocal found
        for _, one in past[0].each(table.table, moments, np.zeros(jobs, bool), list(KEYS)):
            found += int(np.isfinite(one).sum())

    first = timed(lambda: past.append(Past.of(table)), 1, warm=0)
    then = timed(work, 1, warm=0)
    return {"of": first, "each": then, "made": made, "peak": peak_mb(), "found": found}


def run() -> Section:
    """The benchmark."""
    section = Section("Features of an accounting history")
    isolated("bench.past:measure", cores=1, jobs=1_000)  # compiles the kernels
    ours = isolated("bench.past:measure", cores=1, jobs=_COMPARED)
    if importlib.util.find_spec("pandas") is None:
        section.say("Not compared with pandas: it is not installed, and Jobsight does not need it.")
    else:
        _compare(section, ours, isolated("bench.past:measure_pandas", cores=1, jobs=_COMPARED))
    many = isolated("bench.past:measure_many", jobs=_MANY)
    seconds, cpu = (many["of"][one][0] + many["each"][one][0] for one in ("seconds", "cpu"))
    section.say(
        f"{_MANY:,} jobs of {len(KEYS)} keys, each job as of its submission, all cores, one run: "
        f"{seconds:.0f} s, {cpu:.0f} s of processor time, {many['of']['seconds'][0]:.0f} s of them "
        f"to order the events. The table in memory takes up to {many['made']:,.0f} MB, all "
        f"together {many['peak']:,.0f} MB, key by key; {many['found']:,} numbers are found."
    )
    return section


def _compare(section: Section, ours: Any, pandas: Any) -> None:
    exact = [column for column in COLUMNS if column not in pandas["nearest"]]
    ratio = median(pandas["cpu"]) / median(ours["cpu"])
    section.say(
        f"{_COMPARED:,} generated jobs, {len(_KEYS)} keys, {len(COLUMNS)} columns each, as of the "
        f"submission, one core. pandas {importlib.metadata.version('pandas')} groups the jobs by "
        "key, makes sums and exponential means over the ends, and merges them as of each "
        f"submission. Of the {len(exact)} columns that both define alike "
        f"{np.mean([pandas['agree'][one] for one in exact]):.3%} of the values agree to 0.0001; "
        f"{', '.join(pandas['nearest'])} are what pandas has nearest to them. "
        "The ratio is of processor seconds."
    )
    section.table(
        ["", "seconds", "spread of runs", "processor seconds", "ratio"],
        [
            ["pandas", f"{median(pandas['seconds']):.1f}", "one run",
             f"{median(pandas['cpu']):.1f}", "1 ×"],
            ["Jobsight", f"{median(ours['seconds']):.2f}", spread(ours["seconds"]),
             f"{median(ours['cpu']):.2f}", f"{ratio:,.0f} ×"],
        ],
    )  # fmt: skip
