"""What sbatch is given: one script for the nodes of a stage that ask for the same, as a job array.

Pure functions from plans to lines. Options: sbatch(1). Nothing that a plan holds reaches a script
but as a word quoted for the shell, or checked against a list of characters.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jobsight.cluster.base import SUBMITTED
from jobsight.cluster.plan import CHECKPOINT, Node, Option, Plan
from jobsight.cluster.starting import contained, unpacking
from jobsight.errors import ClusterError
from jobsight.text import printable

__all__ = [
    "FOLDER",
    "Array",
    "arrays_of",
    "at_once",
    "exported",
    "job_name",
    "script_lines",
    "task_log",
]

FOLDER = f"{SUBMITTED}/slurm"
"""Folder of the scripts, in the plan's."""

OPTIONS = (
    *("account", "begin", "constraint", "exclude", "gres", "hint", "licenses", "mail-type"),
    *("mail-user", "mcs-label", "nice", "nodelist", "partition", "prefer", "priority", "profile"),
    *("qos", "reservation", "time-min", "tmp", "wckey"),
)
"""Options of sbatch that a plan may set; `at_once` and `export` are our own."""
FLAGS = ("contiguous", "exclusive", "oversubscribe")
"""Likewise, of those that may stand without a value: they are given an empty one."""

_VALUE = re.compile(r"[A-Za-z0-9_.,:;=@%+*/|&()\[\]!~^-]{1,500}", re.ASCII)
"""What needs no quotes in a line of sbatch options."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_USUAL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH"),
    *("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
)
"""Variables that jobs get of the environment of who submits. Not all of it: Slurm keeps what jobs
get, in its spool and its accounts, and there may be keys in it."""

_OUTPUT = f"{SUBMITTED}/logs/slurm-%A_%a.log"
"""What the script and Slurm itself say. Slurm 22.05 reads ``%A`` in the folder's own path too, so
there it is given up."""

_NOTICE = 60
"""Seconds before the time limit at which a node is asked to save; sbatch may be a minute early."""


@dataclass(frozen=True)
class Array:
    """Nodes of one stage that ask for the same; the array's tasks are their places in `nodes`."""

    stage: str
    name: str
    nodes: tuple[Node, ...]

    @property
    def script(self) -> str:
        """Path of the script in the plan's folder."""
        return f"{FOLDER}/{self.name}.sh"


def arrays_of(plan: Plan) -> list[Array]:
    """The arrays of a plan, stage after stage."""
    found: list[Array] = []
    for stage in plan.stages:
        alike: dict[tuple[object, bool], list[Node]] = {}
        for node in stage.nodes:
            alike.setdefault((node.resources, node.checkpoints), []).append(node)
        for number, nodes in enumerate(alike.values(), start=1):
            name = f"{stage.name}-{number}" if len(alike) > 1 else stage.name
            found.append(Array(stage.name, f"{len(found):02d}-{name}", tuple(nodes)))
    return found


def job_name(plan: Plan, stage: str) -> str:
    """Name of the jobs of a stage."""
    return f"{plan.name}.{stage}"


def task_log(plan: Plan, task: tuple[str, int]) -> Path:
    """What Slurm and the script said of a task: the number of its array, its own."""
    array, number = task
    return plan.folder / _OUTPUT.replace("%A", array).replace("%a", str(number))


def script_lines(plan: Plan, array: Array, digest: str) -> Iterator[str]:
    """The lines of an array's script.

    Its arguments are the place of the array's first task, and this submission as ``DIGEST/NUMBER``.

    Raises:
        ClusterError: an option is unknown or bad.
    """
    yield "#!/bin/bash"
    yield f"# Stage {array.stage} of plan {plan.name}: a task a node, {len(array.nodes)} in all."
    yield from _options(plan, array)
    yield from _BEGINNING
    yield f"digest={digest}"
    if plan.program.image is not None:
        yield _OLDER
    yield 'case "$place" in'
    for place, node in enumerate(array.nodes):
        yield f"{place}) node={node.name} retries={node.retries}"
        yield f"    set -- {shlex.join(_command(plan, node))} ;;"
    yield '*) echo "jobsight: no node has place $place" >&2; exit 1 ;;'
    yield "esac"
    yield f"checkpoint={CHECKPOINT if array.nodes[0].checkpoints else ''}"
    threads = {"OMP_NUM_THREADS": str(array.nodes[0].resources.cpus)}
    for name, value in {**threads, **plan.program.environment}.items():
        yield f"export {name}={shlex.quote(value)}"
    yield from _RUNNING


def _command(plan: Plan, node: Node) -> Sequence[str]:
    if plan.program.image is not None:
        return contained(plan, node)
    return unpacking(plan, node, f"{SUBMITTED}/pack")


