"""Plans on Slurm: a job array for each stage, chained by dependencies.

No process of ours runs meanwhile: the scripts (`slurmscript`) retry, save before the time limit and
queue themselves again; what is done is in the plan's folder (`states`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jobsight.cluster.base import PlanStatus, Scheduler, busy
from jobsight.cluster.plan import Plan
from jobsight.cluster.slurmscript import (
    FOLDER,
    Array,
    arrays_of,
    at_once,
    exported,
    job_name,
    script_lines,
)
from jobsight.cluster.slurmstatus import Record, queued, ran, status_of, supposed, unexplained
from jobsight.cluster.starting import write_start_script
from jobsight.cluster.states import (
    Attempt,
    done,
    make_folders,
    plan_digest,
    read_states,
    require_undone,
)
from jobsight.commands import child_environment
from jobsight.errors import ClusterError
from jobsight.files import new_file
from jobsight.history.slurm.client import SlurmClient, SlurmError
from jobsight.history.slurm.ids import pack
from jobsight.history.slurm.squeue import Queued
from jobsight.locks import holder, take
from jobsight.settings import SlurmSettings
from jobsight.text import printable

__all__ = ["Slurm"]

_MOST_ARRAY = 1001
"""Slurm's default of MaxArraySize, where the controller does not say."""


