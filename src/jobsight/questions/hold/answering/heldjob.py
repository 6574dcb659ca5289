"""What is known of a held job itself: what a fix may rest on, and what is evidence of it alone.

How its program ended, whether its policy would hold it again, and where its files are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from jobsight.codes import exit_meaning, exit_signal
from jobsight.history.condor.expressions import evaluated
from jobsight.history.reasons import amounts_named, exit_told
from jobsight.questions.hold.answering.findings import Finding
from jobsight.text import printable

__all__ = [
    "CPUS",
    "DISK",
    "MEMORY",
    "UNKNOWN",
    "Held",
    "Known",
    "Pool",
    "Resource",
    "about_job",
]

_MOST = 1e15


@dataclass(frozen=True)
class Resource:
    """What a job asks for, and the attributes of ads that have amounts of it.

    Attributes:
        name: in words.
        unit: of its request, as written behind figures.
        size: bytes of the unit; 0: it is counted.
        most: amounts from which on a figure is an error, no machine has that.
        request: attribute of the request.
        used, given: attributes with what was used and what a slot has for it, and their units in
            that of the request.
    """

    name: str
    unit: str
    size: float
    most: float
    request: str
    used: Mapping[str, float]
    given: Mapping[str, float]

    @property
    def plural(self) -> str:
        """More of it, in a word."""
        return self.name if self.size else f"{self.name}s"

    def amount(self, figure: float) -> str:
        """An amount in words; a fraction only of what is counted."""
        if self.size:
            return f"{figure:,.0f} {self.unit}"
        return f"{figure:,.0f}" if float(figure).is_integer() else f"{figure:,.1f}"


MEMORY = Resource(
    "memory", "MB", 2.0**20, 2.0**26, "RequestMemory",
    {"MemoryUsage": 1, "ResidentSetSize": 1 / 1024, "ResidentSetSize_RAW": 1 / 1024},
    {"MemoryProvisioned": 1, "Memory": 1},
)  # fmt: skip
DISK = Resource(
    "disk", "KB", 2.0**10, 2.0**40, "RequestDisk",
    {"DiskUsage": 1, "DiskUsage_RAW": 1}, {"DiskProvisioned": 1, "Disk": 1},
)  # fmt: skip
CPUS = Resource(
    "CPU", "", 0.0, 2.0**14, "RequestCpus", {"CpusUsage": 1}, {"CpusProvisioned": 1, "Cpus": 1}
)


@dataclass(frozen=True)
class Known:
    """What is known of one resource of a job, in the unit of its request; 0: unknown.

    Attributes:
        used: the most it was seen to use.
        limit: what it was allowed, by the reason; else what it asked for; else what its slot had.
        asked: what it asked for.
        given: the most that a slot of its runs had.
    """

    used: float = 0.0
    limit: float = 0.0
    asked: float = 0.0
    given: float = 0.0


@dataclass(frozen=True)
class Pool:
    """What is known besides the history; asked for only where a job was held for a resource.

    Attributes:
        largest: gives the most that a slot has, by the attribute of a request.
        logs: gives the files of logs by their generations, as a store names them.
    """

    largest: Callable[[], Mapping[str, float]] = dict
    logs: Callable[[], Mapping[str, str]] = dict


UNKNOWN = Pool()


@dataclass(frozen=True)
class Held:
    """What is known of a held job that a fix may rest on.

    Attributes:
        code, subcode: of the hold; None where the log records none.
        reason: as the log has it.
        memory_mb: the most memory the job was seen to use, in MB; None if unknown.
        ad: the job's attributes, of the last 028; empty without one.
        runs: what records of its last runs say (`jobsight.history.allotments`).
        largest: the most that a slot of the pool has, by the attribute of the request.
    """

    code: int | None
    subcode: int | None
    reason: str
    memory_mb: float | None = None
    ad: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, float]] = ()
    largest: Mapping[str, float] = field(default_factory=dict)

    def known(self, of: Resource) -> Known:
        """All that is known of a resource; figures that no machine has are left out."""
        used, asked, given = self._recorded(of)
        named, limit = self.named(of)
        return Known(max(used, named), limit or asked or given, asked, given)

    def named(self, of: Resource) -> tuple[float, float]:
        """What was used and allowed by the reason, in the unit of the request; 0: unknown."""
        if not of.size:
            return 0.0, 0.0
        known = [amount * of.size for amount in self._recorded(of)]
        found = amounts_named(self.reason, of.name, known)
        used, limit = (max(_sound([(one or 0.0) / of.size], of)) for one in found)
        return used, limit

    def _recorded(self, of: Resource) -> tuple[float, float, float]:
        """What was used, asked for and given by ads and records."""
        seen = [self.memory_mb or 0.0] if of is MEMORY else []
        used = max(_sound([*seen, self._most(of, of.used)], of))
        return used, self._most(of, {of.request: 1}), self._most(of, of.given)

    def _most(self, of: Resource, names: Mapping[str, float]) -> float:
        ads = (self.ad, *self.runs)
        return max(_sound((amount * unit for ad in ads for name, unit in names.items()
                           if (amount := _number(ad.get(name)))), of))  # fmt: skip

    def number(self, name: str) -> float | None:
        """A positive number among the attributes; None where there is none."""
        return _number(self.ad.get(name))

    def ended(self) -> tuple[int | None, int | None]:
        """The exit code and the signal of the program, where a policy held the job for them."""
        if self.code not in (3, 21, 26):
            return None, None
        if "OnExitHold" in self.reason and self.ad.get("ExitBySignal") is not None:
            value = self.ad.get("ExitSignal" if self.ad["ExitBySignal"] else "ExitCode")
            number = value if isinstance(value, int) else None
            return (None, number) if self.ad["ExitBySignal"] else (number, None)
        return exit_told(self.reason)

    def ending(self) -> str | None:
        """`ended` in words, such as ``exit code 3``; None where it did not end by itself."""
        code, signal = self.ended()
        if code is not None:
            return f"exit code {code}"
        return None if signal is None else f"signal {signal}"


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 < value < _MOST else None


def _sound(amounts: Iterable[float], of: Resource) -> Iterator[float]:
    """Those amounts that a machine may have, or 0."""
    yield 0.0
    yield from (amount for amount in amounts if amount < of.most)


def about_job(held: Held) -> list[Finding]:
    """Findings on the job alone; see `jobsight.questions.hold.answering.findings`."""
    return [*_exit(held), *_policy(held), *_files(held)]


def _exit(held: Held) -> list[Finding]:
    code, signal = held.ended()
    meaning = exit_meaning(code, signal)
    if meaning is None:
        return []
    signal = signal if code is None else exit_signal(code)
    text = f"{held.ending()} is {meaning}"
    return [{"what": "exit", "text": text, "code": code, "signal": signal}]


_POLICY = re.compile(
    r"The (?:job attribute|system macro) (\w{0,20}Periodic_?Hold\w{0,40}) expression "
    r"'(.{1,500})' evaluated to",
    re.IGNORECASE,
)


def _policy(held: Held) -> list[Finding]:
    """Whether the policy that held the job would hold it again after a release."""
    found = _POLICY.search(held.reason[:1000])
    if found is None:
        return _limit(held)
    # Released it waits (1), then runs (2); all else is as it was last recorded.
    ad = {name.lower(): value for name, value in held.ad.items()}
    values = [evaluated(found[2], ad | {"jobstatus": status}) for status in (1, 2)]
    again = True if True in values else False if values == [False, False] else None
    words = {
        True: "is still true of it, and would hold it again",
        False: "is no longer true of it, and would not hold it at once",
        None: "holds it again whenever it is true",
    }
    text = f"the {found[1]} expression {printable(found[2], 160)} {words[again]}"
    return [{"what": "policy", "text": text, "holds_again": again}]


def _limit(held: Held) -> list[Finding]:
    """Whether the memory that a policy found in use is more than the job asks for now."""
    used, request = held.named(MEMORY)[0], held.number("RequestMemory")
    if held.code not in (3, 21, 26, 34) or not used or request is None:
        return []
    again = used > request
    words = "would be held again for it" if again else "would not be held for it again"
    text = f"it used {used:,.0f} MB and RequestMemory is {request:,.0f} MB: as it is it {words}"
    return [{"what": "policy", "text": text, "holds_again": again}]


def _files(held: Held) -> list[Finding]:
    """Where its standard error and its log are."""
    paths = {"stderr": _path(held, "Err"), "log": _path(held, "UserLog")}
    names = {"stderr": "standard error", "log": "log"}
    files = [f"its {names[key]} is {path}" for key, path in paths.items() if path]
    return [{"what": "files", "text": ", ".join(files)} | paths] if files else []


def _path(held: Held, attribute: str) -> str | None:
    """The path in an attribute, from the folder that the job was submitted in."""
    name, folder = held.ad.get(attribute), held.ad.get("Iwd")
    if not isinstance(name, str) or not name:
        return None
    base = folder if isinstance(folder, str) else ""
    return printable(str(PurePosixPath(base, name)), 400)
