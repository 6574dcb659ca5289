"""What DAGMan is given: the lines of a DAG file and of its submit descriptions.

There is one submit description for all nodes that ask for the same; what differs is in the VARS of
the DAG file. HTCondor's own writer (`htcondor2.dags`) is not used: it writes ``CATEGORY`` where
``MAXJOBS`` is meant, misreads its rescue files, and needs the bindings. How text is escaped: the
manual page condor_submit(1) (``arguments``, ``environment``, "Using Macros"), and DAGMan's (VARS).

- A node that failed (exit status, signal) is started again, at most `retries` times; for
  `elsewhere` seconds not where it ran last, which the queue remembers of a job.
- One held by an error of a machine or a transfer is released a few times, then removed. One held by
  anything else but a person (memory, size, time) is removed. So none is left held.
- One whose machine is out of touch is started elsewhere after `LEASE_SECONDS`.
- One that was started `starts` times without an end (not counting those that a save of it was
  fetched from) is held with the last reason, and so removed: HTCondor counts no failure where what
  it has is never fetched, say, and would try for ever.
- A job that was removed or failed for good is submitted once more, if the node has retries.
- A job of the submitting machine that failed is submitted anew, as often: the queue does not count
  how often jobs of the universe ``local`` complete, and would start it for ever.
- A node that checkpoints and exits with `CHECKPOINT` is started again where it is. SIGTERM gives it
  `VACATE_SECONDS`. Where files are transferred, its outputs are kept by the access point both
  times, and are there when it starts again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from jobsight.cluster.base import SUBMITTED
from jobsight.cluster.dagoptions import Options, options_of
from jobsight.cluster.plan import CHECKPOINT, Node, Plan, Resources
from jobsight.cluster.starting import START_SCRIPT, command_of, unpacking
from jobsight.errors import ClusterError
from jobsight.text import printable

__all__ = [
    "CONFIG",
    "DAG",
    "EVENTS",
    "NODES",
    "STATUS",
    "Kind",
    "dag_lines",
    "environment_list",
    "kinds",
    "macro_text",
    "submit_lines",
    "vars_value",
    "word_list",
]

DAG = "plan.dag"
CONFIG = "dagman.config"
STATUS = "plan.status"
"""DAGMan's own file of the states of its nodes."""
EVENTS = "events.log"
"""Event log of all nodes of all submissions of the plan."""
NODES = "nodes"
"""Folder of what nodes print."""

VACATE_SECONDS = 120
"""What an evicted node asks for, to save what it has."""

LEASE_SECONDS = 600
"""HTCondor's own default is 40 minutes. The option `job_lease_duration` overrides it."""

PASSING = (6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 19, 21, 23, 35, 36, 45, 48, 49)
"""Hold codes of errors that may not be there on another machine, or later (see codes.py)."""
BY_HAND = (1, 15, 16)
"""Hold codes of jobs that wait for a person, or for their input."""

_FAILURES = ("NumJobCompletions", "NumHolds", "NumShadowExceptions")
"""Attributes that count how often an attempt failed; an eviction counts in none."""
_LOST = "member(MY.VacateReasonCode ?: 0, {1002, 1003, 1006, 1007, 1008})"
"""The machine was lost, or could start nothing (no container, say), which those do not count."""

_UNPACKED = "jobsight-environment"
_FOR_NEAR = frozenset({"accounting_group", "accounting_group_user", "priority", "nice_user"})
"""Commands that a job of the submitting machine takes too; attributes as well."""


@dataclass(frozen=True)
class Kind:
    """What the nodes of one submit description have in common."""

    resources: Resources
    retries: int
    checkpoints: bool
    near: bool


def kinds(plan: Plan) -> dict[str, tuple[Kind, tuple[Node, ...]]]:
    """Submit descriptions by file name: what their nodes have in common, and the nodes."""
    found: dict[Kind, list[Node]] = {}
    names: dict[Kind, str] = {}
    for stage in plan.stages:
        for node in stage.nodes:
            kind = Kind(node.resources, node.retries, node.checkpoints, node.near)
            found.setdefault(kind, []).append(node)
            names.setdefault(kind, stage.name)
    first = list(names.values())
    return {
        f"{name}.sub" if first.index(name) == at else f"{name}.{at}.sub": (kind, tuple(found[kind]))
        for at, (kind, name) in enumerate(names.items())
    }


