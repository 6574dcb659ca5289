"""How a node's process is started: the words of its command, in a container or not."""

from __future__ import annotations

from collections.abc import Iterator

from jobsight.cluster.plan import Node, Plan

__all__ = ["command_of", "contained"]

_APART = {"PYTHONNOUSERSITE": "1", "PYTHONPATH": "", "PYTHONHOME": ""}
"""Variables of containers: the home folder, with packages for another Python, is shown to them."""


def command_of(plan: Plan, node: Node) -> tuple[str, ...]:
    """The words of a node's command where it runs, without the image."""
    program = plan.program
    return (*(program.near if node.near and program.near else program.command), *node.arguments)


def contained(plan: Plan, node: Node, *, runner: str = "apptainer") -> tuple[str, ...]:
    """`command_of`, run by apptainer in the plan's image where it has one (Slurm and here).

    The container sees the plan's folder and the node's inputs outside it under the same paths, and
    the environment of the runner, but for what would have its Python take packages of the machine.
    Needs Apptainer, or Singularity 3.9 as the `runner`. A node that runs near sees no image.
    """
    command = command_of(plan, node)
    if plan.program.image is None or node.near:
        return command
    return (runner, "exec", *_container_options(plan, node), plan.program.image, *command)


def _container_options(plan: Plan, node: Node) -> Iterator[str]:
    yield from ("--pwd", str(plan.folder))
    outside = [path for path in node.inputs if path.startswith("/")]
    for path in (str(plan.folder), *dict.fromkeys(outside)):
        # A field in double quotes, as in comma-separated values; Apptainer's manual, "--mount".
        quoted = path.replace('"', '""')
        yield from ("--mount", f'type=bind,"src={quoted}","dst={quoted}"')
    for name, value in _APART.items():
        if name not in plan.program.environment:
            yield from ("--env", f"{name}={value}")
    if node.resources.gpus:
        yield "--nv"
