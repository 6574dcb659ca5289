"""Edits through a scheduler: under the switch, and written down before they are made and after.

What write-back into every scheduler shares. What cannot be written down is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from jobsight.acting.control import Switch
from jobsight.acting.decisions import DecisionLog
from jobsight.errors import SourceError
from jobsight.settings import ActingSettings, Mode

__all__ = ["Edits"]

J = TypeVar("J", bound=Hashable)


class Edits:
    """What one process changes, or would change. One thread, in the block of `Switch.alone`.

    Attributes:
        mode: observe, advise or enforce.
        log: the decision log.
        switch: the switch of the folder.
    """

    def __init__(self, settings: ActingSettings) -> None:
        self.mode: Mode = settings.mode
        self.log = DecisionLog(settings.folder)
        self.switch = Switch(settings.folder)
        self._observed: set[tuple[Hashable, Hashable]] = set()

    def make(self, edit: Callable[[], int], fields: Mapping[str, Any], asked_at: int) -> int | str:
        """Make one edit; how many jobs it changed, or why none may be changed now.

        Args:
            edit: makes it, and gives how many jobs were changed.
            fields: what the decision log has of it.
            asked_at: seconds since 1970, of the plan.

        Raises:
            SourceError: the scheduler refused, or gave no answer.
            OutputError: the decision log cannot be written.
        """
        with self.switch.taken() as refusal:
            if refusal is not None:
                self.log.write("stopped", asked_at=asked_at, why=refusal)
                return refusal
            self.log.write("intent", mode=self.mode, asked_at=asked_at, **fields)
            try:
                done = edit()
            except SourceError as error:
                self.log.write("result", asked_at=asked_at, error=str(error))
                raise
            self.log.write("result", asked_at=asked_at, edited=done)
            return done

    def observe(
        self,
        decisions: Iterable[tuple[Mapping[J, Hashable], Mapping[str, Any]]],
        spelled: Callable[[list[J]], list[str]],
        asked_at: int,
    ) -> int:
        """Write down what would be done, each decision about a job once; how many lines.

        Args:
            decisions: what is decided of each job of a group, and the fields of the group. Jobs of
                which this was decided in the round before are left out.
            spelled: jobs as the log has them.
            asked_at: seconds since 1970, of the plan.
        """
        before, self._observed, lines = self._observed, set(), 0
        for decided, fields in decisions:
            self._observed |= set(decided.items())
            if new := [job for job, key in decided.items() if (job, key) not in before]:
                shown = {**fields, "jobs": spelled(new)}
                self.log.write("would", mode="observe", asked_at=asked_at, **shown)
                lines += 1
        return lines

    def intended(self, name: str, since: int) -> int:
        """The sum of a field of all edits since then (s), by the log: also of those that failed."""
        total = 0
        for record in self.log.latest():
            asked_at = record.get("asked_at")
            if type(asked_at) is int and asked_at < since:
                break
            total += record.get(name, 0) if record.get("what") == "intent" else 0
        return total
