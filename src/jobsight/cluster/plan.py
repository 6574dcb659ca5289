"""A plan of work: stages of nodes, what each reads, writes and needs, as data.

A plan knows no scheduler. `jobsight.cluster` hands it to one; `Plan.to_json` keeps it beside the
work, so that a later call (status, submit again) means the very same plan.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any

from jobsight.errors import PlanError
from jobsight.text import printable

__all__ = [
    "CHECKPOINT",
    "Node",
    "Option",
    "Plan",
    "Program",
    "Resources",
    "Stage",
    "looks_secret",
]

CHECKPOINT = 85
"""Exit status of a node that says: what I have is in my outputs, start me again."""

SCHEMA = "jobsight.plan/1"

Option = str | list[str]
"""Value of an option of a scheduler: one text, or several."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}", re.ASCII)
_RESERVED = frozenset({"parent", "child", "all_nodes"})
"""Words of DAGMan's language, which it reads in any case of letters."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie", re.IGNORECASE)


@dataclass(frozen=True)
class Resources:
    """What a node asks for.

    Attributes:
        cpus: cores.
        memory_mb: MiB of memory.
        disk_mb: MiB of scratch disk.
        gpus: graphics processors.
        seconds: longest wall time of one attempt; None: the scheduler's own limit.
    """

    cpus: int = 1
    memory_mb: int = 2048
    disk_mb: int = 4096
    gpus: int = 0
    seconds: int | None = None


@dataclass(frozen=True)
class Node:
    """One process to run to its end.

    Attributes:
        name: a letter, then letters, digits, ``_`` and ``-``; unique in the plan in any case of
            letters.
        arguments: what `jobsight` is called with; paths are relative to the plan's folder.
        inputs: files and folders that it reads, relative to the plan's folder, or absolute. Where
            nothing is shared, relative ones are found under the same relative path, absolute ones
            under their last name.
        outputs: folders relative to the plan's folder that it writes into. They exist when the plan
            is submitted, and what is in them is there when the node starts.
        resources: what it asks for.
        retries: how often it is started again after it failed.
        checkpoints: it may exit with `CHECKPOINT`.
        near: it runs on the submitting machine, and does not checkpoint.
    """

    name: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    resources: Resources = Resources()
    retries: int = 0
    checkpoints: bool = False
    near: bool = False


@dataclass(frozen=True)
class Stage:
    """Nodes that wait for all nodes of the stage before."""

    name: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Program:
    """How `jobsight` starts where a node runs.

    Attributes:
        command: program and first arguments, such as ``(sys.executable, "-m", "jobsight")``. With a
            `pack`, a bare name (``python3``) is looked for in the pack's ``bin`` first.
        image: container image, by path or address (``docker://…``); the command is found in it.
        pack: an environment as a tar archive whose ``bin`` folder has the command.
        environment: variables that nodes see; never secrets.
        near: the command on the submitting machine, for nodes that run near; empty: `command`.
            They see neither image nor pack.
    """

    command: tuple[str, ...]
    image: str | None = None
    pack: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Work to be done in a folder, checked when it is made.

    Attributes:
        name: like a node's name.
        folder: absolute; the nodes' relative paths start here.
        stages: in order.
        program: how nodes start.
        shared: nodes see `folder` under the same path; else inputs and outputs are transferred.
        options: by scheduler's name, options for it alone.

    Raises:
        PlanError: something is wrong with it; names the node.
    """

    name: str
    folder: Path
    stages: tuple[Stage, ...]
    program: Program
    shared: bool
    options: Mapping[str, Mapping[str, Option]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name("the plan", self.name)
        if not self.folder.is_absolute():
            raise PlanError(f"the plan's folder {self.folder} is not absolute; resolve it")
        _check_text("the plan's folder", str(self.folder))
        _check_program(self.program, sent=not self.shared)
        for stage in self.stages:
            _check_name("a stage", stage.name)
            if not stage.nodes:
                raise PlanError(f"stage {stage.name} has no node; leave it out or fill it")
        nodes = tuple(self.nodes())
        if not nodes:
            raise PlanError(f"plan {self.name} has no node")
        _check_unique("stages", [stage.name for stage in self.stages])
        _check_unique("nodes", [node.name for node in nodes])
        for node in nodes:
            _check_node(node)
            if not (self.shared or node.near):
                _check_transfers(node, self.program.pack)

    def nodes(self) -> Iterator[Node]:
        """All nodes, stage after stage."""
        for stage in self.stages:
            yield from stage.nodes

    def edges(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """For each stage but the first: names of the nodes before, and of those that wait."""
        for before, after in zip(self.stages, self.stages[1:], strict=False):
            yield (
                tuple(node.name for node in before.nodes),
                tuple(node.name for node in after.nodes),
            )

    def to_json(self) -> dict[str, Any]:
        """The plan as what JSON can hold; defaults of nodes are left out."""
        program = asdict(self.program) | {"environment": dict(self.program.environment)}
        program["pack"] = None if self.program.pack is None else str(self.program.pack)
        return {
            "schema": SCHEMA,
            "name": self.name,
            "folder": str(self.folder),
            "stages": [
                {"name": stage.name, "nodes": [_node_to_json(node) for node in stage.nodes]}
                for stage in self.stages
            ],
            "program": program,
            "shared": self.shared,
            "options": {name: dict(options) for name, options in self.options.items()},
        }

    @classmethod
    def from_json(cls, value: Any) -> Plan:
        """The plan that `to_json` made this of.

        Raises:
            PlanError: it is none, or of another version.
        """
        try:
            if value["schema"] != SCHEMA:
                raise PlanError(
                    f"the plan's schema is {printable(value['schema'], 60)!r}, this version reads "
                    f"{SCHEMA!r}; plan again"
                )
            return cls(
                name=value["name"],
                folder=Path(value["folder"]),
                stages=tuple(
                    Stage(stage["name"], tuple(_node_of(node) for node in stage["nodes"]))
                    for stage in value["stages"]
                ),
                program=_program_of(value["program"]),
                shared=value["shared"],
                options=value["options"],
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise PlanError(
                f"this is no plan: {type(error).__name__} {printable(error, 80)}; plan again"
            ) from error


def _node_to_json(node: Node) -> dict[str, Any]:
    plain = Node(node.name, node.arguments)
    told = asdict(node)
    return {name: told[name] for name in told if getattr(node, name) != getattr(plain, name)} | {
        "name": node.name,
        "arguments": list(node.arguments),
    }


def _node_of(value: Mapping[str, Any]) -> Node:
    told = _known(Node, value)
    if "resources" in told:
        told["resources"] = Resources(**told["resources"])
    return Node(**told)


def _program_of(value: Mapping[str, Any]) -> Program:
    told = _known(Program, value)
    if told.get("pack") is not None:
        told["pack"] = Path(told["pack"])
    return Program(**told)


def _known(kind: type[Node | Program], value: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON tells of a dataclass: its lists are tuples here."""
    if unknown := set(value) - {item.name for item in fields(kind)}:
        raise PlanError(f"this is no plan: unknown {printable(min(unknown), 60)!r}; plan again")
    return {name: tuple(item) if isinstance(item, list) else item for name, item in value.items()}


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name) or name.lower() in _RESERVED:
        raise PlanError(
            f"{what} is named {printable(name, 60)!r}; use a letter, then at most 99 letters, "
            "digits, - and _, and no word of DAGMan's language (parent, child, all_nodes)"
        )


def _check_unique(what: str, names: Sequence[str]) -> None:
    name, times = Counter(name.lower() for name in names).most_common(1)[0]
    if times > 1:
        raise PlanError(f"{times} {what} are named {name}; each needs a name of its own")


def _check_text(what: str, text: str) -> None:
    """Refuse what no submit description and no command line can hold."""
    if not text or not text.isprintable():
        raise PlanError(
            f"{what} is {printable(ascii(text), 80)}; it must be neither empty nor hold control "
            "characters"
        )


def _check_node(node: Node) -> None:
    _check_name("a node", node.name)
    for argument in node.arguments:
        if any(letter in argument for letter in "\0\r\n"):
            raise PlanError(f"node {node.name}: argument {argument[:60]!r} holds a line break")
    for path in (*node.inputs, *node.outputs):
        _check_path(node.name, path, absolute=path in node.inputs)
    if len(set(node.outputs)) < len(node.outputs):
        raise PlanError(f"node {node.name} names an output twice")
    _check_numbers(node)
    if node.near and node.checkpoints:
        raise PlanError(
            f"node {node.name} runs near and checkpoints; nothing evicts it there, choose one"
        )


def _check_path(node: str, path: str, *, absolute: bool) -> None:
    _check_text(f"a path of node {node}", path)
    pure = PurePosixPath(path)
    if pure.is_absolute() and absolute:
        return
    if pure.is_absolute() or ".." in pure.parts or pure == PurePosixPath():
        raise PlanError(
            f"node {node}: {printable(path, 80)!r} is not a path in the plan's folder; write it "
            "relative to that folder, without '..'"
        )


def _check_transfers(node: Node, pack: Path | None) -> None:
    """Refuse paths that HTCondor cannot transfer, or only over one another.

    Its lists have commas and no quotes; what has an absolute path lands under its last name.
    """
    for path in (*node.inputs, *node.outputs):
        if "," in path or path != path.strip() or "://" in path:
            raise PlanError(
                f"node {node.name}: {printable(path, 80)!r} cannot be transferred (a comma, a "
                "blank at an end, or '://'); rename it or use a shared file system"
            )
    paths = [PurePosixPath(path) for path in (*node.inputs, *node.outputs)]
    landing = Counter(path.name for path in {path for path in paths if path.is_absolute()})
    landing.update({path.parts[0] for path in paths if not path.is_absolute()})
    landing.update([] if pack is None else [pack.name])
    name, times = landing.most_common(1)[0] if landing else ("", 0)
    if times > 1:
        raise PlanError(
            f"node {node.name} reads {times} files that would be transferred to one place, "
            f"{printable(name, 60)!r}; rename one or use a shared file system"
        )


def _check_numbers(node: Node) -> None:
    asked = node.resources
    least = {"cpus": 1, "memory_mb": 1, "disk_mb": 1, "gpus": 0, "seconds": 1}
    for name, lowest in least.items():
        value = getattr(asked, name)
        if value is None and name == "seconds":
            continue
        if type(value) is not int or not lowest <= value < 2**31:
            raise PlanError(
                f"node {node.name}: {name} is {printable(value, 40)}; give a whole number from "
                f"{lowest} to {2**31 - 1}"
            )
    if type(node.retries) is not int or not 0 <= node.retries <= 100:
        raise PlanError(f"node {node.name}: retries is {node.retries}; give 0 to 100")


def _check_program(program: Program, *, sent: bool) -> None:
    for what, command in (("command", program.command), ("near command", program.near)):
        for word in command:
            _check_text(f"a word of the program's {what}", word)
    if not program.command:
        raise PlanError("the program has no command; give e.g. python3 -m jobsight")
    pack = None if program.pack is None else str(program.pack)
    for what, path in (("the container image", program.image), ("the pack", pack)):
        if path is not None:
            _check_text(what, path)
            if sent and "," in path:
                raise PlanError(
                    f"{what} {printable(path, 80)!r} cannot be transferred (a comma); rename it or "
                    "use a shared file system"
                )
    if program.image is not None and program.pack is not None:
        raise PlanError("the program has a container image and a pack; give one of them")
    if program.pack is not None and not program.pack.is_absolute():
        raise PlanError(f"the pack {printable(program.pack, 80)} is not absolute; resolve it")
    for name, value in program.environment.items():
        _check_variable(name, value)


def looks_secret(name: str) -> bool:
    """Whether an environment variable of that name may well hold a secret."""
    return _SECRET.search(name) is not None


def _check_variable(name: str, value: str) -> None:
    if not _VARIABLE.fullmatch(name):
        raise PlanError(f"{printable(name, 60)!r} is no name of an environment variable")
    if looks_secret(name):
        raise PlanError(
            f"environment variable {name} looks like a secret, and would stand readable in files "
            "and queues; keep it out of the config (W&B reads its key from ~/.netrc)"
        )
    if any(letter in value for letter in "\0\r\n"):
        raise PlanError(f"environment variable {name} holds a line break")
