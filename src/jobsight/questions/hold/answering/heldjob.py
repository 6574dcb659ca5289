"""What is known of a held job itself: what a fix may rest on, and what is evidence of it alone.

How its program ended, whether its policy would hold it again, and where its files are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from jobsight.codes import exit_meaning, exit_signal
from jobsight.history.reasons import amounts_named, exit_named
from jobsight.questions.hold.answering.findings import Finding
from jobsight.questions.hold.answering.policies import Policy, ahead, policy_of
from jobsight.text import printable

if TYPE_CHECKING:
    import polars as pl

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
    """What is known besides the history.

    Attributes:
        largest: gives the most that a slot has, by the attribute of a request.
        logs: gives the files of logs by their generations, as a store names them.
        ads: gives the ads of held jobs (rows of `held_jobs`) as the queue has them, by job number.
        here: name of this machine's schedd: commands need not name it where it is the only one.
    """

    largest: Callable[[], Mapping[str, float]] = dict
    logs: Callable[[], Mapping[str, str]] = dict
    ads: Callable[[pl.DataFrame], Mapping[int, Mapping[str, Any]]] = lambda _held: {}
    here: str | None = None


UNKNOWN = Pool()


@dataclass(frozen=True)
class Held:
    """What is known of a held job that a fix may rest on.

    Attributes:
        code, subcode: of the hold; None where the log records none.
        reason: as the log has it.
        memory_mb: the most memory the job was seen to use, in MB; None if unknown.
        ad: the job's attributes, of the queue or the last 028; empty without either.
        runs: what records of its last runs say (`jobsight.history.allotments`).
        largest: the most that a slot of the pool has, by the attribute of the request.
        fresh: the ad is not older than the hold.
    """

    code: int | None
    subcode: int | None
    reason: str
    memory_mb: float | None = None
    ad: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, float]] = ()
    largest: Mapping[str, float] = field(default_factory=dict)
    fresh: bool = True

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

    @cached_property
    def policy(self) -> Policy | None:
        """The policy expression that held it; None if none did, or it is not known which."""
        return policy_of(self.code, self.reason, self.ad, fresh=self.fresh)

    @cached_property
    def ahead(self) -> list[Policy]:
        """Its own other policies that act on it after a release, whatever held it."""
        held = None if self.policy is None else self.policy.name.lower()
        found = ahead(self.ad) if self.fresh else []
        return [one for one in found if one.name.lower() != held]

    @cached_property
    def again(self) -> bool:
        """Whether a policy holds or removes it as soon as it is released or starts."""
        acting = [*self.ahead, *([] if self.policy is None else [self.policy])]
        return any(one.when == "at once" for one in acting)

    def number(self, name: str) -> float | None:
        """A positive number among the attributes; None where there is none."""
        return _number(self.ad.get(name))

    def ended(self) -> tuple[int | None, int | None]:
        """The exit code and the signal of the program, where a policy held the job for them."""
        if self.code not in (3, 21, 26):
            return None, None
        named = exit_named(self.reason)
        if named == (None, None) and self.fresh and self.policy and self.policy.when == "at exit":
            killed = self.ad.get("ExitBySignal") is True
            value = self.ad.get("ExitSignal" if killed else "ExitCode")
            number = value if isinstance(value, int) else None
            return (None, number) if killed else (number, None)
        return named

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


def _policy(held: Held) -> list[Finding]:
    """Whether the policy that held the job would hold it again after a release, and others."""
    if held.policy is None:
        found = _limit(held)
    else:
        text = f"{held.policy.shown} {held.policy.again}"
        found = [{"what": "policy", "text": text, "holds_again": held.policy.holds_again}]
    for one in held.ahead:
        words = {
            "PeriodicHold": "is true of it too, and would hold it again",
            "PeriodicRemove": "would remove it as soon as it is released",
            "OnExitRemove": "keeps it in the queue after an exit with 0 too: it would run again",
        }[one.name]
        again = True if one.name == "PeriodicHold" else None
        found.append({"what": "policy", "text": f"{one.shown} {words}", "holds_again": again})
    return found


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
    if not isinstance(name, str) or name in ("", "/dev/null"):
        return None
    base = folder if isinstance(folder, str) else ""
    return printable(str(PurePosixPath(base, name)), 400)
