"""What is known of a held job itself: what a fix may rest on, and how its program ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobsight.history.codes import exit_meaning, exit_signal
from jobsight.history.reasons import exit_told
from jobsight.questions.hold.answering.findings import Finding

__all__ = ["Held", "about_job"]

_MOST = 1e15


@dataclass(frozen=True)
class Held:
    """What is known of a held job that a mend may rest on.

    Attributes:
        code, subcode: of the hold; None where the log tells none.
        reason: as the log has it.
        memory_mb: the most memory the job was seen to use, in MB; None if never told.
        ad: the job's attributes, as last told by a 028; empty if never.
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
            told = self.ad.get("ExitSignal" if self.ad["ExitBySignal"] else "ExitCode")
            number = told if isinstance(told, int) else None
            return (None, number) if self.ad["ExitBySignal"] else (number, None)
        return exit_told(self.reason)


def about_job(held: Held) -> list[Finding]:
    """Findings on the job alone; see `jobsight.questions.hold.answering.findings`."""
    return _exit(held)


def _exit(held: Held) -> list[Finding]:
    code, signal = held.ended()
    meaning = exit_meaning(code, signal)
    if meaning is None:
        return []
    ended = f"signal {signal}" if code is None else f"exit code {code}"
    signal = signal if code is None else exit_signal(code)
    return [{"what": "exit", "text": f"{ended} is {meaning}", "code": code, "signal": signal}]
