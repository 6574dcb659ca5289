"""One round of write-back: read the queue, ask for answers, plan, and write what differs.

Slurm changes one record per call, whatever list `scontrol update` is given. So the calls of any
minute are few, and each is under the switch (`jobsight.acting.control`), written down before and
after, and made after the record was read again: what another tool wrote meanwhile stays.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from jobsight.acting.decisions import DecisionLog
from jobsight.acting.edits import Edits
from jobsight.acting.slurm.plan import (
    TAG,
    Answers,
    Change,
    Plan,
    is_ours,
    is_over,
    is_waiting,
    make_plan,
    names_of,
    stake_of,
)  # fmt: skip  # isort: skip
from jobsight.clock import zone_named
from jobsight.documents import State
from jobsight.documents.states import slurm_state
from jobsight.history.slurm.client import FailureKind, SlurmClient, SlurmError
from jobsight.history.slurm.ids import pack
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.squeue import Queued
from jobsight.settings import ActingSettings, SlurmSettings
from jobsight.text import counted

__all__ = ["Judge", "Writeback", "take_back"]

Judge = Callable[[Collection[str]], Mapping[str, Answers]]
"""The answers as of now for pending jobs of the cluster, by their names (``12``, ``12_5``)."""

_CALL_S = 2.0
"""Seconds after which a call is stopped: both of an edit take less than `acting off` waits."""
_ASKED, _MINUTE = 1000, 60
"""Records that are asked about, those first that ask for most; seconds."""
_AWAITED, _ENDED, _SHARE = 5000, 100, 5
"""Jobs whose ends are awaited; of which sacct is asked at once; one call of 5 is for an end."""
_LARGEST, _LATE_S = 1000, 30 * 86_400
"""Tasks of an array whose end is written; seconds after which an end is awaited no longer."""
_PATIENCE_S, _BATCH = 20.0, 25
"""Seconds after which what is not taken back is left to expire; records of one call."""


class Writeback:
    """Write-back into the jobs of one cluster. One thread, in the block of `Switch.alone`.

    Nothing in Slurm acts on a comment: the mode enforce does what advise does.
    """

    def __init__(self, slurm: SlurmSettings, settings: ActingSettings, judge: Judge) -> None:
        """Nothing is asked or done yet.

        Args:
            slurm: how Slurm's tools are run.
            settings: mode, caps and folder.
            judge: gives the answers.
        """
        self._client, self._editor = SlurmClient(slurm), _stopped_after(slurm, _CALL_S)
        self._zone, self._accounting = zone_named(slurm.timezone), slurm.accounting is not False
        self._settings = settings
        self._judge = judge
        self._edits = Edits(settings)
        self._said: dict[str, tuple[int, str]] = {}
        for intent, result in pairwise(reversed(list(self._edits.log.latest()))):
            if intent.get("what") == "intent" and result.get("edited"):
                self._remember(intent, intent["asked_at"])

    def plan(self, queue: Sequence[Queued] | None = None) -> Plan:
        """What a round would write into the queue now; `queue`: as it was just read.

        Raises:
            JobsightError: the queue or the history cannot be read.
        """
        asked_at = int(time.time())
        queue = self._client.queue() if queue is None else queue
        free = (line for line in queue if is_ours(line) or not line.admin_comment)
        lines = sorted(filter(is_waiting, free), key=stake_of, reverse=True)[:_ASKED]
        names = dict.fromkeys(name for line in lines for name in names_of(line))
        known = self._judge(names) if names else {}
        return make_plan(
            queue, known, self._settings,
            asked_at=asked_at, zone=self._zone, most=self._calls_left(asked_at),
        )  # fmt: skip

    def _calls_left(self, asked_at: int) -> int:
        return self._settings.slurm_per_minute - self._edits.intended("calls", asked_at - _MINUTE)

    def round(self) -> str:
        """Do what is to be done now; what was done, in a line.

        Raises:
            JobsightError: the queue, the history, or the decision log; or a call failed. The rest
                is left to the next round.
        """
        edits = self._edits
        if refusal := edits.switch.refusal():
            return f"nothing is done: {refusal}"
        queue, ends = self._client.queue(), ""
        if edits.mode != "observe":
            try:
                self._write_ends(queue)
            except SlurmError as error:
                ends = f"; ends are not written: {error}"
        plan = self.plan(queue)
        edits.log.write("round", mode=edits.mode, asked_at=plan.asked_at, jobs=plan.counts)
        waiting, done = counted(plan.counts["waiting"], "pending record"), 0
        if edits.mode == "observe":
            would = (({each.name: each.words}, each.to_json()) for each in plan.changes)
            lines = edits.observe(would, list, plan.asked_at)
            return f"{waiting}, {counted(lines, 'decision')} written down"
        for change in plan.changes:
            made = edits.make(partial(self._write, change), change.to_json(), plan.asked_at)
            if isinstance(made, str):
                return f"{waiting}, {done:,} written, then stopped: {made}"
            if made:
                self._remember(change.to_json(), plan.asked_at)
            done += made
        return f"{waiting}, {done:,} written, {plan.counts['left']:,} left to later rounds{ends}"

    def _remember(self, fields: Mapping[str, Any], asked_at: int) -> None:
        """Keep what an edit said of a job, by its fields in the log, until its end is written."""
        base, said = fields.get("base"), fields.get("said")
        if not isinstance(base, str) or (said is None and "came" not in fields):
            return
        self._said.pop(base, None)
        if isinstance(said, str) and fields.get("tasks", 0) <= _LARGEST:
            self._said[base] = asked_at, said
        if len(self._said) > _AWAITED:
            del self._said[next(iter(self._said))]

    def _write(self, change: Change) -> int:
        """Write into a record, or clear it, if its comment is still empty or ours."""
        lines = self._editor.queue({change.line.id.base}, each=True)
        return _update(self._editor, filter(change.is_of, lines), change.comment)

    def _write_ends(self, queue: Iterable[Queued]) -> None:
        """Write into ended jobs what was said and what came, where SystemComment is empty."""
        live = {line.id.base for line in queue if not is_over(line)}
        bases, asked_at = [base for base in self._said if base not in live], int(time.time())
        share = max(self._settings.slurm_per_minute // _SHARE, 1)
        most = min(share, self._calls_left(asked_at))
        if not bases or most <= 0 or not self._accounting:
            return
        runs = self._client.accounts(bases[:_ENDED])
        for base in bases[:_ENDED]:
            said_at, said = self._said[base]
            text = _came([run for run in runs if run.id.base == base], said_at, said, self._zone)
            if text is None and asked_at - said_at < _LATE_S:  # slurmdbd may not have its end yet
                self._said[base] = self._said.pop(base)  # others come first in the next round
                continue
            if text:
                if most <= 0:
                    return
                # If this one is refused, others come first in the next round.
                self._said[base] = self._said.pop(base)
                fields = {"jobs": [base], "base": base, "came": text, "calls": 1}
                if isinstance(
                    self._edits.make(partial(self._end, base, text), fields, asked_at), str
                ):
                    return
                most -= 1
            del self._said[base]

    def _end(self, base: str, text: str) -> int:
        """Write into the accounts of a job, if no SystemComment of that number is another's."""
        if any(run.system_comment for run in self._editor.accounts([base])):
            return 0
        where = ("where", f"jobid={base}", "set", f"systemcomment={text}")
        self._editor.run("sacctmgr", "--immediate", "update", "job", *where)
        return 1


