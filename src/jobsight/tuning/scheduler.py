"""What a sweep needs of a scheduler: submit its runs, report their status, cancel them.

There is no scheduler of our own: DAGMan, Slurm, or processes of this machine run a sweep. What has
ended is known from the study, so any submission is of the runs that have not ended, then of the
steps that finish the sweep. A scheduler's memory is in the sweep's folder, under ``submitted/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from jobsight.errors import ClusterError
from jobsight.text import printable
from jobsight.tuning.folder import Sweep

__all__ = [
    "NO_PROGRAM",
    "RESUME",
    "NodeStatus",
    "Scheduler",
    "Status",
    "last_line",
    "require_plain",
    "words_of",
]

RESUME = 85
"""Exit status of a run that says: what I have is in my folder, start me again."""

NO_PROGRAM = (
    "the program is not there under that path; name `program: {image: …}` in the config, or use a "
    "Python that all machines see"
)

_APART = {"PYTHONNOUSERSITE": "1", "PYTHONPATH": "", "PYTHONHOME": ""}
"""Variables of containers: the home folder, with packages for another Python, is shown to them."""


@dataclass(frozen=True)
class NodeStatus:
    """The status of one process of a sweep, as its scheduler has it.

    Attributes:
        cause: one line, of a failure or a hold; printable.
        where: machine that it runs or ran on last.
        log: the file, relative to the sweep's folder, with more about the cause.
    """

    state: Literal["queued", "running", "held", "failed", "removed", "done"]
    cause: str | None = None
    where: str | None = None
    log: str | None = None


@dataclass(frozen=True)
class Status:
    """The status of a sweep, as its scheduler has it.

    Attributes:
        active: the scheduler still works on it.
        manager: one line about what drives it; None: it was not submitted.
        nodes: by name: ``run-0007``, ``best``, ``register``; those that are known.
        asked: the scheduler answered; else `manager` says why not.
    """

    active: bool
    manager: str | None = None
    nodes: Mapping[str, NodeStatus] = field(default_factory=dict)
    asked: bool = True


class Scheduler(Protocol):
    """Runs sweeps; all methods raise `ClusterError` where it is missing, silent or refuses."""

    def write(self, sweep: Sweep, runs: Sequence[int]) -> list[Path]:
        """Write what the scheduler is given for these runs, and submit nothing; the files."""

    def submit(self, sweep: Sweep, runs: Sequence[int]) -> str:
        """Submit these runs and what finishes the sweep; the scheduler's id of it."""

    def status(self, sweep: Sweep) -> Status:
        """The status of the sweep."""

    def cancel(self, sweep: Sweep) -> None:
        """Stop it; what runs wrote stays."""


def words_of(sweep: Sweep, *words: str, runner: str = "apptainer") -> list[str]:
    """The command of a process of the sweep in its folder, on this machine or on Slurm.

    In an image it is run by Apptainer: the container sees the sweep's folder and the registry under
    the same paths, and the environment but for what would have its Python use the machine's
    packages.
    """
    arguments = ["sweep", "node", *words, "."]
    image = sweep.planned.image
    if image is None:
        return [*sweep.planned.command, *arguments]
    options = ["--pwd", sweep.planned.folder]
    for folder in (sweep.planned.folder, sweep.planned.registry):
        # A field in double quotes, as in comma-separated values; Apptainer's manual, "--mount".
        quoted = folder.replace('"', '""')
        options += ["--mount", f'type=bind,"src={quoted}","dst={quoted}"']
    for name, value in _APART.items():
        if name not in sweep.config.program.environment:
            options += ["--env", f"{name}={value}"]
    if sweep.config.resources.gpus:
        options.append("--nv")
    return [runner, "exec", *options, image, "jobsight", *arguments]


def last_line(path: Path, most: int = 64 << 10) -> str:
    """The last line of a log that is not blank, to be shown; empty where there is none."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - most))
            lines = stream.read(most).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return printable(next((line for line in reversed(lines) if line.strip()), ""), 300)


def require_plain(what: str, text: str) -> str:
    """A text that a submit description or a script can hold.

    Raises:
        ClusterError: it has line breaks or other control characters, or a backslash at its end.
    """
    if not text.isprintable() or text.endswith("\\") or text != text.strip():
        raise ClusterError(f"{what} is {printable(ascii(text), 80)}, which cannot be submitted")
    return text
