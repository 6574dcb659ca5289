"""JS210–JS212, JS215: what is asked for, against what the job uses and the cluster has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from jobsight.program.preflight.amounts import allocations, other_allocations
from jobsight.program.preflight.condorjob import CondorJob
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Source
from jobsight.program.submission.job import Place
from jobsight.program.submission.proposals import Ceilings, proposed
from jobsight.program.submission.sbatch import memory_mb
from jobsight.text import meant

if TYPE_CHECKING:
    from jobsight.program.site import Node, Partition


__all__ = ["ceilings"]

_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")


@rule("JS210 More memory is allocated than was asked for")
def _memory(job: Job) -> Iterator[Hit]:
    """Constant sizes in Python programs, ``-Xmx`` of Java, buffers of sort and stress."""
    asked = _memory_mb(job)
    if not asked:
        return
    for program, text in job.pythons:
        for node, size in allocations(text):
            if size > asked * 2**20:
                message = f"this allocates {size / 2**20:,.0f} MB, the job has {asked:,} MB"
                yield hit(node, message, _more(size, job), source=program.source)
    yield from _other_memory(job, asked)


def _other_memory(job: Job, asked: int) -> Iterator[Hit]:
    """Of programs in other languages, and of options of commands."""
    for program, source in job.sources:
        used = partial(_used, job, source)
        for line, size in other_allocations(source.text, program.language or "", used):
            if size > asked * 2**20:
                message = f"this allocates {size / 2**20:,.0f} MB, the job has {asked:,} MB"
                yield hit(line, message, _more(size, job), source=source)
    for command in job.commands:
        words = command.words if command.name not in ("sbatch", "salloc") else ()
        for word, before in zip(words, ("", *(one.text for one in words)), strict=False):
            found = re.fullmatch(r"-Xm[xs](\d+)([kmgKMG])", word.text)
            form = r"--?(?:vm-bytes|buffer-size|memory|mem|max-memory)=?(\d+)([kmgKMG])b?"
            found = found or re.fullmatch(form, word.text)
            if not found and command.name == "sort" and before in ("-S", "--buffer-size"):
                found = re.fullmatch(r"(\d+)([kmgKMG])", word.text)
            if found:
                size = int(found[1]) << {"k": 10, "m": 20, "g": 30}[found[2].lower()]
                if size > asked * 2**20:
                    message = f"{word.text}, but the job has {asked:,} MB"
                    yield hit(word, message, _more(size, job), source=command.source)


def _used(job: Job, source: Source, name: str) -> str:
    """The text of a header, or of the program that has a module of Fortran."""
    if "." in name:
        return job.machine.text(f"{source.folder}/{name}") or ""
    texts = (one.text for _, one in job.sources)
    return next((one for one in texts if re.search(rf"(?im)^[ \t]*module\s+{name}\b", one)), "")


def ceilings(job: Job | CondorJob) -> Ceilings:
    """The most that a job may ask for where it is submitted to."""
    if job.site is None:
        return Ceilings()
    if isinstance(job, CondorJob) or not job.is_slurm:
        return Ceilings(job.site.largest_slot.get("RequestMemory"))
    return job.site.ceilings(_partitions(job))


def _more(size: float, job: Job) -> str:
    """What to ask for, for so many bytes."""
    most, asked = ceilings(job).memory_mb, _memory_mb(job) or 0
    amount = proposed(size * 1.1 / 2**20, had=[asked], used=size / 2**20, most=most, step=1024)
    if amount is None:
        return f"allocate less: no node known has more than {most:,.0f} MB"
    name = "#SBATCH --mem=" if job.is_slurm else "request_memory = "
    return f"{name}{amount}M" if amount % 1024 else f"{name}{amount // 1024}G"


def _memory_mb(job: Job) -> int | None:
    """MB that a node of the job has for it; None: unknown, 0: all."""
    if not job.is_slurm:
        return job.memory
    request = job.submission.request
    if request.node_memory_mb is not None:
        return request.node_memory_mb
    partition = _partition(job)
    for fields in (partition.fields if partition else {}, job.site.config if job.site else {}):
        each = fields.get("DefMemPerNode", fields.get("defmempernode", ""))
        if each.isdecimal():
            return int(each)
        each = fields.get("DefMemPerCPU", fields.get("defmempercpu", ""))
        if each.isdecimal():
            return int(each) * request.cpus
    return None


def _partition(job: Job) -> Partition | None:
    names = _partitions(job)
    if job.site is None:
        return None
    return job.site.partitions.get(names[0]) if names else job.site.default_partition


def _partitions(job: Job) -> list[str]:
    """The partitions that are named."""
    named = job.submission.value("partition")
    return [] if named is None else named.split(",")


@rule("JS211 The partition is not there, or does not take the job")
def _partition_refuses(job: Job) -> Iterator[Hit]:
    """Names, states, accounts, qualities of service."""
    if not job.is_slurm or job.site is None or not job.site.partitions:
        return
    settings = job.submission.settings
    named = settings.get("partition")
    names = _partitions(job)
    for name in names:
        if name not in job.site.partitions and named is not None:
            near = meant(name, job.site.partitions)
            have = ", ".join(sorted(job.site.partitions)[:8])
            fix = f"--partition={near}" if near else f"one of {have}"
            yield hit(named, f"there is no partition {name}", fix)
            return
    chosen = _partition(job)
    if chosen is None or len(names) > 1:
        return
    state = chosen.fields.get("State", "UP")
    if state not in ("UP", "") and named is not None:
        yield hit(named, f"partition {chosen.name} is {state}: the job would wait")
    for what, option in (("Accounts", "account"), ("Qos", "qos")):
        if option in settings and chosen.refuses(what, settings[option].value):
            allowed = chosen.fields.get(f"Allow{what}", "")
            message = f"partition {chosen.name} does not take {option} {settings[option].value}"
            others = f"one of {allowed[:100]}" if allowed not in ("", "ALL") else None
            yield hit(settings[option], message, others)


@rule("JS212 More is asked for than the partition allows or has")
def _limits(job: Job) -> Iterator[Hit]:
    """Time, nodes, CPUs, memory, GPUs, features, size of arrays: the job would wait for ever."""
    if not job.is_slurm or job.site is None:
        return
    chosen = _partition(job)
    settings, request = job.submission.settings, job.submission.request
    if chosen is not None and len(_partitions(job)) < 2:
        limit, time = chosen.time_s, request.time_s
        if limit is not None and time is not None and (time > limit or time < 0):
            message = f"--time is more than the {limit / 60:,.0f} minutes that {chosen.name} allows"
            yield hit(settings["time"], message, f"--time={int(limit // 60)}")
        most = chosen.number("MaxNodes")
        if most is None and chosen.fields.get("TotalNodes", "").isdecimal():
            most = int(chosen.fields["TotalNodes"])
        if most and request.nodes > most and "nodes" in settings:
            message = f"--nodes={request.nodes} is more than the {most} of {chosen.name}"
            yield hit(settings["nodes"], message, f"--nodes={most}")
        yield from _most(job, chosen)
    yield from _node_limits(job, chosen)
    array, most_array = request.array, job.site.config.get("maxarraysize", "")
    if array and most_array.isdecimal():
        last = max(map(int, re.findall(r"\d+", re.sub(r"[:%]\d+", "", settings["array"].value))))
        if last >= int(most_array):
            yield hit(settings["array"], f"task {last} is not below MaxArraySize {most_array}")


def _most(job: Job, chosen: Partition) -> Iterator[Hit]:
    """CPUs and memory of a partition."""
    request, total = job.submission.request, chosen.number("TotalCPUs")
    place = job.submission.first("ntasks", "ntasks-per-node", "cpus-per-task")
    if total and place and request.cpus > total:
        yield hit(place, f"{request.cpus} CPUs are more than the {total} of {chosen.name}")
    cap = chosen.number("MaxMemPerNode")
    place = job.submission.first(*_MEMORY)
    if cap and place and (request.needed_memory_mb or 0) > cap:
        yield hit(place, f"{chosen.name} allows {cap:,} MB per node")


def _node_limits(job: Job, chosen: Partition | None) -> Iterator[Hit]:
    assert job.site is not None
    request = job.submission.request
    nodes = job.site.nodes_of(_partitions(job))
    names = set(_partitions(job)) or ({chosen.name} if chosen else set())
    if not nodes:
        return
    where = f"a node of {', '.join(sorted(names))}" if names else "a node"
    place = job.submission.first(*_MEMORY)
    largest = max(one.memory_mb for one in nodes)
    needed = request.needed_memory_mb or 0
    if place and largest and needed > largest:
        message = f"{needed:,} MB are more than {where} has: {largest:,} MB"
        most = largest * (memory_mb(place.value) or 0) // needed
        yield hit(place, message, f"--{place.name}={most}M at most")
    cpus = max(one.cpus for one in nodes)
    each = request.cpus_per_task * request.node_tasks
    named = ["ntasks-per-node", "ntasks", "nodes"] if request.node_tasks > 1 else []
    at = job.submission.first(*named, "cpus-per-task")
    if at is not None and cpus and each > cpus:
        yield hit(at, f"{each} CPUs are more than {where} has: {cpus}")
    yield from _gpu_limits(job, nodes, where)
    yield from _named_nodes(job, nodes, where)


def _named_nodes(job: Job, nodes: list[Node], where: str) -> Iterator[Hit]:
    """Nodes and features that are named."""
    assert job.site is not None
    settings = job.submission.settings
    known = {one.name for one in job.site.nodes}
    for name in re.split(r",(?![^\[]*\])", job.submission.value("nodelist") or ""):
        if name and not re.search(r"[\[$/]", name) and name not in known:
            yield hit(settings["nodelist"], f"there is no node {name}", meant(name, known))
    if "constraint" in settings:
        text = settings["constraint"].value
        have = frozenset().union(*(one.features for one in nodes))
        for feature in re.findall(r"[A-Za-z_][\w.-]*", text):
            if feature not in have and not re.search(r"[|()!*]", text):
                near = meant(feature, have)
                message = f"{where} with feature {feature} does not exist"
                yield hit(settings["constraint"], message, near and f"--constraint={near}")


def _gpu_limits(job: Job, nodes: list[Node], where: str) -> Iterator[Hit]:
    settings = job.submission.settings
    for option in ("gres", "gpus-per-node", "gpus", "gpus-per-task"):
        if option not in settings:
            continue
        for kind, number in re.findall(
            r"(?:^|,)(?:gres[:/])?(?:gpu(?=:|,|$|\()):?([A-Za-z][\w.-]*)?:?(\d+)?"
            if option == "gres"
            else r"(?:^|,)(?:([A-Za-z][\w.-]*):)?(\d+)",
            settings[option].value,
        ):
            most = max(one.gpus.get(kind, 0) for one in nodes)
            count = int(number or 1)
            if not most:
                types = sorted({name for one in nodes for name in one.gpus if name})
                what = f"GPUs of type {kind}" if kind else "GPUs"
                near = meant(kind, types) if kind else None
                fix = f"{near}?" if near else f"types: {', '.join(types)}" if types else None
                yield hit(settings[option], f"{where} with {what} does not exist", fix)
            elif count > most and option in ("gres", "gpus-per-node"):
                yield hit(settings[option], f"{count} GPUs are more than {where} has: {most}")


@rule("JS215 No memory or time is asked for", severity="warning")
def _nothing_asked(job: Job) -> Iterator[Hit]:
    """Where the site's default is small, or there is none and the job would take the longest."""
    chosen = _partition(job) if job.is_slurm else None
    if chosen is None or "time" in job.submission.settings:
        return
    default = chosen.fields.get("DefaultTime", "")
    if default == "NONE" and (chosen.time_s is None or chosen.time_s > 86400):
        first = min((one.place for one in job.submission.settings.values()), default=Place(1))
        message = f"no --time: {chosen.name} then takes its longest, and backfill cannot place it"
        yield hit(first, message, "#SBATCH --time=HH:MM:SS")
