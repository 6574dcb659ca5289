"""What was found in a file: as JSON, as SARIF 2.1.0 (OASIS), and its safe fixes written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobsight import __version__
from jobsight.errors import OutputError
from jobsight.files import new_file
from jobsight.program.preflight.findings import RULES, Edit, Finding

__all__ = ["Report", "apply_fixes", "sarif"]


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


def apply_fixes(report: Report) -> bool:
    """Write the fixes of a report into its file, and make folders; whether there were any.

    Raises:
        OutputError: the file or a folder cannot be written; the file is then untouched.
    """
    edits = [one.edit for one in report.findings if one.edit and one.file == report.file]
    path = Path(report.file)
    before = text = path.read_bytes().decode("utf-8", "surrogateescape") if edits else ""
    for edit in edits:
        if edit.folder is not None:
            folder = edit.folder
            try:
                Path(folder).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"cannot make {folder}: {error.strerror}") from None
        else:
            text = _edited(text, edit)
    if text != before:
        with new_file(path) as temporary:
            temporary.write_bytes(text.encode("utf-8", "surrogateescape"))
    return bool(edits)


def _edited(text: str, edit: Edit) -> str:
    if edit.line is None:
        return text.replace(edit.old, edit.new)
    lines = text.split("\n")
    lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.new, 1)
    return "\n".join(lines)


def sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """One run with all findings."""
    found = [one for report in reports for one in report.findings]
    rules = [
        {
            "id": one.code,
            "shortDescription": {"text": one.title},
            "defaultConfiguration": {"level": one.severity},
        }
        for one in RULES.values()
    ]
    driver = {"name": "jobsight", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one) for one in found]}],
    }


def _result(one: Finding) -> dict[str, Any]:
    text = f"{one.message}. Instead: {one.fix}" if one.fix else one.message
    region = {"startLine": one.line, "startColumn": one.column}
    place = {"artifactLocation": {"uri": one.file}, "region": region}
    return {
        "ruleId": one.code,
        "level": one.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