def dag_lines(plan: Plan) -> Iterator[str]:
    """The DAG file's lines; paths in it are relative to the plan's folder."""
    yield f"# Plan {plan.name}, written by jobsight. Nodes start in the folder above this one."
    if options_of(plan).settings:
        yield f"CONFIG {SUBMITTED}/{CONFIG}"
    yield f"NODE_STATUS_FILE {SUBMITTED}/{STATUS} 30 ALWAYS-UPDATE"
    for file, (kind, nodes) in kinds(plan).items():
        for node in nodes:
            yield f"JOB {node.name} {SUBMITTED}/{file}"
            yield " ".join([f"VARS {node.name}", *_vars(plan, node)])
            if kind.retries:
                yield f"RETRY {node.name} {kind.retries if kind.near else 1}"
    for pair in itertools.pairwise(plan.stages):
        before, after = (" ".join(node.name for node in stage.nodes) for stage in pair)
        yield f"PARENT {before} CHILD {after}"


def _vars(plan: Plan, node: Node) -> Iterator[str]:
    yield f"node_arguments={vars_value(word_list(node.arguments))}"
    if plan.shared or node.near:
        return
    outputs = [_plain(path) for path in node.outputs]
    inputs = dict.fromkeys([*(_plain(path) for path in node.inputs), *outputs])
    yield f"node_inputs={vars_value(macro_text(', '.join(inputs)))}"
    # Nothing at all would mean every new file, a pair of quotes means none.
    yield f"node_outputs={vars_value(macro_text(', '.join(outputs)) or chr(34) * 2)}"


def _plain(path: str) -> str:
    """Without a slash at its end, which would mean the content of the folder."""
    return str(PurePosixPath(path))


def submit_lines(plan: Plan, kind: Kind) -> Iterator[str]:
    """The lines of the submit description of all nodes of a kind.

    Raises:
        ClusterError: a value ends with a backslash, which would join the next line to it, or with
            a blank, which would be cut.
    """
    for line in _submit_lines(plan, kind):
        if line.endswith(("\\", " ")):
            raise ClusterError(
                f"{printable(line, 200)!r} cannot be in a submit description: it ends with a "
                "backslash or a blank; rename what it names"
            )
        yield line


def _submit_lines(plan: Plan, kind: Kind) -> Iterator[str]:
    options = options_of(plan)
    yield f"universe = {_universe(plan, kind)}"
    yield from _starting_lines(plan, kind)
    yield f"initialdir = {macro_text(str(plan.folder))}"
    if plan.program.environment:
        yield f'environment = "{environment_list(plan.program.environment)}"'
    yield f"log = {SUBMITTED}/{EVENTS}"
    yield f"output = {SUBMITTED}/{NODES}/$(JOB).out"
    yield f"error = {SUBMITTED}/{NODES}/$(JOB).err"
    if not kind.near:
        yield from _transfer_lines(plan, kind)
    yield from _resource_lines(kind)
    yield from _policy_lines(kind, options, sent=not (plan.shared or kind.near))
    for name, value in sorted(options.commands.items()):
        attribute = name.startswith(("+", "MY."))
        if name.lower() != "requirements" and (
            not kind.near or attribute or name.lower() in _FOR_NEAR
        ):
            yield f"{name} = {value}"
    yield "queue"


def _universe(plan: Plan, kind: Kind) -> str:
    if kind.near:
        return "local"
    return "container" if plan.program.image else "vanilla"


def _starting_lines(plan: Plan, kind: Kind) -> Iterator[str]:
    """What is started; a node's own arguments follow the words here."""
    node = Node("any", (), near=kind.near)
    transferred = plan.program.pack is not None and not (kind.near or plan.shared)
    if transferred:
        assert plan.program.pack is not None
        words = (plan.program.pack.name, _UNPACKED, *command_of(plan, node))
        yield f"executable = {START_SCRIPT}"
    else:
        words = unpacking(plan, node, f"{SUBMITTED}/{_UNPACKED}")
        if "/" in words[0]:
            yield f"executable = {macro_text(words[0])}"
            words = words[1:]
        else:  # HTCondor does not look on the PATH
            yield "executable = /usr/bin/env"
    yield f"transfer_executable = {transferred}"
    if plan.program.image and not kind.near:
        yield f"container_image = {macro_text(plan.program.image)}"
        if plan.shared:  # or it would be transferred, which such a job does not
            yield "transfer_container = False"
    yield f'arguments = "{word_list(words)} $(node_arguments)"'


def _transfer_lines(plan: Plan, kind: Kind) -> Iterator[str]:
    if kind.checkpoints:
        yield f"checkpoint_exit_code = {CHECKPOINT}"
        yield "kill_sig = SIGTERM"
        yield f"job_max_vacate_time = {VACATE_SECONDS}"
    if plan.shared:
        yield "should_transfer_files = NO"
        return
    yield "should_transfer_files = YES"
    yield "when_to_transfer_output = ON_EXIT_OR_EVICT"
    yield "preserve_relative_paths = True"
    pack = "" if plan.program.pack is None else f"{macro_text(str(plan.program.pack))}, "
    yield f"transfer_input_files = {pack}$(node_inputs)"
    yield "transfer_output_files = $(node_outputs)"
    if kind.checkpoints:
        yield "transfer_checkpoint_files = $(node_outputs)"


