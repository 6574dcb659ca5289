"""The columns of `jobsight.history.past` with pandas, as it is commonly done: group, shift, merge.

Sums and exponential means of each group over the ends, in order of time, then the state before each
submission by `merge_asof` (a plain shift would count jobs that had not ended). What pandas lacks is
replaced by what is nearest: rates by time are exponential means without a prior, the largest
runtimes and memory those of the last 20 jobs, and recent submissions those of the last hour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["NEAREST", "columns", "prepared"]

NEAREST = ("rate hour", "rate day", "rate week", "limit against runtime", "memory against peak",
           "submitted lately")  # fmt: skip
"""Columns that are not the same."""
_PRIOR = 2.0


def prepared(jobs: Any) -> Any:
    """The jobs with what keys and columns are made of, known outcomes as 0 and 1."""
    kinds = {
        "completed": 0.0,
        "failed": 1.0,
        "timeout": 1.0,
        "out_of_memory": 1.0,
        "node_fail": 1.0,
    }
    return jobs.assign(
        failed=jobs["state"].map(kinds),
        pattern=jobs["name"].str.replace(r"[0-9]+", "#", regex=True),
        seconds=(jobs["reported"] - jobs["start"]) / 1e6,
        everything=0,
    )


def columns(jobs: Any, key: list[str], base: Any) -> Any:
    """The columns of one key, each job as of its submission; base: the rate of all jobs, or 0.5."""
    code = jobs.groupby(key, sort=False, dropna=False).ngroup()
    jobs = jobs.assign(key=code, base=base)
    asked = jobs[["key", "seen", "base", "request_memory_mb", "time_limit_s"]]
    for made in (_outcomes(jobs), _cancelled(jobs), _load(jobs), _submissions(jobs)):
        asked = pd.merge_asof(
            asked, made.sort_values("at", kind="stable"), left_on="seen", right_on="at", by="key",
            allow_exact_matches=False,
        ).drop(columns="at")  # fmt: skip
    return _finished(asked)


def _outcomes(jobs: Any) -> Any:
    """After each outcome, the sums and means of its group."""
    ends = jobs[jobs["failed"].notna()].sort_values("reported", kind="stable").assign(one=1.0)
    of, failed = ends.groupby("key", sort=False), ends["failed"]
    made = pd.DataFrame({"key": ends["key"], "at": ends["reported"], "last": failed})
    made["n"], made["f"] = of.cumcount() + 1.0, of["failed"].cumsum()
    for count in (5, 50):
        fading = of[["one", "failed"]].ewm(halflife=count).sum().droplevel(0)
        made[f"n{count}"], made[f"f{count}"] = fading["one"], fading["failed"]
    times = pd.to_datetime(ends["reported"], unit="us")
    for name, width in (("hour", "1h"), ("day", "1D"), ("week", "7D")):
        made[f"rate {name}"] = of["failed"].ewm(halflife=width, times=times).mean().droplevel(0)
    turned = (failed != of["failed"].shift()).groupby(ends["key"], sort=False).cumsum()
    made["streak"] = ends.groupby(["key", turned], sort=False).cumcount() + 1.0
    made["ended"] = ends["reported"]
    made["failure"] = ends["reported"].where(failed > 0).groupby(ends["key"]).ffill()
    share = (ends["seconds"] / ends["time_limit_s"]).clip(upper=1.0)
    kinds = pd.DataFrame({
        "runtime": np.log1p(ends["seconds"]), "share of limit": share,
    }).groupby(ends["key"], sort=False)  # fmt: skip
    made = made.join(kinds.ewm(halflife=5).mean().droplevel(0))
    for column, state in (
        ("timeouts", "timeout"), ("out of memory", "out_of_memory"), ("node failures", "node_fail"),
    ):  # fmt: skip
        share = (ends["state"] == state).astype(float).groupby(ends["key"], sort=False)
        made[column] = share.ewm(halflife=50).mean().droplevel(0)
    made["longest"] = of["seconds"].rolling(20, min_periods=1).max().droplevel(0)
    made["peak"] = of["max_rss_mb"].rolling(20, min_periods=1).max().droplevel(0)
    made["last memory"], made["last limit"] = ends["request_memory_mb"], ends["time_limit_s"]
    return made


def _cancelled(jobs: Any) -> Any:
    ends = jobs.sort_values("reported", kind="stable")
    share = ends["failed"].isna().astype(float).groupby(ends["key"], sort=False)
    made = share.ewm(halflife=50).mean().droplevel(0)
    return pd.DataFrame({"key": ends["key"], "at": ends["reported"], "cancelled": made})


def _load(jobs: Any) -> Any:
    """After each submission, start and end, how many jobs of its group wait and run."""
    begun = jobs["start"].notna()
    started, other = jobs[begun], jobs[~begun]
    changes = pd.concat([
        pd.DataFrame({"key": some["key"], "at": some[at], "wait": wait, "run": run})
        for some, at, wait, run in (
            (jobs, "seen", 1, 0), (started, "start", -1, 1), (started, "reported", 0, -1),
            (other, "reported", -1, 0),
        )
    ]).astype({"at": np.int64}).sort_values("at", kind="stable")  # fmt: skip
    return changes.assign(**changes.groupby("key", sort=False)[["wait", "run"]].cumsum())


def _submissions(jobs: Any) -> Any:
    times = jobs.assign(time=pd.to_datetime(jobs["seen"], unit="us"))[["key", "time", "seen"]]
    lately = times.groupby("key", sort=False).rolling("1h", on="time")["seen"].count()
    made = pd.DataFrame({"key": jobs["key"], "at": jobs["seen"], "submitted": jobs["seen"]})
    made["submitted lately"] = lately.to_numpy()[np.argsort(np.argsort(jobs["key"], kind="stable"))]
    return made


def _finished(of: Any) -> Any:
    found = pd.DataFrame(index=of.index)
    found["outcomes"] = np.log1p(of["n"].fillna(0))
    for column, n, f in (("rate", "n", "f"), ("rate 5", "n5", "f5"), ("rate 50", "n50", "f50")):
        found[column] = (of[f].fillna(0) + _PRIOR * of["base"]) / (of[n].fillna(0) + _PRIOR)
    for column in ("rate hour", "rate day", "rate week"):
        found[column] = of[column].fillna(of["base"])
    found["last"] = of["last"]
    found["streak"] = np.log1p(of["streak"]) * (2 * of["last"] - 1)
    found["since end"] = np.log1p((of["seen"] - of["ended"]) / 1e6)
    found["since failure"] = np.log1p((of["seen"] - of["failure"]) / 1e6)
    found["runtime"] = of["runtime"]
    found["limit against runtime"] = np.log(of["time_limit_s"] / (of["longest"] + 1.0))
    found["share of limit"] = of["share of limit"]
    found["memory against peak"] = np.log(of["request_memory_mb"] / of["peak"])
    found["running"] = np.log1p(of["run"].fillna(0))
    found["pending"] = np.log1p(of["wait"].fillna(0))
    found["submitted lately"] = np.log1p(of["submitted lately"].fillna(0))
    found["since submission"] = np.log1p((of["seen"] - of["submitted"]) / 1e6)
    for column in ("timeouts", "out of memory", "node failures", "cancelled"):
        found[column] = of[column]
    found["memory against last"] = np.log(of["request_memory_mb"] / of["last memory"])
    found["limit against last"] = np.log(of["time_limit_s"] / of["last limit"])
    return found.astype(np.float32)
