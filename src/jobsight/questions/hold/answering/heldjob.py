"""What is known of a held job itself: what a fix may rest on, and what is evidence of it alone.

How its program ended, whether its policy would hold it again, and where its files are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from jobsight.codes import exit_meaning, exit_signal
from jobsight.history.condor.expressions import evaluated
from jobsight.history.reasons import exit_told, memory_figures
from jobsight.questions.hold.answering.findings import Finding
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
        ad: the job's attributes, of the last 028; empty without one.
    """

    code: int | None
    subcode: int | None
    reason: str
    memory_mb: float | None = None
    ad: Mapping[str, Any] = field(default_factory=dict)

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
    if not isinstance(name, str) or not name:
        return None
    base = folder if isinstance(folder, str) else ""
    return printable(str(PurePosixPath(base, name)), 400)