def _resource_lines(kind: Kind) -> Iterator[str]:
    asked = kind.resources
    yield f"request_cpus = {asked.cpus}"
    yield f"request_memory = {asked.memory_mb}MB"
    yield f"request_disk = {asked.disk_mb}MB"
    if asked.gpus:
        yield f"request_gpus = {asked.gpus}"


def _policy_lines(kind: Kind, options: Options, *, sent: bool) -> Iterator[str]:
    """When a job is started again, where, and when it is given up."""
    if kind.retries and not kind.near:
        yield f"max_retries = {kind.retries}"
    passing = f"{_held_by(PASSING)} && NumHolds <= {options.releases}"
    waited = f"time() - EnteredCurrentStatus >= {options.release_after}"
    yield f"periodic_release = {passing} && {waited}"
    yield f"periodic_remove = JobStatus == 5 && !({passing}) && !{_held_by(BY_HAND)}"
    yield from _limit_lines(kind, options.starts if sent else 0)
    if kind.near:
        return
    given = {name.lower(): value for name, value in options.commands.items()}
    if "job_lease_duration" not in given:
        yield f"job_lease_duration = {LEASE_SECONDS}"
    wanted = [given["requirements"]] if "requirements" in given else []
    if options.elsewhere:
        yield "job_machine_attrs = Name"
        yield "job_machine_attrs_history_length = 1"
        failures = " + ".join(f"(MY.{name} ?: 0)" for name in _FAILURES)
        wanted.append(
            f"{failures} == 0 && !{_LOST} || "
            f"{_startd('TARGET.Name')} =!= {_startd('MY.MachineAttrName0')} || "
            f"time() - EnteredCurrentStatus > {options.elsewhere}"
        )
    if wanted:
        yield f"requirements = {' && '.join(f'({one})' for one in wanted)}"


def _limit_lines(kind: Kind, starts: int) -> Iterator[str]:
    """The ends of an attempt that takes longer, and of a job that is started again and again."""
    held: list[tuple[str, str]] = []
    if kind.resources.seconds is not None:
        seconds = kind.resources.seconds
        overdue = f"JobStatus == 2 && time() - JobCurrentStartDate > {seconds}"
        if kind.checkpoints:
            yield f"periodic_vacate = {overdue}"
        else:
            held.append((overdue, f'"it ran longer than the {seconds} s that it asked for"'))
    if starts:
        # Starts behind a CHECKPOINT do not count in NumShadowStarts. A job may be idle for less
        # time than passes between two looks, so one start too many is ended where it runs.
        allowed = f"{starts} + (CheckpointNumber ?: -1) + ifThenElse(JobStatus == 2, 1, 0)"
        worn = f"(NumShadowStarts ?: 0) > {allowed}"
        words = '"it was started ", NumShadowStarts, " times and never ended; the last time: "'
        held.append((worn, f'strcat({words}, VacateReason ?: "no reason given")'))
    if held:
        yield f"periodic_hold = {' || '.join(f'({when})' for when, _ in held)}"
        reason = "undefined"
        for when, words in held:
            reason = f"ifThenElse({when}, {words}, {reason})"
        yield f"periodic_hold_reason = {reason}"


def _held_by(codes: tuple[int, ...]) -> str:
    return f"member(HoldReasonCode, {{{', '.join(map(str, codes))}}})"


def _startd(name: str) -> str:
    """Of a slot's name (``slot1_3@glidein_7@host``) what is after its first ``@``."""
    return f'regexps("^[^@]*@(.*)", {name}, "\\1")'


def macro_text(text: str) -> str:
    """Text where submit expands macros: a ``$`` stays one.

    Two of them would be expanded when a machine is matched, and have a macro of that moment.
    """
    pairs = text.replace("$$", "\0")
    return pairs.replace("$", "$(DOLLAR)").replace("\0", "$$(DOLLARDOLLAR)")


def word_list(words: Iterable[str]) -> str:
    """Words as they are between the double quotes of ``arguments``, macros escaped."""
    return " ".join(macro_text(_word(word)) for word in words)


def environment_list(variables: Mapping[str, str]) -> str:
    """Variables as they are between the double quotes of ``environment``, macros escaped."""
    return " ".join(
        f"{name}={macro_text(_quoted(value))}" for name, value in sorted(variables.items())
    )


def vars_value(text: str) -> str:
    """A value of a VARS line, with its quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _word(word: str) -> str:
    plain = word.isalnum() or (word and all(c.isalnum() or c in "-_./:=+@%" for c in word))
    return word if plain else _quoted(word)


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''").replace('"', '""')
    return f"'{doubled}'"
