"""The list of jobs, and what is planted in each. README.md here explains the fields."""

from __future__ import annotations

from pathlib import Path

import msgspec

__all__ = ["HELD", "HERE", "SITE", "Job", "Planted", "jobs"]

HERE = Path(__file__).parent
SITE = HERE / "site"
# The newest batch: the next one that is written takes its place.
HELD = "2026-11-24.2"


class Planted(msgspec.Struct, frozen=True):
    """One planted error; its file is relative to the folder in which the job is submitted."""

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
    """One job; its path is relative to this folder."""

    path: str
    scheduler: str
    batch: str
    sound: bool
    errors: tuple[Planted, ...]
    verified: tuple[str, ...]
    shows: str = ""
    stands_in: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """Whether rules may be improved by this job: ``dev``, or ``held`` in the newest batch."""
        return "held" if self.batch == HELD else "dev"

    @property
    def file(self) -> Path:
        """The script, submit file or DAG."""
        return HERE / self.path

    @property
    def folder(self) -> Path:
        """The folder in which it is submitted."""
        return self.file.parent

    @property
    def files(self) -> list[Path]:
        """Every file that belongs to the job."""
        alone = self.folder == HERE / "jobs"
        return [self.file] if alone else [one for one in self.folder.rglob("*") if one.is_file()]


def jobs() -> list[Job]:
    """All jobs, by path."""
    lines = (HERE / "manifest.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Job) for line in lines]
