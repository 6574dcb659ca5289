"""The jobs of a table as they are asked about, by what they are compared; one not submitted yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from jobsight.errors import UsageError
from jobsight.history.jobtable import JobTable
from jobsight.history.past import KEYS, asked_columns
from jobsight.program.submission.job import Submission
from jobsight.program.submission.sbatch import read_sbatch

__all__ = ["KeysUsed", "jobs_asked", "request_columns", "requested", "submitted_now"]

_DAY = 86_400_000_000
_USER = pl.coalesce("owner", "account")
_CARRIED = ("id", "job", "scheduler", "scheduler_name", "start", "array_task_id", "submit",
            "script")  # fmt: skip
_ALWAYS = ("all", "user", "request")


def jobs_asked(jobs: JobTable) -> pl.DataFrame:
    """One row per job, with the columns that features are made of, and `decided` (µs).

    `host` is the node of the first start; `earlier` counts the jobs that the user had submitted
    before, null where the user is unknown.
    """
    names = list(dict.fromkeys([*_CARRIED, *asked_columns()]))
    table = jobs.table.drop("host").with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    table = table.join(
        jobs.starts.select("row", "host"), on="row", how="left", maintain_order="left"
    )
    return table.select(names).with_columns(
        row=pl.int_range(pl.len()),
        decided=pl.col("seen").to_physical(),
        log=pl.col("scheduler_name").rank("dense").cast(pl.Int64).fill_null(0),
        batch=pl.int_range(pl.len()),
        drawn=pl.struct(_USER, pl.col("seen").to_physical() // _DAY).rank("dense").cast(pl.Int64),
        earlier=pl.when(_USER.is_not_null()).then(pl.col("seen").rank("min").over(_USER) - 1),
        group=pl.col("group").fill_null(pl.col("id")),
    )  # fmt: skip


def submitted_now(
    jobs: JobTable, job: Mapping[str, Any], moment: int, schema: Mapping[str, Any]
) -> pl.DataFrame:
    """A job that is to be submitted at a moment (µs), as one row; columns it lacks are null.

    The job is given by columns of the job table, the history as of the moment. Partition and
    account are those of its owner's last job, where it names none. Folder and script are left out
    where they are not recorded of the owner's jobs: no job could have the same.
    """
    own = [pl.col(name).eq_missing(pl.lit(job.get(name))) for name in ("owner", "scheduler")]
    mine = jobs.table.filter(*own)
    usual = mine.select("partition", "account").tail(1).to_dicts()
    given = {name: value for name, value in job.items() if value is not None}
    for name in ("work_dir", "command", "script_digest"):
        if mine[name].null_count() == len(mine):
            given.pop(name, None)
    now = {"seen": moment, "decided": moment, "group": "unsubmitted"}
    row = {**(usual[0] if usual else {}), **given, **now}
    return pl.DataFrame([{name: row.get(name) for name in schema}], schema=dict(schema))


@dataclass(frozen=True)
class KeysUsed:
    """Keys by which the jobs of the training part differ; what is learned before any model.

    Attributes:
        keys: of `KEYS`.
        scripts: whether there are texts of batch scripts.
    """

    keys: tuple[str, ...]
    scripts: bool = False

    horizon_micros: ClassVar[int] = 0

    @classmethod
    def of(cls, rows: pl.DataFrame) -> KeysUsed:
        """The keys that group the rows in ways of their own.

        A trace may know no names, or one account for each user: such keys say nothing new.
        """
        ways: dict[int, str] = {}
        for name, parts in KEYS.items():
            key = rows.select(
                pl.struct(parts).rank("dense") if parts else pl.int_range(pl.len()) * 0
            )
            first = key.with_row_index().group_by(key.columns[0]).agg(pl.col("index").min())
            way = key.join(first, on=key.columns[0], maintain_order="left")["index"]
            ways.setdefault(hash(way.to_numpy().tobytes()), name)
        found = {*ways.values(), *_ALWAYS}
        scripts = rows["script"].null_count() < len(rows)
        return cls(tuple(name for name in KEYS if name in found), scripts)

    def to_json(self) -> dict[str, Any]:
        """As plain data, which `from_json` reads back."""
        return {"keys": list(self.keys), "scripts": self.scripts}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> KeysUsed:
        """What `to_json` gave; ValueError where a key is unknown."""
        keys = tuple(str(name) for name in data["keys"])
        if not set(keys) <= set(KEYS):
            raise ValueError("a key is not known")
        return cls(keys, bool(data.get("scripts")))


def requested(script: str, options: Sequence[str] = ()) -> dict[str, Any]:
    """The request of a batch script in columns of the job table; those it does not name are null.

    Options of the call (as given to sbatch) go before those of the script. Without an option for
    it, a job asks for one CPU for each task, one task and one node; its name is left out.

    Raises:
        UsageError: the value of an option cannot be read.
    """
    job = read_sbatch(script, options)
    refused = next((one for one in job.problems if one.kind == "value"), None)
    if refused is not None:
        raise UsageError(f"sbatch options: {refused.message}; {refused.fix or 'give one'}")
    return request_columns(job)


def request_columns(job: Submission) -> dict[str, Any]:
    """What sbatch is asked for, see `requested`."""
    request = job.request
    return {
        "name": job.value("job-name"),
        "partition": job.value("partition"),
        "account": job.value("account"),
        "qos": job.value("qos"),
        "work_dir": job.value("chdir"),
        "request_cpus": request.cpus,
        "request_nodes": request.nodes,
        "request_gpus": request.gpus,
        "request_memory_mb": request.memory_mb,
        "time_limit_s": request.time_s,
    }
