"""What a cluster allows and has: partitions, nodes, modules, slots; saved in a folder, or asked.

Files of a folder: ``scontrol-partition.txt``, ``scontrol-node.txt``, ``scontrol-config.txt`` (what
``scontrol show partition``, ``node``, ``config`` print), ``sinfo.txt``, ``condor_status.ads``
(``condor_status -long``), ``modulefiles/``. Each may be missing: then nothing is known of it.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from jobsight.commands import child_environment, find_tool, run_command
from jobsight.errors import SourceError
from jobsight.program.submission.proposals import Ceilings
from jobsight.program.submission.shown import shown_config, shown_records
from jobsight.program.submission.times import parse_span
from jobsight.text import printable

__all__ = ["Node", "Partition", "Site"]

_LARGEST = 64 << 20
_SECONDS = 10.0
_FRESH = 60.0
_ASKED_BY = ("PATH", "MODULEPATH", "SLURM_CONF", "CONDOR_CONFIG")
"""Variables that what the scheduler says depends on."""
_COMMANDS = {
    "scontrol-partition.txt": ("scontrol", "show", "partition", "-o"),
    "scontrol-node.txt": ("scontrol", "show", "node", "-o"),
    "scontrol-config.txt": ("scontrol", "show", "config"),
    "condor_status.ads": ("condor_status", "-long"),
}
_MOST_MODULES = 50_000


@dataclass(frozen=True)
class Partition:
    """A partition; None: not limited, or unknown.

    Attributes:
        name: its.
        fields: all that was printed of it.
        time_s: longest time limit.
    """

    name: str
    fields: Mapping[str, str]
    time_s: float | None

    def number(self, name: str) -> int | None:
        """A field that is a number; None: unlimited or unknown."""
        text = self.fields.get(name, "")
        return int(text) if text.isdecimal() else None

    def refuses(self, what: str, value: str) -> bool:
        """Whether AllowAccounts or AllowQos leaves a value out."""
        allowed = self.fields.get(f"Allow{what}", "ALL")
        denied = self.fields.get(f"Deny{what}", "")
        listed = allowed in ("ALL", "") or value in allowed.split(",")
        return not listed or value in denied.split(",")


@dataclass(frozen=True)
class Node:
    """A node: its CPUs, memory in MB, GPUs by type ("" for all), features and partitions."""

    name: str
    cpus: int
    memory_mb: int
    gpus: Mapping[str, int]
    features: frozenset[str]
    partitions: frozenset[str]


@dataclass(frozen=True)
class Site:
    """What is known of a cluster."""

    texts: Mapping[str, str]
    modulefiles: tuple[Path, ...] = ()
    live: bool = False
    lost: tuple[str, ...] = field(default=())

    @classmethod
    def saved(cls, folder: Path) -> Site:
        """What was saved in a folder.

        Raises:
            SourceError: it is not there, or a file in it cannot be read.
        """
        if not folder.is_dir():
            raise SourceError(f"--site {printable(folder, 80)}: there is no such folder")
        texts: dict[str, str] = {}
        for name in (*_COMMANDS, "sinfo.txt"):
            path = folder / name
            try:
                with path.open("rb") as file:
                    texts[name] = file.read(_LARGEST).decode("utf-8", "replace")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise SourceError(f"cannot read {printable(path, 80)}: {error.strerror}") from None
        modules = folder / "modulefiles"
        return cls(texts, (modules,) if modules.is_dir() else ())

    @classmethod
    def lately(cls) -> Site | None:
        """As `asked`, which a service does once a minute."""
        return _asked_at(int(time.monotonic() // _FRESH), tuple(map(os.environ.get, _ASKED_BY)))

    @classmethod
    def asked(cls) -> Site | None:
        """What the scheduler of this machine says; None: it has none."""
        texts: dict[str, str] = {}
        for name, words in _COMMANDS.items():
            tool = find_tool(words[0], None, ())
            if tool is None:
                continue
            try:
                ended = run_command((tool, *words[1:]), env=child_environment(), timeout=_SECONDS,
                                    most_output=_LARGEST)  # fmt: skip
            except OSError:
                continue
            if ended.status == 0:
                texts[name] = ended.stdout.decode("utf-8", "replace")
        folders = tuple(Path(one) for one in os.environ.get("MODULEPATH", "").split(":") if one)
        return cls(texts, folders, live=True) if texts or folders else None

    @cached_property
    def partitions(self) -> dict[str, Partition]:
        """By name; from ``sinfo`` where ``scontrol`` says nothing."""
        found: dict[str, Partition] = {}
        for fields in shown_records(self.texts.get("scontrol-partition.txt", ""), "PartitionName"):
            name = fields["PartitionName"]
            found[name] = Partition(name, fields, _span(fields.get("MaxTime", "")))
        if not found:
            found = _from_sinfo(self.texts.get("sinfo.txt", ""))
        return found

    @cached_property
    def default_partition(self) -> Partition | None:
        """Where jobs go that name none."""
        chosen = (one for one in self.partitions.values() if one.fields.get("Default") == "YES")
        return next(chosen, None)

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes."""
        text = self.texts.get("scontrol-node.txt", "")
        return [_node(one) for one in shown_records(text, "NodeName")]

    @cached_property
    def config(self) -> dict[str, str]:
        """Slurm's configuration, keys in lower case."""
        return shown_config(self.texts.get("scontrol-config.txt", ""))

    @cached_property
    def slots(self) -> list[dict[str, str]]:
        """The ads of an HTCondor pool, values as printed."""
        text = self.texts.get("condor_status.ads", "")
        ads = [dict(re.findall(r"(?m)^(\w+)\s*=\s*(.*?)\s*$", part))
               for part in re.split(r"\n\s*\n", text)]  # fmt: skip
        return [ad for ad in ads if ad]

    def ceilings(self, names: Collection[str]) -> Ceilings:
        """The most that a job of Slurm may ask for in a partition; none named is the default.

        Of several, the least that all allow is not known: only what a node has.
        """
        chosen = None if names else self.default_partition
        if len(names) == 1:
            chosen = self.partitions.get(next(iter(names)))
        sizes = [one.memory_mb for one in self.nodes_of(names) if one.memory_mb]
        cap = chosen.number("MaxMemPerNode") if chosen else None
        known = [one for one in (max(sizes, default=0), cap) if one]
        return Ceilings(min(known, default=None), chosen.time_s if chosen else None)

    def nodes_of(self, names: Collection[str]) -> list[Node]:
        """The nodes of partitions; none named is the default, all where there is none."""
        default = self.default_partition
        wanted = set(names) or ({default.name} if default else set())
        return [
            one
            for one in self.nodes
            if not wanted or not one.partitions - {""} or one.partitions & wanted
        ]

    @cached_property
    def largest_slot(self) -> dict[str, float]:
        """The most that one slot of an HTCondor pool has when nothing runs in it.

        By the attribute of a job's request, RequestMemory (MB), RequestDisk (KB), RequestCpus,
        RequestGPUs; without those that no ad has.
        """
        found = {f"Request{one}": max((_amount(ad, one) for ad in self.slots), default=0.0)
                 for one in ("Memory", "Disk", "Cpus", "GPUs")}  # fmt: skip
        return {name: most for name, most in found.items() if most}

    @cached_property
    def modules(self) -> frozenset[str] | None:
        """Names and names with versions of all modules; None: unknown."""
        if not self.modulefiles:
            return None
        names: set[str] = set()
        for root in self.modulefiles:
            for folder, folders, files in os.walk(root):
                folders[:] = [one for one in folders if not one.startswith(".")]
                inner = os.path.relpath(folder, root)
                for one in files:
                    if not one.startswith(".") or one == ".version":
                        stem = one.removesuffix(".lua")
                        names.add(stem if inner == "." else f"{inner}/{stem}")
                if inner != ".":
                    names.add(inner)
                if len(names) > _MOST_MODULES:
                    return None
        return frozenset(names)

    def module_text(self, name: str) -> str | None:
        """The file of a module with its version; None: unknown."""
        for path in (root / f"{name}{end}" for root in self.modulefiles for end in (".lua", "")):
            if name and ".." not in name and path.is_file():
                return path.read_text("utf-8", "replace")[:_LARGEST]
        return None


