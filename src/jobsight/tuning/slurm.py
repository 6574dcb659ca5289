"""A sweep on Slurm: a job array of the runs, and a job that depends on it and finishes the sweep.

Plain ``sbatch``: submitit would pickle functions into the shared folder and unpickle them on the
nodes, which we do not. No process of ours runs meanwhile. Before its time limit a run is signalled,
saves, and is queued again. Options: sbatch(1).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from jobsight.commands import child_environment
from jobsight.documents.states import State, slurm_state
from jobsight.errors import ClusterError, SweepError
from jobsight.files import new_file, write_json
from jobsight.history.slurm.client import SlurmClient, SlurmError
from jobsight.history.slurm.ids import SlurmId, pack
from jobsight.history.slurm.squeue import Queued
from jobsight.settings import SlurmSettings
from jobsight.text import printable, wordset
from jobsight.tuning.config import LEARNING
from jobsight.tuning.folder import Sweep, saved
from jobsight.tuning.scheduler import RESUME, NodeStatus, Status, last_line, words_of

__all__ = ["Slurm", "script_lines"]

_OURS = wordset("""
array chdir cpus-per-gpu cpus-per-task dependency error export-file gpus input job-name
kill-on-invalid-dep mem mem-per-cpu nodes ntasks open-mode output parsable requeue signal time wait
wrap
""")
"""Options that are written here, or would change what a script is."""

_NAME = re.compile(r"[a-z][a-z0-9-]{1,40}", re.ASCII)
_VALUE = re.compile(r"[A-Za-z0-9_.,:;=@%+*/|&()\[\]!~^-]{1,500}", re.ASCII)
"""What needs no quotes in a line of sbatch options."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_USUAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH"),
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
)
"""Variables that jobs get of the environment of who submits. Not all of it: Slurm keeps what jobs
get, in its spool and its accounts, and there may be keys in it."""

_NOTICE = 60
"""Seconds before the time limit at which a run is asked to save; Slurm may be a minute early."""
_MOST_AT_ONCE = 8
"""Runs at once of a method that learns."""
_NO_FOLDER = (
    "machines must see the sweep's folder, and the submitting user must be able to write it"
)

_ENDS = {
    State.OUT_OF_MEMORY: "out of memory; let it ask for more",
    State.TIMEOUT: "over its time limit; let it ask for more",
    State.NODE_FAIL: "its machine failed",
    State.PREEMPTED: "another job took its place",
}

_OLDER = 'command -v apptainer > /dev/null || apptainer() { exec singularity "$@"; }'
"""Apptainer by its former name, where a machine has no other; its options are the same."""

_RUNNING = rf"""
received= child=
hand_on() {{ received=$1; [ -z "$child" ] || kill -s "$1" "$child" 2> /dev/null; }}
trap 'hand_on USR1' USR1
trap 'hand_on TERM' TERM
"$@" < /dev/null &
child=$!
[ -z "$received" ] || kill -s "$received" "$child"
wait "$child"
status=$?
while kill -0 "$child" 2> /dev/null; do  # a signal ended `wait`, not the run
    wait "$child"
    status=$?
done
# At its time limit it has saved, or was asked to before it could listen (128 + USR1).
if [ "$received" = USR1 ] && {{ [ "$status" = {RESUME} ] || [ "$status" = 138 ]; }}; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID" && exit 0
fi
exit "$status"
""".strip().splitlines()


class _Submitted(msgspec.Struct):
    """The numbers of the jobs of the latest submission, as in ``submitted/slurm.json``."""

    array: str | None
    runs: list[int]
    finish: str | None


