"""``make prove``: all tests with the long proofs, and a record of these in ``docs/proof/``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from bench.measure import machine

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs" / "proof" / "RESULTS.md"


def _long_files() -> set[str]:
    """Names, as pytest reports them, of the test files that hold long proofs."""
    tests = (path for path in ROOT.glob("tests/**/test_*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in tests
        if "JOBSIGHT_PROVE" in path.read_text(encoding="utf-8")
    }


def _counts(cases: list[ElementTree.Element]) -> list[str]:
    """What proofs have recorded of themselves (`record_property`): versions, jobs, kills."""
    lines = []
    for case in cases:
        told = [f"{one.get('name')} {one.get('value')}" for one in case.iter("property")]
        if told:
            lines += ["", f"**{case.get('name')}**: {', '.join(told)}."]
    return lines


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
    lines = ["| proof | outcome | seconds |", "|---|---|---:|"]
    for case in cases:
        if case.get("classname") in files and float(case.get("time", 0)) >= 0.5:
            bad = next((child.tag for child in case if child.tag != "properties"), "passed")
            lines.append(f"| {case.get('name')} | {bad} | {float(case.get('time', 0)):.0f} |")
    lines += _counts(cases)
    failed = sum(child.tag in ("failure", "error") for case in cases for child in case)
    asked = " ".join(sys.argv[1:]) or "all tests"
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(
        f"# Proofs\n\nWritten by `make prove` ({asked}): {len(cases)} tests, {failed} failed; "
        f"the long ones below.\n\n{where}\n\n" + "\n".join(lines) + "\n",
        encoding="utf-8",
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
