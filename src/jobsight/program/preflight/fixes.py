"""The fixes that are safe: what was meant is sure, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

from jobsight.errors import OutputError
from jobsight.files import new_file
from jobsight.program.preflight.check import Report
from jobsight.program.preflight.findings import Edit

__all__ = ["apply_fixes"]


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
            _make(edit.folder)
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


def _make(folder: str) -> None:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make {folder}: {error.strerror}") from None