class Slurm:
    """A Slurm cluster whose nodes see the sweep's folder."""

    def __init__(self, settings: SlurmSettings | None = None) -> None:
        self.client = SlurmClient(settings or SlurmSettings())

    def write(self, sweep: Sweep, runs: Sequence[int]) -> list[Path]:
        """Write the scripts; see `Scheduler.write`."""
        texts = {
            "runs.sh": script_lines(sweep, "runs"),
            "finish.sh": script_lines(sweep, "finish"),
        }
        (sweep.submitted / "logs").mkdir(parents=True, exist_ok=True)
        for name, lines in texts.items():
            with new_file(sweep.submitted / name) as temporary:
                text = "".join(f"{line}\n" for line in lines)
                temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
        return [sweep.submitted / name for name in texts]

    def submit(self, sweep: Sweep, runs: Sequence[int]) -> str:
        """Submit an array of these runs and the job that finishes; their numbers."""
        if self.status(sweep).active:
            raise ClusterError("the sweep is active; wait for it, or cancel it")
        self.write(sweep, runs)
        config = sweep.config
        most = config.at_once or (_MOST_AT_ONCE if config.method in LEARNING else None)
        submitted = _Submitted(None, list(runs), None)
        if runs:
            limit = "" if most is None else f"%{most}"
            submitted.array = self._sbatch(sweep, "runs.sh", f"--array={pack(runs)}{limit}")
            self._keep(sweep, submitted)
        after = [f"--dependency=afterok:{submitted.array}"] if submitted.array else []
        try:
            submitted.finish = self._sbatch(sweep, "finish.sh", *after)
        except ClusterError:
            if submitted.array:
                self._run("scancel", submitted.array)
            raise
        self._keep(sweep, submitted)
        return ",".join(number for number in (submitted.array, submitted.finish) if number)

    def _sbatch(self, sweep: Sweep, script: str, *options: str) -> str:
        printed = self._run(
            "sbatch",
            "--parsable",
            f"--chdir={sweep.planned.folder}",
            f"--export={_exported(sweep, child_environment())}",
            *options,
            str(sweep.submitted / script),
        )
        number = printed.strip().partition(";")[0]
        if not (number.isascii() and number.isdecimal()):
            raise ClusterError(f"sbatch printed {printable(printed, 80)!r}, not a job's number")
        return number

    def status(self, sweep: Sweep) -> Status:
        """The status by one call of squeue, which has jobs for minutes after their end too."""
        submitted = _submitted(sweep)
        if submitted is None:
            return Status(active=False)
        manager = f"jobs {submitted.array}, {submitted.finish}"
        try:
            rows = self._queue(sweep)
        except ClusterError as error:
            return Status(True, f"{manager}, of unknown state: {error}", asked=False)
        seen = {
            name: _node(sweep, name, state, row)
            for row in rows
            if (state := slurm_state(row.state)) is not None
            for name in _names(row.id)
        }
        active = any(node.state in ("queued", "running", "held") for node in seen.values())
        return Status(active, manager, seen)

    def cancel(self, sweep: Sweep) -> None:
        """Cancel the jobs that have not ended."""
        if not self.status(sweep).active:
            raise ClusterError("the sweep is not active; there is nothing to cancel")
        self._run("scancel", *sorted({row.id.base for row in self._queue(sweep)}))

    def _queue(self, sweep: Sweep) -> list[Queued]:
        """The jobs of the sweep as the controller knows them."""
        submitted = _submitted(sweep)
        jobs = [n for n in (submitted.array, submitted.finish) if n] if submitted else []
        try:
            return self.client.queue(jobs) if jobs else []
        except SlurmError as error:
            raise ClusterError(str(error)) from None

    def _run(self, tool: str, *arguments: str) -> str:
        try:
            return self.client.run(tool, *arguments)
        except SlurmError as error:
            raise ClusterError(str(error)) from None

    def _keep(self, sweep: Sweep, submitted: _Submitted) -> None:
        write_json(sweep.submitted / "slurm.json", msgspec.to_builtins(submitted))


def _submitted(sweep: Sweep) -> _Submitted | None:
    path = sweep.submitted / "slurm.json"
    if not path.exists():
        return None
    try:
        return msgspec.convert(saved(path, ""), _Submitted)
    except msgspec.ValidationError:
        raise SweepError(f"{path} is damaged; see squeue for its jobs, then remove it") from None


def _names(job: SlurmId) -> list[str]:
    """Names of the processes of a job: its runs, or ``finish`` where it is not an array."""
    tasks = job.tasks if job.tasks is not None else [job.task]
    return ["finish" if task is None else f"run-{task:04d}" for task in tasks]


