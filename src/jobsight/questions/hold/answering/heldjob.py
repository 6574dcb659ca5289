"""What is known of a held job itself: what a fix may rest on, and what is evidence of it alone.

How its program ended, whether its policy would hold it again, and where its files are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from jobsight.codes import exit_meaning, exit_signal
from jobsight.history.reasons import exit_told, memory_figures
from jobsight.questions.hold.answering.findings import Finding
from jobsight.questions.hold.answering.policies import Policy, ahead, policy_of
from jobsight.text import printable

__all__ = ["Held", "about_job"]

_MOST = 1e15


@dataclass(frozen=True)
class Held:
    """What is known of a held job that a fix may rest on.

    Attributes:
        code, subcode: of the hold; None where the log records none.
        reason: as the log has it.
        memory_mb: the most memory the job was seen to use, in MB; None if unknown.
        ad: the job's attributes, of the queue or the last 028; empty without either.
        fresh: the ad is not older than the hold.
    """

    code: int | None
    subcode: int | None
    reason: str
    memory_mb: float | None = None
    ad: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = True

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

    def number(self, name: str) -> float | None:
        """A positive number among the attributes; None where there is none."""
        value = self.ad.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return float(value) if 0 < value < _MOST else None

    def ended(self) -> tuple[int | None, int | None]:
        """The exit code and the signal of the program, where a policy held the job for them."""
        if self.code not in (3, 21, 26):
            return None, None
        told = exit_told(self.reason)
        if told == (None, None) and self.fresh and self.policy and self.policy.when == "at exit":
            killed = self.ad.get("ExitBySignal") is True
            value = self.ad.get("ExitSignal" if killed else "ExitCode")
            number = value if isinstance(value, int) else None
            return (None, number) if killed else (number, None)
        return told

    def ending(self) -> str | None:
        """`ended` in words, such as ``exit code 3``; None where it did not end by itself."""
        code, signal = self.ended()
        if code is not None:
            return f"exit code {code}"
        return None if signal is None else f"signal {signal}"


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


_AGAIN: Mapping[str, tuple[bool | None, str]] = {
    "at once": (True, "is still true of it, and would hold it again"),
    "at exit": (None, "holds it again if its program ends as before"),
    "later": (None, "holds it again once it has run for as long"),
    "idle": (None, "holds it again if it waits in the queue for as long"),
    "no longer": (False, "is no longer true of it, and would not hold it at once"),
    "unknown": (None, "holds it again whenever it is true"),
}
"""Whether a policy holds the job again, by `Policy.when`, and that in words."""


def _policy(held: Held) -> list[Finding]:
    """Whether the policy that held the job would hold it again after a release, and others."""
    if held.policy is None:
        found = _limit(held)
    else:
        again, words = _AGAIN[held.policy.when]
        text = f"{held.policy.shown} {words}"
        found = [{"what": "policy", "text": text, "holds_again": again}]
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
    used, request = memory_figures(held.reason)[0], held.number("RequestMemory")
    if held.code not in (3, 21, 26, 34) or used is None or request is None:
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
