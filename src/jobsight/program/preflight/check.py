"""One file checked: what it is, the rules that apply, the findings left when comments had a say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobsight.errors import SourceError
from jobsight.program.machine import Machine, read_source
from jobsight.program.preflight import endless, habits, logic, missing, requests, syntax
from jobsight.program.preflight.findings import Finding, hits_of, silenced
from jobsight.program.preflight.job import Job
from jobsight.program.shell.model import Source
from jobsight.program.site import Site
from jobsight.text import printable

__all__ = ["Checker", "Report"]

assert all((endless, habits, logic, missing, requests, syntax))  # their rules are registered


@dataclass(frozen=True)
class Report:
    """What was found in a file.

    Attributes:
        file: as it was named.
        scheduler: ``slurm``, ``htcondor``, or None: it is written for neither.
        job: whether it ends by itself; None: it could not be read.
        findings: in the order of the file.
    """

    file: str
    scheduler: str | None
    job: bool
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether there is an error among the findings."""
        return any(one.severity == "error" for one in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The report for machines."""
        return {
            "file": self.file,
            "scheduler": self.scheduler,
            "job": self.job,
            "findings": [one.to_json() for one in self.findings],
        }


@dataclass(frozen=True)
class Checker:
    """Checks files.

    Attributes:
        site: what is known of the cluster.
        ignored: codes, or their beginnings.
        options: of sbatch.
    """

    site: Site | None = None
    ignored: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def check(self, name: str) -> Report:
        """Check a file.

        Raises:
            SourceError: it cannot be read, or is not text.
        """
        path = Path(name)
        data = read_source(path)
        text = data.decode("utf-8", "replace")
        file = printable(os.path.relpath(path))
        try:
            scheduler, found = self._found(path, file, data, text)
        except RecursionError:
            raise SourceError(f"{file} is nested too deep to be checked") from None
        return Report(file, scheduler, not _endless(found), tuple(self._left(found, file, text)))

    def _found(
        self, path: Path, file: str, data: bytes, text: str
    ) -> tuple[str | None, list[Finding]]:
        job = self.job(path, file, data, text)
        return ("slurm" if job.is_slurm else None), list(hits_of("script", job, file))

    def job(self, path: Path, file: str, data: bytes, text: str) -> Job:
        """A script, in the folder where it will start."""
        absolute = os.path.abspath(path)  # noqa: PTH100  # links are left as they are
        here, own = os.getcwd(), os.path.dirname(absolute)  # noqa: PTH109, PTH120
        source = Source(file, text, folder=own)
        machine = Machine(None, (here, own))
        job = Job(source, data, absolute, here, machine, self.site, self.options, dict(os.environ))
        if job.is_slurm and (chosen := job.submission.value("chdir")):
            job.folder = os.path.normpath(os.path.join(here, chosen))  # noqa: PTH118
        return job

    def _left(self, found: Sequence[Finding], file: str, text: str) -> Iterator[Finding]:
        quiet = {file: silenced(text)}
        seen: set[tuple[str, int, str]] = set()
        for one in sorted(found, key=lambda f: (f.file != file, f.file, f.line, f.column, f.code)):
            if one.file not in quiet:
                quiet[one.file] = _silenced_in(one.file)
            codes = quiet[one.file].get(one.line, frozenset())
            key = (one.file, one.line, one.code)
            if key in seen or codes is None or one.code in codes:
                continue
            if any(re.match(re.escape(code), one.code) for code in self.ignored):
                continue
            seen.add(key)
            yield one._replace(
                message=printable(one.message, 240),
                fix=None if one.fix is None else printable(one.fix, 160),
            )


def _silenced_in(file: str) -> dict[int, frozenset[str] | None]:
    try:
        return silenced(read_source(Path(file)).decode("utf-8", "replace"))
    except SourceError:
        return {}


def _endless(found: Sequence[Finding]) -> bool:
    return any(one.code in endless.NOT_A_JOB for one in found)