def _node(sweep: Sweep, name: str, state: State, row: Queued) -> NodeStatus:
    where = row.hosts or None
    if state is State.HELD or (state is State.PENDING and "held" in row.reason.lower()):
        return NodeStatus("held", f"{row.reason or 'no reason given'}; see scontrol release")
    if state is State.PENDING:
        return NodeStatus("queued")
    if not state.ended:
        return NodeStatus("running", where=where)
    if state is State.COMPLETED:
        return NodeStatus("done", where=where)
    if state is State.CANCELLED:
        return NodeStatus("removed", "it was cancelled; submit again to continue", where)
    log = f"submitted/logs/{name}.log"
    line = last_line(sweep.folder / log)
    how = _ENDS.get(state, f"it failed: {line}" if line else f"it failed; {_NO_FOLDER}")
    return NodeStatus("failed", how, where, log)


def script_lines(sweep: Sweep, what: str) -> Iterator[str]:
    """The lines of the script of the array of ``runs``, or of the job that will ``finish``.

    Nothing of the config reaches it but as a word quoted for the shell, or checked against a list
    of characters.

    Raises:
        ClusterError: an option is unknown or bad.
    """
    config, asked = sweep.config, sweep.config.resources
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", sweep.name)[:60].strip("-") or "unnamed"
    log = "run-%4a" if what == "runs" else "finish"
    if set("%\\") & set(sweep.planned.folder):
        raise ClusterError(f"{sweep.planned.folder} has a % or a backslash; name another `folder`")
    options = {
        "job-name": f"sweep-{name}.{what}",
        "output": f"submitted/logs/{log}.log",
        "open-mode": "append",
        "nodes": "1",
        "ntasks": "1",
        "cpus-per-task": str(asked.cpus),
        "mem": f"{asked.memory}M",
        "kill-on-invalid-dep": "yes",
    }
    if what == "runs":
        if asked.gpus:
            options["gres"] = f"gpu:{asked.gpus}"
        if asked.time:
            options["time"] = str(-(-asked.time // 60))
        limit = asked.time or 4 * _NOTICE
        options["signal"] = f"B:USR1@{max(1, min(_NOTICE, limit // 2))}"
    yield "#!/bin/bash"
    for option, value in {**options, **_checked(config.slurm)}.items():
        yield f"#SBATCH --{option}={value}" if value else f"#SBATCH --{option}"
    yield "#SBATCH --requeue"
    if sweep.planned.image is not None:
        yield _OLDER
    variables = {"OMP_NUM_THREADS": str(asked.cpus), **config.program.environment}
    for variable, value in variables.items():
        yield f"export {variable}={shlex.quote(value)}"
    if what == "finish":
        yield f"exec {shlex.join(words_of(sweep, 'finish'))}"
        return
    # The last words are ``run NUMBER .``.
    *words, _, here = words_of(sweep, "run", "0")
    yield f'set -- {shlex.join(words)} "$SLURM_ARRAY_TASK_ID" {here}'
    yield from _RUNNING


def _checked(given: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Further options of sbatch, checked; what is true is a flag and has no value."""
    options = {}
    for name, value in given.items():
        text = value if isinstance(value, str) else ",".join(value)
        if name == "export" or text == "false":
            continue
        if name in _OURS or not _NAME.fullmatch(name):
            raise ClusterError(
                f"slurm: {printable(name, 60)} is written by jobsight or is not an option; set the "
                "config's own resources, or leave it out"
            )
        if not _VALUE.fullmatch(text):
            raise ClusterError(
                f"slurm: {name} is {printable(text, 60)!r}; give letters, digits and signs, no "
                "blanks and no quotes"
            )
        options[name] = "" if text == "true" else text
    return options


def _exported(sweep: Sweep, environment: Mapping[str, str]) -> str:
    """The value of ``--export``: names alone, so no value is written anywhere by us.

    The option ``export`` names further variables, such as a key that a site lets jobs have so.
    """
    given = sweep.config.slurm.get("export", [])
    more = given.split(",") if isinstance(given, str) else given
    for name in more:
        if not _VARIABLE.fullmatch(name):
            raise ClusterError(
                f"slurm: export has {printable(name, 40)!r}; give names of variables, no values"
            )
    names = [name for name in dict.fromkeys((*_USUAL, *more)) if name in environment]
    return ",".join(names) or "NIL"
