"""What is known of a held job itself: what a fix may rest on, and what is evidence of it alone.

How its program ended, where its files are, which policy of the job or of its access point held it,
and what that does at a release. A released job waits (JobStatus 1), then runs (2); counters of
starts have grown by one then, and what is counted from the change of its status begins anew. All
other attributes stay as they were: an expression that held the job and names none that changes
holds it again at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from jobsight.codes import exit_meaning, exit_signal
from jobsight.history.condor.expressions import evaluated, names_in
from jobsight.history.reasons import amounts_named, exit_named
from jobsight.questions.hold.answering.findings import Finding
from jobsight.text import printable, wordset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CPUS", "DISK", "JOB_POLICY", "MEMORY", "UNKNOWN", "Held", "Known", "Policy", "Pool",
           "Resource", "about_job", "ahead", "policy_of"]  # fmt: skip

JOB_POLICY = 3
"""The hold code of PeriodicHold and OnExitHold."""

_NAMED = re.compile(
    r"The (job attribute|system macro) (\w{0,20}(?:Periodic|On_?Exit)_?Hold\w{0,40}) expression "
    r"'(.{1,3000})' evaluated to TRUE",
    re.IGNORECASE | re.ASCII,
)
_ON_EXIT = re.compile(r"(?i)on_?exit")
_STARTS = wordset("numjobstarts numshadowstarts jobruncount")
_SINCE = wordset("enteredcurrentstatus jobcurrentstartdate jobcurrentstartexecutingdate shadowbday")
_NEVER = ("false", "undefined")
_RELEASED_AT = 10.0**9
"""Any moment in seconds: only the time since it counts."""

When = Literal["at once", "at exit", "later", "idle", "no longer", "unknown"]
_AGAIN: Mapping[When, str] = {
    "at once": "is still true of it, and would hold it again at once",
    "at exit": "holds it again at each such exit",
    "later": "holds it again once it has run for as long",
    "idle": "holds it again if it waits in the queue for as long",
    "no longer": "is no longer true of it, and would not hold it at once",
    "unknown": "holds it again whenever it is true",
}


@dataclass(frozen=True)
class Policy:
    """A policy expression that holds or removes jobs.

    Attributes:
        name: of the job attribute, or of the system macro in capitals.
        text: the expression; None where only its value is known.
        when: it holds the job again after a release: ``at once`` (it is true then, or at the next
            start), ``at exit`` if the program ends as before, ``later`` in a run as long as the
            last, ``idle`` if it waits as long as before, ``no longer``, or ``unknown``.
    """

    name: str
    text: str | None
    when: When

    @property
    def own(self) -> bool:
        """Whether it is the job's, so that its user may change it."""
        return not self.name.isupper()

    @property
    def again(self) -> str:
        """When it holds the job again, in words."""
        return _AGAIN[self.when]

    @property
    def holds_again(self) -> bool | None:
        """Whether it holds the job again; None where that depends on the next run."""
        return {"at once": True, "no longer": False}.get(self.when)

    @cached_property
    def names(self) -> frozenset[str]:
        """The attributes that the expression names, in lower case."""
        return frozenset() if self.text is None else names_in(self.text)

    @property
    def shown(self) -> str:
        """Whose it is, its name and its expression, to print."""
        whose = "its own policy" if self.own else "the policy of its access point"
        expression = "" if self.text is None else f" ({printable(self.text, 160)})"
        return f"{whose} {printable(self.name, 80)}{expression}"


def policy_of(
    code: int | None, reason: str, ad: Mapping[str, Any], *, fresh: bool
) -> Policy | None:
    """The policy that held a job; None if none did, or it is not known which.

    Args:
        code: of the hold.
        reason: of the hold (hostile text).
        ad: attributes of the job; expressions as texts, or, in a 028, as their values.
        fresh: the ad is not older than the hold.
    """
    named = _NAMED.search(reason[:4000])
    if named:
        if named[1].lower() != "job attribute":
            return _policy(named[2].upper(), named[3], ad, fresh=fresh)
        name = "OnExitHold" if _ON_EXIT.search(named[2]) else "PeriodicHold"
        now = ad.get(name)
        if not fresh or not isinstance(now, str) or now == named[3]:
            return _policy(name, named[3], ad, fresh=fresh)
        # Its user has changed it since.
        if now.lower() in _NEVER or (name == "PeriodicHold" and _released(now, ad) is False):
            return Policy(name, now, "no longer")
        return _policy(name, now, ad, fresh=True)
    if code != JOB_POLICY:
        return None
    hold, on_exit = _value(ad, "PeriodicHold"), _value(ad, "OnExitHold")
    true = on_exit is True or (isinstance(on_exit, str) and evaluated(on_exit, _lower(ad)) is True)
    if on_exit is not None and (hold is None or (fresh and true)):
        return _policy("OnExitHold", on_exit, ad, fresh=fresh)
    # Of two values from before the hold neither shows which of the two it was.
    unclear = hold is False and on_exit is False and not fresh
    return None if hold is None or unclear else _policy("PeriodicHold", hold, ad, fresh=fresh)


def ahead(ad: Mapping[str, Any]) -> list[Policy]:
    """The job's own policies that would hold or remove it right after a release, or never let go.

    Args:
        ad: its attributes, not older than its hold.
    """
    policies = []
    for name in ("PeriodicHold", "PeriodicRemove"):
        value = _value(ad, name)
        if value is True or (isinstance(value, str) and _released(value, ad)):
            policies.append(Policy(name, value if isinstance(value, str) else None, "at once"))
    stays, well = ad.get("OnExitRemove"), {"exitcode": 0, "exitbysignal": False, "exitstatus": 0}
    # By its expression: its value is that of the exit before.
    if isinstance(stays, str) and evaluated(stays, _lower(ad) | well) is False:
        policies.append(Policy("OnExitRemove", stays, "at exit"))
    return policies


