"""scontrol's text → records: ``show job -o``, ``show config``, ``show node``, ``show partition``.

Values may hold blanks, and a job's name or comment may hold anything, even what looks like other
keys or other jobs. So a key that occurs twice is left out (its job can thereby hide things of its
own, and forge nothing), and only records with the id that was asked for count. Format:
scontrol(1).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.program.submission.shown import shown_config, shown_fields, shown_records
from jobsight.program.submission.sizes import known_text, parse_tres
from jobsight.program.submission.times import parse_span, parse_time

__all__ = [
    "Config",
    "Node",
    "Partition",
    "Shown",
    "leading_number",
    "read_config",
    "read_jobs",
    "read_nodes",
    "read_partitions",
    "shown_of",
]

_TIMES = ("Submit", "Eligible", "Start", "End", "Suspend")
_AWAY = ("DOWN", "DRAIN", "FAIL", "MAINT", "NOT_RESPONDING", "UNKNOWN")
_AS_OF = re.compile(r"Configuration data as of (\S+)", re.ASCII)


@dataclass(frozen=True)
class Shown:
    """What ``scontrol show job`` reports of a job. Times are µs since 1970; None: unknown."""

    id: SlurmId
    fields: Mapping[str, str]
    """Every key that occurs once, but for Slurm's words for none."""
    times: Mapping[str, int | None]
    """Submit, Eligible, Start (while it is pending: the estimate), End, Suspend."""
    time_limit_s: float | None

    @property
    def batch(self) -> bool:
        """Whether it has a batch script."""
        return self.fields.get("BatchFlag", "0") != "0"

    @property
    def user(self) -> str:
        """Whose it is, without the user's number."""
        return self.fields.get("UserId", "").partition("(")[0]

    @property
    def restarts(self) -> int | None:
        """How often it was requeued."""
        return leading_number(self.fields.get("Restarts"))


@dataclass(frozen=True)
class Config:
    """What ``scontrol show config`` reports of a cluster; spans in seconds."""

    cluster: str
    version: str | None
    now: int | None
    """The controller's clock, µs since 1970."""
    min_job_age: int | None
    accounting: bool
    """It keeps accounts in a database that sacct can ask."""
    scripts_kept: bool
    """Its database keeps batch scripts."""
    max_array_size: int | None = None
    """Numbers of array tasks are below it."""
    sampling: str | None = None
    """What measures the use of jobs, and how often: ``jobacct_gather/linux every 30 s``."""


def read_jobs(text: str, base: str, zone: dt.tzinfo) -> Iterator[Shown]:
    """The records of one job, of all tasks of an array or all components of a het job.

    They are in what ``scontrol -o show job`` printed. Left out are records of other jobs than the
    one that was asked for (`base`), those that cannot be read, and those that give themselves the
    same id: a name made one of them. Times without a zone are of `zone`.
    """
    asked = re.escape(base)
    first = re.compile(
        rf"^JobId=(?:{asked} (?:SLUID=\w+ )?JobName="
        rf"|\d{{1,10}} (?:SLUID=\w+ )?(?:ArrayJobId|HetJobId)={asked} )",
        re.ASCII | re.MULTILINE,
    )
    starts = [found.start() for found in first.finditer(text)]
    records = []
    for start, stop in itertools.pairwise([*starts, len(text)]):
        fields = shown_fields(text[start:stop])
        # Its id, which comes first, is its own whatever its name imitates.
        if own := re.match(r"JobId=(\d{1,10}) ", text[start:stop], re.ASCII):
            fields["JobId"] = own[1]
        records.append(fields)
    ids = Counter(record.get("JobId") for record in records)
    for record in records:
        if ids[record.get("JobId")] > 1:
            continue
        with contextlib.suppress(ValueError):
            yield shown_of(record, zone, lambda _: None)


def shown_of(
    fields: Mapping[str, str], zone: dt.tzinfo, doubted: Callable[[ValueError], None]
) -> Shown:
    """The record with these fields; times without a zone are of `zone`.

    `doubted` is called with what cannot be read although the record is of use without it.

    Raises:
        ValueError: it has no id, or a time that is not one.
    """
    limit = None
    try:
        limit = parse_span(fields.get("TimeLimit", ""))
    except ValueError as error:
        doubted(ValueError(f"TimeLimit: {error}"))
    return Shown(
        id=_id(fields),
        fields={name: known for name in fields if (known := known_text(fields[name]))},
        times={name: parse_time(fields.get(f"{name}Time", ""), zone) for name in _TIMES},
        time_limit_s=limit,
    )


def leading_number(text: str | None) -> int | None:
    """The whole number at the beginning of a text."""
    found = re.match(r"\d{1,9}(?!\d)", text or "", re.ASCII)
    return int(found[0]) if found else None


