"""The job document: all that is known of one job, the unit of the store.

Times are µs since 1970, UTC. None means: not known. Memory and disk are in MB of 2^20 bytes, spans
in seconds. Every struct is frozen; a changed document is a new one. They hold no
cycles, so the garbage collector, which would take as long as decoding, does not track them.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from jobsight.documents.states import State

__all__ = [
    "JSON",
    "SCHEMA",
    "Event",
    "JobDocument",
    "Outcome",
    "Prediction",
    "Program",
    "Request",
    "Submission",
    "Usage",
    "fill",
]

SCHEMA = 1
"""Version of the schema that this code writes."""

JSON = Any
"""A value of JSON: None, bool, int, float, str, list or dict of these."""


_AnySection = TypeVar("_AnySection", bound="_Section")


class _Section(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    kw_only=True,
    gc=False,
):
    """What all sections share: fields left at their default are not written."""


def fill(first: _AnySection, second: _AnySection) -> _AnySection:
    """`first`, its unknown fields (None) taken from `second`."""
    if first == second:
        return second
    gaps = {
        name: value
        for name in first.__struct_fields__
        if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    return msgspec.structs.replace(first, **gaps) if gaps else first


class Request(_Section, frozen=True):
    """What the job asks for."""

    cpus: int | None = None
    nodes: int | None = None
    tasks: int | None = None
    gpus: int | None = None
    memory_mb: int | None = None
    """For the whole job."""
    disk_mb: int | None = None
    time_limit_s: int | None = None
    """-1: unlimited."""
    partition: str | None = None
    qos: str | None = None
    account: str | None = None
    """The account or accounting group that is charged."""
    reservation: str | None = None
    constraints: str | None = None
    """Slurm's features, or HTCondor's requirements expression."""
    tres: str | None = None
    """Slurm's trackable resources, as Slurm writes them."""
    dependency: str | None = None
    priority: int | None = None


class Submission(_Section, frozen=True):
    """How the job came to be."""

    submitted: int | None = None
    user: str | None = None
    group: str | None = None
    project: str | None = None
    name: str | None = None
    command: str | None = None
    """The executable or batch script, by its path."""
    arguments: str | None = None
    line: str | None = None
    """The submit line, as typed."""
    directory: str | None = None
    stdout: str | None = None
    """Where its output goes: a path, or Slurm's pattern of one. The user's own words."""
    stderr: str | None = None
    host: str | None = None
    """Where it was submitted from."""
    script: str | None = None
    """The text of the batch script."""
    directives: tuple[str, ...] | None = None
    """The script's own options (``#SBATCH``), or lines of a submit file."""
    comment: str | None = None
    dag: str | None = None
    """``<DAGMan job>:<node>`` of a DAG's node."""
    array: str | None = None
    """Slurm's id of the array, HTCondor's cluster: siblings share it."""
    raw_id: str | None = None
    """Slurm's own number of an array task or het component."""
    sluid: str | None = None
    """Slurm's id of a run, since 26.05: the last run's, for each requeue gives a new one."""


class Program(_Section, frozen=True):
    """What the job runs, as found by reading it."""

    language: str | None = None
    imports: tuple[str, ...] | None = None
    findings: tuple[dict[str, JSON], ...] | None = None


class Usage(_Section, frozen=True):
    """What the job used, in all its runs or in the last one, as its scheduler counts it."""

    wall_s: float | None = None
    cpu_s: float | None = None
    """Of all steps and tasks."""
    memory_mb: int | None = None
    """Largest resident memory seen on one node, of all tasks and steps that ran there at once."""
    total_memory_mb: int | None = None
    """The same on all nodes together; None: as `memory_mb`, or not known."""
    memory_by: str | None = None
    """What measured the memory, such as ``jobacct_gather/linux every 30 s``."""
    tasks: int | None = None
    """Most tasks that srun started at once."""
    task_cpus: float | None = None
    """CPUs that the busiest task kept busy, in the mean over its run."""
    gpus_busy: float | None = None
    """GPUs in use at once: of Slurm the most that was sampled, of HTCondor the mean."""
    gpu_memory_mb: int | None = None
    """The most used."""
    disk_mb: int | None = None
    read_mb: float | None = None
    written_mb: float | None = None
    cpus: int | None = None
    """Allocated."""
    gpus: int | None = None
    """Allocated."""
    nodes: int | None = None
    hosts: str | None = None
    """Nodes of the last run, as the scheduler lists them."""
    tres: str | None = None
    """Allocated trackable resources, as Slurm writes them."""
    energy_j: float | None = None
    starts: int | None = None
    holds: int | None = None
    requeues: int | None = None
    bound: dict[str, JSON] | None = None
    """What bound the job, where ``jobsight profile --save`` or Slurm's prolog watched it: `source`,
    `shares`, `classes` and `unmeasured`; of the prolog also how many `nodes`, and the `probability`
    with which it chose the job."""


class Event(_Section, frozen=True):
    """One thing that happened to a job: a record of an event log, a step of its life, a sighting.

    The fields after `reason` are columns of the event table by the same names; they are known for
    records of HTCondor logs, and where another source reports the same.
    """

    time: int
    source: str
    """Who reported it: an event log by its identity, ``sacct``, ``squeue``, ``scontrol``,
    ``jobcomp``, ``notice``, or the name of an importer."""
    undated: bool = False
    """When it happened is unknown; `time` is then the last moment known."""
    position: int | None = None
    """Byte offset in the log named by `source`."""
    state: State | None = None
    """The job's state after it; None: as before."""
    word: str | None = None
    """The scheduler's own word for the state."""
    reason: str | None = None
    code: int | None = None
    subproc: int | None = None
    hold_code: int | None = None
    hold_subcode: int | None = None
    return_value: int | None = None
    signal: int | None = None
    host: str | None = None
    slot: str | None = None
    memory_mb: int | None = None
    vacate_code: int | None = None
    vacate_subcode: int | None = None
    attributes: str | None = None
    """JSON of the event's 028."""
    owner: str | None = None
    detail: int | None = None
    dag_node: str | None = None


class Outcome(_Section, frozen=True):
    """How the job ended; follows from the timeline."""

    state: State
    ended: int | None
    """None: when is unknown."""
    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None


class Prediction(_Section, frozen=True):
    """What a question's model said of the job, kept for later review."""

    question: str
    model: str
    time: int
    inputs: str
    """Hash of what the model read."""
    answer: dict[str, JSON]


class JobDocument(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="schema",
    tag=SCHEMA,
    gc=False,
):
    """All that is known of one job.

    `state` and `outcome` follow from `timeline`: `jobsight.documents.merge` derives them. A source
    that knows a part of a job makes a document of that part.
    """

    id: str
    updated: int
    """When its newest source looked, or the time of the newest record."""
    state: State | None = None
    request: Request = Request()
    submission: Submission = Submission()
    program: Program = Program()
    timeline: tuple[Event, ...] = ()
    dropped: int = 0
    """Number of timeline entries left out of the middle, see `merge.MOST_EVENTS`."""
    usage: Usage = Usage()
    outcome: Outcome | None = None
    predictions: tuple[Prediction, ...] = ()