def _policy(name: str, value: str | bool, ad: Mapping[str, Any], *, fresh: bool) -> Policy:
    text = value if isinstance(value, str) else None
    if _ON_EXIT.search(name):
        return Policy(name, text, "at exit")
    if text is None:
        return Policy(name, None, "at once" if value and fresh else "unknown")
    again = _released(text, ad if fresh else {}, was_true=True)
    if again:
        return Policy(name, text, "at once")
    if names_in(text) & _SINCE:
        # What is false of every running job counts its time in the queue.
        idle = evaluated(text, {"jobstatus": 2}, was_true=True) is False
        return Policy(name, text, "idle" if idle else "later")
    return Policy(name, text, "unknown" if again is None else "no longer")


def _value(ad: Mapping[str, Any], name: str) -> str | bool | None:
    """A policy of an ad: its expression, or its value; None where it has none."""
    value = ad.get(name)
    if isinstance(value, str):
        return None if value.lower() in _NEVER else value
    return value if isinstance(value, bool) else None


def _released(text: str, ad: Mapping[str, Any], *, was_true: bool = False) -> bool | None:
    """Whether an expression is true of a job right after its release, or its next start."""
    attributes, since = _lower(ad), names_in(text) & _SINCE
    counts = {name: attributes[name] + 1 for name in _STARTS if type(attributes.get(name)) is int}
    values = []
    for status in (1, 2):
        changed = dict.fromkeys(_SINCE, _RELEASED_AT) | {"jobstatus": status, "lastjobstatus": 5}
        if since:  # else the time only grows
            changed["currenttime"] = _RELEASED_AT
        value = evaluated(text, attributes | changed | (counts if status == 2 else {}))
        if value is None and was_true:
            value = evaluated(text, changed, was_true=True)
        values.append(value)
    return True if True in values else False if values == [False, False] else None


def _lower(ad: Mapping[str, Any]) -> dict[str, Any]:
    return {name.lower(): value for name, value in ad.items()}


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

    @property
    def kind(self) -> str:
        """Of `jobsight.history.causes.cause.KINDS`."""
        return self.name.lower()

    @property
    def command(self) -> str:
        """The command of submit files that asks for it."""
        return f"request_{self.request.removeprefix('Request').lower()}"

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
        slot: that it ran in last, as the log has it (hostile text); None if unknown.
    """

    code: int | None
    subcode: int | None
    reason: str
    memory_mb: float | None = None
    ad: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, float]] = ()
    largest: Mapping[str, float] = field(default_factory=dict)
    fresh: bool = True
    slot: str | None = None

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
        amounts = amounts_named(self.reason, of.name, known)
        used, limit = (max(_sound([(amount or 0.0) / of.size], of)) for amount in amounts)
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
        return [p for p in (ahead(self.ad) if self.fresh else []) if p.name.lower() != held]

    @cached_property
    def again(self) -> bool:
        """Whether a policy holds or removes it as soon as it is released or starts."""
        acting = [*self.ahead, *([] if self.policy is None else [self.policy])]
        return any(policy.when == "at once" for policy in acting)

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
    findings: list[Finding] = []
    code, signal = held.ended()
    if (meaning := exit_meaning(code, signal)) is not None:
        signal = signal if code is None else exit_signal(code)
        text = f"{held.ending()} is {meaning}"
        findings.append({"what": "exit", "text": text, "code": code, "signal": signal})
    if held.policy is not None:
        text = f"{held.policy.shown} {held.policy.again}"
        findings.append({"what": "policy", "text": text, "holds_again": held.policy.holds_again})
    else:
        # Whether the memory that a policy found in use is more than the job asks for now.
        used, request = held.named(MEMORY)[0], _number(held.ad.get("RequestMemory"))
        if held.code in (3, 21, 26, 34) and used and request is not None:
            again = used > request
            words = "would be held again for it" if again else "would not be held for it again"
            amounts = f"it used {used:,.0f} MB and RequestMemory is {request:,.0f} MB"
            text = f"{amounts}: as it is it {words}"
            findings.append({"what": "policy", "text": text, "holds_again": again})
    for policy in held.ahead:
        words = {
            "PeriodicHold": "is true of it too, and would hold it again",
            "PeriodicRemove": "would remove it as soon as it is released",
            "OnExitRemove": "keeps it in the queue after an exit with 0 too: it would run again",
        }[policy.name]
        holds = True if policy.name == "PeriodicHold" else None
        text = f"{policy.shown} {words}"
        findings.append({"what": "policy", "text": text, "holds_again": holds})
    # Where its standard error and its log are.
    paths = {"stderr": _path(held, "Err"), "log": _path(held, "UserLog")}
    names = {"stderr": "standard error", "log": "log"}
    files = [f"its {names[key]} is {path}" for key, path in paths.items() if path]
    if files:
        findings.append({"what": "files", "text": ", ".join(files), **paths})
    return findings


def _path(held: Held, attribute: str) -> str | None:
    """The path in an attribute, from the folder that the job was submitted in."""
    name, folder = held.ad.get(attribute), held.ad.get("Iwd")
    if not isinstance(name, str) or name in ("", "/dev/null"):
        return None
    base = folder if isinstance(folder, str) else ""
    return printable(str(PurePosixPath(base, name)), 400)
