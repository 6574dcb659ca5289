"""``jobsight sweep pack``: an archive of Jobsight for machines that do not have it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jobsight.cli.common import JsonOption, check_output
from jobsight.cli.output import answer, progress_bar
from jobsight.cluster.packing import pack as make
from jobsight.files import Kind
from jobsight.format import size
from jobsight.text import counted

__all__ = ["pack"]


def pack(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The archive: NAME.tar.gz, or NAME.tar.")
    ],
    with_python: Annotated[
        bool, typer.Option("--with-python", help="Pack this Python and its library too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Pack Jobsight and what it needs, for machines that do not have it."""
    check_output(output, Kind.PACK)
    with progress_bar("packing") as progress:
        made = make(
            output,
            with_python=with_python,
            practice=("sweep", "node", "practise", "."),
            progress=progress,
        )
    text = (
        f"packed {counted(len(made['packages']), 'package')} for Python {made['python']} on "
        f"{made['platform']}{', with the interpreter' if with_python else ''}: "
        f"{size(output.stat().st_size)}\n"
        f"wrote {output}; name it in the config as program: {{pack: …}}"
    )
    answer({"pack": str(output), **made}, text, as_json=as_json)
