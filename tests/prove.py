"""``make prove``: all tests with the long proofs, and a record of these in ``docs/develop/proof/``.

``python -m tests.prove PATH…`` runs some test files, and renews their part of the record alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from bench.measure import machine
from bench.record import rewrite

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs" / "develop" / "proof" / "RESULTS.md"
HEAD = """# Long tests

Written by `make prove`, or by `python -m tests.prove FILE…`: the long tests, by file, with the day,
machine and versions of the last run of each.
"""
_LONG = re.compile(r"^from tests\.support\.limits import .*prove", re.I | re.M)


def _long_files() -> list[str]:
    """The test files that hold long proofs, relative to the project."""
    tests = sorted(ROOT.glob("tests/**/test_*.py"))
    return [
        path.relative_to(ROOT).as_posix()
        for path in tests
        if _LONG.search(path.read_text(encoding="utf-8"))
    ]


def _is_in(case: ElementTree.Element, file: str) -> bool:
    """Whether pytest reports the test as one of a file, or of a class in it."""
    module = file.removesuffix(".py").replace("/", ".")
    return f"{case.get('classname')}.".startswith(f"{module}.")


def _section(where: str, cases: list[ElementTree.Element]) -> str:
    """Outcomes, and what proofs have recorded of themselves (`record_property`)."""
    failed = sum(child.tag in ("failure", "error") for case in cases for child in case)
    lines = [where, "", f"{len(cases)} tests, {failed} failed; those of a second and more:", ""]
    lines += ["| test | outcome | seconds |", "|---|---|---:|"]
    for case in cases:
        seconds = float(case.get("time", 0))
        if seconds >= 1:
            bad = next((child.tag for child in case if child.tag != "properties"), "passed")
            lines.append(f"| {case.get('name')} | {bad} | {seconds:.0f} |")
    for case in cases:
        recorded = [(one.get("name", ""), one.get("value", "")) for one in case.iter("property")]
        told = [f"{name} {value}" for name, value in recorded if "\n" not in value]
        if told:
            lines += ["", f"**{case.get('name')}**: {', '.join(told)}."]
        for _, table in recorded:
            lines += ["", table] if "\n" in table else []
    return "\n".join(lines)


def main() -> int:
    """Run, record, and return pytest's exit status."""
    where = machine()
    with tempfile.TemporaryDirectory(prefix="jobsight-prove-") as name:
        report = Path(name) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-o", "junit_family=xunit1"]
        command += [f"--junitxml={report}", *sys.argv[1:]]
        status = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"JOBSIGHT_PROVE": "1"}, check=False
        ).returncode
        cases = list(ElementTree.parse(report).iter("testcase"))
    files = _long_files()
    found = {file: [case for case in cases if _is_in(case, file)] for file in files}
    sections = {file: _section(where, ran) for file, ran in found.items() if ran}
    rewrite(RECORD, HEAD, sections, files)
    return status


if __name__ == "__main__":
    sys.exit(main())
