"""A plan of work: stages of nodes, what each reads, writes and needs, as data.

A plan knows no scheduler. `jobsight.cluster` submits it to one; its JSON is kept with the work, so
that a later call (status, submit again) means the very same plan.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from jobsight.errors import PlanError
from jobsight.text import printable

__all__ = ["CHECKPOINT", "Node", "Option", "Plan", "Program", "Resources", "Stage", "looks_secret"]

CHECKPOINT = 85
"""Exit status of a node that says: what I have is in my outputs, start me again."""

SCHEMA = "jobsight.plan/1"

Option = str | list[str]
"""Value of an option of a scheduler: one text, or several."""

_SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie", re.IGNORECASE)


@dataclass(frozen=True)
class Resources:
    """What a node asks for: memory and disk in MiB, and the longest wall time of one attempt.

    `seconds` None is the scheduler's own limit.
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
        name: a letter, then letters, digits, ``_`` and ``-``, and no word of DAGMan's language;
            unique in the plan.
        arguments: of `jobsight`; paths are relative to the plan's folder.
        inputs: files and folders that it reads, relative to the plan's folder, or absolute. Where
            nothing is shared, absolute ones are found under their last name.
        outputs: folders relative to the plan's folder that it writes into. They exist when the plan
        is
            submitted, and what is in them is there when the node starts.
        retries: how often it is started again after it failed.
        checkpoints: it may exit with `CHECKPOINT`.
        near: it runs on the submitting machine, and does not checkpoint.
    """

    name: str
    arguments: tuple[str, ...] = ()
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
        folder: absolute; the nodes' relative paths start here.
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
        _check_text("the plan's folder", str(self.folder))
        _check_program(self.program, sent=not self.shared)
        for node in self.nodes():
            for path in (*node.inputs, *node.outputs):
                _check_text(f"a path of node {node.name}", path)
            if not (self.shared or node.near):
                _check_transfers(node, self.program.pack)

    def nodes(self) -> Iterator[Node]:
        """All nodes, stage after stage."""
        for stage in self.stages:
            yield from stage.nodes

    def to_json(self) -> dict[str, Any]:
        """The plan as what JSON can hold; defaults of nodes are left out."""
        body: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        plain = msgspec.to_builtins(Node("", ()))
        for stage in body["stages"]:
            stage["nodes"] = [
                {name: value for name, value in node.items() if value != plain[name]}
                for node in stage["nodes"]
            ]
        return {"schema": SCHEMA, **body}

    @classmethod
    def from_json(cls, value: Any) -> Plan:
        """The plan that `to_json` made this of.

        Raises:
            PlanError: it is not a plan, or of another version.
        """
        try:
            if value["schema"] != SCHEMA:
                raise PlanError(
                    f"the plan's schema is {printable(value['schema'], 60)!r}, this version reads "
                    f"{SCHEMA!r}; plan again"
                )
            return msgspec.convert(value, cls, dec_hook=lambda kind, given: kind(given))
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            raise PlanError(
                f"this is not a plan: {type(error).__name__} {printable(error, 80)}; plan again"
            ) from error


def _check_text(what: str, text: str) -> None:
    """Refuse what no submit description and no command line can hold."""
    if not text or not text.isprintable():
        raise PlanError(
            f"{what} is {printable(ascii(text), 80)}; it must be neither empty nor hold control "
            "characters"
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


def _check_program(program: Program, *, sent: bool) -> None:
    pack = None if program.pack is None else str(program.pack)
    for what, path in (("the container image", program.image), ("the pack", pack)):
        if path is not None:
            _check_text(what, path)
            if sent and "," in path:
                raise PlanError(
                    f"{what} {printable(path, 80)!r} cannot be transferred (a comma); rename it or "
                    "use a shared file system"
                )
    for name, value in program.environment.items():
        if any(character in value for character in "\0\r\n"):
            raise PlanError(f"environment variable {name} holds a line break")


def looks_secret(name: str) -> bool:
    """Whether an environment variable of that name may well hold a secret."""
    return _SECRET.search(name) is not None
