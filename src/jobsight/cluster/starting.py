"""How a node's process is started: the words of its command, and the script that unpacks a pack.

All schedulers start nodes so. A pack is a tar archive with a folder ``bin`` at its top; the script
unpacks it once in a place, however many nodes come at the same time, puts its ``bin`` at the front
of the PATH and becomes the command, so that signals reach it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jobsight.cluster.base import SUBMITTED
from jobsight.cluster.plan import Node, Plan
from jobsight.files import new_file

__all__ = ["START_SCRIPT", "command_of", "contained", "unpacking", "write_start_script"]

_APART = {"PYTHONNOUSERSITE": "1", "PYTHONPATH": "", "PYTHONHOME": ""}
"""Variables of containers: the home folder, with packages for another Python, is shown to them."""

START_SCRIPT = f"{SUBMITTED}/start.sh"
"""The script, in the plan's folder."""

_SCRIPT = r"""#!/bin/sh
# sh start.sh PACK PLACE COMMAND...: unpack PACK into the folder PLACE, unless it is there,
# and run COMMAND with PLACE/bin in front of its PATH.
set -eu
pack=$1 place=$2
shift 2
if [ ! -e "$place/.unpacked" ]; then
    mkdir -p -- "$(dirname -- "$place")"
    part=$(mktemp -d -- "$place.XXXXXX")
    trap 'rm -rf -- "$part"' EXIT
    tar -xf "$pack" -C "$part"
    chmod a+rx -- "$part"
    : > "$part/.unpacked"
    # Another node may have been quicker: then its folder stays and this one goes.
    mv -T -- "$part" "$place" 2> /dev/null || rm -rf -- "$part"
    [ -e "$place/.unpacked" ]
    trap - EXIT
fi
PATH="$(cd -- "$place" && pwd)/bin:$PATH"
export PATH
exec "$@"
"""


def write_start_script(plan: Plan) -> list[Path]:
    """Write the script where the plan has a pack; the files written.

    Raises:
        OutputError: it cannot be written.
    """
    if plan.program.pack is None:
        return []
    path = plan.folder / START_SCRIPT
    with new_file(path) as temporary:
        temporary.write_text(_SCRIPT, encoding="utf-8")
    path.chmod(0o755)
    return [path]


def command_of(plan: Plan, node: Node) -> tuple[str, ...]:
    """The words of a node's command where it runs, without image or pack."""
    program = plan.program
    return (*(program.near if node.near and program.near else program.command), *node.arguments)


def unpacking(plan: Plan, node: Node, place: Path | str) -> tuple[str, ...]:
    """`command_of`, after the script that unpacks the plan's pack into the folder `place`, if any.

    All nodes that name one place share it; a node that runs near sees no pack.
    """
    command = command_of(plan, node)
    if plan.program.pack is None or node.near:
        return command
    script = Path(place).parent / Path(START_SCRIPT).name
    return ("sh", str(script), str(plan.program.pack), str(place), *command)


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
