"""``jobsight setup``: install what lets the machine run Jobsight by itself."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from jobsight.cli.output import say
from jobsight.errors import OutputError
from jobsight.files import new_file

__all__ = ["systemd"]

_PROGRAM = "/opt/jobsight/bin/jobsight"


def systemd(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the units.")] = Path(
        "/etc/systemd/system"
    ),
    program: Annotated[
        Path | None, typer.Option(help="The command that units run (default: this one).")
    ] = None,
) -> None:
    """Write the units of the collector, the service, and the timers; start nothing."""
    command = (program or Path(sys.argv[0])).resolve()
    if any(map(str.isspace, str(command))):
        raise OutputError(f"systemd takes no blanks in the path of a program: {command}")
    for unit in sorted(files("jobsight.service").joinpath("units").iterdir(), key=lambda u: u.name):
        text = unit.read_text(encoding="utf-8").replace(_PROGRAM, str(command))
        with new_file(output / unit.name) as temporary:
            temporary.write_text(text, encoding="utf-8")
            temporary.chmod(0o644)
        say(f"wrote {output / unit.name}")
    say("now: systemctl daemon-reload && systemctl enable --now jobsight-collect jobsight-serve")
    say("and, as wanted: systemctl enable --now jobsight-train@hold.timer jobsight-prune.timer")
