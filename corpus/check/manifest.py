"""The list of jobs, and what is planted in each."""

from __future__ import annotations

from pathlib import Path

import msgspec

__all__ = ["HERE", "SITE", "Job", "Planted", "jobs"]

HERE = Path(__file__).parent
SITE = HERE / "site"


class Planted(msgspec.Struct, frozen=True):
    """One planted error.

    Attributes:
        file: path relative to the folder in which the job is submitted.
        line: the line, from 1.
        what: what is wrong, in words.
        family: syntax, missing, requests, logic, htcondor or dag.
        severity: error (it fails or does harm) or warning (likely waste).
        also: further places ``(file, line)`` at which the same error may fairly be reported, as the
            opening and the end of a block that is not closed.
    """

    file: str
    line: int
    what: str
    family: str
    severity: str
    also: tuple[tuple[str, int], ...] = ()

    def on(self, file: str, line: int, off: int = 0) -> bool:
        """Whether this place is within `off` lines of the error."""
        places = ((self.file, self.line), *self.also)
        return any(file == one and abs(line - number) <= off for one, number in places)


class Job(msgspec.Struct, frozen=True):
    """One job.

    Attributes:
        path: its script, submit file or DAG, relative to this folder.
        scheduler: slurm, htcondor, or none (a script that is run by hand).
        part: dev or held (40 %, by a hash of the name); rules are improved by dev alone.
        sound: nothing is planted.
        errors: what is planted.
        verified: how the truth was established, see `verify`: run, sbatch, pool, dry or read.
        shows: pattern of what a faulty job that "succeeds" prints or becomes.
        stands_in: programs that a stand-in replaces while the job is run.
        needs: programs without which it cannot be run.
        memory: whether the run is limited to the memory asked.
    """

    path: str
    scheduler: str
    part: str
    sound: bool
    errors: tuple[Planted, ...]
    verified: tuple[str, ...]
    shows: str = ""
    stands_in: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    memory: bool = False

    @property
    def file(self) -> Path:
        """The script, submit file or DAG."""
        return HERE / self.path

    @property
    def folder(self) -> Path:
        """The folder in which it is submitted."""
        return self.file.parent

    @property
    def alone(self) -> bool:
        """Whether the job is one file, next to those of other jobs."""
        return self.folder == HERE / "jobs"

    @property
    def files(self) -> list[Path]:
        """Every file that belongs to the job."""
        everything = [self.file] if self.alone else sorted(self.folder.rglob("*"))
        return [path for path in everything if path.is_file()]


def jobs() -> list[Job]:
    """All jobs, by path."""
    lines = (HERE / "manifest.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Job) for line in lines]