def _options(plan: Plan, array: Array) -> Iterator[str]:
    asked = array.nodes[0].resources
    given = _checked(plan.options.get("slurm", {}))
    options = {
        "job-name": job_name(plan, array.stage),
        "output": _OUTPUT if not set("%\\") & set(str(plan.folder)) else "/dev/null",
        "open-mode": "append",
        "nodes": "1",
        "ntasks": "1",
        "cpus-per-task": str(asked.cpus),
        "mem": f"{asked.memory_mb}M",
        "kill-on-invalid-dep": "yes",
    }
    if asked.gpus:
        options["gres"] = f"gpu:{asked.gpus}"
    if asked.seconds is not None:
        options["time"] = str(-(-asked.seconds // 60))
    if array.nodes[0].checkpoints:
        limit = _NOTICE * 4 if asked.seconds is None else asked.seconds
        options["signal"] = f"B:USR1@{max(1, min(_NOTICE, limit // 2))}"
    for name, value in {**options, **given}.items():
        yield f"#SBATCH --{name}={value}" if value else f"#SBATCH --{name}"
    yield "#SBATCH --requeue"


def _checked(options: Mapping[str, Option]) -> dict[str, str]:
    """Options of sbatch, checked."""
    found = {}
    for name, value in options.items():
        if name in ("at_once", "export"):
            continue
        if name not in (*OPTIONS, *FLAGS):
            known = ", ".join((*OPTIONS, *FLAGS, "at_once", "export"))
            raise ClusterError(f"slurm: no option {printable(name, 60)!r}; known are {known}")
        text = value if isinstance(value, str) else ",".join(value)
        if not _VALUE.fullmatch(text) and not (name in FLAGS and not text):
            raise ClusterError(
                f"slurm: {name} is {printable(text, 60)!r}; give letters, digits and signs, no "
                "blanks and no quotes"
            )
        found[name] = text
    return found


def at_once(plan: Plan) -> str:
    """The end of ``--array``: how many tasks of an array may run at once.

    Raises:
        ClusterError: the option ``at_once`` is no number.
    """
    given = plan.options.get("slurm", {}).get("at_once")
    if given is None:
        return ""
    if not isinstance(given, str) or not re.fullmatch(r"[1-9][0-9]{0,6}", given, re.ASCII):
        raise ClusterError(f"slurm: at_once is {printable(given, 40)!r}; give a number from 1")
    return f"%{given}"


def exported(plan: Plan, environment: Mapping[str, str]) -> str:
    """The value of ``--export``: names alone, so no value is written anywhere by us.

    The option ``export`` names further variables, such as a key that a site lets jobs have so.

    Raises:
        ClusterError: one of them is no name.
    """
    given = plan.options.get("slurm", {}).get("export", [])
    more = given.split(",") if isinstance(given, str) else given
    for name in more:
        if not _VARIABLE.fullmatch(name):
            raise ClusterError(
                f"slurm: export has {printable(name, 40)!r}; give names of variables, no values"
            )
    names = [name for name in dict.fromkeys((*_USUAL, *more)) if name in environment]
    return ",".join(names) or "NIL"


_OLDER = 'command -v apptainer > /dev/null || apptainer() { exec singularity "$@"; }'
"""Apptainer by its former name, where a machine has no other; its options are the same."""

_BEGINNING = r"""
place=$(($1 + SLURM_ARRAY_TASK_ID)) token=$2
if [ "$(cat submitted/slurm/token 2> /dev/null)" != "$token" ]; then
    echo "jobsight: the plan was submitted again, or its folder is not seen as $PWD" >&2
    exit 1
fi
submission=${token#*/}
job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
host=${SLURMD_NODENAME:-$HOSTNAME}
host=${host//[^A-Za-z0-9._-]/}
""".strip().splitlines()

_RUNNING = r"""
state=submitted/state/$node.jsonl
out=submitted/logs/$node

# One line of the state file; nothing that cannot be recorded is begun, or counts as done.
record() {
    printf '\n{"plan":"%s","submission":%d,"time":%d000000,"event":%s}\n' \
        "$digest" "$submission" "$(date +%s)" "$1" >> "$state" || exit 1
}
if grep -qs "^{\"plan\":\"$digest\",.*\"event\":\"end\",\"status\":0[,}]" "$state"; then
    exit 0
fi

# Run the node; signals are handed on, and `wait` is taken up again after each.
run() {
    begun=$SECONDS
    record "\"start\",\"host\":\"$host\",\"job\":\"$job\""
    "$@" < /dev/null >> "$out.out" 2>> "$out.err" &
    child=$!
    [ -z "$received" ] || kill -s "$received" "$child"
    while :; do
        interrupted=
        wait "$child"
        now=$?
        [ "$now" = 127 ] && [ -n "$status" ] || status=$now
        [ -n "$interrupted" ] || break
    done
    child=
}
hand_on() {
    received=$1 interrupted=1
    [ -z "$child" ] || kill -s "$1" "$child" 2> /dev/null
}
received= child=
trap 'hand_on USR1' USR1
trap 'hand_on TERM' TERM

# How many lines of this submission have $1; what took less than 5 seconds got nowhere.
count() {
    grep -cs "^{\"plan\":\"$digest\",\"submission\":$submission,.*$1" "$state"
}
while :; do
    status=
    run "$@"
    # Asked to save before it could listen: nothing but its start is lost.
    if [ "$received$status" = USR1138 ] && [ -n "$checkpoint" ]; then status=$checkpoint; fi
    [ "$status" != 0 ] || { record '"end","status":0'; exit 0; }
    end="\"end\",\"status\":$status" quick=$(count '"quick":true')
    [ $((SECONDS - begun)) -ge 5 ] || { end="$end,\"quick\":true"; quick=$((quick + 1)); }
    [ "$status" = "$checkpoint" ] && [ -z "$received" ] && [ "$quick" -lt 20 ] || break
    record "$end"
    sleep "$quick"
done

queue_again() {
    scontrol requeue "$job" || echo "jobsight: it cannot be queued again; submit the plan again" >&2
}
if [ "$received" = TERM ]; then  # cancelled, or taken off its machine: then Slurm queues it again
    record "$end,\"cause\":\"stopped\""
elif [ "$status" = "$checkpoint" ] && [ "$quick" -lt 20 ]; then
    record "$end"
    queue_again
elif [ "$status" = "$checkpoint" ]; then
    cause="asked to be started again $quick times without progress"
    record "$end,\"final\":true,\"cause\":\"$cause\""
elif [ "$(count '"failed":true')" -lt "$retries" ]; then
    record "$end,\"failed\":true"
    queue_again
else
    record "$end,\"final\":true"
fi
exit "$status"
""".strip().splitlines()