def _id(fields: Mapping[str, str]) -> SlurmId:
    """The id as users see it: of an array task or a component, not its own number."""
    if "ArrayJobId" in fields and "ArrayTaskId" in fields:
        array, task = fields["ArrayJobId"], fields["ArrayTaskId"]
        return parse_id(f"{array}_{task}" if task.isdecimal() else f"{array}_[{task}]")
    if "HetJobId" in fields and "HetJobOffset" in fields:
        return parse_id(f"{fields['HetJobId']}+{fields['HetJobOffset']}")
    return parse_id(fields.get("JobId", ""))


def read_config(text: str, zone: dt.tzinfo) -> Config:
    """The lines of ``scontrol show config`` that matter here; None where one is lacking."""
    found = shown_config(text)
    version = re.match(r"\d{1,3}\.\d{1,3}", found.get("slurm_version", ""), re.ASCII)
    as_of = _AS_OF.search(text)
    try:
        now = parse_time(as_of[1], zone) if as_of else None
    except ValueError:
        now = None
    return Config(
        cluster=found.get("clustername", ""),
        version=version[0] if version else None,
        now=now,
        min_job_age=leading_number(found.get("minjobage")),
        accounting=found.get("accountingstoragetype", "").lower().endswith("slurmdbd"),
        scripts_kept="job_script" in found.get("accountingstoreflags", "").lower(),
        max_array_size=leading_number(found.get("maxarraysize")),
        sampling=_sampling(found.get("jobacctgathertype", ""), found.get("jobacctgatherfrequency")),
    )


def _sampling(plugin: str, frequency: str | None) -> str | None:
    if not plugin.startswith("jobacct_gather/") or plugin.endswith("/none"):
        return None
    seconds = re.match(r"(?:\S*\btask=)?(\d{1,6})", frequency or "", re.ASCII)
    often = (
        "" if seconds is None else f" every {seconds[1]} s" if int(seconds[1]) else " at the end"
    )
    return f"{plugin[:60]}{often}"


@dataclass(frozen=True)
class Node:
    """What ``scontrol show node`` reports of a node that may run jobs."""

    name: str
    partitions: tuple[str, ...]
    tres: Mapping[str, int]
    """What it has, as `parse_tres` reads it."""
    up: bool
    """Neither down nor drained."""


@dataclass(frozen=True)
class Partition:
    """What ``scontrol show partition`` reports of a partition."""

    name: str
    up: bool
    """Its jobs may start."""
    longest_s: float | None
    """The longest time limit; inf: none, None: unknown."""
    tier: int
    """Jobs of a higher one start first."""
    shared: int
    """Jobs that a CPU may run at a time."""
    default: bool = False
    """Jobs that name no partition go to it."""
    default_s: float | None = None
    """The time limit of jobs that name none; None: unknown."""
    default_memory_mb: tuple[int, int] = (0, 0)
    """What jobs get that ask for no memory, for each CPU and for each node."""


def read_nodes(text: str) -> Iterator[Node]:
    """The lines of ``scontrol --oneliner show node``; what cannot be read is left out."""
    for fields in shown_records(text, "NodeName"):
        try:
            tres = parse_tres(fields.get("CfgTRES", ""))
        except ValueError:
            continue
        state = fields.get("State", "").upper()
        yield Node(
            name=fields["NodeName"],
            partitions=tuple(filter(None, fields.get("Partitions", "").split(","))),
            tres=tres,
            up=not any(word in state for word in _AWAY),
        )


def read_partitions(text: str, config: str = "") -> Iterator[Partition]:
    """The lines of ``scontrol --oneliner show partition``, with defaults of ``show config``."""
    defaults = shown_config(config)
    for fields in shown_records(text, "PartitionName"):
        longest = _span(fields.get("MaxTime", ""))
        yield Partition(
            name=fields["PartitionName"],
            up=fields.get("State", "UP").upper() in ("UP", "DRAIN"),
            longest_s=longest,
            tier=leading_number(fields.get("PriorityTier")) or 1,
            shared=leading_number(fields.get("OverSubscribe", "").partition(":")[2]) or 1,
            default=fields.get("Default", "").upper() == "YES",
            default_s=_span(fields.get("DefaultTime", "")) or longest,
            default_memory_mb=_default_memory(fields, defaults),
        )


def _span(text: str) -> float | None:
    try:
        return parse_span(text)
    except ValueError:
        return None


def _default_memory(partition: Mapping[str, str], config: Mapping[str, str]) -> tuple[int, int]:
    for said in ({name.lower(): value for name, value in partition.items()}, config):
        cpu, node = (leading_number(said.get(f"defmemper{one}")) or 0 for one in ("cpu", "node"))
        if cpu or node:
            return cpu, node
    return 0, 0