def _came(runs: Sequence[Run], said_at: int, said: str, zone: dt.tzinfo) -> str | None:
    """What is written of ended runs; "": nothing is to be; None: they have not all ended yet."""
    last = {run.id.name: run for run in runs}.values()  # of a requeued job its last run
    ended = [state for run in last if (state := slurm_state(run.state)) and state.ended
             and not run.unfinished]  # fmt: skip
    if not last or len(ended) < len(last):
        return None
    if any(run.system_comment or (run.submit or 0) > said_at * 1_000_000 for run in runs):
        return ""
    # What is cancelled while it is pending starts, by 22.05, when it ends.
    began = [run for run in last if run.start != run.end or State.CANCELLED not in ended]
    starts = [run.start for run in began if run.start is not None]
    begun = f"started {_day(min(starts), zone)}, " if starts else ""
    shares = Counter(str(state).replace("_", " ") for state in ended).most_common()
    came = ", ".join(f"{number:,} {state}" if len(last) > 1 else state for state, number in shares)
    return f"{TAG}{_day(said_at * 1_000_000, zone)} said {said}; came {begun}{came}"


def _day(time: int, zone: dt.tzinfo) -> str:
    return f"{dt.datetime.fromtimestamp(time // 1_000_000, zone):%m-%d %H:%M}"


def _update(client: SlurmClient, lines: Iterable[Queued], comment: str) -> int:
    """Write a comment into jobs and tasks in one command; of how many records they are."""
    records: dict[str, list[Queued]] = {}
    for line in lines:
        records.setdefault(line.id.base, []).append(line)
    jobs = [
        base if of[0].id.task is None else f"{base}_[{pack(int(line.id.task or 0) for line in of)}]"
        for base, of in records.items()
    ]
    try:
        if jobs:
            client.run("scontrol", "update", f"JobId={','.join(jobs)}", f"AdminComment={comment}")
    except SlurmError as error:
        if error.kind is not FailureKind.NO_JOB:  # some ended meanwhile
            raise
    return len(jobs)


def take_back(slurm: SlurmSettings, log: DecisionLog) -> tuple[int, int]:
    """Clear the comments that we wrote; in how many records, and how many are left to expire.

    Raises:
        SlurmError: the controller gave no answer or refused: what is written expires by itself.
        OutputError: the decision log cannot be written; it was taken back all the same.
    """
    client, until = _stopped_after(slurm, _PATIENCE_S / 2), time.monotonic() + _PATIENCE_S
    found = (line.id.base for line in client.queue() if is_ours(line) and not is_over(line))
    bases, done, tried = list(dict.fromkeys(found)), 0, 0
    while tried < len(bases) and time.monotonic() < until:
        lines = client.queue(bases[tried : tried + _BATCH], each=True)
        ours = (line for line in lines if is_ours(line) and not is_over(line))
        done, tried = done + _update(client, ours, ""), tried + _BATCH
    left = max(len(bases) - tried, 0)
    log.write("off", edited=done, left=left)
    return done, left


def _stopped_after(slurm: SlurmSettings, seconds: float) -> SlurmClient:
    return SlurmClient(slurm.model_copy(update={"timeout": min(slurm.timeout, seconds)}))