class Slurm(Scheduler):
    """A Slurm cluster whose nodes see the plan's folder.

    Options: those of sbatch in `slurmscript.OPTIONS` and `FLAGS`; ``at_once``: tasks of an array
    that may run at the same time; ``export``: names of further variables that jobs get.
    """

    def __init__(self, settings: SlurmSettings | None = None) -> None:
        self.client = SlurmClient(settings or SlurmSettings())

    def write(self, plan: Plan) -> list[Path]:
        """Write the scripts; see `Scheduler.write`."""
        self._require_idle(plan, Record.read(plan.folder))
        return _write(plan)

    def submit(self, plan: Plan) -> str:
        """Submit what is not done, each stage to wait for the one before; numbers of the arrays.

        Where Slurm refuses a part, nothing stays queued.
        """
        if not plan.folder.is_dir():
            raise ClusterError(f"there is no folder {printable(plan.folder)}; plan again")
        path = plan.folder / FOLDER / "lock"
        lock = take(path)
        if lock is None:
            who = holder(path) or "another process"
            raise ClusterError(f"plan {plan.name} is being submitted by {who}; wait for that")
        try:
            before = Record.read(plan.folder)
            self._require_idle(plan, before)
            states = read_states(plan)
            require_undone(plan, states)
            _write(plan)
            record = Record(plan_digest(plan), before.submission + 1, complete=False)
            with new_file(plan.folder / FOLDER / "token") as temporary:
                temporary.write_text(f"{record.digest}/{record.submission}\n")
            self._submit(plan, record, states)
        finally:
            os.close(lock)
        return ",".join(record.arrays)

    def status(self, plan: Plan) -> PlanStatus:
        """The status by one call of squeue, and one of sacct where that is not enough.

        Where squeue is missing or does not answer, by what the nodes themselves wrote.
        """
        record = Record.read(plan.folder)
        if record.digest != plan_digest(plan):
            record = Record()
        try:
            seen = queued(self._rows(record.arrays)) if record.arrays else {}
        except ClusterError as error:
            return _unasked(plan, record, error)
        states = read_states(plan)  # after the queue: what has ended there is recorded here
        if lacking := unexplained(plan, states, record.tasks, seen):
            with contextlib.suppress(SlurmError):  # without accounts, the nodes' states must do
                seen = {**ran(self.client.accounts(lacking)), **seen}
        return status_of(plan, states, record.tasks, seen, record.submission)

    def cancel(self, plan: Plan) -> None:
        """Cancel all arrays; see `Scheduler.cancel`."""
        living = self._living(plan, Record.read(plan.folder))
        if not living:
            raise ClusterError(f"plan {plan.name} is not active; there is nothing to cancel")
        self._act("scancel", *sorted(living))

    def _submit(self, plan: Plan, record: Record, states: Mapping[str, Sequence[Attempt]]) -> None:
        """Call sbatch for each array; where one fails, none stays."""
        record.write(plan.folder)
        most = self._most_array()
        stage, before, now = "", list[str](), list[str]()
        try:
            for array in arrays_of(plan):
                if array.stage != stage:
                    stage, before, now = array.stage, now or before, []
                left = [
                    place for place, one in enumerate(array.nodes) if not done(states[one.name])
                ]
                for first in range(0, len(array.nodes), most):
                    places = [place for place in left if first <= place < first + most]
                    if places:
                        now.append(self._sbatch(plan, record, array, first, places, before))
        except ClusterError:
            if record.arrays:
                self._act("scancel", *record.arrays)
            raise
        record.complete = True
        record.write(plan.folder)

    def _sbatch(
        self,
        plan: Plan,
        record: Record,
        array: Array,
        first: int,
        places: Sequence[int],
        before: Sequence[str],
    ) -> str:
        """Submit one array; its number."""
        after = [f"--dependency=afterok:{':'.join(before)}"] if before else []
        printed = self._act(
            "sbatch",
            "--parsable",
            f"--chdir={plan.folder}",
            f"--export={exported(plan, child_environment())}",
            f"--array={pack(place - first for place in places)}{at_once(plan)}",
            *after,
            str(plan.folder / array.script),
            str(first),
            f"{record.digest}/{record.submission}",
        )
        number = printed.strip().partition(";")[0]
        if not (number.isascii() and number.isdecimal()):
            raise ClusterError(f"sbatch printed {printable(printed, 80)!r}, not a job's number")
        record.arrays[number] = {place - first: array.nodes[place].name for place in places}
        record.write(plan.folder)
        return number

    def _most_array(self) -> int:
        with _errors():
            most = self.client.config().max_array_size
        if most == 0:
            raise ClusterError("this cluster takes no job arrays (MaxArraySize is 0 in slurm.conf)")
        return most or _MOST_ARRAY

    def _require_idle(self, plan: Plan, record: Record) -> None:
        if living := self._living(plan, record):
            raise busy(plan, f"jobs {', '.join(sorted(living))}")

    def _living(self, plan: Plan, record: Record) -> set[str]:
        """Numbers of the plan's arrays that have not ended."""
        if not record.complete:  # the submitting process was killed: there may be more jobs
            names = {job_name(plan, stage.name) for stage in plan.stages}
            rows = [row for row in self._rows(None) if row.name in names]
            rows = [row for row in rows if row.directory == str(plan.folder)]
        else:
            rows = self._rows(record.arrays) if record.arrays else []
        return {array for (array, _), seen in queued(rows).items() if not seen.state.ended}

    def _rows(self, jobs: Collection[str] | None) -> list[Queued]:
        with _errors():
            return self.client.queue(jobs)

    def _act(self, tool: str, *arguments: str) -> str:
        with _errors():
            return self.client.run(tool, *arguments)


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except SlurmError as error:
        raise ClusterError(str(error)) from None


def _unasked(plan: Plan, record: Record, error: ClusterError) -> PlanStatus:
    """The status of a plan where squeue does not answer."""
    states = read_states(plan)
    seen = supposed(states, record.tasks, record.submission)
    status = status_of(plan, states, record.tasks, seen, record.submission)
    if not status.active:
        return status
    return replace(status, manager=f"{status.manager}, of unknown state: {error}", asked=False)


def _write(plan: Plan) -> list[Path]:
    """Write the scripts; options are checked first."""
    if not plan.shared:
        raise ClusterError(
            "Slurm transfers no files: its nodes must see the plan's folder; put it on a file "
            "system that they share"
        )
    digest = plan_digest(plan)
    texts = {
        array.script: "\n".join((*script_lines(plan, array, digest), ""))
        for array in arrays_of(plan)
    }
    at_once(plan)
    exported(plan, {})
    make_folders(plan.folder)
    written = []
    for name, text in texts.items():
        with new_file(plan.folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
        written.append(plan.folder / name)
    return written + write_start_script(plan)
