"""A job table of any size, like those of a cluster: few users submit most, arrays, names again."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.documents import State
from jobsight.history.jobtable import JobTable

__all__ = ["many_jobs"]

_SEED = 20_261_122
_SECOND = 1_000_000
_BEGIN, _YEAR = 1_767_225_600 * _SECOND, 365 * 86_400 * _SECOND
_USERS, _NAMES, _FOLDERS, _NODES = 2_000, 200, 20, 2_000
"""Users; names and folders of each; nodes."""
_HEADS = ("align", "fit", "render", "sweep", "train", "mesh", "fold", "md_run", "qc", "merge")
_STATES = (State.COMPLETED, State.FAILED, State.TIMEOUT, State.OUT_OF_MEMORY, State.NODE_FAIL,
           State.CANCELLED)  # fmt: skip
_SHARES = (0.78, 0.12, 0.04, 0.02, 0.01, 0.03)
_STATE = pl.Enum([state.value for state in State])
_MOMENT = pl.Datetime("us", "UTC")

Ints = NDArray[np.int64]


def many_jobs(count: int) -> JobTable:
    """So many jobs of a year; what `Past` does not read, `starts` and `ends` too, is left out."""
    draw = np.random.default_rng(_SEED)
    sizes = np.minimum(draw.zipf(1.8, count), 1_000)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), count) + 1]
    at = np.sort(draw.integers(_BEGIN, _BEGIN + _YEAR, len(sizes)) // _SECOND) * _SECOND
    of = np.repeat(np.arange(len(sizes)), sizes)[:count]
    user = (draw.zipf(1.4, len(sizes)) - 1) % _USERS
    seen = at[of]
    start = seen + draw.exponential(1800, count).astype(np.int64) * _SECOND
    ran = np.minimum(draw.lognormal(6.5, 2.0, count), 86_400).astype(np.int64) * _SECOND
    state = draw.choice(len(_STATES), count, p=_SHARES)
    begun = (state != len(_STATES) - 1) | (draw.random(count) < 0.5)
    end = start + np.where(begun, ran, 0)
    table = _table(draw, user, of).with_columns(
        seen=pl.Series(seen).cast(_MOMENT), reported=pl.Series(end).cast(_MOMENT),
        max_rss_mb=pl.Series(draw.integers(100, 60_000, count)),
    )  # fmt: skip
    hosts = _words("node", _NODES).gather(draw.integers(0, _NODES, count))
    changes = _changes(seen, np.where(begun, start, -1), end, state, hosts)
    return JobTable(table, pl.DataFrame(), pl.DataFrame(), changes)


def _table(draw: np.random.Generator, user: Ints, of: Ints) -> pl.DataFrame:
    """What is known at submission; tasks of an array have all of it in common."""
    arrays = len(user)
    name = user * _NAMES + np.minimum(draw.zipf(1.3, arrays), _NAMES) - 1
    names = (
        pl.Series(_HEADS).gather(name // 7 % len(_HEADS)) + "_" + pl.Series(name).cast(pl.String)
    )
    work = user * _FOLDERS + draw.integers(0, _FOLDERS, arrays)
    cpus = np.array([1, 1, 1, 4, 8, 32])[(user + draw.integers(0, 2, arrays)) % 6]
    of_arrays = pl.DataFrame({
        "owner": _words("user", _USERS).gather(user),
        "account": _words("lab", 200).gather(user % 200),
        "name": names,
        "command": _words("/home/someone/scripts/job_", _USERS * _FOLDERS).gather(work),
        "work_dir": _words("/scratch/projects/someone/", _USERS * _FOLDERS).gather(work),
        "partition": _words("part", 8).gather(user % 8),
        "group": _words("slurm:c:", arrays),
        "request_cpus": cpus,
        "request_memory_mb": cpus * draw.choice([1_000, 2_000, 4_000, 8_000], arrays),
        "request_gpus": pl.Series([None, 1]).gather((user % 9 == 0).astype(int)),
        "request_nodes": np.ones(arrays, np.int64),
        "time_limit_s": draw.choice([3_600, 14_400, 86_400], arrays),
        "host": pl.Series([None], dtype=pl.String).extend_constant(None, arrays - 1),
        "script_digest": pl.Series([None], dtype=pl.String).extend_constant(None, arrays - 1),
    })  # fmt: skip
    return of_arrays[of]


def _changes(seen: Ints, start: Ints, end: Ints, state: Ints, hosts: pl.Series) -> pl.DataFrame:
    """Pending, running (where `start` is not −1) and the end, job after job."""
    kept = np.stack([np.ones(len(seen), bool), start >= 0, np.ones(len(seen), bool)], 1).ravel()
    known = np.stack([seen, start, end], 1).ravel()[kept]
    order = {one.value: place for place, one in enumerate(State)}
    ends = np.array([order[one.value] for one in _STATES])[state]
    first = [np.full(len(seen), order[one], np.int64) for one in ("pending", "running")]
    numbers = np.stack([*first, ends], 1).ravel()[kept].astype(np.uint8)
    row = np.repeat(np.arange(len(seen)), 3)[kept]
    running = pl.Series(numbers == order["running"])
    return pl.DataFrame({
        "row": row, "known": pl.Series(known).cast(_MOMENT), "time": known,
        "state": pl.Series([one.value for one in State], dtype=_STATE).gather(numbers),
    }).with_columns(
        code=pl.lit(None, pl.Int16), host=pl.when(running).then(hosts.gather(row)),
    )  # fmt: skip


def _words(head: str, count: int) -> pl.Series:
    return pl.select(pl.format(head + "{}", pl.int_range(count))).to_series()