@lru_cache(maxsize=1)
def _asked_at(_period: int, _environment: tuple[str | None, ...]) -> Site | None:
    return Site.asked()


def _span(text: str) -> float | None:
    try:
        span = parse_span(text)
    except ValueError:
        return None
    return None if span is None or math.isinf(span) else span


def _from_sinfo(text: str) -> dict[str, Partition]:
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines or "PARTITION" not in lines[0]:
        return {}
    found: dict[str, Partition] = {}
    for line in lines[1:]:
        row = dict(zip(lines[0], line, strict=False))
        name = row["PARTITION"].rstrip("*")
        fields = {"Default": "YES" if row["PARTITION"].endswith("*") else "NO",
                  "State": row.get("AVAIL", "up").upper()}  # fmt: skip
        found[name] = Partition(name, fields, _span(row.get("TIMELIMIT", "")))
    return found


def _amount(ad: Mapping[str, str], attribute: str) -> float:
    """What a slot has when nothing runs in it; that of its machine only where this is not said."""
    texts = [ad.get(f"{front}{attribute}", "") for front in ("TotalSlot", "", "Total", "Detected")]
    known = [float(one) for one in texts if re.fullmatch(r"\d+(?:\.\d+)?", one)]
    return max(known[:1] if texts[0] else known[:2], default=0.0)


def _node(fields: Mapping[str, str]) -> Node:
    gpus: dict[str, int] = {}
    for part in re.findall(r"gpu(?::([^:,()]+))?:(\d+)", fields.get("Gres", "")):
        gpus[""] = gpus.get("", 0) + int(part[1])
        if part[0]:
            gpus[part[0]] = gpus.get(part[0], 0) + int(part[1])
    features = fields.get("AvailableFeatures", fields.get("Features", ""))

    def number(name: str) -> int:
        text = fields.get(name, "0")
        return int(text) if text.isdecimal() else 0

    return Node(
        fields["NodeName"], number("CPUTot"), number("RealMemory"), gpus,
        frozenset(features.split(",")), frozenset(fields.get("Partitions", "").split(",")),
    )  # fmt: skip
